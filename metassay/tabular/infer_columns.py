"""Infer the role of each column from the user's options, usual names, or its cells.

Where these leave a choice that changes numbers, the user is asked: a problem, with the
option as its remedy.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from metassay.core.errors import quoted
from metassay.tabular.column_questions import (
    ask_rater_or_criterion,
    check_rest,
    propose_template,
)
from metassay.tabular.column_synonyms import (
    RESPONDENTS,
    USUAL,
    Role,
    fold_name,
    is_called,
    is_rater_name,
    looks_like_criterion,
    names_quality,
)
from metassay.tabular.columns import (
    ROLES,
    SPREAD,
    SPREADS,
    THINGS,
    WIDE,
    Columns,
    Keys,
    roles_in,
)
from metassay.tabular.guess import (
    SHARE,
    Guess,
    has_texts,
    key_column,
    listed,
    share_known,
)
from metassay.tabular.name_patterns import KIND_OF_TEXT, NO_SYSTEM
from metassay.tabular.name_templates import (
    Template,
    find_template,
    is_pattern,
    read_names,
)
from metassay.tabular.numbers import is_blank
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import Sheet, combine_sheets, to_keys

_OF_IDS = re.compile(
    r"(?:^|[^a-zA-Z])(?:id|ids|key|uuid|nr|no|item|text|output|sample|example|case)(?:[^a-zA-Z]|$)"
    r"|(?:text|item|case|sample|example|output|note|answer)ids?$",
    re.IGNORECASE,
)
_RANK = re.compile(r"rank|place|position|order|rang|platz", re.IGNORECASE)
_RANKED = 3  # the fewest columns that rank systems
_RANKINGS = 0.9  # the smallest share of rows that are rankings
_IN_LIST = re.compile(r"\.\d+(\.|$)")  # a place in a list of JSON
_QUESTION = re.compile(r"(?i)q[ _]?\d+")


def find_columns(
    kind: str, sheet: Sheet, options: Mapping[str, str], keys: Keys, problems: Findings
) -> Columns | None:
    """Find the columns of a file of texts, ratings or scores; None, with problems, if unclear.

    `options`: the user's, of this file alone, by role or by a word of SPREADS.
    """
    guess = start_guess(kind, sheet, options, keys, problems)
    return None if guess is None else complete_guess(guess)


def start_guess(
    kind: str,
    sheet: Sheet,
    options: Mapping[str, str],
    keys: Keys,
    problems: Findings,
    *,
    aside: Collection[str] = (),
    metrics: Collection[str] = (),
) -> Guess | None:
    """Apply the user's options of a file's columns; None, with problems, if they are wrong.

    `aside` are columns of something else; `metrics` are columns that the user named as
    metrics.
    """
    roles = {role: options[role] for role in ROLES[kind] if role in options}
    spread: dict[str, dict[str, str]] = {}
    for word in SPREADS[kind]:
        if word in options and word != WIDE:
            spread = {
                name: {SPREAD[word]: name} for name in _several(options[word], sheet)
            }
    named = [*roles.values(), *spread]
    for column in named:
        if column not in sheet.columns:
            what = f"there is no column {quoted(column)}"
            option = sheet.caller.option("columns")
            fix = f"{option}: takes names of the first row: {listed(sheet.columns)}"
            problems.add(Place(sheet.name), what, fix)
    if not len(sheet.lines) or any(column not in sheet.columns for column in named):
        return None
    free = [column for column in sheet.columns if column not in {*named, *aside}]
    guess = Guess(
        kind,
        sheet,
        roles,
        spread,
        free,
        keys,
        options.keys(),
        problems,
        metrics=metrics,
    )
    return None if WIDE in options and not _apply_wide(guess, options[WIDE]) else guess


def complete_guess(guess: Guess) -> Columns | None:
    """Infer the other columns from names and cells; None, with problems, if unclear."""
    columns = (
        _infer_text_columns(guess)
        if guess.kind == "texts"
        else _infer_value_columns(guess)
    )
    if columns is not None:
        for column in (*columns.spread, columns.roles.get(Role.VALUE, "")):
            if column in guess.sheet.merged:
                fix = "unmerge them, and write a value into each cell"
                what = f"column {quoted(column)} has merged cells, whose value may be of all rows"
                guess.problems.add(
                    Place(guess.sheet.name), what, fix, guess.sheet.merged[column]
                )
    return columns


def join_by_text(sheet: Sheet, other: Sheet, doc: str, system: str) -> Sheet:
    """Replace a sheet's ids of texts by the document and system of each text.

    `other` has them in columns `doc` and `system`; without these, or without a common
    column of ids of texts, the sheet is returned unchanged. The column must be named
    like ids: grades of both files can be the same few numbers.
    """
    if sheet.parts:
        return combine_sheets(
            [join_by_text(part, other, doc, system) for part in sheet.parts]
        )
    if doc in sheet.frame or doc not in other.frame:
        return sheet
    for column in sheet.columns:
        if column not in other.frame or column == system or not _OF_IDS.search(column):
            continue
        texts = to_keys(other.frame[column])
        keys = to_keys(sheet.frame[column])
        if texts.is_unique and len(keys) and keys.isin(texts).all():
            rows = other.frame.drop_duplicates(column).set_index(texts)
            columns = {
                name: to_keys(rows[name]).set_axis(rows.index).reindex(keys).to_numpy()
                for name in (doc, system)
                if name in other.frame and name not in sheet.frame
            }
            frame = sheet.frame.drop(columns=column).assign(**columns)
            note = f"texts are found by column {quoted(column)} in {quoted(other.name)}"
            return replace(
                sheet,
                frame=frame.astype(dict.fromkeys(columns, "str")),
                notes=[*sheet.notes, note],
            )
    return sheet


def _apply_wide(guess: Guess, pattern: str) -> bool:
    """Take the columns whose names have a form that the user gave."""
    allowed = THINGS[guess.kind]
    if not is_pattern(pattern, allowed):
        fields = ", ".join(f"{{{role}}}" for role in allowed)
        what = f"{guess.option(WIDE, pattern)} is not a form of names"
        guess.ask(what, f"write it of {fields}")
        return False
    _take_form(guess, pattern)
    if not guess.spread:
        what = f"no name of a column of numbers has the form {quoted(pattern)}"
        option = guess.sheet.caller.option("columns")
        fix = f"{option}: takes the form of these: {listed(guess.sheet.columns)}"
        guess.ask(what, fix)
    return bool(guess.spread)


def _take_form(guess: Guess, pattern: str) -> None:
    """Take the columns of a form that hold ratings, or nothing; others of it are asked about.

    Another one is of the form for sure if all that its name says, other names say, too.
    """
    names = read_names(pattern, guess.free, guess.keys)
    ratings = guess.list_likely_ratings()
    values = {pair for name in ratings if name in names for pair in names[name].items()}
    same = [name for name in guess.free if {*names.get(name, {}).items()} <= values]
    of_form = [name for name in guess.free if name in names]
    for name in same:
        if name in of_form and name not in ratings and guess.sheet.cells(name):
            what = (
                f"column {quoted(name)} has the form {quoted(pattern)}, but no numbers"
            )
            guess.ask(what, "write numbers, or leave its cells empty")
    taken = [
        name
        for name in of_form
        if name in ratings or (name in same and not guess.sheet.cells(name))
    ]
    guess.set_spread({name: names[name] for name in taken}, pattern)


def _infer_text_columns(guess: Guess) -> Columns | None:
    for role in ("doc", "system", "reference", "source", "strata", "cluster", "family"):
        if not (role in (Role.SYSTEM, Role.FAMILY) and guess.spread):
            guess.take_usual(role)
    if not guess.spread:
        guess.take_usual(Role.TEXT)
    if Role.DOC not in guess.roles:
        guess.take(Role.DOC, key_column(guess))
    long = [
        c
        for c in guess.free
        if has_texts(guess.sheet, c) and not is_called(c, NO_SYSTEM)
    ]
    if Role.SYSTEM in guess.roles and Role.TEXT not in guess.roles and len(long) > 1:
        option = guess.option(Role.TEXT, "COLUMN")
        fix = f"say which: {option}, or texts.systems=... if each is a system's"
        guess.ask(f"{listed(long)} all hold texts", fix)
        return None
    if Role.SYSTEM in guess.roles and long:
        guess.take(Role.TEXT, long[0])
    elif Role.SYSTEM not in guess.roles and not guess.spread:
        _side_by_side(guess, long)
        if not check_authors(guess):
            return None
    return guess.columns(Role.DOC, Role.TEXT)


def _side_by_side(guess: Guess, long: Sequence[str]) -> None:
    """Take a column per system; ask where a name such as `summary` is no system's."""
    text = [guess.roles.pop(Role.TEXT)] if Role.TEXT in guess.roles else []
    kinds = [*text, *(column for column in long if is_called(column, KIND_OF_TEXT))]
    systems = [
        column for column in guess.sheet.columns if column in text or column in long
    ]
    if kinds and len(systems) > 1:
        option = guess.option("systems", *systems)
        guess.ask(
            f"{listed(kinds)} may be a system's text, like others in the row, or a reference or"
            " source",
            f"say which columns are of systems: {option}, or fewer of"
            " them, and what the others are, as in texts.reference=COLUMN",
        )
    guess.spread_over(Role.SYSTEM, systems)


