"""Names that only one of the files has, with the name that was probably meant."""

from collections.abc import Iterator

import pandas as pd

from metassay.api.columns import TEXT, Given
from metassay.core.errors import BadInput, meant, shown
from metassay.format.numbers import counted
from metassay.tables.names import REFERENCE
from metassay.tabular.column_synonyms import plain_key

_EXAMPLES = 3  # ids that a message shows
_LISTED = 10  # names that are told one by one


def overlap(scores: Given, ratings: Given) -> tuple[int, int, int]:
    """Count the systems' texts (document, system, part) with a score and a rating, with a score
    only, and with a rating only; raises BadInput, with ids of each file, if none is in both."""
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
    return both, len(scored) - both, len(rated) - both


def texts_of(table: pd.DataFrame) -> pd.MultiIndex:
    """The texts that a table is about, the reference's left out."""
    return pd.MultiIndex.from_frame(table.loc[table["author"] != REFERENCE, TEXT]).unique()


def misnamed(scores: Given, ratings: Given) -> list[str]:
    """A warning for each system and part that only one file has, and for documents in bulk.

    Documents are told of only where another one of the other file is spelt almost alike: that
    many were not rated is usual.
    """
    return [
        line
        for here, there in ((ratings, scores), (scores, ratings))
        for column, noun in (("author", "system"), ("part", "part"))
        for line in _only_here(here, there, column, noun)
    ] + list(_spelt_alike(ratings, scores))


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


def _examples(texts: pd.MultiIndex) -> str:
    shown_ones = ("/".join(shown(key) for key in text) for text in texts[:_EXAMPLES])
    return ", ".join(shown_ones) or "none by a system"
