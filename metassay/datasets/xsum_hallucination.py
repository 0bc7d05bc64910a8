"""XSum's hallucination annotations (Maynez et al. 2020): summaries by 4 systems and the reference.

The files have no articles: sources have no passages. Rows are matched by article and system. The
annotators' file escapes quotes; texts here do not. A span is the 1-based offset of its first
character and of the one after its last, in the text without escapes (99.6 % of the released spans
are those characters).
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import shown
from metassay.datasets.own_data import cell_number
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
_KINDS = ("intrinsic", "extrinsic", "NULL")
_WORD = re.compile(r"\S+")
_ESCAPE = re.compile(r"\\([\"'])")
_LETTER = re.compile(r"\w")

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
    marked = _marked(folder / SPANS, rows)
    _add_texts(marked, rows)
    _add_facts(folder / FACTS, marked, rows)
    _add_scores(folder / SCORES, marked, rows)
    return rows


def _marked(path: Path, rows: Rows) -> dict[Key, _Marked]:
    found: dict[Key, _Marked] = {}
    for record in csv_records(path, rows.problems, required=(*_KEY, *_SPAN), remedy=AGAIN):
        key = _key(record, rows)
        if key is None:
            continue
        text = _ESCAPE.sub(r"\1", record.fields["summary"])
        one = found.setdefault(key, _Marked(record.at, text, defaultdict(list)))
        if text != one.text:
            what = "the summary is not that of the other rows"
            rows.wrong(record.at, what, _where(key))
        spans = one.spans[record.fields["worker_id"]]
        spans += _span(record, len(one.text), rows)
    return found


def _key(record: Record, rows: Rows) -> Key | None:
    author = AUTHORS.get(record.fields["system"])
    if author is None:
        what = "the system is not known"
        rows.wrong(record.at, what, f"system {shown(record.fields['system'])}")
        return None
    return f"xsum_{record.fields['bbcid']}", author


def _span(record: Record, length: int, rows: Rows) -> Iterable[Span]:
    kind = record.fields["hallucination_type"]
    if kind == "NULL":
        return []
    start, end = (record.fields[name] for name in _SPAN[1:])
    if kind in _KINDS and start.isdecimal() and end.isdecimal() and int(start) <= int(end):
        # A few begin at 0 or end past the text's end.
        return [(max(int(start) - 1, 0), min(int(end) - 1, length))]
    what = "has no span and no hallucination_type that are known"
    rows.wrong(record.at, what, f"bbcid {shown(record.fields['bbcid'])}")
    return []


def _where(key: Key) -> str:
    return f"doc_id {shown(key[0])}, author {shown(key[1])}"


def _add_texts(marked: dict[Key, _Marked], rows: Rows) -> None:
    documents: set[str] = set()
    for (doc_id, author), one in marked.items():
        if doc_id not in documents:
            documents.add(doc_id)
            rows.sources.append(source_row(one.at, doc_id, "other", []))
        rows.texts.append(TextRow(one.at, doc_id, author, FULL, one.text))
        for rater, spans in one.spans.items():
            of = STUDY, doc_id, author, FULL, "text", rater
            rows.rate(one.at, of, {"faithfulness": _faithful(one.text, spans)})


def _faithful(text: str, spans: list[Span]) -> float | None:
    """The share of words that no span touches; None for a text without words."""
    words = [match.span() for match in _WORD.finditer(text)]
    touched = [any(a < end and start < z for start, end in spans) for a, z in words]
    return 1 - sum(touched) / len(words) if words else None


def _add_facts(path: Path, marked: dict[Key, _Marked], rows: Rows) -> None:
    required = (*_KEY, "is_factual")
    for record in csv_records(path, rows.problems, required=required, remedy=AGAIN):
        key, answer = _key(record, rows), record.fields["is_factual"]
        if key is None or not marked:
            continue
        if answer not in _ANSWERS:
            what = "is_factual is none of yes, no, NULL"
            rows.wrong(record.at, what, _where(key))
            continue
        if key not in marked or _letters(marked[key].text) != _letters(record.fields["summary"]):
            what = f"the summary is not that of {SPANS}"
            rows.wrong(record.at, what, _where(key))
            continue
        of = STUDY, *key, FULL, "text", record.fields["worker_id"]
        rows.rate(record.at, of, {"factuality": _ANSWERS[answer]})


def _letters(text: str) -> str:
    return "".join(_LETTER.findall(text))  # the two files differ in quotes


def _add_scores(path: Path, marked: dict[Key, _Marked], rows: Rows) -> None:
    required = ("system_bbcid", *METRICS, *_MEANS)
    for record in csv_records(path, rows.problems, required=required, remedy=AGAIN):
        system, _, article = record.fields["system_bbcid"].rpartition("_")
        key = (f"xsum_{article}", _SCORED.get(system, ""))
        if not marked:
            continue
        if key not in marked:
            what = f"the summary is not in {SPANS}"
            example = f"system_bbcid {shown(record.fields['system_bbcid'])}"
            rows.wrong(record.at, what, example)
            continue
        scores = {name: cell_number(record, column, rows) for column, name in METRICS.items()}
        rows.score(record.at, (*key, FULL), scores)
        means = {name: cell_number(record, column, rows) for column, name in _MEANS.items()}
        rows.rate(record.at, (STUDY, *key, FULL, "text", RELEASED), means)
