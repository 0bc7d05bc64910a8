"""Every metric's value for every text."""

from dataclasses import replace

from metassay.tables.columns import table

MEASUREMENTS = table(
    "measurements",
    "scores that need no judge. Citation marks such as [3] are removed from a text and its"
    " reference before they are compared or counted",
    "doc_id author part metric judge",
    """
    doc_id author part
    metric text: the metric's name in docs/metrics.md
    judge text: the judge's name in params.yaml; `none` for metrics that need no judge
    value real?!: the score; null if it is undefined. What came with the data is kept to the last
      digit
    n_expected integer: how many answers there should be: the denominator if none fails. 1 for
      metrics without a judge
    n_judged integer: how many of them there are
    n_failed integer: how many are missing
    low real?: the value if every missing answer were worth as little as it can be: not entailed, or
      the lowest grade
    high real?: the value if every missing answer were worth as much as it can be
    statistics reals?: numbers that the corpus value is pooled from; null if the metric is not
      pooled
    recipe
    """,
)

SCORES = replace(
    MEASUREMENTS,
    name="scores",
    says="every metric's value for every text. Metrics that need no judge (ROUGE, BLEU, lengths,"
    " ...) read texts without their citation marks, such as [3]",
)
