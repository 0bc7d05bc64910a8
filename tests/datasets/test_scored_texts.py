"""Released texts with ratings and scores: invented files worked out by hand, and the real ones."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from metassay.core.options import Criterion, Options
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.scored_texts import (
    CORPORA,
    FRANK_CRITERIA,
    FRANK_HUMAN,
    FRANK_METRICS,
    FRANK_SCORES,
    LONGEVAL_SCORES,
    LONGEVAL_TEXTS,
    SFRES,
    SYSTEMS,
    TOPICAL_CHAT,
    XSUM_FACTS,
    XSUM_METRICS,
    XSUM_SCORES,
    XSUM_SPANS,
)
from metassay.metrics import copying
from metassay.scoring.catalogue import descriptions
from tests.datasets.reading import ROOT, problems, put_csv
from tests.support import frank_files

SHARE = Criterion(low=0, high=1, better="higher")
KEY = ["doc_id", "author"]
ELSE = "does not hold what was released"


def read(reader: str, folder: Path, benchmark: str = "") -> Tables:
    return ingest(
        reader, folder, load(ROOT).benchmarks[benchmark or reader].criteria, dataset="d"
    )


def put(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path.parent


def problem(reader: str, folder: Path, *names: str) -> str:
    lines = problems(reader, folder, dict.fromkeys(names, SHARE))
    assert len(lines) == 1, lines
    return lines[0]


# ---- FRANK


def test_ratings_and_scores_of_one_summary(tmp_path: Path) -> None:
    (*_, human), (*_, scores) = frank_files.records(articles=1)
    human |= {"Factuality": 0.5, "RelE": 0.75, "Flip_RelE": 0.625}
    scores |= {"FEQA": None, "Bleu": 12.5}
    tables = read("frank", frank_files.put(tmp_path, [human], [scores]))
    assert not tables.warnings
    assert tables.texts.empty
    (source,) = tables.sources.to_dict("records")
    assert (source["doc_id"], source["passages"]) == ("frank_bbc0", [])
    assert source["attributes"] == '{"corpus":"xsum","split":"test"}'
    ratings = tables.ratings.set_index("criterion")["value"]
    assert len(ratings) == len(FRANK_CRITERIA) == 23
    names = ("factuality", "without_relation", "factuality_forgiving_relation")
    assert ratings[[*names]].tolist() == [0.5, 0.75, 0.625]
    assert set(tables.ratings["author"]) == {"BERTS2S"}
    measured = tables.measurements.set_index("metric")["value"]
    assert len(measured) == len(FRANK_METRICS) == 15
    assert (measured["frank_bleu"], measured.isna().sum()) == (12.5, 1)
    for file, record, changes, text in (
        (
            FRANK_HUMAN,
            human,
            {"Factuality": 1.5},
            "'factuality' is outside its scale of 0 to 1 (v",
        ),
        (
            FRANK_HUMAN,
            human,
            {"RelE": "1"},
            "'RelE' is not a finite number; fetch the file again",
        ),
        (FRANK_SCORES, scores, {"QAGS": "high"}, "'QAGS' is not a finite number"),
    ):
        frank_files.put(tmp_path, [human], [scores])
        put(tmp_path / file, [record | changes])
        assert text in problem("frank", tmp_path, *FRANK_CRITERIA.values())


def test_frank_as_released(mirror: Path) -> None:
    tables = read("frank", mirror / "frank")
    assert not tables.warnings
    sizes = {("cnndm", "test"): 175, ("cnndm", "valid"): 75, ("xsum", "test"): 175}
    about = Counter(tuple(json.loads(a).values()) for a in tables.sources["attributes"])
    assert about == sizes | {("xsum", "valid"): 74}
    values = tables.ratings.pivot(index=KEY, columns="criterion", values="value")
    assert values.shape == (2246, 23)
    assert not values.isna().any(axis=None)
    # Forgiving an error never makes a summary worse; that of `other` is released as it
    # was.
    flips = values.filter(like="forgiving")
    assert flips.sub(values["factuality"], axis=0).min(axis=None) >= 0
    assert (values["factuality_forgiving_other"] == values["factuality"]).all()
    missing = tables.measurements[tables.measurements["value"].isna()]["metric"]
    assert Counter(missing) == {"frank_dep_entail": 83, "frank_feqa": 4}


# ---- XSum

XSUM = ("faithfulness", "factuality", "faithful_released", "factual_released")
HEADERS = {
    XSUM_SPANS: "bbcid,system,summary,hallucination_type,hallucinated_span,hallucinated_span_start,"
    "hallucinated_span_end,worker_id",
    XSUM_FACTS: "bbcid,system,summary,is_factual,worker_id",
    XSUM_SCORES: "system_bbcid,R1,R2,RL,BERTScore,Entailment,Faithful,Factual",
}
ESCAPED = r"the mayor\'s red car won"  # in the files of spans
PLAIN = "the mayor's red car won"
#        1   5       13  17  21    1-based starts of its five words
ROWS = {  # two systems and the reference on article 7
    XSUM_SPANS: [
        ["7", "BERTS2S", ESCAPED, "extrinsic", "red car", "13", "20", "wid_0"],
        ["7", "BERTS2S", ESCAPED, "intrinsic", "car won", "17", "24", "wid_0"],
        ["7", "BERTS2S", ESCAPED, "NULL", "NULL", "-1", "-1", "wid_1"],
        ["7", "TranS2S", "it rained", "extrinsic", "it rained", "0", "40", "wid_0"],
        ["7", "Gold", "the mayor won", "NULL", "NULL", "-1", "-1", "wid_0"],
    ],
    XSUM_FACTS: [
        ["7", "BERTS2S", PLAIN, *s.split()]
        for s in ("yes wid_0", "no wid_1", "NULL wid_2")
    ],
    XSUM_SCORES: [
        ["bert_nockpt_7", "0", ".2", ".3", ".4", "1e-05", ".6", ".7"],
        ["bert_withckpt_7", ".5", ".4", ".3", ".2", ".1", "1", "0"],
    ],
}


def put_xsum(folder: Path, *change: Any) -> Path:
    """Write ROWS, with a file's cell changed: its name, row, column and value."""
    rows = {name: [list(row) for row in body] for name, body in ROWS.items()}
    if change:
        name, row, column, value = change
        rows[name][row][column] = value
    for name, body in rows.items():
        put_csv(folder / name, [HEADERS[name].split(","), *body])
    return folder


