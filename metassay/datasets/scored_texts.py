"""Read released texts with ratings and scores: FRANK, XSum, UniEval, LongDocFACTScore."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from metassay.datasets.own_data import cell_number, json_number, release_reader
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import UNREAD, Record, csv_records, json_list, load_json
from metassay.tabular.rows import AGAIN, Place, Rows, SourceRow, TextRow, source_row, to_json
from metassay.text.patterns import read_pairs

# ---- FRANK

FRANK_HUMAN = "human_annotations.json"
FRANK_SCORES = "baseline_factuality_metrics_outputs.json"
_CORPORA = {"cnndm": "cnndm", "bbc": "xsum"}
FRANK_ERRORS = read_pairs(__file__, "frank errors")  # columns, and kinds of error
FRANK_CRITERIA = {
    "Factuality": "factuality",
    **{column: f"without_{kind}" for column, kind in FRANK_ERRORS.items()},
    **{f"Flip_{column}": f"factuality_forgiving_{kind}" for column, kind in FRANK_ERRORS.items()},
}
FRANK_METRICS = read_pairs(__file__, "frank metrics")


@release_reader
def read_frank(folder: Path) -> Rows:
    """Read FRANK (Pagnoni et al. 2021): ratings and the released scores.

    The files have neither articles nor summaries: sources have no passages, and there are no texts.
    Attributes of documents are corpus and split. The rater `majority` is the majority of three
    people for each sentence, averaged over sentences.

    Ratings, 0 to 1: `factuality`, the share of a summary's sentences without an error;
    `without_<kind>`, the share without an error of this kind; `factuality_forgiving_<kind>`, the
    share without errors of other kinds. Null scores stay null.
    """
    rows, known = Rows(), set[str]()
    for at, value in json_list(folder / FRANK_HUMAN, rows.problems, remedy=AGAIN) or ():
        doc_id, author = _frank_place(value)
        if doc_id not in known:
            known.add(doc_id)
            about = to_json({"corpus": _CORPORA[value["dataset"]], "split": value["split"]})
            rows.sources.append(source_row(at, doc_id, "other", [], attributes=about))
        by = {name: json_number(at, value[key], key, rows) for key, name in FRANK_CRITERIA.items()}
        rows.rate(at, ("frank", doc_id, author, FULL, "text", "majority"), by)
    for at, value in json_list(folder / FRANK_SCORES, rows.problems, remedy=AGAIN) or ():
        values = {
            name: None if value[column] is None else json_number(at, value[column], column, rows)
            for column, name in FRANK_METRICS.items()
        }
        rows.score(at, (*_frank_place(value), FULL), values)
    return rows


def _frank_place(value: Any) -> tuple[str, str]:
    return f"frank_{value['hash']}", str(value["model_name"])


# ---- XSum

_XSUM = "xsum_hallucination"
XSUM_SPANS = "hallucination_annotations_xsum_summaries.csv"
XSUM_FACTS = "factuality_annotations_xsum_summaries.csv"
XSUM_SCORES = "eval_scores_xsum_summaries.csv"
_XSUM_AUTHORS = read_pairs(__file__, "xsum authors")
XSUM_METRICS = read_pairs(__file__, "xsum metrics")

_MEANS = {"Faithful": "faithful_released", "Factual": "factual_released"}
_SCORED = read_pairs(__file__, "xsum scored")
_ANSWERS = {"yes": 1.0, "no": 0.0, "NULL": None}
_KEY = ("bbcid", "system", "summary", "worker_id")
_SPAN = ("hallucination_type", "hallucinated_span_start", "hallucinated_span_end")
_WORD = re.compile(r"\S+")
_ESCAPE = re.compile(r"\\([\"'])")

_Key = tuple[str, str]  # document, author
_Span = tuple[int, int]  # counted from 0, end exclusive


@release_reader
def read_xsum_hallucination(folder: Path) -> Rows:
    """Read XSum's annotations (Maynez et al. 2020): summaries by 4 systems and the reference.

    The files have no articles: sources have no passages. Rows are matched by article and system.
    Escapes of quotes are removed. A span has the 1-based offsets of its first character and of the
    character after its last, in the text without escapes (true of 99.6 % of the released spans).

    Ratings: `faithfulness` by each rater, the share of the summary's words outside the rater's
    spans; `factuality` by each rater, 1 or 0, null for abstentions, without a row for summaries
    that nobody found unfaithful, as these were not rated. `faithful_released` and
    `factual_released` are the released means, by the rater `released`.
    """
    rows = Rows()
    texts: dict[_Key, tuple[Place, str]] = {}
    marked: dict[_Key, dict[str, list[_Span]]] = defaultdict(lambda: defaultdict(list))

    def records(name: str, *columns: str) -> list[Record]:
        return csv_records(folder / name, rows.problems, required=columns, remedy=AGAIN)

    for at, fields in records(XSUM_SPANS, *_KEY, *_SPAN):
        key = f"xsum_{fields['bbcid']}", _XSUM_AUTHORS[fields["system"]]
        _, text = texts.setdefault(key, (at, _ESCAPE.sub(r"\1", fields["summary"])))
        spans = marked[key][fields["worker_id"]]
        kind, start, end = (fields[name] for name in _SPAN)
        if kind != "NULL":  # a few begin at 0 or end past the text's end
            spans.append((max(int(start) - 1, 0), min(int(end) - 1, len(text))))
    documents = set[str]()
    for (doc_id, author), (at, text) in texts.items():
        if doc_id not in documents:
            documents.add(doc_id)
            rows.sources.append(source_row(at, doc_id, "other", []))
        rows.texts.append(TextRow(at, doc_id, author, FULL, text))
        for rater, spans in marked[doc_id, author].items():
            of_rater = _XSUM, doc_id, author, FULL, "text", rater
            rows.rate(at, of_rater, {"faithfulness": _faithfulness(text, spans)})
    for at, fields in records(XSUM_FACTS, *_KEY, "is_factual"):
        key = f"xsum_{fields['bbcid']}", _XSUM_AUTHORS[fields["system"]]
        ratings = {"factuality": _ANSWERS[fields["is_factual"]]}
        rows.rate(at, (_XSUM, *key, FULL, "text", fields["worker_id"]), ratings)
    for record in records(XSUM_SCORES, "system_bbcid", *XSUM_METRICS, *_MEANS):
        system, _, article = record.fields["system_bbcid"].rpartition("_")
        key = f"xsum_{article}", _SCORED[system]
        scores = {name: cell_number(record, column, rows) for column, name in XSUM_METRICS.items()}
        rows.score(record.at, (*key, FULL), scores)
        means = {name: cell_number(record, column, rows) for column, name in _MEANS.items()}
        rows.rate(record.at, (_XSUM, *key, FULL, "text", "released"), means)
    return rows


def _faithfulness(text: str, spans: list[_Span]) -> float | None:
    """Return the share of words outside all spans; None for a text without words."""
    words = [match.span() for match in _WORD.finditer(text)]
    touched = [any(a < end and start < z for start, end in spans) for a, z in words]
    return 1 - sum(touched) / len(words) if words else None


# ---- UniEval

TOPICAL_CHAT = "topical_chat_result.json"
SFRES = "sfres_result.json"
_DECODERS = read_pairs(__file__, "unieval systems")


@release_reader
def read_topical_chat(folder: Path) -> Rows:
    """Read Topical-Chat: 60 dialogues, each with the next turn by 2 people and 4 decoders.

    The files and scores are UniEval's (Zhong et al. 2022), the ratings of Mehri and Eskenazi 2020:
    means of raters, whose single ratings are not released.

    Passages are the dialogue's turns (group `dialogue`) and the fact to use (group `fact`);
    documents are numbered in the order of the file. Both people were rated, so both are authors
    like the systems; there is no reference.
    """
    rows, documents = Rows(), dict[str, str]()  # by dialogue
    for at, turn in json_list(folder / TOPICAL_CHAT, rows.problems, remedy=AGAIN) or ():
        if turn["source"] not in documents:
            documents[turn["source"]] = doc_id = f"topical_chat_{len(documents):02d}"
            turns = [line.strip() for line in turn["source"].split("\n") if line.strip()]
            group = ["dialogue"] * len(turns) + ["fact"]
            passages = [*turns, turn["context"].strip()]
            rows.sources.append(source_row(at, doc_id, "other", passages, group=group))
        _add_response(
            at, documents[turn["source"]], _DECODERS[turn["system_id"]], turn, "topical_chat", rows
        )
    return rows


@release_reader
def read_sfres(folder: Path) -> Rows:
    """Read SFRES (Wen et al. 2015) in UniEval's files: 1,181 sentences, each with a reference.

    The passage is the dialogue act. The systems are not released, so all sentences have the author
    `unnamed`, each with its own doc_id, though most acts occur twice.
    """
    rows = Rows()
    for at, sentence in json_list(folder / SFRES, rows.problems, remedy=AGAIN) or ():
        doc_id = f"sfres_{sentence['doc_id']:04d}"
        rows.sources.append(source_row(at, doc_id, "other", [sentence["source"].strip()]))
        rows.texts.append(TextRow(at, doc_id, REFERENCE, FULL, sentence["reference"]))
        _add_response(at, doc_id, "unnamed", sentence, "sfres", rows)
    return rows


def _add_response(at: Place, doc_id: str, author: str, record: Any, study: str, rows: Rows) -> None:
    key = (doc_id, author, FULL)
    rows.texts.append(TextRow(at, *key, record["system_output"]))
    people = {name: float(value) for name, value in record["scores"].items()}
    rows.rate(at, (study, *key, "text", "mean"), people)
    scores = {f"unieval_{name}": float(value) for name, value in record["predict_scores"].items()}
    rows.score(at, key, scores)


# ---- LongDocFACTScore

LONGEVAL_TEXTS, LONGEVAL_SCORES = "pubmed_summary_src_doc_data.json", "pubmed_fine_scores.json"
CORPORA = ("arxiv", "pubmed")
SYSTEMS = {  # of LongSciVerify: the number that ratings give it -> its column, and its name
    1: ("gencomparesumabs", "gencomparesum_abs"),
    2: ("dancersum", "dancersumm"),
    3: ("section_conditional", "zonesumm"),
}
RATERS = SENTENCES = (1, 2, 3)

_MARKS = re.compile(r"</?S>|<pad>")  # tokens of models around sentences and before texts


@release_reader
def read_longeval(folder: Path) -> Rows:
    """Read the PubMed part of LongEval (Krishna et al. 2023) in LongDocFACTScore's files.

    `faithfulness`, 0 to 100: each rater's share of a summary's units that the article supports.

    Raters are numbered by their place in the list of scores. Passages are the article's sentences;
    the article's abstract is the reference, which nobody rated.
    """
    rows, articles = Rows(), dict[str, SourceRow]()
    stories: Any = load_json(folder / LONGEVAL_TEXTS, rows.problems, remedy=AGAIN)
    records = {} if stories is UNREAD else stories
    for number, (story, value) in enumerate(records.items(), start=1):
        at, (doc_id, author) = Place(LONGEVAL_TEXTS, number, "record"), _parse_story(story)
        articles.setdefault(doc_id, _source(at, doc_id, value["source_doc"].split("<br />")))
        rows.texts.append(TextRow(at, doc_id, author, FULL, _clean(value["summary"])))
    rows.sources += articles.values()
    for at, scores in json_list(folder / LONGEVAL_SCORES, rows.problems, remedy=AGAIN) or ():
        key = "longeval", *_parse_story(scores["story"]), FULL, "text"
        for rater, score in enumerate(scores["score"], start=1):
            rows.rate(at, (*key, f"rater_{rater}"), {"faithfulness": float(score)})
    return rows


@release_reader
def read_longsciverify(folder: Path) -> Rows:
    """Read LongSciVerify (Bishop et al. 2024): `factuality`, the share of three sentences of each
    summary that are true by each rater; the choice of sentences is not released.

    Null if none is marked. The attribute `corpus` of documents is arxiv or pubmed. Spreadsheets
    dropped zeros at the ends of some arXiv numbers in the raters' files; rows are matched without
    these.
    """
    rows = Rows()
    for corpus in CORPORA:
        doc_ids: dict[str, str] = {}
        file = folder / f"{corpus}_test.json"
        for at, article in json_list(file, rows.problems, remedy=AGAIN) or ():
            doc_ids[_bare(article["article_id"])] = doc_id = f"{corpus}_{article['article_id']}"
            rows.sources.append(_source(at, doc_id, article["article_text"], corpus=corpus))
            abstract = _clean(" ".join(article["abstract_text"]))
            rows.texts.append(TextRow(at, doc_id, REFERENCE, FULL, abstract))
        for rater in RATERS if doc_ids else ():
            _add_reviews(folder / f"{corpus}_reviewer_{rater}.csv", rater, doc_ids, rows)
    return rows


def _add_reviews(path: Path, rater: int, doc_ids: dict[str, str], rows: Rows) -> None:
    for at, fields in csv_records(path, rows.problems, required=("id",), remedy=AGAIN):
        doc_id = doc_ids[_bare(fields["id"])]
        for number, (column, author) in SYSTEMS.items():
            if rater == RATERS[0]:
                rows.texts.append(TextRow(at, doc_id, author, FULL, _clean(fields[column])))
            cells = [fields[f"model_{number}_sent_{s}_factuality"] for s in SENTENCES]
            marks = [float(cell) for cell in cells if cell]
            key = "longsciverify", doc_id, author, FULL, "text", f"rater_{rater}"
            rows.rate(at, key, {"factuality": sum(marks) / len(marks) if marks else None})


def _parse_story(story: str) -> tuple[str, str]:
    """Return document and author of a name such as article_3_longt5."""
    _, number, author = story.split("_", 2)
    return f"article_{int(number):02d}", REFERENCE if author == "human" else author


def _source(at: Place, doc_id: str, sentences: list[str], **attributes: str) -> SourceRow:
    passages = [text.strip() for text in sentences if text.strip()]
    text = to_json(attributes) if attributes else None
    return source_row(at, doc_id, "abstract", passages, attributes=text)


def _clean(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text).split())


def _bare(article: str) -> str:
    return article.strip().strip("0")
