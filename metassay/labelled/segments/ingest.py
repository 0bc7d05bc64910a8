"""Raw files of a test of segmentations to checked tables."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import BadInput, shown
from metassay.core.naming import name_problem
from metassay.core.options import Block, parse
from metassay.core.params import SEGMENTATION
from metassay.datasets.readers import (
    READERS,
    SENTENCE_READERS,
    reader_of,
    returned,
    sentence_reader_of,
    unsuited,
)
from metassay.labelled.judges.record import Sample
from metassay.labelled.segments.documents import (
    NONE,
    DocumentRow,
    Documents,
    SegmentTestOptions,
    of_rows,
)
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL
from metassay.tables.parquet import Table
from metassay.tables.sentences import SENTENCES
from metassay.tabular.rows import Place, Rows


class IngestedSentences(NamedTuple):
    """Tables `texts` and `sentences` of a test, and what its owner should know."""

    texts: pd.DataFrame
    sentences: pd.DataFrame
    warnings: tuple[str, ...]


def ingest_sentences(reader: str, raw: Path, options: SegmentTestOptions) -> IngestedSentences:
    """Read raw files, take the texts that the test asks for, and check what they hold.

    A reader of a benchmark's rows will do where its dataset brings facets. Raises BadInput with
    every problem in one go, each naming file, row and remedy.
    """
    read = (reader_of if reader in READERS else sentence_reader_of)(reader)(raw)
    found = of_rows(read) if isinstance(read, Rows) else returned(read, Documents, reader)
    _check(found)
    _check_labels(found, options.labels)
    if found.problems:
        raise BadInput(found.problems.lines())
    documents = _sampled(found.documents, options.sample)
    texts = [
        (one.doc_id, one.author, FULL, one.text, "ok", f"given|reader:{reader}")
        for one in documents
    ]
    rows = [
        (one.doc_id, one.author, place, *said.span, label, said.confidence)
        for one in documents
        for place, said in enumerate(one.sentences)
        for label in [options.labels.get(said.label, said.label)]
    ]
    frames = (_frame(TEXTS, texts), _frame(SENTENCES, rows))
    return IngestedSentences(*frames, (*found.warnings.lines(), *found.notes))


def chosen_options(block: Block, *, where: str) -> SegmentTestOptions:
    """The options of a test, checked; BadInput, led by `where`, if they are wrong."""
    return parse(SegmentTestOptions, block, where=f"{where} > options")


def reader_problem(reader: str) -> str | None:
    """What is wrong with a dataset's reader for a test of segmentations; None if it suits."""
    return unsuited(reader, [*SENTENCE_READERS, *READERS], f"test {SEGMENTATION!r}")


def _check(found: Documents) -> None:
    problems = found.problems
    if not found.documents and not problems:
        problems.add(Place("the dataset"), "has no labelled text", "name another dataset")
    seen: set[tuple[str, str]] = set()
    for one in found.documents:
        where = f"document {shown(one.doc_id)}"
        for key in (one.doc_id, one.author):
            if not key or key != key.strip() or not key.isprintable():
                what = "a key is empty, has blanks at an end or does not print"
                problems.add(one.at, what, "clean it", where)
        if (one.doc_id, one.author) in seen:
            problems.add(one.at, "the same document is there twice", "give each its own id", where)
        seen.add((one.doc_id, one.author))
        if not one.sentences:
            problems.add(one.at, "has no sentence", "add its sentences, or remove it", where)
        for said in one.sentences:
            if wrong := name_problem(said.label):
                problems.add(one.at, "a label cannot be a facet's name", wrong, shown(said.label))


def _check_labels(found: Documents, counted_as: Mapping[str, str]) -> None:
    there = {said.label for one in found.documents for said in one.sentences}
    for label in sorted(set(counted_as) - there):
        if not found.problems:
            at, known = Place("params.yaml > options > labels"), ", ".join(sorted(there))
            what = "names a label that the data do not have"
            found.problems.add(at, what, f"there are: {known}", shown(label))
    left = {counted_as.get(label, label) for label in there}
    if left == {NONE}:
        what = "no sentence has a facet: there is nothing to find"
        found.problems.add(Place("the dataset"), what, "choose other labels, or another dataset")


def _sampled(documents: list[DocumentRow], sample: Sample | None) -> list[DocumentRow]:
    """The texts whose key, hashed with the seed, comes first: the same in any order."""
    if sample is None:
        return documents
    return sorted(documents, key=lambda one: _rank(sample.seed, one))[: sample.items]


def _rank(seed: int, one: DocumentRow) -> str:
    return hashlib.sha256(f"{seed}\x1f{one.doc_id}\x1f{one.author}".encode()).hexdigest()


def _frame(table: Table, rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(table.columns))
