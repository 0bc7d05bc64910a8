"""Ask what would change numbers if it were guessed: each a problem, with the option as remedy."""

from collections import Counter
from collections.abc import Iterator, Sequence

from metassay.core.errors import quoted
from metassay.tabular.column_synonyms import (
    MAY_RATE,
    WINNERS,
    Role,
    fold_name,
    is_called,
    is_metadata,
    looks_like_criterion,
)
from metassay.tabular.columns import SPREADS, WIDE
from metassay.tabular.guess import (
    MIXED,
    NUMERIC,
    SHARE,
    Guess,
    listed,
    numeric_columns,
    share_known,
)
from metassay.tabular.name_patterns import OF_TWO
from metassay.tabular.name_templates import Template
from metassay.tabular.numbers import NumberFormat, is_blank, order_grades
from metassay.tabular.odd_cells import is_word, list_words
from metassay.tabular.sheet import to_keys


def check_rest(guess: Guess) -> bool:
    """Ask about free columns that might be ignored or misread; whether there was no question."""
    if set(SPREADS[guess.kind]) & set(guess.options):
        return True
    n_problems = len(guess.problems.lines())
    if Role.SYSTEM not in guess.options:
        _ask_system(guess)
    _ask_levels(guess)
    if guess.kind == "ratings":
        _ask_preferences(guess)
        _ask_words(guess)
        _ask_rater(guess)
    for column in () if Role.VALUE in guess.roles else guess.free:
        share = guess.sheet.share_of_numbers(column)
        if MIXED <= share < NUMERIC and not is_metadata(column, ratings=True):
            _ask_mixed(guess, column, share)
    return len(guess.problems.lines()) == n_problems


def _ask_mixed(guess: Guess, column: str, share: float) -> None:
    """Ask about a column of numbers and words; `share`: of its cells that are numbers."""
    numbers = guess.sheet.numbers(column)
    counts = Counter[str]()
    for cell, n in guess.sheet.counts(column).items():
        word = str(cell)
        if not numbers.is_missing(word) and numbers.number(word) is None:
            counts[word] += int(n)
    what = f"column {quoted(column)} has numbers in {share:.0%} of its cells, words in others"
    fix = "write numbers, or leave cells empty"
    if counts and all(map(is_word, counts)):
        what += f": {list_words(counts)}"
        missing = guess.sheet.caller.option("missing", *counts)
        fix += f"; if nobody answered there, say {missing}"
    columns = guess.option(SPREADS[guess.kind][0], "...")
    guess.ask(what, f"{fix}; or name the columns to be read: {columns}")


def _ask_levels(guess: Guess) -> None:
    """Ask what the keys of nested objects are that have no role."""
    for column in guess.sheet.levels:
        if column in guess.free:
            keys = listed(guess.sheet.cells(column), 3)
            role = Role.RATER if guess.kind == "ratings" else Role.SYSTEM
            option = guess.option(role, column)
            guess.ask(
                f"what keys such as {keys} name is unclear",
                f"say it: {option}, or another role of the column {quoted(column)}",
            )


def _ask_system(guess: Guess) -> None:
    """Ask which of two columns of systems is rated, as in comparisons of two texts."""
    system, keys = guess.roles.get(Role.SYSTEM), guess.keys.systems
    others = [c for c in guess.free if share_known(guess.sheet, c, keys) >= SHARE]
    named = [system, *others] if system else others
    if len(named) > 1 and len(keys) > 1:
        guess.ask(
            f"{listed(named)} all name systems, as where two texts are compared",
            "metassay import preferences FILE --out DIR reads comparisons; or say whose text is"
            f" rated: {guess.option(Role.SYSTEM, 'COLUMN')}",
        )


def _ask_preferences(guess: Guess) -> None:
    """Refuse comparisons of two texts."""
    sides = [column for column in guess.sheet.columns if is_called(column, OF_TWO)]
    winners = [column for column in guess.sheet.columns if fold_name(column) in WINNERS]
    if len(sides) > 1 and winners:
        guess.ask(
            f"{listed([*sides, *winners])} say which of two texts is preferred, and a rating is of"
            " one text",
            "metassay import preferences FILE --out DIR reads them, as the share of its comparisons"
            " that each text won",
        )


def _ask_words(guess: Guess) -> None:
    """Ask for the order of grades in words."""
    for column in guess.free:
        grades = order_grades(guess.sheet.cells(column))
        if grades and not numeric_columns(guess.sheet, [column]):
            scale = guess.sheet.caller.option("scale", "<".join(grades), key=column)
            guess.ask(
                f"column {quoted(column)} has grades in words",
                f"say their order, the first counts 1, with those that nobody gave: {scale};"
                f" or which columns to read: {guess.option('criteria', '...')}",
            )


def _ask_rater(guess: Guess) -> None:
    """Ask whether a column `expert` of numbers names raters, or has an expert's ratings."""
    roles, frame = guess.roles, guess.sheet.frame
    rater = roles.get(Role.RATER, "")
    if (
        Role.RATER in guess.options
        or Role.DOC not in roles
        or not is_called(rater, MAY_RATE)
    ):
        return
    keys = {
        roles[role] for role in (Role.DOC, Role.SYSTEM, Role.CRITERION) if role in roles
    }
    once = not frame.duplicated([*keys]).any() and not frame[rater].is_unique
    if once and numeric_columns(guess.sheet, [rater]):
        guess.ask(
            f"column {quoted(rater)} may say who rated, or be a rating itself",
            f"say which: {guess.option('rater', rater)}, or"
            " ratings.raters=... or ratings.criteria=... with all columns of ratings",
        )


def propose_template(guess: Guess, template: Template) -> None:
    """Propose the form of names that say several things, with what three cells would be."""
    names = list(template.names)
    option = guess.option(WIDE, template.pattern)
    single = guess.option(SPREADS[guess.kind][0], "...")
    guess.ask(
        f"the names of {len(names)} columns, such as {listed(names, 2)}, seem to say several"
        " things each",
        f"if this is right, say {option}: {'; '.join(_preview(guess, template))};"
        f" else exchange what is in braces, or name columns that say a single thing:"
        f" {single}",
    )


def _preview(guess: Guess, template: Template) -> Iterator[str]:
    """Yield what three cells are by a form of names: of a first, a middle and a last column."""
    names = list(template.names)
    for name in dict.fromkeys((names[0], names[len(names) // 2], names[-1])):
        cells = to_keys(guess.sheet.frame[name])
        read_as = guess.sheet.numbers(name)
        grades = order_grades(guess.sheet.cells(name))
        # Never a remark on a text.
        rows = [
            row for row, cell in enumerate(cells) if _has_value(cell, read_as, grades)
        ]
        if rows:
            at = guess.sheet.cell(rows[0], name)
            parts = template.names[name].items()
            what = ", ".join(f"{role} {quoted(value)}" for role, value in parts)
            yield f"{cells.iloc[rows[0]]} in {at.kind} {at.row} is of {what}"


def _has_value(cell: str, read_as: NumberFormat, grades: Sequence[str]) -> bool:
    if is_blank(cell):
        return False
    return cell.casefold() in grades or read_as.number(cell) is not None


def ask_rater_or_criterion(guess: Guess, numbers: Sequence[str]) -> None:
    """Ask whether columns are of raters (Ann, Ben) or of criteria."""
    if not any(map(looks_like_criterion, numbers)):
        raters = guess.option("raters", *numbers)
        criteria = guess.option("criteria", *numbers)
        guess.ask(
            f"{listed(numbers)}: raters or criteria",
            f"say which: {raters}, or {criteria}",
        )
