"""What raters sent back, held against the key, and unblinded: all of it, or nothing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from metassay.core.atomic import whole_file
from metassay.core.csv_injection import inert
from metassay.core.errors import raise_problems, shown
from metassay.core.work import owner_alone
from metassay.studies.key import FILE, Key, KeyRow, digest
from metassay.studies.record import Answer, Form, Format, Returned, Target
from metassay.studies.sheets import filled, heading_of, value_of
from metassay.tabular.decoding import csv_bytes
from metassay.tabular.rows import Findings, Place

RATINGS_FILE, COMMENTS_FILE = "ratings.csv", "comments.csv"

_RESTORE = "restore it as it was sent out"
_SAID = ("row", "rater", "doc_id", "author", "part", "unit", "comment")
_HEADER = ("study", "doc_id", "author", "part", "unit", "rater", "criterion", "value")


class Rated(NamedTuple):
    """One rating, unblinded."""

    of: Target
    rater: str
    value: float | None


class Comment(NamedTuple):
    """What a rater said beside the answers of a row."""

    rater: str
    row: str
    of: Target
    text: str


@dataclass(frozen=True)
class Imported:
    """What came back: ratings, comments, and how much is missing."""

    ratings: list[Rated]
    comments: list[Comment]
    empty: int  # questions without an answer
    asked: int  # questions in all
    absent: int  # rows that did not come back; only with `partial`
    notes: list[str] = field(default_factory=list)  # of columns that nobody reads


def read_files(files: Sequence[Path], formats: Sequence[Format]) -> list[Returned]:
    """The rows of all files; BadInput for what cannot be read.

    A file's format is that of its ending. One file under two paths is read once for each, so that
    its rows are there twice.
    """
    problems, rows = Findings(), list[Returned]()
    for file in files:
        of = [one for one in formats if file.suffix.lower() in one.endings]
        if not of:
            known = ", ".join(ending for one in formats for ending in one.endings)
            problems.add(Place(file.name), "is no sheet", f"name files that end in {known}")
        else:
            rows += of[0].read(file, problems)
    raise_problems(problems.lines())
    return rows


def imported(rows: Sequence[Returned], key: Key, form: Form, *, partial: bool) -> Imported:
    """Hold rows against the key and unblind them; BadInput with everything that is wrong.

    `partial`: rows and raters that are not there yet count as left empty, and not as deleted.
    """
    problems = Findings()
    found: dict[tuple[str, str], Returned] = {}
    sent = {rater: set(key.rows_of(rater)) for rater in key.assignments}
    for row in rows:
        if _is_sent(row, sent, key, problems):
            earlier = found.setdefault((row.rater, row.row), row)
            if earlier is not row:
                _add_twice(row, earlier, problems)
    absent = _absent(found, sent, rows, problems, partial=partial)
    values: dict[tuple[str, str, str], float | None] = {}
    columns = {column for row in key.rows.values() for column in row.asked}
    for (rater, name), row in found.items():
        for column, value in _answers(row, key.rows[name], columns, problems):
            values[rater, name, column] = value
    raise_problems(problems.lines())
    ratings = [one for rater in sent for one in _ratings(rater, key, form, values)]
    asked = sum(len(key.rows[name].asked) for mine in sent.values() for name in mine)
    answered = sum(value is not None for value in values.values())
    return Imported(
        sorted(ratings, key=lambda one: (one.of, one.rater)),
        _comments(found, key),
        asked - answered,
        asked,
        absent,
        _unread(rows, key),
    )


def write(found: Imported, key: Key, folder: Path) -> None:
    """Write ratings and comments beside the key, in the place of those of an earlier import."""
    ratings = [
        (key.study, *one.of[:4], one.rater, one.of.criterion, value)
        for one in found.ratings
        for value in ["" if one.value is None else f"{one.value:.12g}"]
    ]
    said = [map(inert, (one.row, one.rater, *one.of[:4], one.text)) for one in found.comments]
    with owner_alone(), whole_file(folder / COMMENTS_FILE) as file:  # they may quote texts
        file.write(csv_bytes(_SAID, map(list, said)))
    with whole_file(folder / RATINGS_FILE) as file:
        file.write(csv_bytes(_HEADER, ratings))


def _is_sent(row: Returned, sent: Mapping[str, set[str]], key: Key, problems: Findings) -> bool:
    """Whether the row is one that its rater was sent."""
    where = f"row {shown(row.row)}"
    if row.rater not in sent:
        what = f"rater {shown(row.rater)} was sent nothing of this study"
        problems.add(row.at, what, f"correct column 'rater'; known: {', '.join(sorted(sent))}")
    elif row.row not in key.rows:
        fix = f"{_RESTORE}, or take the row out if it is of another study"
        # Where a line was cut, the words of a text may stand in the place of the id.
        where = where if len(row.row.split()) == 1 else ""
        problems.add(row.at, "the row's id is not known", fix, where)
    elif row.row not in sent[row.rater]:
        what = f"the row was not sent to rater {shown(row.rater)}"
        problems.add(row.at, what, "correct column 'rater', or take the row out", where)
    else:
        return True
    return False


def _add_twice(row: Returned, earlier: Returned, problems: Findings) -> None:
    here = earlier.at.file == row.at.file
    again = "twice" if here else f"in {earlier.at.file} as well"
    first = f"{earlier.at.kind} {earlier.at.row}{'' if here else ' there'}"
    what = f"rater {shown(row.rater)} has the row {again}"
    problems.add(row.at, what, "keep one of the two", f"row {row.row}, {first}")


def _absent(
    found: Mapping[tuple[str, str], Returned],
    sent: Mapping[str, set[str]],
    rows: Sequence[Returned],
    problems: Findings,
    *,
    partial: bool,
) -> int:
    """How many rows are not there, each a problem unless that is expected."""
    places: dict[str, Place] = {}
    for row in rows:
        places.setdefault(row.rater, row.at)
    absent = 0
    for rater, mine in sent.items():
        lacking = sorted(name for name in mine if (rater, name) not in found)
        absent += len(lacking)
        if not lacking or partial:
            continue
        if rater not in places:
            what = f"nothing came back from rater {shown(rater)}"
            fix = "add the rater's sheet, or give --partial"
            problems.add(Place(FILE), what, fix, f"{len(mine)} rows were sent")
        else:
            what = f"{len(lacking)} of {len(mine)} rows of rater {shown(rater)} are not there"
            fix = "restore them (with empty cells if they were not rated), or give --partial"
            problems.add(Place(places[rater].file), what, fix, f"first: row {lacking[0]}")
    return absent


def _answers(
    row: Returned, sent: KeyRow, columns: set[str], problems: Findings
) -> Iterator[tuple[str, float | None]]:
    """A row's answers by column; a problem with each, and with what was read, that is not right."""
    file, where = Place(row.at.file), f"row {row.row}"
    back = row.shown or {}
    for heading, known in sent.shown.items() if row.shown is not None else ():
        if heading not in back:
            problems.add(file, f"column {shown(heading)} is missing", _RESTORE)
        elif digest(back[heading]) != known:
            what = f"the text in column {shown(heading)} is not the one that was sent out"
            problems.add(row.at, what, f"{_RESTORE}: what was rated must be known", where)
    for column, asked in sent.asked.items():
        if column not in row.answers:
            problems.add(file, f"column {shown(column)} is missing", _RESTORE)
            continue
        try:
            yield column, value_of(asked.question, row.answers[column])
        except ValueError as error:
            what = f"column {shown(column)}: the answer {error}"
            fix = f"allowed: {asked.question.allowed}; leave it empty where it cannot be said"
            problems.add(row.at, what, fix, where)
    for column in sorted(columns & set(row.answers) - set(sent.asked)):
        if filled(row.answers[column]):
            what = f"column {shown(column)}: nothing is asked in this row"
            fix = "take the answer out, or move it to the row that it belongs to"
            problems.add(row.at, what, fix, where)


