"""Compare a judge's grades by a rubric's criteria with people's."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.format.frames import records
from metassay.statistics.agreement import cohen_kappa, krippendorff_alpha, share_within
from metassay.statistics.document_means import Reals, Resampling
from metassay.statistics.exact_sums import mean_without_gaps
from metassay.statistics.resampling import percentiles
from metassay.tables.names import FULL, is_reference

_KEY = ("rubric", "criterion", "judge", "study")
_COLUMNS = (*_KEY, "coefficient", "value", "low", "high")
_COUNTS = ("n", "n_missing", "n_documents", "n_raters")
_NEAR = 0.02  # distance within which a grade is a level: files round shares such as 1/3
_TEXT = ["doc_id", "author"]

_OF_TWO: dict[str, Callable[[Reals, Reals], Reals]] = {
    "percent": partial(share_within, tolerance=0),
    "cohen_kappa_quadratic": partial(cohen_kappa, distance="quadratic"),
}


def rubric_agreement(
    criteria: pd.DataFrame,
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    scales: Mapping[str, Criterion],
    how: Resampling,
) -> pd.DataFrame:
    """Return one row per criterion, judge, study and coefficient of agreement.

    A criterion takes part if it is of kind scale or penalties, and people graded whole texts under
    the same name on a scale with the same direction. All ratings must be grades that the criterion
    allows, as levels or as shares of the highest; else it has no row. The reference is left out.

    percent is the share of equal grades, cohen_kappa_quadratic weights squared distances beyond
    chance: both compare the judge with each rater, on the texts that both graded, and are the mean
    over raters for whom they are defined. krippendorff_alpha_ordinal counts the judge as another
    rater. 1 is perfect; null if undefined. n: texts that the judge and anybody graded; n_missing:
    texts that people graded and the judge did not. low, high: percentile bootstrap over documents,
    null with one document and where fewer than half of the resamples are defined.
    """
    rows: list[dict[str, Any]] = []
    whole = scores[(scores["part"] == FULL) & ~scores["author"].map(is_reference).astype(bool)]
    people = ratings[(ratings["part"] == FULL) & (ratings["unit"] == "text")]
    people = people[people["value"].notna() & ~people["author"].map(is_reference).astype(bool)]
    for criterion in sorted(records(criteria), key=lambda row: (row["rubric"], row["position"])):
        rubric, name = criterion["rubric"], criterion["criterion"]
        of_people = people[people["criterion"] == name]
        if criterion["kind"] not in ("scale", "penalties") or of_people.empty:
            continue
        if scales[name].better != criterion["better"]:
            continue
        of_metric = whole[(whole["metric"] == criterion["metric"]) & whole["value"].notna()]
        for judge, grades in of_metric.groupby("judge", sort=True):
            for study, rated in of_people.groupby("study", sort=True):
                key = dict(zip(_KEY, (rubric, name, judge, study), strict=True))
                rows += [key | row for row in _of_study(criterion, grades, rated, how)]
    numbers = dict.fromkeys(("value", "low", "high"), "float64")
    return pd.DataFrame(rows, columns=[*_COLUMNS, *_COUNTS]).astype(numbers)


def _of_study(
    criterion: Mapping[str, Any], grades: pd.DataFrame, rated: pd.DataFrame, how: Resampling
) -> Iterator[dict[str, Any]]:
    shares = criterion["value"] == "share" and criterion["kind"] == "scale"
    unit = 1.0 / criterion["high"] if shares else 1.0
    opinions = rated.pivot(index=_TEXT, columns="rater", values="value").sort_index(axis=1)
    people = opinions.to_numpy(dtype=np.float64).T / unit
    levels = np.rint(people)
    high = np.inf if criterion["high"] is None else criterion["high"]
    allowed = (np.abs(people - levels) <= _NEAR) & (levels >= criterion["low"]) & (levels <= high)
    if not allowed[np.isfinite(people)].all():
        return
    of_judge = grades.set_index(_TEXT)["value"].reindex(opinions.index)
    judge = of_judge.to_numpy(dtype=np.float64) / unit
    # A jury's grade can lie between two levels, and stays there.
    judge = np.where(np.abs(judge - np.rint(judge)) <= _NEAR, np.rint(judge), judge)
    both = np.isfinite(judge)
    document = pd.factorize(opinions.index.get_level_values("doc_id")[both])[0]
    size = int(document.max(initial=-1)) + 1
    counts = {
        "n": int(both.sum()),
        "n_missing": int((~both).sum()),
        "n_documents": size,
        "n_raters": len(levels),
    }
    weights = _weights(document, size, how)
    for coefficient, values in _coefficients(judge[both], levels[:, both], weights):
        interval = {"value": values[0], "low": np.nan, "high": np.nan}
        if size > 1 and np.isfinite(values[0]):
            (interval["low"],), (interval["high"],) = percentiles(values[1:, None], how.confidence)
        yield {"coefficient": coefficient, **interval, **counts}


def _weights(document: Any, size: int, how: Resampling) -> Reals:
    """Return weights of texts (1 + resamples, texts): all 1 first, then those of each resample."""
    draws = np.random.default_rng(how.seed).multinomial(
        size, np.full(size, 1.0 / max(size, 1)), size=how.resamples if size else 0
    )
    weights: Reals = np.vstack([np.ones((1, size)), draws])[:, document].astype(np.float64)
    return weights


def _coefficients(judge: Reals, people: Reals, weights: Reals) -> Iterator[tuple[str, Reals]]:
    """Yield each coefficient's name and values (1 + resamples,): of all texts, then resampled."""
    nothing = np.full(len(weights), np.nan)
    for name, coefficient in _OF_TWO.items():
        of_raters = []
        for rater in people:
            known = np.isfinite(rater)
            counted = weights[:, known]
            defined = counted.any(axis=1)
            values = nothing.copy()
            values[defined] = coefficient(np.stack([judge[known], rater[known]]), counted[defined])
            of_raters.append(values)
        yield name, mean_without_gaps(np.array(of_raters))
    raters = np.vstack([judge, people])
    alpha = krippendorff_alpha(raters, weights, "ordinal") if judge.size else nothing
    yield "krippendorff_alpha_ordinal", alpha
