"""ACI-BENCH, test set 1 (Yim et al. 2023): dialogues, reference notes and the notes of 12 systems.

Rows of the files are matched by encounter_id.
"""

import re
from pathlib import Path

from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import Record, csv_records
from metassay.tabular.rows import (
    AGAIN,
    Place,
    Rows,
    TextRow,
    canonical,
    source_row,
    turns_of,
)

DIALOGUES = "clinicalnlp_taskB_test1.csv"
METADATA = "clinicalnlp_taskB_test1_metadata.csv"
SYSTEMS = {
    "bart_large_full": "BART_large_clinicalnlp_taskB_test1_full.csv",
    "bart_samsum_full": "bart-large-xsum-samsum_clinicalnlp_taskB_test1_full.csv",
    "bart_samsum_section": "bart-large-xsum-samsum_clinicalnlp_taskB_test1_division_combined.csv",
    "biobart_full": "BioBART_clinicalnlp_taskB_test1_full.csv",
    "biobart_section": "BioBART_clinicalnlp_taskB_test1_division_combined.csv",
    "chatgpt": "test1ChatGPT_.csv",
    "gpt4": "test1GPT-4_.csv",
    "led_full": "LED_clinicalnlp_taskB_test1_full.csv",
    "led_section": "LED_clinicalnlp_taskB_test1_division_combined.csv",
    "longest_speaker_turn": "longest_speaker_turn_clinicalnlp_taskB_test1.csv",
    "transcript": "transcript_clinicalnlp_taskB_test1.csv",
    "umls_similarity": "UMLS_similarity_clinicalnlp_taskB_test1.csv",
}
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
    notes = {
        author: _by_encounter(folder / name, (_DIALOGUE_OF.get(author, _DIALOGUE), _NOTE), rows)
        for author, name in SYSTEMS.items()
    }
    files = zip((METADATA, *SYSTEMS.values()), (metadata, *notes.values()), strict=True)
    for name, records in files if not rows.problems else ():
        if records.keys() != references.keys():
            rows.wrong(Place(name), f"has other encounters than {DIALOGUES}")
    if rows.problems:
        return rows
    for encounter, record in references.items():
        about = {n: v for n, v in metadata[encounter].fields.items() if n != _KEY}
        speaker, passages = turns_of(record.fields[_DIALOGUE], _TURN)
        rows.sources.append(
            source_row(record.at, encounter, "note", passages, speaker, attributes=canonical(about))
        )
    for author, records in {REFERENCE: references, **notes}.items():
        rows.texts += [
            TextRow(record.at, encounter, author, FULL, record.fields[_NOTE])
            for encounter, record in records.items()
        ]
    return rows


def _by_encounter(path: Path, columns: tuple[str, ...], rows: Rows) -> dict[str, Record]:
    records = csv_records(path, rows.problems, required=(_KEY, *columns), remedy=AGAIN)
    return {record.fields[_KEY]: record for record in records}
