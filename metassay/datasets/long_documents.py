"""Summaries of whole articles and how faithful people found them, as LongDocFACTScore has them.

LongEval (Krishna et al. 2023), its PubMed part: each rater's share of a summary's units that the
article supports. LongSciVerify (Bishop et al. 2024): three sentences of each summary, true or not
by each rater; which sentences is not released. So in both a rating is of a whole summary.
"""

import re
from pathlib import Path
from typing import Any

from metassay.datasets.own_data import released
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import UNREAD, csv_records, json_list, load_json
from metassay.tabular.rows import AGAIN, Place, Rows, SourceRow, TextRow, canonical, source_row

TEXTS, SCORES = "pubmed_summary_src_doc_data.json", "pubmed_fine_scores.json"
CORPORA = ("arxiv", "pubmed")
SYSTEMS = {  # of LongSciVerify: the number that ratings give it -> its column, and its name
    1: ("gencomparesumabs", "gencomparesum_abs"),
    2: ("dancersum", "dancersumm"),
    3: ("section_conditional", "zonesumm"),
}
RATERS = SENTENCES = (1, 2, 3)

_MARKS = re.compile(r"</?S>|<pad>")  # of tokenizers, around sentences and before a text


@released
def read_longeval(folder: Path) -> Rows:
    """Read articles, summaries and scores: `faithfulness`, 0 to 100, by rater_1 to rater_3.

    Raters are told apart by their place in the list of scores. Passages are the article's
    sentences; the article's own abstract is the reference, which nobody rated.
    """
    rows, articles = Rows(), dict[str, SourceRow]()
    stories: Any = load_json(folder / TEXTS, rows.problems, remedy=AGAIN)
    found = {} if stories is UNREAD else stories
    for number, (story, value) in enumerate(found.items(), start=1):
        at, (doc_id, author) = Place(TEXTS, number, "record"), _named(story)
        articles.setdefault(doc_id, _source(at, doc_id, value["source_doc"].split("<br />")))
        rows.texts.append(TextRow(at, doc_id, author, FULL, _clean(value["summary"])))
    rows.sources += articles.values()
    for at, scores in json_list(folder / SCORES, rows.problems, remedy=AGAIN) or ():
        of = "longeval", *_named(scores["story"]), FULL, "text"
        for rater, score in enumerate(scores["score"], start=1):
            rows.rate(at, (*of, f"rater_{rater}"), {"faithfulness": float(score)})
    return rows


@released
def read_longsciverify(folder: Path) -> Rows:
    """Read both corpora: `factuality`, the share of a summary's marked sentences that are true.

    Null where none is marked. A document's attribute `corpus` is arxiv or pubmed. Spreadsheets took
    zeros off the ends of some arXiv numbers in the raters' files; rows are matched without these.
    """
    rows = Rows()
    for corpus in CORPORA:
        known: dict[str, str] = {}
        file = folder / f"{corpus}_test.json"
        for at, one in json_list(file, rows.problems, remedy=AGAIN) or ():
            known[_bare(one["article_id"])] = doc_id = f"{corpus}_{one['article_id']}"
            rows.sources.append(_source(at, doc_id, one["article_text"], corpus=corpus))
            abstract = _clean(" ".join(one["abstract_text"]))
            rows.texts.append(TextRow(at, doc_id, REFERENCE, FULL, abstract))
        for rater in RATERS if known else ():
            _add_reviews(folder / f"{corpus}_reviewer_{rater}.csv", rater, known, rows)
    return rows


def _add_reviews(path: Path, rater: int, known: dict[str, str], rows: Rows) -> None:
    for at, fields in csv_records(path, rows.problems, required=("id",), remedy=AGAIN):
        doc_id = known[_bare(fields["id"])]
        for number, (column, author) in SYSTEMS.items():
            if rater == RATERS[0]:
                rows.texts.append(TextRow(at, doc_id, author, FULL, _clean(fields[column])))
            cells = [fields[f"model_{number}_sent_{s}_factuality"] for s in SENTENCES]
            marks = [float(cell) for cell in cells if cell]
            of = "longsciverify", doc_id, author, FULL, "text", f"rater_{rater}"
            rows.rate(at, of, {"factuality": sum(marks) / len(marks) if marks else None})


def _named(story: str) -> tuple[str, str]:
    """Document and author of article_3_longt5."""
    _, number, author = story.split("_", 2)
    return f"article_{int(number):02d}", REFERENCE if author == "human" else author


def _source(at: Place, doc_id: str, sentences: list[str], **attributes: str) -> SourceRow:
    passages = [said.strip() for said in sentences if said.strip()]
    said = canonical(attributes) if attributes else None
    return source_row(at, doc_id, "abstract", passages, attributes=said)


def _clean(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text).split())


def _bare(article: str) -> str:
    return article.strip().strip("0")
