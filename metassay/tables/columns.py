"""Types of columns, columns that several tables share, and phrases of their meanings."""

import pyarrow as pa

from metassay.tables.parquet import Column

TEXT = pa.string()
REPEATED_TEXT = pa.dictionary(pa.int32(), pa.string())  # long text that many rows have
INTEGER = pa.int64()
REAL = pa.float64()  # rounded to 12 significant digits when written
BOOLEAN = pa.bool_()
TEXT_LIST = pa.list_(pa.string())
INTEGER_LIST = pa.list_(pa.int64())
REAL_LIST = pa.list_(pa.float64())

OTHERS = "lower end of the interval for other systems and other documents"
ONE_SIDED = "texts that have either a score or a rating, but not both"
ORIENTED = "Metric and criterion are turned so that more is better."

DOC_ID = Column(TEXT, "the document: one input and everything written about it")
AUTHOR = Column(TEXT, "`reference` or a system's name")
PART = Column(TEXT, "`full`, or a section or facet")
RECIPE = Column(
    TEXT,
    (
        "everything that went into the number or text; different recipes are never "
        "compared"
    ),
)
LEVEL = Column(
    TEXT,
    "the level of the correlation",
    choices=(
        "global",
        "document",
        "system",
    ),
)
COEFFICIENT = Column(
    TEXT,
    "the coefficient; kendall is tau-b, kendall_c is Stuart's tau-c",
    choices=(
        "pearson",
        "spearman",
        "kendall",
        "kendall_c",
    ),
)
METRIC = Column(TEXT, "the metric")
SEGMENTATION = Column(TEXT, "the segmentation's name in params.yaml")
JUDGE = Column(TEXT, "the judge, or `none`")
STUDY = Column(TEXT, "the study")
CRITERION = Column(TEXT, "the human criterion")
HIGH = Column(
    REAL,
    "upper end of the interval",
    null=True,
)
BETTER = Column(
    TEXT,
    "which direction is better",
    choices=(
        "higher",
        "lower",
        "neither",
    ),
)

SHARED = {
    "doc_id": DOC_ID,
    "author": AUTHOR,
    "part": PART,
    "recipe": RECIPE,
    "level": LEVEL,
    "coefficient": COEFFICIENT,
    "metric": METRIC,
    "segmentation": SEGMENTATION,
    "judge": JUDGE,
    "study": STUDY,
    "criterion": CRITERION,
    "high": HIGH,
    "better": BETTER,
}
