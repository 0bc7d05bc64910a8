"""Read texts with people's counts of facts, phrases or errors, and score these.

The criteria are those of Ben Abacha et al. 2023, An investigation of evaluation metrics for
automated medical note generation. A folder has sources.jsonl and texts.jsonl as in the format of
own data, and one or more of the files ANNOTATIONS; docs/own-data.md shows them.
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
from metassay.datasets.own_data import Clean, Filled, Key, Line, validate_all
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
        if len({(f.subject, f.predicate, f.object) for f in self.facts}) < len(self.facts):
            raise PydanticCustomError("twice", f"holds a fact twice under 'facts'; {_ONCE}")
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
    return {**dict(zip(COUNTS, counts, strict=False)), **fact_scores(counts)}


# The scale of each criterion of `fact_ratings`: a count or a share.
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
    """Read the ratings of texts by each rater.

    fact_counts.csv and facts.jsonl give the criteria of `fact_ratings`; phrases.jsonl gives
    `hallucination_count` and `omission_count` (marked phrases per word, without citations);
    errors.csv gives `quality`. Unknown values are ratings without a value.
    """
    rows = own_data.read(folder, ANNOTATIONS)
    if not folder.is_dir():
        return rows
    names = [name for name in ANNOTATIONS if os.path.lexists(folder / name)]
    if not names:
        listed = ", ".join(ANNOTATIONS)
        rows.wrong(Place(str(folder)), "has no annotations", remedy=f"add one of {listed}; {_SEE}")
    texts = {(row.doc_id, row.author, row.part): row.text or "" for row in rows.texts}
    for name in names:
        for at, entry, values in ANNOTATIONS[name](folder / name, texts, rows):
            text = entry.study, entry.doc_id, entry.author, entry.part
            rows.rate(at, (*text, "text", entry.rater), values)
    return rows


def _fact_counts(path: Path, _: _Texts, rows: Rows) -> Iterator[_Ratings]:
    optional = {**_DEFAULTS, **dict.fromkeys(_IN_ALL, "")}
    for at, entry, numbers in _read_counts(path, _Counts, STATUSES, optional, _IN_ALL, rows):
        reference, system = (numbers[name] for name in _IN_ALL)
        correct, incorrect, hallucinated, omitted = (numbers[name] for name in STATUSES)
        counts = FactCounts(correct, incorrect, hallucinated, omitted, reference)
        if _add_up(at, entry, counts, system, rows):
            yield at, entry, fact_ratings(counts)


def _fact_lists(path: Path, _: _Texts, rows: Rows) -> Iterator[_Ratings]:
    for at, entry in _lines(path, _Facts, rows):
        counts = count_facts([fact.status for fact in entry.facts], entry.reference_facts)
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
    for at, entry, counts in _read_counts(path, _Errors, _ERRORS, _DEFAULTS, (), rows):
        authors = entry.author, REFERENCE
        both = [texts.get((entry.doc_id, author, entry.part)) for author in authors]
        lengths = [_n_sentences(text) for text in both if text]  # failed texts are empty
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
    return validate_all(json_lines(path, rows.problems, remedy=_SEE), model, rows.problems)


def _read_counts(
    path: Path,
    model: type[Line],
    required: Sequence[str],
    defaults: Mapping[str, str],
    optional: Sequence[str],
    rows: Rows,
) -> Iterator[tuple[Place, Line, dict[str, int | None]]]:
    """Yield the rows of a table, with the whole numbers in its columns of counts."""
    columns, values = (*_KEYS, *required), (*required, *optional)
    table = own_data.records(path, model, columns, defaults, _COUNT, rows, values)
    for at, entry, numbers in table:
        for name, number in numbers.items():
            if number is not None and (number < 0 or not number.is_integer()):
                rows.wrong(at, f"{name!r} is not a count", remedy=_COUNT)
                break
        else:
            yield at, entry, {n: None if x is None else int(x) for n, x in numbers.items()}


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
    at: Place, entry: _Annotation, name: str, text: str | None, spans: Sequence[_Span], rows: Rows
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
            fix = f"count characters of {whose} from 0; the end is the one after the last"
            rows.wrong(at, f"a phrase does not lie in {whose}", where, fix)
        elif span.text not in (None, text[span.start : span.end]):
            fix = "correct start and end, or text"
            rows.wrong(at, f"a phrase is not what {whose} has there", where, fix)
        elif (span.start, span.end) in seen:
            rows.wrong(at, "a phrase is marked twice", where, _ONCE)
        seen.add((span.start, span.end))


def _n_sentences(text: str) -> int:
    spans = (text[start:end] for start, end in sentences(text))
    return sum(any(map(str.isalnum, parse(sentence).text)) for sentence in spans)
