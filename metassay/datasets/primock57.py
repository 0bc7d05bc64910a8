"""PriMock57's human evaluation: notes of consultations, in which evaluators list what is wrong.

Each evaluator wrote a note of each consultation, edited notes by several models and one by the
doctor, and listed the incorrect statements and omissions of each, a line each that begins with `!`
where it is critical and with `-` where it is not. Source: Moramarco et al. 2022, Human evaluation
and correlation with automatic metrics in consultation note generation; the form is that of
human_eval_data/README.md in babylonhealth/primock57.
"""

from pathlib import Path

from metassay.core.errors import shown
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import csv_records, finite_number
from metassay.tabular.rows import AGAIN, Place, Rows, TextRow, source_row

FILE = "results.csv"
LISTS = {"incorrect statements": "incorrect_statements", "omissions": "omissions"}
SECONDS = "post_edit_seconds"
STUDY = "primock57"

_KEYS = ("evaluator", "consultation", "model")
_BY_EVALUATOR, _BY_MODEL, _EDITED = "evaluator note", "model note", "post-edited note"
_COLUMNS = (*_KEYS, _BY_EVALUATOR, _BY_MODEL, _EDITED, "post-edit time", *LISTS)
_Notes = dict[tuple[str, str, str], tuple[Place, str]]  # by consultation, column and writer


def read(folder: Path) -> Rows:
    """Read the file: ratings of each note by each evaluator.

    `incorrect_statements` and `omissions` are counts, `critical_...` those of them that are
    critical, SECONDS how long the evaluator edited the note. A list without a line is a 0, unless
    there is no edited note: then nobody says that the note was read, and both counts are null, as
    are those of a list that begins without a mark. The models, `doctor` among them, are authors;
    the evaluators' own notes are references, in the order of evaluators. The file holds no
    conversations, so passages are empty. Upper and lower case of its columns' names do not count.
    """
    rows = Rows()
    records = csv_records(folder / FILE, rows.problems, required=(), remedy=AGAIN)
    named = [(at, {name.strip().casefold(): v for name, v in of.items()}) for at, of in records]
    missing = [name for name in _COLUMNS if named and name not in named[0][1]]
    for name in missing:
        rows.wrong(Place(FILE, 1), f"column {shown(name)} is missing")
    notes = _Notes()
    for at, fields in named if not missing else ():
        evaluator, consultation, model = (fields[name].strip() for name in _KEYS)
        if not (evaluator and consultation and model):
            rows.wrong(at, "evaluator, consultation or model is empty")
            continue
        for column, writer in ((_BY_EVALUATOR, evaluator), (_BY_MODEL, model)):
            key, text = (consultation, column, writer), fields[column].strip()
            if notes.setdefault(key, (at, text))[1] != text:
                where = f"consultation {shown(consultation)}, first in line {notes[key][0].row}"
                rows.wrong(at, f"the {column} is not the one of an earlier row", where)
        of = STUDY, consultation, model, FULL, "text", evaluator
        rows.rate(at, of, _values(at, fields, rows))
    _add_texts(notes, rows)
    return rows


def _add_texts(notes: _Notes, rows: Rows) -> None:
    references = dict[str, int]()
    for (consultation, column, writer), (at, text) in sorted(notes.items()):
        if consultation not in references:
            rows.sources.append(source_row(at, consultation, "note", []))
            references[consultation] = 0
        author = writer
        if column == _BY_EVALUATOR:
            if not text:
                continue
            references[consultation] += 1
            number = references[consultation]
            author = REFERENCE if number == 1 else f"{REFERENCE}:{number}"
        status = "ok" if text else "error"
        rows.texts.append(TextRow(at, consultation, author, FULL, text or None, status))


def _values(at: Place, fields: dict[str, str], rows: Rows) -> dict[str, float | None]:
    found = dict[str, float | None]()
    edited = any(fields[name].strip() for name in (_EDITED, *LISTS))
    for column, criterion in LISTS.items():
        marks = _marks(fields[column]) if edited else None
        if edited and marks is None:
            rows.warnings.add(at, f"{shown(column)} begin without ! or -", "its ratings are null")
        found[criterion] = None if marks is None else len(marks)
        found[f"critical_{criterion}"] = None if marks is None else marks.count("!")
    found[SECONDS] = finite_number(fields["post-edit time"].strip())
    return found


def _marks(listed: str) -> str | None:
    """The mark of each entry; a line without one goes on with the entry above it."""
    lines = [line.strip() for line in listed.splitlines() if line.strip()]
    if lines and lines[0][0] not in "!-":
        return None
    return "".join(line[0] for line in lines if line[0] in "!-")
