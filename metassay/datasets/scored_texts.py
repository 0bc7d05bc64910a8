"""Read released texts with ratings and scores.

Those of FRANK, XSum, UniEval, LongDocFACTScore and ScholarSum.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core.errors import shown
from metassay.datasets.own_data import cell_number, json_number, release_reader
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import (
    UNREAD,
    Record,
    csv_records,
    json_lines,
    json_list,
    load_json,
    parse_json,
)
from metassay.tabular.rows import (
    AGAIN,
    Place,
    Rows,
    SegmentRow,
    SourceRow,
    TextRow,
    canonical_json,
    source_row,
)

VERSION = 1  # raised by whoever changes results of this module's kinds

# ---- FRANK

FRANK_HUMAN = "human_annotations.json"
FRANK_SCORES = "baseline_factuality_metrics_outputs.json"
_CORPORA = {"cnndm": "cnndm", "bbc": "xsum"}
# Columns of the release, and our names for their kinds of error.
FRANK_ERRORS = {
    # Three groups of the kinds below.
    "Semantic_Frame_Errors": "semantic_frame",
    "Discourse_Errors": "discourse",
    "Content_Verifiability_Errors": "content_verifiability",
    # Single kinds.
    "RelE": "relation",
    "EntE": "entity",
    "CircE": "circumstance",
    "OutE": "out_of_article",
    "GramE": "grammar",
    "CorefE": "coreference",
    "LinkE": "link",
    "Other": "other",
}
FRANK_CRITERIA = {
    "Factuality": "factuality",
    **{column: f"without_{kind}" for column, kind in FRANK_ERRORS.items()},
    **{
        f"Flip_{column}": f"factuality_forgiving_{kind}"
        for column, kind in FRANK_ERRORS.items()
    },
}
FRANK_METRICS = {
    "Rouge 1": "frank_rouge1",
    "Rouge 2": "frank_rouge2",
    "Rouge L": "frank_rougeL",
    "Bleu": "frank_bleu",
    "Meteor": "frank_meteor",
    "BertScore P": "frank_bertscore_precision",
    "BertScore R": "frank_bertscore_recall",
    "BertScore F1": "frank_bertscore_f1",
    "BertScore P Art": "frank_bertscore_article_precision",
    "BertScore R Art": "frank_bertscore_article_recall",
    "BertScore F1 Art": "frank_bertscore_article_f1",
    "FactCC": "frank_factcc",
    "FEQA": "frank_feqa",
    "Dep Entail": "frank_dep_entail",
    "QAGS": "frank_qags",
}


@release_reader
def read_frank(folder: Path) -> Rows:
    """Read FRANK (Pagnoni et al. 2021): ratings and the released scores.

    The files have neither articles nor summaries: sources have no passages, and there
    are no texts. Attributes of documents are corpus and split. The rater `majority` is
    the majority of three people for each sentence, averaged over sentences.

    Ratings, 0 to 1: `factuality`, the share of a summary's sentences without an error;
    `without_<kind>`, the share without an error of this kind;
    `factuality_forgiving_<kind>`, the share without errors of other kinds. Null scores
    stay null.
    """
    rows = Rows()
    known = set[str]()
    for at, value in json_list(folder / FRANK_HUMAN, rows.problems, remedy=AGAIN) or ():
        doc_id, author = _frank_place(value)
        if doc_id not in known:
            known.add(doc_id)
            about = canonical_json(
                {"corpus": _CORPORA[value["dataset"]], "split": value["split"]}
            )
            rows.sources.append(source_row(at, doc_id, "other", [], attributes=about))
        by = {
            name: json_number(at, value[key], key, rows)
            for key, name in FRANK_CRITERIA.items()
        }
        rows.rate(at, ("frank", doc_id, author, FULL, "text", "majority"), by)
    for at, value in (
        json_list(folder / FRANK_SCORES, rows.problems, remedy=AGAIN) or ()
    ):
        values = {
            name: None
            if value[column] is None
            else json_number(at, value[column], column, rows)
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
_XSUM_AUTHORS = {
    "BERTS2S": "berts2s",
    "TranS2S": "trans2s",
    "PtGen": "ptgen",
    "TConvS2S": "tconvs2s",
    "Gold": "reference",
}
XSUM_METRICS = {
    "R1": "xsum_rouge1",
    "R2": "xsum_rouge2",
    "RL": "xsum_rougeL",
    "BERTScore": "xsum_bertscore",
    "Entailment": "xsum_entailment",
}

_MEANS = {"Faithful": "faithful_released", "Factual": "factual_released"}
# The file of scores has other names for the systems.
_SCORED_AUTHORS = {
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

_Key = tuple[str, str]  # document, author
_Span = tuple[int, int]  # counted from 0, end exclusive


@release_reader
def read_xsum_hallucination(folder: Path) -> Rows:
    """Read XSum's annotations (Maynez et al. 2020): summaries by 4 systems and the reference.

    The files have no articles: sources have no passages. Rows are matched by article
    and system. Escapes of quotes are removed. A span has the 1-based offsets of its
    first character and of the character after its last, in the text without escapes
    (true of 99.6 % of the released spans).

    Ratings: `faithfulness` by each rater, the share of the summary's words outside the
    rater's spans; `factuality` by each rater, 1 or 0, null for abstentions, without a
    row for summaries that nobody found unfaithful, as these were not rated.
    `faithful_released` and `factual_released` are the released means, by the rater
    `released`.
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
        rows.texts.append(
            TextRow(at=at, doc_id=doc_id, author=author, part=FULL, text=text)
        )
        for rater, spans in marked[doc_id, author].items():
            of_rater = _XSUM, doc_id, author, FULL, "text", rater
            rows.rate(at, of_rater, {"faithfulness": _faithfulness(text, spans)})
    for at, fields in records(XSUM_FACTS, *_KEY, "is_factual"):
        key = f"xsum_{fields['bbcid']}", _XSUM_AUTHORS[fields["system"]]
        ratings = {"factuality": _ANSWERS[fields["is_factual"]]}
        rows.rate(at, (_XSUM, *key, FULL, "text", fields["worker_id"]), ratings)
    for record in records(XSUM_SCORES, "system_bbcid", *XSUM_METRICS, *_MEANS):
        system, _, article = record.fields["system_bbcid"].rpartition("_")
        key = f"xsum_{article}", _SCORED_AUTHORS[system]
        scores = {
            name: cell_number(record, column, rows)
            for column, name in XSUM_METRICS.items()
        }
        rows.score(record.at, (*key, FULL), scores)
        means = {
            name: cell_number(record, column, rows) for column, name in _MEANS.items()
        }
        rows.rate(record.at, (_XSUM, *key, FULL, "text", "released"), means)
    return rows


