"""Compare which of two texts metrics and people prefer.

Tables `conflicts` and `disagreements` compare metrics with each other and need no
ratings: they say where ratings are worth most. `preferences` compares metrics with
people.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.options import Criterion
from metassay.meta_evaluation.agreement import orient
from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import (
    VERSUS,
    Better,
    MetricScores,
    check_criteria,
    frame_of,
    matrix,
    single_recipe,
)
from metassay.statistics.correlation import TIE
from metassay.statistics.exact_sums import Array
from metassay.statistics.pairs import disagreements as all_disagreements
from metassay.statistics.pairs import draw_disagreements, preference_agreement
from metassay.statistics.random_numbers import generator
from metassay.tables.columns import (
    CRITERION,
    DOC_ID,
    INTEGER,
    JUDGE,
    METRIC,
    PART,
    REAL,
    RECIPE,
    STUDY,
    TEXT,
)
from metassay.tables.names import REFERENCE, metric_label
from metassay.tables.parquet import Column, Table, empty

PREFERENCES = Table(
    name="preferences",
    says="whether a metric orders two texts as people who compared them do",
    key=("study", "criterion", "part", "metric", "judge"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "value": Column(
            REAL,
            "share of comparisons in which metric and rater say the same, ties too",
            null=True,
        ),
        "decisive": Column(
            REAL,
            (
                "the same share where the rater prefers one text; a tie of the "
                "metric counts half"
            ),
            null=True,
        ),
        "n_same": Column(
            INTEGER,
            "comparisons in which metric and rater prefer the same text",
        ),
        "n_opposite": Column(
            INTEGER,
            "comparisons in which they prefer different texts",
        ),
        "n_metric_tie": Column(
            INTEGER,
            "comparisons in which only the metric has a tie",
        ),
        "n_human_tie": Column(INTEGER, "comparisons in which only the rater has a tie"),
        "n_both_tie": Column(INTEGER, "comparisons in which both have a tie"),
        "n_abstained": Column(INTEGER, "comparisons in which the rater abstained"),
        "n_missing": Column(INTEGER, "comparisons in which a text has no score"),
        "recipe": RECIPE,
    },
)

CONFLICTS = Table(
    name="conflicts",
    says="how often two metrics disagree about which of two texts is better",
    key=("part", "metric_a", "metric_b", "doc_id"),
    columns={
        "part": PART,
        "metric_a": Column(
            TEXT,
            "the metric, with its judge in brackets if it has one",
        ),
        "metric_b": Column(
            TEXT,
            "the metric, with its judge in brackets if it has one",
        ),
        "doc_id": DOC_ID,
        "n_pairs": Column(
            INTEGER,
            "pairs of systems that have both scores in this document",
        ),
        "n_disagreements": Column(
            INTEGER,
            (
                "those of them in which one metric prefers one text and the other "
                "metric the other"
            ),
        ),
    },
)

DISAGREEMENTS = Table(
    name="disagreements",
    says=(
        "a sample of pairs of texts that two metrics order differently, worth "
        "annotating; a correlation over these alone is not that over all texts"
    ),
    key=("part", "metric_a", "metric_b", "doc_id", "author_a", "author_b"),
    columns={
        "part": PART,
        "metric_a": Column(TEXT, "the metric (and its judge) that prefers author_a"),
        "metric_b": Column(TEXT, "the metric (and its judge) that prefers author_b"),
        "doc_id": DOC_ID,
        "author_a": Column(TEXT, "`reference` or a system's name"),
        "author_b": Column(TEXT, "`reference` or a system's name"),
        "conflict": Column(
            REAL,
            "how far apart the metrics rank the two texts within the document",
        ),
    },
)


_Names = NDArray[np.object_]


def conflicts(
    scores: pd.DataFrame, better: Mapping[str, Better], options: MetaOptions
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables `conflicts` and `disagreements`.

    `scores`: the table; `better`: each metric's direction. In each part, every two of
    the compared metrics are compared, the smaller label first, on the texts of all
    authors but the reference. A tie on either side is no disagreement. Documents
    without two texts have rows of conflicts. At most `annotate` disagreements are drawn
    per part and pair of metrics, in the order `draw`. Each pair has its own random
    numbers, so that another metric changes no draw.
    """
    counts, samples = [], []
    for part, authors, documents, a, b in _pairs(scores, better, options):
        key = {"part": part, "metric_a": a.label, "metric_b": b.label}
        opposed = all_disagreements(a.oriented, b.oriented)
        texts = np.isfinite(a.values + b.values).sum(axis=0)
        of_document = {
            "doc_id": documents,
            "n_pairs": texts * (texts - 1) // 2,
            "n_disagreements": opposed.per_document,
        }
        counts.append(pd.DataFrame({**key, **of_document}))
        rng = generator(options.seed, "disagreements", *key.values())
        sample = draw_disagreements(
            opposed, n=options.annotate, rng=rng, order=options.draw
        )
        of_texts = {
            "doc_id": documents[opposed.document[sample]],
            "author_a": authors[opposed.preferred_by_a[sample]],
            "author_b": authors[opposed.preferred_by_b[sample]],
            "conflict": opposed.conflict[sample],
        }
        samples.append(pd.DataFrame({**key, **of_texts}))
    return _concat(counts, CONFLICTS), _concat(samples, DISAGREEMENTS)


def _concat(frames: Iterable[pd.DataFrame], table: Table) -> pd.DataFrame:
    rows = [frame for frame in frames if len(frame)]
    return pd.concat(rows, ignore_index=True) if rows else empty(table)


