"""What people would give a system, from a metric and some ratings."""

from metassay.tables.columns import table

CORRECTED = table(
    "corrected",
    "what people would give a system on average, from a metric on all its texts and people on some",
    "study criterion part metric judge author method",
    """
    study criterion part metric judge author
    method prediction_powered|rogan_gladen: the correction; rogan_gladen only where scores and
      ratings are all 0 or 1
    value real?: the mean that people would give all texts; null if undefined
    low real?: lower end of the interval
    high
    metric_mean real?: the metric's mean over all texts, not corrected
    human_mean real?: people's mean over the rated texts
    weight real?: of prediction_powered: how far the metric is relied on, 0 to 1
    sensitivity real?: of rogan_gladen: share of people's ones that are 1 by the metric
    specificity real?: of rogan_gladen: share of people's zeros that are 0 by the metric
    n integer: texts with a score and a rating
    n_judged integer: texts with a score
    n_missing integer: rated texts without a score
    recipe
    """,
)
