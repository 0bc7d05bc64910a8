"""What the invented report hands to its page, held against the tables."""

import re

import pandas as pd
import pytest

from metassay.core.options import Criterion
from metassay.format.prose import split_paragraphs
from metassay.reporting import documents
from metassay.reporting.contract import Head, Judgment, Line, Rating, TableInfo
from metassay.reporting.documents import _differs, _place, _rated
from metassay.reporting.facets import Facet
from metassay.reporting.page import _evidence_words, ordered
from metassay.reporting.report import TABLES, write_report
from metassay.reporting.shell import utf16
from metassay.tables.names import metric_label
from metassay.text.spans import Span
from tests.reporting import page_data
from tests.reporting.invented_report import DOC, EVIL, SCRIPT

TEXT = "😀 pain. 👩‍⚕️ helped."


@pytest.fixture
def page_of(make_report, tmp_path, no_figures):
    """The folder of the report with the named changes."""

    def page(**changes):
        write_report(make_report(**changes), tmp_path / "out")
        return tmp_path / "out"

    return page


@pytest.fixture(scope="module")
def texts(written):
    return page_data.texts(written)


@pytest.fixture(scope="module")
def index(written, head):
    return page_data.frame(written, head["texts"]["table"])


def test_every_field_of_the_contract_is_filled(head, page_of):
    assert set(head) == set(Head._fields)
    assert {name for name, value in head.items() if not value} == {"links"}
    assert (head["kind"], head["name"]) == ("benchmark", "tiny")
    assert head["dataset"]["title"] == f"Tiny {SCRIPT}"
    assert head["dataset"]["seen"] == ["words: looked at & noted"]
    invented, lexical = head["banners"]
    assert invented.startswith("Invented data:")
    assert lexical.startswith("lexical: a lexical baseline, not a semantic judge")
    assert page_data.head(page_of(invented=False))["banners"] == [lexical]


def test_every_table_of_the_benchmark_is_there_with_every_digit(written, head, frames):
    shown = {info["name"]: info for info in head["tables"]}
    assert set(TABLES) <= set(shown)
    for name in TABLES:
        again, there = (
            page_data.frame(written, shown[name]),
            ordered(name, frames[name]),
        )
        assert list(again.columns) == list(there.columns)
        for column in there:
            with_null = (
                f[column].astype(object).where(f[column].notna(), None)
                for f in (again, there)
            )
            values, expected = (of.tolist() for of in with_null)
            assert values == expected, (name, column)


def test_tables_say_what_they_are_and_name_only_columns_that_they_have(written, head):
    for info in head["tables"]:
        assert set(info) == set(TableInfo._fields)
        names = {column["name"] for column in info["columns"]}
        used = {*info["pick"], *info["lead"], *info["hide"], info["across"]}
        used |= set((info["cell"] or {}).values())
        assert used - {""} <= names, info["name"]
        assert info["title"], info["name"]
        assert info["group"], info["name"]
        assert info["command"] == "metassay run tiny"
        assert len(pd.read_csv(written / info["csv"])) == info["rows"]
        assert all(column["means"] for column in info["columns"]), info["name"]
        # else a reader would see one of several values and not know which
        if info["across"]:
            key = [*info["pick"], *info["lead"], info["across"]]
            assert not page_data.frame(written, info).duplicated(key).any(), info[
                "name"
            ]
    for name in page_data.figures(head):
        assert (written / f"figures/{name}.svg").is_file()
    for name, words in _evidence_words().items():
        assert words.title, name
        says = split_paragraphs(words.says or "")
        assert all(len(text) > 40 for text in says), name


def test_systems_are_those_of_the_leaderboard(head, frames):
    systems, board = head["systems"], frames["leaderboard"]
    assert (systems["table"], systems["groups"]) == ("leaderboard", "system_groups")
    labels = {
        metric_label(m, j) for m, j in zip(board["metric"], board["judge"], strict=True)
    }
    assert set(systems["headline"]) <= labels
    assert systems["headline"][0] == "claim_recall (lexical)"


def test_the_index_counts_what_documents_show(head, index, texts):
    info = head["texts"]
    assert (info["documents"], info["texts"], info["judges"]) == (2, 6, ["lexical"])
    assert list(zip(index["document"], index["author"], strict=True)) == list(texts)
    for row in index.to_dict("records"):
        text = texts[row["document"], row["author"]]
        for n, scorer in enumerate(info["scorers"]):
            sides = [
                judgment["side"]
                for block in text["blocks"]
                for line in block["lines"]
                for of, judgment in zip(block["heads"], line["judgments"], strict=True)
                if of["measure"] == scorer["measure"]
            ]
            for side in ("for", "against", "unknown"):
                assert row[f"{side}_{n}"] == sides.count(side)
        for metric in info["measures"][:-1]:
            value = dict(text["scores"]).get(metric["key"])
            assert (value is None) == pd.isna(row[metric["column"]])
            assert value is None or value == row[metric["column"]]


