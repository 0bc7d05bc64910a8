"""What the invented report hands to its page, held against the tables."""

import re

import pandas as pd
import pytest

from metassay.reporting.contract import Head, TableInfo
from metassay.reporting.page import _blocks, ordered
from metassay.reporting.report import TABLES, write_report
from metassay.tables.names import metric_label
from tests.reporting import page_data
from tests.reporting.invented_report import DOC, EVIL, SCRIPT


@pytest.fixture
def page_of(make_report, tmp_path, no_figures):
    """The folder of the report with the named changes."""

    def written(**changes):
        write_report(make_report(**changes), tmp_path / "out")
        return tmp_path / "out"

    return written


@pytest.fixture(scope="module")
def texts(written):
    """Texts by document and author."""
    return {
        (document["id"], text["author"]): text
        for document in page_data.documents(written)
        for text in document["texts"]
    }


@pytest.fixture(scope="module")
def index(written, head):
    return page_data.frame(written, head["texts"]["table"])


def test_every_field_of_the_contract_is_filled(head):
    assert set(head) == set(Head._fields)
    empty = {name for name, value in head.items() if not value}
    assert empty == {"links"}
    assert (head["kind"], head["name"]) == ("benchmark", "tiny")
    assert head["dataset"]["title"] == f"Tiny {SCRIPT}"
    assert head["dataset"]["seen"] == ["words: looked at & noted"]


def test_banners_say_that_data_are_invented_and_judges_lexical(head, page_of):
    invented, lexical = head["banners"]
    assert invented.startswith("Invented data:")
    assert lexical.startswith("lexical: a lexical baseline, not a semantic judge")
    assert page_data.head(page_of(invented=False))["banners"] == [lexical]


def test_every_table_of_the_benchmark_is_there_with_every_digit(written, head, frames):
    shown = {info["name"]: info for info in head["tables"]}
    assert set(TABLES) <= set(shown)
    for name in TABLES:
        again = page_data.frame(written, shown[name])
        there = ordered(name, frames[name]).reset_index(drop=True)
        assert list(again.columns) == list(there.columns)
        for column in there:
            there_values = there[column].astype(object).where(there[column].notna(), None)
            values = again[column].astype(object).where(again[column].notna(), None)
            assert values.tolist() == there_values.tolist(), (name, column)


def test_tables_say_what_they_are_and_name_only_columns_that_they_have(written, head):
    for info in head["tables"]:
        assert set(info) == set(TableInfo._fields)
        names = {column["name"] for column in info["columns"]}
        used = {*info["pick"], *info["lead"], *info["hide"], *filter(None, [info["across"]])}
        used |= set(filter(None, (info["cell"] or {}).values()))
        assert used <= names, info["name"]
        assert info["title"], info["name"]
        assert info["group"], info["name"]
        assert info["command"] == "metassay run tiny"
        assert len(pd.read_csv(written / info["csv"])) == info["rows"]
        assert [one["name"] for one in info["columns"] if not one["means"]] == [], info["name"]
    for name in page_data.figures(head):
        assert (written / f"figures/{name}.svg").is_file()


def test_one_line_of_a_matrix_has_one_value_per_column(written, head):
    """Else a reader would see one of several and not know which."""
    for info in head["tables"]:
        if info["across"]:
            key = [*info["pick"], *info["lead"], info["across"]]
            assert not page_data.frame(written, info).duplicated(key).any(), info["name"]


def test_every_block_of_words_has_a_title():
    for name, block in _blocks().items():
        assert block["title"], name
        assert all(len(said) > 40 for said in block.get("says", ())), name


def test_systems_are_those_of_the_leaderboard(head, frames):
    systems = head["systems"]
    assert (systems["table"], systems["groups"]) == ("leaderboard", "system_groups")
    board = frames["leaderboard"]
    labels = {metric_label(m, j) for m, j in zip(board["metric"], board["judge"], strict=True)}
    assert set(systems["headline"]) <= labels
    assert systems["headline"][0] == "claim_recall (lexical)"


def test_the_index_counts_what_documents_show(head, index, texts):
    info = head["texts"]
    assert (info["documents"], info["texts"]) == (2, 6)
    assert list(zip(index["document"], index["author"], strict=True)) == list(texts)
    for row in index.to_dict("records"):
        text = texts[row["document"], row["author"]]
        sides = [
            judgment["side"]
            for block in text["blocks"]
            for line in block["lines"]
            for judgment in line["judgments"]
        ]
        assert info["judges"] == ["lexical"]
        for side in ("for", "against", "unknown"):
            assert row[f"{side}_0"] == sides.count(side)
        for metric in info["measures"]:
            if metric["key"].startswith("people: "):
                continue
            value = dict(text["scores"]).get(metric["key"])
            assert (value is None) == pd.isna(row[metric["column"]])
            assert value is None or value == row[metric["column"]]


def test_sides_of_the_index_by_hand(index, frames):
    """Of the judgments themselves: entailed is for, the rest against; no evidence is against."""
    pairs = frames["pairs"]
    mine = pairs[(pairs["doc_id"] == "doc-2") & (pairs["author"] == EVIL)]
    mine = mine[~mine["measure"].isin(["citation_alone", "citation_rest"])]
    both = mine.merge(frames["judgments"], on="pair_id", how="left")
    expected = (
        int((both["label"] == "entailed").sum()),
        int((both["label"] == "not_entailed").sum() + (both["settled"] == "no_evidence").sum()),
        int((both["status"] == "refused").sum()),
    )
    row = index[(index["document"] == "doc-2") & (index["author"] == EVIL)].iloc[0]
    assert tuple(row[["for_0", "against_0", "unknown_0"]]) == expected
    failed = index[(index["document"] == "doc-2") & (index["author"] == "plain")].iloc[0]
    assert failed["status"] == "no text: truncated"
    assert tuple(failed[["for_0", "against_0", "unknown_0"]]) == (0, 0, 2)


