"""MTS-Dialog's correlation study (Ben Abacha et al. 2023): 4 systems, rated by experts.

The two CSV files share no key. Their rows correspond by order, and so do the blocks of the
summaries' file: the documents 0, 1, ... of one system, then the same documents of the next. A
warning says so. Upstream does not name the systems: they are system_1, system_2, ... in the order
of their blocks.
"""

import re
from pathlib import Path

from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import Record, csv_records
from metassay.tabular.rows import AGAIN, Place, RatingRow, Rows, TextRow, source_row, turns_of

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
    ids = [record.fields["ID"] for record in summaries]
    documents = len(set(ids))
    whole = ids == list(map(str, range(documents))) * (len(ids) // max(documents, 1))
    if (len(scores) != len(ids) or not whole) and not rows.problems:
        rows.wrong(Place(SUMMARIES), f"does not go with {SCORES}: their rows correspond by order")
    if rows.problems:
        return rows
    for record in summaries[:documents]:
        speaker, passages = turns_of(record.fields["Dialogue"], _TAG)
        doc_id, reference = _doc_id(record), record.fields["Reference Summary"]
        rows.sources.append(source_row(record.at, doc_id, "note", passages, speaker))
        rows.texts.append(TextRow(record.at, doc_id, REFERENCE, FULL, reference))
    for number, (summary, score) in enumerate(zip(summaries, scores, strict=True)):
        _add_summary(summary, score, f"system_{number // documents + 1}", rows)
    what = f"{len(summaries)} rows were joined with those of {SCORES} by their order"
    rows.warnings.add(Place(SUMMARIES), what, "the files have no key to join by")
    return rows


def _doc_id(record: Record) -> str:
    return f"mts_{int(record.fields['ID']):03d}"


def _add_summary(summary: Record, score: Record, author: str, rows: Rows) -> None:
    doc_id = _doc_id(summary)
    rows.texts.append(
        TextRow(summary.at, doc_id, author, FULL, summary.fields["Automatic Summary"])
    )
    for column, criterion in CRITERIA.items():
        value = float(score.fields[column])
        if column == "OmissionRate" and value < 0:
            what = "the omission rate is below 0, which no rate can be; kept as released"
            fix = "leave it: the published correlations contain it"
            rows.warnings.add(score.at, what, fix, f"value {value:g}")
        rows.ratings.append(
            RatingRow(score.at, STUDY, doc_id, author, FULL, "text", RATER, criterion, value)
        )
