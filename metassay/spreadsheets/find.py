"""Finds what each column holds: as its user says, by usual names, or by its cells."""

import shlex
from collections.abc import Mapping, Sequence

from metassay.datasets.rows import Findings, Place
from metassay.errors import shown
from metassay.spreadsheets.asking import ask_rater_or_criterion, settled, told_whose
from metassay.spreadsheets.columns import (
    ROLES,
    SPREAD,
    SPREADS,
    THINGS,
    WIDE,
    Columns,
    Keys,
)
from metassay.spreadsheets.guess import (
    SHARE,
    Guess,
    key_column,
    known,
    listed,
    wordy,
)
from metassay.spreadsheets.sheet import Sheet
from metassay.spreadsheets.wide import guessed_names, is_pattern, read_names, told_by
from metassay.spreadsheets.words import (
    CLUSTER,
    CRITERION,
    DOC,
    FAMILY,
    METRIC,
    RATER,
    REFERENCE,
    SOURCE,
    STRATA,
    SYSTEM,
    TEXT,
    USUAL,
    VALUE,
    kind_of_text,
    no_system,
    of_rater,
    plain,
)


def find_columns(
    kind: str, sheet: Sheet, said: Mapping[str, str], keys: Keys, problems: Findings
) -> Columns | None:
    """The columns of a file of texts, ratings or scores; None with problems if they can't be told.

    `said`: what its user says of them, by role or by a word of SPREADS, of this file alone.
    """
    roles = {role: said[role] for role in ROLES[kind] if role in said}
    spread: dict[str, dict[str, str]] = {}
    for word in SPREADS[kind]:
        if word in said and word != WIDE:
            spread = {name: {SPREAD[word]: name} for name in _several(said[word], sheet)}
    named = [*roles.values(), *spread]
    for column in named:
        if column not in sheet.columns:
            what = f"there is no column {shown(column)}"
            fix = f"--columns takes names of the first row: {listed(sheet.columns)}"
            problems.add(Place(sheet.name), what, fix)
    if not sheet.rows or any(column not in sheet.columns for column in named):
        return None
    free = [column for column in sheet.columns if column not in named]
    guess = Guess(kind, sheet, roles, spread, free, keys, said.keys(), problems)
    if WIDE in said and not _said_wide(guess, said[WIDE]):
        return None
    finder = {"texts": _of_texts, "ratings": _of_ratings, "scores": _of_scores}[kind]
    return finder(guess)


def _said_wide(guess: Guess, pattern: str) -> bool:
    allowed = THINGS[guess.kind]
    fields = ", ".join(f"{{{role}}}" for role in allowed)
    if not is_pattern(pattern, allowed):
        guess.ask(f"--columns {WIDE}={shown(pattern)} is no form of names", f"write it of {fields}")
        return False
    guess.set_spread(read_names(pattern, guess.numbers(), guess.keys.systems), pattern)
    if not guess.spread:
        what = f"no column of numbers is called as {shown(pattern)} says"
        guess.ask(what, f"--columns takes the form of these: {listed(guess.sheet.columns)}")
    return bool(guess.spread)


def _of_texts(guess: Guess) -> Columns | None:
    for role in (DOC, SYSTEM, REFERENCE, SOURCE, STRATA, CLUSTER, FAMILY):
        if not (role in (SYSTEM, FAMILY) and guess.spread):
            guess.by_name(role)
    if not guess.spread:
        guess.by_name(TEXT)
    if DOC not in guess.roles:
        guess.take(DOC, key_column(guess))
    long = [c for c in guess.free if wordy(guess.sheet, c) and not no_system(c)]
    if SYSTEM in guess.roles and TEXT not in guess.roles and len(long) > 1:
        fix = (
            f"say which: --columns texts.{TEXT}=COLUMN, or texts.systems=... if each is a system's"
        )
        guess.ask(f"{listed(long)} all hold texts", fix)
        return None
    if SYSTEM in guess.roles and long:
        guess.take(TEXT, long[0])
    elif SYSTEM not in guess.roles and not guess.spread:
        _side_by_side(guess, long)
        if not told_whose(guess):
            return None
    return guess.columns(DOC, TEXT)