def _faithfulness(text: str, spans: list[_Span]) -> float | None:
    """Return the share of words outside all spans; None for a text without words."""
    words = [match.span() for match in _WORD.finditer(text)]
    touched = sum(_overlaps(word, spans) for word in words)
    return 1 - touched / len(words) if words else None


def _overlaps(word: _Span, spans: Iterable[_Span]) -> bool:
    first, last = word
    return any(first < end and start < last for start, end in spans)


# ---- UniEval

TOPICAL_CHAT = "topical_chat_result.json"
SFRES = "sfres_result.json"
_DECODERS = {
    "Original Ground Truth": "human_original",
    "New Human Generated": "human_new",
    "Argmax Decoding": "argmax",
    "Nucleus Decoding (p = 0.3)": "nucleus_0.3",
    "Nucleus Decoding (p = 0.5)": "nucleus_0.5",
    "Nucleus Decoding (p = 0.7)": "nucleus_0.7",
}


@release_reader
def read_topical_chat(folder: Path) -> Rows:
    """Read Topical-Chat: 60 dialogues, each with the next turn by 2 people and 4 decoders.

    The files and scores are UniEval's (Zhong et al. 2022), the ratings of Mehri and
    Eskenazi 2020: means of raters, whose single ratings are not released.

    Passages are the dialogue's turns (group `dialogue`) and the fact to use (group
    `fact`); documents are numbered in the order of the file. Both people were rated, so
    both are authors like the systems; there is no reference.
    """
    rows, documents = Rows(), dict[str, str]()  # by dialogue
    for at, turn in json_list(folder / TOPICAL_CHAT, rows.problems, remedy=AGAIN) or ():
        if turn["source"] not in documents:
            documents[turn["source"]] = doc_id = f"topical_chat_{len(documents):02d}"
            turns = [
                line.strip() for line in turn["source"].split("\n") if line.strip()
            ]
            group = ["dialogue"] * len(turns) + ["fact"]
            passages = [*turns, turn["context"].strip()]
            rows.sources.append(source_row(at, doc_id, "other", passages, group=group))
        _add_response(
            at,
            documents[turn["source"]],
            _DECODERS[turn["system_id"]],
            turn,
            "topical_chat",
            rows,
        )
    return rows


