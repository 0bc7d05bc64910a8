"""The table `components`: whether a metric agrees about systems, documents, or single texts."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from metassay.meta_evaluation.gather import Gathered
from metassay.meta_evaluation.options import MetaOptions
from metassay.parquet import empty
from metassay.statistics.arithmetic import Array
from metassay.statistics.components import COMPONENTS, correlate_at, variance_components
from metassay.statistics.jackknife import interval, left_out
from metassay.tables.correlations import COMPONENTS as TABLE


def components(found: Sequence[Gathered], options: MetaOptions) -> pd.DataFrame:
    """One row per metric and component, by options.coefficient.

    Metrics and people are turned so that more is better. p is the exact test's, of this component
    and metric alone. Shares are each variance component over their sum, those under 0 counted as
    0. A document that has one text has no level of its own: then `between_documents` has no value,
    and `within` is within systems.
    """
    rows = [row for one in found for row in _rows(one, options)]
    return pd.DataFrame(rows, columns=list(TABLE.columns)) if rows else empty(TABLE)


def _rows(found: Gathered, options: MetaOptions) -> Iterator[dict[str, object]]:
    study, tested = found.study, found.levels["global"]
    people = _shares(study.human)
    for place, one in enumerate(study.metrics):
        shares = _shares(np.where(np.isfinite(study.human), one.values, np.nan))
        for component in COMPONENTS:
            sides = one.oriented, study.oriented
            value = correlate_at(*sides, component, options.coefficient, study.layout)
            p = np.nan
            if component in tested.relations:
                p = float(tested.p[place, tested.relations.index(component)])
                left = left_out(*sides, component, options.coefficient, study.layout)
                ends = interval(left, confidence=options.confidence)
                low, high = ends.low, ends.high
            else:
                value, low, high = value._replace(value=np.nan, n=0), np.nan, np.nan
            yield {
                **study.key,
                "metric": one.metric,
                "judge": one.judge,
                "component": component,
                "coefficient": options.coefficient,
                "value": value.value,
                "low": low,
                "high": high,
                "p": p,
                "n": value.n,
                "n_missing": value.n_missing,
                "metric_share": shares[component],
                "people_share": people[component],
            }


def _shares(scores: Array) -> dict[str, float]:
    found = np.maximum(np.array(variance_components(scores)), 0.0)
    total = float(found.sum())
    each = found / total if total > 0 else np.full(3, np.nan)
    return {name: float(share) for name, share in zip(COMPONENTS, each, strict=True)}
