"""The building blocks of your own kinds: records that params.yaml can name by a dotted path.

    from metassay.kinds import Description, Measured, Metric, Options

`Metric`, `FaithfulnessMetric`, `JudgeKind`, `Segmentation`, `Decomposition`,
`Alignment` and `System` are the records; a reader is a function from a folder to
`Rows`, to `Items` (a test of judges) or to `Documents` (a test of segmentations). The
docstring of each record explains its fields; docs/own-kinds.md has an example of each.
"""

from metassay.core.options import Options
from metassay.generation.record import Generated, System, by_rule
from metassay.judges.protocol import Judge, JudgeKind, Judgment, Pair
from metassay.labelled.records import (
    DocumentRow,
    Documents,
    ItemRow,
    Items,
    LabelRow,
    VerdictRow,
    of_sentences,
)
from metassay.llm.needs import Resources
from metassay.metrics.describe import Description, Measured, Metric, ratio
from metassay.metrics.faithfulness.reading import CheckpointOptions, StatementOptions
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.tabular.rows import (
    MetricRow,
    Place,
    RatingRow,
    Rows,
    ScoreRow,
    SourceRow,
    TextRow,
)
from metassay.text.spans import Span
from metassay.units.record import (
    Aligned,
    Alignment,
    Decomposed,
    Decomposition,
    Divided,
    Part,
    Segmentation,
    Text,
)
from metassay.units.statements import units_of

__all__ = [
    "Aligned",
    "Alignment",
    "Case",
    "CheckpointOptions",
    "Decomposed",
    "Decomposition",
    "Description",
    "Divided",
    "DocumentRow",
    "Documents",
    "FaithfulnessMetric",
    "Generated",
    "ItemRow",
    "Items",
    "Judge",
    "JudgeKind",
    "Judgment",
    "LabelRow",
    "Measured",
    "Metric",
    "MetricRow",
    "Options",
    "Pair",
    "Part",
    "Place",
    "RatingRow",
    "Resources",
    "Rows",
    "ScoreRow",
    "Scored",
    "Segmentation",
    "SourceRow",
    "Span",
    "StatementOptions",
    "System",
    "Text",
    "TextRow",
    "VerdictRow",
    "by_rule",
    "of_sentences",
    "ratio",
    "units_of",
]
