"""Anybody's own data: a folder with sources.jsonl, texts.jsonl and perhaps three files more.

docs/own-data.md describes them, with ratings.csv, scores.csv and segments.jsonl, by an example.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from metassay.core.errors import shown
from metassay.datasets.checks import check_citations
from metassay.datasets.own_data import (
    Line,
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


def read(folder: Path, beside: Collection[str] = ()) -> Rows:
    """Read the folder; every fault becomes a problem with file, line and remedy.

    The reference's citations past the last passage are problems; a system's are warnings, since
    they are wrong citations that the scores have to count. Files `beside` are another reader's.
    """
    rows = Rows()
    if not folder.is_dir():
        rows.wrong(Place(str(folder)), "is not a folder", remedy=f"create it; {_SEE}")
        return rows
    read_sources(folder / SOURCES_FILE, rows)
    _read_texts(folder / TEXTS_FILE, rows)
    optional = {
        RATINGS_FILE: read_ratings,
        SCORES_FILE: _read_scores,
        SEGMENTS_FILE: _read_segments,
    }
    for name, reader in optional.items():
        if os.path.lexists(folder / name):
            reader(folder / name, rows)
    check_citations(rows)
    name_unread(folder, {*_FILES, *beside}, rows.warnings)
    return rows


def read_sources(path: Path, rows: Rows) -> None:
    """Add the sources of one file; what is wrong becomes a problem of `rows`."""
    for at, key, one in _lines(path, Source, ("doc_id",), "sources", rows):
        if one is not None:
            each = [list(dict(passage).values()) for passage in one.passages]
            text, speaker, group = map(list, zip(*each, strict=True)) if each else ([], [], [])
            more = None if one.attributes is None else canonical(one.attributes)
            rows.sources.append(SourceRow(at, one.doc_id, one.task, text, speaker, group, more))
        elif key is not None:
            rows.sources.append(SourceRow(at, key[0], "", [], [], []))


def _read_texts(path: Path, rows: Rows) -> None:
    for at, key, one in _lines(path, Text, ("doc_id", "author", "part"), "texts", rows):
        if one is not None:
            rows.texts.append(TextRow(at, **dict(one)))
        elif key is not None:
            rows.texts.append(TextRow(at, key[0], key[1], key[2], None, "error"))


def _read_segments(path: Path, rows: Rows) -> None:
    for at, _, one in _lines(path, Segment, (), "segments", rows):
        rows.segments += [SegmentRow(at, **dict(one))] if one is not None else []


def _lines(
    path: Path, model: type[Line], keys: tuple[str, ...], table: str, rows: Rows
) -> Iterator[tuple[Place, tuple[str, ...] | None, Line | None]]:
    """Each line's place, its key where that can be read, and all of it if it is sound."""
    for at, value in json_lines(path, rows.problems, remedy=_SEE):
        key = readable_key(value, *keys)
        if key is None:
            rows.unreadable.add(table)
        yield at, key, None if value is UNREAD else checked(model, value, at, rows.problems)


def read_ratings(path: Path, rows: Rows) -> None:
    """Add the ratings of one file; what is wrong becomes a problem of `rows`."""
    for at, one, numbers in records(path, Rating, _REQUIRED, _DEFAULTS, _ABSTAINED, rows):
        rows.ratings.append(RatingRow(at, **{**dict(one), **numbers}))


def given_metrics(folder: Path) -> list[str]:
    """The metrics in a folder's scores.csv, sorted; none where it is not there or not readable."""
    if not (folder / SCORES_FILE).is_file():
        return []
    rows = Rows()
    _read_scores(folder / SCORES_FILE, rows)
    return sorted({one.metric for one in rows.metrics})


def _read_scores(path: Path, rows: Rows) -> None:
    """Add the scores of somebody's own metrics; a metric's direction is that of all its rows."""
    first: dict[str, MetricRow] = {}
    for at, one, numbers in records(path, Score, _SCORED, _SCORE_DEFAULTS, _UNDEFINED, rows):
        earlier = first.setdefault(one.metric, MetricRow(at, one.metric, one.better))
        if earlier.better != one.better:
            what = f"{shown(one.metric)} is better in two directions"
            fix = "write the same into column better of all its rows"
            rows.wrong(at, what, f"other than line {earlier.at.row}", fix)
        of = one.doc_id, one.author, one.part, one.metric
        rows.scores.append(ScoreRow(at, *of, numbers["value"]))
    rows.metrics += first.values()


def records(
    path: Path,
    model: type[Line],
    required: tuple[str, ...],
    defaults: Mapping[str, str],
    remedy: str,
    rows: Rows,
    values: Sequence[str] = ("value",),
) -> Iterator[tuple[Place, Any, dict[str, float | None]]]:
    """The sound rows of a table with these columns, each with the numbers in columns `values`.

    A number is None where its cell, or its column, says that there is none.
    """
    faults = Findings()
    sheet = read_sheet(path, faults, remedy=_SEE, header_alone=True)
    if sheet is not None and not header_is_right(
        list(sheet.columns), path.name, rows.problems, required, tuple(defaults)
    ):
        return
    rows.problems.merge(faults)
    if sheet is None:
        return
    numbers = {
        name: sheet.clear_numbers(name, rows.problems) for name in values if name in sheet.columns
    }
    for at, fields in sheet.rows:
        written = {name: cell for name, cell in fields.items() if cell or name not in defaults}
        one = checked(model, {**defaults, **written}, at, rows.problems)
        if one is not None:
            found = dict.fromkeys(values, None)
            for name, read_as in numbers.items():
                what = f"{name!r} is not a finite number"
                found[name] = read_as.sound(fields[name], at, what, remedy, rows.problems)
            yield at, one, found
