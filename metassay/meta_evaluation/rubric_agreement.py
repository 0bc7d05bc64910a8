"""How often a judge gives a criterion of a rubric the grade that people give it."""

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
_ALIKE = 0.02  # a grade is a level if it is so near: files round shares such as 1/3
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
    """One row per criterion, judge, study and coefficient: the judge's grades beside people's.

    Of criteria of kind scale and penalties that people graded under the same name, whole texts, on
    a scale with the same direction: all of their ratings must be grades that the criterion allows,
    as levels or as shares of the highest, or it has no row. The reference is left out.

    percent: share of equal grades; cohen_kappa_quadratic: the same by squared distance, beyond
    chance: both between the judge and each rater in turn, on the texts that both graded, then the
    mean over raters for whom it is defined. krippendorff_alpha_ordinal: the judge as one rater more
    among all. 1 is perfect; null if undefined. n: texts that the judge and anybody graded;
    n_missing: texts that people graded and the judge did not. low, high: percentile bootstrap over
    documents, null with one document and where fewer than half of the resamples are defined.
    """
    made: list[dict[str, Any]] = []
    whole = scores[(scores["part"] == FULL) & ~scores["author"].map(is_reference).astype(bool)]
    people = ratings[(ratings["part"] == FULL) & (ratings["unit"] == "text")]
    people = people[people["value"].notna() & ~people["author"].map(is_reference).astype(bool)]
    for one in sorted(records(criteria), key=lambda row: (row["rubric"], row["position"])):
        mine = people[people["criterion"] == one["criterion"]]
        if one["kind"] not in ("scale", "penalties") or mine.empty:
            continue
        if scales[one["criterion"]].better != one["better"]:
            continue
        of_metric = whole[(whole["metric"] == one["metric"]) & whole["value"].notna()]
        for judge, given in of_metric.groupby("judge", sort=True):
            for study, rated in mine.groupby("study", sort=True):
                key = dict(zip(_KEY, (one["rubric"], one["criterion"], judge, study), strict=True))
                made += [key | row for row in _of_study(one, given, rated, how)]
    numbers = dict.fromkeys(("value", "low", "high"), "float64")
    return pd.DataFrame(made, columns=[*_COLUMNS, *_COUNTS]).astype(numbers)


def _of_study(
    one: Mapping[str, Any], given: pd.DataFrame, rated: pd.DataFrame, how: Resampling
) -> Iterator[dict[str, Any]]:
    unit = 1.0 / one["high"] if one["value"] == "share" and one["kind"] == "scale" else 1.0
    opinions = rated.pivot(index=_TEXT, columns="rater", values="value").sort_index(axis=1)
    people = opinions.to_numpy(dtype=np.float64).T / unit
    levels = np.rint(people)
    high = np.inf if one["high"] is None else one["high"]
    allowed = (np.abs(people - levels) <= _ALIKE) & (levels >= one["low"]) & (levels <= high)
    if not allowed[np.isfinite(people)].all():
        return
    judged = given.set_index(_TEXT)["value"].reindex(opinions.index)
    own = judged.to_numpy(dtype=np.float64) / unit
    # A jury's grade may lie between two levels, and stays there.
    own = np.where(np.abs(own - np.rint(own)) <= _ALIKE, np.rint(own), own)
    both = np.isfinite(own)
    document = pd.factorize(opinions.index.get_level_values("doc_id")[both])[0]
    size = int(document.max(initial=-1)) + 1
    counts = {
        "n": int(both.sum()),
        "n_missing": int((~both).sum()),
        "n_documents": size,
        "n_raters": len(levels),
    }
    weights = _weights(document, size, how)
    for coefficient, values in _coefficients(own[both], levels[:, both], weights):
        found = {"value": values[0], "low": np.nan, "high": np.nan}
        if size > 1 and np.isfinite(values[0]):
            (found["low"],), (found["high"],) = percentiles(values[1:, None], how.confidence)
        yield {"coefficient": coefficient, **found, **counts}


def _weights(document: Any, size: int, how: Resampling) -> Reals:
    """How often each text counts: once, then in each resample; (1 + resamples, texts)."""
    drawn = np.random.default_rng(how.seed).multinomial(
        size, np.full(size, 1.0 / max(size, 1)), size=how.resamples if size else 0
    )
    weights: Reals = np.vstack([np.ones((1, size)), drawn])[:, document].astype(np.float64)
    return weights


def _coefficients(own: Reals, people: Reals, weights: Reals) -> Iterator[tuple[str, Reals]]:
    """Each coefficient of all texts, then of each resample."""
    nothing = np.full(len(weights), np.nan)
    for name, of in _OF_TWO.items():
        each = []
        for rater in people:
            known = np.isfinite(rater)
            counted = weights[:, known]
            drawn = counted.any(axis=1)
            values = nothing.copy()
            values[drawn] = of(np.stack([own[known], rater[known]]), counted[drawn])
            each.append(values)
        yield name, mean_without_gaps(np.array(each))
    everybody = np.vstack([own, people])
    if own.size:
        yield "krippendorff_alpha_ordinal", krippendorff_alpha(everybody, weights, "ordinal")
    else:
        yield "krippendorff_alpha_ordinal", nothing
