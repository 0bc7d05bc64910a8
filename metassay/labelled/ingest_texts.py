"""Raw files of a test of segmentations to checked tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import raise_problems, shown
from metassay.core.naming import name_problem
from metassay.datasets.readers import READERS, SENTENCE_READERS, reader_of, returned
from metassay.labelled.records import DATASET, NONE, Documents, hash_of, is_clean
from metassay.labelled.segmentations import of_rows
from metassay.labelled.types import SegmentTestOptions
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL
from metassay.tables.sentences import SENTENCES
from metassay.tabular.rows import Place, Rows


class IngestedSentences(NamedTuple):
    """Tables `texts` and `sentences` of a test, and what its owner should know."""

    texts: pd.DataFrame
    sentences: pd.DataFrame
    warnings: tuple[str, ...]


def ingest_sentences(reader: str, raw: Path, options: SegmentTestOptions) -> IngestedSentences:
    """Read raw files, take the texts that the test asks for, and check what they hold.

    A reader of a benchmark's rows will do where its dataset brings facets. A sample has the texts
    whose key, hashed with the seed, comes first. Raises BadInput with every problem in one go, each
    naming file, row and remedy.
    """
    read = reader_of(reader, READERS if reader in READERS else SENTENCE_READERS)(raw)
    found = of_rows(read) if isinstance(read, Rows) else returned(read, Documents, reader)
    _check_documents(found)
    _check_labels(found, options.labels)
    raise_problems(found.problems.lines())
    documents, sample = found.documents, options.sample
    if sample is not None:
        documents.sort(key=lambda one: hash_of(sample.seed, one.doc_id, one.author))
        documents = documents[: sample.items]
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
    return IngestedSentences(
        pd.DataFrame(texts, columns=list(TEXTS.columns)),
        pd.DataFrame(rows, columns=list(SENTENCES.columns)),
        (*found.warnings.lines(), *found.notes),
    )


def _check_documents(found: Documents) -> None:
    problems = found.problems
    if not found.documents and not problems:
        problems.add(DATASET, "has no labelled text", "name another dataset")
    seen: set[tuple[str, str]] = set()
    for one in found.documents:
        where, key = f"document {shown(one.doc_id)}", (one.doc_id, one.author)
        if not all(map(is_clean, key)):
            what = "a key is empty, has blanks at an end or does not print"
            problems.add(one.at, what, "clean it", where)
        if key in seen:
            problems.add(one.at, "the same document is there twice", "give each its own id", where)
        seen.add(key)
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
    if {counted_as.get(label, label) for label in there} == {NONE}:
        what = "no sentence has a facet: there is nothing to find"
        found.problems.add(DATASET, what, "choose other labels, or another dataset")
