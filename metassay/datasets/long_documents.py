"""Summaries of whole articles and how faithful people found them, as LongDocFACTScore has them.

LongEval (Krishna et al. 2023), its PubMed part: each rater's share of a summary's units that the
article supports. LongSciVerify (Bishop et al. 2024): three sentences of each summary, true or not
by each rater; which sentences is not released. So in both a rating is of a whole summary.
"""

import re
from itertools import chain
from pathlib import Path
from typing import Any

from metassay.core.errors import shown
from metassay.core.options import Options
from metassay.datasets.own_data import Filled, Key, checked
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import (
    UNREAD,
    Record,
    csv_records,
    decode,
    finite_number,
    parse_json,
    read_bytes,
)
from metassay.tabular.rows import Findings, Place, RatingRow, Rows, SourceRow, TextRow, canonical

TEXTS, SCORES = "pubmed_summary_src_doc_data.json", "pubmed_fine_scores.json"
CORPORA = ("arxiv", "pubmed")
SYSTEMS = {  # of LongSciVerify: the number that ratings give it -> its column, and its name
    1: ("gencomparesumabs", "gencomparesum_abs"),
    2: ("dancersum", "dancersumm"),
    3: ("section_conditional", "zonesumm"),
}
RATERS = SENTENCES = (1, 2, 3)

_AGAIN = "fetch the file again"
_STORY = re.compile(r"article_(\d{1,3})_(\w+)")
_MARKS = re.compile(r"</?S>|<pad>")  # of tokenizers, around sentences and before a text


class _Summary(Options):
    source_doc: Filled
    summary: Filled


class _Scores(Options):
    story: Key
    score: list[float]


class _Article(Options, extra="ignore"):
    article_id: Key
    article_text: list[str]
    abstract_text: list[str]


def read_longeval(folder: Path) -> Rows:
    """Read articles, summaries and scores: `faithfulness`, 0 to 100, by rater_1 to rater_3.

    Raters are told apart by their place in the list of scores. Passages are the article's
    sentences; the article's own abstract is the reference, which nobody rated.
    """
    rows = Rows()
    articles: dict[str, SourceRow] = {}
    found = _json(folder / TEXTS, dict, rows.problems) or {}
    for number, (story, value) in enumerate(found.items(), start=1):
        at = Place(TEXTS, number, "record")
        one = checked(_Summary, value, at, rows.problems)
        doc_id, author = _named(story, at, rows.problems)
        if one is None or not doc_id:
            continue
        source = _source(at, doc_id, one.source_doc.split("<br />"))
        if articles.setdefault(doc_id, source).passages != source.passages:
            rows.problems.add(at, "the article is not that of its first record", _AGAIN, doc_id)
        rows.texts.append(TextRow(at, doc_id, author, FULL, _clean(one.summary)))
    rows.sources += articles.values()
    for number, value in enumerate(_json(folder / SCORES, list, rows.problems) or (), start=1):
        at = Place(SCORES, number, "record")
        scores = checked(_Scores, value, at, rows.problems)
        doc_id, author = _named(scores.story, at, rows.problems) if scores else ("", "")
        for rater, score in enumerate(scores.score if scores and doc_id else (), start=1):
            rows.ratings.append(_rating(at, "longeval", doc_id, author, rater, score))
    return rows


def read_longsciverify(folder: Path) -> Rows:
    """Read both corpora: `factuality`, the share of a summary's marked sentences that are true.

    A document's attribute `corpus` is arxiv or pubmed. Spreadsheets took zeros off the ends of some
    arXiv numbers in the raters' files; rows are matched without these.
    """
    rows = Rows()
    for corpus in CORPORA:
        name = f"{corpus}_test.json"
        known: dict[str, str] = {}
        values = _json(folder / name, list, rows.problems) or ()
        for number, value in enumerate(values, start=1):
            at = Place(name, number, "record")
            if (one := checked(_Article, value, at, rows.problems)) is not None:
                known[_bare(one.article_id)] = doc_id = f"{corpus}_{one.article_id}"
                rows.sources.append(_source(at, doc_id, one.article_text, corpus=corpus))
                abstract = _clean(" ".join(one.abstract_text))
                rows.texts.append(TextRow(at, doc_id, REFERENCE, FULL, abstract))
        for rater in RATERS:
            _add_reviews(folder / f"{corpus}_reviewer_{rater}.csv", rater, known, rows)
    return rows


def _add_reviews(path: Path, rater: int, known: dict[str, str], rows: Rows) -> None:
    marks = {n: [f"model_{n}_sent_{s}_factuality" for s in SENTENCES] for n in SYSTEMS}
    columns = ("id", *(column for column, _ in SYSTEMS.values()), *chain(*marks.values()))
    for record in csv_records(path, rows.problems, required=columns, remedy=_AGAIN):
        doc_id = known.get(_bare(record.fields["id"]))
        if doc_id is None:
            where = f"id {shown(record.fields['id'])}"
            rows.problems.add(record.at, "the article is not there", _AGAIN, where)
            continue
        for number, (column, author) in SYSTEMS.items():
            if rater == RATERS[0]:
                text = _clean(record.fields[column])
                rows.texts.append(TextRow(record.at, doc_id, author, FULL, text))
            share = _share(record, marks[number], rows.problems)
            rows.ratings.append(_rating(record.at, "longsciverify", doc_id, author, rater, share))


def _share(record: Record, columns: list[str], problems: Findings) -> float | None:
    """The share of 1 among the marks that are there; None where there is none."""
    marks = [finite_number(record.fields[name]) for name in columns if record.fields[name]]
    if not all(mark in (0, 1) for mark in marks):
        problems.add(record.at, "a sentence is marked neither 0 nor 1", _AGAIN)
        return None
    return sum(mark or 0.0 for mark in marks) / len(marks) if marks else None


def _json(path: Path, kind: type, problems: Findings) -> Any:
    """The file's value if it is of this kind; else None, with a problem."""
    data = read_bytes(path, problems, remedy=_AGAIN)
    text = decode(data, path, problems) if data is not None else None
    value = UNREAD if text is None else parse_json(text, Place(path.name), problems)
    if value is UNREAD or isinstance(value, kind):
        return None if value is UNREAD else value
    problems.add(Place(path.name), "does not hold what it did when it was released", _AGAIN)
    return None


def _named(story: str, at: Place, problems: Findings) -> tuple[str, str]:
    """Document and author of article_3_longt5; two empty names, with a problem, of another."""
    found = _STORY.fullmatch(story)
    if found is None:
        problems.add(at, "names no article and system", _AGAIN, f"story {shown(story)}")
        return "", ""
    author = REFERENCE if found[2] == "human" else found[2]
    return f"article_{int(found[1]):02d}", author


def _source(at: Place, doc_id: str, sentences: list[str], **attributes: str) -> SourceRow:
    passages = [said.strip() for said in sentences if said.strip()]
    none = [""] * len(passages)
    said = canonical(attributes) if attributes else None
    return SourceRow(at, doc_id, "abstract", passages, none, none, said)


def _rating(
    at: Place, study: str, doc_id: str, author: str, rater: int, value: float | None
) -> RatingRow:
    criterion = {"longeval": "faithfulness", "longsciverify": "factuality"}[study]
    return RatingRow(at, study, doc_id, author, FULL, "text", f"rater_{rater}", criterion, value)


def _clean(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text).split())


def _bare(article: str) -> str:
    return article.strip().strip("0")
