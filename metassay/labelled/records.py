"""The data of tests, items or labelled sentences, with their places in files.

An item is a question with a right answer: does any of its premises entail the
hypothesis? As with rows of a benchmark, a reader goes on after an error: it adds to
`problems` and `warnings`; `ingest` adds the checks common to all and raises once.
Neither ever contains a text.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.datasets.own_data import Line, validate_all
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import json_lines
from metassay.tabular.rows import Findings, Place
from metassay.text.spans import Span

ENTAILED: Final = "entailed"
NOT_ENTAILED: Final = "not_entailed"
NEUTRAL: Final = "neutral"
CONTRADICTED: Final = "contradicted"
THREE = (ENTAILED, NEUTRAL, CONTRADICTED)
CRITERION = ENTAILED  # of people's labels, and of judges' cards
ALL_KINDS = "all kinds"  # items of all kinds together
NONE = "none"  # the label of a sentence in no facet
Label = Literal["entailed", "not_entailed", "neutral", "contradicted"]
DATASET = Place("the dataset")  # of problems without a file
Names = NDArray[np.object_]


class ItemRow(NamedTuple):
    """An item.

    `premises` are chunks of evidence: a judge reads each by itself, and the item is
    entailed if any of them entails it. `label` is None if the data have no gold label;
    the majority of people's labels, if there are any, then decides. `subset` is its
    test set; `kind` what it tests (an edit, such as `negation`), `full` if there are no
    kinds. `cluster`: its text or document; "" is a cluster by itself.
    """

    at: Place
    item: str  # key: unique, printable, without text
    premises: list[str]  # one or more, none blank
    hypothesis: str
    label: Label | None
    subset: str
    kind: str = FULL
    cluster: str = ""


class VerdictRow(NamedTuple):
    """A judge's verdict on an item that comes with the data.

    A label, a probability of being entailed (0 to 1), or both; no label if the status
    is not ok. A probability alone becomes a label by the threshold of params.yaml.
    """

    at: Place
    item: str
    judge: str
    label: Label | None = None
    probability: float | None = None
    status: Literal["ok", "unparsed", "refused", "truncated", "error", "abstained"] = (
        "ok"
    )


class LabelRow(NamedTuple):
    """A person's label of an item: entailed or not; None if the person abstained."""

    at: Place
    item: str
    rater: str
    entailed: bool | None


@dataclass
class Items:
    """The data that a reader read from a folder of raw files, or that a test made of texts."""

    items: list[ItemRow] = field(default_factory=list)
    verdicts: list[VerdictRow] = field(default_factory=list)
    labels: list[LabelRow] = field(default_factory=list)
    problems: Findings = field(default_factory=Findings)
    warnings: Findings = field(default_factory=Findings)


class Sentence(NamedTuple):
    """A sentence's span in its text, its gold label, and people's confidence in it (0 to 1)."""

    span: Span
    label: str
    confidence: float | None = None


class DocumentRow(NamedTuple):
    """A text; its sentences are in order and do not overlap."""

    at: Place
    doc_id: str
    text: str
    sentences: list[Sentence]
    author: str = REFERENCE


@dataclass
class Documents:
    """The data that a reader read from a folder of raw files; `notes` are lines of counts."""

    documents: list[DocumentRow] = field(default_factory=list)
    problems: Findings = field(default_factory=Findings)
    warnings: Findings = field(default_factory=Findings)
    notes: list[str] = field(default_factory=list)


def of_sentences(
    at: Place, doc_id: str, labelled: Iterable[tuple[str, str, float | None]]
) -> DocumentRow:
    """Join sentences, which come with label and confidence, to a text, by spaces."""
    text, spans = "", []
    for sentence, label, confidence in labelled:
        start = len(text) + bool(text)
        text = f"{text} {sentence}" if text else sentence
        spans.append(Sentence(Span(start, len(text)), label, confidence))
    return DocumentRow(at, doc_id, text, spans)


def items_of(judge: str) -> str:
    """Return the name of the study of the items that a judge has verdicts on, if not on all."""
    return f"items of {judge}"


def hash_of(*parts: object) -> str:
    """Return a hash by which a sample is drawn: it does not depend on other data."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()


def files(folder: Path, pattern: str, problems: Findings, remedy: str) -> list[Path]:
    """Return the files of a folder that match the pattern; a problem if none does."""
    paths = sorted(folder.glob(pattern))
    if not paths:
        name = pattern.removeprefix("**/")
        what = (
            f"holds no {name[1:]} file" if name.startswith("*.") else f"holds no {name}"
        )
        problems.add(Place(str(folder)), what, remedy)
    return paths


def parsed_lines(
    paths: Sequence[Path], model: type[Line], problems: Findings, remedy: str
) -> Iterator[tuple[Place, Line]]:
    """Read the lines of JSON Lines files that fit `model`, with their places."""
    for path in paths:
        yield from validate_all(
            json_lines(path, problems, remedy=remedy), model, problems
        )


def is_clean(name: str) -> bool:
    """Return whether a name is printable, and neither empty nor with blanks at its ends."""
    return bool(name) and name == name.strip() and name.isprintable()


def names_of(column: "pd.Series[Any]") -> Names:
    """Return the texts of a column as an array of objects, None where missing."""
    return column.astype("object").where(column.notna(), None).to_numpy(dtype=object)
