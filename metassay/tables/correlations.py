"""Metrics against people, and metrics against metrics."""

from metassay.tables.columns import ONE_SIDED, ORIENTED, OTHERS, table

CORRELATIONS = table(
    "correlations",
    "metrics against human ratings",
    "study criterion part metric judge level coefficient",
    f"""
    study criterion
    part text: `full`, or a section or facet; `each` where the level is grouped
    metric judge
    level global|document|system|grouped: what is correlated: all texts; the texts of each document;
      the systems' means; or (grouped) the texts of each part, averaged over the parts
    coefficient
    value real?: the correlation with its true sign; null if undefined
    low real?: {OTHERS}; null where grouped
    high
    low_these_systems real?: lower end of the interval for these systems and other documents
    high_these_systems real?: upper end of the interval
    n integer: what it rests on: texts, documents, systems or parts, by the level
    n_undefined integer: documents or parts that have no correlation; 0 at other levels
    n_missing integer: {ONE_SIDED}
    p real?: two-sided p of the exact test, which puts systems and documents in other orders. A
      small one shows that metric and people are related. It is not adjusted for other metrics. Only
      the coefficient that params.yaml names has one
    recipe
    """,
)

COMPONENTS = table(
    "components",
    "whether a metric agrees with people about systems, about documents, or text by text",
    "study criterion part metric judge component",
    f"""
    study criterion part metric judge
    component between_systems|between_documents|within: what is correlated: the systems' means; the
      documents' means; or (within) each text's score less the level of its system and of its
      document
    coefficient
    value real?: the correlation of this component; null if undefined. {ORIENTED}
    low real?: {OTHERS}
    high
    p real?: as in `correlations`, for this component alone
    n integer: what it rests on: systems, documents or texts, by the component
    n_missing integer: {ONE_SIDED}
    metric_share real?: share of the metric's variance that lies here
    people_share real?: share of people's variance that lies here
    """,
)

SIGNIFICANCE = table(
    "significance",
    "metric against metric: whether one is closer to people than the other",
    "study criterion part level coefficient test metric_a metric_b",
    f"""
    study criterion part level coefficient
    test williams|permutation_systems|permutation_documents|permutation_both|bootstrap_systems|
      bootstrap_documents|bootstrap_both: the test, and what it permutes or draws again. All tests
      are two-sided
    metric_a text: the metric, with its judge in brackets if it has one
    metric_b text: the metric, with its judge in brackets if it has one
    difference real?: the correlation of metric a less that of metric b. {ORIENTED}
    low real?: lower end of the interval of the difference; only bootstraps have one
    high
    p real?: a small p shows that the two differ
    p_holm real?: p after Holm's correction for all pairs of metrics compared here
    p_benjamini_hochberg real?: p after Benjamini and Hochberg's correction for them
    n integer: texts, documents or systems that have both metrics and ratings
    n_undefined integer: resamples or permutations that have no difference
    n_missing integer: texts that have some of the two scores and the rating, but not all
    """,
)

METRIC_CORRELATIONS = table(
    "metric_correlations",
    "how metrics and human criteria correlate with each other, two by two, over all texts that a"
    " study rated. One row for each two: criteria come first, then metrics, each by name",
    "study part coefficient first_is first second_is second",
    """
    study part coefficient
    first_is metric|people: whether it is a metric or a human criterion
    first text: the criterion, or the metric with its judge in brackets if it has one
    second_is metric|people: whether it is a metric or a human criterion
    second text: the other one
    value real?: the correlation over all texts that have both; null if undefined. Both are turned
      so that more is better
    n integer: texts that have both
    n_missing integer: texts that have one of the two
    """,
)
