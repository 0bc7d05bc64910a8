"""Fit a rubric's weights to people's overall scores: the table `facet_weights`."""

from collections.abc import Iterator, Mapping
from typing import get_args

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.layouts import Labels
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import frame_of, human_scores
from metassay.statistics.document_means import NO_CLUSTERS, worth
from metassay.statistics.exact_sums import Array
from metassay.statistics.facet_weights import Method, fit, mean_squared_error
from metassay.statistics.layout import factorize_by
from metassay.statistics.random_numbers import generator
from metassay.statistics.resampling import draw, expanded_percentiles
from metassay.tables.columns import CRITERION, HIGH, INTEGER, PART, REAL, STUDY, TEXT
from metassay.tables.parquet import Column, Table

FACET_WEIGHTS = Table(
    name="facet_weights",
    says=(
        "the weights of a rubric's criteria, fitted to overall scores that people "
        "gave beside their grades of the same criteria"
    ),
    key=("study", "part", "rubric", "method", "criterion"),
    columns={
        "study": STUDY,
        "part": PART,
        "rubric": Column(TEXT, "the rubric whose criteria people graded"),
        "method": Column(
            TEXT,
            (
                "complete: least squares on the texts that have every grade. "
                "renormalised: least squares on all texts, the overall score being "
                "the mean of the grades that there are by the weights of these, "
                "which add up to 1. non_negative: no weight below 0"
            ),
            choices=(
                "complete",
                "complete_non_negative",
                "renormalised",
                "renormalised_non_negative",
            ),
        ),
        "criterion": CRITERION,
        "weight": Column(
            REAL,
            (
                "the weight, for grades and overall scores as shares of the ends of "
                "their scales; null if it cannot be told"
            ),
            null=True,
        ),
        "low": Column(
            REAL,
            (
                "lower end of the interval, from a bootstrap over documents; null "
                "with one document"
            ),
            null=True,
        ),
        "high": HIGH,
        "given": Column(REAL, "the rubric's own weight, as a share of the sum of all"),
        "mse": Column(
            REAL,
            (
                "mean squared error of the fitted weights on the texts used; null "
                "where these are no more than the weights, so that any scores fit"
            ),
            null=True,
        ),
        "mse_given": Column(
            REAL,
            "the same of the rubric's own weights",
            null=True,
        ),
        "n": Column(INTEGER, "texts used"),
        "n_missing": Column(
            INTEGER,
            "rated texts left out: no overall score, or grades missing",
        ),
        "n_documents": Column(INTEGER, "documents of the texts used"),
        "n_resamples": Column(INTEGER, "resamples in which the weights could be told"),
    },
)

OVERALL = "overall"  # the kind of criterion that sums up the others


def facet_weights(
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    rubrics: pd.DataFrame,
    options: MetaOptions,
    clusters: Labels = NO_CLUSTERS,
) -> pd.DataFrame:
    """Return one row per study, part, rubric, method and weighted criterion of the rubric.

    `rubrics`: the table `criteria`. A study takes part if people graded texts by every
    weighted scale of the rubric, under the same names, and gave its overall score;
    judges play no part. Grades and overall scores are means over a text's raters,
    divided by the upper ends of their scales. Intervals resample documents, or whole
    `clusters` of them (labels by document).

    Overall scores that were computed from the grades give the weights of that formula,
    with an error of 0: this shows the formula, not what people would weigh.
    """
    people = human_scores(ratings, criteria)
    rows: list[dict[str, object]] = []
    for rubric, scales in rubrics.groupby("rubric", sort=True):
        for (study, part), scores in people.groupby(["study", "part"], sort=True):
            key = {"study": str(study), "part": str(part), "rubric": str(rubric)}
            seed = str(rubric), str(study), str(part)
            fits = _weight_rows(scores, scales, criteria, options, clusters, seed)
            rows += [{**key, **row} for row in fits]
    return frame_of(rows, FACET_WEIGHTS)


