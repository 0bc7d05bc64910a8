"""Check the rows of all readers: keys, and that ratings, texts and sources fit together."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from metassay.core.errors import shown
from metassay.core.options import Criterion
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.rows import Place, RatingRow, Rows, ScoreRow, SegmentRow
from metassay.text.citations import parse
from metassay.text.headings import SECTIONS
from metassay.text.sentences import sentences

_UNIT = re.compile(r"text|claim:\d+|statement:\d+|versus:(?P<other>.+)", re.ASCII)
# Possible citations: brackets with numbers and separators alone.
_BRACKETS = re.compile(r"\[([\d\s,;\u2010-\u2014-]+)\]", re.ASCII)
_NUMBER = re.compile(r"\d{1,6}", re.ASCII)


class _References(NamedTuple):
    """The documents, authors and parts to which ratings can refer."""

    documents: set[str]
    authors: set[str]
    written: set[tuple[str, str]]  # (doc_id, author)
    parts: set[tuple[str, str, str]]  # (doc_id, author, part)
    facets: set[str]  # the data's facets of any text
    texts: str  # the file of the texts


def check(rows: Rows, criteria: Mapping[str, Criterion]) -> None:
    """Record in `rows` every problem and warning of these kinds.

    Problems: a repeated key; a text whose document has no source; a rating of a missing
    document, author, part, claim or opponent; an undeclared criterion; a value outside
    its criterion's scale; a facet or a score of a missing text; a score that is not
    finite. Warning: an author without a text for some documents.
    """
    _check_keys(rows)
    known = _References(
        documents={source.doc_id for source in rows.sources},
        authors={text.author for text in rows.texts},
        written={(text.doc_id, text.author) for text in rows.texts},
        parts={(text.doc_id, text.author, text.part) for text in rows.texts},
        facets={segment.part for segment in rows.segments},
        texts=_file({row.at.file for row in rows.texts}, "the texts"),
    )
    sources = _file({row.at.file for row in rows.sources}, "the sources")
    for text in rows.texts if rows.sources and "sources" not in rows.unreadable else ():
        if text.doc_id not in known.documents:
            fix = "correct its doc_id or add its source"
            where = f"doc_id {shown(text.doc_id)}"
            rows.wrong(text.at, f"the document is not in {sources}", where, fix)
    if rows.texts:
        complete = "texts" not in rows.unreadable
        for rating in rows.ratings:
            _check_reference(rating, known, rows, complete=complete)
        for segment in rows.segments if complete else []:
            fix = "correct doc_id or author, or add the text"
            _check_text(segment, "a facet", fix, known, rows)
        for score in rows.scores:
            _check_text(
                score, "a score", "add the text or remove its scores", known, rows
            )
            if score.value is not None and not math.isfinite(score.value):
                what = f"{shown(score.metric)} is not a finite number"
                where = f"doc_id {shown(score.doc_id)}, author {shown(score.author)}"
                rows.wrong(score.at, what, where, "leave out what is undefined")
    for rating in rows.ratings:
        _check_value(rating, criteria, rows)
    if not rows.problems:
        _warn_of_absent_texts(rows, known)


def _check_keys(rows: Rows) -> None:
    beside_key = {"at", "value", "text", "status"}
    _check_unique(((row.at, {"doc_id": row.doc_id}) for row in rows.sources), rows)
    tables: list[Sequence[Any]] = [rows.texts, rows.segments, rows.ratings, rows.scores]
    for table in tables:
        keys = []
        for row in table:
            fields = row._asdict()
            keys.append((row.at, {n: fields[n] for n in fields if n not in beside_key}))
        _check_unique(keys, rows)


def _check_unique(keys: Iterable[tuple[Place, dict[str, str]]], rows: Rows) -> None:
    seen: dict[tuple[str, ...], Place] = {}
    for at, key in keys:
        earlier = seen.setdefault(tuple(key.values()), at)
        if earlier is at:
            continue
        named = ", ".join(f"{name} {shown(value)}" for name, value in key.items())
        file = "" if earlier.file == at.file else f"{earlier.file} "
        where = f"same as {file}{earlier.kind} {earlier.row}: {named}"
        rows.wrong(
            at,
            f"the key ({', '.join(key)}) occurs twice",
            where,
            "keep one of the two",
        )


def _check_reference(
    rating: RatingRow, known: _References, rows: Rows, *, complete: bool
) -> None:
    at = rating.at
    doc = rating.doc_id
    author = rating.author
    where = f"doc_id {shown(doc)}, author {shown(author)}"
    unit = _UNIT.fullmatch(rating.unit)
    if unit is None:
        fix = "write text, claim:N, statement:N or versus:AUTHOR"
        rows.wrong(at, f"unit {shown(rating.unit)} is not known", remedy=fix)
    other = unit["other"] if unit else None
    named = [author, other] if other else [author]
    for name in named:
        if name not in known.authors:
            what = f"system {shown(name)} is not in {known.texts}"
            rows.wrong(at, what, f"doc_id {shown(doc)}", "rename it or add its texts")
        elif complete and (doc, name) not in known.written:
            what = f"system {shown(name)} has no text for the document in {known.texts}"
            rows.wrong(at, what, where, "correct doc_id or author, or add the text")
    if other == author:
        rows.wrong(
            at, "the author is preferred to itself", where, "correct author or unit"
        )
    if not complete or (doc, author) not in known.written:
        return
    # Segmentation finds sections and facets later; without these there is nothing to
    # correlate.
    parts = (FULL, *SECTIONS, *known.facets)
    if rating.part not in parts and (doc, author, rating.part) not in known.parts:
        what = (
            f"part {shown(rating.part)} is not among the text's parts in {known.texts}"
        )
        rows.wrong(at, what, where, f"write {FULL}, or the part as it is in the texts")
    if rating.unit.startswith("claim:") and (doc, REFERENCE) not in known.written:
        what = f"a reference's claim is rated but the document has no {REFERENCE} in {known.texts}"
        rows.wrong(at, what, where, "add the reference or rate the text")


def _check_text(
    row: SegmentRow | ScoreRow, what: str, remedy: str, known: _References, rows: Rows
) -> None:
    if (row.doc_id, row.author) not in known.written:
        where = f"doc_id {shown(row.doc_id)}, author {shown(row.author)}"
        rows.wrong(
            row.at, f"{what} is of a text that is not in {known.texts}", where, remedy
        )


def _check_value(
    rating: RatingRow, criteria: Mapping[str, Criterion], rows: Rows
) -> None:
    criterion = criteria.get(rating.criterion)
    value = rating.value
    if criterion is None:
        fix = "declare it in benchmarks/<name>/params.yaml > criteria, or rename it"
        rows.wrong(
            rating.at,
            f"criterion {shown(rating.criterion)} is not declared",
            remedy=fix,
        )
    # NaN is outside the scale, too.
    elif value is not None and not criterion.low <= value <= criterion.high:
        scale = f"{criterion.low:g} to {criterion.high:g}"
        what = f"{shown(rating.criterion)} is outside its scale of {scale}"
        fix = "correct it, or the scale in benchmarks/<name>/params.yaml > criteria"
        rows.wrong(rating.at, what, f"value {value:g}", fix)


def _warn_of_absent_texts(rows: Rows, known: _References) -> None:
    files: dict[str, str] = {}
    for text in rows.texts:
        files.setdefault(text.author, text.at.file)
    for author in sorted(known.authors):
        absent = sorted(
            doc for doc in known.documents if (doc, author) not in known.written
        )
        if absent:
            n = f"{len(absent)} of {len(known.documents)} documents"
            fix = "if it failed on them, add rows with a status, so that they count"
            where = f"first: doc_id {shown(absent[0])}"
            rows.warnings.add(
                Place(files[author]), f"{shown(author)} has no text for {n}", fix, where
            )


def _file(places: set[str], otherwise: str) -> str:
    return next(iter(places)) if len(places) == 1 else otherwise


# ---- citations that lie past the last passage of their document --------------------------------


def check_citations(rows: Rows) -> None:
    """Find citations of passages that do not exist.

    In a reference they are a problem, which its writer must correct. In a system's
    text, where citations are measured, they are a warning, and count as wrong.
    """
    passages = {source.doc_id: len(source.passages) for source in rows.sources}
    for row in rows.texts:
        count = passages.get(row.doc_id, 0)
        # A missing source or text is another problem.
        beyond = _list_beyond(row.text, count) if row.text and count else []
        if not beyond:
            continue
        doc = f"doc_id {shown(row.doc_id)}"
        author = f"author {shown(row.author)}"
        where = f"{doc}, {author}: [{beyond[0]}] of {count} passages, counted from 0"
        if row.author == REFERENCE:
            what = "the reference cites a passage that does not exist"
            rows.wrong(row.at, what, where, "correct the citation or remove it")
        else:
            what = "a citation names a passage that does not exist"
            fix = "it counts as a wrong citation; correct it if the system did not write it so"
            rows.warnings.add(row.at, what, fix, where)


def _list_beyond(text: str, count: int) -> list[int]:
    """Return the cited numbers that are not below `count`, in order."""
    numbers = chain.from_iterable(map(_NUMBER.findall, _BRACKETS.findall(text)))
    if all(int(number) < count for number in numbers):
        return []  # most texts, which need no parsing
    cited: set[int] = set()
    for start, end in sentences(text):
        cited.update(parse(text[start:end]).citations)
    return sorted(number for number in cited if number >= count)
