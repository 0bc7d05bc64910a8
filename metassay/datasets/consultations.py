"""Notes of consultations: ACI-BENCH, MTS-Dialog's correlation study, PriMock57, and SimSUM."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from metassay.core.errors import shown
from metassay.datasets.own_data import cell_number, release_reader
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import Record, csv_records, finite_number
from metassay.tabular.rows import (
    AGAIN,
    Place,
    Rows,
    TextRow,
    canonical_json,
    source_row,
    split_turns,
)

VERSION = 1  # raised by whoever changes results of this module's kinds

DIALOGUES = "clinicalnlp_taskB_test1.csv"
METADATA = "clinicalnlp_taskB_test1_metadata.csv"
# The file of each system.
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

_KEY = "encounter_id"
_NOTE = "note"
_DIALOGUE = "dialogue"
_TURN = re.compile(r"^\[([a-z_]+)\]", re.MULTILINE)


@release_reader
def read_aci_bench(folder: Path) -> Rows:
    """Read ACI-BENCH, test set 1 (Yim et al. 2023): notes of 12 systems, 14 files.

    Dialogues have a passage per turn, with the tag in `speaker`; an untagged line
    continues the turn above. Notes are unchanged, also empty ones. Metadata of
    encounters are `attributes`.
    """
    rows = Rows()
    about = {
        record.fields[_KEY]: record.fields
        for record in _records(folder / METADATA, (), rows)
    }
    for record in _records(folder / DIALOGUES, (_DIALOGUE, _NOTE), rows):
        at = record.at
        encounter = record.fields[_KEY]
        where = f"{_KEY} {shown(encounter)}"
        speaker, passages = split_turns(
            record.fields[_DIALOGUE], _TURN, at, rows, where
        )
        more = canonical_json(
            {n: v for n, v in about.get(encounter, {}).items() if n != _KEY}
        )
        rows.sources.append(
            source_row(at, encounter, "note", passages, speaker, attributes=more)
        )
        rows.texts.append(
            TextRow(
                at=at,
                doc_id=encounter,
                author=REFERENCE,
                part=FULL,
                text=record.fields[_NOTE],
            )
        )
    for author, name in SYSTEMS.items():
        for at, fields in _records(folder / name, (_NOTE,), rows):
            rows.texts.append(
                TextRow(
                    at=at,
                    doc_id=fields[_KEY],
                    author=author,
                    part=FULL,
                    text=fields[_NOTE],
                )
            )
    return rows


def _records(path: Path, columns: tuple[str, ...], rows: Rows) -> list[Record]:
    return csv_records(path, rows.problems, required=(_KEY, *columns), remedy=AGAIN)


# ---- MTS-Dialog

SUMMARIES = "MTS-Dialog-Automatic-Summaries-ValidationSet.csv"
SCORES = "MTS-Dialog-Manual-Scores4CorrelationStudy.csv"
CRITERIA = {
    "FactualPrecision": "factual_precision",
    "FactualRecall": "factual_recall",
    "FactualF1": "factual_f1",
    "HallucinationRate": "hallucination_rate",
    "OmissionRate": "omission_rate",
    "Edit Distance (Correction)": "edit_distance",
}

_COLUMNS = ("ID", "Dialogue", "Reference Summary", "Automatic Summary")
_TAG = re.compile(r"\b(Doctor|Patient|Guest_[a-z]+(?:_\d+)?)\s*:")


@release_reader
def read_mts_dialog(folder: Path) -> Rows:
    """Read MTS-Dialog (Ben Abacha et al. 2023): 4 systems, rated by experts.

    The two CSV files share no key and are joined by the order of rows, with a warning.
    The file of summaries has a block per system with the documents 0, 1, ... Upstream
    does not name the systems: they are system_1, system_2, ... in the order of their
    blocks.

    Dialogues have a passage per turn, with the speaker's tag in `speaker`. Summaries
    and values are unchanged, also omission rates below 0, which a warning counts.
    """
    rows = Rows()
    summaries = csv_records(
        folder / SUMMARIES, rows.problems, required=_COLUMNS, remedy=AGAIN
    )
    scores = csv_records(
        folder / SCORES, rows.problems, required=tuple(CRITERIA), remedy=AGAIN
    )
    ids = [record.fields["ID"] for record in summaries]
    documents = len(set(ids))
    blocks = [str(number) for number in range(documents)] * (
        len(scores) // (documents or 1)
    )
    if rows.problems or ids != blocks:
        if not rows.problems:
            what = f"the IDs are not 0, 1, 2, ... once for each system, {len(scores)} in all"
            rows.wrong(Place(SUMMARIES), what)
        return rows
    for number, ((at, fields), score) in enumerate(zip(summaries, scores, strict=True)):
        doc_id = f"mts_{int(fields['ID']):03d}"
        author = f"system_{number // documents + 1}"
        if number < documents:
            where = f"ID {fields['ID']}"
            speaker, passages = split_turns(fields["Dialogue"], _TAG, at, rows, where)
            rows.sources.append(source_row(at, doc_id, "note", passages, speaker))
            rows.texts.append(
                TextRow(
                    at=at,
                    doc_id=doc_id,
                    author=REFERENCE,
                    part=FULL,
                    text=fields["Reference Summary"],
                )
            )
        rows.texts.append(
            TextRow(
                at=at,
                doc_id=doc_id,
                author=author,
                part=FULL,
                text=fields["Automatic Summary"],
            )
        )
        by = {
            name: cell_number(score, column, rows) for column, name in CRITERIA.items()
        }
        if (omission := by["omission_rate"] or 0.0) < 0:
            what = (
                "the omission rate is below 0, which no rate can be; kept as released"
            )
            fix = "leave it: the published correlations contain it"
            rows.warnings.add(score.at, what, fix, f"value {omission:g}")
        rows.rate(score.at, ("mts_dialog", doc_id, author, FULL, "text", "expert"), by)
    what = f"{len(summaries)} rows were joined with those of {SCORES} by their order"
    rows.warnings.add(Place(SUMMARIES), what, "the files have no key to join by")
    return rows


# ---- PriMock57

FILE = "results.csv"
LISTS = {"incorrect statements": "incorrect_statements", "omissions": "omissions"}
SECONDS = "post_edit_seconds"

_KEYS = ("evaluator", "consultation", "model")
_BY_EVALUATOR = "evaluator note"
_BY_MODEL = "model note"
_EDITED = "post-edited note"
_REQUIRED = (*_KEYS, _BY_EVALUATOR, _BY_MODEL, _EDITED, "post-edit time", *LISTS)
# by consultation, column and writer
_Notes = dict[tuple[str, str, str], tuple[Place, str]]


def read_primock57(folder: Path) -> Rows:
    """Read PriMock57's human evaluation: ratings of each note by each evaluator.

    Each evaluator wrote a note of each consultation, and edited notes by several models
    and by the doctor. They listed incorrect statements and omissions of each, in lines
    that begin with `!` if critical, else with `-` (Moramarco et al. 2022; the form is
    that of human_eval_data/README.md in babylonhealth/primock57).

    `incorrect_statements` and `omissions` are counts, `critical_...` counts of critical
    lines, SECONDS the time of editing. An empty list counts 0. Without an edited note,
    which shows that the note was read, both counts are null; so are those of a list
    that begins without a mark. Models and `doctor` are authors; the evaluators' notes
    are references, in the order of evaluators. The file has no conversations, so
    passages are empty. Names of columns are case-insensitive.
    """
    rows = Rows()
    records = csv_records(folder / FILE, rows.problems, required=(), remedy=AGAIN)
    folded = []
    for at, fields in records:
        by_name = {name.strip().casefold(): cell for name, cell in fields.items()}
        folded.append((at, by_name))
    missing = [name for name in _REQUIRED if folded and name not in folded[0][1]]
    for name in missing:
        rows.wrong(Place(FILE, 1), f"column {shown(name)} is missing")
    notes = _Notes()
    for at, fields in folded if not missing else ():
        evaluator, consultation, model = (fields[name].strip() for name in _KEYS)
        if not (evaluator and consultation and model):
            rows.wrong(at, "evaluator, consultation or model is empty")
            continue
        for column, writer in ((_BY_EVALUATOR, evaluator), (_BY_MODEL, model)):
            note = (consultation, column, writer)
            text = fields[column].strip()
            if notes.setdefault(note, (at, text))[1] != text:
                where = f"consultation {shown(consultation)}, first in line {notes[note][0].row}"
                rows.wrong(at, f"the {column} is not the one of an earlier row", where)
        key = "primock57", consultation, model, FULL, "text", evaluator
        rows.rate(at, key, _values(at, fields, rows))
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
        rows.texts.append(
            TextRow(
                at=at,
                doc_id=consultation,
                author=author,
                part=FULL,
                text=text or None,
                status=status,
            )
        )


def _values(at: Place, fields: dict[str, str], rows: Rows) -> dict[str, float | None]:
    values = dict[str, float | None]()
    edited = any(fields[name].strip() for name in (_EDITED, *LISTS))
    for column, criterion in LISTS.items():
        marks = _marks(fields[column]) if edited else None
        if edited and marks is None:
            rows.warnings.add(
                at, f"{shown(column)} begin without ! or -", "its ratings are null"
            )
        values[criterion] = None if marks is None else len(marks)
        values[f"critical_{criterion}"] = None if marks is None else marks.count("!")
    values[SECONDS] = finite_number(fields["post-edit time"].strip())
    return values


def _marks(text: str) -> str | None:
    """Return the mark of each entry; a line without a mark continues the entry above."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and lines[0][0] not in "!-":
        return None
    return "".join(line[0] for line in lines if line[0] in "!-")