def _side_by_side(guess: Guess, long: Sequence[str]) -> None:
    """A column per system; one that is called after a kind of text may be something else."""
    own = [guess.roles.pop(TEXT)] if TEXT in guess.roles else []
    kinds = [*own, *filter(kind_of_text, long)]
    systems = [column for column in guess.sheet.columns if column in own or column in long]
    if kinds and len(systems) > 1:
        joined = shlex.quote(f"texts.systems={','.join(systems)}")
        guess.ask(
            f"{listed(kinds)} may be of a system, as others in the row, or a reference or source",
            f"say which columns are of systems: --columns {joined}, or fewer of"
            " them, and what the others are, as in texts.reference=COLUMN",
        )
    guess.spread_over(SYSTEM, systems)


def _of_ratings(guess: Guess) -> Columns | None:
    _keys_of(guess)
    if RATER not in told_by(guess.spread):
        guess.by_name(RATER)
    if CRITERION not in told_by(guess.spread):
        guess.thing_by_name(CRITERION)
    if not guess.spread and VALUE not in guess.roles:
        _find_values(guess)
    return guess.columns(DOC, VALUE) if settled(guess) else None


def _find_values(guess: Guess) -> None:
    """Where the ratings stand: in one column, or in several side by side."""
    numbers = guess.numbers()
    pattern, names = guessed_names(numbers, guess.keys.systems, guess.roles, THINGS["ratings"])
    if CRITERION in guess.roles:
        guess.by_name(VALUE)
        if len(numbers) == 1:
            guess.take(VALUE, numbers[0])
    if VALUE in guess.roles or not numbers:
        return
    if pattern:
        guess.set_spread(names, pattern)
    elif CRITERION in guess.roles or (RATER not in guess.roles and all(map(of_rater, numbers))):
        guess.spread_over(RATER, numbers)
    else:
        guess.spread_over(CRITERION, numbers)
        if RATER not in guess.roles and len(numbers) > 1:
            ask_rater_or_criterion(guess, numbers)


def _of_scores(guess: Guess) -> Columns | None:
    _keys_of(guess)
    if not guess.spread and VALUE not in guess.roles:
        guess.thing_by_name(METRIC)
        numbers = guess.numbers()
        if METRIC in guess.roles:
            guess.by_name(VALUE)
            if len(numbers) == 1:
                guess.take(VALUE, numbers[0])
        else:
            systems = guess.keys.systems
            pattern, names = guessed_names(numbers, systems, guess.roles, THINGS["scores"])
            guess.set_spread(names or {one: {METRIC: one} for one in numbers}, pattern)
    elif VALUE in guess.roles and METRIC not in guess.roles:
        guess.by_name(METRIC)
    return guess.columns(DOC, VALUE) if settled(guess) else None


def _keys_of(guess: Guess) -> None:
    """Documents and systems: the column that is called as the texts' is, or holds their keys."""
    for role, keys in ((DOC, guess.keys.documents), (SYSTEM, guess.keys.systems)):
        guess.take(role, guess.keys.called.get(role))
        shares = {column: known(guess.sheet, column, keys) for column in guess.free}
        held = {column: share for column, share in shares.items() if share >= SHARE}
        # Grades from 1 to 5 look like the keys of five documents: the name goes first.
        usual = [column for column in held if plain(column) in USUAL[role]]
        if role not in guess.roles and not usual and len(held) > 1 and role == DOC:
            what = f"{listed([*held])} all hold keys of documents"
            guess.ask(what, f"say which names them: --columns {guess.kind}.{role}=COLUMN")
        guess.take(role, max(usual or held, key=held.__getitem__, default=None))
        guess.by_name(role)


def _several(written: str, sheet: Sheet) -> list[str]:
    """Names parted by commas; a name that holds commas itself is taken whole."""
    names: list[str] = []
    rest = written.split(",")
    while rest:
        ends = [n for n in range(len(rest), 0, -1) if ",".join(rest[:n]).strip() in sheet.columns]
        n = ends[0] if ends else 1
        names.append(",".join(rest[:n]).strip())
        rest = rest[n:]
    return names
