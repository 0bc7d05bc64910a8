"""Tests of segmentations: texts with labelled sentences, and which facet one says each is of."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.core.kinds import Chosen
from metassay.core.naming import name_problem
from metassay.core.options import printed
from metassay.datasets.readers import READERS, SENTENCE_READERS, reader_of, returned
from metassay.labelled import records
from metassay.labelled.types import SegmentTestOptions
from metassay.llm.needs import Resources
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import generator
from metassay.statistics import classification, shares
from metassay.statistics.exact_sums import Array, Mask
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES
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
    found = of_rows(read) if isinstance(read, Rows) else returned(read, records.Documents, reader)
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


# Segmentations beside right labels: scores of all sentences, of each label, and by place.


ALL = "all"
PLACES = ("first third", "middle third", "last third")
_KEY = ["doc_id", "author"]

Row = dict[str, Any]


class Results(NamedTuple):
    """Tables `segment_scores` and `confusions`, and what their owner should know."""

    scores: pd.DataFrame
    confusions: pd.DataFrame
    notes: list[str]


class _Beside(NamedTuple):
    """One segmentation's labels beside the right ones; arrays are (sentences,)."""

    segmentation: str
    labels: list[str]  # every label that is right or given, in order; codes are places in it
    right: NDArray[np.intp]
    given: NDArray[np.intp]  # -1 where it failed
    document: NDArray[np.intp]
    documents: int


def examine(sentences: pd.DataFrame, segmented: pd.DataFrame, options: MetaOptions) -> Results:
    """Hold the labels of each segmentation (SEGMENTED) against SENTENCES.

    Sentences on which it failed are left out, and counted; `accuracy_at_least` and
    `accuracy_at_most` take all of them for wrong, or for right. Intervals resample documents, the
    same ones for every segmentation, so that they differ by the segmentations alone.
    """
    groups = dict(_groups(sentences))
    scores: list[Row] = []
    cells: list[Row] = []
    notes: list[str] = []
    by_name = segmented.groupby("segmentation", sort=True)
    everyone = [_beside(str(name), sentences, theirs) for name, theirs in by_name]
    for one in everyone:
        failed = int(np.count_nonzero(one.given < 0))
        many = f"{failed:,} of {len(one.given):,} sentences have no label, because it failed"
        said = "scores are given without them, and accuracy in bounds with them"
        notes += [f"{one.segmentation}: {many}: {said}"] if failed else []
        for (of, group), rows in groups.items():
            scores += _scores(one, of, group, rows, options)
        for other in everyone:
            if other is not one:
                scores += _above(one, other, options)
        cells += _cells(one)
    made = pd.DataFrame(scores, columns=list(SEGMENT_SCORES.columns))
    return Results(made, pd.DataFrame(cells, columns=list(CONFUSIONS.columns)), notes)


def _beside(name: str, sentences: pd.DataFrame, theirs: pd.DataFrame) -> _Beside:
    rows = sentences.merge(theirs, on=[*_KEY, "position"], suffixes=("", "_given"))
    if len(rows) < len(sentences):
        raise BadInput(
            f"segmented: {name} says nothing of {len(sentences) - len(rows):,} sentences; run it"
            " again"
        )
    right, given = records.names_of(rows["label"]), records.names_of(rows["label_given"])
    labels = [*sorted({*right, *given} - {None, records.NONE}), records.NONE]
    code = {label: place for place, label in enumerate(labels)}
    # What several authors wrote of one document is alike, too.
    document, documents = pd.factorize(rows["doc_id"], sort=True)
    return _Beside(
        name,
        labels,
        np.array([code[label] for label in right], dtype=np.intp),
        np.array([-1 if label is None else code[label] for label in given], dtype=np.intp),
        document.astype(np.intp),
        len(documents),
    )


def _groups(sentences: pd.DataFrame) -> Iterator[tuple[tuple[str, str], Mask]]:
    """All sentences; each third of texts; those of whose label people were less or more sure."""
    yield (ALL, ALL), np.ones(len(sentences), dtype=np.bool_)
    last = sentences.groupby(_KEY)["position"].transform("max")
    # The middle of a sentence's share of its text: a text of three sentences has one in each third.
    third = np.floor(np.asarray(3 * (sentences["position"] + 0.5) / (last + 1)))
    for place, name in enumerate(PLACES):
        if (third == place).any():
            yield ("place", name), third == place
    sure = sentences["confidence"].to_numpy(dtype=np.float64)
    if np.isfinite(sure).any():
        median = np.nanmedian(sure)
        for name, rows in (("lower", sure < median), ("higher", sure >= median)):
            if rows.any():
                yield ("confidence", name), rows