# ---- SimSUM

SIMSUM_CRITERIA = (
    "consistency",
    "realism_hist",
    "realism_phys",
    "clinical_accuracy",
    "compact_content",
    "compact_readability",
)
# A single model wrote the notes, which the form does not name.
_OF_NOTES = ("generated", FULL, "text")
NOTES = "notes.csv"

_SEE = "docs/datasets.md shows the form"


def read_simsum(folder: Path) -> Rows:
    """Read the form of the SimSUM expert study: raters' grades of generated clinical notes.

    A folder has a CSV per rater, named after the rater, or one CSV with a column
    `rater`. Row i is note i, with the document `note_01` and so on; the texts can be in
    `notes.csv`.

    An empty cell is null: the rater did not grade this criterion. All raters must have
    the same number of rows, as only rows identify notes. Without `notes.csv` there are
    ratings and no texts, which suffices for means and agreement. A warning names
    columns that are not of the form; a column without a name, as data frames write it,
    must number the rows from 0 or 1.
    """
    rows = Rows()
    sheets = sorted(folder.glob("*.csv")) if folder.is_dir() else []
    sheets = [path for path in sheets if path.name != NOTES]
    if not sheets:
        what = "has no CSV file of a rater" if folder.is_dir() else "is not a folder"
        rows.wrong(Place(str(folder)), what, remedy=_SEE)
        return rows
    by_rater: dict[str, list[Record]] = {}
    for path in sheets:
        records = csv_records(
            path, rows.problems, required=SIMSUM_CRITERIA, remedy=_SEE
        )
        for rater, of_rater in _raters(path, records, rows):
            if rater in by_rater:
                what = f"rater {shown(rater)} is in another file too"
                rows.wrong(
                    Place(path.name), what, remedy="put a rater's rows into one file"
                )
            by_rater[rater] = of_rater
    ((n_notes, _),) = Counter(map(len, by_rater.values())).most_common(1) or [(0, 0)]
    for rater, of_rater in by_rater.items():
        if len(of_rater) != n_notes:
            what = (
                f"rater {shown(rater)} has {len(of_rater)} rows, others have {n_notes}"
            )
            fix = "give every note a row; leave the cells empty where there is no grade"
            rows.wrong(Place(of_rater[0].at.file), what, remedy=fix)
        for number, record in enumerate(of_rater, start=1):
            by = dict[str, float | None]()
            for criterion in SIMSUM_CRITERIA:
                cell = record.fields[criterion].strip()
                by[criterion] = finite_number(cell) if cell else None
                if cell and by[criterion] is None:
                    fix = "leave it empty where there is no grade"
                    rows.wrong(record.at, f"{criterion!r} is not a number", remedy=fix)
            key = "simsum", _name_note(number, n_notes), *_OF_NOTES, rater
            rows.rate(record.at, key, by)
    _add_notes(folder / NOTES, n_notes, rows)
    return rows


