"""XSum's hallucination annotations (Maynez et al. 2020): summaries by 4 systems and the reference.

The files have no articles: sources have no passages. Rows are matched by article and system. The
annotators' file escapes quotes; texts here do not. A span is the 1-based offset of its first
character and of the one after its last, in the text without escapes (99.6 % of the released spans
are those characters).
"""

import re
from collections import defaultdict
from pathlib import Path

from metassay.datasets.own_data import cell_number, released
from metassay.tables.names import FULL
from metassay.tabular.decoding import Record, csv_records
from metassay.tabular.rows import AGAIN, Place, Rows, TextRow, source_row
from metassay.text.patterns import read_pairs

SPANS = "hallucination_annotations_xsum_summaries.csv"
FACTS = "factuality_annotations_xsum_summaries.csv"
SCORES = "eval_scores_xsum_summaries.csv"
AUTHORS = read_pairs(__file__, "authors")
METRICS = read_pairs(__file__, "metrics")
STUDY = "xsum_hallucination"
RELEASED = "released"  # the rater of upstream's own summary of its raters

_MEANS = {"Faithful": "faithful_released", "Factual": "factual_released"}
_SCORED = read_pairs(__file__, "scored")
_ANSWERS = {"yes": 1.0, "no": 0.0, "NULL": None}
_KEY = ("bbcid", "system", "summary", "worker_id")
_SPAN = ("hallucination_type", "hallucinated_span_start", "hallucinated_span_end")
_WORD = re.compile(r"\S+")
_ESCAPE = re.compile(r"\\([\"'])")

Key = tuple[str, str]  # document, author
Span = tuple[int, int]  # counted from 0, end exclusive


@released
def read(folder: Path) -> Rows:
    """Read the three files.

    Ratings: `faithfulness` by each rater, the share of the summary's words that no span of theirs
    touches; `factuality` by each rater, 1 or 0, null where they abstained, and no row for summaries
    that were not asked about (nobody found them unfaithful). `faithful_released` and
    `factual_released` are upstream's means of those, by the rater `released`.
    """
    rows = Rows()
    texts: dict[Key, tuple[Place, str]] = {}
    marked: dict[Key, dict[str, list[Span]]] = defaultdict(lambda: defaultdict(list))

    def records(name: str, *columns: str) -> list[Record]:
        return csv_records(folder / name, rows.problems, required=columns, remedy=AGAIN)

    for at, of in records(SPANS, *_KEY, *_SPAN):
        key = f"xsum_{of['bbcid']}", AUTHORS[of["system"]]
        _, text = texts.setdefault(key, (at, _ESCAPE.sub(r"\1", of["summary"])))
        spans = marked[key][of["worker_id"]]
        kind, start, end = (of[name] for name in _SPAN)
        if kind != "NULL":  # a few begin at 0 or end past the text's end
            spans.append((max(int(start) - 1, 0), min(int(end) - 1, len(text))))
    documents = set[str]()
    for (doc_id, author), (at, text) in texts.items():
        if doc_id not in documents:
            documents.add(doc_id)
            rows.sources.append(source_row(at, doc_id, "other", []))
        rows.texts.append(TextRow(at, doc_id, author, FULL, text))
        for rater, spans in marked[doc_id, author].items():
            of_rater = STUDY, doc_id, author, FULL, "text", rater
            rows.rate(at, of_rater, {"faithfulness": _faithful(text, spans)})
    for at, of in records(FACTS, *_KEY, "is_factual"):
        key = f"xsum_{of['bbcid']}", AUTHORS[of["system"]]
        by = {"factuality": _ANSWERS[of["is_factual"]]}
        rows.rate(at, (STUDY, *key, FULL, "text", of["worker_id"]), by)
    for record in records(SCORES, "system_bbcid", *METRICS, *_MEANS):
        system, _, article = record.fields["system_bbcid"].rpartition("_")
        key = f"xsum_{article}", _SCORED[system]
        scores = {name: cell_number(record, column, rows) for column, name in METRICS.items()}
        rows.score(record.at, (*key, FULL), scores)
        means = {name: cell_number(record, column, rows) for column, name in _MEANS.items()}
        rows.rate(record.at, (STUDY, *key, FULL, "text", RELEASED), means)
    return rows


def _faithful(text: str, spans: list[Span]) -> float | None:
    """The share of words that no span touches; None for a text without words."""
    words = [match.span() for match in _WORD.finditer(text)]
    touched = [any(a < end and start < z for start, end in spans) for a, z in words]
    return 1 - sum(touched) / len(words) if words else None
