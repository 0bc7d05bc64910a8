"""Test whether one metric is closer to people than another: the table `significance`."""

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from typing import Any

import numpy as np
import pandas as pd

from metassay.executor.record import LOCAL, Executor
from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Study, frame_of
from metassay.statistics.components import rests_on
from metassay.statistics.correlation import LEVELS, Coefficient, Level
from metassay.statistics.layout import Index, Layout
from metassay.statistics.multiple_tests import benjamini_hochberg, holm
from metassay.statistics.random_numbers import generator
from metassay.statistics.resampling import Draws, draw
from metassay.statistics.significance import (
    Bootstrap,
    PairedBootstrap,
    PermutationTest,
    Trios,
    Williams,
    all_pairs,
    bootstrap_pair,
    draw_swaps,
    paired_differences,
    permutation_tests,
    resample_by_document,
    resample_metric,
    williams_of,
)
from metassay.tables.columns import (
    COEFFICIENT,
    CRITERION,
    HIGH,
    INTEGER,
    LEVEL,
    ORIENTED,
    PART,
    REAL,
    STUDY,
    TEXT,
)
from metassay.tables.parquet import Column, Table

SIGNIFICANCE = Table(
    name="significance",
    says="metric against metric: whether one is closer to people than the other",
    key=(
        "study",
        "criterion",
        "part",
        "level",
        "coefficient",
        "test",
        "metric_a",
        "metric_b",
    ),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "level": LEVEL,
        "coefficient": COEFFICIENT,
        "test": Column(
            TEXT,
            "the test, and what it permutes or draws again. All tests are two-sided",
            choices=(
                "williams",
                "permutation_systems",
                "permutation_documents",
                "permutation_both",
                "bootstrap_systems",
                "bootstrap_documents",
                "bootstrap_both",
            ),
        ),
        "metric_a": Column(
            TEXT,
            "the metric, with its judge in brackets if it has one",
        ),
        "metric_b": Column(
            TEXT,
            "the metric, with its judge in brackets if it has one",
        ),
        "difference": Column(
            REAL,
            f"the correlation of metric a less that of metric b. {ORIENTED}",
            null=True,
        ),
        "low": Column(
            REAL,
            "lower end of the interval of the difference; only bootstraps have one",
            null=True,
        ),
        "high": HIGH,
        "p": Column(
            REAL,
            "a small p shows that the two differ",
            null=True,
        ),
        "p_holm": Column(
            REAL,
            "p after Holm's correction for all pairs of metrics compared here",
            null=True,
        ),
        "p_benjamini_hochberg": Column(
            REAL,
            "p after Benjamini and Hochberg's correction for them",
            null=True,
        ),
        "n": Column(
            INTEGER,
            "texts, documents or systems that have both metrics and ratings",
        ),
        "n_undefined": Column(
            INTEGER,
            "resamples or permutations that have no difference",
        ),
        "n_missing": Column(
            INTEGER,
            "texts that have some of the two scores and the rating, but not all",
        ),
    },
)

WILLIAMS_SYSTEMS = 20  # with fewer, the t distribution of Williams' test does not hold


def significance(
    studies: Sequence[Study], options: MetaOptions, executor: Executor = LOCAL
) -> pd.DataFrame:
    """Return one row per level, test and pair of the compared metrics, the smaller label first.

    A positive difference says that metric a is closer to people. Only texts that have
    both scores and a rating take part, and at document level only documents in which
    both metrics correlate with people. Williams' test assumes independent items: it has
    rows at system level alone, for 20 systems or more. All pairs of a family share
    their permutations or resamples, which depend on the study alone: another metric
    changes no p, only the corrected ones. With n of them (`permutations`) no p is below
    1 / (n + 1), or 2 / (n + 1) by bootstrap, before correction.
    """
    families = [(study, level) for study in studies for level in LEVELS]
    shards = executor.map(compare_metrics, families, options)
    return frame_of([row for rows in shards for row in rows], SIGNIFICANCE)


