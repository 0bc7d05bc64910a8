"""Tests of segmentations: texts with labelled sentences, and which facet one says each is of."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import raise_problems, shown
from metassay.core.kinds import Chosen
from metassay.core.naming import name_problem
from metassay.core.options import printed
from metassay.datasets.readers import READERS, SENTENCE_READERS, check_type, reader_of
from metassay.labelled import records
from metassay.labelled.types import SegmentTestOptions
from metassay.llm.needs import Resources
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL
from metassay.tables.sentences import SEGMENTED, SENTENCES
from metassay.tabular.rows import Place, Rows
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.locate import find_all
from metassay.units.record import OK, Divided, Part, Text


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
    found = of_rows(read) if isinstance(read, Rows) else check_type(read, records.Documents, reader)
    _check_documents(found)
    _check_labels(found, options.labels)
    raise_problems(found.problems.lines())
    documents, sample = found.documents, options.sample
    if sample is not None:
        documents.sort(key=lambda one: records.hash_of(sample.seed, one.doc_id, one.author))
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


def _check_documents(found: records.Documents) -> None:
    problems = found.problems
    if not found.documents and not problems:
        problems.add(records.DATASET, "has no labelled text", "name another dataset")
    seen: set[tuple[str, str]] = set()
    for one in found.documents:
        where, key = f"document {shown(one.doc_id)}", (one.doc_id, one.author)
        if not all(map(records.is_clean, key)):
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


def _check_labels(found: records.Documents, counted_as: Mapping[str, str]) -> None:
    there = {said.label for one in found.documents for said in one.sentences}
    for label in sorted(set(counted_as) - there):
        if not found.problems:
            at, known = Place("params.yaml > options > labels"), ", ".join(sorted(there))
            what = "names a label that the data do not have"
            found.problems.add(at, what, f"there are: {known}", shown(label))
    if {counted_as.get(label, label) for label in there} == {records.NONE}:
        what = "no sentence has a facet: there is nothing to find"
        found.problems.add(records.DATASET, what, "choose other labels, or another dataset")


TASK = "abstract"  # what texts with labelled sentences are


def label_of(sentence: Span, text: str, parts: Sequence[tuple[str, Sequence[Span]]]) -> str:
    """The part that covers more than half of a sentence's characters; `none` if no part does.

    `parts`: names, and where their pieces stand in the text. White space does not count. Of parts
    that overlap, the one that covers most of the sentence, and of equals the first.
    """
    inside = [at for at in range(sentence.start, sentence.end) if not text[at].isspace()]
    label, most = records.NONE, len(inside) / 2
    for name, pieces in parts:
        near = [(a, b) for a, b in pieces if a < sentence.end and b > sentence.start]
        covered = sum(any(start <= at < end for start, end in near) for at in inside) if near else 0
        if covered > most:
            label, most = name, covered
    return label


def of_rows(rows: Rows) -> records.Documents:
    """The texts that have facets, in sentences of our splitter, each with the facet it lies in.

    A facet's text is sought in the text; where it is found is where the facet is. A sentence that
    no facet covers by more than half is `none`, also where part of a facet was not found. Notes
    count these, and say how much of the texts all facets cover. Texts without facets are left out.
    """
    found = records.Documents(problems=rows.problems, warnings=rows.warnings)
    facets: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for row in rows.segments:
        facets[row.doc_id, row.author].append((row.part, row.text))
    every, absent = Counter[str](), Counter[str]()
    for text in rows.texts:
        said = facets[text.doc_id, text.author]
        if text.part != FULL or text.text is None or not said:
            continue
        located: list[tuple[str, Sequence[Span]]] = []
        for facet, part in said:
            where = find_all(part, text.text)
            located.append((facet, [place.span for place in where.located]))
            every[facet] += 1
            absent[facet] += bool(where.made_up)
        labelled = [
            records.Sentence(s, label_of(s, text.text, located)) for s in sentences(text.text)
        ]
        found.documents.append(
            records.DocumentRow(text.at, text.doc_id, text.text, labelled, text.author)
        )
    lost = [f"{facet} {n:,} of {every[facet]:,}" for facet, n in absent.items() if n]
    if lost:
        what = "facets of the dataset that are not, or not wholly, in their texts"
        found.notes.append(f"{what}: {', '.join(lost)}")
    return _with_coverage(found)


def _with_coverage(found: records.Documents) -> records.Documents:
    labels = [[said.label for said in one.sentences] for one in found.documents]
    none, sentences_ = sum(one.count(records.NONE) for one in labels), sum(map(len, labels))
    whole = sum(records.NONE not in one for one in labels)
    if none:
        found.notes.append(
            f"{none:,} of {sentences_:,} sentences are in no facet of the dataset; of {whole:,} of"
            f" {len(labels):,} texts every sentence is in one"
        )
    return found


def texts_of(texts: pd.DataFrame, sentences: pd.DataFrame) -> list[Text]:
    """The texts as segmentations read them, with their sentences; sorted by document and author.

    Nothing of the right labels is in them.
    """
    spans: dict[tuple[str, str], list[Span]] = {}
    ordered = sentences.sort_values(["doc_id", "author", "position"])
    columns = ("doc_id", "author", "start", "end")
    for doc_id, author, start, end in zip(*(ordered[name] for name in columns), strict=True):
        spans.setdefault((doc_id, author), []).append(Span(start, end))
    written = zip(*(texts[name] for name in ("doc_id", "author", "text")), strict=True)
    found = []
    for doc_id, author, text in sorted(written):
        whole = Part(FULL, text, [Span(0, len(text))], OK)
        found.append(Text(TASK, whole, [], doc_id, author, sentences=spans[doc_id, author]))
    return found


def predict(
    texts: Sequence[Text], name: str, segmentation: Chosen, resources: Resources
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Divide the texts, and label each sentence by the part that covers more than half of it.

    Returns rows of SEGMENTED, and what their owner should know: lines without any text.
    A sentence that no part covers is `none`. Where the segmentation failed on a text, its sentences
    that no part covers have the failure's status and no label: unknown is not wrong.
    """
    block = segmentation.options.model_dump(mode="json", exclude_unset=True)
    recipe = printed({"kind": segmentation.kind} | block)
    divided: Divided = segmentation.record.divide(texts, segmentation.options, resources)
    rows = [
        (name, text.doc_id, text.author, place, *said, recipe)
        for text, parts in zip(texts, divided.parts, strict=True)
        for place, said in enumerate(_labels(text, parts))
    ]
    return pd.DataFrame(rows, columns=list(SEGMENTED.columns)), divided.notes


def _labels(text: Text, parts: Sequence[Part]) -> list[tuple[str, str | None]]:
    """The status and label of each sentence."""
    whole, failed = text.full.text or "", next((p.status for p in parts if p.status != OK), None)
    known = [(part.name, part.pieces) for part in parts if part.status == OK]
    found = [label_of(sentence, whole, known) for sentence in text.sentences or ()]
    return [(failed, None) if failed and label == records.NONE else (OK, label) for label in found]


def label_notes(segmentation: Chosen, right: Collection[str]) -> list[str]:
    """Where the facets that a segmentation may find are not the labels of the data."""
    facets = set(segmentation.record.facets(segmentation.options))
    unknown, never = sorted(facets - set(right)), sorted(set(right) - facets - {records.NONE})
    notes = []
    if unknown:
        notes.append(
            f"no sentence has the label {', '.join(unknown)}, which it may give: there it is wrong;"
            " options > labels can make labels of the data count as its facets"
        )
    if facets and never:
        notes.append(f"it never gives the label {', '.join(never)}, which sentences have")
    return notes
