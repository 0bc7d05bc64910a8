"""Factuality of XSum summaries (Maynez et al. 2020): is a summary true, whatever its article says?

Three people were asked about each summary that somebody had found unfaithful. The released score of
an entailment model, of the summary given its article, is a judge whose verdicts are given. The
articles are not released with the labels, so that no other judge can be asked.
"""

from pathlib import Path

from metassay.datasets.scored_texts import read_xsum_hallucination as read_rows
from metassay.labelled.records import ItemRow, Items, LabelRow, VerdictRow
from metassay.tables.names import FULL
from metassay.tabular.rows import RatingRow, ScoreRow, TextRow

JUDGE = "released_entailment"
_CRITERION, _METRIC = "factuality", "xsum_entailment"


def read(folder: Path) -> Items:
    """Each summary that people were asked about; its subset is the system that wrote it."""
    rows = read_rows(folder)
    labels = [
        LabelRow(row.at, _key(row), row.rater, None if row.value is None else row.value == 1)
        for row in rows.ratings
        if row.criterion == _CRITERION
    ]
    asked = {row.item for row in labels}
    items = [
        ItemRow(row.at, _key(row), [], row.text or "", None, row.author, FULL, row.doc_id)
        for row in rows.texts
        if _key(row) in asked
    ]
    verdicts = [
        VerdictRow(row.at, _key(row), JUDGE, probability=row.value)
        for row in rows.scores
        if row.metric == _METRIC and _key(row) in asked
    ]
    return Items(items, verdicts, labels, rows.problems, rows.warnings)


def _key(row: TextRow | RatingRow | ScoreRow) -> str:
    return f"{row.doc_id}:{row.author}"
