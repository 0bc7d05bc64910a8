"""What a test of segmentations is made of: texts, their sentences, and each sentence's gold label.

As with rows of a benchmark, a reader never stops at the first fault: it records faults in
`problems` and things worth knowing in `warnings`, and goes on; `ingest_sentences` adds the checks
common to all and raises once. Neither ever holds a text.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from metassay.datasets.rows import Findings, Place
from metassay.judge_tests.record import Sample
from metassay.naming import name_problem
from metassay.options import Name, Options
from metassay.tables.names import REFERENCE
from metassay.text.spans import Span

NONE = "none"  # the label of a sentence that no facet has


def _labels(labels: dict[str, str]) -> dict[str, str]:
    for name in labels:
        if problem := name_problem(name):
            raise ValueError(f"{name}: {problem}")
    return labels


class SegmentTestOptions(Options):
    """Which texts a test takes, and what their labels count as.

    `labels`: a gold label, and the facet that it counts as, such as `objective: background`, or
    `none`, for segmentations that know other facets than the data; all others stay what they are.
    `sample`: a sample of the texts; null takes every one.
    """

    labels: Annotated[dict[str, Name], AfterValidator(_labels)]
    sample: Sample | None


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
