"""Criteria of rubrics, and of metrics whose scores are in a dataset."""

from collections.abc import Iterable, Mapping

import pandas as pd

from metassay.core.options import FROM_DATASET
from metassay.tables.columns import contracts
from metassay.tables.parquet import empty

(CRITERIA,) = contracts(__file__)


def dataset_criteria(
    metrics: Mapping[str, tuple[str, Iterable[float | None]]],
) -> pd.DataFrame:
    """Return rows of table `criteria` from metric -> (better end, values).

    The low end of a metric is 0, or its lowest value if that is negative.
    """
    rows = [
        {
            "rubric": FROM_DATASET,
            "criterion": metric,
            "metric": metric,
            "kind": FROM_DATASET,
            "position": position,
            "low": float(min([0.0, *(value for value in values if value is not None)])),
            "high": None,
            "weight": None,
            "value": "grade",
            "combines": "mean",
            "better": better,
            "meaning": "as it came with the data",
            "missing": "null where the data have no value",
            "source": "the data's own",
            "recipe": FROM_DATASET,
        }
        for position, (metric, (better, values)) in enumerate(sorted(metrics.items()))
    ]
    if not rows:
        return empty(CRITERIA)
    frame = pd.DataFrame(rows)[list(CRITERIA.columns)]
    return frame.astype({"high": "float64", "weight": "float64"})


def rubric_criteria(criteria: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of table `criteria` from rubrics."""
    return criteria[criteria["kind"] != FROM_DATASET].reset_index(drop=True)
