"""Correlate metrics with people and with each other, in all texts and by stratum.

Tables `correlations`, `components`, `metric_correlations`, `designs` and `strata`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import get_args

import numpy as np
import pandas as pd

from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.exact_tests import StudyTests
from metassay.meta_evaluation.layouts import Groups
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import MetricScores, Study, frame_of
from metassay.statistics.components import COMPONENTS as PARTS
from metassay.statistics.components import correlate_at, variance_components
from metassay.statistics.correlation import COEFFICIENTS, LEVELS, Coefficient, correlate
from metassay.statistics.exact_sums import Array, mean_without_gaps, quotient
from metassay.statistics.jackknife import Over, interval, leave_out, leave_out_all
from metassay.statistics.layout import Index, factorize
from metassay.statistics.random_numbers import generator
from metassay.statistics.resampling import Draws, correlate_resamples, draw, percentiles
from metassay.tables.columns import (
    COEFFICIENT,
    CRITERION,
    HIGH,
    INTEGER,
    JUDGE,
    METRIC,
    ONE_SIDED,
    ORIENTED,
    OTHERS,
    PART,
    REAL,
    RECIPE,
    STUDY,
    TEXT,
)
from metassay.tables.evidence import DESIGNS, STRATA
from metassay.tables.names import EACH_PART
from metassay.tables.parquet import Column, Table

CORRELATIONS = Table(
    name="correlations",
    says="metrics against human ratings",
    key=("study", "criterion", "part", "metric", "judge", "level", "coefficient"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": Column(
            TEXT,
            "`full`, or a section or facet; `each` where the level is grouped",
        ),
        "metric": METRIC,
        "judge": JUDGE,
        "level": Column(
            TEXT,
            (
                "what is correlated: all texts; the texts of each document; the "
                "systems' means; or (grouped) the texts of each part, averaged over "
                "the parts"
            ),
            choices=(
                "global",
                "document",
                "system",
                "grouped",
            ),
        ),
        "coefficient": COEFFICIENT,
        "value": Column(
            REAL,
            "the correlation with its true sign; null if undefined",
            null=True,
        ),
        "low": Column(
            REAL,
            f"{OTHERS}; null where grouped",
            null=True,
        ),
        "high": HIGH,
        "low_these_systems": Column(
            REAL,
            "lower end of the interval for these systems and other documents",
            null=True,
        ),
        "high_these_systems": Column(
            REAL,
            "upper end of the interval",
            null=True,
        ),
        "n": Column(
            INTEGER,
            "what it rests on: texts, documents, systems or parts, by the level",
        ),
        "n_undefined": Column(
            INTEGER,
            "documents or parts that have no correlation; 0 at other levels",
        ),
        "n_missing": Column(INTEGER, ONE_SIDED),
        "p": Column(
            REAL,
            (
                "two-sided p of the exact test, which puts systems and documents in "
                "other orders. A small one shows that metric and people are related. "
                "It is not adjusted for other metrics. Only the coefficient that "
                "params.yaml names has one"
            ),
            null=True,
        ),
        "recipe": RECIPE,
    },
)

COMPONENTS = Table(
    name="components",
    says=(
        "whether a metric agrees with people about systems, about documents, or "
        "about single texts"
    ),
    key=("study", "criterion", "part", "metric", "judge", "component"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "component": Column(
            TEXT,
            (
                "what is correlated: the systems' means; the documents' means; or "
                "(within) each text's score less the level of its system and of its "
                "document"
            ),
            choices=(
                "between_systems",
                "between_documents",
                "within",
            ),
        ),
        "coefficient": COEFFICIENT,
        "value": Column(
            REAL,
            f"the correlation of this component; null if undefined. {ORIENTED}",
            null=True,
        ),
        "low": Column(
            REAL,
            OTHERS,
            null=True,
        ),
        "high": HIGH,
        "p": Column(
            REAL,
            "as in `correlations`, for this component alone",
            null=True,
        ),
        "n": Column(
            INTEGER,
            "what it rests on: systems, documents or texts, by the component",
        ),
        "n_missing": Column(INTEGER, ONE_SIDED),
        "metric_share": Column(
            REAL,
            "share of the metric's variance that lies here",
            null=True,
        ),
        "people_share": Column(
            REAL,
            "share of people's variance that lies here",
            null=True,
        ),
    },
)

METRIC_CORRELATIONS = Table(
    name="metric_correlations",
    says=(
        "how metrics and human criteria correlate with each other, two by two, over "
        "all texts that a study rated. One row for each two: criteria come first, "
        "then metrics, each by name"
    ),
    key=("study", "part", "coefficient", "first_is", "first", "second_is", "second"),
    columns={
        "study": STUDY,
        "part": PART,
        "coefficient": COEFFICIENT,
        "first_is": Column(
            TEXT,
            "whether it is a metric or a human criterion",
            choices=(
                "metric",
                "people",
            ),
        ),
        "first": Column(
            TEXT,
            "the criterion, or the metric with its judge in brackets if it has one",
        ),
        "second_is": Column(
            TEXT,
            "whether it is a metric or a human criterion",
            choices=(
                "metric",
                "people",
            ),
        ),
        "second": Column(TEXT, "the other one"),
        "value": Column(
            REAL,
            (
                "the correlation over all texts that have both; null if undefined. "
                "Both are turned so that more is better"
            ),
            null=True,
        ),
        "n": Column(INTEGER, "texts that have both"),
        "n_missing": Column(INTEGER, "texts that have one of the two"),
    },
)


def correlations(
    studies: Sequence[StudyTests],
    options: MetaOptions,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Return one row per metric, level and coefficient, with the true sign.

    A good metric correlates negatively with an error rate. Intervals leave out systems
    and documents in turn (`jackknife`); those of grouped rows are a bootstrap over
    documents. p is of the exact test, by options.coefficient, for this metric alone.
    n_missing counts the texts of the study's systems and documents that have a score or
    a rating, but not both. `progress(done, total)` is called after each study.
    """
    rows: list[dict[str, object]] = []
    for done, tests in enumerate(studies, start=1):
        rows += _rows(tests, options)
        if progress is not None:
            progress(done, len(studies))
    for parts in _group_parts([tests.study for tests in studies]):
        rows += _grouped_rows(parts, options)
    return frame_of(rows, CORRELATIONS)


