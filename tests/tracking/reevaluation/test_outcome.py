"""What is said of an outcome, and what is kept of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.reporting.shell import PageFolder
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.documents import TEXTS
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import empty, write
from metassay.tracking.comparison.causes import Cause
from metassay.tracking.comparison.differences import (
    DECISION,
    ComparisonOptions,
    Differences,
    differences,
)
from metassay.tracking.comparison.sides import Side
from metassay.tracking.reevaluation.changes import (
    ChangedText,
    changed_texts,
    put_changed_texts,
    write_report,
)
from metassay.tracking.reevaluation.outcome import (
    Outcome,
    accepted_file,
    accepted_side,
    append,
    event,
    headline,
    lines,
    payload,
)
from tests.reporting import page_data
from tests.test_reevaluate import leaderboard, scores

TODAY, WEEK_LATER, FAR = (
    "2026-01-05T06:00:12Z",
    "2026-01-12T06:00:12Z",
    "2100-01-01T00:00:00Z",
)


def side(*, worse: bool) -> Side:
    table = scores(worse=worse)
    return Side("here", "one", table, leaderboard(table), empty(CERTIFICATES), {}, None)


def between(before: Side, after: Side) -> Differences:
    return differences(before, after, ComparisonOptions(permutations=500))


def outcome(*, worse: bool = False, **more: Any) -> Outcome:
    now = side(worse=worse)
    fields = {
        "benchmark": "one",
        "when": TODAY,
        "revision": None,
        "stages": 3,
        "accepted": "0123",
    }
    if "differences" not in more:
        fields["differences"] = between(side(worse=False), now)
    causes = [Cause("data", "ingest", "data/raw/one")]
    return Outcome(**{**fields, "causes": causes, "side": now, **more})


def report(root: Path, result: Outcome) -> Path:
    """Write the change report; return its folder."""
    write_report(root, result, append(root, result))
    return root / "reports/changes/one"


def test_what_regressed_is_named_with_system_metric_documents_and_cause():
    output = lines(outcome(worse=True))
    assert output[0] == "one: 2 of 3 scores got worse, all of `good`."
    assert output[1] == "one: what differs: data: data/raw/one (stage ingest)."
    (first, second) = [line for line in output if line.startswith("  regressed: ")]
    assert "rouge1 of good" in first
    assert "rouge2 of good" in second
    assert "12 of 20 documents differ, most: d0" in first
    event_of = payload(outcome(worse=True))  # numbers and no documents
    assert event_of["counts"]["regressed"] == 2
    assert {row["author"] for row in event_of["regressed"]} == {"good"}
    assert "d01" not in str(event_of)


@pytest.mark.parametrize(
    ("fields", "status", "name"),
    [
        ({}, 0, "metassay.held"),
        ({"worse": True}, 4, "metassay.regressed"),
        ({"lacking": 2}, 3, "metassay.incomplete"),
        ({"worse": True, "lacking": 2}, 4, "metassay.regressed"),
        (
            {"worse": True, "failed": ["one: report"], "differences": None},
            1,
            "metassay.failed",
        ),
    ],
)
def test_the_exit_code_is_the_worst_that_happened(fields, status, name):
    result = outcome(**fields)
    assert (result.status, event(result)) == (status, name)


def test_a_system_whose_texts_fail_now_does_not_end_green(tmp_path):
    now = side(worse=False)
    gone = now.scores["author"] == "good"
    numbers = now.scores[["value", "n_judged", "n_failed"]]
    lost = pd.DataFrame(
        {"value": numbers["value"].where(~gone), "n_failed": gone.astype(int)}
    )
    failed = now.scores.assign(**lost, n_judged=numbers["n_judged"].where(~gone, 0))
    changes = between(side(worse=False), replace(now, scores=failed))
    result = outcome(differences=changes, causes=[])
    assert (result.status, event(result)) == (3, "metassay.incomplete")
    output = "\n".join(lines(result))
    every = len(set(map(tuple, now.scores[["metric", "author"]].to_numpy())))
    assert result.n_compared == every
    assert (
        f"no score got worse, of {every} scores compared with the accepted ones; "
        in output
    )
    assert (
        f"{result.unsettled} scores cannot be compared until missing answers" in output
    )
    # The headline, the page and its groups count the same rows.
    page = (report(tmp_path, result) / "changes.md").read_text("utf-8")
    assert f"; {result.counts['cannot tell']} undecided." in output
    assert f"- cannot tell: {result.counts['cannot tell']} rows" in page


def test_certificates_that_changed_are_named_everywhere(tmp_path):
    keys = ("people", "faithful", "full", "rouge1", NO_JUDGE, "system")
    changed = pd.DataFrame([dict(zip(DECISION, keys, strict=True))])
    result = outcome(
        certificates=changed.assign(before="promising", after="cannot tell")
    )
    (sentence,) = [line for line in headline(result) if "certificate" in line]
    words = "rouge1 for faithful (people), system: promising"
    assert sentence.startswith(f"1 certificate changed: {words}")
    assert f"- {words}" in (report(tmp_path, result) / "changes.md").read_text("utf-8")


def test_texts_are_on_the_page_alone(tmp_path):
    result = outcome(worse=True)
    key = {"part": "full", "status": "ok", "recipe": "", "author": "good"}
    rows = [{"doc_id": f"d{n:02d}", "text": f"text {n}<", **key} for n in range(20)]
    write(TEXTS, pd.DataFrame(rows), tmp_path / "data/tables/one/texts/good.parquet")
    (first, *_) = changed_texts(tmp_path, result)
    assert (first.author, first.before) == ("good", None)
    assert first.after == f"text {int(first.doc_id[1:])}<"
    assert first.rows == ("rouge1 of good", "rouge2 of good")
    page = report(tmp_path, result)
    files = [
        file
        for file in page.rglob("*.*")
        if file.is_file() and b"text 1" in file.read_bytes()
    ]
    names = {file.relative_to(page).as_posix() for file in files}
    assert names == {"page/data/documents/0.js", "page/data/search/0.js"}
    assert "text 1" not in "\n".join([*lines(result), str(payload(result))])


def test_texts_stand_as_accepted_and_now_with_the_words_that_differ_marked(tmp_path):
    result = outcome(worse=True)
    texts = [
        ChangedText(
            "d01", "good", "\U0001f600 pain gone.", "\U0001f600 pain back now.", ("a",)
        ),
        ChangedText("d02", "good", "</script>", "</script>", ("b",)),
        ChangedText("d03", "good", None, "Here.", ("c",)),
    ]
    page = PageFolder(tmp_path / "out")
    info = put_changed_texts(page, result, texts)
    assert info is not None
    assert (info.authors, info.references) == (["accepted", "now"], ["accepted"])
    (documents,) = (
        page_data.value(page.folder, s)["documents"] for s in info.documents_in
    )
    first, same, lost = documents
    assert [(d["id"], d["task"]) for d in (first, same)] == [
        ("d01, good", "good"),
        ("d02, good", "good"),
    ]
    for text, words in zip(first["texts"], ("gone.", "back now."), strict=True):
        (mark,) = text["marks"]
        in_utf16 = text["text"].encode("utf-16-le")
        assert (
            in_utf16[2 * mark["start"] : 2 * mark["end"]].decode("utf-16-le") == words
        )
    assert same["attributes"] == ["the same text: only its scores changed", "b"]
    assert [text["marks"] for text in same["texts"]] == [[], []]
    assert [bool(text["problems"]) for text in lost["texts"]] == [True, False]
    row = result.documents[(result.documents["doc_id"] == "d01")].iloc[0]
    values = [dict(text["scores"])[row["metric"]] for text in first["texts"]]
    assert values == [row["before"], row["after"]]
    assert put_changed_texts(page, result, []) is None


def test_the_page_has_every_row_once_the_worst_first_and_what_it_says(tmp_path):
    result = outcome(worse=True, missing=["3 of 9 are missing"])
    page = report(tmp_path, result)
    head = page_data.head(page)
    assert head["banners"][0].startswith("Exit status 4: worse")
    assert head["answer"][0] == "2 of 3 scores got worse, all of `good`."
    assert {(p["kind"], p["text"]) for p in head["problems"]} == {
        ("missing", "3 of 9 are missing"),
        ("change", "data: data/raw/one (stage ingest)"),
    }
    assert head["links"] == [
        {"href": "../../one/index.html", "title": "The whole report"}
    ]
    changes = page_data.table(page, "changes")
    assert list(changes["verdict"][:2]) == ["regressed", "regressed"]
    expected = result.changes.set_index(["metric", "author"])["difference"].to_dict()
    assert changes.set_index(["metric", "author"])["difference"].to_dict() == expected
    names = [info["name"] for info in head["tables"]]
    assert names == [
        "changes",
        "causes",
        "changed_documents",
        "history",
        "history_means",
    ]
    assert all((page / info["csv"]).is_file() for info in head["tables"])
    assert page_data.figures(head) == ["history"]


def test_a_key_that_may_be_somebodys_text_is_not_written_out(tmp_path):
    canary = "She has had a cough for three weeks, worse at night."
    changes = outcome(worse=True).differences
    assert changes is not None
    documents = changes.documents.assign(doc_id=canary)
    result = outcome(worse=True, differences=changes._replace(documents=documents))
    files = report(tmp_path, result).glob("*.*")
    output = "\n".join(
        [*lines(result), *(file.read_text(encoding="utf-8") for file in files)]
    )
    assert "cough" not in output
    assert f"{len(canary)} characters, sha256" in output


def test_what_was_added_or_removed_is_named_and_no_open_question():
    before, after = side(worse=False), side(worse=False)
    rest = after.scores[after.scores["author"] != "plain"]
    after = replace(after, scores=rest[rest["metric"] != "rouge2"])
    for sides, words in (
        ((before, after), "no longer scored, so not compared: plain, rouge2."),
        ((after, before), "scored for the first time, so not compared: plain, rouge2."),
    ):
        assert words in headline(outcome(differences=between(*sides)))
    # A system that is called otherwise now, and one of whose texts has failed all
    # along.
    rows = before.scores
    lost = (rows["author"] == "plain") & (rows["doc_id"] == "d00")
    rows = rows.assign(
        value=rows["value"].mask(lost), n_failed=lost.astype(int), n_judged=1
    )
    renamed = rows.assign(author=rows["author"].replace("plain", "plain_2"))
    now = replace(before, scores=renamed, leaderboard=leaderboard(renamed))
    changes = between(replace(before, scores=rows), now)
    result = outcome(differences=changes)
    assert (result.status, result.unsettled, result.counts["cannot tell"]) == (0, 0, 0)
    lacking = changes.changes.loc[changes.changes["lacks_answers"], "author"]
    assert set(lacking) == {"plain_2"}, "what is gone lacks nothing"
    assert headline(result)[:3] == [
        "no score got worse, of 2 scores compared with the accepted ones.",
        "no longer scored, so not compared: plain.",
        "scored for the first time, so not compared: plain_2.",
    ]


def test_means_of_today_are_kept_though_a_clock_of_2100_had_the_same(tmp_path):
    for when in (FAR, TODAY, WEEK_LATER):
        runs, means = append(tmp_path, outcome(when=when, stages=0))
    assert sorted(runs["run"]) == [TODAY, WEEK_LATER, FAR]
    assert set(means["run"]) == {TODAY, FAR}  # those of a week later are today's
    _, means = append(tmp_path, outcome(worse=True, when=WEEK_LATER, stages=0))
    assert set(means["run"]) == {TODAY, WEEK_LATER, FAR}, "another command made these"


def test_a_run_by_a_clock_of_2100_is_not_the_last_one_of_the_page(tmp_path):
    page = report(tmp_path, outcome(worse=True, when=FAR)) / "changes.md"
    assert "2100-01-01 00:00:00" in page.read_text("utf-8")
    report(tmp_path, outcome())
    assert "2100" not in page.read_text("utf-8")
    words = "1 run of the history with a later date than this one"
    assert words in page.read_text("utf-8")


def test_the_history_has_a_row_per_run_and_means_where_they_were_made_again(tmp_path):
    append(tmp_path, outcome())
    quiet = outcome(when=WEEK_LATER, stages=0)
    runs, means = append(tmp_path, quiet)
    assert runs["did"].tolist() == ["run again", "nothing to do"]
    assert set(means["run"]) == {TODAY}
    runs, _ = append(
        tmp_path, outcome(worse=True, failed=["one: report"], differences=None)
    )
    assert runs["did"].tolist() == ["failed", "nothing to do"], (
        "the same second is one run"
    )
    assert runs["regressed"].isna().tolist() == [True, False]
    (tmp_path / "history/one/history.parquet").write_text("torn")
    with pytest.raises(BadInput, match=r"history/one/history.parquet: .* move it away"):
        append(tmp_path, quiet)


def test_without_accepted_numbers_it_says_how_to_accept(tmp_path):
    result = outcome(differences=None, accepted=None, causes=())
    assert result.status == 0
    assert "`metassay watch accept one`" in headline(result)[0]
    at = tmp_path / accepted_file("one")
    at.parent.mkdir(parents=True)
    at.write_text("torn")
    with pytest.raises(BadInput, match="`metassay watch accept one` replaces it"):
        accepted_side(tmp_path, "one")


def test_equal_outcomes_give_equal_pages_without_a_text_that_runs(tmp_path):
    result = outcome(worse=True, causes=[Cause("data", "ingest", "<script>|x")])
    pages = []
    for _ in range(2):
        folder = report(tmp_path, result)
        files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        pages.append({file: file.read_bytes() for file in files})
    assert pages[0] == pages[1]
    names = {file.name for file in pages[0]}
    assert names >= {"index.html", "changes.md", "changes.csv", "history.svg"}
    for name in ("index.html", "changes.md"):
        assert b"<script>|x" not in pages[0][folder / name]
    assert [file.name for file in folder.parent.iterdir()] == ["one"]