@release_reader
def read_sfres(folder: Path) -> Rows:
    """Read SFRES (Wen et al. 2015) in UniEval's files: 1,181 sentences, each with a reference.

    The passage is the dialogue act. The systems are not released, so all sentences have
    the author `unnamed`, each with its own doc_id, though most acts occur twice.
    """
    rows = Rows()
    for at, sentence in json_list(folder / SFRES, rows.problems, remedy=AGAIN) or ():
        doc_id = f"sfres_{sentence['doc_id']:04d}"
        rows.sources.append(
            source_row(at, doc_id, "other", [sentence["source"].strip()])
        )
        rows.texts.append(
            TextRow(
                at=at,
                doc_id=doc_id,
                author=REFERENCE,
                part=FULL,
                text=sentence["reference"],
            )
        )
        _add_response(at, doc_id, "unnamed", sentence, "sfres", rows)
    return rows


def _add_response(
    at: Place, doc_id: str, author: str, record: Any, study: str, rows: Rows
) -> None:
    key = (doc_id, author, FULL)
    rows.texts.append(TextRow(at, *key, record["system_output"]))
    people = {name: float(value) for name, value in record["scores"].items()}
    rows.rate(at, (study, *key, "text", "mean"), people)
    scores = {
        f"unieval_{name}": float(value)
        for name, value in record["predict_scores"].items()
    }
    rows.score(at, key, scores)


# ---- LongDocFACTScore

LONGEVAL_TEXTS = "pubmed_summary_src_doc_data.json"
LONGEVAL_SCORES = "pubmed_fine_scores.json"
CORPORA = ("arxiv", "pubmed")
# of LongSciVerify: the number that ratings give it -> its column, and its name
SYSTEMS = {
    1: ("gencomparesumabs", "gencomparesum_abs"),
    2: ("dancersum", "dancersumm"),
    3: ("section_conditional", "zonesumm"),
}
RATERS = SENTENCES = (1, 2, 3)

# tokens of models around sentences and before texts
_MARKS = re.compile(r"</?S>|<pad>")


@release_reader
def read_longeval(folder: Path) -> Rows:
    """Read the PubMed part of LongEval (Krishna et al. 2023) in LongDocFACTScore's files.

    `faithfulness`, 0 to 100: each rater's share of a summary's units that the article
    supports.

    Raters are numbered by their place in the list of scores. Passages are the article's
    sentences; the article's abstract is the reference, which nobody rated.
    """
    rows = Rows()
    articles = dict[str, SourceRow]()
    stories: Any = load_json(folder / LONGEVAL_TEXTS, rows.problems, remedy=AGAIN)
    records = {} if stories is UNREAD else stories
    for number, (story, value) in enumerate(records.items(), start=1):
        at = Place(LONGEVAL_TEXTS, number, "record")
        (doc_id, author) = _parse_story(story)
        articles.setdefault(
            doc_id, _source(at, doc_id, value["source_doc"].split("<br />"))
        )
        rows.texts.append(
            TextRow(
                at=at,
                doc_id=doc_id,
                author=author,
                part=FULL,
                text=_clean(value["summary"]),
            )
        )
    rows.sources += articles.values()
    for at, scores in (
        json_list(folder / LONGEVAL_SCORES, rows.problems, remedy=AGAIN) or ()
    ):
        key = "longeval", *_parse_story(scores["story"]), FULL, "text"
        for rater, score in enumerate(scores["score"], start=1):
            rows.rate(at, (*key, f"rater_{rater}"), {"faithfulness": float(score)})
    return rows


