"""The table `metric_correlations`: metrics and human criteria with each other, two by two."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from metassay.meta_evaluation.study import Study
from metassay.parquet import empty
from metassay.statistics.arithmetic import Array
from metassay.statistics.correlation import COEFFICIENTS
from metassay.statistics.layout import Index, numbered
from metassay.tables.correlations import METRIC_CORRELATIONS

_Name = tuple[str, str]  # `people` or `metric`, and what it is called


def metric_correlations(found: Sequence[Study]) -> pd.DataFrame:
    """Every two of a study's criteria and directed metrics, by three coefficients.

    All texts of a part that the study rated by any criterion are pooled, whoever wrote them. Each
    two are correlated over the texts that have both; with strata the value is the mean of the
    strata's, which count by such texts. Everything is turned so that more is better.
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


def _scorers(criteria: Sequence[Study]) -> tuple[list[_Name], Array, Index]:
    """Criteria, then metrics, each sorted; their values (scorers, texts) of rated texts; strata."""
    people: dict[_Name, pd.Series] = {}
    strata: dict[str, str] = {}  # by document
    metrics: dict[_Name, pd.Series] = {}
    for one in criteria:
        texts = pd.MultiIndex.from_product([one.systems, one.documents])
        labels = [one.found.strata[number] for number in one.layout.stratum]
        strata = dict(zip(one.documents, labels, strict=True)) | strata
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
    stratum = numbered([strata[document] for document in rated.index.get_level_values(1)])
    return named, found.to_numpy(dtype=np.float64).T, stratum


def _pairs(named: Sequence[_Name], values: Array, stratum: Index) -> Iterator[dict[str, object]]:
    known = np.isfinite(values)
    for place, first in enumerate(named[:-1]):
        x, others = values[place], values[place + 1 :]
        both = np.count_nonzero(known[place] & known[place + 1 :], axis=1)
        one = np.count_nonzero(known[place] != known[place + 1 :], axis=1)
        for coefficient, of in COEFFICIENTS.items():
            found = _over_strata(of, x, others, stratum)
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


def _over_strata(
    of: Callable[[Array, Array], Array], x: Array, others: Array, stratum: Index
) -> Array:
    total, weight = np.zeros((2, len(others)))
    for number in range(int(stratum.max(initial=0)) + 1):
        mine = stratum == number
        y = others[:, mine]
        value = of(np.broadcast_to(x[mine], y.shape), y)
        n = np.count_nonzero(np.isfinite(x[mine]) & np.isfinite(y), axis=1) * ~np.isnan(value)
        total += n * np.nan_to_num(value)
        weight += n
    mean: Array = np.divide(total, weight, out=np.full(weight.size, np.nan), where=weight > 0)
    return mean
