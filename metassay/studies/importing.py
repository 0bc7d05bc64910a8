"""Check what raters sent back against the key, and unblind it: all of it, or nothing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from metassay.core.atomic import whole_file
from metassay.core.csv_injection import escape_formula
from metassay.core.errors import raise_problems, shown
from metassay.core.work import owner_alone
from metassay.studies.key import FILE, Key, KeyRow, digest
from metassay.studies.record import Answer, Form, Format, ReturnedRow, Target
from metassay.studies.sheets import clean_cell, heading_of, parse_answer
from metassay.tabular.decoding import csv_bytes
from metassay.tabular.row_choice import CHOSEN_BY
from metassay.tabular.rows import Findings, Place

RATINGS_FILE, COMMENTS_FILE = "ratings.csv", "comments.csv"

_RESTORE = "restore it as it was sent out"
_COMMENTS_HEADER = ("row", "rater", "doc_id", "author", "part", "unit", "comment")
# The last column is there only if texts were chosen.
_RATINGS_HEADER = (
    "study",
    "doc_id",
    "author",
    "part",
    "unit",
    "rater",
    "criterion",
    "value",
)

_ByRow = Mapping[tuple[str, str], ReturnedRow]  # by rater and row


class Rating(NamedTuple):
    """One rating, unblinded."""

    target: Target
    rater: str
    value: float | None


@dataclass(frozen=True)
class Results:
    """Ratings, comments, and how much is missing."""

    ratings: list[Rating]
    comments: Sequence[Sequence[str]]  # the cells of comments.csv; the text is the last
    n_empty: int  # questions without an answer
    n_questions: int
    n_absent: int  # rows that did not come back; only with `partial`
    notes: list[str] = field(default_factory=list)  # on columns that are not read


def read_files(files: Sequence[Path], formats: Sequence[Format]) -> list[ReturnedRow]:
    """Read the rows of all files, by the format of each ending; BadInput for unreadable ones.

    A file under two paths is read twice, so that its rows are repeated.
    """
    problems, rows = Findings(), list[ReturnedRow]()
    for file in files:
        fitting = [form for form in formats if file.suffix.lower() in form.endings]
        if not fitting:
            endings = ", ".join(ending for form in formats for ending in form.endings)
            problems.add(
                Place(file.name), "is not a sheet", f"name files that end in {endings}"
            )
        else:
            rows += fitting[0].read(file, problems)
    raise_problems(problems.lines())
    return rows


def unblind(
    rows: Sequence[ReturnedRow], key: Key, form: Form, *, partial: bool
) -> Results:
    """Check rows against the key and unblind them; BadInput has every problem.

    `partial`: absent rows and raters count as left empty instead of as deleted.
    """
    problems = Findings()
    by_row: dict[tuple[str, str], ReturnedRow] = {}
    sent = {rater: set(key.rows_of(rater)) for rater in key.assignments}
    for row in rows:
        if _was_sent(row, sent, key, problems):
            earlier = by_row.setdefault((row.rater, row.row), row)
            if earlier is not row:
                _add_repeated(row, earlier, problems)
    n_absent = _count_absent(by_row, sent, rows, problems, partial=partial)
    columns = {column for row in key.rows.values() for column in row.questions}
    values = {
        (rater, row_id, column): value
        for (rater, row_id), row in by_row.items()
        for column, value in _answers(row, key.rows[row_id], columns, problems)
    }
    raise_problems(problems.lines())
    ratings = [
        rating for rater in sent for rating in _ratings(rater, key, form, values)
    ]
    n_questions = sum(
        len(key.rows[row_id].questions) for ids in sent.values() for row_id in ids
    )
    n_answered = sum(value is not None for value in values.values())
    comments = [
        (
            row_id,
            rater,
            *next(iter(key.rows[row_id].questions.values())).target[:4],
            row.comment,
        )
        for (rater, row_id), row in sorted(by_row.items())
        if row.comment
    ]
    return Results(
        sorted(ratings, key=lambda rating: (rating.target, rating.rater)),
        comments,
        n_questions - n_answered,
        n_questions,
        n_absent,
        _unread_columns(rows, key),
    )


def write(results: Results, key: Key, folder: Path) -> None:
    """Write ratings and comments beside the key; they replace those of an earlier import."""
    chosen_by = (key.chosen_by,) if key.drawn_by else ()
    header = (*_RATINGS_HEADER, CHOSEN_BY) if key.drawn_by else _RATINGS_HEADER
    ratings = [
        (
            key.study,
            *target[:4],
            rater,
            target.criterion,
            "" if value is None else f"{value:.12g}",
            *chosen_by,
        )
        for target, rater, value in results.ratings
    ]
    comments = [[*map(escape_formula, cells)] for cells in results.comments]
    # they may quote texts
    with owner_alone(), whole_file(folder / COMMENTS_FILE) as file:
        file.write(csv_bytes(_COMMENTS_HEADER, comments))
    with whole_file(folder / RATINGS_FILE) as file:
        file.write(csv_bytes(header, ratings))


def _was_sent(
    row: ReturnedRow, sent: Mapping[str, set[str]], key: Key, problems: Findings
) -> bool:
    """Whether the row was sent to its rater; a problem if not."""
    where = f"row {shown(row.row)}"
    if row.rater not in sent:
        what = f"rater {shown(row.rater)} was sent nothing of this study"
        problems.add(
            row.at, what, f"correct column 'rater'; known: {', '.join(sorted(sent))}"
        )
    elif row.row not in key.rows:
        fix = f"{_RESTORE}, or take the row out if it is of another study"
        # In a broken line, the words of a text may be in the place of the id.
        where = where if len(row.row.split()) == 1 else ""
        problems.add(row.at, "the row's id is not known", fix, where)
    elif row.row not in sent[row.rater]:
        what = f"the row was not sent to rater {shown(row.rater)}"
        problems.add(row.at, what, "correct column 'rater', or take the row out", where)
    else:
        return True
    return False


def _add_repeated(row: ReturnedRow, earlier: ReturnedRow, problems: Findings) -> None:
    same_file = earlier.at.file == row.at.file
    again = "twice" if same_file else f"in {earlier.at.file} as well"
    first = f"{earlier.at.kind} {earlier.at.row}{'' if same_file else ' there'}"
    what = f"rater {shown(row.rater)} has the row {again}"
    problems.add(row.at, what, "keep one of the two", f"row {row.row}, {first}")


def _count_absent(
    by_row: _ByRow,
    sent: Mapping[str, set[str]],
    rows: Sequence[ReturnedRow],
    problems: Findings,
    *,
    partial: bool,
) -> int:
    """Count absent rows; each is a problem unless `partial`."""
    places, n_absent = {row.rater: row.at for row in reversed(rows)}, 0
    for rater, row_ids in sent.items():
        absent = sorted(row_id for row_id in row_ids if (rater, row_id) not in by_row)
        n_absent += len(absent)
        if not absent or partial:
            continue
        if rater not in places:
            what = f"nothing came back from rater {shown(rater)}"
            fix = "add the rater's sheet, or give --partial"
            problems.add(Place(FILE), what, fix, f"{len(row_ids)} rows were sent")
        else:
            what = f"{len(absent)} of {len(row_ids)} rows of rater {shown(rater)} are missing"
            fix = "restore them (with empty cells if they were not rated), or give --partial"
            problems.add(
                Place(places[rater].file), what, fix, f"first: row {absent[0]}"
            )
    return n_absent


def _answers(
    row: ReturnedRow, sent: KeyRow, columns: set[str], problems: Findings
) -> Iterator[tuple[str, float | None]]:
    """Yield a row's answers by column; invalid answers and changed texts are problems."""
    file, where = Place(row.at.file), f"row {row.row}"
    texts = row.texts or {}
    for heading, expected in sent.digests.items() if row.texts is not None else ():
        if heading not in texts:
            problems.add(file, f"column {shown(heading)} is missing", _RESTORE)
        elif digest(texts[heading]) != expected:
            what = (
                f"the text in column {shown(heading)} is not the one that was sent out"
            )
            problems.add(
                row.at, what, f"{_RESTORE}: what was rated must be known", where
            )
    for column, (question, _) in sent.questions.items():
        if column not in row.answers:
            problems.add(file, f"column {shown(column)} is missing", _RESTORE)
            continue
        try:
            yield column, parse_answer(question, row.answers[column])
        except ValueError as error:
            what = f"column {shown(column)}: {shown(row.answers[column])} {error}"
            fix = (
                f"write {question.allowed}, or leave it empty if the rater cannot tell"
            )
            problems.add(row.at, what, fix, where)
    for column in sorted(columns & set(row.answers) - set(sent.questions)):
        if clean_cell(row.answers[column]):
            what = f"column {shown(column)}: nothing is asked in this row"
            fix = "take the answer out, or move it to the row that it belongs to"
            problems.add(row.at, what, fix, where)


