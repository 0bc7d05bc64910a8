"""Texts whose facts, key phrases or errors several people counted, and the scores made of those.

The criteria are those of Ben Abacha et al. 2023, An investigation of evaluation metrics for
automated medical note generation. A folder holds sources.jsonl and texts.jsonl as anybody's own
data have them, and one or more of the files ANNOTATIONS; docs/own-data.md shows them.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from metassay.core.errors import shown
from metassay.core.options import Criterion, Options
from metassay.datasets import own_data
from metassay.datasets.own_data import Clean, Filled, Key, Line, parsed
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
from metassay.tabular.decoding import json_lines
from metassay.tabular.rows import Place, Rows
from metassay.text.citations import parse, strip_citations
from metassay.text.sentences import sentences
from metassay.text.tokens import words

COUNTS = tuple(f"{status}_facts" for status in STATUSES)  # criteria
MOST_FACTS = 1000  # of a text

_SEE = "docs/own-data.md shows how it is written"
_COUNT = "write a whole number from 0, or nothing where nobody counted"
_ONCE = "keep one of the two"
_KEYS = ("doc_id", "author", "rater")
_DEFAULTS = {"part": FULL, "study": "facts"}
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


class _Counted(_Annotation):
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
        if len({(one.subject, one.predicate, one.object) for one in self.facts}) < len(self.facts):
            raise PydanticCustomError("twice", f"holds a fact twice under 'facts'; {_ONCE}")
        return self


class _Span(Options):
    start: _Count
    end: _Count
    text: Clean | None = None


class _Phrases(_Annotation):
    hallucinated: list[_Span]
    omitted: list[_Span]


# What one annotation gives one text: values by criterion.
_Rated = tuple[Place, _Annotation, Mapping[str, float | None]]


def fact_ratings(counts: FactCounts) -> dict[str, float | None]:
    """The four counts as criteria COUNTS, and `statistics.facts.fact_scores` of them."""
    return {**dict(zip(COUNTS, counts, strict=False)), **fact_scores(counts)}


# The scale of each of these: counts, and shares.
FACT_CRITERIA = {
    name: Criterion(
        low=0,
        high=MOST_FACTS if name in COUNTS else 1,
        better="higher" if name.startswith(("factual", "correct")) else "lower",
        scale="count" if name in COUNTS else "interval",
    )
    for name in fact_ratings(FactCounts(None, None, None, None))
}


def read(folder: Path) -> Rows:
    """Read the folder: ratings of texts by each rater.

    fact_counts.csv and facts.jsonl give the criteria of `fact_ratings`, phrases.jsonl
    `hallucination_count` and `omission_count` (marked phrases per word, citations left out),
    errors.csv `quality`. What is unknown is a rating without a value.
    """
    rows = own_data.read(folder, ANNOTATIONS)
    if not folder.is_dir():
        return rows
    there = [name for name in ANNOTATIONS if os.path.lexists(folder / name)]
    if not there:
        known = ", ".join(ANNOTATIONS)
        rows.wrong(Place(str(folder)), "has no annotations", remedy=f"add one of {known}; {_SEE}")
    texts = {(one.doc_id, one.author, one.part): one.text or "" for one in rows.texts}
    for name in there:
        for at, of, values in ANNOTATIONS[name](folder / name, texts, rows):
            key = of.study, of.doc_id, of.author, of.part, "text", of.rater
            rows.rate(at, key, values)
    return rows


def _fact_counts(path: Path, _: _Texts, rows: Rows) -> Iterator[_Rated]:
    optional = {**_DEFAULTS, **dict.fromkeys(_IN_ALL, "")}
    for at, of, found in _counted(path, _Counted, STATUSES, optional, _IN_ALL, rows):
        reference, system = (found[name] for name in _IN_ALL)
        correct, incorrect, hallucinated, omitted = (found[name] for name in STATUSES)
        counts = FactCounts(correct, incorrect, hallucinated, omitted, reference)
        if _add_up(at, of, counts, system, rows):
            yield at, of, fact_ratings(counts)


def _fact_lists(path: Path, _: _Texts, rows: Rows) -> Iterator[_Rated]:
    for at, of in _lines(path, _Facts, rows):
        counts = count_facts([one.status for one in of.facts], of.reference_facts)
        if _add_up(at, of, counts, None, rows):
            yield at, of, fact_ratings(counts)


def _phrases(path: Path, texts: _Texts, rows: Rows) -> Iterator[_Rated]:
    for at, of in _lines(path, _Phrases, rows):
        values = dict[str, float | None]()
        sides = ("hallucinated", of.author, of.hallucinated), ("omitted", REFERENCE, of.omitted)
        for name, author, spans in sides:
            text = texts.get((of.doc_id, author, of.part))
            _check_spans(at, of, name, text, spans, rows)
            n_words = len(words(strip_citations(text or "")))
            values[_PHRASES[name]] = phrases_per_word(len(spans), n_words)
        yield at, of, values


def _errors(path: Path, texts: _Texts, rows: Rows) -> Iterator[_Rated]:
    for at, of, found in _counted(path, _Errors, _ERRORS, _DEFAULTS, (), rows):
        both = [texts.get((of.doc_id, author, of.part)) for author in (of.author, REFERENCE)]
        lengths = [_n_sentences(text) for text in both if text]  # a text that failed is none
        critical, non_critical, spelling = (found[name] for name in _ERRORS)
        known = len(lengths) == 2
        value = quality(critical, non_critical, spelling, *lengths) if known else None
        yield at, of, {"quality": value}


ANNOTATIONS: Mapping[str, Callable[[Path, _Texts, Rows], Iterator[_Rated]]] = {
    "fact_counts.csv": _fact_counts,
    "facts.jsonl": _fact_lists,
    "phrases.jsonl": _phrases,
    "errors.csv": _errors,
}


def _lines(path: Path, model: type[Line], rows: Rows) -> Iterator[tuple[Place, Line]]:
    return parsed(json_lines(path, rows.problems, remedy=_SEE), model, rows.problems)


def _counted(
    path: Path,
    model: type[Line],
    required: Sequence[str],
    defaults: Mapping[str, str],
    optional: Sequence[str],
    rows: Rows,
) -> Iterator[tuple[Place, Line, dict[str, int | None]]]:
    """The rows of a table, and the whole numbers in its columns of counts."""
    columns, every = (*_KEYS, *required), (*required, *optional)
    for at, of, numbers in own_data.records(path, model, columns, defaults, _COUNT, rows, every):
        for name, number in numbers.items():
            if number is not None and (number < 0 or not number.is_integer()):
                rows.wrong(at, f"{name!r} is not a count", remedy=_COUNT)
                break
        else:
            yield at, of, {n: None if one is None else int(one) for n, one in numbers.items()}


def _add_up(at: Place, of: _Annotation, counts: FactCounts, system: int | None, rows: Rows) -> bool:
    fault = count_contradiction(counts, system)
    if fault is not None:
        where = f"doc_id {shown(of.doc_id)}, author {shown(of.author)}, rater {shown(of.rater)}"
        rows.wrong(at, fault, where, "count again, or leave out what nobody counted")
    return fault is None


def _check_spans(
    at: Place, of: _Annotation, name: str, text: str | None, spans: Sequence[_Span], rows: Rows
) -> None:
    whose = "the reference" if name == "omitted" else "the text"
    doc = f"doc_id {shown(of.doc_id)}"
    if text is None:  # that the text itself is not there is said of its ratings
        if name == "omitted" and spans and "texts" not in rows.unreadable:
            what = "phrases are omitted, but the reference is not in texts.jsonl"
            rows.wrong(at, what, doc, "add it, or correct doc_id or part")
        return
    seen = set[tuple[int, int]]()
    for number, span in enumerate(spans):
        where = f"{doc}, author {shown(of.author)}, {name} {number}"
        if not span.start < span.end <= len(text):
            fix = f"count characters of {whose} from 0; the end is the one after the last"
            rows.wrong(at, f"a phrase does not lie in {whose}", where, fix)
        elif span.text not in (None, text[span.start : span.end]):
            fix = "correct start and end, or text"
            rows.wrong(at, f"a phrase is not what {whose} has there", where, fix)
        elif (span.start, span.end) in seen:
            rows.wrong(at, "a phrase is marked twice", where, _ONCE)
        seen.add((span.start, span.end))


def _n_sentences(text: str) -> int:
    found = (text[start:end] for start, end in sentences(text))
    return sum(any(map(str.isalnum, parse(one).text)) for one in found)