def test_sides_of_the_index_by_hand(head, index, frames):
    """Of the judgments themselves: entailed is for, the rest against; no evidence is against."""
    pairs = frames["pairs"]
    evil = pairs[(pairs["doc_id"] == "doc-2") & (pairs["author"] == EVIL)]
    evil = evil[~evil["measure"].isin(["citation_alone", "citation_rest"])]
    both = evil.merge(frames["judgments"], on="pair_id", how="left")
    against = (both["label"] == "not_entailed") | (both["settled"] == "no_evidence")
    expected = [(both["label"] == "entailed").sum(), against.sum()]
    rows = index.set_index(["document", "author"])
    measures = range(len(head["texts"]["scorers"]))
    sums = {
        side: rows[[f"{side}_{n}" for n in measures]].sum(axis=1)
        for side in ("for", "against", "unknown")
    }
    of_evil = [of.loc["doc-2", EVIL] for of in sums.values()]
    assert of_evil == [*expected, (both["status"] == "refused").sum()]
    assert [of.loc["doc-2", "plain"] for of in sums.values()] == [0, 0, 2]
    assert rows.loc[("doc-2", "plain"), "status"] == "no text: truncated"


def test_claims_are_the_lines_of_documents_by_measure(head, texts, written):
    info = head["texts"]
    claims = page_data.frame(written, info["claims"]["table"])
    fails = {of["measure"]: of["fails"] for of in info["scorers"]}
    assert next(iter(fails)) == "faithfulness"
    assert fails["claim_precision"] == "not in the reference"
    listed = {
        (row["document"], row["author"], row["line"], row["measure"]): row
        for row in claims.to_dict("records")
    }
    shown = {
        (*text, f"{block['id']}:{place}", of["measure"]): (line, judgment)
        for text, content in texts.items()
        for block in content["blocks"]
        for place, line in enumerate(block["lines"])
        for of, judgment in zip(block["heads"], line["judgments"], strict=True)
    }
    assert listed.keys() == shown.keys()
    for key, (line, judgment) in shown.items():
        row = listed[key]
        assert (row["text"], row["part"]) == (line["text"], line["part"])
        assert row["side_0"] == judgment["side"]
        assert row["word_0"] == judgment["word"]
    for count in info["claims"]["counts"]:
        sides = [
            judgment["side"]
            for (_, author, _, measure), (_, judgment) in shown.items()
            if (author, measure) == (count["author"], count["measure"])
        ]
        expected = (sides.count("against"), len(sides))
        assert (count["against"], count["n_lines"]) == expected


def test_criteria_of_the_index_are_means_of_whole_texts(head, index):
    *_, criterion = head["texts"]["measures"]
    assert (criterion["key"], criterion["better"]) == ("people: completeness", "higher")
    rated = index[index["rated"] > 0]
    assert rated[["document", "author"]].to_numpy().tolist() == [[DOC, EVIL]]
    assert rated[criterion["column"]].tolist() == [80]
    assert index[criterion["column"]].count() == 1


def test_a_text_has_all_that_was_said_of_it_once(texts, frames, written):
    text, rater = texts[DOC, EVIL], f"rater {SCRIPT}"
    assert text["text"] == f"Knee hurts. {SCRIPT} | *{EVIL}*"
    assert [[*rating.values()] for rating in text["ratings"]] == [
        ["completeness", rater, 80, ""],
        ["preference", rater, None, "plain"],
        ["coverage (statements, 2)", rater, 0.5, ""],  # it has two statements
    ]
    blocks = {block["id"]: block for block in text["blocks"]}
    assert list(blocks) == ["claim_recall", "claim_precision", "statements"]
    first, second = blocks["statements"]["lines"]
    assert (first["cites"], second["cites"]) == ([0, 7], [])
    assert [(each["head"], each["passage"]) for each in first["each"]] == [
        (0, 0),
        (0, 7),
    ]
    assert second["judgments"][0]["word"] == "no evidence"
    assert [rating["value"] for rating in first["people"]] == [0.5]
    assert blocks["claim_recall"]["lines"][0]["people"][0]["value"] == 1.0
    failed = texts["doc-2", "plain"]
    assert failed["problems"] == ["no text: truncated"]
    assert failed["blocks"][0]["note"].startswith(
        "All 2 questions failed, because there is no"
    )
    lines = [
        line
        for text in texts.values()
        for block in text["blocks"]
        for line in block["lines"]
    ]
    n_ratings = sum(len(text["ratings"]) for text in texts.values())
    assert n_ratings + sum(len(line["people"]) for line in lines) == len(
        frames["ratings"]
    )
    document = page_data.documents(written)[0]
    assert document["attributes"] == ["age: 40", "why: <script>alert(1)</script>"]
    assert [*document["passages"][1].values()] == [
        "doctor & co",
        "",
        f"Since when? {SCRIPT}",
    ]


