"""Names that only one of the files has, with the name that was probably meant."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.api.columns import TEXT, Given
from metassay.core.confusables import REMEDY, look_alikes, spelt
from metassay.core.errors import BadInput, shown
from metassay.format.numbers import counted
from metassay.tables.names import REFERENCE
from metassay.tabular.column_synonyms import plain_key
from metassay.tabular.sheet import as_keys

_EXAMPLES = 3  # ids that a message shows
_LISTED = 10  # names that are told one by one


class Overlap(NamedTuple):
    """Texts (document, system, part) with a score and a rating, and with one of the two alone."""

    both: int
    scored_only: int
    rated_only: int


def overlap(scores: Given, ratings: Given) -> Overlap:
    """Count the systems' texts; raises BadInput, with ids of each file, if none is in both."""
    scored, rated = texts_of(scores.table), texts_of(ratings.table)
    both = len(scored.intersection(rated))
    if not both:
        raise BadInput(
            [
                f"nothing to compare: no text (doc_id, system, part) is in both files."
                f" {scores.name} has {_examples(scored)}; {ratings.name} has {_examples(rated)};"
                " write them alike in both",
                *misnamed(scores, ratings),
            ]
        )
    return Overlap(both, len(scored) - both, len(rated) - both)


def texts_of(table: pd.DataFrame) -> pd.MultiIndex:
    """The texts that a table is about, the reference's left out."""
    return pd.MultiIndex.from_frame(table.loc[table["author"] != REFERENCE, TEXT]).unique()


def misnamed(scores: Given, ratings: Given) -> list[str]:
    """A warning for each system and part that only one file has, and for documents in bulk.

    Documents are told of only where another one of the other file is spelt almost alike: that
    many were not rated is usual.
    """
    said = []
    for here, there in ((ratings, scores), (scores, ratings)):
        for column, noun in (("author", "system"), ("part", "part")):
            said += list(_only_here(here, there, column, noun))
    said += list(_spelt_alike(ratings, scores))
    return said


def alike_within(given: Given) -> list[str]:
    """A warning for names of one file that look alike, each with where it stands first.

    `Reference` is warned of beside `reference`, whose rows are no system's.
    """
    said: list[str] = []
    for key, column in given.keys.items():
        unique = as_keys(given.cells.frame[column]).drop_duplicates()
        first = {REFERENCE: -1} if key == "author" else {}
        first |= dict(zip(unique, unique.index.to_list(), strict=True))
        said += _said(given, column, first)
    if not {"metric", "criterion"} & set(given.keys):
        said += _said(given, "columns", dict.fromkeys(given.names, -1))
    return said


def _said(given: Given, what: str, first: Mapping[str, int]) -> Iterator[str]:
    """`first`: the row where each name stands first, or -1."""
    groups = look_alikes(first)
    for group in groups[:_LISTED]:
        both = " and ".join(_placed(given, one, first[one]) for one in group)
        yield f"{given.name}: {what} {both} look alike: {REMEDY}"
    if len(groups) > _LISTED:
        left = counted(len(groups) - _LISTED, "more name")
        yield f"{given.name}: {left} of {what} look like another one: {REMEDY}"


def _placed(given: Given, name: str, row: int) -> str:
    at = given.cells.at(row)
    return spelt(name) if row < 0 else f"{spelt(name)} ({at.kind} {at.row})"


def meant(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'gpt-4'?` where one of `known` is close, else nothing."""
    close = _close(name, list(known))
    return f"; did you mean {shown(close)}?" if close is not None else ""


def _only_here(here: Given, there: Given, column: str, noun: str) -> Iterator[str]:
    mine, others = (one.texts[column] for one in (here, there))
    rows = mine[mine != REFERENCE].value_counts()
    theirs = set(others) - {REFERENCE}
    only = sorted(set(rows.index) - theirs)
    for name in only[:_LISTED]:
        yield (
            f"{here.name} names {noun} {shown(name)} ({counted(int(rows[name]), 'row')}) that"
            f" {there.name} does not have{meant(name, sorted(theirs - set(rows.index)))}"
        )
    if len(only) > _LISTED:
        left = counted(len(only) - _LISTED, f"more {noun}")
        yield f"{here.name} names {left} that {there.name} does not have"


def _spelt_alike(here: Given, there: Given) -> Iterator[str]:
    mine, theirs = set(here.table["doc_id"]), set(there.table["doc_id"])
    only, others = sorted(mine - theirs), sorted(theirs - mine)
    alike = {plain_key(name): name for name in others}
    pairs = [(name, alike[plain_key(name)]) for name in only if plain_key(name) in alike]
    if pairs:
        first, second = pairs[0]
        yield (
            f"{here.name} and {there.name} spell {counted(len(pairs), 'document')} differently"
            f" (first: {shown(first)} and {shown(second)}): not compared; write them alike"
        )


def _close(name: str, known: Sequence[str]) -> str | None:
    same = [one for one in known if plain_key(one) == plain_key(name)]
    close = same or difflib.get_close_matches(name, known, n=1)
    return close[0] if close else None


def _examples(texts: pd.MultiIndex) -> str:
    shown_ones = ("/".join(shown(key) for key in text) for text in texts[:_EXAMPLES])
    return ", ".join(shown_ones) or "none by a system"