def _unread_columns(rows: Iterable[ReturnedRow], key: Key) -> list[str]:
    """Name columns that a rater added and filled in; a line for each file."""
    columns = {name for row in key.rows.values() for name in row.questions}
    headings = {name for row in key.rows.values() for name in row.digests}
    unread: dict[str, set[str]] = {}
    for row in rows:
        for name, cell in row.answers.items():
            if (
                name not in columns
                and heading_of(name) not in headings
                and clean_cell(cell)
            ):
                unread.setdefault(row.at.file, set()).add(
                    shown(name) if name else "without a name"
                )
    return [
        f"{file}: column{'s' * (len(names) > 1)} {', '.join(sorted(names))}: not of the study, and"
        " not read; what is to be kept goes into 'comment'"
        for file, names in sorted(unread.items())
    ]


def _ratings(
    rater: str,
    key: Key,
    form: Form,
    values: Mapping[tuple[str, str, str], float | None],
) -> Iterator[Rating]:
    by_item: dict[str, list[Answer]] = defaultdict(list)
    for row_id in key.rows_of(rater):
        row = key.rows[row_id]
        for column, (_, target) in row.questions.items():
            by_item[row.item].append(
                Answer(target, values.get((rater, row_id, column)))
            )
    for answers in by_item.values():
        yield from (
            Rating(target, rater, value) for target, value in form.rate(answers)
        )