def test_a_search_reads_every_text_and_its_claims(written, head, texts):
    (shard,) = head["texts"]["search"]
    read = dict(zip(texts, page_data.value(written, shard)["texts"], strict=True))
    assert "Knee hurts." in read[DOC, EVIL]
    assert f"claim 1 of {EVIL}" in read[DOC, EVIL]
    assert "Knee" not in read["doc-2", "plain"]


def test_premises_are_not_printed_and_null_is_no_word(written):
    for file in written.rglob("*"):
        if (
            file.suffix in (".js", ".html", ".md", ".csv", ".svg")
            and file.name != "app.js"
        ):
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"\b(nan|NaN|NaT|inf)\b", text), file.name
            assert "a premise nobody prints" not in text


def test_alignments_are_shown_where_there_are_some(page_of):
    names = ["doc_id", "author", "part", "position", "method", "passages", "values"]
    rows = [[DOC, EVIL, "full", 0, "rouge_topk", [1, 0], [0.5, 0.25]]]
    page = page_of(alignments=pd.DataFrame(rows, columns=names))
    blocks = [
        block for text in page_data.texts(page).values() for block in text["blocks"]
    ]
    aligned = [
        line["aligned"]
        for block in blocks
        for line in block["lines"]
        if line["aligned"]
    ]
    assert aligned == [[1, 0]]


def test_all_tables_empty(make_report, nothing, tmp_path):
    write_report(make_report(**nothing), tmp_path / "out")
    head = page_data.head(tmp_path / "out")
    assert (head["tables"], head["grid"], head["decisions"]) == ([], [], {})
    assert head["systems"] is None
    assert head["answer"] == [
        "No text has both ratings and scores, so no metric is tested against people."
    ]
    assert (head["texts"]["texts"], head["texts"]["documents_in"]) == (0, [])
    assert not (tmp_path / "out" / "figures").exists()


def test_no_judge_no_ratings_one_author(page_of, frames, nothing):
    names = ("texts", "parts", "units", "scores", "leaderboard")
    only = {name: frames[name][frames[name]["author"] == EVIL] for name in names}
    names = (
        "pairs",
        "judgments",
        "ratings",
        "correlations",
        "certificates",
        "agreement",
    )
    out = page_of(**only, **{name: nothing[name] for name in names})
    head = page_data.head(out)
    assert len(head["banners"]) == 1
    assert head["texts"]["judges"] == []
    assert "people: " not in str(head["texts"]["measures"])
    assert head["systems"]["groups"] == ""
    blocks = [
        block for text in page_data.texts(out).values() for block in text["blocks"]
    ]
    judgments = [line["judgments"] for block in blocks for line in block["lines"]]
    assert judgments
    assert not any(judgments)


# ---- places in texts, as JavaScript counts them ----------------------------------------------