def test_criteria_of_the_index_are_means_of_whole_texts(head, index):
    *_, criterion = head["texts"]["measures"]
    assert (criterion["key"], criterion["better"]) == ("people: completeness", "higher")
    rated = index[index["rated"] > 0]
    assert rated[["document", "author"]].to_numpy().tolist() == [[DOC, EVIL]]
    assert rated[criterion["column"]].tolist() == [80]
    assert index[criterion["column"]].count() == 1


def test_a_text_has_all_that_was_said_of_it(texts):
    text = texts[DOC, EVIL]
    assert text["text"] == f"Knee hurts. {SCRIPT} | *{EVIL}*"
    rater = f"rater {SCRIPT}"
    rated = [{"criterion": "completeness", "rater": rater, "value": 80, "of": ""}]
    rated += [{"criterion": "preference", "rater": rater, "value": None, "of": "plain"}]
    lost = {"criterion": "coverage (statements, 2)", "rater": rater, "value": 0.5, "of": ""}
    assert text["ratings"] == [*rated, lost]  # it has two statements
    blocks = {block["id"]: block for block in text["blocks"]}
    assert list(blocks) == ["claim_recall", "claim_precision", "statements"]
    first, second = blocks["statements"]["lines"]
    assert (first["cites"], second["cites"]) == ([0, 7], [])
    assert [one["passage"] for one in first["each"]] == [0, 7]
    assert {one["head"] for one in first["each"]} == {0}
    assert second["judgments"][0]["word"] == "no evidence"
    people = [one["value"] for one in first["people"]]
    assert people == [0.5]
    assert blocks["claim_recall"]["lines"][0]["people"][0]["value"] == 1.0
    failed = texts["doc-2", "plain"]
    assert failed["problems"] == ["no text: truncated"]
    assert failed["blocks"][0]["note"].startswith("All 2 questions failed, because there is no")


def test_every_rating_stands_on_the_page_once(texts, frames):
    shown = sum(
        len(text["ratings"])
        + sum(len(line["people"]) for b in text["blocks"] for line in b["lines"])
        for text in texts.values()
    )
    assert shown == len(frames["ratings"])


def test_sources_are_whole(written):
    document = page_data.documents(written)[0]
    assert document["attributes"] == ["age: 40", "why: <script>alert(1)</script>"]
    assert document["passages"][1] == {
        **{"speaker": "doctor & co", "group": "", "text": f"Since when? {SCRIPT}"},
    }


def test_a_search_reads_every_text_and_its_claims(written, head, index):
    (shard,) = head["texts"]["search"]
    read = page_data.value(written, shard)["texts"]
    assert len(read) == len(index)
    place = list(zip(index["document"], index["author"], strict=True)).index((DOC, EVIL))
    assert "Knee hurts." in read[place]
    assert f"claim 1 of {EVIL}" in read[place]
    assert read[-2] == "" or "Knee" not in read[-2]


def test_premises_are_not_printed_and_null_is_no_word(written):
    for file in written.rglob("*"):
        if file.suffix in (".js", ".html", ".md", ".csv", ".svg") and file.name != "app.js":
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"\b(nan|NaN|NaT|inf)\b", text), file.name
            assert "a premise nobody prints" not in text


def test_alignments_are_shown_where_given(page_of):
    aligned = pd.DataFrame(
        [[DOC, EVIL, "full", 0, "rouge_topk", [1, 0], [0.5, 0.25]]],
        columns=["doc_id", "author", "part", "position", "method", "passages", "values"],
    )
    document, _ = page_data.documents(page_of(alignments=aligned))
    lines = [
        line
        for text in document["texts"]
        for block in text["blocks"]
        for line in block["lines"]
        if line["aligned"]
    ]
    assert [line["aligned"] for line in lines] == [[1, 0]]


def test_all_tables_empty(make_report, nothing, tmp_path):
    write_report(make_report(**nothing), tmp_path / "out")
    head = page_data.head(tmp_path / "out")
    assert (head["tables"], head["grid"], head["decisions"]) == ([], [], {})
    assert head["systems"] is None
    assert head["answer"] == ["No text has both ratings and scores, so no metric is tested against"
                              " people."]  # fmt: skip
    assert (head["texts"]["texts"], head["texts"]["documents_in"]) == (0, [])
    assert not (tmp_path / "out" / "figures").exists()


def test_no_judge_no_ratings_one_author(page_of, frames, nothing):
    only = {
        name: frames[name][frames[name]["author"] == EVIL].reset_index(drop=True)
        for name in ("texts", "parts", "units", "scores", "leaderboard")
    }
    names = ("pairs", "judgments", "ratings", "correlations", "certificates", "agreement")
    out = page_of(**only, **{name: nothing[name] for name in names})
    head = page_data.head(out)
    assert len(head["banners"]) == 1
    assert head["texts"]["judges"] == []
    assert "people: " not in str(head["texts"]["measures"])
    assert head["systems"]["groups"] == ""
    texts = [text for document in page_data.documents(out) for text in document["texts"]]
    lines = [line for text in texts for block in text["blocks"] for line in block["lines"]]
    assert lines
    assert all(line["judgments"] == [] for line in lines)
