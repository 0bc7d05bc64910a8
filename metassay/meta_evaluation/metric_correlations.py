"""The table `metric_correlations`: metrics and human criteria with each other, two by two."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from metassay.meta_evaluation.study import Study
from metassay.parquet import empty
from metassay.statistics.arithmetic import Array
from metassay.statistics.correlation import COEFFICIENTS
from metassay.tables.correlations import METRIC_CORRELATIONS

_Name = tuple[str, str]  # `people` or `metric`, and what it is called


def metric_correlations(found: Sequence[Study]) -> pd.DataFrame:
    """Every two of a study's criteria and directed metrics, by three coefficients.

    All texts of a part that the study rated by any criterion are pooled, whoever wrote them. Each
    two are correlated over the texts that have both. Everything is turned so that more is better.
    """
    by_part: dict[tuple[str, str], list[Study]] = {}
    for study in found:
        by_part.setdefault((study.study, study.part), []).append(study)
    rows = [
        {"study": study, "part": part, **row}
        for (study, part), criteria in by_part.items()
        for row in _pairs(*_scorers(criteria))
    ]
    columns = list(METRIC_CORRELATIONS.columns)
    return pd.DataFrame(rows, columns=columns) if rows else empty(METRIC_CORRELATIONS)


def _scorers(criteria: Sequence[Study]) -> tuple[list[_Name], Array]:
    """Criteria, then metrics, each sorted, and their values (scorers, texts) of rated texts."""
    people: dict[_Name, pd.Series] = {}
    metrics: dict[_Name, pd.Series] = {}
    for one in criteria:
        texts = pd.MultiIndex.from_product([one.systems, one.documents])
        people["people", one.criterion] = pd.Series(one.oriented.ravel(), texts)
        for metric in one.directed:
            values, name = pd.Series(metric.oriented.ravel(), texts), ("metric", metric.label)
            metrics[name] = metrics[name].combine_first(values) if name in metrics else values
    rated = pd.DataFrame(people).dropna(how="all")
    named = sorted(people) + sorted(
        name for name, values in metrics.items() if values.notna().any()
    )
    every = people | metrics
    found = pd.DataFrame({name: every[name].reindex(rated.index) for name in named})
    return named, found.to_numpy(dtype=np.float64).T


def _pairs(named: Sequence[_Name], values: Array) -> Iterator[dict[str, object]]:
    known = np.isfinite(values)
    for place, first in enumerate(named[:-1]):
        x, others = values[place], values[place + 1 :]
        both = np.count_nonzero(known[place] & known[place + 1 :], axis=1)
        one = np.count_nonzero(known[place] != known[place + 1 :], axis=1)
        for coefficient, of in COEFFICIENTS.items():
            found = of(np.broadcast_to(x, others.shape), others)
            for second, value, n, missing in zip(named[place + 1 :], found, both, one, strict=True):
                yield {
                    "coefficient": coefficient,
                    "first_is": first[0],
                    "first": first[1],
                    "second_is": second[0],
                    "second": second[1],
                    "value": float(value),
                    "n": int(n),
                    "n_missing": int(missing),
                }