def _infer_value_columns(guess: Guess) -> Columns | None:
    """Find the columns of ratings or scores."""
    thing = Role.METRIC if guess.kind == "scores" else Role.CRITERION
    find_keys(guess)
    if thing == Role.CRITERION and Role.RATER not in roles_in(guess.spread):
        guess.take_usual(Role.RATER)
    if thing not in roles_in(guess.spread):
        guess.thing_by_name(thing)
    if not guess.spread and Role.VALUE not in guess.roles:
        _find_values(guess, thing)
    if Role.DOC in roles_in(guess.spread) and thing == Role.CRITERION:
        _find_respondents(guess)
    return guess.columns(Role.DOC, Role.VALUE) if check_rest(guess) else None


def _find_values(guess: Guess, thing: str) -> None:
    """Find the numbers, in one column or in several side by side."""
    numbers = guess.numbers()
    if thing in guess.roles:
        guess.take_usual(Role.VALUE)
        if len(numbers) == 1:
            guess.take(Role.VALUE, numbers[0])
    if Role.VALUE in guess.roles or not numbers or Role.METRIC in guess.roles:
        return
    take_ranks(guess)
    by_raters = Role.RATER not in guess.roles and all(map(is_rater_name, numbers))
    if thing == Role.CRITERION and by_raters and not guess.spread:
        guess.spread_over(Role.RATER, numbers)
    if guess.spread or _take_template(guess):
        return
    if thing == Role.METRIC:
        guess.spread_over(Role.METRIC, numbers)
    elif thing in guess.roles:
        if in_lists := [name for name in numbers if _IN_LIST.search(name)]:
            raters = guess.option("raters", *in_lists)
            guess.ask(
                f"which of {listed(numbers)} are ratings is unclear, and whether"
                f" {quoted(guess.roles[thing])} names criteria",
                f"say it: {raters}, or other columns",
            )
        guess.spread_over(Role.RATER, numbers)
    else:
        guess.spread_over(Role.CRITERION, numbers)
        if Role.RATER not in guess.roles and len(numbers) > 1:
            ask_rater_or_criterion(guess, numbers)


