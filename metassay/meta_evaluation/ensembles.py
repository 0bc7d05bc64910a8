"""Combine metrics into ensembles that may be closer to people: the table `ensembles`."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from metassay.executor.record import LOCAL, Executor
from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import MetricScores, Study, frame_of
from metassay.statistics.ensembles import average_ensembles, best_subset
from metassay.statistics.ensembles import ensembles as every_subset
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.random_numbers import generator
from metassay.tables.columns import (
    COEFFICIENT,
    CRITERION,
    HIGH,
    INTEGER,
    ORIENTED,
    PART,
    REAL,
    STUDY,
    TEXT,
)
from metassay.tables.parquet import Column, Table

ENSEMBLES = Table(
    name="ensembles",
    says=(
        "several metrics together: the mean of each subset, standardised, against "
        "human ratings"
    ),
    key=("study", "criterion", "part", "coefficient", "kind", "members"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "coefficient": COEFFICIENT,
        "kind": Column(
            TEXT,
            (
                "one subset; the mean over all subsets that contain a metric; or the "
                "best subset by nested cross-validation"
            ),
            choices=(
                "subset",
                "containing",
                "best",
            ),
        ),
        "members": Column(
            TEXT,
            "the metrics, sorted and joined by ` + `; of `containing` the one metric",
        ),
        "size": Column(INTEGER, "how many metrics the subset has; of `containing` 1"),
        "value": Column(
            REAL,
            (
                "correlation over all texts; of `best` on texts it was not chosen "
                f"on. {ORIENTED}"
            ),
            null=True,
        ),
        "low": Column(
            REAL,
            "lower end of the bootstrap interval over texts; null for `best`",
            null=True,
        ),
        "high": HIGH,
        "low_of_values": Column(
            REAL,
            (
                "of `containing`: lower end of the bootstrap interval over subsets, "
                "as papers print it"
            ),
            null=True,
        ),
        "high_of_values": Column(
            REAL,
            "upper end of the interval",
            null=True,
        ),
        "in_sample": Column(
            REAL,
            "of `best`: its correlation on the texts it was chosen on",
            null=True,
        ),
        "n": Column(
            INTEGER,
            "texts it rests on: those that people rated and that have every metric",
        ),
        "n_missing": Column(INTEGER, "texts that people rated and that lack a metric"),
    },
)

JOINED = " + "

Rows = Iterator[dict[str, object]]


def ensembles(
    studies: Sequence[Study],
    options: MetaOptions,
    *,
    note: Callable[[str], None] = lambda _: None,
    executor: Executor = LOCAL,
) -> pd.DataFrame:
    """Evaluate every subset of a study's compared metrics, and choose the best.

    Also gives each metric's mean over the subsets with it. Only texts with a rating and
    every compared metric take part. Metrics that give every text the same score are
    left out. The best subset is chosen by Pearson's correlation, with the texts of a
    document (or cluster) in one fold; other coefficients have no such row. It has no
    value and no members where fewer documents are left than twice the folds. Studies
    with fewer than two compared metrics have no rows; of more than `largest_ensemble`
    the first of `options.compared` take part, and `note` is called with the others.
    """
    families: list[tuple[Study, list[MetricScores]]] = []
    for study in studies:
        compared = study.compared(options)
        metrics = [
            m for m in compared if np.unique(m.values[np.isfinite(m.values)]).size > 1
        ]
        metrics.sort(key=lambda metric: options.rank(metric.metric, metric.label))
        chosen, left = (
            metrics[: options.largest_ensemble],
            metrics[options.largest_ensemble :],
        )
        if len(chosen) > 1:
            families.append((study, sorted(chosen, key=lambda metric: metric.label)))
        if left:
            note(
                f"ensembles of study {study.study}: {len(metrics)} metrics are compared, and"
                f" {len(chosen)} is the most that are combined; left out:"
                f" {', '.join(metric.label for metric in left)}. Those that come first in"
                " params.yaml > meta_evaluation > compared are taken"
            )
    shards = executor.map(combine_metrics, families, options)
    return frame_of([row for rows in shards for row in rows], ENSEMBLES)


def combine_metrics(
    shard: Sequence[tuple[Study, Sequence[MetricScores]]], options: MetaOptions
) -> list[dict[str, object]]:
    """Return the rows of some studies, each with the metrics that it combines."""
    return [
        row
        for study, compared in shard
        for row in _ensemble_rows(study, compared, options)
    ]


def _ensemble_rows(
    study: Study, compared: Sequence[MetricScores], options: MetaOptions
) -> Rows:
    metrics = np.stack(
        [study.layout.less_strata(metric.oriented).ravel() for metric in compared]
    )
    human = study.layout.less_strata(study.oriented).ravel()
    rated, scored = np.isfinite(human), np.all(np.isfinite(metrics), axis=0)
    shared: dict[str, object] = {
        **study.key,
        "coefficient": options.coefficient,
        "n": int(np.count_nonzero(rated & scored)),
        "n_missing": int(np.count_nonzero(rated & ~scored)),
    }
    labels = np.array([metric.label for metric in compared], dtype=object)
    for row in _subset_rows(study, metrics, human, labels, options):
        yield {**shared, **row}
    if options.coefficient == "pearson":
        yield {**shared, **_best(study, metrics, human, labels, options)}


def _subset_rows(
    study: Study, metrics: Array, human: Array, labels: Array, options: MetaOptions
) -> Rows:
    n, sure = options.resamples, options.confidence
    rng = generator(options.seed, "ensembles", *study.key.values())
    subsets = every_subset(
        metrics, human, options.coefficient, n=n, confidence=sure, rng=rng
    )
    for members, value, low, high in zip(
        subsets.members, subsets.value, subsets.low, subsets.high, strict=True
    ):
        yield {
            "kind": "subset",
            "members": JOINED.join(labels[members]),
            "size": int(np.count_nonzero(members)),
            "value": value,
            "low": low,
            "high": high,
        }
    rng = generator(options.seed, "ensembles", "containing", *study.key.values())
    containing = average_ensembles(subsets, n=n, confidence=sure, rng=rng)
    for label, mean in zip(labels, containing, strict=True):
        yield {
            "kind": "containing",
            "members": label,
            "size": 1,
            "value": mean.value,
            "low": mean.low,
            "high": mean.high,
            "low_of_values": mean.low_paper,
            "high_of_values": mean.high_paper,
        }


def _best(
    study: Study, metrics: Array, human: Array, labels: Array, options: MetaOptions
) -> dict[str, object]:
    document = np.broadcast_to(study.layout.cluster, study.human.shape).ravel()
    complete = np.all(np.isfinite(np.vstack((metrics, human))), axis=0)
    members: Mask = np.zeros(len(labels), dtype=bool)
    value, in_sample = np.nan, np.nan
    if np.unique(document[complete]).size >= 2 * options.folds:
        rng = generator(options.seed, "ensembles", "best", *study.key.values())
        best = best_subset(
            metrics, human, folds=options.folds, rng=rng, groups=document
        )
        if not np.isnan(best.in_sample):
            members, value, in_sample = best.members, best.value, best.in_sample
    return {
        "kind": "best",
        "members": JOINED.join(labels[members]),
        "size": int(np.count_nonzero(members)),
        "value": value,
        "in_sample": in_sample,
    }


ANALYSIS = Analysis(
    (ENSEMBLES,),
    lambda run: [
        ensembles(run.studies, run.options, note=run.note, executor=run.executor)
    ],
    "Several metrics together",
    """
    An ensemble is the mean of standardised metrics. Read the best subset’s value by nested
    cross-validation: it was chosen on some documents and tested on the others. In sample it
    looks better than it is, because it was chosen on the same texts. Each metric also has its
    mean over the ensembles that it is in. Trust the interval over texts. The interval over
    ensembles is the one that papers print; it leaves out that other texts would give other
    values.
    """,
)
