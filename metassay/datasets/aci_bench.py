"""ACI-BENCH, test set 1 (Yim et al. 2023): dialogues, reference notes and the notes of 12 systems.

Every file carries encounter_id and the dialogue; rows are matched by encounter_id, and the dialogue
must be the same.
"""

import re
from pathlib import Path

from metassay.core.errors import shown
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import Record, csv_records
from metassay.tabular.rows import (
    AGAIN,
    Place,
    Rows,
    SourceRow,
    TextRow,
    canonical,
    source_row,
    turns_of,
)
from metassay.text.patterns import read_pairs

DIALOGUES = "clinicalnlp_taskB_test1.csv"
METADATA = "clinicalnlp_taskB_test1_metadata.csv"
SYSTEMS = read_pairs(__file__, "systems")

_KEY, _NOTE, _DIALOGUE = "encounter_id", "note", "dialogue"
_DIALOGUE_OF = {"chatgpt": "Dialogues", "gpt4": "Dialogues"}
_TURN = re.compile(r"^\[([a-z_]+)\]", re.MULTILINE)


def read(folder: Path) -> Rows:
    """Read the 14 files.

    Dialogues become one passage per turn, its tag in `speaker`; an untagged line continues the turn
    above it. Notes stay as they are, also an empty one. The encounter's metadata are `attributes`.
    """
    rows = Rows()
    references = _by_encounter(folder / DIALOGUES, (_DIALOGUE, _NOTE), rows)
    metadata = _by_encounter(folder / METADATA, (), rows)
    for encounter, record in references.items():
        if metadata and encounter not in metadata:
            what = f"the encounter is not in {METADATA}"
            rows.wrong(record.at, what, f"{_KEY} {shown(encounter)}")
            rows.unreadable.add("sources")
            continue
        rows.sources.append(_source(record, metadata.get(encounter, record), rows))
        rows.texts.append(TextRow(record.at, encounter, REFERENCE, FULL, record.fields[_NOTE]))
    for author, name in SYSTEMS.items():
        _read_system(folder / name, author, references, rows)
    return rows


def _by_encounter(path: Path, columns: tuple[str, ...], rows: Rows) -> dict[str, Record]:
    required = (_KEY, *columns)
    found: dict[str, Record] = {}
    for record in csv_records(path, rows.problems, required=required, remedy=AGAIN):
        encounter = record.fields[_KEY]
        if found.setdefault(encounter, record) is not record:
            what = f"the {_KEY} is there twice"
            rows.wrong(record.at, what, f"{_KEY} {shown(encounter)}")
    return found


def _source(record: Record, about: Record, rows: Rows) -> SourceRow:
    encounter = record.fields[_KEY]
    where = f"{_KEY} {shown(encounter)}"
    speaker, passages = turns_of(record.fields[_DIALOGUE], _TURN, record.at, rows, where)
    attributes = canonical({n: v for n, v in about.fields.items() if n != _KEY})
    return source_row(record.at, encounter, "note", passages, speaker, attributes=attributes)


def _read_system(path: Path, author: str, references: dict[str, Record], rows: Rows) -> None:
    column = _DIALOGUE_OF.get(author, _DIALOGUE)
    notes = _by_encounter(path, (column, _NOTE), rows)
    if not (notes and references):
        return  # the file that cannot be read is a problem already
    for encounter, record in notes.items():
        where = f"{_KEY} {shown(encounter)}"
        reference = references.get(encounter)
        if reference is None:
            rows.wrong(record.at, f"the encounter is not in {DIALOGUES}", where)
            continue
        if record.fields[column] != reference.fields[_DIALOGUE]:
            what = f"the dialogue differs from that in {DIALOGUES}"
            rows.wrong(record.at, what, where)
        rows.texts.append(TextRow(record.at, encounter, author, FULL, record.fields[_NOTE]))
    for encounter in sorted(set(references) - set(notes)):
        what = f"an encounter of {DIALOGUES} is absent"
        rows.wrong(Place(path.name), what, f"{_KEY} {shown(encounter)}")
