"""What the view Since is handed."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd

from metassay.reporting.shell import PageFolder
from metassay.tracking.reevaluation import since as module
from metassay.tracking.reevaluation.changes import write_report
from metassay.tracking.reevaluation.outcome import append, headline
from metassay.tracking.reevaluation.since import describe_since
from tests.tracking.reevaluation.test_outcome import TODAY, WEEK_LATER, outcome


def test_changes_come_worst_first_with_causes_and_every_other_score_is_counted(
    tmp_path,
):
    result = outcome(worse=True)
    since = describe_since(result, append(tmp_path, result), headline(result))
    assert (since.run, since.revision, since.accepted) == (TODAY, "", "0123")
    assert since.title == "since accepted, of 3 scores: 2 got worse"
    assert since.causes == ["data: data/raw/one (stage ingest)"]
    assert [change.verdict for change in since.changes] == ["regressed", "regressed"]
    assert [change.author for change in since.changes] == ["good", "good"]
    first = since.changes[0]
    assert first.after < first.before
    assert first.low < first.difference < first.high < 0
    assert first.notes == ["12 of 20 documents differ"]
    assert first.documents[0].startswith("d0")
    assert since.others == "1 same numbers"


def test_lines_are_of_each_score_in_the_order_of_runs_and_mark_another_recipe(tmp_path):
    first, later = outcome(), outcome(worse=True, when=WEEK_LATER)
    append(tmp_path, first)
    other = replace(
        later.side, leaderboard=later.side.leaderboard.assign(recipe="another")
    )
    history = append(tmp_path, replace(later, side=other))
    scores = describe_since(later, history, []).scores
    assert len({(score.metric, score.author) for score in scores}) == len(scores) == 3
    for score in scores:
        assert [point.run for point in score.points] == [TODAY, WEEK_LATER]
        assert [point.another_recipe for point in score.points] == [False, True]
    good = next(score for score in scores if score.author == "good")
    assert good.points[1].mean < good.points[0].mean
    assert [point.verdict for point in good.points] == ["same numbers", "regressed"]


def test_a_run_without_a_mean_hides_no_change_of_the_recipe(tmp_path):
    result = outcome()
    means = append(tmp_path, result).means
    runs = ["2026-01-05T06:00:00Z", "2026-01-12T06:00:00Z", "2026-01-19T06:00:00Z"]
    weeks = pd.concat(
        [
            means.assign(run=runs[0], recipe="first"),
            means.assign(run=runs[1], recipe="second", mean=None),
            means.assign(run=runs[2], recipe="second"),
        ]
    )
    history = append(tmp_path, result)._replace(means=weeks)
    for score in describe_since(result, history, []).scores:
        assert [point.mean is None for point in score.points] == [False, True, False]
        assert score.points[2].another_recipe


def test_after_a_failed_stage_the_causes_are_unknown_and_not_none(tmp_path):
    result = outcome(differences=None, causes=[], failed=["judge"], side=None)
    since = describe_since(result, append(tmp_path, result), headline(result))
    assert since.answer == ["not compared, since stages failed: judge."]
    assert since.causes == ["Unknown: a stage failed, so nothing was compared."]


def test_what_one_file_has_no_room_for_is_counted(tmp_path, monkeypatch):
    result = outcome()
    history = append(tmp_path, result)
    runs = [f"2025-{month:02}-01T06:00:00Z" for month in range(1, 9)]
    many = pd.concat(history.means.assign(run=run) for run in runs)
    monkeypatch.setattr(module, "LARGEST", 2500)
    since = describe_since(result, history._replace(means=many), [])
    shown = [point.run for point in since.scores[0].points]
    assert 1 <= len(shown) < len(runs)
    assert shown == runs[-len(shown) :]
    assert since.earlier == len(runs) - len(shown)


def since_on_page(root: Path) -> dict[str, object]:
    text = (root / "reports/one/page/data/since.js").read_text("utf-8")
    value: dict[str, object] = json.loads(text[len('metassay("since",') : -2])
    return value


def test_the_benchmarks_page_is_told_also_where_nothing_is_accepted(tmp_path):
    (tmp_path / "reports/one").mkdir(parents=True)
    PageFolder(tmp_path / "reports/one")
    result = outcome(worse=True)
    write_report(tmp_path, result, append(tmp_path, result))
    assert since_on_page(tmp_path)["href"] == "../changes/one/index.html"
    nothing = outcome(accepted=None, differences=None, when=WEEK_LATER)
    write_report(tmp_path, nothing, append(tmp_path, nothing))
    shown = since_on_page(tmp_path)
    assert (shown["accepted"], shown["title"], shown["changes"]) == ("", "", [])
