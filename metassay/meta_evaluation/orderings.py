"""The tables `conflicts`, `disagreements` and `preferences`: which of two texts is better.

Where two metrics prefer different texts needs no ratings: it says where ratings are worth the most.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.options import Criterion
from metassay.meta_evaluation.agreement import oriented
from metassay.meta_evaluation.analysis import Analysis, Page
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import (
    VERSUS,
    Better,
    MetricScores,
    check_criteria,
    frame_of,
    generator,
    matrix,
    single_recipe,
)
from metassay.statistics.correlation import TIE
from metassay.statistics.exact_sums import Array
from metassay.statistics.pairs import disagreements as all_disagreements
from metassay.statistics.pairs import draw_disagreements, preference_agreement
from metassay.tables.columns import table
from metassay.tables.names import REFERENCE, metric_label
from metassay.tables.parquet import empty

PREFERENCES = table(
    "preferences",
    "whether a metric orders two texts as people who compared them do",
    "study criterion part metric judge",
    """
    study criterion part metric judge
    value real?: share of comparisons in which metric and rater say the same, ties too
    decisive real?: the same share where the rater prefers one text; a tie of the metric counts half
    n_same integer: comparisons in which metric and rater prefer the same text
    n_opposite integer: comparisons in which they prefer different texts
    n_metric_tie integer: comparisons in which only the metric has a tie
    n_human_tie integer: comparisons in which only the rater has a tie
    n_both_tie integer: comparisons in which both have a tie
    n_abstained integer: comparisons in which the rater abstained
    n_missing integer: comparisons in which a text has no score
    recipe
    """,
)

CONFLICTS = table(
    "conflicts",
    "how often two metrics disagree about which of two texts is better",
    "part metric_a metric_b doc_id",
    """
    part
    metric_a text: the metric, with its judge in brackets if it has one
    metric_b text: the metric, with its judge in brackets if it has one
    doc_id
    n_pairs integer: pairs of systems that have both scores in this document
    n_disagreements integer: those of them in which one metric prefers one text and the other metric
      the other
    """,
)

DISAGREEMENTS = table(
    "disagreements",
    "a sample of pairs of texts that two metrics order differently, worth annotating",
    "part metric_a metric_b doc_id author_a author_b",
    """
    part
    metric_a text: the metric (and its judge) that prefers author_a
    metric_b text: the metric (and its judge) that prefers author_b
    doc_id
    author_a text: `reference` or a system's name
    author_b text: `reference` or a system's name
    conflict real: how far apart the metrics rank the two texts within the document
    """,
)


class _Pair(NamedTuple):
    """Two metrics' scores of the same texts of one part."""

    part: str
    authors: NDArray[np.object_]  # the rows of both metrics' values
    documents: NDArray[np.object_]  # their columns
    a: MetricScores
    b: MetricScores

    @property
    def key(self) -> dict[str, str]:
        return {"part": self.part, "metric_a": self.a.label, "metric_b": self.b.label}