def test_rows_are_joined_by_article_and_system(tmp_path: Path) -> None:
    tables = read("xsum_hallucination", put_xsum(tmp_path))
    (source,) = tables.sources.to_dict("records")
    assert (source["doc_id"], source["passages"]) == ("xsum_7", [])
    texts = tables.texts.set_index("author")["text"].to_dict()
    assert texts == {
        "berts2s": PLAIN,
        "trans2s": "it rained",
        "reference": "the mayor won",
    }
    ratings = tables.ratings.set_index(["author", "criterion", "rater"])[
        "value"
    ].sort_index()
    # wid_0 marked the words "red", "car" and "won" of five, "car" twice.
    assert ratings["berts2s", "faithfulness", "wid_0"] == pytest.approx(2 / 5)
    assert ratings["berts2s", "faithfulness", "wid_1"] == 1
    # A span from 0 to past the end is the whole text.
    assert ratings["trans2s", "faithfulness", "wid_0"] == 0
    assert ratings["berts2s", "factuality"].fillna(-1).tolist() == [1, 0, -1]
    assert ("trans2s", "factuality", "wid_0") not in ratings  # was not rated
    assert ratings["trans2s", "faithful_released", "released"] == 0.6
    scores = tables.measurements.set_index(["author", "metric"])
    assert scores["value"]["trans2s", "xsum_entailment"] == 1e-05
    assert scores["value"]["berts2s", "xsum_rouge1"] == 0.5
    assert len(scores) == 10
    recipe = "xsum_rouge1|given|reader:xsum_hallucination"
    assert scores["recipe"]["berts2s", "xsum_rouge1"] == recipe


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ((XSUM_SPANS, 0, 1, "LSTM"), f"{ELSE} (KeyError)"),
        ((XSUM_FACTS, 0, 3, "maybe"), f"{ELSE} (KeyError)"),
        ((XSUM_SCORES, 1, 1, "high"), "line 3: 'R1' is not a finite number"),
        ((XSUM_SCORES, 1, 1, "nan"), "line 3: 'R1' is not a finite number"),
    ],
)
def test_faults_of_xsum(
    tmp_path: Path, change: tuple[str, int, int, str], text: str
) -> None:
    line = problem("xsum_hallucination", put_xsum(tmp_path, *change), *XSUM)
    assert text in line
    assert "mayor" not in line


