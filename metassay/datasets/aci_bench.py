"""ACI-BENCH, test set 1 (Yim et al. 2023): dialogues, reference notes and the notes of 12 systems.

Every file carries encounter_id, by which rows are matched.
"""

import re
from pathlib import Path

from metassay.core.errors import shown
from metassay.datasets.own_data import released
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import Record, csv_records
from metassay.tabular.rows import AGAIN, Rows, TextRow, canonical, source_row, turns_of
from metassay.text.patterns import read_pairs

DIALOGUES = "clinicalnlp_taskB_test1.csv"
METADATA = "clinicalnlp_taskB_test1_metadata.csv"
SYSTEMS = read_pairs(__file__, "systems")

_KEY, _NOTE, _DIALOGUE = "encounter_id", "note", "dialogue"
_TURN = re.compile(r"^\[([a-z_]+)\]", re.MULTILINE)


@released
def read(folder: Path) -> Rows:
    """Read the 14 files.

    Dialogues become one passage per turn, its tag in `speaker`; an untagged line continues the turn
    above it. Notes stay as they are, also an empty one. The encounter's metadata are `attributes`.
    """
    rows = Rows()
    about = {one.fields[_KEY]: one.fields for one in _records(folder / METADATA, (), rows)}
    for record in _records(folder / DIALOGUES, (_DIALOGUE, _NOTE), rows):
        at, encounter = record.at, record.fields[_KEY]
        where = f"{_KEY} {shown(encounter)}"
        speaker, passages = turns_of(record.fields[_DIALOGUE], _TURN, at, rows, where)
        more = canonical({n: v for n, v in about.get(encounter, {}).items() if n != _KEY})
        rows.sources.append(source_row(at, encounter, "note", passages, speaker, attributes=more))
        rows.texts.append(TextRow(at, encounter, REFERENCE, FULL, record.fields[_NOTE]))
    for author, name in SYSTEMS.items():
        for at, fields in _records(folder / name, (_NOTE,), rows):
            rows.texts.append(TextRow(at, fields[_KEY], author, FULL, fields[_NOTE]))
    return rows


def _records(path: Path, columns: tuple[str, ...], rows: Rows) -> list[Record]:
    return csv_records(path, rows.problems, required=(_KEY, *columns), remedy=AGAIN)