def _rows(tests: StudyTests, options: MetaOptions) -> Iterator[dict[str, object]]:
    study = tests.study
    sides = study.values(study.metrics, oriented=False), study.human
    for level in LEVELS:
        # All coefficients have the same counts: none is defined where a side is
        # constant.
        counts = correlate_at(*sides, level, options.coefficient, study.layout)
        for coefficient, left in leave_out_all(*sides, level, study.layout).items():
            sure, chosen = options.confidence, coefficient == options.coefficient
            ends, these = (interval(left, confidence=sure, over=over) for over in _OVER)
            yield from study.rows(
                study.metrics,
                level=level,
                coefficient=coefficient,
                **counts._replace(value=left.value)._asdict(),
                low=ends.low,
                high=ends.high,
                low_these_systems=these.low,
                high_these_systems=these.high,
                p=tests.levels[level].p[:, 0] if chosen else np.nan,
                recipe=[metric.recipe for metric in study.metrics],
            )


_OVER: tuple[Over, Over] = ("both", "documents")
# one metric in several parts of one study and criterion
Parts = list[tuple[Study, MetricScores]]


def _group_parts(studies: Sequence[Study]) -> Iterator[Parts]:
    """Yield the metrics that a study compares with one criterion in several parts."""
    by_name: dict[tuple[str, ...], Parts] = {}
    for study in studies:
        for metric in study.metrics:
            key = (study.study, study.criterion, metric.metric, metric.judge)
            by_name.setdefault(key, []).append((study, metric))
    return (parts for parts in by_name.values() if len(parts) > 1)


def _grouped_rows(parts: Parts, options: MetaOptions) -> Iterator[dict[str, object]]:
    """Yield the mean of the parts' coefficients, unweighted by the parts' sizes."""
    study, first = parts[0]
    # Each part takes the place of a document, and its texts that of the systems.
    most = max(metric.values.size for _, metric in parts)
    scores, ratings = np.full((2, most, len(parts)), np.nan)
    for place, (part, metric) in enumerate(parts):
        scores[: metric.values.size, place] = metric.values.ravel()
        ratings[: metric.values.size, place] = part.human.ravel()
    draws = draw(
        study.shape,
        resample=options.resample,
        n=options.resamples,
        rng=generator(options.seed, *study.key.values()),
        layout=study.layout,
    )
    for coefficient in get_args(Coefficient):
        value = correlate(scores, ratings, "document", coefficient)
        means = _mean_of_draws(parts, coefficient, draws)
        ends = percentiles(means[:, None], options.confidence)
        yield {
            **study.key,
            "part": EACH_PART,
            **first.key,
            "level": "grouped",
            "coefficient": coefficient,
            **value._asdict(),
            "low_these_systems": float(ends[0][0]),
            "high_these_systems": float(ends[1][0]),
            "recipe": first.recipe,
        }


