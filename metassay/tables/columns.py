"""What several tables have alike: columns, their values, and words about them.

A change here makes nearly every stage stale.
"""

from metassay.tables.parquet import choice, integer, real, text

DOC = text("the document: one input and everything written about it")
AUTHOR = text("`reference` or a system's name")
PART = text("`full`, or a section or facet")
RECIPE = text("everything that went into the number or text; different recipes are never compared")
STATUSES = ("ok", "unparsed", "refused", "truncated", "error")
JUDGED = ("ok", "abstained", "unparsed", "refused", "truncated", "error")
LEVEL = choice("global", "document", "system", meaning="the level of the correlation")
COEFFICIENT = choice(
    "pearson",
    "spearman",
    "kendall",
    "kendall_c",
    meaning="the coefficient; kendall is tau-b, kendall_c is Stuart's tau-c",
)
METRIC = text("the metric")
SEGMENTATION = text("the segmentation's name in params.yaml")
JUDGE = text("the judge, or `none`")
LABEL = text("the metric, with its judge in brackets if it has one")
STUDY = text("the study")
CRITERION = text("the human criterion")
UPPER = real("upper end of the interval", null=True)
OTHERS = "lower end of the interval for other systems and other documents"
ONE_SIDED = integer("texts that have either a score or a rating, but not both")
ORIENTED = "Metric and criterion are turned so that more is better."