def conflicts(
    scores: pd.DataFrame, better: Mapping[str, Better], options: MetaOptions
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables `conflicts` and `disagreements`.

    `scores`: the table; `better`: each metric's direction. All authors but the reference take part,
    in each part, and every two of the compared metrics, the smaller label first. A tie on either
    side is no disagreement. Documents without two texts to compare have rows of conflicts. Of
    disagreements at most `annotate` are drawn per part and pair of metrics, as `draw` says, by
    random numbers of the pair's own, so that another metric changes no draw.
    """
    counts: dict[str, list[object]] = {name: [] for name in CONFLICTS.columns}
    samples: dict[str, list[object]] = {name: [] for name in DISAGREEMENTS.columns}
    for pair in _pairs(scores, better, options):
        found = all_disagreements(pair.a.oriented, pair.b.oriented)
        texts = np.isfinite(pair.a.values + pair.b.values).sum(axis=0)
        of_document = {"n_pairs": texts * (texts - 1) // 2, "n_disagreements": found.per_document}
        _add(counts, {**pair.key, "doc_id": pair.documents, **of_document}, texts.size)
        rng = generator(options.seed, "disagreements", *pair.key.values())
        drawn = draw_disagreements(found, n=options.annotate, rng=rng, order=options.draw)
        of_texts = {
            **pair.key,
            "doc_id": pair.documents[found.document[drawn]],
            "author_a": pair.authors[found.preferred_by_a[drawn]],
            "author_b": pair.authors[found.preferred_by_b[drawn]],
            "conflict": found.conflict[drawn],
        }
        _add(samples, of_texts, drawn.size)
    both = (counts, CONFLICTS), (samples, DISAGREEMENTS)
    made = [pd.DataFrame(each) if any(each.values()) else empty(table) for each, table in both]
    return made[0], made[1]


def _add(columns: dict[str, list[object]], rows: Mapping[str, object], n: int) -> None:
    for name, values in rows.items():
        columns[name] += [values] * n if isinstance(values, str) else np.asarray(values).tolist()


def _pairs(
    scores: pd.DataFrame, better: Mapping[str, Better], options: MetaOptions
) -> Iterator[_Pair]:
    directed = {name for name, which in better.items() if which != "neither"}
    both = scores[["metric", "judge"]].drop_duplicates()
    named = [
        (metric, judge)
        for metric, judge in zip(both["metric"], both["judge"], strict=True)
        if metric in directed and options.compares(metric, metric_label(metric, judge))
    ]
    chosen = pd.MultiIndex.from_frame(scores[["metric", "judge"]]).isin(named)
    wanted = scores[chosen & (scores["author"] != REFERENCE)]
    for part, rows in wanted.groupby("part", sort=True):
        authors = pd.Index(sorted(rows["author"].unique()))
        documents = pd.Index(sorted(rows["doc_id"].unique()))
        metrics = [
            MetricScores(
                str(metric),
                str(judge),
                better[str(metric)],
                str(mine["recipe"].iloc[0]),
                matrix(mine, authors, documents),
            )
            for (metric, judge), mine in rows.groupby(["metric", "judge"], sort=True)
        ]
        names = authors.to_numpy(dtype=object), documents.to_numpy(dtype=object)
        for a, b in combinations(sorted(metrics, key=lambda one: one.label), 2):
            yield _Pair(str(part), *names, a, b)


_STUDIED = ["study", "criterion", "part"]
_ASKED = ["doc_id", "author", "unit", "rater"]


def preferences(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    better: Mapping[str, Better],
) -> pd.DataFrame:
    """One row per study, criterion, part and metric of that part that has a direction.

    A rating above the middle of the criterion's scale prefers `author`, one below it the author
    that its unit names, the middle is a tie and null an abstention; where less is better, the
    other way round. What a rater was asked both ways is one comparison, the mean of the two.
    Comparisons with the reference count like others, if the reference has a score.

    Raises BadInput for an undeclared criterion, and for scores of several recipes under one metric
    and judge among the texts compared.
    """
    check_criteria(ratings, criteria)
    compared = oriented(ratings[ratings["unit"].str.startswith(VERSUS)], criteria)
    of_part = dict(list(scores.groupby("part", sort=True)))
    rows: list[dict[str, object]] = []
    for key, group in compared.groupby(_STUDIED, sort=True):
        _, criterion, part = (str(name) for name in key)
        asked = group.groupby(_ASKED, sort=True)["value"].mean().reset_index()
        texts = _texts(asked)
        people = _preferred(asked["value"].to_numpy(dtype=np.float64), criteria[criterion])
        for (metric, judge), mine in of_part.get(part, scores[:0]).groupby(["metric", "judge"]):
            direction = better[str(metric)]
            if direction == "neither":
                continue
            sign = -1.0 if direction == "lower" else 1.0
            value = mine.set_index(["doc_id", "author"])["value"]
            first, second = (
                sign * value.reindex(text).to_numpy(dtype=np.float64) for text in texts
            )
            rows.append(
                {
                    **dict(zip(PREFERENCES.key, (*key, metric, judge), strict=True)),
                    **preference_agreement(first, second, people)._asdict(),
                    "recipe": _recipe(mine, texts),
                }
            )
    return frame_of(rows, PREFERENCES)


def _texts(asked: pd.DataFrame) -> tuple[pd.MultiIndex, pd.MultiIndex]:
    """The two texts of each comparison, by document and author."""
    authors = asked["author"], asked["unit"].str.removeprefix(VERSUS)
    first, second = (pd.MultiIndex.from_arrays([asked["doc_id"], author]) for author in authors)
    return first, second


def _preferred(values: Array, criterion: Criterion) -> Array:
    """1 the first text, 0 the second, .5 a tie, NaN abstained."""
    step = values - (criterion.low + criterion.high) / 2.0
    noise = TIE * max(abs(criterion.low), abs(criterion.high))
    side = np.where(np.abs(step) <= noise, 0.0, np.sign(step))
    return 0.5 + 0.5 * (-side if criterion.better == "lower" else side)


def _recipe(scores: pd.DataFrame, texts: tuple[pd.MultiIndex, pd.MultiIndex]) -> str:
    scored = pd.MultiIndex.from_frame(scores[["doc_id", "author"]])
    compared = scores[scored.isin(texts[0]) | scored.isin(texts[1])]
    metric, judge, part = (str(scores[name].iloc[0]) for name in ("metric", "judge", "part"))
    return single_recipe(compared if len(compared) else scores, metric, judge, part)


OF_PREFERENCES = Analysis(
    (PREFERENCES,),
    lambda run: [preferences(run.scores, run.ratings, run.criteria, run.better)],
    Page(
        "Metrics against people’s preferences",
        """
        People said which of two texts is better. Same outcome: the share of these comparisons in
        which the metric says the same, ties included. Decisive: the same share of the comparisons
        in which people preferred one text. There a tie of the metric counts half, as a guess does.
        """,
    ),
)
OF_CONFLICTS = Analysis(
    (CONFLICTS, DISAGREEMENTS),
    lambda run: conflicts(run.scores, run.better, run.options),
    Page(
        "Where metrics disagree",
        """
        Two texts of one document are in conflict if one metric prefers the one and another metric
        the other. Ties are no conflict. Where two metrics often disagree, ask people about those
        texts: that tells most about which metric to trust.
        """,
    ),
)