def _weight_rows(
    people: pd.DataFrame,
    rubric: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    options: MetaOptions,
    clusters: Labels,
    seed: tuple[str, ...],
) -> Iterator[dict[str, object]]:
    scales = rubric[(rubric["kind"] == "scale") & rubric["weight"].notna()].sort_values(
        "position"
    )
    names, total = (
        [*scales["criterion"]],
        [*rubric.loc[rubric["kind"] == OVERALL, "criterion"]],
    )
    if len(names) < 2 or not total or not {*names, *total} <= set(people["criterion"]):
        return
    wide = people.pivot(index=["doc_id", "author"], columns="criterion", values="value")
    wide = wide.reindex(columns=[total[0], *names]).dropna(how="all")
    shares = wide / [criteria[name].high for name in wide.columns]
    used = shares[shares[total[0]].notna() & shares[names].notna().any(axis=1)]
    rubric_weights = scales["weight"].to_numpy(dtype=np.float64)
    rubric_weights = rubric_weights / rubric_weights.sum()
    for method in get_args(Method):
        for non_negative in (False, True):
            rng = generator(
                options.seed, "facet_weights", *seed, method, str(non_negative)
            )
            shared, columns = _fit(
                used, clusters, rubric_weights, method, non_negative, options, rng
            )
            shared |= {"n_missing": len(wide) - shared["n"]}
            named = f"{method}_non_negative" if non_negative else method
            for place, name in enumerate(names):
                weights = {
                    column: float(values[place]) for column, values in columns.items()
                }
                yield {"method": named, "criterion": name, **weights, **shared}


def _fit(
    texts: pd.DataFrame,
    clusters: Labels,
    rubric_weights: Array,
    method: Method,
    non_negative: bool,
    options: MetaOptions,
    rng: np.random.Generator,
) -> tuple[dict[str, float], dict[str, Array]]:
    """Return the values that all rows of a method share, and their columns (criteria,).

    `texts` (texts, 1 + criteria): overall scores and grades as shares of the ends of
    their scales.
    """
    shares = texts[texts.columns[1:]].to_numpy(dtype=np.float64)
    used = np.isfinite(shares).all(axis=1) | (method != "complete")
    overall, shares = texts.iloc[:, 0].to_numpy(dtype=np.float64)[used], shares[used]
    documents = texts.index.get_level_values("doc_id").astype(str)[used]
    cluster = factorize_by(documents, clusters)
    size = (1, int(cluster.max(initial=-1)) + 1)
    draws = draw(size, resample="documents", n=options.resamples, rng=rng).documents
    once = np.ones((1, len(cluster)))
    weights = fit(overall, shares, once, method, non_negative=non_negative)[0]
    resampled = fit(
        overall, shares, draws[:, cluster], method, non_negative=non_negative
    )
    (number,) = worth(np.ones((len(cluster), 1), dtype=bool), cluster)
    low, high = expanded_percentiles(resampled, float(number), options.confidence)
    # ratios have one weight less to fit
    free = len(rubric_weights) - (method != "complete")
    error = mean_squared_error(overall, shares, weights, method)
    shared = {
        "mse": error if len(overall) > free else np.nan,  # else any scores fit
        "mse_given": mean_squared_error(overall, shares, rubric_weights, method),
        "n": len(overall),
        "n_documents": documents.nunique(),
        "n_resamples": int(np.count_nonzero(np.isfinite(resampled).all(axis=1))),
    }
    return shared, {
        "weight": weights,
        "low": low,
        "high": high,
        "given": rubric_weights,
    }


ANALYSIS = Analysis(
    (FACET_WEIGHTS,),
    lambda run: (
        []
        if run.rubrics is None
        else [
            facet_weights(
                run.ratings, run.criteria, run.rubrics, run.options, run.groups.clusters
            )
        ]
    ),
    "Weights of the criteria",
    """
    Least squares of people’s overall scores on their own grades, as shares of the ends of the
    scales: what each criterion counts for those who gave both. Brackets hold the interval for
    other documents. mse is the mean squared error of these weights, mse_given that of the
    rubric’s own. Errors of 0 say that the overall scores were computed from the grades, and by
    which weights; they say nothing of people’s judgment.
    """,
)
