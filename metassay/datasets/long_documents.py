"""Summaries of whole articles and how faithful people found them, as LongDocFACTScore has them.

LongEval (Krishna et al. 2023), its PubMed part: each rater's share of a summary's units that the
article supports. LongSciVerify (Bishop et al. 2024): three sentences of each summary, true or not
by each rater; which sentences is not released. So in both a rating is of a whole summary.
"""

import re
from itertools import chain
from pathlib import Path

from metassay.core.errors import shown
from metassay.core.options import Options
from metassay.datasets.own_data import Filled, Key, checked, parsed
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import (
    UNREAD,
    Record,
    csv_records,
    finite_number,
    json_list,
    load_json,
)
from metassay.tabular.rows import AGAIN, Place, Rows, SourceRow, TextRow, canonical, source_row

TEXTS, SCORES = "pubmed_summary_src_doc_data.json", "pubmed_fine_scores.json"
CORPORA = ("arxiv", "pubmed")
SYSTEMS = {  # of LongSciVerify: the number that ratings give it -> its column, and its name
    1: ("gencomparesumabs", "gencomparesum_abs"),
    2: ("dancersum", "dancersumm"),
    3: ("section_conditional", "zonesumm"),
}
RATERS = SENTENCES = (1, 2, 3)

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
    found = load_json(folder / TEXTS, rows.problems, remedy=AGAIN)
    if found is not UNREAD and not isinstance(found, dict):
        rows.wrong(Place(TEXTS), "does not hold what it did when it was released")
    stories = found.items() if isinstance(found, dict) else ()
    for number, (story, value) in enumerate(stories, start=1):
        at = Place(TEXTS, number, "record")
        one = checked(_Summary, value, at, rows.problems)
        if one is None:
            continue
        doc_id, author = _named(story, at, rows)
        source = _source(at, doc_id, one.source_doc.split("<br />"))
        if articles.setdefault(doc_id, source).passages != source.passages:
            rows.wrong(at, "the article is not that of its first record", doc_id)
        rows.texts.append(TextRow(at, doc_id, author, FULL, _clean(one.summary)))
    rows.sources += articles.values()
    values = json_list(folder / SCORES, rows.problems, remedy=AGAIN) or ()
    for at, scores in parsed(values, _Scores, rows.problems):
        of = "longeval", *_named(scores.story, at, rows), FULL, "text"
        for rater, score in enumerate(scores.score, start=1):
            rows.rate(at, (*of, f"rater_{rater}"), {"faithfulness": score})
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
        values = json_list(folder / name, rows.problems, remedy=AGAIN) or ()
        for at, one in parsed(values, _Article, rows.problems):
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
    for record in csv_records(path, rows.problems, required=columns, remedy=AGAIN):
        doc_id = known.get(_bare(record.fields["id"]))
        if doc_id is None:
            rows.wrong(record.at, "the article is not there", f"id {shown(record.fields['id'])}")
            continue
        for number, (column, author) in SYSTEMS.items():
            if rater == RATERS[0]:
                text = _clean(record.fields[column])
                rows.texts.append(TextRow(record.at, doc_id, author, FULL, text))
            of = "longsciverify", doc_id, author, FULL, "text", f"rater_{rater}"
            rows.rate(record.at, of, {"factuality": _share(record, marks[number], rows)})


def _share(record: Record, columns: list[str], rows: Rows) -> float | None:
    """The share of 1 among the marks that are there; None where there is none."""
    marks = [finite_number(record.fields[name]) for name in columns if record.fields[name]]
    if not all(mark in (0, 1) for mark in marks):
        rows.wrong(record.at, "a sentence is marked neither 0 nor 1")
        return None
    return sum(mark or 0.0 for mark in marks) / len(marks) if marks else None


def _named(story: str, at: Place, rows: Rows) -> tuple[str, str]:
    """Document and author of article_3_longt5; two empty names, with a problem, of another."""
    found = _STORY.fullmatch(story)
    if found is None:
        rows.wrong(at, "names no article and system", f"story {shown(story)}")
        return "", ""
    return f"article_{int(found[1]):02d}", REFERENCE if found[2] == "human" else found[2]


def _source(at: Place, doc_id: str, sentences: list[str], **attributes: str) -> SourceRow:
    passages = [said.strip() for said in sentences if said.strip()]
    said = canonical(attributes) if attributes else None
    return source_row(at, doc_id, "abstract", passages, attributes=said)


def _clean(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text).split())


def _bare(article: str) -> str:
    return article.strip().strip("0")
