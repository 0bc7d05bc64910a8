"""What people would give a system, from a metric and some ratings."""

from metassay.tables.columns import AUTHOR, CRITERION, JUDGE, METRIC, PART, RECIPE, STUDY, UPPER
from metassay.tables.parquet import Table, choice, integer, real

CORRECTED = Table(
    "corrected",
    "what people would give a system on average, from a metric on all its texts and people on some",
    ("study", "criterion", "part", "metric", "judge", "author", "method"),
    {
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "author": AUTHOR,
        "method": choice(
            "prediction_powered",
            "rogan_gladen",
            meaning="the correction; rogan_gladen only where scores and ratings are all 0 or 1",
        ),
        "value": real("the mean that people would give all texts; null if undefined", null=True),
        "low": real("lower end of the interval", null=True),
        "high": UPPER,
        "metric_mean": real("the metric's mean over all texts, not corrected", null=True),
        "human_mean": real("people's mean over the rated texts", null=True),
        "weight": real("of prediction_powered: how far the metric is relied on, 0 to 1", null=True),
        "sensitivity": real(
            "of rogan_gladen: share of people's ones that are 1 by the metric", null=True
        ),
        "specificity": real(
            "of rogan_gladen: share of people's zeros that are 0 by the metric", null=True
        ),
        "n": integer("texts with a score and a rating"),
        "n_judged": integer("texts with a score"),
        "n_missing": integer("rated texts without a score"),
        "recipe": RECIPE,
    },
)
