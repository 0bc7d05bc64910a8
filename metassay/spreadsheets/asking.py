"""What can't be told from names and cells, and would change numbers if it were guessed."""

import shlex
from collections.abc import Sequence

from metassay.errors import shown
from metassay.spreadsheets.columns import SPREADS
from metassay.spreadsheets.guess import (
    NUMERIC,
    SHARE,
    Guess,
    known,
    listed,
    numeric,
    share_of_numbers,
)
from metassay.spreadsheets.numbers import in_order
from metassay.spreadsheets.sheet import absent
from metassay.spreadsheets.wide import crossed
from metassay.spreadsheets.words import (
    CRITERION,
    DOC,
    RATER,
    SYSTEM,
    VALUE,
    beside,
    like_criterion,
    may_be_rated_by,
)

_MIXED = 0.5  # the share of numbers from which a column seems to be meant as one of numbers


def settled(guess: Guess) -> bool:
    """Ask about free columns that would be left out, or taken for something, by mistake."""
    if set(SPREADS[guess.kind]) & set(guess.said):
        return True
    asked = len(guess.problems.lines())
    if SYSTEM not in guess.said:
        _ask_system(guess)
    if guess.kind == "ratings":
        _ask_words(guess)
        _ask_rater(guess)
    for column in () if VALUE in guess.roles else guess.free:
        share = share_of_numbers(guess.sheet, column)
        if _MIXED <= share < NUMERIC and not beside(column, ratings=True):
            guess.ask(
                f"column {shown(column)} has numbers in {share:.0%} of its cells, words in others",
                "write numbers, or leave cells empty; or name the columns to be read: --columns"
                f" {guess.kind}.{SPREADS[guess.kind][0]}=...",
            )
    return len(guess.problems.lines()) == asked


def told_whose(guess: Guess) -> bool:
    """Ask whose texts are where one column has several of a document; whether nothing was asked."""
    doc = guess.roles.get(DOC)
    if doc is None or len(guess.spread) != 1 or not guess.free:
        return True
    (text,) = guess.spread
    texts = {(c[doc], c[text]) for _, c in guess.sheet.rows if not absent(c[text])}
    told = len(texts) == len({key for key, _ in texts})
    if not told:
        guess.ask(
            "documents have several texts, and no column could be told to say whose each is",
            f"name it: --columns texts.{SYSTEM}=COLUMN, of {listed(guess.free)}",
        )
    return told


def _ask_system(guess: Guess) -> None:
    """Of two columns of systems, as where two texts are compared, none says which is rated."""
    system, keys = guess.roles.get(SYSTEM), guess.keys.systems
    others = [c for c in guess.free if known(guess.sheet, c, keys) >= SHARE]
    named = [system, *others] if system else others
    if len(named) > 1 and len(keys) > 1:
        guess.ask(
            f"{listed(named)} all name systems, as where two texts are compared; a spreadsheet of"
            " those is not read",
            "leave it out, and write data/NAME/ratings.csv as docs/own-data.md has it (unit"
            f" versus:AUTHOR); or say what is rated: --columns {guess.kind}.{SYSTEM}=COLUMN",
        )


def _ask_words(guess: Guess) -> None:
    """Ask what grades in words count."""
    for column in guess.free:
        grades = in_order(guess.sheet.cells(column))
        if grades and not numeric(guess.sheet, [column]):
            option = shlex.quote(f"{column}={'<'.join(grades)}")
            guess.ask(
                f"column {shown(column)} has grades in words",
                f"say their order, the first counts 1, with those that nobody gave: --scale"
                f" {option}; or which columns to read: --columns {guess.kind}.criteria=...",
            )


def _ask_rater(guess: Guess) -> None:
    """A column `expert` of numbers may be who rated, or what the expert gave."""
    rater, doc = guess.roles.get(RATER), guess.roles.get(DOC)
    if RATER in guess.said or rater is None or doc is None or not numeric(guess.sheet, [rater]):
        return
    system = guess.roles.get(SYSTEM, doc)
    thing = guess.roles.get(CRITERION, doc)
    texts = [(c[doc], c[system], c[thing]) for _, c in guess.sheet.rows]
    held = guess.sheet.cells(rater)
    if not may_be_rated_by(rater) or len(set(texts)) < len(texts) or len(set(held)) == len(held):
        return
    guess.ask(
        f"column {shown(rater)} may say who rated, or be a rating itself",
        f"say which: --columns {shlex.quote(f'ratings.rater={rater}')}, or"
        " ratings.raters=... or ratings.criteria=... with all columns of ratings",
    )


def ask_rater_or_criterion(guess: Guess, numbers: Sequence[str]) -> None:
    """Columns Ann and Ben are raters, and a_x, a_y, b_x, b_y are both: numbers tell neither."""
    if crossed(numbers):
        guess.ask(
            f"{listed(numbers)}: the names seem to say two things each",
            "say which: --columns 'ratings.wide={criterion}_{rater}' (or {system}), as they are"
            " written, or ratings.criteria=... if each is a criterion of its own",
        )
    elif not any(map(like_criterion, numbers)):
        joined = ",".join(numbers)
        guess.ask(
            f"{listed(numbers)}: raters or criteria",
            f"say which: --columns {shlex.quote(f'ratings.raters={joined}')}, or"
            f" {shlex.quote(f'ratings.criteria={joined}')}",
        )