def _mean_of_draws(parts: Parts, coefficient: Coefficient, draws: Draws) -> Array:
    """Return each resample's mean over the parts (resamples,); all NaN if the parts' texts differ.

    Every part draws the same texts, as parts of one document belong together.
    """
    first = parts[0][0]
    values = []
    for part, metric in parts:
        if not (
            part.systems.equals(first.systems)
            and part.documents.equals(first.documents)
        ):
            return np.full(len(draws.documents), np.nan)
        values.append(
            correlate_resamples(metric.values, part.human, "global", coefficient, draws)
        )
    return mean_without_gaps(np.stack(values))


_Name = tuple[str, str]  # `people` or `metric`, and what it is called


def metric_correlations(studies: Sequence[Study]) -> pd.DataFrame:
    """Correlate every two of a study's criteria and directed metrics, by three coefficients.

    All texts of a part that the study rated by any criterion are pooled, across
    authors. A pair is correlated over the texts that have both; with strata the value
    is the strata's mean, weighted by such texts. Everything is turned so that more is
    better.
    """
    by_part: dict[tuple[str, str], list[Study]] = {}
    for study in studies:
        by_part.setdefault((study.study, study.part), []).append(study)
    rows = [
        (*key, *row)
        for key, criteria in by_part.items()
        for row in _pairs(*_scorers(criteria))
    ]
    return frame_of(rows, METRIC_CORRELATIONS)


def _scorers(criteria: Sequence[Study]) -> tuple[list[_Name], Array, Index]:
    """Return sorted criteria, then metrics; their values (scorers, rated texts); the strata."""
    people: dict[_Name, pd.Series] = {}
    metrics: dict[_Name, pd.Series] = {}
    strata: dict[str, str] = {}  # by document
    last: dict[_Name, MetricScores] = {}
    for study in criteria:
        labels = [study.grouping.strata[number] for number in study.layout.stratum]
        strata = dict(zip(study.documents, labels, strict=True)) | strata
        texts = pd.MultiIndex.from_product([study.systems, study.documents])
        people["people", study.criterion] = pd.Series(study.oriented.ravel(), texts)
        for metric in study.directed:
            name = "metric", metric.label
            if last.get(name) is metric or np.isnan(metric.values).all():
                continue  # the same scores, read for another criterion
            scores, last[name] = pd.Series(metric.oriented.ravel(), texts), metric
            metrics[name] = (
                metrics[name].combine_first(scores) if name in metrics else scores
            )
    rated = pd.DataFrame(people).dropna(how="all")
    named = sorted(people), sorted(metrics)
    rows = [rated[name] for name in named[0]]
    rows += [metrics[name].reindex(rated.index) for name in named[1]]
    stratum = factorize(
        [strata[document] for document in rated.index.get_level_values(1)]
    )
    return named[0] + named[1], np.array(rows, dtype=np.float64), stratum


def _pairs(
    named: Sequence[_Name], values: Array, stratum: Index
) -> Iterator[tuple[object, ...]]:
    known = np.isfinite(values)
    for place, first in enumerate(named[:-1]):
        x, others = values[place], values[place + 1 :]
        both = np.count_nonzero(known[place] & known[place + 1 :], axis=1)
        unpaired = np.count_nonzero(known[place] != known[place + 1 :], axis=1)
        for coefficient, formula in COEFFICIENTS.items():
            of_others = _average_strata(formula, x, others, stratum)
            numbers = zip(
                of_others.tolist(), both.tolist(), unpaired.tolist(), strict=True
            )
            for second, of_pair in zip(named[place + 1 :], numbers, strict=True):
                yield coefficient, *first, *second, *of_pair


def _average_strata(
    formula: Callable[[Array, Array], Array], x: Array, others: Array, stratum: Index
) -> Array:
    total, weight = np.zeros((2, len(others)))
    for number in range(int(stratum.max(initial=0)) + 1):
        inside = stratum == number
        y = others[:, inside]
        value = formula(np.broadcast_to(x[inside], y.shape), y)
        n = np.count_nonzero(
            np.isfinite(x[inside]) & np.isfinite(y), axis=1
        ) * ~np.isnan(value)
        total += n * np.nan_to_num(value)
        weight += n
    return quotient(total, weight, weight > 0)


def components(studies: Sequence[StudyTests], options: MetaOptions) -> pd.DataFrame:
    """Return one row per metric and component, by options.coefficient.

    Metrics and people are turned so that more is better. p is of the exact test, for
    this component and metric alone. Shares are each variance component over their sum,
    negative ones counted as 0. A document with a single text has no level: then
    `between_documents` has no value, and `within` is within systems.
    """
    rows = [row for tests in studies for row in _component_rows(tests, options)]
    return frame_of(rows, COMPONENTS)


