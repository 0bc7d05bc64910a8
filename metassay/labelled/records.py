"""What tests are made of, items or texts in sentences, that still know where they came from.

An item is one question with one right answer: does any of its premises entail the hypothesis? As
with rows of a benchmark, a reader never stops at the first fault: it records faults in `problems`
and things worth knowing in `warnings`, and goes on; `ingest` adds the checks common to all and
raises once. Neither ever holds a text.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.options import Options
from metassay.datasets.own_data import validate_all
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import json_lines
from metassay.tabular.rows import Findings, Place
from metassay.text.spans import Span

ENTAILED: Final = "entailed"
NOT_ENTAILED: Final = "not_entailed"
NEUTRAL: Final = "neutral"
CONTRADICTED: Final = "contradicted"
THREE = (ENTAILED, NEUTRAL, CONTRADICTED)
CRITERION = ENTAILED  # what people said of items, and what judges' cards are about
ALL_KINDS = "all kinds"  # items of every kind together, where each has one
NONE = "none"  # the label of a sentence that no facet has
Label = Literal["entailed", "not_entailed", "neutral", "contradicted"]
DATASET = Place("the dataset")  # where what is wrong has no file
Names = NDArray[np.object_]
Line = TypeVar("Line", bound=Options)


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


class Sentence(NamedTuple):
    """Where a sentence stands in its text, its gold label, and how sure people were of it (0-1)."""

    span: Span
    label: str
    confidence: float | None = None


class DocumentRow(NamedTuple):
    """One text; its sentences are in order and do not overlap."""

    at: Place
    doc_id: str
    text: str
    sentences: list[Sentence]
    author: str = REFERENCE


@dataclass
class Documents:
    """Everything that a reader found in a folder of raw files; `notes` are lines of counts."""

    documents: list[DocumentRow] = field(default_factory=list)
    problems: Findings = field(default_factory=Findings)
    warnings: Findings = field(default_factory=Findings)
    notes: list[str] = field(default_factory=list)


def of_sentences(
    at: Place, doc_id: str, said: Iterable[tuple[str, str, float | None]]
) -> DocumentRow:
    """A text of sentences that come one by one, with label and confidence: joined by a blank."""
    text, sentences = "", []
    for words, label, confidence in said:
        start = len(text) + bool(text)
        text = f"{text} {words}" if text else words
        sentences.append(Sentence(Span(start, len(text)), label, confidence))
    return DocumentRow(at, doc_id, text, sentences)


def items_of(judge: str) -> str:
    """The study of the items that a judge has verdicts on, where those are not all of them."""
    return f"items of {judge}"


def hash_of(*parts: object) -> str:
    """A hash by which a sample is drawn: the same whatever else the data hold."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()


def files(folder: Path, pattern: str, problems: Findings, remedy: str) -> list[Path]:
    """The files of a folder that fit the pattern; a problem where there is none."""
    paths = sorted(folder.glob(pattern))
    if not paths:
        name = pattern.removeprefix("**/")
        what = f"holds no {name[1:]} file" if name.startswith("*.") else f"holds no {name}"
        problems.add(Place(str(folder)), what, remedy)
    return paths


def parsed_lines(
    paths: Sequence[Path], model: type[Line], problems: Findings, remedy: str
) -> Iterator[tuple[Place, Line]]:
    """The lines of JSON Lines files that are a `model`, each at its place."""
    for path in paths:
        yield from validate_all(json_lines(path, problems, remedy=remedy), model, problems)


def is_clean(name: str) -> bool:
    """Whether a name prints, and has no blanks at an end."""
    return bool(name) and name == name.strip() and name.isprintable()


def names_of(column: "pd.Series[Any]") -> Names:
    """The texts of a column as an array of objects, None where there is none."""
    return column.astype("object").where(column.notna(), None).to_numpy(dtype=object)