def _scores(one: _Beside, of: str, group: str, rows: Mask, options: MetaOptions) -> Iterator[Row]:
    """The numbers of some sentences; of all of them also those of each label."""
    answered = rows & (one.given >= 0)
    tables = _tables(one, answered)
    missing = np.bincount(one.document[rows & ~answered], minlength=one.documents)
    # A document that is drawn brings its table, and its sentences on which the segmentation failed.
    both = np.concatenate([tables.reshape(one.documents, -1), missing[:, None]], axis=1)
    rng = generator(options.seed, "segmentation", of, group)
    drawn = classification.resampled_tables(both, n=options.resamples, rng=rng)
    table, many = tables.sum(axis=0), drawn[:, :-1].reshape(-1, *tables.shape[1:])
    failed, many_failed = float(missing.sum()), drawn[:, -1]

    def row(of: str, name: str, statistic: str, value: float, values: Array) -> Row:
        key = {"of": of, "name": name, "statistic": statistic}
        counts = {"n": int(table.sum()), "n_failed": int(failed)}
        return key | counts | _interval(one, rows, value, values, options)

    for statistic, number in classification.OF_ALL.items():
        if of == ALL or statistic == "accuracy":
            yield row(of, group, statistic, float(number(table)), number(many))
    if of != ALL:
        return
    for statistic, share in _WITH_FAILED.items():
        made = row(of, group, statistic, float(share(table, failed)), share(many, many_failed))
        yield made | {"n": int(table.sum() + failed)}
    for statistic, number in classification.OF_LABEL.items():
        of_label, drawn_of_label = number(table), number(many)
        for place in _used(table):
            values = drawn_of_label[:, place]
            made = row("label", one.labels[place], statistic, float(of_label[place]), values)
            yield made | {"n": int(table[place].sum())}


def _above(one: _Beside, other: _Beside, options: MetaOptions) -> Iterator[Row]:
    """By how much one is above the other, on the sentences that both labelled.

    They are drawn together: on hard documents both do badly, which says nothing of which is better.
    """
    both = (one.given >= 0) & (other.given >= 0)
    ours, theirs = _tables(one, both), _tables(other, both)
    flat = [tables.reshape(one.documents, -1) for tables in (ours, theirs)]
    rng = generator(options.seed, "segmentation", ALL, ALL)
    joined = np.concatenate(flat, axis=1)
    drawn = classification.resampled_tables(joined, n=options.resamples, rng=rng)
    first, second = np.split(drawn, [flat[0].shape[1]], axis=1)
    counts = {"n": int(np.count_nonzero(both)), "n_failed": int(np.count_nonzero(~both))}
    for statistic in ("accuracy", "macro_f1"):
        number = classification.OF_ALL[statistic]
        value = float(number(ours.sum(axis=0)) - number(theirs.sum(axis=0)))
        values = number(first.reshape(-1, *ours.shape[1:]))
        values = values - number(second.reshape(-1, *theirs.shape[1:]))
        key = {"of": "above", "name": other.segmentation, "statistic": statistic}
        yield key | counts | _interval(one, both, value, values, options)


def _interval(one: _Beside, rows: Mask, value: float, values: Array, options: MetaOptions) -> Row:
    documents = len(set(one.document[rows]))
    ends = shares.ends(values, value, confidence=options.confidence)
    low, high = ends if documents > 1 else (np.nan, np.nan)
    found = {"segmentation": one.segmentation, "n_documents": documents}
    return found | {"value": value, "low": low, "high": high}


def _used(table: Array) -> list[int]:
    """Labels that are right for some sentence, or given to one."""
    found: list[int] = np.flatnonzero(table.any(axis=0) | table.any(axis=1)).tolist()
    return found


_WITH_FAILED = {
    "failed": classification.failed,
    "accuracy_at_least": classification.accuracy_at_least,
    "accuracy_at_most": classification.accuracy_at_most,
}


def _tables(one: _Beside, rows: Mask) -> Array:
    return classification.tables(
        one.right[rows],
        one.given[rows],
        one.document[rows],
        labels=len(one.labels),
        documents=one.documents,
    )


def _cells(one: _Beside) -> Iterator[Row]:
    table = _tables(one, one.given >= 0).sum(axis=0)
    used = _used(table)
    for x in used:
        for y in used:
            names = {"label": one.labels[x], "given": one.labels[y]}
            yield {"segmentation": one.segmentation, **names, "n": int(table[x, y])}