def _component_rows(
    tests: StudyTests, options: MetaOptions
) -> Iterator[dict[str, object]]:
    study, tested = tests.study, tests.levels["global"]
    sides = study.values(study.metrics), study.oriented
    rated = np.isfinite(study.human)
    people = _shares(study.human)
    metrics = [
        _shares(np.where(rated, metric.values, np.nan)) for metric in study.metrics
    ]
    for place, component in enumerate(PARTS):
        value = correlate_at(*sides, component, options.coefficient, study.layout)
        columns: dict[str, object] = {
            "value": np.nan,
            "n": 0,
            "n_missing": value.n_missing,
        }
        if component in tested.relations:
            left = leave_out(*sides, component, options.coefficient, study.layout)
            ends = interval(left, confidence=options.confidence)
            p = tested.p[:, tested.relations.index(component)]
            columns |= {"value": value.value, "n": value.n, "p": p}
            columns |= {"low": ends.low, "high": ends.high}
        yield from study.rows(
            study.metrics,
            component=component,
            coefficient=options.coefficient,
            **columns,
            metric_share=[shares[place] for shares in metrics],
            people_share=people[place],
        )


def _shares(scores: Array) -> Array:
    """Return each component's share of the variance, in the order of PARTS."""
    variances = np.maximum(np.array(variance_components(scores)), 0.0)
    total = float(variances.sum())
    return variances / total if total > 0 else np.full(3, np.nan)


def designs(studies: Sequence[Study], groups: Groups) -> pd.DataFrame:
    """Return one row per study, criterion and part."""
    by_user = [
        name
        for name, labels in zip(("strata", "cluster", "family"), groups, strict=True)
        if labels
    ]
    rows = [
        {
            **study.key,
            "design": study.design,
            "n_systems": len(study.systems),
            "n_families": study.layout.n_families,
            "n_documents": len(study.documents),
            "n_clusters": study.layout.n_clusters,
            "n_strata": study.layout.n_strata,
            "given": ", ".join(by_user),
        }
        for study in studies
    ]
    return frame_of(rows, DESIGNS)


def strata(studies: Sequence[Study], options: MetaOptions) -> pd.DataFrame:
    """Return one row per metric, level and stratum of each study that has several strata.

    Each row treats the stratum as a study. Signs are turned so that more of metric and
    criterion is better.
    """
    return frame_of(
        [row for study in studies for row in _strata(study, options)], STRATA
    )


def _strata(study: Study, options: MetaOptions) -> Iterator[dict[str, object]]:
    if study.layout.n_strata == 1:
        return
    metrics = study.values(study.directed)
    for part in study.layout.parts(np.isfinite(study.human)):
        sides = part.select(metrics), part.select(study.oriented)
        for level in LEVELS:
            left = leave_out(*sides, level, options.coefficient, part.layout)
            ends = interval(left, confidence=options.confidence)
            yield from study.rows(
                study.directed,
                level=level,
                stratum=study.grouping.strata[
                    int(study.layout.stratum[part.columns[0]])
                ],
                coefficient=options.coefficient,
                **correlate(*sides, level, options.coefficient)._asdict(),
                low=ends.low,
                high=ends.high,
            )


OF_DESIGN = Analysis((DESIGNS,), lambda run: [designs(run.studies, run.groups)])
OF_STRATA = Analysis(
    (STRATA,),
    lambda run: [strata(run.studies, run.options)],
    "Each stratum by itself",
    """
    The texts fall into strata: sets with systems or documents of their own. Each column is what
    a study of one stratum alone shows, with its interval for other systems and documents. A
    metric that differs much between strata is not the same help in each.
    """,
)
OF_PEOPLE = Analysis(
    (CORRELATIONS,),
    lambda run: [
        correlations(run.tests, run.options, progress=run.watch("correlations"))
    ],
)
OF_COMPONENTS = Analysis(
    (COMPONENTS,),
    lambda run: [components(run.tests, run.options)],
    "Where the agreement lies",
    """
    A text’s score is taken for three things added up: its system’s level, its document’s level,
    and what belongs to this text alone. A metric can agree with people about each of them or
    not. One that agrees between systems only may know who wrote a text rather than how good it
    is.

    Intervals are for other systems and documents. metric_share and people_share say how much of
    the variance of the metric, and of people’s ratings, lies there. Signs are turned so that
    more is better.
    """,
)
OF_METRICS = Analysis(
    (METRIC_CORRELATIONS,),
    lambda run: [metric_correlations(run.studies)],
    "Metrics beside each other",
    """
    Correlation of every two metrics, and of every metric with every human criterion, over all
    texts that the study rated. Signs are turned so that more is better.
    """,
)