def _unread(rows: Iterable[Returned], key: Key) -> list[str]:
    """Columns that a rater added, with something in them; a line for each file."""
    asked = {name for row in key.rows.values() for name in row.asked}
    read = {name for row in key.rows.values() for name in row.shown}
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        for name, said in row.answers.items():
            if name not in asked and heading_of(name) not in read and filled(said):
                found.setdefault(row.at.file, {})[shown(name) if name else "without a name"] = None
    return [
        f"{file}: column{'s' * (len(names) > 1)} {', '.join(sorted(names))}: not of the study, and"
        " not read; what is to be kept goes into 'comment'"
        for file, names in sorted(found.items())
    ]


def _ratings(
    rater: str, key: Key, form: Form, values: Mapping[tuple[str, str, str], float | None]
) -> Iterator[Rated]:
    by_item: dict[str, list[Answer]] = defaultdict(list)
    for name in key.rows_of(rater):
        row = key.rows[name]
        by_item[row.item] += [
            Answer(asked.of, values.get((rater, name, column)))
            for column, asked in row.asked.items()
        ]
    for answers in by_item.values():
        yield from (Rated(one.of, rater, one.value) for one in form.rate(answers))


def _comments(found: Mapping[tuple[str, str], Returned], key: Key) -> list[Comment]:
    return sorted(
        Comment(rater, name, next(iter(key.rows[name].asked.values())).of, row.comment)
        for (rater, name), row in found.items()
        if row.comment
    )
