"""The table `agreement`: rater with rater, and all raters together."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from metassay.contract import empty
from metassay.meta_evaluation.study import VERSUS, check_criteria, even, mirrored
from metassay.params import Criterion
from metassay.statistics.agreement import Agreement, cohen_kappa, krippendorff_alpha, percent
from metassay.tables import AGREEMENT

ALL = "all"  # agreement.rater_a and rater_b where the coefficient is of all raters together

_THING = ["doc_id", "author", "part", "unit"]


def agree_all(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    """The table `agreement`: rater with rater, and all raters together, per study and criterion.

    A thing rated is one unit (text, claim or comparison) of one part. Each pair of raters has
    `percent`, and `cohen_kappa` where the criterion's scale is nominal or ordinal (on an interval
    scale kappa would count 79 and 80 as plain disagreement); Krippendorff's alpha, at the
    criterion's declared scale, is of all raters: rater_a = rater_b = `all`. Abstentions count as
    not rated. A study with one rater has no rows. Raises BadInput for an undeclared criterion.
    """
    check_criteria(ratings, criteria)
    rows: list[dict[str, object]] = []
    rated = _oriented(ratings.dropna(subset="value"), criteria)
    for (study, criterion), group in rated.groupby(["study", "criterion"], sort=True):
        scale = criteria[str(criterion)].scale
        for coefficient, rater_a, rater_b, found in _agreements(group, scale):
            rows.append(
                {
                    "study": study,
                    "criterion": criterion,
                    "coefficient": coefficient,
                    "rater_a": rater_a,
                    "rater_b": rater_b,
                    **found._asdict(),
                    "low": np.nan,
                    "high": np.nan,
                    "n_resamples": 0,
                }
            )
    return pd.DataFrame(rows, columns=list(AGREEMENT.columns)) if rows else empty(AGREEMENT)


def _agreements(
    group: pd.DataFrame, scale: Literal["nominal", "ordinal", "interval"]
) -> Iterator[tuple[str, str, str, Agreement]]:
    # A rater who was asked a comparison both ways has one opinion of it: the mean.
    opinions = group.groupby(["rater", *_THING], sort=True)["value"].mean()
    table = opinions.unstack("rater").sort_index(axis=1)
    raters = [str(rater) for rater in table.columns]
    if len(raters) < 2:
        return
    values = even(table.to_numpy(dtype=np.float64).T)
    for a, b in combinations(range(len(raters)), 2):
        yield "percent", raters[a], raters[b], percent(values[a], values[b])
        if scale != "interval":
            yield "cohen_kappa", raters[a], raters[b], cohen_kappa(values[a], values[b])
    yield f"krippendorff_alpha_{scale}", ALL, ALL, krippendorff_alpha(values, scale)


def _oriented(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    # "A against B" and "B against A" are one question: both as their first author has it.
    other = ratings["unit"].str.removeprefix(VERSUS)
    turn = ratings["unit"].str.startswith(VERSUS) & (other < ratings["author"])
    return pd.concat([ratings[~turn], mirrored(ratings[turn], criteria)], ignore_index=True)
