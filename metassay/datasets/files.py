"""Anybody's own data: a folder with sources.jsonl, texts.jsonl and perhaps three files more.

docs/own-data.md describes them, with ratings.csv, scores.csv and segments.jsonl, by an example.
"""

import os
from pathlib import Path

from metassay.core.errors import shown
from metassay.datasets.citing import check_citations
from metassay.datasets.own_data import (
    Rating,
    Score,
    Segment,
    Source,
    Text,
    checked,
    readable_key,
)
from metassay.tables.names import FULL
from metassay.tabular.decoding import UNREAD, header_is_right, json_lines, name_unread
from metassay.tabular.numbers import Numbers
from metassay.tabular.rows import (
    Findings,
    MetricRow,
    Place,
    RatingRow,
    Rows,
    ScoreRow,
    SegmentRow,
    SourceRow,
    TextRow,
    canonical,
)
from metassay.tabular.sheet import read_sheet

SOURCES_FILE = "sources.jsonl"
TEXTS_FILE = "texts.jsonl"
RATINGS_FILE = "ratings.csv"
SCORES_FILE = "scores.csv"
SEGMENTS_FILE = "segments.jsonl"

_SEE = "docs/own-data.md shows how it is written"
_ABSTAINED = "write a number, or nothing where the rater abstained"
_UNDEFINED = "write a number, or nothing where the metric is undefined"
_REQUIRED = ("study", "doc_id", "author", "rater", "criterion", "value")
_DEFAULTS = {"unit": "text", "part": FULL}
_SCORED = ("doc_id", "author", "metric", "value")
_SCORE_DEFAULTS = {"better": "higher", "part": FULL}
_FILES = {SOURCES_FILE, TEXTS_FILE, RATINGS_FILE, SCORES_FILE, SEGMENTS_FILE}


def read(folder: Path) -> Rows:
    """Read the folder; every fault becomes a problem with file, line and remedy.

    The reference's citations past the last passage are problems; a system's are warnings, since
    they are wrong citations that the scores have to count.
    """
    rows = Rows()
    if not folder.is_dir():
        rows.problems.add(Place(str(folder)), "is no folder", f"create it; {_SEE}")
        return rows
    _read_sources(folder / SOURCES_FILE, rows)
    _read_texts(folder / TEXTS_FILE, rows)
    if os.path.lexists(folder / RATINGS_FILE):
        read_ratings(folder / RATINGS_FILE, rows)
    if os.path.lexists(folder / SCORES_FILE):
        _read_scores(folder / SCORES_FILE, rows)
    if os.path.lexists(folder / SEGMENTS_FILE):
        _read_segments(folder / SEGMENTS_FILE, rows)
    check_citations(rows)
    name_unread(folder, _FILES, rows.warnings)
    return rows


def _read_sources(path: Path, rows: Rows) -> None:
    for at, value in json_lines(path, rows.problems, remedy=_SEE):
        key = readable_key(value, "doc_id")
        if key is None:
            rows.unreadable.add("sources")
        source = None if value is UNREAD else checked(Source, value, at, rows.problems)
        if source is not None:
            rows.sources.append(_source_row(source, at))
        elif key is not None:
            rows.sources.append(SourceRow(at, key[0], "", [], [], []))


def _source_row(source: Source, at: Place) -> SourceRow:
    return SourceRow(
        at,
        source.doc_id,
        source.task,
        [passage.text for passage in source.passages],
        [passage.speaker for passage in source.passages],
        [passage.group for passage in source.passages],
        None if source.attributes is None else canonical(source.attributes),
    )


def _read_texts(path: Path, rows: Rows) -> None:
    for at, value in json_lines(path, rows.problems, remedy=_SEE):
        key = readable_key(value, "doc_id", "author", "part")
        if key is None:
            rows.unreadable.add("texts")
        text = None if value is UNREAD else checked(Text, value, at, rows.problems)
        if text is not None:
            rows.texts.append(
                TextRow(at, text.doc_id, text.author, text.part, text.text, text.status)
            )
        elif key is not None:
            rows.texts.append(TextRow(at, key[0], key[1], key[2], None, "error"))


def _read_segments(path: Path, rows: Rows) -> None:
    for at, value in json_lines(path, rows.problems, remedy=_SEE):
        segment = None if value is UNREAD else checked(Segment, value, at, rows.problems)
        if segment is not None:
            rows.segments.append(
                SegmentRow(at, segment.doc_id, segment.author, segment.part, segment.text)
            )


def read_ratings(path: Path, rows: Rows) -> None:
    """Add the ratings of one file; what is wrong becomes a problem of `rows`."""
    numbers, records = _records(path, rows.problems, _REQUIRED, tuple(_DEFAULTS))
    for at, fields in records:
        given = {name: value for name, value in fields.items() if value or name not in _DEFAULTS}
        rating = checked(Rating, _DEFAULTS | given, at, rows.problems)
        if rating is None:
            continue
        rows.ratings.append(
            RatingRow(
                at,
                rating.study,
                rating.doc_id,
                rating.author,
                rating.part,
                rating.unit,
                rating.rater,
                rating.criterion,
                number_of(numbers, rating.value, at, rows.problems, _ABSTAINED),
            )
        )


def given_metrics(folder: Path) -> list[str]:
    """The metrics in a folder's scores.csv, sorted; none where it is not there or not readable."""
    if not (folder / SCORES_FILE).is_file():
        return []
    rows = Rows()
    _read_scores(folder / SCORES_FILE, rows)
    return sorted({one.metric for one in rows.metrics})


def _read_scores(path: Path, rows: Rows) -> None:
    """Add the scores of somebody's own metrics; a metric's direction is that of all its rows."""
    numbers, records = _records(path, rows.problems, _SCORED, tuple(_SCORE_DEFAULTS))
    first: dict[str, MetricRow] = {}
    for at, fields in records:
        given = {name: cell for name, cell in fields.items() if cell or name not in _SCORE_DEFAULTS}
        score = checked(Score, _SCORE_DEFAULTS | given, at, rows.problems)
        if score is None:
            continue
        own = MetricRow(at, score.metric, score.better)
        if first.setdefault(score.metric, own).better != score.better:
            what = f"{shown(score.metric)} is better in two directions"
            fix = "write the same into column better of all its rows"
            rows.problems.add(at, what, fix, f"other than line {first[score.metric].at.row}")
        value = number_of(numbers, score.value, at, rows.problems, _UNDEFINED)
        rows.scores.append(
            ScoreRow(at, score.doc_id, score.author, score.part, score.metric, value)
        )
    rows.metrics += first.values()


def _records(
    path: Path, problems: Findings, required: tuple[str, ...], optional: tuple[str, ...]
) -> tuple[Numbers, list[tuple[Place, dict[str, str]]]]:
    """The rows of a table with these columns, and how the numbers in `value` are written."""
    faults = Findings()
    sheet = read_sheet(path, faults, remedy=_SEE, header_alone=True)
    if sheet is not None and not header_is_right(
        list(sheet.columns), path.name, problems, required, optional
    ):
        return Numbers(), []
    problems.merge(faults)
    if sheet is None:
        return Numbers(), []
    return sheet.clear_numbers("value", problems), sheet.rows


def number_of(
    numbers: Numbers, value: str, at: Place, problems: Findings, remedy: str
) -> float | None:
    """The value; None where nothing is written, or with a problem."""
    if numbers.none(value) or numbers.fault:
        return None
    number = numbers.number(value)
    if number is None:
        # Not quoted: what is no number may be a remark about the text.
        problems.add(at, "'value' is no finite number", remedy)
    return number
