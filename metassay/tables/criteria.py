"""What rubrics ask, and what is known of metrics whose scores came with a dataset."""

from collections.abc import Iterable, Mapping

import pandas as pd

from metassay.core.options import GIVEN
from metassay.tables.columns import table
from metassay.tables.parquet import empty

CRITERIA = table(
    "criteria",
    "what rubrics ask, and the metrics that they make; and what is known of metrics whose scores"
    " came with the data",
    "rubric criterion",
    """
    rubric text: the rubric's name: rubrics/NAME.yaml; `given` of what came with data
    criterion text: the criterion's name; `overall` and `penalties` sum others up
    metric text: the metric that it makes: `<rubric>_<criterion>`
    kind scale|penalties|total|overall|given: a level of a scale; a number of penalties; the sum of
      these numbers; the weighted mean of the scales; or a score as it came
    position integer: its place in the rubric, from 0
    low real: the lowest answer
    high real?: the highest answer; null if there is no cap
    weight real?: its weight in the overall score; null if it has none
    value share|grade: what a score is: the answer divided by the highest one, or the answer
    combines best|mean|sum|renormalised|printed: how several numbers make one: grades by several
      references their best or their mean; penalties their sum; and in the overall score, scales
      their weighted mean with weights renormalised over those that were scored, or, as printed in
      the paper on facets, the sum of value x weight divided by the number of weighted scales
    better
    meaning text: what it says
    missing text: what is done where an answer is missing
    source text: where it comes from
    recipe text: hash of the criterion; of `overall` and `penalties`, of the whole rubric
    """,
)


def given_criteria(metrics: Mapping[str, tuple[str, Iterable[float | None]]]) -> pd.DataFrame:
    """One row of table `criteria` per metric: its direction, and its values for their lowest one.

    0 is taken for the lowest value that a metric can have, if it has none below.
    """
    rows = [
        {
            "rubric": GIVEN,
            "criterion": metric,
            "metric": metric,
            "kind": GIVEN,
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
            "recipe": GIVEN,
        }
        for position, (metric, (better, values)) in enumerate(sorted(metrics.items()))
    ]
    if not rows:
        return empty(CRITERIA)
    frame = pd.DataFrame(rows)[list(CRITERIA.columns)]
    return frame.astype({"high": "float64", "weight": "float64"})


def of_rubrics(criteria: pd.DataFrame) -> pd.DataFrame:
    """The rows of table `criteria` that rubrics made."""
    return criteria[criteria["kind"] != GIVEN].reset_index(drop=True)
