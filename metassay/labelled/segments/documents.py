"""What a test of segmentations is made of: texts, their sentences, and each sentence's gold label.

As with rows of a benchmark, a reader never stops at the first fault: it records faults in
`problems` and things worth knowing in `warnings`, and goes on; `ingest_sentences` adds the checks
common to all and raises once. Neither ever holds a text.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from metassay.core.naming import name_problem
from metassay.core.options import Name, Options
from metassay.labelled.judges.record import Sample
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.rows import Findings, Place, Rows, TextRow
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.locate import find_all

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


def label_of(sentence: Span, text: str, parts: Sequence[tuple[str, Sequence[Span]]]) -> str:
    """The part that covers more than half of a sentence's characters; `none` if no part does.

    `parts`: names, and where their pieces stand in the text. White space does not count. Of parts
    that overlap, the one that covers most of the sentence, and of equals the first.
    """
    inside = [at for at in range(sentence.start, sentence.end) if not text[at].isspace()]
    label, most = NONE, len(inside) / 2
    for name, pieces in parts:
        near = [(max(a, sentence.start), min(b, sentence.end)) for a, b in pieces]
        near = [(start, end) for start, end in near if start < end]
        covered = sum(any(start <= at < end for start, end in near) for at in inside) if near else 0
        if covered > most:
            label, most = name, covered
    return label


_Facets = list[tuple[str, Sequence[Span]]]


def of_rows(rows: Rows) -> Documents:
    """The texts that have facets, in sentences of our splitter, each with the facet it lies in.

    A facet's text is sought in the text; where it is found is where the facet is. A sentence that
    no facet covers by more than half is `none`, also where part of a facet was not found. Notes
    count these, and say how much of the texts all facets cover. Texts without facets are left out.
    """
    found = Documents(problems=rows.problems, warnings=rows.warnings)
    facets: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for row in rows.segments:
        facets[row.doc_id, row.author].append((row.part, row.text))
    every, absent = Counter[str](), Counter[str]()
    for text in rows.texts:
        own = facets[text.doc_id, text.author]
        if text.part != FULL or text.text is None or not own:
            continue
        located: _Facets = []
        for facet, said in own:
            where = find_all(said, text.text)
            located.append((facet, [place.span for place in where.located]))
            every[facet] += 1
            absent[facet] += bool(where.made_up)
        found.documents.append(_document(text, text.text, located))
    found.notes = [*_absent(every, absent), *_covered(found.documents)]
    return found


def _document(row: TextRow, text: str, facets: _Facets) -> DocumentRow:
    said = [Sentence(span, label_of(span, text, facets)) for span in sentences(text)]
    return DocumentRow(row.at, row.doc_id, text, said, row.author)


def _absent(every: Counter[str], absent: Counter[str]) -> list[str]:
    lost = {facet: count for facet, count in absent.items() if count}
    if not lost:
        return []
    each = ", ".join(f"{facet} {count:,} of {every[facet]:,}" for facet, count in lost.items())
    return [f"facets of the dataset that are not, or not wholly, in their texts: {each}"]


def _covered(documents: Sequence[DocumentRow]) -> list[str]:
    labels = [said.label for one in documents for said in one.sentences]
    if NONE not in labels:
        return []
    whole = sum(all(said.label != NONE for said in one.sentences) for one in documents)
    return [
        f"{labels.count(NONE):,} of {len(labels):,} sentences are in no facet of the dataset; of"
        f" {whole:,} of {len(documents):,} texts every sentence is in one"
    ]