@release_reader
def read_longsciverify(folder: Path) -> Rows:
    """Read LongSciVerify (Bishop et al. 2024): `factuality`, the share of three
    sentences of each summary that are true by each rater; the choice of sentences is
    not released.

    Null if none is marked. The attribute `corpus` of documents is arxiv or pubmed.
    Spreadsheets dropped zeros at the ends of some arXiv numbers in the raters' files;
    rows are matched without these.
    """
    rows = Rows()
    for corpus in CORPORA:
        doc_ids: dict[str, str] = {}
        file = folder / f"{corpus}_test.json"
        for at, article in json_list(file, rows.problems, remedy=AGAIN) or ():
            doc_ids[_bare(article["article_id"])] = doc_id = (
                f"{corpus}_{article['article_id']}"
            )
            rows.sources.append(
                _source(at, doc_id, article["article_text"], corpus=corpus)
            )
            abstract = _clean(" ".join(article["abstract_text"]))
            rows.texts.append(
                TextRow(
                    at=at, doc_id=doc_id, author=REFERENCE, part=FULL, text=abstract
                )
            )
        for rater in RATERS if doc_ids else ():
            _add_reviews(
                folder / f"{corpus}_reviewer_{rater}.csv", rater, doc_ids, rows
            )
    return rows


def _add_reviews(path: Path, rater: int, doc_ids: dict[str, str], rows: Rows) -> None:
    for at, fields in csv_records(path, rows.problems, required=("id",), remedy=AGAIN):
        doc_id = doc_ids[_bare(fields["id"])]
        for number, (column, author) in SYSTEMS.items():
            if rater == RATERS[0]:
                rows.texts.append(
                    TextRow(
                        at=at,
                        doc_id=doc_id,
                        author=author,
                        part=FULL,
                        text=_clean(fields[column]),
                    )
                )
            cells = [fields[f"model_{number}_sent_{s}_factuality"] for s in SENTENCES]
            marks = [float(cell) for cell in cells if cell]
            key = "longsciverify", doc_id, author, FULL, "text", f"rater_{rater}"
            rows.rate(
                at, key, {"factuality": sum(marks) / len(marks) if marks else None}
            )


def _parse_story(story: str) -> tuple[str, str]:
    """Return document and author of a name such as article_3_longt5."""
    _, number, author = story.split("_", 2)
    return f"article_{int(number):02d}", REFERENCE if author == "human" else author


def _source(
    at: Place, doc_id: str, sentences: list[str], **attributes: str
) -> SourceRow:
    passages = [text.strip() for text in sentences if text.strip()]
    text = canonical_json(attributes) if attributes else None
    return source_row(at, doc_id, "abstract", passages, attributes=text)


def _clean(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text).split())


def _bare(article: str) -> str:
    return article.strip().strip("0")


# ---- ScholarSum

FACETS = ("background", "method", "result", "conclusion")
SCHOLARSUM_METRICS = {
    "newrouge1": "scholarsum_rouge1",
    "newrouge2": "scholarsum_rouge2",
    "newrougel": "scholarsum_rougeL",
    "bert": "scholarsum_bertscore",
    "delta": "scholarsum_delta",
    "questeval": "scholarsum_questeval",
    "acu3": "scholarsum_acu",
    "llama": "scholarsum_fm_llama",
    "gpt35_fm": "scholarsum_fm_gpt35",
    "gpt4_fm": "scholarsum_fm_gpt4",
    "gpt4": "scholarsum_gpt4",
    "geval": "scholarsum_geval",
}
BY_FACET = {
    "gpt35_fm_list": "scholarsum_fm_gpt35",
    "gpt4_fm_list": "scholarsum_fm_gpt4",
}

