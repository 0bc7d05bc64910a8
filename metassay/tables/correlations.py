"""Metrics against people, and metrics against metrics."""

from metassay.tables.columns import (
    COEFFICIENT,
    CRITERION,
    JUDGE,
    LABEL,
    LEVEL,
    METRIC,
    ONE_SIDED,
    ORIENTED,
    OTHERS,
    PART,
    RECIPE,
    STUDY,
    UPPER,
)
from metassay.tables.parquet import Table, choice, integer, real, text

CORRELATIONS = Table(
    "correlations",
    "metrics against human ratings",
    ("study", "criterion", "part", "metric", "judge", "level", "coefficient"),
    {
        "study": STUDY,
        "criterion": CRITERION,
        "part": text("`full`, or a section or facet; `each` where the level is grouped"),
        "metric": METRIC,
        "judge": JUDGE,
        "level": choice(
            "global",
            "document",
            "system",
            "grouped",
            meaning="what is correlated: all texts; the texts of each document; the systems' means;"
            " or (grouped) the texts of each part, averaged over the parts",
        ),
        "coefficient": COEFFICIENT,
        "value": real("the correlation with its true sign; null if undefined", null=True),
        "low": real(f"{OTHERS}; null where grouped", null=True),
        "high": UPPER,
        "low_these_systems": real(
            "lower end of the interval for these systems and other documents", null=True
        ),
        "high_these_systems": UPPER,
        "n": integer("what it rests on: texts, documents, systems or parts, by the level"),
        "n_undefined": integer("documents or parts that have no correlation; 0 at other levels"),
        "n_missing": ONE_SIDED,
        "p": real(
            "two-sided p of the exact test, which puts systems and documents in other orders. A"
            " small one shows that metric and people are related. It is not adjusted for other"
            " metrics. Only the coefficient that params.yaml names has one",
            null=True,
        ),
        "recipe": RECIPE,
    },
)

COMPONENTS = Table(
    "components",
    "whether a metric agrees with people about systems, about documents, or text by text",
    ("study", "criterion", "part", "metric", "judge", "component"),
    {
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "component": choice(
            "between_systems",
            "between_documents",
            "within",
            meaning="what is correlated: the systems' means; the documents' means; or (within) each"
            " text's score less the level of its system and of its document",
        ),
        "coefficient": COEFFICIENT,
        "value": real(
            f"the correlation of this component; null if undefined. {ORIENTED}", null=True
        ),
        "low": real(OTHERS, null=True),
        "high": UPPER,
        "p": real("as in `correlations`, for this component alone", null=True),
        "n": integer("what it rests on: systems, documents or texts, by the component"),
        "n_missing": ONE_SIDED,
        "metric_share": real("share of the metric's variance that lies here", null=True),
        "people_share": real("share of people's variance that lies here", null=True),
    },
)

SIGNIFICANCE = Table(
    "significance",
    "metric against metric: whether one is closer to people than the other",
    ("study", "criterion", "part", "level", "coefficient", "test", "metric_a", "metric_b"),
    {
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "level": LEVEL,
        "coefficient": COEFFICIENT,
        "test": choice(
            "williams",
            "permutation_systems",
            "permutation_documents",
            "permutation_both",
            "bootstrap_systems",
            "bootstrap_documents",
            "bootstrap_both",
            meaning="the test, and what it permutes or draws again. All tests are two-sided",
        ),
        "metric_a": LABEL,
        "metric_b": LABEL,
        "difference": real(
            f"the correlation of metric a less that of metric b. {ORIENTED}", null=True
        ),
        "low": real(
            "lower end of the interval of the difference; only bootstraps have one", null=True
        ),
        "high": UPPER,
        "p": real("a small p shows that the two differ", null=True),
        "p_holm": real(
            "p after Holm's correction for all pairs of metrics compared here", null=True
        ),
        "p_benjamini_hochberg": real(
            "p after Benjamini and Hochberg's correction for them", null=True
        ),
        "n": integer("texts, documents or systems that have both metrics and ratings"),
        "n_undefined": integer("resamples or permutations that have no difference"),
        "n_missing": integer("texts that have some of the two scores and the rating, but not all"),
    },
)

_SCORER = choice("metric", "people", meaning="whether it is a metric or a human criterion")

METRIC_CORRELATIONS = Table(
    "metric_correlations",
    "how metrics and human criteria correlate with each other, two by two, over all texts that a"
    " study rated. One row for each two: criteria come first, then metrics, each by name",
    ("study", "part", "coefficient", "first_is", "first", "second_is", "second"),
    {
        "study": STUDY,
        "part": PART,
        "coefficient": COEFFICIENT,
        "first_is": _SCORER,
        "first": text("the criterion, or the metric with its judge in brackets if it has one"),
        "second_is": _SCORER,
        "second": text("the other one"),
        "value": real(
            "the correlation over all texts that have both; null if undefined. Both are turned so"
            " that more is better",
            null=True,
        ),
        "n": integer("texts that have both"),
        "n_missing": integer("texts that have one of the two"),
    },
)
