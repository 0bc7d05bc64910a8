"""MTS-Dialog's correlation study (Ben Abacha et al. 2023): 4 systems, rated by experts.

The two CSV files share no key. Their rows correspond by order, and so do the blocks of the
summaries' file: the documents 0, 1, ... of one system, then the same documents of the next; a
warning says that they were joined so. Upstream does not name the systems: they are system_1,
system_2, ... in the order of their blocks.
"""

import re
from pathlib import Path

from metassay.datasets.own_data import cell_number, released
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import csv_records
from metassay.tabular.rows import AGAIN, Place, Rows, TextRow, source_row, turns_of
from metassay.text.patterns import read_pairs

SUMMARIES = "MTS-Dialog-Automatic-Summaries-ValidationSet.csv"
SCORES = "MTS-Dialog-Manual-Scores4CorrelationStudy.csv"
CRITERIA = read_pairs(__file__, "criteria")
STUDY = "mts_dialog"
RATER = "expert"

_COLUMNS = ("ID", "Dialogue", "Reference Summary", "Automatic Summary")
_TAG = re.compile(r"\b(Doctor|Patient|Guest_[a-z]+(?:_\d+)?)\s*:")


@released
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
    blocks = [str(number) for number in range(documents)] * (len(scores) // (documents or 1))
    if rows.problems or ids != blocks:
        if not rows.problems:
            what = f"the IDs are not 0, 1, 2, ... once for each system, {len(scores)} in all"
            rows.wrong(Place(SUMMARIES), what)
        return rows
    for number, ((at, fields), score) in enumerate(zip(summaries, scores, strict=True)):
        doc_id, author = f"mts_{int(fields['ID']):03d}", f"system_{number // documents + 1}"
        if number < documents:
            where = f"ID {fields['ID']}"
            speaker, passages = turns_of(fields["Dialogue"], _TAG, at, rows, where)
            rows.sources.append(source_row(at, doc_id, "note", passages, speaker))
            rows.texts.append(TextRow(at, doc_id, REFERENCE, FULL, fields["Reference Summary"]))
        rows.texts.append(TextRow(at, doc_id, author, FULL, fields["Automatic Summary"]))
        by = {name: cell_number(score, column, rows) for column, name in CRITERIA.items()}
        if (omission := by["omission_rate"] or 0.0) < 0:
            what = "the omission rate is below 0, which no rate can be; kept as released"
            fix = "leave it: the published correlations contain it"
            rows.warnings.add(score.at, what, fix, f"value {omission:g}")
        rows.rate(score.at, (STUDY, doc_id, author, FULL, "text", RATER), by)
    what = f"{len(summaries)} rows were joined with those of {SCORES} by their order"
    rows.warnings.add(Place(SUMMARIES), what, "the files have no key to join by")
    return rows
