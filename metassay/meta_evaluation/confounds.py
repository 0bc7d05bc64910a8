"""The table `confounds`: is it quality that a metric sees, or copying, length, or the author."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.contract import empty
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study
from metassay.statistics.arithmetic import Mask
from metassay.statistics.confounds import most_abstractive, partial, partial_given_system
from metassay.statistics.correlation import Array, Coefficient, correlate
from metassay.statistics.ensembles import standardise
from metassay.tables import CONFOUNDS, NO_JUDGE

MEASURED = ("coverage", "density", "words")  # metrics that are confounds of the others
SHARES = (25, 50, 75, 100)  # per cent of the texts, those with least of the confound


class _Value(NamedTuple):
    value: float
    p: float
    n: int
    needed: tuple[Array, ...]  # the numbers without which a text takes no part


def confounds(found: Sequence[Study], options: MetaOptions) -> pd.DataFrame:
    """One row per directed metric, confound and statistic, of all texts pooled.

    Metrics and people are turned so that more is better; a confound stays as measured. `partial`
    holds the confound constant; given `system`, it is what is left within systems. `added` is the
    mean of the standardised metric and confound against people: where it is higher than the
    metric's own, people see something in the confound that the metric does not. `lowest_25` is
    the metric against people on the quarter of the texts with least of the confound (ties with
    the last one included), of those with all three numbers; `lowest_100` on all of these.

    Confounds that a study has no scores of have no rows, and neither has `system` where there is
    only one. What does not exist has no rows either: given a confound, tau-c; given the system,
    both of Kendall's. n_missing counts the texts that the study knows by a rating or by any score
    and that lack a number needed here. p takes texts for independent, and is null for a partial
    Kendall, of which no distribution is known.
    """
    rows = [row for study in found for row in _of_study(study, options.coefficient)]
    return pd.DataFrame(rows, columns=list(CONFOUNDS.columns)) if rows else empty(CONFOUNDS)


def _of_study(study: Study, coefficient: Coefficient) -> Iterator[dict[str, object]]:
    values = [study.human, *(one.values for one in study.metrics)]
    texts = np.any(np.isfinite(values), axis=0)
    controls = {
        one.metric: one.values
        for one in study.metrics
        if one.metric in MEASURED and one.judge == NO_JUDGE
    }
    for measured in study.directed:
        for name, control in controls.items():
            for statistic, value in _controlled(study, measured, control, coefficient):
                yield _row(study, measured, name, statistic, coefficient, value, texts)
        if len(study.systems) > 1 and coefficient in ("pearson", "spearman"):
            needed = measured.oriented, study.oriented
            within = partial_given_system(*needed, coefficient)
            value = _Value(within.value, within.p, within.n, needed)
            yield _row(study, measured, "system", "partial", coefficient, value, texts)


def _row(
    study: Study,
    measured: Measured,
    confound: str,
    statistic: str,
    coefficient: Coefficient,
    value: _Value,
    texts: Mask,
) -> dict[str, object]:
    complete = np.all(np.isfinite(value.needed), axis=0)
    return {
        **study.key,
        "metric": measured.metric,
        "judge": measured.judge,
        "confound": confound,
        "statistic": statistic,
        "coefficient": coefficient,
        "value": value.value,
        "n": value.n,
        "n_missing": int(np.count_nonzero(texts & ~complete)),
        "p": value.p,
    }


def _controlled(
    study: Study, measured: Measured, control: Array, coefficient: Coefficient
) -> Iterator[tuple[str, _Value]]:
    metric, human = measured.oriented, study.oriented
    yield "metric", _correlated(control, metric, coefficient)
    yield "people", _correlated(control, human, coefficient)
    trio = metric, human, control
    if coefficient != "kendall_c":
        given = partial(*trio, coefficient)
        yield "partial", _Value(given.value, given.p, given.n, trio)
    yield "added", _added(metric, human, control, coefficient)
    for share in SHARES:
        least = most_abstractive(*trio, "global", coefficient, share=share / 100)
        yield f"lowest_{share}", _Value(least.value, least.p, least.n, trio)


def _correlated(a: Array, b: Array, coefficient: Coefficient) -> _Value:
    found = correlate(a, b, "global", coefficient)
    return _Value(found.value, found.p, found.n, (a, b))


def _added(metric: Array, human: Array, control: Array, coefficient: Coefficient) -> _Value:
    there = np.all(np.isfinite([metric, human, control]), axis=0)
    both = np.mean(standardise(np.stack((metric[there], control[there]))), axis=0)
    found = correlate(both[None], human[there][None], "global", coefficient)
    n = int(np.count_nonzero(there))
    return _Value(found.value, found.p, n, (metric, human, control))