# Maynez et al.: Spearman of R1, R2, RL, BERTScore and entailment. The last two are
# ours, from the raters' spans and answers (docs/datasets.md says why they differ).
SPEARMAN = {
    "faithful_released": (1992, [0.197, 0.162, 0.162, 0.190, 0.431]),
    "factual_released": (1992, [0.125, 0.095, 0.113, 0.116, 0.264]),
    "faithfulness": (1992, [0.1974, 0.1602, 0.1589, 0.1831, 0.4448]),
    "factuality": (1858, [0.1376, 0.1125, 0.1367, 0.1480, 0.1342]),
}


def test_xsum_gives_the_printed_correlations(mirror: Path) -> None:
    real = read("xsum_hallucination", mirror / "xsum_hallucination")
    assert (len(real.sources), len(real.texts), len(real.measurements)) == (
        500,
        2500,
        5 * 1992,
    )
    sizes = {"faithfulness": 7499, "factuality": 5597}
    sizes |= {"faithful_released": 1992, "factual_released": 1992}
    assert real.ratings.groupby("criterion").size().to_dict() == sizes
    people = real.ratings.groupby([*KEY, "criterion"])["value"].mean().unstack()
    metrics = real.measurements.pivot(index=KEY, columns="metric", values="value")
    for criterion, (n, printed) in SPEARMAN.items():
        both = metrics.join(people[criterion].rename("people"), how="inner").dropna()
        assert len(both) == n
        values = [
            spearmanr(both[name], both["people"]).statistic
            for name in XSUM_METRICS.values()
        ]
        assert values == pytest.approx(printed, abs=0.0005)
    # Released factuality is the raters' mean, and 1 where nobody was asked.
    released = people["factual_released"].dropna()
    ours = people["factuality"].reindex(released.index).fillna(1)
    assert ((ours - released).abs() < 1e-6).sum() == 1990


# ---- UniEval


def turn(
    source: str, system: str, output: str, people: float, score: float
) -> dict[str, Any]:
    values = {
        "scores": {"naturalness": people},
        "predict_scores": {"naturalness": score},
    }
    about = {"system_output": output, "context": f"a fact for {source[:2]}\n"}
    return {"source": source, "system_id": system, **about, **values}


TURNS = [
    turn("hi .\n hello ! \n\n", "Argmax Decoding", "good day", 0, 0.25),
    turn("so ?\n", "Argmax Decoding", "well", 0.5, 0.5),
    turn("hi .\n hello ! \n\n", "New Human Generated", "nice", 1, 0.75),
]
SENTENCES = [
    turn("inform(food=thai)", "", f"Thai {n}.", n / 2, n / 4)
    | {"doc_id": n, "reference": "It is Thai."}
    for n in (0, 1)
]


def test_turns_of_a_dialogue_are_a_document_and_so_is_a_sentence(
    tmp_path: Path,
) -> None:
    put(tmp_path / SFRES, SENTENCES)
    turns = ingest(
        "topical_chat", put(tmp_path / TOPICAL_CHAT, TURNS), {"naturalness": SHARE}
    )
    first, second = turns.sources.to_dict("records")
    assert first["passages"] == ["hi .", "hello !", "a fact for hi"]
    assert first["group"] == ["dialogue", "dialogue", "fact"]
    assert second["passages"] == ["so ?", "a fact for so"]
    assert turns.texts.set_index(KEY)["text"].to_dict() == {
        ("topical_chat_00", "argmax"): "good day",
        ("topical_chat_00", "human_new"): "nice",
        ("topical_chat_01", "argmax"): "well",
    }
    assert turns.ratings.set_index(KEY)["value"]["topical_chat_01", "argmax"] == 0.5
    scores = turns.measurements.set_index([*KEY, "metric"])["value"]
    assert scores["topical_chat_00", "human_new", "unieval_naturalness"] == 0.75
    tables = ingest("sfres", tmp_path, {"naturalness": SHARE})
    assert tables.sources["passages"].tolist() == [["inform(food=thai)"]] * 2
    texts = tables.texts.set_index(KEY)["text"]
    assert texts["sfres_0001", "unnamed"] == "Thai 1."
    assert texts["sfres_0001", "reference"] == "It is Thai."
    values = tables.ratings.set_index("doc_id")["value"].to_dict()
    assert values == {"sfres_0000": 0, "sfres_0001": 0.5}
    assert tables.measurements["value"].tolist() == [0, 0.25]
    for changes, error in (
        ({"system_id": "Beam"}, "Key"),
        ({"scores": {"x": "high"}}, "Value"),
    ):
        put(tmp_path / TOPICAL_CHAT, [TURNS[0] | changes])
        assert f"{ELSE} ({error}Error)" in problem("topical_chat", tmp_path)


