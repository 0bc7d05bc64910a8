"""Test whether a metric sees quality, or copying, length or the author: the table `confounds`."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.exact_tests import (
    StudyTests,
    conclude,
    reorder,
    require_all,
)
from metassay.meta_evaluation.options import (
    ANY_SHAPE,
    MEASURED,
    SYSTEM,
    VANISHES,
    MetaOptions,
)
from metassay.meta_evaluation.study import UNREAD, MetricScores, frame_of
from metassay.statistics.components import correlate_at, rests_on
from metassay.statistics.correlation import (
    LEVELS,
    Coefficient,
    Correlation,
    Level,
    map_cells,
)
from metassay.statistics.ensembles import standardise
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.jackknife import LeaveOneOut, interval, leave_out
from metassay.statistics.layout import Layout
from metassay.statistics.partials import (
    Rests,
    less_system,
    most_abstractive,
    partial,
    partial_given_system,
    partial_of,
    residuals_first,
    rests_of_any_shape,
    shape_remover,
)
from metassay.tables.columns import (
    COEFFICIENT,
    CRITERION,
    HIGH,
    INTEGER,
    JUDGE,
    LEVEL,
    METRIC,
    ORIENTED,
    OTHERS,
    PART,
    REAL,
    STUDY,
    TEXT,
)
from metassay.tables.names import NO_JUDGE, READS, base_metric, suffix_of
from metassay.tables.parquet import Column, Table

CONFOUNDS = Table(
    name="confounds",
    says="whether a metric sees quality, or copying, length, or who wrote the text",
    key=(
        "study",
        "criterion",
        "part",
        "metric",
        "judge",
        "confound",
        "level",
        "statistic",
    ),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "confound": Column(TEXT, "what may be behind it: `system`, or another metric"),
        "level": LEVEL,
        "statistic": Column(
            TEXT,
            (
                "what is correlated: the confound with the `metric`, or with "
                "`people`; or the metric with people, either with the confound held "
                "constant (`partial`, on a straight line; by Spearman also "
                "`partial_residuals_first`; `partial_of_any_shape`, by a curve of "
                "any shape, on which verdicts rest), or with the confound `added` to "
                "the metric, or on the texts that have least of the confound "
                "(`lowest_`, per cent)"
            ),
            choices=(
                "metric",
                "people",
                "partial",
                "partial_residuals_first",
                "partial_of_any_shape",
                "added",
                "lowest_25",
                "lowest_50",
                "lowest_75",
                "lowest_100",
            ),
        ),
        "coefficient": COEFFICIENT,
        "value": Column(
            REAL,
            f"the correlation. {ORIENTED}",
            null=True,
        ),
        "low": Column(
            REAL,
            (
                f"{OTHERS}; only of `metric`, `people`, `partial` and "
                "`partial_of_any_shape`"
            ),
            null=True,
        ),
        "high": HIGH,
        "p": Column(
            REAL,
            (
                "a small p shows that a relation is left. It is adjusted for all "
                "metrics. Only `partial_of_any_shape` has one, and `partial` of the "
                "system, where half or more of the plain correlation goes"
            ),
            null=True,
        ),
        "n": Column(
            INTEGER,
            (
                "what it rests on: texts, documents or systems, by the level; of "
                "what is partial, texts"
            ),
        ),
        "n_missing": Column(
            INTEGER,
            "texts of the study that lack a number that it needs",
        ),
    },
)

SHARES = (25, 50, 75, 100)  # per cent of the texts, those with least of the confound

Less = Callable[[Array], Array]  # removes the confound from each text's number


class _Value(NamedTuple):
    """A statistic of each metric, or of all."""

    value: Any
    n: Any
    needed: tuple[Array, ...]  # the numbers that a text must have to take part
    left: LeaveOneOut | None = None  # for an interval
    p: Any = np.nan  # adjusted; of the rest


def confounds(studies: Sequence[StudyTests], options: MetaOptions) -> pd.DataFrame:
    """Return one row per directed metric, confound, level and statistic.

    Metrics and people are turned so that more is better; a confound stays as measured.
    Confounds are coverage, density, words, options.confounds and the system. CONFOUNDS
    describes the statistics. In addition:

    - `partial`: the confound is constant at that level (ranks first for Spearman); of
      the system, both sides less the system's mean.
    - `partial_of_any_shape`: by `partials.less_any_shape`. A metric that saturates with
      length has a `partial` and nothing here if people like length up to a point.
    - p: of the exact test of the certificates, on the rest of both sides, adjusted for
      all metrics of the study.
    - `added`, global alone: of the mean of the standardised metric and confound. Where
      it is higher than the metric's correlation, people see something in the confound
      that the metric does not.
    - `lowest_25` ..., global alone: ties with the last text included; `lowest_100`: all
      texts that have the confound.

    Confounds without scores in a study have no rows, nor has `system` where there is
    one system, or at system level; tau-c has no partial. Intervals are those of the
    certificates. n_missing counts the texts of the study with a rating or any score
    that lack a number needed here.
    """
    return frame_of(
        [row for tests in studies for row in _confound_rows(tests, options)], CONFOUNDS
    )


def _confound_rows(
    tests: StudyTests, options: MetaOptions
) -> Iterator[dict[str, object]]:
    study = tests.study
    texts = np.any(
        np.isfinite([study.human, *(metric.values for metric in study.metrics)]), axis=0
    )
    named, sure = {*MEASURED, *options.confounds}, options.confidence
    controls: dict[str, Array | None] = {
        metric.label: metric.values
        for metric in study.metrics
        if _is_confound(metric, named)
    }
    if len(study.systems) > 1 and options.coefficient != "kendall_c":
        controls[SYSTEM] = None
    for name, control in controls.items():
        places = [i for i in study.places if _applies(name, study.metrics[i])]
        chosen = [study.metrics[place] for place in places]
        less: Less = less_system
        rests = None
        if control is not None:
            less = shape_remover(control, options.coefficient, study.layout)
            rests = rests_of_any_shape(
                study.values(chosen), study.oriented, control, less
            )
        for level in LEVELS:
            if not chosen or (control is None and level == SYSTEM):
                continue
            confound = control, less, rests
            for statistic, value in _statistics(
                tests, level, places, confound, options
            ):
                complete = np.all(
                    np.isfinite(np.broadcast_arrays(*value.needed)), axis=0
                )
                missing = np.count_nonzero(texts & ~complete, axis=(-2, -1))
                columns = {
                    "value": value.value,
                    "p": value.p,
                    "n": value.n,
                    "n_missing": missing,
                }
                if value.left is not None:
                    low, high = interval(value.left, confidence=sure)[:2]
                    columns |= {"low": low, "high": high}
                yield from study.rows(
                    chosen,
                    confound=name,
                    level=level,
                    statistic=statistic,
                    coefficient=options.coefficient,
                    **columns,
                )


def _is_confound(metric: MetricScores, named: Collection[str]) -> bool:
    """Whether a metric is a confound; the judge of `unread` is the model."""
    base = base_metric(metric.metric)
    return base in named and (metric.judge == NO_JUDGE or base == UNREAD)


def _applies(name: str, metric: MetricScores) -> bool:
    """Whether a confound can explain a metric: it is another metric, of the same passages."""
    confound, _, judge = name.partition(" (")
    if base_metric(confound) == base_metric(metric.metric):
        return False
    suffixes = suffix_of(confound).split(READS), suffix_of(metric.metric).split(READS)
    return set(suffixes[0]) <= set(suffixes[1]) and judge in ("", f"{metric.judge})")


def _statistics(
    tests: StudyTests,
    level: Level,
    places: Sequence[int],
    confound: tuple[Array | None, Less, Rests | None],
    options: MetaOptions,
) -> Iterator[tuple[str, _Value]]:
    """Yield each statistic of the metrics at these places, by name."""
    study, (control, less, rests) = tests.study, confound
    how = level, options.coefficient, study.layout
    metrics, human = study.values([study.metrics[i] for i in places]), study.oriented
    if control is None or rests is None:
        of_rest, n = partial_given_system(metrics, human, *how)
        statistic, left = "partial", _Value(of_rest.value, n, (metrics, human), of_rest)
    else:
        people, of_metric = (
            _correlate(control, side, *how) for side in (human, metrics)
        )
        yield "metric", of_metric
        yield "people", people
        if level == "global":
            yield from _pooled(metrics, human, control, options, study.layout)
        needed = metrics, human, control
        of_rest = leave_out(rests.metric, rests.human, *how)
        statistic, left = ANY_SHAPE, _Value(of_rest.value, rests.n, needed, of_rest)
        if options.coefficient != "kendall_c" and of_metric.left and people.left:
            plain = tests.levels[level].left.take(places)
            partials = partial_of(plain, of_metric.left, people.left)
            unequal = ~_same_texts(*needed)
            if unequal.any():
                recomputed = partial(metrics[unequal], human, control, *how)
                for values, partial_values in zip(recomputed, partials, strict=True):
                    if partial_values is not None:
                        partial_values[unequal] = values
            yield "partial", _Value(partials.value, rests.n, needed, partials)
    if options.coefficient == "spearman":
        values = [
            residuals_first(side, human, control, level, study.layout)
            for side in metrics
        ]
        yield "partial_residuals_first", _Value(values, left.n, left.needed)
    yield (
        statistic,
        left._replace(p=_p_of_rest(tests, level, places, less, left.value, options)),
    )


def _same_texts(metrics: Array, human: Array, control: Array) -> Mask:
    """Return (metrics,) whether any two of the three have numbers of the same texts."""
    a, b, c = (np.isfinite(side) for side in (metrics, human, control))
    return np.asarray(np.all(((a & b) == (b & c)) & ((a & b) == (a & c)), axis=(1, 2)))


def _p_of_rest(
    tests: StudyTests,
    level: Level,
    places: Sequence[int],
    less: Less,
    left: Array,
    options: MetaOptions,
) -> Array:
    """Return the adjusted p of the rest, where half or more goes; NaN elsewhere."""
    study, plain = tests.study, tests.levels[level].left.value[list(places)]
    gone, none = (
        left * np.sign(plain) <= VANISHES * np.abs(plain),
        np.full(len(places), np.nan),
    )
    if not gone.any():
        return none
    rests = np.stack([less(study.metrics[place].oriented) for place in places])
    every = np.ones(len(places), dtype=bool)
    results = [
        conclude(study, each, each.test.adjusted(every))
        for each in reorder(study, (rests, less(study.oriented)), level, options)
    ]
    if not results:
        return none
    adjusted, signs = require_all(results, [each.p_adjusted for each in results])
    # A rest of the opposite sign does not count.
    usable = (signs == np.sign(plain)[:, None]) & ~np.isnan(adjusted)
    smallest = np.min(np.where(usable, adjusted, np.inf), axis=1)
    return np.where(gone & np.isfinite(smallest), smallest, np.nan)


def _correlate(
    control: Array, side: Array, level: Level, coefficient: Coefficient, layout: Layout
) -> _Value:
    left = leave_out(control, side, level, coefficient, layout)
    if level != "document" and layout.n_strata == 1:
        n = rests_on(np.isfinite(control) & np.isfinite(side), level)
    else:  # a document counts if it has a correlation, a stratum if it has enough
        n = correlate_at(control, side, level, coefficient, layout).n
    return _Value(left.value, n, (control, side), left)


def _pooled(
    metrics: Array, human: Array, control: Array, options: MetaOptions, layout: Layout
) -> Iterator[tuple[str, _Value]]:
    trio = metrics, human, control

    def correlate_sum(a: Array, b: Array, mask: Mask) -> Correlation:
        both = np.full(a.shape, np.nan)
        # sums in one order, however many metrics
        scores = np.ascontiguousarray(a[:, mask])
        standardized = standardise(scores), standardise(control[mask][None])
        both[:, mask] = np.mean(np.broadcast_arrays(*standardized), axis=0)
        return correlate_at(both, b, "global", options.coefficient, layout)

    correlations = map_cells(
        correlate_sum, metrics, np.where(np.isfinite(control), human, np.nan)
    )
    n = np.count_nonzero(
        np.all(np.isfinite(np.broadcast_arrays(*trio)), axis=0), axis=(1, 2)
    )
    yield "added", _Value(correlations.value, n, trio)
    for share in SHARES:
        least = most_abstractive(
            *trio, "global", options.coefficient, share=share / 100, layout=layout
        )
        yield f"lowest_{share}", _Value(least.value, least.n, trio)


ANALYSIS = Analysis(
    (CONFOUNDS,),
    lambda run: [confounds(run.tests, run.options)],
    "What else metrics see",
    f"""
    Compare each metric’s plain correlation with people with what is left of it when a confound
    is held constant, whatever the shape of its effect. Where little is left, the metric mostly
    measures how much is copied (coverage, density) or how long the text is (words). Where
    little is left given the system, it tells systems apart, and not two texts of one system.
    Where {100 * VANISHES:.0f} % or more goes, a small p says that what is left is still a
    relation. Verdicts rest on the statistic {ANY_SHAPE}.
    """,
)
