"""Read texts with people's annotations: counts of facts, phrases or errors, and labels of elements.

Facts, phrases and errors are those of Ben Abacha et al. 2023, An investigation of
evaluation metrics for automated medical note generation; elements those of Adams et al.
2023, A meta-evaluation of faithfulness metrics for long-form hospital-course
summarization. docs/datasets.md shows the files of both.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from metassay.core.errors import shown
from metassay.core.options import Criterion, Options
from metassay.datasets import own_data
from metassay.datasets.own_data import Clean, Filled, Key, Line, validate, validate_all
from metassay.statistics.facts import (
    STATUSES,
    FactCounts,
    count_contradiction,
    count_facts,
    fact_scores,
    phrases_per_word,
    quality,
)
from metassay.tables.names import FULL, REFERENCE
from metassay.tables.ratings import STATEMENT_UNIT
from metassay.tabular.decoding import UNREAD, json_lines, warn_unread
from metassay.tabular.rows import Place, Rows, TextRow
from metassay.text.citations import parse, strip_citations
from metassay.text.sentences import sentences
from metassay.text.tokens import words

VERSION = 2  # raised by whoever changes results of this module's kinds

COUNTS = tuple(f"{status}_facts" for status in STATUSES)  # criteria
MOST_FACTS = 1000  # of a text

_SEE = "docs/datasets.md shows how it is written"
_COUNT = "write a whole number from 0, or nothing where nobody counted"
_ONCE = "keep one of the two"
_ERRORS = ("critical", "non_critical", "spelling")
_PHRASES = {"hallucinated": "hallucination_count", "omitted": "omission_count"}
_IN_ALL = ("reference_facts", "system_facts")

_Texts = Mapping[tuple[str, str, str], str]  # by doc_id, author and part
_Count = Annotated[int, Field(ge=0)]


class _Annotation(Options):
    doc_id: Key
    author: Key
    rater: Key
    part: Key = FULL
    study: Key = "facts"


class _Counts(_Annotation):
    correct: str
    incorrect: str
    hallucinated: str
    omitted: str
    reference_facts: str = ""
    system_facts: str = ""


class _Errors(_Annotation):
    critical: str
    non_critical: str
    spelling: str


class _Fact(Options):
    subject: Filled
    predicate: Filled
    object: Clean
    status: Literal["correct", "incorrect", "hallucinated", "omitted"] | None


class _Facts(_Annotation):
    facts: list[_Fact]
    reference_facts: _Count | None = None

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len({(f.subject, f.predicate, f.object) for f in self.facts}) < len(
            self.facts
        ):
            raise PydanticCustomError(
                "twice", f"holds a fact twice under 'facts'; {_ONCE}"
            )
        return self


class _Span(Options):
    start: _Count
    end: _Count
    text: Clean | None = None


class _Phrases(_Annotation):
    hallucinated: list[_Span]
    omitted: list[_Span]


# What an annotation gives a text: values by criterion.
_Ratings = tuple[Place, _Annotation, Mapping[str, float | None]]


def fact_ratings(counts: FactCounts) -> dict[str, float | None]:
    """Return the four counts as criteria COUNTS, and their `statistics.facts.fact_scores`."""
    ratings = dict(zip(COUNTS, counts[: len(COUNTS)], strict=True))
    return {**ratings, **fact_scores(counts)}


# The scale of each criterion of `fact_ratings`: a count or a share.
FACT_CRITERIA = {
    name: Criterion(
        low=0,
        high=MOST_FACTS if name in COUNTS else 1,
        better="higher" if name.startswith(("factual", "correct")) else "lower",
        scale="count" if name in COUNTS else "interval",
    )
    for name in fact_ratings(
        FactCounts(correct=None, incorrect=None, hallucinated=None, omitted=None)
    )
}


def read_fact_annotations(folder: Path) -> Rows:
    """Read the ratings of texts by each rater: own data, and one or more of ANNOTATIONS.

    fact_counts.csv and facts.jsonl give the criteria of `fact_ratings`; phrases.jsonl
    gives `hallucination_count` and `omission_count` (marked phrases per word, without
    citations); errors.csv gives `quality`. Unknown values are ratings without a value.
    """
    rows = own_data.read(folder, ANNOTATIONS)
    if not folder.is_dir():
        return rows
    names = [name for name in ANNOTATIONS if os.path.lexists(folder / name)]
    if not names:
        listed = ", ".join(ANNOTATIONS)
        rows.wrong(
            Place(str(folder)),
            "has no annotations",
            remedy=f"add one of {listed}; {_SEE}",
        )
    texts = {(row.doc_id, row.author, row.part): row.text or "" for row in rows.texts}
    for name in names:
        for at, entry, values in ANNOTATIONS[name](folder / name, texts, rows):
            text = entry.study, entry.doc_id, entry.author, entry.part
            rows.rate(at, (*text, "text", entry.rater), values)
    return rows


def _fact_counts(path: Path, _: _Texts, rows: Rows) -> Iterator[_Ratings]:
    for at, entry, numbers in _read_counts(path, _Counts, (*STATUSES, *_IN_ALL), rows):
        reference, system = (numbers[name] for name in _IN_ALL)
        correct, incorrect, hallucinated, omitted = (numbers[name] for name in STATUSES)
        counts = FactCounts(
            correct=correct,
            incorrect=incorrect,
            hallucinated=hallucinated,
            omitted=omitted,
            reference=reference,
        )
        if _add_up(at, entry, counts, system, rows):
            yield at, entry, fact_ratings(counts)


def _fact_lists(path: Path, _: _Texts, rows: Rows) -> Iterator[_Ratings]:
    for at, entry in _lines(path, _Facts, rows):
        counts = count_facts(
            [fact.status for fact in entry.facts], entry.reference_facts
        )
        if _add_up(at, entry, counts, None, rows):
            yield at, entry, fact_ratings(counts)


def _phrases(path: Path, texts: _Texts, rows: Rows) -> Iterator[_Ratings]:
    for at, entry in _lines(path, _Phrases, rows):
        values = dict[str, float | None]()
        for name, author in (("hallucinated", entry.author), ("omitted", REFERENCE)):
            spans = getattr(entry, name)
            text = texts.get((entry.doc_id, author, entry.part))
            _check_spans(at, entry, name, text, spans, rows)
            n_words = len(words(strip_citations(text or "")))
            values[_PHRASES[name]] = phrases_per_word(len(spans), n_words)
        yield at, entry, values


def _errors(path: Path, texts: _Texts, rows: Rows) -> Iterator[_Ratings]:
    for at, entry, counts in _read_counts(path, _Errors, _ERRORS, rows):
        authors = entry.author, REFERENCE
        both = [texts.get((entry.doc_id, author, entry.part)) for author in authors]
        # failed texts are empty
        lengths = [len(_statements(text)) for text in both if text]
        critical, non_critical, spelling = (counts[name] for name in _ERRORS)
        known = len(lengths) == 2
        value = quality(critical, non_critical, spelling, *lengths) if known else None
        yield at, entry, {"quality": value}


ANNOTATIONS: Mapping[str, Callable[[Path, _Texts, Rows], Iterator[_Ratings]]] = {
    "fact_counts.csv": _fact_counts,
    "facts.jsonl": _fact_lists,
    "phrases.jsonl": _phrases,
    "errors.csv": _errors,
}


def _lines(path: Path, model: type[Line], rows: Rows) -> Iterator[tuple[Place, Line]]:
    return validate_all(
        json_lines(path, rows.problems, remedy=_SEE), model, rows.problems
    )


def _read_counts(
    path: Path, model: type[Line], names: Sequence[str], rows: Rows
) -> Iterator[tuple[Place, Line, dict[str, int | None]]]:
    """Yield the rows of a table, with the whole numbers in its columns of counts."""
    for at, entry, numbers in own_data.records(path, model, _COUNT, rows, names):
        for name, number in numbers.items():
            if number is not None and (number < 0 or not number.is_integer()):
                rows.wrong(at, f"{name!r} is not a count", remedy=_COUNT)
                break
        else:
            yield (
                at,
                entry,
                {n: None if x is None else int(x) for n, x in numbers.items()},
            )


def _add_up(
    at: Place, entry: _Annotation, counts: FactCounts, system: int | None, rows: Rows
) -> bool:
    fault = count_contradiction(counts, system)
    if fault is not None:
        doc_id, author, rater = map(shown, (entry.doc_id, entry.author, entry.rater))
        where = f"doc_id {doc_id}, author {author}, rater {rater}"
        rows.wrong(at, fault, where, "count again, or leave out what nobody counted")
    return fault is None


def _check_spans(
    at: Place,
    entry: _Annotation,
    name: str,
    text: str | None,
    spans: Sequence[_Span],
    rows: Rows,
) -> None:
    whose = "the reference" if name == "omitted" else "the text"
    doc = f"doc_id {shown(entry.doc_id)}"
    if text is None:  # the text's own absence is a problem of its ratings
        if name == "omitted" and spans and "texts" not in rows.unreadable:
            what = "phrases are omitted, but the reference is not in texts.jsonl"
            rows.wrong(at, what, doc, "add it, or correct doc_id or part")
        return
    seen = set[tuple[int, int]]()
    for number, span in enumerate(spans):
        where = f"{doc}, author {shown(entry.author)}, {name} {number}"
        if not span.start < span.end <= len(text):
            fix = (
                f"count characters of {whose} from 0; the end is the one after the last"
            )
            rows.wrong(at, f"a phrase does not lie in {whose}", where, fix)
        elif span.text not in (None, text[span.start : span.end]):
            fix = "correct start and end, or text"
            rows.wrong(at, f"a phrase is not what {whose} has there", where, fix)
        elif (span.start, span.end) in seen:
            rows.wrong(at, "a phrase is marked twice", where, _ONCE)
        seen.add((span.start, span.end))


def _statements(text: str) -> list[str]:
    """Return the sentences of a text that have words beside their citations."""
    whole = (text[start:end] for start, end in sentences(text))
    return [
        sentence for sentence in whole if any(map(str.isalnum, parse(sentence).text))
    ]


# ---- labels of each sentence's elements: errors and their severity

SUMMARIES = "summaries.jsonl"
LABELS = "labels.jsonl"
CATEGORIES = ("incorrect", "missing", "not_in_notes")
SHARES = ("error", *CATEGORIES, "critical")

_DIVIDE = "divide the text as docs/datasets.md says, and count its sentences again"


class _Summary(Options):
    doc_id: Key
    author: Key
    sentences: Annotated[list[Filled], Field(min_length=1)]


class _Element(Options):
    label: Literal["correct", "incorrect", "missing", "not_in_notes"] | None
    severity: Literal["minor", "critical"] | None = None
    text: Clean = ""

    @model_validator(mode="after")
    def _severity_fits(self) -> Self:
        if (self.severity is not None) != (self.label in CATEGORIES):
            what = "hold a severity that does not fit; write minor or critical at errors alone"
            raise PydanticCustomError("severity", what)
        return self


class _Labels(Options):
    doc_id: Key
    author: Key
    sentence: Annotated[int, Field(ge=0)]
    rater: Key
    elements: list[_Element]
    study: Key = "elements"


def label_shares(labels: Sequence[tuple[str, bool] | None]) -> dict[str, float | None]:
    """Return the shares of a sentence's elements by SHARES, 0 to 1, lower is better.

    `labels`: for each element `correct` or one of CATEGORIES, and whether it is
    critical; None without a label. `error` is any category, `critical` a critical error
    of any category. All are None if there is no element, or one without a label: an
    unknown share is not a small one.

    Example: correct, incorrect (critical), missing (minor), correct: error .5,
    incorrect .25, missing .25, not_in_notes 0, critical .25.
    """
    known = [label for label in labels if label is not None]
    if not labels or len(known) < len(labels):
        return dict.fromkeys(SHARES)
    by_label = Counter(label for label, _ in known)
    counts = {name: by_label[name] for name in CATEGORIES}
    counts["error"] = sum(counts.values())
    counts["critical"] = sum(critical for _, critical in known)
    return {name: counts[name] / len(known) for name in SHARES}


def read_element_labels(folder: Path) -> Rows:
    """Read the three files: ratings by the criteria SHARES of each unit `statement:N` and rater.

    A text is its sentences, a line each. They must be the statements that Metassay
    finds in it; then sentence N, counted from 0, is statement N. The rating of a text
    is the mean over its sentences (meta_evaluation.study.human_scores).
    """
    rows = Rows()
    if not folder.is_dir():
        rows.wrong(Place(str(folder)), "is not a folder", remedy=f"create it; {_SEE}")
        return rows
    own_data.read_sources(folder / own_data.SOURCES_FILE, rows)
    lengths: dict[tuple[str, str], int] = {}
    for at, value in json_lines(folder / SUMMARIES, rows.problems, remedy=_SEE):
        summary = (
            None if value is UNREAD else validate(_Summary, value, at, rows.problems)
        )
        if summary is None:
            rows.unreadable.add("texts")
            continue
        text = "\n".join(summary.sentences)
        statements = _statements(text)
        if statements != summary.sentences:
            same = [a == b for a, b in zip(statements, summary.sentences, strict=False)]
            doc_id = shown(summary.doc_id)
            author = shown(summary.author)
            where = f"doc_id {doc_id}, author {author}, sentence {(*same, False).index(False)}"
            rows.wrong(
                at, "the sentences are not those that Metassay finds", where, _DIVIDE
            )
        lengths[summary.doc_id, summary.author] = len(summary.sentences)
        rows.texts.append(
            TextRow(
                at=at,
                doc_id=summary.doc_id,
                author=summary.author,
                part=FULL,
                text=text,
            )
        )
    _read_labels(folder / LABELS, lengths, rows)
    warn_unread(folder, {own_data.SOURCES_FILE, SUMMARIES, LABELS}, rows.warnings)
    return rows


def _read_labels(path: Path, lengths: dict[tuple[str, str], int], rows: Rows) -> None:
    seen = set[tuple[object, ...]]()
    lines = json_lines(path, rows.problems, remedy=_SEE)
    for at, line in validate_all(lines, _Labels, rows.problems):
        unit = f"{STATEMENT_UNIT}{line.sentence}"
        key = (line.study, line.doc_id, line.author, FULL, unit, line.rater)
        doc_id = shown(line.doc_id)
        author = shown(line.author)
        where = f"doc_id {doc_id}, author {author}, sentence {line.sentence}"
        if key in seen:
            what = "a rater has labelled the sentence before"
            fix = "put its elements into one line"
            rows.wrong(at, what, f"{where}, rater {shown(line.rater)}", fix)
            continue
        seen.add(key)
        if line.sentence >= lengths.get((line.doc_id, line.author), line.sentence + 1):
            fix = "count sentences from 0, or correct doc_id or author"
            rows.wrong(at, "the text has no such sentence", where, fix)
        labels = [
            None
            if element.label is None
            else (element.label, element.severity == "critical")
            for element in line.elements
        ]
        rows.rate(at, key, label_shares(labels))
