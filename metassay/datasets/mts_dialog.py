"""MTS-Dialog's correlation study (Ben Abacha et al. 2023): 4 systems, rated by experts.

The two CSV files share no key. Their rows correspond by order, and so do the blocks of the
summaries' file: the documents 0, 1, ... of one system, then the same documents of the next. The
reader checks the counts, that every block has the same dialogues and references, and says in a
warning that it went by order. Upstream does not name the systems: they are system_1, system_2, ...
in the order of their blocks.
"""

import re
from pathlib import Path

from metassay.datasets.own_data import cell_number
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import Record, csv_records
from metassay.tabular.rows import AGAIN, Place, Rows, TextRow, source_row, turns_of
from metassay.text.patterns import read_pairs

SUMMARIES = "MTS-Dialog-Automatic-Summaries-ValidationSet.csv"
SCORES = "MTS-Dialog-Manual-Scores4CorrelationStudy.csv"
CRITERIA = read_pairs(__file__, "criteria")
STUDY = "mts_dialog"
RATER = "expert"

_COLUMNS = ("ID", "Dialogue", "Reference Summary", "Automatic Summary")
_TAG = re.compile(r"\b(Doctor|Patient|Guest_[a-z]+(?:_\d+)?)\s*:")


def read(folder: Path) -> Rows:
    """Read the two files.

    Dialogues become one passage per turn, the speaker's tag in `speaker`; summaries stay as they
    are. Values stay as released, also the omission rates below 0, which a warning counts.
    """
    rows = Rows()
    summaries = csv_records(folder / SUMMARIES, rows.problems, required=_COLUMNS, remedy=AGAIN)
    scores = csv_records(folder / SCORES, rows.problems, required=tuple(CRITERIA), remedy=AGAIN)
    documents = _documents(summaries, rows)
    if len(summaries) != len(scores) and not rows.problems:
        what = f"has {len(scores)} rows, {SUMMARIES} has {len(summaries)}"
        rows.wrong(Place(SCORES), what, remedy=f"their rows correspond by order; {AGAIN}")
    if rows.problems:
        return rows
    for record in summaries[:documents]:
        _add_document(record, rows)
    for number, (summary, score) in enumerate(zip(summaries, scores, strict=True)):
        author = f"system_{number // documents + 1}"
        _add_summary(summary, score, author, rows)
    what = f"{len(summaries)} rows were joined with those of {SCORES} by their order"
    rows.warnings.add(Place(SUMMARIES), what, "the files have no key to join by")
    return rows


def _documents(summaries: list[Record], rows: Rows) -> int:
    """How many documents a block has; a problem if the blocks are not of one kind."""
    ids = [record.fields["ID"] for record in summaries]
    count = len(set(ids))
    blocks = len(ids) // count if count else 0
    if ids != [str(number) for number in range(count)] * blocks:
        what = "the IDs are not 0, 1, 2, ... once for each system"
        rows.wrong(Place(SUMMARIES), what)
        return count
    for number, record in enumerate(summaries):
        first = summaries[number % count].fields
        for column in ("Dialogue", "Reference Summary"):
            if record.fields[column] != first[column]:
                what = f"{column!r} is not that of the first row with the same ID"
                rows.wrong(record.at, what, f"ID {record.fields['ID']}")
    return count


def _doc_id(record: Record) -> str:
    return f"mts_{int(record.fields['ID']):03d}"


def _add_document(record: Record, rows: Rows) -> None:
    doc_id, where = _doc_id(record), f"ID {record.fields['ID']}"
    speaker, passages = turns_of(record.fields["Dialogue"], _TAG, record.at, rows, where)
    rows.sources.append(source_row(record.at, doc_id, "note", passages, speaker))
    reference = record.fields["Reference Summary"]
    rows.texts.append(TextRow(record.at, doc_id, REFERENCE, FULL, reference))


def _add_summary(summary: Record, score: Record, author: str, rows: Rows) -> None:
    doc_id = _doc_id(summary)
    text = summary.fields["Automatic Summary"]
    rows.texts.append(TextRow(summary.at, doc_id, author, FULL, text))
    by = {name: cell_number(score, column, rows) for column, name in CRITERIA.items()}
    if (omission := by["omission_rate"] or 0.0) < 0:
        what = "the omission rate is below 0, which no rate can be; kept as released"
        fix = "leave it: the published correlations contain it"
        rows.warnings.add(score.at, what, fix, f"value {omission:g}")
    rows.rate(score.at, (STUDY, doc_id, author, FULL, "text", RATER), by)
