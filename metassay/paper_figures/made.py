"""Tables that records may name: some of the contract, and what is made of them for figures."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.paper_figures import least_copied, of_texts, recall_precision, scorers
from metassay.paper_figures.record import Record
from metassay.parquet import Table
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.confounds import CONFOUNDS
from metassay.tables.correlations import CORRELATIONS, METRIC_CORRELATIONS
from metassay.tables.documents import SOURCES
from metassay.tables.ensembles import ENSEMBLES
from metassay.tables.facet_weights import FACET_WEIGHTS
from metassay.tables.judge_cards import JUDGE_CARDS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parts import PARTS
from metassay.tables.raters import AGREEMENT, RATING_SUMMARIES
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES

Frames = Mapping[str, pd.DataFrame]


# Of the contract only what a figure is of, so that no other table makes figures stale.
DRAWN_FROM: dict[str, Table] = {
    t.name: t
    for t in (
        *(SOURCES, PARTS, ALIGNMENTS, SCORES, LEADERBOARD, RATINGS, CORRELATIONS),
        *(RATING_SUMMARIES, METRIC_CORRELATIONS, FACET_WEIGHTS, ENSEMBLES, CONFOUNDS),
        *(JUDGE_CARDS, AGREEMENT),
    )
}


class Made(NamedTuple):
    """Which tables of the contract it is made of, and how; `says` is for docs/figures.md."""

    of: tuple[str, ...]
    make: Callable[[Frames], pd.DataFrame]
    says: str


MADE: dict[str, Made] = {
    "recall_precision": Made(
        ("scores",),
        recall_precision.matrix,
        "Kendall's tau between metrics of recall, and between those of precision",
    ),
    "recall_conflicts": Made(
        ("scores",),
        recall_precision.conflicts,
        "pairs of texts that two metrics of recall put in another order",
    ),
    "facet_shares": Made(
        ("parts",), of_texts.facet_shares, "each author's mean share of words per facet"
    ),
    "text_numbers": Made(
        ("sources", "parts", "scores"),
        of_texts.text_numbers,
        "the spread over texts of metrics, and of how common words are",
    ),
    "means_of_first": Made(
        ("scores", "ratings"),
        of_texts.means_of_first,
        "means over the first documents, and over all",
    ),
    "rating_draws": Made(
        ("ratings",), of_texts.rating_draws, "systems' mean ratings with other documents"
    ),
    "by_kind_of_author": Made(
        ("scores",), of_texts.by_kind_of_author, "means of references, and of all systems"
    ),
    "aligned_passages": Made(
        ("alignments", "sources"), of_texts.aligned_passages, "passages per statement, by alignment"
    ),
    "facet_grades": Made(
        ("scores", "ratings"),
        of_texts.facet_grades,
        "grades of single facets, by people and metrics",
    ),
    "least_copied": Made(
        ("scores", "ratings"),
        least_copied.least_copied,
        "correlations on the texts that copy least, and with coverage added",
    ),
    "in_ensembles": Made(
        ("ensembles",), scorers.in_ensembles, "metrics alone and in ensembles, and the best one"
    ),
    "pairs_of_scorers": Made(
        ("metric_correlations",),
        scorers.both_ways,
        "table metric_correlations, each pair both ways",
    ),
}


def tables_of(name: str) -> Sequence[str]:
    """The tables of the contract behind the table that a record names."""
    return MADE[name].of if name in MADE else (name,)


def needed(record: Record) -> list[tuple[str, str]]:
    """Benchmark and table of all that a record reads, sorted."""
    every = {(n.benchmark, t) for n in record.every_numbers for t in tables_of(n.table)}
    return sorted(every)


def unknown(record: Record) -> list[str]:
    """Tables that a record names and nobody has."""
    return sorted({n.table for n in record.every_numbers} - set(DRAWN_FROM) - set(MADE))
