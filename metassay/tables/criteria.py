"""What rubrics ask, and what is known of metrics whose scores came with a dataset."""

from collections.abc import Iterable, Mapping

import pandas as pd

from metassay.core.options import FROM_DATASET
from metassay.tables.columns import contracts
from metassay.tables.parquet import empty

(CRITERIA,) = contracts(__file__)


def given_criteria(metrics: Mapping[str, tuple[str, Iterable[float | None]]]) -> pd.DataFrame:
    """One row of table `criteria` per metric: its direction, and its values for their lowest one.

    0 is taken for the lowest value that a metric can have, if it has none below.
    """
    rows = [
        {
            "rubric": FROM_DATASET,
            "criterion": metric,
            "metric": metric,
            "kind": FROM_DATASET,
            "position": position,
            "low": float(min([0.0, *(one for one in values if one is not None)])),
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


def of_rubrics(criteria: pd.DataFrame) -> pd.DataFrame:
    """The rows of table `criteria` that rubrics made."""
    return criteria[criteria["kind"] != FROM_DATASET].reset_index(drop=True)
