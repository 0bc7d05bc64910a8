"""What a test of judges is made of: items that still know where they came from.

An item is one question with one right answer: does any of its premises entail the hypothesis? As
with rows of a benchmark, a reader never stops at the first fault: it records faults in `problems`
and things worth knowing in `warnings`, and goes on; `ingest_items` adds the checks common to all
and raises once. Neither ever holds a text.
"""

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from metassay.tables.names import FULL
from metassay.tabular.rows import Findings, Place

ENTAILED: Final = "entailed"
NOT_ENTAILED: Final = "not_entailed"
NEUTRAL: Final = "neutral"
CONTRADICTED: Final = "contradicted"
CRITERION = ENTAILED  # what people said of items, and what judges' cards are about
Label = Literal["entailed", "not_entailed", "neutral", "contradicted"]


class ItemRow(NamedTuple):
    """One item.

    `premises` are its chunks: each is put to a judge by itself, and the item is entailed where one
    of them entails it. `label` is None where the data have no gold label; people's labels, if there
    are any, then give it by majority. `subset` is the test set that it belongs to; `kind` what is
    tried with it (an edit, such as `negation`), `full` where there are no kinds. Items of one
    `cluster` are alike (one text, one document); "" is a cluster of its own.
    """

    at: Place
    item: str  # its key: unique, printable, no text
    premises: list[str]  # one or more, none blank
    hypothesis: str
    label: Label | None
    subset: str
    kind: str = FULL
    cluster: str = ""


class VerdictRow(NamedTuple):
    """What a judge said of one item, as the data themselves bring it.

    A label, a probability of being entailed (0 to 1), or both; with a status other than ok no
    label. Where there is a probability alone, the threshold of params.yaml makes the label of it.
    """

    at: Place
    item: str
    judge: str
    label: Label | None = None
    probability: float | None = None
    status: Literal["ok", "unparsed", "refused", "truncated", "error", "abstained"] = "ok"


class LabelRow(NamedTuple):
    """What one person said of one item: entailed or not; None where the person abstained."""

    at: Place
    item: str
    rater: str
    entailed: bool | None


@dataclass
class Items:
    """Everything that a reader found in a folder of raw files, or that a test made of texts."""

    items: list[ItemRow] = field(default_factory=list)
    verdicts: list[VerdictRow] = field(default_factory=list)
    labels: list[LabelRow] = field(default_factory=list)
    problems: Findings = field(default_factory=Findings)
    warnings: Findings = field(default_factory=Findings)