def _pairs(
    scores: pd.DataFrame, better: Mapping[str, Better], options: MetaOptions
) -> Iterator[tuple[str, _Names, _Names, MetricScores, MetricScores]]:
    """Yield each part with its authors, documents, and two metrics of (authors, documents)."""
    directed = {name for name, direction in better.items() if direction != "neither"}
    scorers = scores[["metric", "judge"]].drop_duplicates()
    named = [
        (metric, judge)
        for metric, judge in zip(scorers["metric"], scorers["judge"], strict=True)
        if metric in directed and options.compares(metric, metric_label(metric, judge))
    ]
    chosen = pd.MultiIndex.from_frame(scores[["metric", "judge"]]).isin(named)
    compared = scores[chosen & (scores["author"] != REFERENCE)]
    for part, rows in compared.groupby("part", sort=True):
        authors = pd.Index(sorted(rows["author"].unique()))
        documents = pd.Index(sorted(rows["doc_id"].unique()))
        metrics = [
            MetricScores(
                str(metric),
                str(judge),
                better[str(metric)],
                str(of_metric["recipe"].iloc[0]),
                matrix(of_metric, authors, documents),
            )
            for (metric, judge), of_metric in rows.groupby(
                ["metric", "judge"], sort=True
            )
        ]
        names = authors.to_numpy(dtype=object), documents.to_numpy(dtype=object)
        for a, b in combinations(sorted(metrics, key=lambda metric: metric.label), 2):
            yield str(part), *names, a, b


_STUDIED = ["study", "criterion", "part"]
_COMPARISON = ["doc_id", "author", "unit", "rater"]


def preferences(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    better: Mapping[str, Better],
) -> pd.DataFrame:
    """Return one row per study, criterion, part and directed metric of that part.

    A rating above the middle of the criterion's scale prefers `author`, and below it
    the author in its unit; the middle is a tie and null an abstention. Where less is
    better, it is the other way round. A comparison that a rater made both ways counts
    once, as the mean of the two. Comparisons with the reference count like others, if
    the reference has a score.

    Raises BadInput for an undeclared criterion, and for scores of several recipes under
    one metric and judge among the texts compared.
    """
    check_criteria(ratings, criteria)
    compared = orient(ratings[ratings["unit"].str.startswith(VERSUS)], criteria)
    of_part = dict(list(scores.groupby("part", sort=True)))
    rows: list[dict[str, object]] = []
    for key, group in compared.groupby(_STUDIED, sort=True):
        _, criterion, part = (str(name) for name in key)
        comparisons = (
            group.groupby(_COMPARISON, sort=True)["value"].mean().reset_index()
        )
        authors = comparisons["author"], comparisons["unit"].str.removeprefix(VERSUS)
        texts = [
            pd.MultiIndex.from_arrays([comparisons["doc_id"], side]) for side in authors
        ]
        people = _preferences(
            comparisons["value"].to_numpy(dtype=np.float64), criteria[criterion]
        )
        of_metrics = of_part.get(part, scores[:0]).groupby(["metric", "judge"])
        for (metric, judge), of_metric in of_metrics:
            direction = better[str(metric)]
            if direction == "neither":
                continue
            sign = -1.0 if direction == "lower" else 1.0
            value = of_metric.set_index(["doc_id", "author"])["value"].astype(
                np.float64
            )
            first, second = (sign * value.reindex(text).to_numpy() for text in texts)
            row = dict(zip(PREFERENCES.key, (*key, metric, judge), strict=True))
            row |= preference_agreement(first, second, people)._asdict()
            rows.append(row | {"recipe": _recipe(of_metric, texts)})
    return frame_of(rows, PREFERENCES)


def _preferences(values: Array, criterion: Criterion) -> Array:
    """Return 1 for the first text, 0 for the second, .5 for a tie, NaN for an abstention."""
    step = values - (criterion.low + criterion.high) / 2.0
    noise = TIE * max(abs(criterion.low), abs(criterion.high))
    side = np.where(np.abs(step) <= noise, 0.0, np.sign(step))
    return 0.5 + 0.5 * (-side if criterion.better == "lower" else side)


def _recipe(scores: pd.DataFrame, texts: Sequence[pd.MultiIndex]) -> str:
    scored = pd.MultiIndex.from_frame(scores[["doc_id", "author"]])
    compared = scores[scored.isin(texts[0]) | scored.isin(texts[1])]
    metric, judge, part = (
        str(scores[name].iloc[0]) for name in ("metric", "judge", "part")
    )
    return single_recipe(compared if len(compared) else scores, metric, judge, part)


OF_PREFERENCES = Analysis(
    (PREFERENCES,),
    lambda run: [preferences(run.scores, run.ratings, run.criteria, run.better)],
    "Metrics against people’s preferences",
    """
    People said which of two texts is better. Same outcome: the share of these comparisons in
    which the metric says the same, ties included. Decisive: the same share of the comparisons
    in which people preferred one text. There a tie of the metric counts half, as a guess does.
    """,
)
OF_CONFLICTS = Analysis(
    (CONFLICTS, DISAGREEMENTS),
    lambda run: conflicts(run.scores, run.better, run.options),
    "Where metrics disagree",
    """
    Two texts of one document are in conflict if one metric prefers the one and another metric
    the other. Ties are no conflict. Where two metrics often disagree, ask people about those
    texts: that tells most about which metric to trust.
    """,
)