# As printed in the authors' repository, reproduce/README.md: Pearson, Spearman,
# Kendall.
PRINTED = {
    "topical_chat": {
        "naturalness": (0.443666, 0.513986, 0.373973),
        "coherence": (0.595143, 0.612942, 0.465915),
        "engagingness": (0.55651, 0.604739, 0.455941),
        "groundedness": (0.536209, 0.574954, 0.451533),
        "understandability": (0.380038, 0.467807, 0.360741),
        "overall": (0.632796, 0.662583, 0.487272),
    },
    "sfres": {
        "naturalness": (0.367252, 0.333399, 0.247094),
        "informativeness": (0.282079, 0.224918, 0.169297),
        "overall": (0.370815, 0.291593, 0.214708),
    },
}
SIZES = {"topical_chat": (60, 360, 2160), "sfres": (1181, 2362, 3543)}


@pytest.mark.parametrize("reader", PRINTED)
def test_unieval_gives_the_printed_correlations(mirror: Path, reader: str) -> None:
    real = read(reader, mirror / "unieval_dialogue_d2t")
    assert (len(real.sources), len(real.texts), len(real.ratings)) == SIZES[reader]
    people = real.ratings.pivot(index=KEY, columns="criterion", values="value")
    scores = real.measurements.pivot(index=KEY, columns="metric", values="value")
    for dimension, printed in PRINTED[reader].items():
        both = people[dimension], scores.loc[people.index, f"unieval_{dimension}"]
        values = [float(f(*both).statistic) for f in (pearsonr, spearmanr, kendalltau)]
        assert values == pytest.approx(printed, abs=1e-6), dimension


# ---- LongDocFACTScore

STORIES = {
    "article_3_human": {
        "source_doc": "A b .<br /> <br />C d .",
        "summary": "<pad> own words",
    },
    "article_3_longt5": {
        "source_doc": "A b .<br />C d .",
        "summary": "<pad> a <unk> b </S>",
    },
}


def test_longeval_has_a_rating_of_each_rater(tmp_path: Path) -> None:
    put(tmp_path / LONGEVAL_TEXTS, STORIES)
    put(
        tmp_path / LONGEVAL_SCORES,
        [{"story": "article_3_longt5", "score": [50.0, 100.0, 0.0]}],
    )
    tables = read("longeval", tmp_path, "longeval_pubmed")
    (source,) = tables.sources.to_dict("records")
    assert (source["doc_id"], source["passages"]) == ("article_03", ["A b .", "C d ."])
    texts = tables.texts.set_index("author")["text"].to_dict()
    assert texts == {"reference": "own words", "longt5": "a <unk> b"}
    ratings = tables.ratings.set_index(["author", "rater"])["value"].to_dict()
    assert ratings == {
        ("longt5", f"rater_{n}"): v for n, v in ((1, 50), (2, 100), (3, 0))
    }
    secret = "what nobody may read"
    put(
        tmp_path / LONGEVAL_TEXTS,
        {"notes_1": {"source_doc": secret, "summary": secret}},
    )
    line = problem("longeval", tmp_path)
    assert line.endswith(f": {ELSE} (ValueError); fetch the file again")
    assert secret not in line