def take_ranks(guess: Guess) -> None:
    """Take the columns of numbers for systems if the cells of each row rank them."""
    if guess.kind != "ratings" or guess.spread or Role.VALUE in guess.roles:
        return
    numbers = _select_known_systems(guess, guess.numbers())
    if not _are_ranked(guess, numbers):
        return
    # `rank_gpt4` and `rank_llama` are of two systems.
    template = find_template(numbers, guess.keys, [Role.SYSTEM])
    if template is not None and _RANK.search(template.pattern):
        guess.set_spread(template.names, template.pattern)
    elif not any(map(names_quality, numbers)):
        of_systems = {name: {Role.SYSTEM: name} for name in numbers}
        guess.set_spread(of_systems, f"{{{Role.SYSTEM}}}")


def _select_known_systems(guess: Guess, columns: Sequence[str]) -> list[str]:
    """Return the columns that are called after systems of the other file; all if few are."""
    systems = {system.casefold() for system in guess.keys.systems}
    known = [column for column in columns if column.casefold() in systems]
    return known if len(known) >= min(_RANKED, max(2, len(systems))) else [*columns]


def _are_ranked(guess: Guess, columns: Sequence[str]) -> bool:
    """Whether each row has 1 to k once in k columns: columns are systems, and cells ranks."""
    if len(columns) < _RANKED or Role.SYSTEM in guess.roles:
        return False
    values = np.array([guess.sheet.values(column) for column in columns])
    whole = values[:, np.isfinite(values).all(axis=0)]
    ranks = np.arange(1, len(columns) + 1)[:, np.newaxis]
    ranked = (np.sort(whole, axis=0) == ranks).all(axis=0)
    return ranked.size > 1 and bool(ranked.mean() >= _RANKINGS)


