"""The checks common to all readers: keys, and that ratings, texts and sources fit together."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from metassay.core.confusables import finder, spelt
from metassay.core.errors import shown
from metassay.core.options import Criterion
from metassay.datasets.look_alikes import warn_of_look_alikes
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.rows import Findings, Place, RatingRow, Rows, ScoreRow, SegmentRow
from metassay.text.headings import SECTIONS

_UNIT = re.compile(r"text|claim:\d+|statement:\d+|versus:(?P<other>.+)", re.ASCII)


class _Known(NamedTuple):
    """What ratings may refer to."""

    documents: set[str]
    authors: set[str]
    written: set[tuple[str, str]]  # (doc_id, author)
    parts: set[tuple[str, str, str]]  # (doc_id, author, part)
    facets: set[str]  # those of any text that come with the data
    like_document: Callable[[str], str | None]  # the name that another one looks like
    like_author: Callable[[str], str | None]


def check(rows: Rows, criteria: Mapping[str, Criterion]) -> None:
    """Record in `rows` every problem and warning of these kinds.

    Problems: a key that is there twice; a text whose document has no source; a rating of a
    document, author, part, claim or opponent that is not there; a criterion that is not declared;
    a value outside its criterion's scale; a facet or a score of a text that is not there; a score
    that is not finite. Warnings: an author without a text for some documents; keys that look alike.
    """
    _check_keys(rows)
    documents = {source.doc_id for source in rows.sources}
    authors = {text.author for text in rows.texts}
    known = _Known(
        documents,
        authors,
        {(text.doc_id, text.author) for text in rows.texts},
        {(text.doc_id, text.author, text.part) for text in rows.texts},
        {segment.part for segment in rows.segments},
        finder(documents),
        finder(authors),
    )
    sources = _file({row.at.file for row in rows.sources}, "the sources")
    texts = _file({row.at.file for row in rows.texts}, "the texts")
    if rows.sources and "sources" not in rows.unreadable:
        for text in rows.texts:
            if text.doc_id not in known.documents:
                fix = "correct its doc_id or add its source"
                what = f"the document is not in {sources}"
                where = f"doc_id {shown(text.doc_id)}{_meant(text.doc_id, known.like_document)}"
                rows.problems.add(text.at, what, fix, where)
    if rows.texts:
        complete = "texts" not in rows.unreadable
        for rating in rows.ratings:
            _check_reference(rating, known, texts, complete, rows.problems)
        for segment in rows.segments if complete else []:
            _check_segment(segment, known, texts, rows.problems)
    for score in rows.scores:
        _check_score(score, known, texts, rows.problems)
    for rating in rows.ratings:
        _check_value(rating, criteria, rows.problems)
    if not rows.problems:
        _warn_of_absent_texts(rows, known)
        warn_of_look_alikes(rows)


def _check_keys(rows: Rows) -> None:
    _check_unique(((row.at, {"doc_id": row.doc_id}) for row in rows.sources), rows.problems)
    for written in (rows.texts, rows.segments):
        _check_unique(
            (
                (row.at, {"doc_id": row.doc_id, "author": row.author, "part": row.part})
                for row in written
            ),
            rows.problems,
        )
    for valued in (rows.ratings, rows.scores):
        _check_unique(
            (
                (row.at, {n: v for n, v in row._asdict().items() if n not in {"at", "value"}})
                for row in valued
            ),
            rows.problems,
        )


def _check_unique(rows: Iterable[tuple[Place, dict[str, str]]], problems: Findings) -> None:
    seen: dict[tuple[str, ...], Place] = {}
    for at, key in rows:
        earlier = seen.setdefault(tuple(key.values()), at)
        if earlier is at:
            continue
        named = ", ".join(f"{name} {shown(value)}" for name, value in key.items())
        where = f"{earlier.kind} {earlier.row}"
        where = where if earlier.file == at.file else f"{earlier.file} {where}"
        what = f"the key ({', '.join(key)}) is there twice"
        problems.add(at, what, "keep one of the two", f"same as {where}: {named}")


def _check_reference(
    rating: RatingRow, known: _Known, texts: str, complete: bool, problems: Findings
) -> None:
    at, doc, author = rating.at, rating.doc_id, rating.author
    where = f"doc_id {shown(doc)}, author {shown(author)}"
    unit = _UNIT.fullmatch(rating.unit)
    if unit is None:
        what = f"unit {shown(rating.unit)} is not known"
        problems.add(at, what, "write text, claim:N, statement:N or versus:AUTHOR")
    other = unit["other"] if unit else None
    for name in (author, *([other] if other else [])):
        if name not in known.authors:
            what = f"system {shown(name)}{_meant(name, known.like_author)} is not in {texts}"
            problems.add(at, what, "rename it or add its texts", f"doc_id {shown(doc)}")
        elif complete and (doc, name) not in known.written:
            what = f"system {shown(name)} has no text for the document in {texts}"
            like = _meant(doc, known.like_document) if doc not in known.documents else ""
            problems.add(at, what, "correct doc_id or author, or add the text", where + like)
    if other == author:
        problems.add(at, "the author is preferred to itself", "correct author or unit", where)
    if not complete or (doc, author) not in known.written:
        return
    if not _has_part(rating, known):
        what = f"part {shown(rating.part)} is not among the text's parts in {texts}"
        fix = f"write {FULL}, or the part as it is in the texts"
        problems.add(at, what, fix, where)
    if rating.unit.startswith("claim:") and (doc, REFERENCE) not in known.written:
        what = f"a reference's claim is rated but the document has no {REFERENCE} in {texts}"
        problems.add(at, what, "add the reference or rate the text", where)


def _meant(name: str, like: Callable[[str], str | None]) -> str:
    found = like(name)
    return "" if found is None else f", which looks like {spelt(found)}"


def _has_part(rating: RatingRow, known: _Known) -> bool:
    if rating.part == FULL or (rating.doc_id, rating.author, rating.part) in known.parts:
        return True
    # Segmentation will find these, or there is nothing to correlate.
    return rating.part in SECTIONS or rating.part in known.facets


def _check_segment(segment: SegmentRow, known: _Known, texts: str, problems: Findings) -> None:
    doc, author = segment.doc_id, segment.author
    if (doc, author) not in known.written:
        what = f"a facet is of a text that is not in {texts}"
        where = f"doc_id {shown(doc)}, author {shown(author)}"
        if doc not in known.documents:
            where += _meant(doc, known.like_document)
        elif author not in known.authors:
            where += _meant(author, known.like_author)
        problems.add(segment.at, what, "correct doc_id or author, or add the text", where)


def _check_score(score: ScoreRow, known: _Known, texts: str, problems: Findings) -> None:
    where = f"doc_id {shown(score.doc_id)}, author {shown(score.author)}"
    if (score.doc_id, score.author) not in known.written:
        what = f"a score is of a text that is not in {texts}"
        problems.add(score.at, what, "add the text or remove its scores", where)
    if score.value is not None and not math.isfinite(score.value):
        what = f"{shown(score.metric)} is no finite number"
        problems.add(score.at, what, "leave out what is undefined", where)


def _check_value(rating: RatingRow, criteria: Mapping[str, Criterion], problems: Findings) -> None:
    criterion = criteria.get(rating.criterion)
    if criterion is None:
        what = f"criterion {shown(rating.criterion)} is not declared"
        fix = "declare it in benchmarks/<name>/params.yaml > criteria, or rename it"
        problems.add(rating.at, what, fix)
        return
    value = rating.value
    if value is None:
        return
    if not math.isfinite(value) or not criterion.low <= value <= criterion.high:
        scale = f"{criterion.low:g} to {criterion.high:g}"
        what = f"{shown(rating.criterion)} is outside its scale of {scale}"
        fix = "correct it, or the scale in benchmarks/<name>/params.yaml > criteria"
        problems.add(rating.at, what, fix, f"value {value:g}")


def _warn_of_absent_texts(rows: Rows, known: _Known) -> None:
    files: dict[str, str] = {}
    for text in rows.texts:
        files.setdefault(text.author, text.at.file)
    for author in sorted(known.authors):
        absent = sorted(doc for doc in known.documents if (doc, author) not in known.written)
        if absent:
            what = (
                f"{shown(author)} has no text for {len(absent)} of {len(known.documents)} documents"
            )
            fix = "if it failed on them, add rows with a status, so that they count"
            rows.warnings.add(Place(files[author]), what, fix, f"first: doc_id {shown(absent[0])}")


def _file(places: set[str], otherwise: str) -> str:
    return next(iter(places)) if len(places) == 1 else otherwise