def compare_metrics(
    shard: Sequence[tuple[Study, Level]], options: MetaOptions
) -> list[dict[str, object]]:
    """Return the rows of some levels of some studies: all pairs of metrics, by each test."""
    rows: list[dict[str, object]] = []
    for _, families in groupby(shard, key=lambda family: id(family[0])):
        levels = list(families)
        study = levels[0][0]
        compared = sorted(study.compared(options), key=lambda metric: metric.label)
        labels = list(combinations([metric.label for metric in compared], 2))
        groups = all_pairs([metric.oriented for metric in compared], study.oriented)
        for _, level in levels:
            for test in _tests(study, level, options):
                rows += _family(study, labels, groups, level, test, options)
    return rows


def _tests(study: Study, level: Level, options: MetaOptions) -> list[str]:
    resampling = [f"permutation_{options.resample}", f"bootstrap_{options.resample}"]
    with_williams = level == "system" and len(study.systems) >= WILLIAMS_SYSTEMS
    return ["williams", *resampling] if with_williams else resampling


# pairs with the same cells, and their places among all
Groups = Sequence[tuple[Index, Trios]]


def _family(
    study: Study,
    labels: Sequence[tuple[str, str]],
    groups: Groups,
    level: Level,
    test: str,
    options: MetaOptions,
) -> Iterator[dict[str, object]]:
    results = _run_test(study, groups, level, test, options)
    p = [values["p"] for values in results]
    corrections = zip(holm(p), benjamini_hochberg(p), strict=True)
    for (a, b), values, corrected in zip(labels, results, corrections, strict=True):
        yield {
            **study.key,
            "level": level,
            "coefficient": options.coefficient,
            "test": test,
            "metric_a": a,
            "metric_b": b,
            "low": np.nan,
            "high": np.nan,
            "n_undefined": 0,
            **values,
            "p_holm": corrected[0],
            "p_benjamini_hochberg": corrected[1],
        }


def _run_test(
    study: Study, groups: Groups, level: Level, test: str, options: MetaOptions
) -> list[dict[str, Any]]:
    """Return the test's result for each pair, in the order of the pairs."""
    exchange: dict[str, Any] = {
        "resample": options.resample,
        "n": options.permutations,
        "rng": generator(
            options.seed, "significance", *study.key.values(), level, test
        ),
        "layout": study.layout,
    }
    how = level, options.coefficient
    draws = draw(study.shape, **exchange) if test.startswith("bootstrap") else None
    swaps = (
        draw_swaps(study.shape, **exchange) if test.startswith("permutation") else None
    )
    rows: dict[int, dict[str, Any]] = {}
    for places, trios in groups:
        results: Sequence[PairedBootstrap | PermutationTest | Williams]
        if draws is not None:
            differences = _differences(trios, *how, draws, study.layout)
            sure = options.confidence
            results = [
                bootstrap_pair(d, trios.select(i), confidence=sure)
                for i, d in enumerate(differences)
            ]
        elif swaps is not None:
            results = permutation_tests(
                trios, *how, swaps, options.resample, study.layout
            )
        else:
            results = [williams_of(trios.select(i), *how) for i in range(len(places))]
        for place, result, n in zip(
            places, results, _rests_on(trios, *how), strict=True
        ):
            rows[place] = {**result._asdict(), "n": n}
    return [row for _, row in sorted(rows.items())]


def _differences(
    trios: Trios, level: Level, coefficient: Coefficient, draws: Draws, layout: Layout
) -> list[Bootstrap]:
    if level == "document":
        return resample_by_document(trios, coefficient, draws)
    metrics = [
        resample_metric(m, trios.human, level, coefficient, draws, layout)
        for m in trios.metrics
    ]
    return [metrics[a].less(metrics[b]) for a, b in trios.pairs.T]


def _rests_on(trios: Trios, level: Level, coefficient: Coefficient) -> Any:
    if level == "document":
        return np.count_nonzero(
            ~np.isnan(paired_differences(trios, coefficient)), axis=1
        )
    return np.broadcast_to(rests_on(trios.present, level), len(trios.n_missing))


ANALYSIS = Analysis(
    (SIGNIFICANCE,),
    lambda run: [significance(run.studies, run.options, run.executor)],
    "Which differences between metrics hold",
    """
    Two metrics that correlate differently with people may do so by chance. A difference above
    0 says that metric a is closer to people, one below 0 that metric b is. It holds where
    p_holm, p after Holm’s correction for testing all pairs, is .05 or less. Where it is more no
    difference is shown; there may be one.
    """,
)
