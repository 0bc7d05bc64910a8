"""Factuality of XSum summaries (Maynez et al. 2020): is a summary true, whatever its article says?

Three people were asked about each summary that somebody had found unfaithful. The released score of
an entailment model, of the summary given its article, is a judge whose verdicts are given. The
articles are not released with the labels, so that no other judge can be asked.
"""

from pathlib import Path

from metassay.datasets.xsum_hallucination import read as read_rows
from metassay.labelled.judges.items import ItemRow, Items, LabelRow, VerdictRow
from metassay.tables.names import FULL

JUDGE = "released_entailment"
_CRITERION, _METRIC = "factuality", "xsum_entailment"


def read(folder: Path) -> Items:
    """Each summary that people were asked about; its subset is the system that wrote it."""
    rows = read_rows(folder)
    labels = [
        LabelRow(row.at, f"{row.doc_id}:{row.author}", row.rater, _said(row.value))
        for row in rows.ratings
        if row.criterion == _CRITERION
    ]
    asked = {row.item for row in labels}
    return Items(
        [
            ItemRow(row.at, item, [], row.text or "", None, row.author, FULL, row.doc_id)
            for row in rows.texts
            if (item := f"{row.doc_id}:{row.author}") in asked
        ],
        [
            VerdictRow(row.at, item, JUDGE, probability=row.value)
            for row in rows.scores
            if row.metric == _METRIC and (item := f"{row.doc_id}:{row.author}") in asked
        ],
        labels,
        rows.problems,
        rows.warnings,
    )


def _said(value: float | None) -> bool | None:
    return None if value is None else value == 1
