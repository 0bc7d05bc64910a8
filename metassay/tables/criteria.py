"""Criteria of rubrics, and of metrics whose scores are in a dataset."""

from collections.abc import Iterable, Mapping

import pandas as pd

from metassay.core.options import FROM_DATASET
from metassay.tables.columns import BETTER, INTEGER, REAL, TEXT
from metassay.tables.parquet import Column, Table, empty

CRITERIA = Table(
    name="criteria",
    says=(
        "what rubrics ask, and the metrics that they make; and what is known of "
        "metrics whose scores came with the data"
    ),
    key=("rubric", "criterion"),
    columns={
        "rubric": Column(
            TEXT,
            "the rubric's name: rubrics/NAME.yaml; `given` of what came with data",
        ),
        "criterion": Column(
            TEXT,
            "the criterion's name; `overall` and `penalties` sum others up",
        ),
        "metric": Column(TEXT, "the metric that it makes: `<rubric>_<criterion>`"),
        "kind": Column(
            TEXT,
            (
                "a level of a scale; a number of penalties; the sum of these "
                "numbers; the weighted mean of the scales; or a score as it came"
            ),
            choices=(
                "scale",
                "penalties",
                "total",
                "overall",
                "given",
            ),
        ),
        "position": Column(INTEGER, "its place in the rubric, from 0"),
        "low": Column(REAL, "the lowest answer"),
        "high": Column(
            REAL,
            "the highest answer; null if there is no cap",
            null=True,
        ),
        "weight": Column(
            REAL,
            "its weight in the overall score; null if it has none",
            null=True,
        ),
        "value": Column(
            TEXT,
            "what a score is: the answer divided by the highest one, or the answer",
            choices=(
                "share",
                "grade",
            ),
        ),
        "combines": Column(
            TEXT,
            (
                "how several numbers make one: grades by several references their "
                "best or their mean; penalties their sum; and in the overall score, "
                "scales their weighted mean with weights renormalised over those "
                "that were scored, or, as printed in the paper on facets, the sum of "
                "value x weight divided by the number of weighted scales"
            ),
            choices=(
                "best",
                "mean",
                "sum",
                "renormalised",
                "printed",
            ),
        ),
        "better": BETTER,
        "meaning": Column(TEXT, "what it says"),
        "missing": Column(TEXT, "what is done where an answer is missing"),
        "source": Column(TEXT, "where it comes from"),
        "recipe": Column(
            TEXT,
            "hash of the criterion; of `overall` and `penalties`, of the whole rubric",
        ),
    },
)


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
