"""The table `facet_weights`: a rubric's weights, fitted to overall scores that people gave."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.options import Criterion
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import frame_of, generator, human_scores
from metassay.statistics.exact_sums import Array
from metassay.statistics.facet_weights import Method, fit, mean_squared_error
from metassay.statistics.resampling import draw, expanded_percentiles
from metassay.tables.facet_weights import FACET_WEIGHTS

OVERALL = "overall"  # the kind of a rubric's criterion that sums the others up


class _Graded(NamedTuple):
    """One study's grades by the criteria of one rubric, of texts with an overall score and any."""

    overall: Array  # (texts,)
    shares: Array  # (texts, criteria)
    document: NDArray[np.intp]  # (texts,) each one's place among the documents
    n_rated: int  # texts that have a grade or an overall score


def facet_weights(
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    rubrics: pd.DataFrame,
    options: MetaOptions,
) -> pd.DataFrame:
    """One row per study, part, rubric, method and criterion of the rubric that has a weight.

    `rubrics`: the table `criteria`. A study is taken if people graded texts by every scale of the
    rubric that has a weight, under the same names, and gave the rubric's overall score; what the
    rubric's judges say plays no part. Grades and overall scores are divided by the upper ends of
    their scales, and are the means of a text's raters.

    Overall scores that were themselves computed from the grades give back the weights of that
    formula, with an error of 0: this says what the formula was, and not what people would weigh.
    """
    people = human_scores(ratings, criteria)
    rows = [
        {"study": str(study), "part": str(part), "rubric": str(rubric), **row}
        for rubric, asked in rubrics.groupby("rubric", sort=True)
        for (study, part), mine in people.groupby(["study", "part"], sort=True)
        for row in _of_study(mine, asked, criteria, options, (str(rubric), str(study), str(part)))
    ]
    return frame_of(rows, FACET_WEIGHTS)


def _of_study(
    people: pd.DataFrame,
    asked: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    options: MetaOptions,
    key: tuple[str, ...],
) -> Iterator[dict[str, object]]:
    scales = asked[(asked["kind"] == "scale") & asked["weight"].notna()].sort_values("position")
    names, total = list(scales["criterion"]), list(asked.loc[asked["kind"] == OVERALL, "criterion"])
    if len(names) < 2 or not total or not {*names, *total} <= set(people["criterion"]):
        return
    graded = _graded(people, names, total[0], criteria)
    given = scales["weight"].to_numpy(dtype=np.float64)
    given = given / given.sum()
    for method in get_args(Method):
        for non_negative in (False, True):
            rng = generator(options.seed, "facet_weights", *key, method, str(non_negative))
            shared, columns = _fitted(graded, given, method, non_negative, options, rng)
            named = f"{method}_non_negative" if non_negative else method
            for place, name in enumerate(names):
                own = {column: float(values[place]) for column, values in columns.items()}
                yield {"method": named, "criterion": name, **own, **shared}


def _graded(
    people: pd.DataFrame, names: Sequence[str], total: str, criteria: Mapping[str, Criterion]
) -> _Graded:
    wide = people.pivot(index=["doc_id", "author"], columns="criterion", values="value")
    wide = wide.reindex(columns=[total, *names]).dropna(how="all")
    shares = wide / [criteria[name].high for name in wide.columns]
    used = shares[shares[total].notna() & shares[list(names)].notna().any(axis=1)]
    documents = used.index.get_level_values("doc_id")
    return _Graded(
        used[total].to_numpy(dtype=np.float64),
        used[list(names)].to_numpy(dtype=np.float64),
        pd.factorize(documents, sort=True)[0],
        len(wide),
    )


def _fitted(
    graded: _Graded,
    given: Array,
    method: Method,
    non_negative: bool,
    options: MetaOptions,
    rng: np.random.Generator,
) -> tuple[dict[str, object], dict[str, Array]]:
    """What the rows of a method share, and their columns (criteria,)."""
    used = np.isfinite(graded.shares).all(axis=1) | (method != "complete")
    overall, shares = graded.overall[used], graded.shares[used]
    document = pd.factorize(graded.document[used])[0]
    n_documents = int(document.max(initial=-1)) + 1
    drawn = draw((1, n_documents), resample="documents", n=options.resamples, rng=rng).documents
    once = np.ones((1, len(document)))
    weights = fit(overall, shares, once, method, non_negative=non_negative)[0]
    again = fit(overall, shares, drawn[:, document], method, non_negative=non_negative)
    low, high = expanded_percentiles(again, n_documents, options.confidence)
    free = len(given) - (method != "complete")  # of ratios one is given by the others
    error = mean_squared_error(overall, shares, weights, method)
    shared: dict[str, object] = {
        "mse": error if len(overall) > free else np.nan,  # else any scores fit
        "mse_given": mean_squared_error(overall, shares, given, method),
        "n": len(overall),
        "n_missing": graded.n_rated - len(overall),
        "n_documents": n_documents,
        "n_resamples": int(np.count_nonzero(np.isfinite(again).all(axis=1))),
    }
    return shared, {"weight": weights, "low": low, "high": high, "given": given}
