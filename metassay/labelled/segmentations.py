"""Tests of segmentations: texts with labelled sentences, and the facets that are predicted."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import raise_problems, shown
from metassay.core.kinds import Chosen
from metassay.core.naming import name_problem
from metassay.core.options import recipe_text
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
    """Tables `texts` and `sentences` of a test, and warnings."""

    texts: pd.DataFrame
    sentences: pd.DataFrame
    warnings: tuple[str, ...]


def ingest_sentences(
    reader: str, raw: Path, options: SegmentTestOptions
) -> IngestedSentences:
    """Read raw files, select the test's texts, and check them.

    The reader may be one of a benchmark's rows if its dataset has facets. A sample has
    the texts whose key, hashed with the seed, comes first. Raises BadInput with all
    problems, each with file, row and remedy.
    """
    read = reader_of(reader, READERS if reader in READERS else SENTENCE_READERS)(raw)
    data = (
        split_texts(read)
        if isinstance(read, Rows)
        else check_type(read, records.Documents, reader)
    )
    _check_documents(data)
    _check_labels(data, options.labels)
    raise_problems(data.problems.lines())
    documents, sample = data.documents, options.sample
    if sample is not None:
        documents.sort(key=lambda d: records.hash_of(sample.seed, d.doc_id, d.author))
        documents = documents[: sample.items]
    recipe = f"given|reader:{reader}"
    texts = [(d.doc_id, d.author, FULL, d.text, "ok", recipe) for d in documents]
    rows = [
        (
            d.doc_id,
            d.author,
            place,
            *s.span,
            options.labels.get(s.label, s.label),
            s.confidence,
        )
        for d in documents
        for place, s in enumerate(d.sentences)
    ]
    return IngestedSentences(
        pd.DataFrame(texts, columns=list(TEXTS.columns)),
        pd.DataFrame(rows, columns=list(SENTENCES.columns)),
        (*data.warnings.lines(), *data.notes),
    )


def _check_documents(data: records.Documents) -> None:
    problems = data.problems
    if not data.documents and not problems:
        problems.add(records.DATASET, "has no labelled text", "name another dataset")
    keys: set[tuple[str, str]] = set()
    for document in data.documents:
        where, key = (
            f"document {shown(document.doc_id)}",
            (document.doc_id, document.author),
        )
        if not all(map(records.is_clean, key)):
            what = "a key is empty, has blanks at an end or does not print"
            problems.add(document.at, what, "clean it", where)
        if key in keys:
            problems.add(
                document.at,
                "the same document occurs twice",
                "give each its own id",
                where,
            )
        keys.add(key)
        if not document.sentences:
            problems.add(
                document.at, "has no sentence", "add its sentences, or remove it", where
            )
        for sentence in document.sentences:
            if remedy := name_problem(sentence.label):
                what = "a label cannot be a facet's name"
                problems.add(document.at, what, remedy, shown(sentence.label))


def _check_labels(data: records.Documents, counted_as: Mapping[str, str]) -> None:
    labels = {
        sentence.label for document in data.documents for sentence in document.sentences
    }
    for label in sorted(set(counted_as) - labels):
        if not data.problems:
            at, names = (
                Place("params.yaml > options > labels"),
                ", ".join(sorted(labels)),
            )
            what = "names a label that is not in the data"
            data.problems.add(at, what, f"there are: {names}", shown(label))
    if {counted_as.get(label, label) for label in labels} == {records.NONE}:
        what = "no sentence has a facet, so there is nothing to predict"
        data.problems.add(
            records.DATASET, what, "choose other labels, or another dataset"
        )


TASK = "abstract"  # of texts with labelled sentences


def label_of(
    sentence: Span, text: str, parts: Sequence[tuple[str, Sequence[Span]]]
) -> str:
    """Return the part that covers more than half of a sentence's characters, else `none`.

    `parts`: names, and spans of their pieces in the text. White space does not count.
    Of parts that overlap, the one that covers most of the sentence, and of equals the
    first.
    """
    characters = {at for at in range(*sentence) if not text[at].isspace()}
    label, largest = records.NONE, len(characters) / 2
    for name, pieces in parts:
        near = [
            range(a, b) for a, b in pieces if a < sentence.end and b > sentence.start
        ]
        covered = len(characters.intersection(itertools.chain(*near)))
        if covered > largest:
            label, largest = name, covered
    return label


def split_texts(rows: Rows) -> records.Documents:
    """Split the texts that have facets into sentences, each with the facet that it lies in.

    A facet's text is located in the text. A sentence that no facet covers by more than
    half is `none`, also where part of a facet was not found. Notes count these, and say
    how much of the texts all facets cover. Texts without facets are left out.
    """
    data = records.Documents(problems=rows.problems, warnings=rows.warnings)
    facets: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for row in rows.segments:
        facets[row.doc_id, row.author].append((row.part, row.text))
    totals, missing = Counter[str](), Counter[str]()
    for text in rows.texts:
        of_text = facets[text.doc_id, text.author]
        if text.part != FULL or text.text is None or not of_text:
            continue
        located: list[tuple[str, Sequence[Span]]] = []
        for facet, part in of_text:
            location = find_all(part, text.text)
            located.append((facet, [place.span for place in location.located]))
            totals[facet] += 1
            missing[facet] += bool(location.made_up)
        labelled = [
            records.Sentence(s, label_of(s, text.text, located))
            for s in sentences(text.text)
        ]
        data.documents.append(
            records.DocumentRow(text.at, text.doc_id, text.text, labelled, text.author)
        )
    lines = [
        f"{facet} {count:,} of {totals[facet]:,}"
        for facet, count in missing.items()
        if count
    ]
    if lines:
        what = "facets of the dataset that are not, or not wholly, in their texts"
        data.notes.append(f"{what}: {', '.join(lines)}")
    labels = [
        [sentence.label for sentence in of_text.sentences] for of_text in data.documents
    ]
    none, total = (
        sum(of_text.count(records.NONE) for of_text in labels),
        sum(map(len, labels)),
    )
    whole = sum(records.NONE not in of_text for of_text in labels)
    if none:
        data.notes.append(
            f"{none:,} of {total:,} sentences are in no facet of the dataset; of {whole:,} of"
            f" {len(labels):,} texts every sentence is in one"
        )
    return data


def texts_of(texts: pd.DataFrame, sentences: pd.DataFrame) -> list[Text]:
    """Return the texts for segmentations, with sentences but no labels, by document and author."""
    spans: dict[tuple[str, str], list[Span]] = {}
    ordered = sentences.sort_values(["doc_id", "author", "position"])
    columns = ("doc_id", "author", "start", "end")
    for doc_id, author, start, end in zip(
        *(ordered[name] for name in columns), strict=True
    ):
        spans.setdefault((doc_id, author), []).append(Span(start, end))
    rows = zip(*(texts[name] for name in ("doc_id", "author", "text")), strict=True)
    read = []
    for doc_id, author, text in sorted(rows):
        whole = Part(FULL, text, [Span(0, len(text))], OK)
        read.append(
            Text(TASK, whole, [], doc_id, author, sentences=spans[doc_id, author])
        )
    return read


def predict(
    texts: Sequence[Text], name: str, segmentation: Chosen, resources: Resources
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Divide the texts, and label each sentence by the part that covers more than half of it.

    Returns rows of SEGMENTED, and notes without any text. A sentence that no part
    covers is `none`. If the segmentation failed on a text, its sentences that no part
    covers have the failure's status and no label: unknown is not wrong.
    """
    block = segmentation.options.model_dump(mode="json", exclude_unset=True)
    recipe = recipe_text({"kind": segmentation.kind} | block)
    divided: Divided = segmentation.record.divide(
        texts, segmentation.options, resources
    )
    rows = [
        (name, text.doc_id, text.author, place, *prediction, recipe)
        for text, parts in zip(texts, divided.parts, strict=True)
        for place, prediction in enumerate(_labels(text, parts))
    ]
    return pd.DataFrame(rows, columns=list(SEGMENTED.columns)), divided.notes


def _labels(text: Text, parts: Sequence[Part]) -> list[tuple[str, str | None]]:
    """Return the status and label of each sentence."""
    whole, failed = (
        text.full.text or "",
        next((p.status for p in parts if p.status != OK), None),
    )
    parts_found = [(part.name, part.pieces) for part in parts if part.status == OK]
    labels = [
        label_of(sentence, whole, parts_found) for sentence in text.sentences or ()
    ]
    return [
        (failed, None) if failed and label == records.NONE else (OK, label)
        for label in labels
    ]


def label_notes(segmentation: Chosen, labels: Collection[str]) -> list[str]:
    """Say which facets of a segmentation are not labels of the data, and the reverse."""
    facets = set(segmentation.record.facets(segmentation.options))
    unknown, missing = (
        sorted(facets - set(labels)),
        sorted(set(labels) - facets - {records.NONE}),
    )
    notes = []
    if unknown:
        notes.append(
            f"no sentence has the label {', '.join(unknown)}, which it may give: there it is wrong;"
            " options > labels can make labels of the data count as its facets"
        )
    if facets and missing:
        notes.append(
            f"it never gives the label {', '.join(missing)}, which sentences have"
        )
    return notes
