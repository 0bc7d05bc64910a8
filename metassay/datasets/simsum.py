"""Read the form of the SimSUM expert study: raters' grades of generated clinical notes.

A folder has a CSV per rater, named after the rater, or one CSV with a column `rater`. Row i is note
i. The texts of the notes can be in `notes.csv`.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from metassay.core.errors import shown
from metassay.tables.names import FULL
from metassay.tabular.decoding import Record, csv_records, finite_number
from metassay.tabular.rows import Place, Rows, TextRow, source_row

CRITERIA = (
    *("consistency", "realism_hist", "realism_phys", "clinical_accuracy"),
    *("compact_content", "compact_readability"),
)
STUDY = "simsum"
AUTHOR = "generated"  # the notes' author: a single model, which the form does not name
NOTES_FILE = "notes.csv"

_RATER, _TEXT, _PROMPT = "rater", "text", "prompt"
_SEE = "docs/own-data.md shows the form"


def read(folder: Path) -> Rows:
    """Read every CSV of the folder; documents are `note_01` and so on, by their row.

    An empty cell is null: the rater did not grade this criterion. All raters must have the same
    number of rows, as only rows identify notes. Without `notes.csv` there are ratings and no texts,
    which suffices for means and agreement. A warning names columns that are not of the form; a
    column without a name, as data frames write it, must number the rows from 0 or 1.
    """
    rows = Rows()
    sheets = sorted(folder.glob("*.csv")) if folder.is_dir() else []
    sheets = [path for path in sheets if path.name != NOTES_FILE]
    if not sheets:
        what = "has no CSV file of a rater" if folder.is_dir() else "is not a folder"
        rows.wrong(Place(str(folder)), what, remedy=_SEE)
        return rows
    by_rater: dict[str, list[Record]] = {}
    for path in sheets:
        records = csv_records(path, rows.problems, required=CRITERIA, remedy=_SEE)
        for rater, records_of in _raters(path, records, rows):
            if rater in by_rater:
                what = f"rater {shown(rater)} is in another file too"
                rows.wrong(Place(path.name), what, remedy="put a rater's rows into one file")
            by_rater[rater] = records_of
    n_notes = _count_notes(by_rater, rows)
    for rater, records_of in by_rater.items():
        for number, record in enumerate(records_of, start=1):
            doc_id = _note(number, n_notes)
            by = dict[str, float | None]()
            for criterion in CRITERIA:
                written = record.fields[criterion].strip()
                by[criterion] = finite_number(written) if written else None
                if written and by[criterion] is None:
                    fix = "leave it empty where there is no grade"
                    rows.wrong(record.at, f"{criterion!r} is not a number", remedy=fix)
            rows.rate(record.at, (STUDY, doc_id, AUTHOR, FULL, "text", rater), by)
    _add_notes(folder / NOTES_FILE, n_notes, rows)
    return rows


def _raters(path: Path, records: list[Record], rows: Rows) -> Iterator[tuple[str, list[Record]]]:
    """Yield the records of each rater, in order."""
    if not records:
        return
    for name in records[0].fields.keys() - {*CRITERIA, _RATER, ""}:
        what, fix = f"column {shown(name)} is not read", "the form has no such column"
        rows.warnings.add(Place(path.name, 1), what, fix)
    by_rater: dict[str, list[Record]] = {}
    for record in records:
        rater = record.fields.get(_RATER, path.stem).strip()
        if not rater:
            rows.wrong(record.at, "'rater' is empty", remedy="write who graded this note")
        by_rater.setdefault(rater, []).append(record)
    numbers = [record.fields.get("") for record in records]
    counted = [[str(first + i) for i in range(len(numbers))] for first in (0, 1)]
    if "" in records[0].fields and numbers not in counted:
        what = "the column without a name does not number the rows"
        fix = "put the rows in the order of the notes, and remove the column or number it from 0"
        rows.wrong(records[0].at, what, remedy=fix)
    yield from by_rater.items()


def _count_notes(by_rater: dict[str, list[Record]], rows: Rows) -> int:
    """Count the notes; a problem for every rater with more or fewer rows."""
    if not by_rater:
        return 0
    usual, _ = Counter(map(len, by_rater.values())).most_common(1)[0]
    for rater, records in by_rater.items():
        if len(records) != usual:
            what = f"rater {shown(rater)} has {len(records)} rows, others have {usual}"
            fix = "give every note a row; leave the cells empty where there is no grade"
            rows.wrong(Place(records[0].at.file), what, remedy=fix)
    return usual


def _note(number: int, n_notes: int) -> str:
    return f"note_{number:0{max(2, len(str(n_notes)))}d}"


def _add_notes(path: Path, n_notes: int, rows: Rows) -> None:
    if not path.exists():
        at, fix = Place(str(path.parent)), "ratings are read, without texts"
        rows.warnings.add(at, f"there is no {NOTES_FILE}", fix)
        return
    records = csv_records(path, rows.problems, required=(_TEXT,), remedy=_SEE)
    if records and len(records) != n_notes:
        what = f"has {len(records)} notes, and the raters have {n_notes} rows"
        fix = "give every note a row, in the raters' order"
        rows.wrong(Place(path.name), what, remedy=fix)
    for number, record in enumerate(records, start=1):
        doc_id, text = _note(number, n_notes), record.fields[_TEXT]
        prompt = [line for line in record.fields.get(_PROMPT, "").split("\n") if line.strip()]
        rows.sources.append(source_row(record.at, doc_id, "note", prompt))
        rows.texts.append(TextRow(record.at, doc_id, AUTHOR, FULL, text))
        if not text.strip():
            rows.wrong(record.at, "'text' is empty", remedy="write the note that was graded")
