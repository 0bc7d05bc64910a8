"""The output of readers: rows with their places, problems and warnings.

A reader never stops at the first fault. It records faults in `problems` and remarks in
`warnings`, each at its place, and goes on. `ingest` adds the checks of all readers and
raises once. Neither ever quotes the text of a document.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

Values = Mapping[str, float | None]  # by criterion or metric
AGAIN = "fetch the file again"  # the remedy for a released file that was changed


class Place(NamedTuple):
    """A file and, within it, a row's number (from 1) or label."""

    file: str
    row: int | str | None = None
    kind: str = "line"  # the unit of `row`: line, record of a JSON list, row of a frame


@dataclass
class Findings:
    """Findings grouped by file and kind, so that a fault in 1,000 rows is a single line."""

    _groups: dict[tuple[str, str, str], list[tuple[Place, str]]] = field(
        default_factory=dict
    )

    def add(self, at: Place, what: str, remedy: str, example: str = "") -> None:
        """Record `what` at a place; `example` (a key, never a text) is shown for the first."""
        self._groups.setdefault((at.file, what, remedy), []).append((at, example))

    def merge(self, other: "Findings") -> None:
        """Add the findings of another one."""
        for kind, places in other._groups.items():
            self._groups.setdefault(kind, []).extend(places)

    def lines(self) -> list[str]:
        """Return a line per file and kind: where, what, how often, and the remedy."""
        return [_line(*kind, places) for kind, places in self._groups.items()]

    def __bool__(self) -> bool:
        return bool(self._groups)


class SourceRow(NamedTuple):
    """A row of sources; passages, speaker and group have the same length (`source_row`)."""

    at: Place
    doc_id: str
    task: str
    passages: list[str]
    speaker: list[str]
    group: list[str]
    attributes: str | None = None


class TextRow(NamedTuple):
    """A row of texts; text is None if and only if status is not ok."""

    at: Place
    doc_id: str
    author: str
    part: str
    text: str | None
    status: str = "ok"


class RatingRow(NamedTuple):
    """A row of ratings; value is None where the rater abstained."""

    at: Place
    study: str
    doc_id: str
    author: str
    part: str
    unit: str
    rater: str
    criterion: str
    value: float | None


class ScoreRow(NamedTuple):
    """A dataset's value of a metric for a text; None where it is undefined."""

    at: Place
    doc_id: str
    author: str
    part: str
    metric: str  # a name in metassay/metrics/released.py, or of one of `Rows.metrics`
    value: float | None


class MetricRow(NamedTuple):
    """A metric that is the dataset's own, with its direction."""

    at: Place
    metric: str
    better: str  # higher, lower or neither


class SegmentRow(NamedTuple):
    """A facet of a text, as the dataset has it."""

    at: Place
    doc_id: str
    author: str
    part: str  # the facet
    text: str


@dataclass
class Rows:
    """Everything that a reader reads from a folder of raw files."""

    sources: list[SourceRow] = field(default_factory=list)
    texts: list[TextRow] = field(default_factory=list)
    segments: list[SegmentRow] = field(default_factory=list)
    ratings: list[RatingRow] = field(default_factory=list)
    scores: list[ScoreRow] = field(default_factory=list)
    metrics: list[MetricRow] = field(default_factory=list)
    problems: Findings = field(default_factory=Findings)
    warnings: Findings = field(default_factory=Findings)
    # Tables ("sources", "texts") with rows whose key could not be read. These may be
    # the rows that seem to be missing, so no message asks to add them.
    unreadable: set[str] = field(default_factory=set)

    def wrong(
        self, at: Place, what: str, example: str = "", remedy: str = AGAIN
    ) -> None:
        """Record a problem, by default of a file that differs from its release."""
        self.problems.add(at, what, remedy, example)

    def rate(
        self, at: Place, key: tuple[str, str, str, str, str, str], values: Values
    ) -> None:
        """Add values by criterion; `key`: study, doc_id, author, part, unit and rater."""
        self.ratings += [RatingRow(at, *key, *value) for value in values.items()]

    def score(self, at: Place, key: tuple[str, str, str], values: Values) -> None:
        """Add values by metric; `key`: doc_id, author and part."""
        self.scores += [ScoreRow(at, *key, *value) for value in values.items()]


Reader = Callable[[Path], Rows]


def source_row(
    at: Place,
    doc_id: str,
    task: str,
    passages: list[str],
    speaker: Sequence[str] = (),
    group: Sequence[str] = (),
    attributes: str | None = None,
) -> SourceRow:
    """Return a row of sources; unknown speakers and groups are empty."""
    blank = [""] * len(passages)
    speakers, groups = list(speaker) or blank, list(group) or blank
    return SourceRow(at, doc_id, task, passages, speakers, groups, attributes)


def split_turns(
    dialogue: str, tag: re.Pattern[str], at: Place, rows: Rows, example: str
) -> tuple[list[str], list[str]]:
    """Split a dialogue into speakers and passages; each turn begins with a tag whose
    first group is the speaker. A problem if the dialogue has other parts.
    """
    before, *turns = tag.split(dialogue)
    passages = [turn.strip() for turn in turns[1::2]]
    if before.strip() or not passages or not all(passages):
        what = "the dialogue does not divide into turns that begin with their speaker"
        rows.wrong(at, what, example)
    return turns[::2], passages


def canonical_json(attributes: Mapping[str, object]) -> str:
    """Write attributes as canonical JSON: sorted names, no blanks, UTF-8."""
    return json.dumps(
        attributes, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )


def _line(file: str, what: str, remedy: str, places: list[tuple[Place, str]]) -> str:
    first, example = places[0]
    n = len({place for place, _ in places}) if first.row is not None else len(places)
    where = ", ".join(step for step in (_row(first), example) if step)
    fix = f"; {remedy}" if remedy else ""
    if n > 1:
        counted = f"{n} {first.kind}s" if first.row is not None else f"{n} times"
        first_one = f" (first: {where})" if where else ""
        return f"{file}: {counted}: {what}{first_one}{fix}"
    detail = f" ({example})" if example else ""
    row = f"{_row(first)}: " if first.row is not None else ""
    return f"{file}: {row}{what}{detail}{fix}"


def _row(place: Place) -> str:
    return "" if place.row is None else f"{place.kind} {place.row}"