def _raters(
    path: Path, records: list[Record], rows: Rows
) -> Iterator[tuple[str, list[Record]]]:
    """Yield the records of each rater, in order."""
    if not records:
        return
    for name in records[0].fields.keys() - {*SIMSUM_CRITERIA, "rater", ""}:
        what = f"column {shown(name)} is not read"
        fix = "the form has no such column"
        rows.warnings.add(Place(path.name, 1), what, fix)
    by_rater: dict[str, list[Record]] = {}
    for record in records:
        rater = record.fields.get("rater", path.stem).strip()
        if not rater:
            rows.wrong(
                record.at, "'rater' is empty", remedy="write who graded this note"
            )
        by_rater.setdefault(rater, []).append(record)
    numbers = [record.fields.get("") for record in records]
    counted_from_0 = [str(number) for number in range(len(numbers))]
    counted_from_1 = [str(number + 1) for number in range(len(numbers))]
    if "" in records[0].fields and numbers not in (counted_from_0, counted_from_1):
        what = "the column without a name does not number the rows"
        fix = "put the rows in the order of the notes, and remove the column or number it from 0"
        rows.wrong(records[0].at, what, remedy=fix)
    yield from by_rater.items()


def _name_note(number: int, n_notes: int) -> str:
    return f"note_{number:0{max(2, len(str(n_notes)))}d}"


def _add_notes(path: Path, n_notes: int, rows: Rows) -> None:
    if not path.exists():
        at = Place(str(path.parent))
        fix = "ratings are read, without texts"
        rows.warnings.add(at, f"there is no {NOTES}", fix)
        return
    records = csv_records(path, rows.problems, required=("text",), remedy=_SEE)
    if records and len(records) != n_notes:
        what = f"has {len(records)} notes, and the raters have {n_notes} rows"
        fix = "give every note a row, in the raters' order"
        rows.wrong(Place(path.name), what, remedy=fix)
    for number, record in enumerate(records, start=1):
        doc_id = _name_note(number, n_notes)
        text = record.fields["text"]
        prompt = [
            line for line in record.fields.get("prompt", "").split("\n") if line.strip()
        ]
        rows.sources.append(source_row(record.at, doc_id, "note", prompt))
        rows.texts.append(TextRow(record.at, doc_id, *_OF_NOTES[:2], text))
        if not text.strip():
            rows.wrong(
                record.at, "'text' is empty", remedy="write the note that was graded"
            )