def _take_template(guess: Guess) -> bool:
    """Take columns whose names say several things, or propose it; whether there are such."""
    columns = guess.list_likely_ratings()
    if Role.SYSTEM not in guess.roles:
        # A number beside them, such as the rater's confidence, is no system's.
        columns = _select_known_systems(guess, columns)
    open_roles = {*THINGS[guess.kind]} - {*guess.roles}
    template = find_template(columns, guess.keys, open_roles)
    if template is None:
        return False
    without_doc = Role.DOC not in guess.roles
    if template.unclear:
        if not _is_likely(template, columns, guess):
            return False
        propose_template(guess, template)
    elif without_doc and Role.DOC not in template.roles:
        return False
    _take_form(guess, template.pattern)
    return True


def _find_respondents(guess: Guess) -> None:
    """Take ids of respondents for raters, where each row has all that one rater answered."""
    if Role.RATER in {*guess.roles, *roles_in(guess.spread)}:
        return
    by_name = {fold_name(column): column for column in guess.free}
    for name in RESPONDENTS:
        cells = to_keys(guess.sheet.frame[by_name[name]]) if name in by_name else None
        if cells is not None and cells.is_unique and not cells.map(is_blank).any():
            guess.take(Role.RATER, by_name[name])


def roles_of_names(guess: Guess) -> frozenset[str]:
    """Return what names of columns seem to say of their cells, such as the document."""
    if guess.spread:
        return frozenset(roles_in(guess.spread))
    open_roles = {*THINGS[guess.kind]} - {*guess.roles}
    template = find_template(guess.list_likely_ratings(), guess.keys, open_roles)
    return template.roles if template is not None else frozenset()


def _is_likely(template: Template, columns: Sequence[str], guess: Guess) -> bool:
    """Whether a form of names that is not certain is worth a question."""
    if Role.DOC not in guess.roles:
        return Role.DOC in template.roles
    if guess.kind == "scores" or all(_QUESTION.fullmatch(name) for name in columns):
        return False
    differing = [
        role
        for role in template.roles
        if len({parts[role] for parts in template.names.values()}) > 1
    ]
    glued = "}{" in template.pattern  # fluency1, fluency2
    in_lists = any(map(_IN_LIST.search, columns))
    several = len(differing) > 1 or glued or in_lists
    return several or not any(map(looks_like_criterion, columns))


def find_keys(guess: Guess) -> None:
    """Find documents and systems, by the name of the texts' column or by their keys."""
    for role, keys in (
        (Role.DOC, guess.keys.documents),
        (Role.SYSTEM, guess.keys.systems),
    ):
        guess.take(role, guess.keys.columns.get(role))
        shares = {
            column: share_known(guess.sheet, column, keys) for column in guess.free
        }
        candidates = {
            column: share for column, share in shares.items() if share >= SHARE
        }
        # Grades from 1 to 5 look like the keys of five documents, so names count first.
        usual = [column for column in candidates if fold_name(column) in USUAL[role]]
        if (
            role not in guess.roles
            and not usual
            and len(candidates) > 1
            and role == Role.DOC
        ):
            what = f"{listed([*candidates])} all hold document ids"
            guess.ask(what, f"say which names them: {guess.option(role, 'COLUMN')}")
        guess.take(
            role, max(usual or candidates, key=candidates.__getitem__, default=None)
        )
        guess.take_usual(role)


def _several(option: str, sheet: Sheet) -> list[str]:
    """Split names at commas, but not a column's name that contains commas."""
    names: list[str] = []
    rest = option.split(",")
    while rest:
        ends = [
            n
            for n in range(len(rest), 0, -1)
            if ",".join(rest[:n]).strip() in sheet.columns
        ]
        n = ends[0] if ends else 1
        names.append(",".join(rest[:n]).strip())
        rest = rest[n:]
    return names


def check_authors(guess: Guess) -> bool:
    """Ask for the system where documents have several texts; whether there was no question."""
    doc = guess.roles.get(Role.DOC)
    if doc is None or len(guess.spread) != 1 or not guess.free:
        return True
    (text,) = guess.spread
    pairs = zip(
        *(to_keys(guess.sheet.frame[column]) for column in (doc, text)), strict=True
    )
    texts = {pair for pair in pairs if not is_blank(pair[1])}
    if len(texts) == len({key for key, _ in texts}):
        return True
    guess.ask(
        "documents have several texts, and no column clearly names the system of each",
        f"name it: {guess.option(Role.SYSTEM, 'COLUMN')}, of {listed(guess.free)}",
    )
    return False