def javascript(text: str, start: int, end: int) -> str:
    """text.slice(start, end) of JavaScript."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def test_places_count_utf_16_of_what_is_shown() -> None:
    for words in ("pain", "helped", "😀", "👩‍⚕️ helped."):
        start = TEXT.index(words)
        ends = utf16(TEXT, start), utf16(TEXT, start + len(words))
        assert javascript(TEXT, *ends) == words
    assert utf16("a\u202eb", 2) == len("a\\u202e")


@pytest.mark.parametrize("between", ["\n\n", " "])
def test_a_unit_of_a_part_in_pieces_stands_where_its_piece_does(between: str) -> None:
    whole = "Plan: rest.\nExam: 😀 fine.\nPlan: ice.\nPlan: tea."
    pieces = [Span(*match.span()) for match in re.finditer(r"Plan: \w+\.", whole)]
    joined = between.join(whole[a:b] for a, b in pieces)
    part = Facet("ok", joined, pieces, ())
    for words in ("rest.", "ice.", "tea."):
        start = joined.index(words)
        assert (
            javascript(whole, *_place(whole, part, start, start + len(words))) == words
        )
    nowhere = [
        # of several pieces
        _place(whole, part, joined.index("rest."), joined.index("tea")),
        _place(whole, part, joined.index("ice."), len(joined)),
        _place(whole, Facet("ok", "other words", pieces, ()), 0, 2),
        _place(whole, None, 0, 2),
        _place(whole, part, None, None),
    ]
    assert set(nowhere) == {(-1, -1)}


@pytest.mark.parametrize(
    ("sides", "ratings", "differs"),
    [
        # two of three against
        (["for"], [("truth", 1), ("truth", 2), ("truth", 5)], True),
        (["against", "for"], [("truth", 5)], True),  # one of two judges
        (["for"], [("truth", 5)], False),
        (["for"], [("truth", 1), ("truth", 5)], False),  # people are split
        # the middle, and who abstained
        (["for"], [("truth", 3), ("truth", None)], False),
        (["unknown", "neutral"], [("truth", 1)], False),
        (["for"], [("errors", 1)], True),  # less is better
        (["against"], [("errors", 1)], False),
        (["for"], [], False),
    ],
)
def test_a_judge_differs_from_most_people_by_hand(sides, ratings, differs) -> None:
    people = [Rating(criterion, "r", value) for criterion, value in ratings]
    judgments = [Judgment("", side) for side in sides]
    scales = {
        "truth": Criterion(low=1, high=5, better="higher"),
        "errors": Criterion(low=0, high=1, better="lower"),
    }
    line = Line(0, "full", "", -1, -1, [], [], judgments, people=people)
    assert _differs(line._replace(rated=_rated(line, scales))) is differs


def test_marks_lines_and_people_on_a_page(page_of, frames) -> None:
    """A text with emoji in two sections; the second statement stands in the second one."""
    parts, texts = frames["parts"], frames["texts"].copy()
    key, cut = {"doc_id": DOC, "author": EVIL, "status": "ok"}, TEXT.index("👩")
    texts.loc[(texts["doc_id"] == DOC) & (texts["author"] == EVIL), "text"] = TEXT
    spans = {"full": (0, len(TEXT)), "subjective": (0, cut), "plan": (cut, len(TEXT))}
    of_text = [
        {
            **key,
            "part": part,
            "text": TEXT[a:b],
            "starts": [a],
            "ends": [b],
            "leaf": "yes",
        }
        | {"made_up": [], "repeats": []}
        for part, (a, b) in spans.items()
    ]
    others = parts[(parts["doc_id"] != DOC) | (parts["author"] != EVIL)]
    start = TEXT[cut:].index("helped")
    unit = {**key, "kind": "statement", "position": 0, "statement": None}
    units = [
        {
            **unit,
            "part": "subjective",
            "text": "pain",
            "start": 2,
            "end": 6,
            "citations": [],
        },
        {**unit, "part": "plan", "text": "helped", "start": start, "end": start + 6}
        | {"citations": [0, 1]},
    ]
    page = page_of(
        texts=texts,
        parts=pd.concat([others, pd.DataFrame(of_text)]),
        units=pd.DataFrame(units),
        facets=("subjective", "plan"),
    )
    text = page_data.texts(page)[DOC, EVIL]
    marks = [(javascript(TEXT, m["start"], m["end"]), m["part"]) for m in text["marks"]]
    assert marks == [(TEXT[:cut], "subjective"), (TEXT[cut:], "plan")]
    (lines,) = [
        block["lines"] for block in text["blocks"] if block["id"] == "statements"
    ]
    shown = {of["part"]: javascript(TEXT, of["start"], of["end"]) for of in lines}
    assert shown == {"subjective": "pain", "plan": "helped"}
    assert [[rating["value"] for rating in of["people"]] for of in lines] == [
        [0.5],
        [0.5],
    ]
    info = page_data.head(page)["texts"]
    index = page_data.frame(page, info["table"]).set_index(["document", "author"])
    places = index.loc[(DOC, EVIL), "parts"].split()
    assert {info["parts"][int(place)] for place in places} == {"subjective", "plan"}


def test_what_is_read_together_does_not_change_the_page(
    make_report, tmp_path, monkeypatch, no_figures
) -> None:
    pages = []
    for at_once in (1, 50):
        monkeypatch.setattr(documents, "_AT_ONCE", at_once)
        write_report(make_report(), tmp_path / str(at_once))
        pages.append(page_data.everything(tmp_path / str(at_once)))
    assert pages[0] == pages[1]
