"""What is said of an outcome, and what is kept of it."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.reporting.shell import PageFolder
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.documents import TEXTS
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import empty, write
from metassay.tracking.comparison.causes import Cause
from metassay.tracking.comparison.differences import DECISION, ComparisonOptions, differences
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


def side(*, worse: bool) -> Side:
    made = scores(worse=worse)
    return Side("here", "one", made, leaderboard(made), empty(CERTIFICATES), {}, None)


def outcome(*, worse: bool, **more: object) -> Outcome:
    now = side(worse=worse)
    found = differences(side(worse=False), now, ComparisonOptions(permutations=500))
    known = {"benchmark": "one", "when": "2026-01-05T06:00:12Z", "revision": None, "stages": 3}
    cause = Cause("data", "ingest", "data/raw/one")
    of_comparison = {"accepted": "0123", "differences": found, "causes": [cause], "side": now}
    return Outcome(**{**known, **of_comparison, **more})


def test_what_regressed_is_named_with_system_metric_documents_and_cause() -> None:
    said = lines(outcome(worse=True))
    assert said[0] == "one: 2 of 3 scores got worse, all of `good`."
    assert said[1] == "one: what differs: data: data/raw/one (stage ingest)."
    (first, second) = [line for line in said if line.startswith("  regressed: ")]
    assert "rouge1 of good" in first
    assert "rouge2 of good" in second
    assert "12 of 20 documents differ, most: d0" in first


@pytest.mark.parametrize(
    ("given", "status", "name"),
    [
        ({"worse": False}, 0, "metassay.held"),
        ({"worse": True}, 4, "metassay.regressed"),
        ({"worse": False, "lacking": 2}, 3, "metassay.incomplete"),
        ({"worse": True, "lacking": 2}, 4, "metassay.regressed"),
        ({"worse": True, "failed": ["one: report"], "differences": None}, 1, "metassay.failed"),
    ],
)
def test_the_exit_code_is_the_worst_that_happened(
    given: dict[str, object], status: int, name: str
) -> None:
    found = outcome(**given)
    assert found.status == status
    assert event(found) == name


def test_a_system_whose_texts_fail_now_does_not_end_green(tmp_path: Path) -> None:
    now = side(worse=False)
    gone = now.scores["author"] == "good"
    failed = now.scores.assign(
        value=now.scores["value"].where(~gone),
        n_judged=now.scores["n_judged"].where(~gone, 0),
        n_failed=now.scores["n_failed"].where(~gone, 1),
    )
    options = ComparisonOptions(permutations=500)
    found = differences(side(worse=False), replace(now, scores=failed), options)
    ended = outcome(worse=False, differences=found, causes=[])
    assert (ended.status, event(ended)) == (3, "metassay.incomplete")
    said = "\n".join(lines(ended))
    every = len(set(map(tuple, now.scores[["metric", "author"]].to_numpy())))
    assert ended.n_compared == every
    assert f"no score got worse, of {every} scores compared with the accepted ones; " in said
    assert f"{ended.unsettled} scores cannot be compared until missing answers" in said
    # The headline, the page and its groups count the same rows.
    write_report(tmp_path, ended, append(tmp_path, ended))
    page = (tmp_path / "reports/changes/one/changes.md").read_text("utf-8")
    assert f"; {ended.counts['cannot tell']} undecided." in said
    assert f"- cannot tell: {ended.counts['cannot tell']} rows" in page


def test_prefect_is_told_numbers_and_no_documents() -> None:
    told = payload(outcome(worse=True))
    assert told["counts"]["regressed"] == 2
    assert {row["author"] for row in told["regressed"]} == {"good"}
    assert "d01" not in str(told)


def test_certificates_that_changed_are_named_everywhere(tmp_path: Path) -> None:
    keys = ("people", "faithful", "full", "rouge1", NO_JUDGE, "system")
    changed = pd.DataFrame([dict(zip(DECISION, keys, strict=True))])
    changed = changed.assign(before="promising", after="cannot tell")
    found = outcome(worse=False, certificates=changed)
    (said,) = [line for line in headline(found) if "certificate" in line]
    assert said.startswith("1 certificate changed: rouge1 for faithful (people), system: promising")
    write_report(tmp_path, found, append(tmp_path, found))
    page = (tmp_path / "reports/changes/one/changes.md").read_text("utf-8")
    assert "- rouge1 for faithful (people), system: promising" in page


def test_texts_are_on_the_page_alone(tmp_path: Path) -> None:
    found = outcome(worse=True)
    folder = tmp_path / "data/tables/one/texts"
    key = {"part": "full", "status": "ok", "recipe": ""}
    rows = [
        {"doc_id": f"d{n:02d}", "author": "good", "text": f"text {n}<", **key} for n in range(20)
    ]
    write(TEXTS, pd.DataFrame(rows), folder / "good.parquet")
    (first, *_) = changed_texts(tmp_path, found)
    assert (first.author, first.before) == ("good", None)
    assert first.after == f"text {int(first.doc_id[1:])}<"
    assert first.rows == ("rouge1 of good", "rouge2 of good")
    write_report(tmp_path, found, append(tmp_path, found))
    reports = tmp_path / "reports/changes/one"
    holds = {
        file.relative_to(reports).as_posix()
        for file in reports.rglob("*.*")
        if file.is_file() and b"text 1" in file.read_bytes()
    }
    assert holds == {"page/data/documents/0.js", "page/data/search/0.js"}
    assert "text 1" not in "\n".join([*lines(found), str(payload(found))])


def test_texts_stand_as_accepted_and_now_with_the_words_that_differ_marked(tmp_path: Path) -> None:
    found = outcome(worse=True)
    texts = [
        ChangedText("d01", "good", "\U0001f600 pain gone.", "\U0001f600 pain back now.", ("a",)),
        ChangedText("d02", "good", "</script>", "</script>", ("b",)),
        ChangedText("d03", "good", None, "Here.", ("c",)),
    ]  # fmt: skip
    page = PageFolder(tmp_path / "out")
    info = put_changed_texts(page, found, texts)
    assert info is not None
    assert (info.authors, info.references) == (["accepted", "now"], ["accepted"])
    (documents,) = (page_data.value(page.folder, s)["documents"] for s in info.documents_in)
    first, same, lost = documents
    assert [(d["id"], d["task"]) for d in documents[:2]] == [
        *(("d01, good", "good"), ("d02, good", "good"))
    ]
    for text, words in zip(first["texts"], ("gone.", "back now."), strict=True):
        (mark,) = text["marks"]
        in_utf16 = text["text"].encode("utf-16-le")
        assert in_utf16[2 * mark["start"] : 2 * mark["end"]].decode("utf-16-le") == words
    assert same["attributes"] == ["the same text: only its scores changed", "b"]
    assert [text["marks"] for text in same["texts"]] == [[], []]
    assert [bool(text["problems"]) for text in lost["texts"]] == [True, False]
    row = found.documents[(found.documents["doc_id"] == "d01")].iloc[0]
    scores = [dict(text["scores"])[row["metric"]] for text in first["texts"]]
    assert scores == [row["before"], row["after"]]
    assert put_changed_texts(page, found, []) is None


def test_the_page_has_every_row_once_the_worst_first_and_what_it_says(tmp_path: Path) -> None:
    found = outcome(worse=True, missing=["3 of 9 are missing"])
    write_report(tmp_path, found, append(tmp_path, found))
    page = tmp_path / "reports/changes/one"
    head = page_data.head(page)
    assert head["banners"][0].startswith("Exit status 4: worse")
    assert head["answer"][0] == "2 of 3 scores got worse, all of `good`."
    assert {(p["kind"], p["text"]) for p in head["problems"]} == {
        *(("missing", "3 of 9 are missing"), ("change", "data: data/raw/one (stage ingest)"))
    }
    assert head["links"] == [{"href": "../../one/index.html", "title": "The whole report"}]
    changes = page_data.table(page, "changes")
    assert list(changes["verdict"][:2]) == ["regressed", "regressed"]
    expected = found.changes.set_index(["metric", "author"])["difference"].to_dict()
    assert changes.set_index(["metric", "author"])["difference"].to_dict() == expected
    names = [info["name"] for info in head["tables"]]
    assert names == ["changes", "causes", "changed_documents", "history", "history_means"]
    assert all((page / info["csv"]).is_file() for info in head["tables"])
    assert page_data.figures(head) == ["history"]


def test_a_key_that_may_be_somebodys_text_is_not_written_out(tmp_path: Path) -> None:
    told = "She has had a cough for three weeks, worse at night."
    found = outcome(worse=True)
    assert found.differences is not None
    documents = found.differences.documents.assign(doc_id=told)
    found = replace(found, differences=found.differences._replace(documents=documents))
    write_report(tmp_path, found, append(tmp_path, found))
    files = (tmp_path / "reports/changes/one").glob("*.*")
    said = "\n".join([*lines(found), *(file.read_text(encoding="utf-8") for file in files)])
    assert "cough" not in said
    assert f"{len(told)} characters, sha256" in said


def test_a_system_that_went_is_named_though_no_number_regressed() -> None:
    before, after = side(worse=False), side(worse=False)
    gone = after.scores[after.scores["author"] != "plain"]
    after = replace(after, scores=gone[gone["metric"] != "rouge2"])
    found = differences(before, after, ComparisonOptions(permutations=500))
    assert "no longer scored, so not compared: plain, rouge2." in headline(
        outcome(worse=False, differences=found)
    )
    back = differences(after, before, ComparisonOptions(permutations=500))
    assert "scored for the first time, so not compared: plain, rouge2." in headline(
        outcome(worse=False, differences=back)
    )


def test_a_system_that_is_called_otherwise_now_is_no_open_question() -> None:
    """One of whose texts has failed all along."""
    before = side(worse=False)
    rows = before.scores
    lost = (rows["author"] == "plain") & (rows["doc_id"] == "d00")
    before = replace(
        before,
        scores=rows.assign(value=rows["value"].mask(lost), n_failed=lost.astype(int), n_judged=1),
    )
    renamed = before.scores.assign(author=before.scores["author"].replace("plain", "plain_2"))
    now = replace(before, scores=renamed, leaderboard=leaderboard(renamed))
    found = differences(before, now, ComparisonOptions(permutations=500))
    ended = outcome(worse=False, differences=found)
    assert (ended.status, ended.unsettled, ended.counts["cannot tell"]) == (0, 0, 0)
    lacking = found.changes.loc[found.changes["lacks_answers"], "author"]
    assert set(lacking) == {"plain_2"}, "what is gone lacks nothing"
    assert headline(ended)[:3] == [
        "no score got worse, of 2 scores compared with the accepted ones.",
        "no longer scored, so not compared: plain.",
        "scored for the first time, so not compared: plain_2.",
    ]


def test_means_that_another_command_made_are_kept(tmp_path: Path) -> None:
    append(tmp_path, outcome(worse=False))
    _, means = append(tmp_path, outcome(worse=True, when="2026-01-12T06:00:12Z", stages=0))
    assert means["run"].nunique() == 2


def test_means_of_today_are_kept_though_a_clock_of_2100_had_the_same(tmp_path: Path) -> None:
    today, tomorrow, far = "2026-01-12T06:00:12Z", "2026-01-13T06:00:12Z", "2100-01-01T00:00:00Z"
    for when in (far, today, tomorrow):
        runs, means = append(tmp_path, outcome(worse=False, when=when, stages=0))
    assert sorted(runs["run"]) == [today, tomorrow, far]
    assert set(means["run"]) == {today, far}  # those of tomorrow are today's


def test_a_run_by_a_clock_of_2100_is_not_the_last_one_of_the_page(tmp_path: Path) -> None:
    far = outcome(worse=True, when="2100-01-01T00:00:00Z")
    write_report(tmp_path, far, append(tmp_path, far))
    page = tmp_path / "reports/changes/one/changes.md"
    assert "2100-01-01 00:00:00" in page.read_text("utf-8")
    now = outcome(worse=False)
    write_report(tmp_path, now, append(tmp_path, now))
    said = page.read_text("utf-8")
    assert "2100" not in said
    assert "1 run of the history with a later date than this one" in said


def test_without_accepted_numbers_it_says_how_to_accept() -> None:
    found = outcome(worse=False, differences=None, accepted=None, causes=())
    assert found.status == 0
    assert "`metassay watch accept one`" in headline(found)[0]


def test_the_history_has_a_row_per_run_and_means_where_they_were_made_again(
    tmp_path: Path,
) -> None:
    append(tmp_path, outcome(worse=False))
    quiet = outcome(worse=False, when="2026-01-12T06:00:12Z", stages=0)
    runs, means = append(tmp_path, quiet)
    assert runs["did"].tolist() == ["run again", "nothing to do"]
    assert set(means["run"]) == {"2026-01-05T06:00:12Z"}
    runs, _ = append(tmp_path, outcome(worse=True, failed=["one: report"], differences=None))
    assert runs["did"].tolist() == ["failed", "nothing to do"], "the same second is one run"
    assert runs["regressed"].isna().tolist() == [True, False]
    (tmp_path / "history/one/history.parquet").write_text("torn")
    with pytest.raises(BadInput, match=r"history/one/history.parquet: .* move it away"):
        append(tmp_path, quiet)


def test_accepted_numbers_that_are_not_to_be_had_have_a_remedy(tmp_path: Path) -> None:
    at = tmp_path / accepted_file("one")
    at.parent.mkdir(parents=True)
    at.write_text("torn")
    with pytest.raises(BadInput, match="`metassay watch accept one` replaces it"):
        accepted_side(tmp_path, "one")


def test_equal_outcomes_give_equal_pages_without_a_text_that_runs(tmp_path: Path) -> None:
    found = outcome(worse=True, causes=[Cause("data", "ingest", "<script>|x")])
    history = append(tmp_path, found)
    written = []
    for _ in range(2):
        write_report(tmp_path, found, history)
        folder = tmp_path / "reports/changes/one"
        files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        written.append({file: file.read_bytes() for file in files})
    assert written[0] == written[1]
    assert {file.name for file in written[0]} >= {
        *("index.html", "changes.md", "changes.csv", "history.svg")
    }
    assert (
        b"<script>|x" not in written[0][folder / "index.html"] + written[0][folder / "changes.md"]
    )
    assert [file.name for file in folder.parent.iterdir()] == ["one"]