_NAMES = {"bartlarge": "bart_large"}  # other systems have the names in their keys
_ASPECT = "_aspect"
_HUMAN = "_human"


def read_scholarsum(folder: Path) -> Rows:
    """Read ScholarSum (Guo et al. 2024): abstracts of papers by several systems, rated by facet.

    A folder has one part of the set, as a file of JSON lines; each is a paper, numbered
    from 0. The files have no stated licence, so use them for local checks only.

    Documents are named by file and number, the study `scholarsum_` and the file.
    Systems are those with a `<system>_human` in any record; a warning names other keys.
    Equal records are read once.

    Passages are the article's lines. Ratings: `overall`, and a criterion per facet. A
    facet that is released as 0 is null: the reference lacks it, so it was not rated.
    The released metrics of that facet are null, too, though the file has numbers: the
    released overall scores of people and metrics leave it out. Segments are the
    released facets; an empty facet has no row.
    """
    rows = Rows()
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if len(files) != 1:
        what = (
            f"has {len(files)} files *.json" if folder.is_dir() else "is not a folder"
        )
        rows.wrong(
            Place(str(folder)),
            what,
            remedy="put one part of ScholarSum, one file, into it",
        )
        return rows
    papers = list(_papers(files[0], rows))
    keys = set(chain.from_iterable(paper.fields for paper in papers))
    rated = (key.removesuffix(_HUMAN) for key in keys if key.endswith(_HUMAN))
    systems = sorted(filter(None, rated))
    if papers and not systems:
        what = "has no system that people scored: no key ends in '_human'"
        rows.wrong(Place(files[0].name), what)
    for paper in papers:
        _add_paper(paper, keys, systems)
    return rows


class _Paper(NamedTuple):
    """A record; a wrong field is a problem of `rows`."""

    at: Place
    doc_id: str
    fields: dict[str, Any]
    rows: Rows

    def text(self, name: str) -> str:
        text = self.fields.get(name)
        if isinstance(text, str) and text.strip():
            return text
        self.rows.wrong(self.at, f"{shown(name)} is not text")
        return ""

    def number(self, name: str) -> float | None:
        return json_number(self.at, self.fields.get(name), name, self.rows)

    def numbers(self, name: str) -> list[float | None]:
        """Return the values by facet."""
        values = self.fields.get(name)
        if not isinstance(values, list) or len(values) != len(FACETS):
            self.rows.wrong(
                self.at, f"{shown(name)} is not a list of {len(FACETS)} numbers"
            )
            return [None] * len(FACETS)
        return [json_number(self.at, value, name, self.rows) for value in values]

    def warn(self, what: str, remedy: str) -> None:
        self.rows.warnings.add(self.at, what, remedy)


def _papers(path: Path, rows: Rows) -> Iterator[_Paper]:
    """Yield every record; other lines are problems."""
    seen: dict[str, Place] = {}
    articles: dict[str, Place] = {}
    for number, (at, value) in enumerate(json_lines(path, rows.problems, remedy=AGAIN)):
        if value is UNREAD:
            continue
        if not isinstance(value, dict):
            rows.wrong(at, "is not an object with named values")
            continue
        first = seen.setdefault(json.dumps(value, sort_keys=True), at)
        if first is not at:
            what = "is the same record as an earlier line"
            fix = "it is read once"
            rows.warnings.add(at, what, fix, f"as line {first.row}")
            continue
        first = articles.setdefault(json.dumps(value.get("article")), at)
        if first is not at:
            what = "has the article of an earlier line, and differs in something else"
            rows.warnings.add(at, what, "both are read", f"as line {first.row}")
        yield _Paper(at=at, doc_id=f"{path.stem}_{number:02d}", fields=value, rows=rows)


