"""Compare raters with each other, and summarise ratings: `agreement`, `rating_summaries`."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.options import BELOW_OTHERS, MetaOptions
from metassay.meta_evaluation.study import (
    VERSUS,
    check_criteria,
    frame_of,
    mirror,
    tie_rounding,
)
from metassay.statistics import agreement as coefficients
from metassay.statistics.correlation import COEFFICIENTS, WEIGHTED
from metassay.statistics.correlation import Coefficient as Correlation
from metassay.statistics.document_means import NO_CLUSTERS, Resampling, means
from metassay.statistics.exact_sums import Array
from metassay.statistics.layout import factorize_by
from metassay.statistics.random_numbers import generator
from metassay.tables.columns import CRITERION, HIGH, INTEGER, PART, REAL, STUDY, TEXT
from metassay.tables.names import REFERENCE
from metassay.tables.parquet import Column, Table

AGREEMENT = Table(
    name="agreement",
    says="how far raters agree",
    key=("study", "criterion", "coefficient", "rater_a", "rater_b"),
    columns={
        "study": STUDY,
        "criterion": Column(TEXT, "the criterion"),
        "coefficient": Column(
            TEXT,
            (
                "the coefficient; 1 is perfect agreement. spearman_below_others: how "
                "far a rater's agreement with the others, the mean correlation with "
                "each, lies below theirs among themselves; its intervals hold for "
                "all raters at once"
            ),
            choices=(
                "percent",
                "cohen_kappa",
                "cohen_kappa_linear",
                "cohen_kappa_quadratic",
                "count_f1_0",
                "count_f1_1",
                "count_f1_2",
                "spearman_with_others",
                "kendall_with_others",
                "spearman_below_others",
                "fleiss_kappa",
                "krippendorff_alpha_nominal",
                "krippendorff_alpha_ordinal",
                "krippendorff_alpha_interval",
                "icc1",
                "icc2",
                "icc3",
                "icc1k",
                "icc2k",
                "icc3k",
            ),
        ),
        "rater_a": Column(TEXT, "a rater, or `all`"),
        "rater_b": Column(
            TEXT,
            "another rater, `others` (the mean of the others), or `all`",
        ),
        "value": Column(
            REAL,
            "the coefficient; null if undefined",
            null=True,
        ),
        "low": Column(
            REAL,
            (
                "lower end of the interval, from a bootstrap over documents or "
                "clusters of them"
            ),
            null=True,
        ),
        "high": HIGH,
        "n": Column(
            INTEGER,
            (
                "things that both raters rated (`all`: two raters or more; ICC: "
                "every rater)"
            ),
        ),
        "n_missing": Column(
            INTEGER,
            "things that somebody rated and that are not counted in n",
        ),
        "n_resamples": Column(INTEGER, "resamples that have a coefficient"),
    },
)
RATING_SUMMARIES = Table(
    name="rating_summaries",
    says=(
        "what people gave on average, in all, to each system and by each rater. "
        "Ratings count as they are, one for each text or claim; comparisons are in "
        "`preferences`"
    ),
    key=("study", "criterion", "part", "of", "name"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "of": Column(
            TEXT,
            (
                "whose ratings: all of systems' texts; those of one author's texts; "
                "or those that one rater gave to systems' texts"
            ),
            choices=(
                "all",
                "author",
                "rater",
            ),
        ),
        "name": Column(TEXT, "the author or rater; empty for `all`"),
        "mean": Column(
            REAL,
            "mean of the ratings; null if there is none",
            null=True,
        ),
        "low": Column(
            REAL,
            (
                "lower end of the mean's interval, for these systems and raters and "
                "other documents, from a bootstrap over documents; null with one "
                "document"
            ),
            null=True,
        ),
        "high": HIGH,
        "sd": Column(
            REAL,
            (
                "standard deviation of the ratings, divided by n (ddof 0); null if "
                "there is none"
            ),
            null=True,
        ),
        "n": Column(INTEGER, "ratings that the mean rests on"),
        "n_missing": Column(
            INTEGER,
            "ratings without a value: the rater abstained, or the cell is empty",
        ),
        "n_documents": Column(INTEGER, "documents that have a rating with a value"),
    },
)

# agreement.rater_a and rater_b where the coefficient is of all raters together
ALL = "all"
# agreement.rater_b where rater_a is compared with the mean of the others
OTHERS = "others"

_KEY = ["doc_id", "author", "part", "unit"]


class _Request(NamedTuple):
    """A coefficient to compute."""

    name: tuple[str, str, str]  # the coefficient, rater_a, rater_b
    function: coefficients.Coefficient
    items: coefficients.RatedItems
    value: float | None = None  # None: computed of the items, if there are two or more


def agreement(
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    options: MetaOptions,
    clusters: Mapping[str, str] = NO_CLUSTERS,
) -> pd.DataFrame:
    """Return one row per coefficient, for each rater or pair of raters where it applies to them.

    The rated items are units (texts, claims or comparisons) of a part. By the
    criterion's scale:

    - for each two raters: `percent`; on nominal and ordinal scales `cohen_kappa`; on
      ordinal scales its two weighted forms; of counts `count_f1` with three tolerances
      (on an interval scale kappa would count 79 and 80 as disagreement);
    - unless it is nominal, for each rater and the mean of the others on the same items:
      `spearman_with_others`, `kendall_with_others`; with three raters or more
      `spearman_below_others`;
    - for all raters: Krippendorff's alpha (counts are an interval scale); Fleiss' kappa
      on nominal and ordinal scales; the six ICC unless the scale is nominal, on the
      items that all rated.

    Intervals resample documents, or whole `clusters` of them (labels by document), with
    all their items; the raters stay. Two raters who share fewer than two items have no
    value. Abstentions count as not rated. A study with one rater has no rows. Raises
    BadInput for an undeclared criterion.
    """
    check_criteria(ratings, criteria)
    rows: list[tuple[object, ...]] = []
    precision: Any = {"n": options.resamples, "confidence": options.confidence}
    rated = orient(ratings.dropna(subset="value"), criteria)
    for (study, criterion), group in rated.groupby(["study", "criterion"], sort=True):
        # A comparison that a rater made both ways counts once, as the mean.
        opinions = group.groupby(["rater", *_KEY], sort=True)["value"].mean()
        wide = opinions.unstack("rater").sort_index(axis=1)
        values = tie_rounding(wide.to_numpy(dtype=np.float64).T)
        raters = [str(rater) for rater in wide.columns]
        scale = criteria[str(criterion)].scale
        documents = wide.index.get_level_values("doc_id").astype(str)
        unit = factorize_by(documents, clusters)
        for request in _requests(raters, values, scale):
            key = (str(study), str(criterion), *request.name)
            rng = generator(options.seed, "agreement", *key)
            used, n_missing, which = request.items
            low, high, n_defined, _ = coefficients.agreement_interval(
                used, request.function, unit[which], rng=rng, **precision
            )
            numbers = (_value(request), low, high, used.shape[1], n_missing, n_defined)
            rows.append((*key, *numbers))
        if scale != "nominal" and len(raters) > 2:
            rng = generator(
                options.seed, "agreement", str(study), str(criterion), BELOW_OTHERS
            )
            below = coefficients.compare_with_others(values, unit, rng=rng, **precision)
            for rater, gap in zip(raters, below, strict=True):
                rows.append((study, criterion, BELOW_OTHERS, rater, OTHERS, *gap))
    return frame_of(rows, AGREEMENT)


def orient(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    """Return each comparison from the side of the author whose name sorts first.

    So "A against B" and "B against A" are the same item. Rows that compare nothing
    stay.
    """
    other = ratings["unit"].str.removeprefix(VERSUS)
    turn = ratings["unit"].str.startswith(VERSUS) & (other < ratings["author"])
    return pd.concat(
        [ratings[~turn], mirror(ratings[turn], criteria)], ignore_index=True
    )


def _requests(raters: Sequence[str], values: Array, scale: str) -> Iterator[_Request]:
    if len(raters) < 2:
        return
    for a, b in combinations(range(len(raters)), 2):
        items = coefficients.rated_items(values[[a, b]])
        for name, function in _pairwise(scale).items():
            yield _Request((name, raters[a], raters[b]), function, items)
    if scale != "nominal":
        yield from _request_with_others(raters, values)
    items = coefficients.rated_items(values)
    level: Any = "interval" if scale == "count" else scale
    alpha = partial(coefficients.krippendorff_alpha, scale=level)
    yield _Request((f"krippendorff_alpha_{level}", ALL, ALL), alpha, items)
    if scale in ("nominal", "ordinal"):
        yield _Request(("fleiss_kappa", ALL, ALL), coefficients.fleiss_kappa, items)
    if scale != "nominal":
        items = coefficients.rated_items(values, len(raters))
        for kind in get_args(coefficients.Icc):
            yield _Request(
                (kind, ALL, ALL), partial(coefficients.icc, kind=kind), items
            )


def _request_with_others(raters: Sequence[str], values: Array) -> Iterator[_Request]:
    for rater, name in enumerate(raters):
        others = coefficients.mean_of_others(values, rater)
        items = coefficients.rated_items(np.stack((values[rater], others)))
        for coefficient in _WITH_OTHERS:
            value = float(COEFFICIENTS[coefficient](*items.ratings))
            function = partial(_weighted_correlation, coefficient=coefficient)
            yield _Request(
                (f"{coefficient}_with_others", name, OTHERS), function, items, value
            )


def _value(request: _Request) -> float:
    if request.value is not None:
        return request.value
    if request.name[1] != ALL and request.items.ratings.shape[1] < 2:
        return np.nan
    return coefficients.agreement(request.items.ratings, request.function).value


def _weighted_correlation(
    pair: Array, weights: Array, coefficient: Correlation
) -> Array:
    return WEIGHTED[coefficient](pair[0], pair[1], np.arange(pair.shape[1]), weights)


_WITH_OTHERS: tuple[Correlation, ...] = ("spearman", "kendall")


def _pairwise(scale: str) -> dict[str, coefficients.Coefficient]:
    """Return the coefficients of two raters by name."""
    table: dict[str, coefficients.Coefficient] = {"percent": coefficients.share_within}
    if scale in ("nominal", "ordinal"):
        table["cohen_kappa"] = coefficients.cohen_kappa
    for distance in ("linear", "quadratic") if scale == "ordinal" else ():
        kappa = partial(coefficients.cohen_kappa, distance=distance)
        table[f"cohen_kappa_{distance}"] = kappa
    for tolerance in (0, 1, 2) if scale == "count" else ():
        table[f"count_f1_{tolerance}"] = partial(
            coefficients.share_within, tolerance=tolerance
        )
    return table


def rating_summaries(
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    options: MetaOptions,
    clusters: Mapping[str, str] = NO_CLUSTERS,
) -> pd.DataFrame:
    """Return means, standard deviations (ddof 0) and counts of the ratings.

    Every rating of a text or claim counts once, so a text with three raters counts
    three times. Ratings of the reference count in its row alone, abstentions in
    n_missing alone. Intervals resample documents, or whole `clusters` of them
    (`means`); systems and raters stay. Comparisons are left out. Raises BadInput for an
    undeclared criterion.
    """
    check_criteria(ratings, criteria)
    rated = ratings[~ratings["unit"].str.startswith(VERSUS)]
    how = Resampling(options.resamples, options.confidence, options.seed, clusters)
    rows: list[dict[str, object]] = []
    for key, group in rated.groupby(["study", "criterion", "part"], sort=True):
        documents = sorted(group.loc[group["value"].notna(), "doc_id"].unique())
        for kind, name, view in _views(group):
            named = [*map(str, key), kind, name]
            summary = _summary(view, documents, how)
            rows.append(dict(zip(RATING_SUMMARIES.key, named, strict=True)) | summary)
    return frame_of(rows, RATING_SUMMARIES)


def _views(group: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    systems = group[group["author"] != REFERENCE]
    if len(systems):
        yield "all", "", systems
    for name, view in group.groupby("author", sort=True):
        yield "author", str(name), view
    for name, view in systems.groupby("rater", sort=True):
        yield "rater", str(name), view


def _summary(
    view: pd.DataFrame, documents: Sequence[str], how: Resampling
) -> dict[str, object]:
    """Summarise ratings; `documents`: those that have any rating with a value."""
    rated = view.dropna(subset="value")
    values = rated["value"].to_numpy(dtype=np.float64)
    of_document = rated.groupby("doc_id")["value"].agg(["sum", "count"])
    sums, counts = (
        of_document.reindex(list(documents)).to_numpy(dtype=np.float64).T[..., None]
    )
    interval = means(sums, documents, how, counts)
    return {
        "mean": float(np.mean(values)) if values.size else np.nan,
        "low": float(interval.low[0]),
        "high": float(interval.high[0]),
        "sd": float(np.std(values)) if values.size else np.nan,
        "n": values.size,
        "n_missing": len(view) - values.size,
        "n_documents": len(of_document),
    }


ANALYSIS = Analysis(
    (AGREEMENT,),
    lambda run: [
        agreement(run.ratings, run.criteria, run.options, run.groups.clusters)
    ],
    "Agreement between raters",
    """
    1 is perfect agreement. Kappa and alpha are 0 where raters agree no more than by chance.
    Brackets hold the interval for other documents and the same raters. n counts the things that
    both raters rated; for all raters together, those with two ratings or more; for icc, those
    that everybody rated. Missing counts the other things that somebody rated.
    spearman_below_others is how far a rater’s agreement with the others lies below theirs with
    each other: 0 is as good as theirs, and a rater whose whole interval is above 0 is named
    among the warnings. Of raters who are equal, somebody would be named by about one criterion
    in 20.
    """,
)
OF_MEANS = Analysis(
    (RATING_SUMMARIES,),
    lambda run: (
        []
        if run.rubrics is None
        else [
            rating_summaries(
                run.ratings, run.criteria, run.options, run.groups.clusters
            )
        ]
    ),
    "What people gave",
    """
    Mean ratings by system, by rater and in all, on the criterion’s own scale, with the interval
    for other documents and the same systems and raters, and the standard deviation of the
    ratings (divided by n).
    """,
)
