"""The table `facet_weights`: a rubric's weights, fitted to overall scores that people gave."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, get_args

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.meta_evaluation.analysis import Analysis, Page
from metassay.meta_evaluation.layouts import Labels
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import frame_of, generator, human_scores
from metassay.statistics.document_means import NO_CLUSTERS, worth
from metassay.statistics.exact_sums import Array
from metassay.statistics.facet_weights import Method, fit, mean_squared_error
from metassay.statistics.layout import Index, numbered, numbered_by
from metassay.statistics.resampling import draw, expanded_percentiles
from metassay.tables.columns import table

FACET_WEIGHTS = table(
    "facet_weights",
    "the weights of a rubric's criteria, fitted to overall scores that people gave beside their"
    " grades of the same criteria",
    "study part rubric method criterion",
    """
    study part
    rubric text: the rubric whose criteria people graded
    method complete|complete_non_negative|renormalised|renormalised_non_negative: complete: least
      squares on the texts that have every grade. renormalised: least squares on all texts, the
      overall score being the mean of the grades that there are by the weights of these, which add
      up to 1. non_negative: no weight below 0
    criterion
    weight real?: the weight, for grades and overall scores as shares of the ends of their scales;
      null if it cannot be told
    low real?: lower end of the interval, from a bootstrap over documents; null with one document
    high
    given real: the rubric's own weight, as a share of the sum of all
    mse real?: mean squared error of the fitted weights on the texts used; null where these are no
      more than the weights, so that any scores fit
    mse_given real?: the same of the rubric's own weights
    n integer: texts used
    n_missing integer: rated texts left out: no overall score, or grades missing
    n_documents integer: documents of the texts used
    n_resamples integer: resamples in which the weights could be told
    """,
)

OVERALL = "overall"  # the kind of a rubric's criterion that sums the others up


class _Graded(NamedTuple):
    """One study's grades by the criteria of one rubric, of texts with an overall score and any."""

    overall: Array  # (texts,)
    shares: Array  # (texts, criteria)
    document: Index  # (texts,) each one's place among the documents
    cluster: Index  # (texts,) and the number of the document's cluster
    n_rated: int  # texts that have a grade or an overall score


def facet_weights(
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    rubrics: pd.DataFrame,
    options: MetaOptions,
    clusters: Labels = NO_CLUSTERS,
) -> pd.DataFrame:
    """One row per study, part, rubric, method and criterion of the rubric that has a weight.

    `rubrics`: the table `criteria`. A study is taken if people graded texts by every scale of the
    rubric that has a weight, under the same names, and gave the rubric's overall score; what the
    rubric's judges say plays no part. Grades and overall scores are divided by the upper ends of
    their scales, and are the means of a text's raters. Intervals draw documents again, or whole
    `clusters` of them (labels by document).

    Overall scores that were themselves computed from the grades give back the weights of that
    formula, with an error of 0: this says what the formula was, and not what people would weigh.
    """
    people = human_scores(ratings, criteria)
    rows = [
        {"study": str(study), "part": str(part), "rubric": str(rubric), **row}
        for rubric, scales in rubrics.groupby("rubric", sort=True)
        for (study, part), mine in people.groupby(["study", "part"], sort=True)
        for key in [(str(rubric), str(study), str(part))]
        for row in _of_study(mine, scales, criteria, options, clusters, key)
    ]
    return frame_of(rows, FACET_WEIGHTS)


def _of_study(
    people: pd.DataFrame,
    rubric: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    options: MetaOptions,
    clusters: Labels,
    key: tuple[str, ...],
) -> Iterator[dict[str, object]]:
    scales = rubric[(rubric["kind"] == "scale") & rubric["weight"].notna()].sort_values("position")
    names, total = [*scales["criterion"]], [*rubric.loc[rubric["kind"] == OVERALL, "criterion"]]
    if len(names) < 2 or not total or not {*names, *total} <= set(people["criterion"]):
        return
    wide = people.pivot(index=["doc_id", "author"], columns="criterion", values="value")
    wide = wide.reindex(columns=[total[0], *names]).dropna(how="all")
    shares = wide / [criteria[name].high for name in wide.columns]
    used = shares[shares[total[0]].notna() & shares[names].notna().any(axis=1)]
    documents = used.index.get_level_values("doc_id").astype(str)
    graded = _Graded(
        used[total[0]].to_numpy(dtype=np.float64),
        used[names].to_numpy(dtype=np.float64),
        pd.factorize(documents, sort=True)[0],
        numbered_by(documents, clusters),
        len(wide),
    )
    given = scales["weight"].to_numpy(dtype=np.float64)
    given = given / given.sum()
    for method in get_args(Method):
        for non_negative in (False, True):
            rng = generator(options.seed, "facet_weights", *key, method, str(non_negative))
            shared, columns = _fitted(graded, given, method, non_negative, options, rng)
            named = f"{method}_non_negative" if non_negative else method
            for place, name in enumerate(names):
                weights = {column: float(values[place]) for column, values in columns.items()}
                yield {"method": named, "criterion": name, **weights, **shared}


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
    n_documents, cluster = np.unique(graded.document[used]).size, numbered(graded.cluster[used])
    size = (1, int(cluster.max(initial=-1)) + 1)
    drawn = draw(size, resample="documents", n=options.resamples, rng=rng).documents
    once = np.ones((1, len(cluster)))
    weights = fit(overall, shares, once, method, non_negative=non_negative)[0]
    again = fit(overall, shares, drawn[:, cluster], method, non_negative=non_negative)
    (number,) = worth(np.ones((len(cluster), 1), dtype=bool), cluster)
    low, high = expanded_percentiles(again, float(number), options.confidence)
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


ANALYSIS = Analysis(
    (FACET_WEIGHTS,),
    lambda of: (
        []
        if of.rubrics is None
        else [facet_weights(of.ratings, of.criteria, of.rubrics, of.options, of.groups.clusters)]
    ),
    Page(
        "Weights of the criteria",
        """
        Least squares of people’s overall scores on their own grades, as shares of the ends of the
        scales: what each criterion counts for those who gave both. Brackets hold the interval for
        other documents. mse is the mean squared error of these weights, mse_given that of the
        rubric’s own. Errors of 0 say that the overall scores were computed from the grades, and by
        which weights; they say nothing of people’s judgment.
        """,
    ),
)