def _add_paper(paper: _Paper, keys: Set[str], systems: Sequence[str]) -> None:
    """Add a paper; `keys` and rated `systems` are those of all papers."""
    at, doc_id, fields, rows = paper
    study = f"scholarsum_{doc_id.rpartition('_')[0]}"
    article = paper.text("article")
    abstract = paper.text("human")
    passages = [line.strip() for line in article.split("\n") if line.strip()]
    rows.sources.append(source_row(at, doc_id, "abstract", passages))
    rows.texts.append(
        TextRow(at=at, doc_id=doc_id, author=REFERENCE, part=FULL, text=abstract)
    )
    read = {"article", "human", f"human{_ASPECT}"}
    _add_segments(paper, REFERENCE, f"human{_ASPECT}")
    for system in systems:
        author = _NAMES.get(system, system)
        key = doc_id, author, FULL
        rows.texts.append(TextRow(at, *key, paper.text(system)))
        _add_segments(paper, author, f"{system}{_ASPECT}")
        overall = paper.number(f"{system}{_HUMAN}")
        grades = [value or None for value in paper.numbers(f"{system}{_HUMAN}_list")]
        values = {"overall": overall, **dict(zip(FACETS, grades, strict=True))}
        rows.rate(at, (study, *key, "text", "released"), values)
        names = [
            name
            for name in (*SCHOLARSUM_METRICS, *BY_FACET)
            if f"{system}_{name}" in keys
        ]
        for name in names:
            rows.score(at, key, _scores(paper, f"{system}_{name}", name, grades))
        endings = (_ASPECT, _HUMAN, f"{_HUMAN}_list", *(f"_{name}" for name in names))
        read |= {system, *(f"{system}{ending}" for ending in endings)}
    for name in sorted(fields.keys() - read):
        paper.warn(
            f"{shown(name)} is not read", "nothing needs it; correct its spelling"
        )


def _scores(
    paper: _Paper, key: str, name: str, grades: Sequence[float | None]
) -> dict[str, float | None]:
    """Return a metric's value, or its values by facet without those that people did not grade."""
    if name in SCHOLARSUM_METRICS:
        return {SCHOLARSUM_METRICS[name]: paper.number(key)}
    return {
        f"{BY_FACET[name]}_{facet}": None if grade is None else value
        for facet, grade, value in zip(FACETS, grades, paper.numbers(key), strict=True)
    }


def _add_segments(paper: _Paper, author: str, name: str) -> None:
    at, doc_id, fields, rows = paper
    if name not in fields:
        paper.warn(f"{shown(name)} is not there", "this text has no released facets")
        return
    facets = fields[name]
    if isinstance(facets, str):
        of_this = Place(at.file, f"{at.row} > {shown(name)}", at.kind)
        facets = parse_json(facets, of_this, rows.problems)
        if facets is UNREAD:
            return
    if not isinstance(facets, dict):
        rows.wrong(at, f"{shown(name)} is not an object of facets written as JSON")
        return
    for facet in FACETS:
        text = _segment(paper, facets, facet, shown(f"{name} > {facet}"))
        if text.strip():
            rows.segments.append(
                SegmentRow(at=at, doc_id=doc_id, author=author, part=facet, text=text)
            )
    for other in sorted(facets.keys() - set(FACETS)):
        what = f"{shown(name)} has another facet, {shown(other)}"
        paper.warn(what, f"it is not read; facets are {', '.join(FACETS)}")


def _segment(paper: _Paper, facets: dict[str, Any], facet: str, where: str) -> str:
    """Return the facet's text, empty if it is absent."""
    text = facets.get(facet)
    if facet not in facets:
        paper.warn(f"{where} is not there", "it counts as absent from the text")
    elif isinstance(text, list) and all(isinstance(piece, str) for piece in text):
        paper.warn(f"{where} is a list, not a text", "its pieces are joined by blanks")
        return " ".join(text)
    elif text is not None and not isinstance(text, str):
        paper.rows.wrong(paper.at, f"{where} is not text")
    return text if isinstance(text, str) else ""