def test_longsciverify_has_the_share_of_true_sentences(tmp_path: Path) -> None:
    """A spreadsheet took the zeros off the article's number, and one sentence has no mark."""
    marks = [f"model_{n}_sent_{s}_factuality" for n in SYSTEMS for s in (1, 2, 3)]
    header = ["id", *(column for column, _ in SYSTEMS.values()), *marks]
    for corpus in CORPORA:
        article = {
            "article_id": "0706.0120",
            "article_text": ["A b .", " "],
            "sections": [],
        }
        article["abstract_text"] = ["<S> own </S>", "<S> words </S>"]
        put(tmp_path / f"{corpus}_test.json", [article])
        for rater in (1, 2, 3):
            cells = "1,0,1,0,0,0,1.0,0.0," if rater == 1 else "1,1,1,0,0,0,1,0,0"
            row = ["706.012 ", "of one", "of two", "of three", *cells.split(",")]
            put_csv(tmp_path / f"{corpus}_reviewer_{rater}.csv", [header, row])
    tables = read("longsciverify", tmp_path)
    assert sorted(tables.sources["doc_id"]) == ["arxiv_0706.0120", "pubmed_0706.0120"]
    assert set(tables.sources["attributes"]) == {
        '{"corpus":"arxiv"}',
        '{"corpus":"pubmed"}',
    }
    texts = tables.texts.set_index(KEY)["text"]
    names = ("reference", "gencomparesum_abs", "dancersumm", "zonesumm")
    assert [texts["arxiv_0706.0120", n] for n in names] == [
        "own words",
        "of one",
        "of two",
        "of three",
    ]
    shares = tables.ratings.set_index([*KEY, "rater"])["value"]
    for rater, values in (("rater_1", [2 / 3, 0, 1 / 2]), ("rater_2", [1, 0, 1 / 3])):
        rated = [shares["pubmed_0706.0120", name, rater] for name in names[1:]]
        assert rated == pytest.approx(values)


def test_longeval_as_released(mirror: Path) -> None:
    """Coverage correlates with people at .575 where `<pad>`, before 20 of 40 texts, is a word.

    The source never says it, so it costs one of the two systems coverage; we take it
    out: .614.
    """
    tables = read("longeval", mirror / "longeval_pubmed", "longeval_pubmed")
    assert not tables.warnings
    assert len(tables.sources) == 20
    assert tables.texts["author"].value_counts().to_dict() == {
        "reference": 20,
        "longt5": 20,
        "bigbird_pegasus": 20,
    }
    values = tables.ratings.pivot(index=KEY, columns="rater", values="value")
    assert values.shape == (40, 3)
    # Krippendorff's alpha for intervals, all raters having rated everything.
    within = values.to_numpy().var(axis=1, ddof=1).mean()
    assert 1 - within / values.to_numpy().var(ddof=1) == pytest.approx(
        0.606, abs=0.0005
    )
    people = values.mean(axis=1)
    texts = list(tables.texts.set_index(KEY)["text"].reindex(people.index))
    stories = json.loads(
        (mirror / "longeval_pubmed" / LONGEVAL_TEXTS).read_text(encoding="utf-8")
    )
    released = [
        stories[f"article_{int(doc[-2:])}_{who}"]["summary"]
        for doc, who in people.index
    ]
    sources = tables.sources.set_index("doc_id")["passages"]
    evidence = [" ".join(sources[doc]) for doc, _ in people.index]
    for summaries, known in (
        (texts, [0.614, 0.549, 0.001]),
        (released, [0.575, 0.549, 0.004]),
    ):
        copied = copying.measure(summaries, evidence, Options())
        columns = [[m.value for m in copied[name]] for name in ("coverage", "density")]
        columns.append([len(text.split()) for text in summaries])
        assert [np.corrcoef(c, people)[0, 1] for c in columns] == pytest.approx(
            known, abs=0.0005
        )
    assert [sum("<pad>" in text for text in part) for part in (texts, released)] == [
        0,
        20,
    ]


def test_longsciverify_as_released(mirror: Path) -> None:
    tables = read("longsciverify", mirror / "longsciverify")
    assert not tables.warnings
    assert [len(tables.sources), len(tables.texts), len(tables.ratings)] == [
        30,
        30 * 4,
        30 * 9,
    ]
    # of three sentences, or two
    assert ((tables.ratings["value"] * 6).round(9) % 1 == 0).all()
    halves = tables.ratings[tables.ratings["value"] == 0.5]
    assert set(halves["doc_id"]) <= {"arxiv_0806.4325", "arxiv_quant-ph9808055"}


def test_every_metric_is_described() -> None:
    metrics = {*XSUM_METRICS.values(), *FRANK_METRICS.values()}
    metrics |= {
        f"unieval_{dimension}" for printed in PRINTED.values() for dimension in printed
    }
    assert metrics <= set(descriptions())
