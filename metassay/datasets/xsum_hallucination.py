"""XSum's hallucination annotations (Maynez et al. 2020): summaries by 4 systems and the reference.

The files have no articles: sources have no passages. Rows are matched by article and system. The
annotators' file escapes quotes; texts here do not. A span is the 1-based offset of its first
character and of the one after its last, in the text without escapes (99.6 % of the released spans
are those characters).
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import Record, csv_records
from metassay.tabular.rows import AGAIN, Place, RatingRow, Rows, ScoreRow, TextRow, source_row

SPANS = "hallucination_annotations_xsum_summaries.csv"
FACTS = "factuality_annotations_xsum_summaries.csv"
SCORES = "eval_scores_xsum_summaries.csv"
AUTHORS = {
    "BERTS2S": "berts2s",
    "TranS2S": "trans2s",
    "PtGen": "ptgen",
    "TConvS2S": "tconvs2s",
    "Gold": REFERENCE,
}
METRICS = {
    "R1": "xsum_rouge1",
    "R2": "xsum_rouge2",
    "RL": "xsum_rougeL",
    "BERTScore": "xsum_bertscore",
    "Entailment": "xsum_entailment",
}
STUDY = "xsum_hallucination"
RELEASED = "released"  # the rater of upstream's own summary of its raters

_MEANS = {"Faithful": "faithful_released", "Factual": "factual_released"}
_SCORED = {
    "bert_withckpt": "berts2s",
    "bert_nockpt": "trans2s",
    "ptgen": "ptgen",
    "tconvs2s": "tconvs2s",
}
_ANSWERS = {"yes": 1.0, "no": 0.0, "NULL": None}
_KEY = ("bbcid", "system", "summary", "worker_id")
_SPAN = ("hallucination_type", "hallucinated_span_start", "hallucinated_span_end")
_WORD = re.compile(r"\S+")
_ESCAPE = re.compile(r"\\([\"'])")

Key = tuple[str, str]  # document, author
Span = tuple[int, int]  # counted from 0, end exclusive


class _Marked(NamedTuple):
    """One summary, and per rater where the rater saw something that is not in the article."""

    at: Place
    text: str
    spans: dict[str, list[Span]]


def read(folder: Path) -> Rows:
    """Read the three files.

    Ratings: `faithfulness` by each rater, the share of the summary's words that no span of theirs
    touches; `factuality` by each rater, 1 or 0, null where they abstained, and no row for summaries
    that were not asked about (nobody found them unfaithful). `faithful_released` and
    `factual_released` are upstream's means of those, by the rater `released`.
    """
    rows = Rows()
    spans = _records(folder / SPANS, (*_KEY, *_SPAN), rows)
    facts = _records(folder / FACTS, (*_KEY, "is_factual"), rows)
    scores = _records(folder / SCORES, ("system_bbcid", *METRICS, *_MEANS), rows)
    marked: dict[Key, _Marked] = {}
    for record in spans:
        text = _ESCAPE.sub(r"\1", record.fields["summary"])
        one = marked.setdefault(_key(record), _Marked(record.at, text, defaultdict(list)))
        one.spans[record.fields["worker_id"]] += _span(record, len(one.text))
    _add_texts(marked, rows)
    for record in facts:
        value = _ANSWERS[record.fields["is_factual"]]
        rater = record.fields["worker_id"]
        rows.ratings.append(_rating(record.at, _key(record), rater, "factuality", value))
    for record in scores:
        system, _, article = record.fields["system_bbcid"].rpartition("_")
        key = (f"xsum_{article}", _SCORED[system])
        for column, metric in METRICS.items():
            rows.scores.append(
                ScoreRow(record.at, *key, FULL, metric, float(record.fields[column]))
            )
        for column, criterion in _MEANS.items():
            value = float(record.fields[column])
            rows.ratings.append(_rating(record.at, key, RELEASED, criterion, value))
    return rows


def _records(path: Path, columns: tuple[str, ...], rows: Rows) -> list[Record]:
    return csv_records(path, rows.problems, required=columns, remedy=AGAIN)


def _key(record: Record) -> Key:
    return f"xsum_{record.fields['bbcid']}", AUTHORS[record.fields["system"]]


def _span(record: Record, length: int) -> list[Span]:
    if record.fields["hallucination_type"] == "NULL":
        return []
    start, end = (int(record.fields[name]) for name in _SPAN[1:])
    # A few begin at 0 or end past the text's end.
    return [(max(start - 1, 0), min(end - 1, length))]


def _add_texts(marked: dict[Key, _Marked], rows: Rows) -> None:
    documents: set[str] = set()
    for (doc_id, author), one in marked.items():
        if doc_id not in documents:
            documents.add(doc_id)
            rows.sources.append(source_row(one.at, doc_id, "other", []))
        rows.texts.append(TextRow(one.at, doc_id, author, FULL, one.text))
        for rater, spans in one.spans.items():
            value = _faithful(one.text, spans)
            rows.ratings.append(_rating(one.at, (doc_id, author), rater, "faithfulness", value))


def _faithful(text: str, spans: list[Span]) -> float | None:
    """The share of words that no span touches; None for a text without words."""
    words = [match.span() for match in _WORD.finditer(text)]
    touched = [any(a < end and start < z for start, end in spans) for a, z in words]
    return 1 - sum(touched) / len(words) if words else None


def _rating(at: Place, key: Key, rater: str, criterion: str, value: float | None) -> RatingRow:
    return RatingRow(at, STUDY, *key, FULL, "text", rater, criterion, value)
