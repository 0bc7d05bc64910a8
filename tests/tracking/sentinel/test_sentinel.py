"""The sentinel against a scripted server: what is asked, what is kept, what is said."""

import contextlib
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.llm.budget import spending, spent_by_prefix
from metassay.llm.ledger import Ledger
from metassay.llm.session import ACCOUNT, LEDGER, SENTINEL
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import read, write
from metassay.tables.tracking import ANCHORS, DRIFT
from metassay.tracking.sentinel import anchors
from metassay.tracking.sentinel.checking import DriftResult, FixedAnchors, check, fix
from tests.llm.scripted_server import Call, ScriptedServer, completion, failed, whole
from tests.tracking.sentinel.project import (
    TABLES,
    Model,
    endpoint,
    project,
    script,
    truth,
)

NOW = datetime(2026, 11, 23, 6, tzinfo=UTC)
HOUR, WEEK = timedelta(hours=1), timedelta(days=7)
TEXTS = anchors.WORK / "one/reader.parquet"
GONE = {
    "error": {"message": "The model `m-1` does not exist", "code": "model_not_found"}
}
OTHER_MODEL = {"m": {"endpoint": "here", "model": "m-3", "max_tokens": 200}}


@pytest.fixture
def server():
    with ScriptedServer(script(truth)) as running:
        yield running


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A project that was judged, and its anchors fixed."""
    root = tmp_path_factory.mktemp("template") / "project"
    root.mkdir()
    with ScriptedServer(script(truth)) as server, contextlib.chdir(root):
        project(root, server)
        fix_others()
    return root


@pytest.fixture(autouse=True)
def here(template, tmp_path, server, monkeypatch):
    monkeypatch.chdir(shutil.copytree(template, tmp_path / "project"))
    edit(endpoints={"here": endpoint(server)})


def fix_others(anchors: int = 40) -> FixedAnchors:
    """Other anchors than those of the template, if there are any."""
    return fix("one", "reader", anchors=anchors, replace=True, now=NOW)


def check_after(weeks: int = 1, more: timedelta = timedelta()) -> DriftResult:
    (result,) = check(Path(), "one", now=NOW + weeks * WEEK + more)
    return result


def rows() -> pd.DataFrame:
    return read(DRIFT, anchors.drift_file("one"))


def changed_by(*, one_way: bool) -> Model:
    """Half of what does not hold is said to hold; or as many answers turn either way."""

    def model(hypothesis: str, number: int) -> str:
        usual = truth(hypothesis, number)
        document = int(hypothesis.split()[1])
        if usual == "not_entailed":
            return "entailed" if document % 3 == 0 else usual
        return "not_entailed" if not one_way and document % 2 == 0 else usual

    return model


def edit(**changes: dict[str, object]) -> None:
    path = Path("params.yaml")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        content[key] = {**(content.get(key) or {}), **value}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


def test_anchors_have_both_labels_of_each_system_and_no_text(server):
    before = server.requests.total()
    fixed = fix_others()
    assert server.requests.total() - before == fixed.spent.calls
    counts = fixed.anchors.groupby(["author", "verdict"]).size()
    verdicts = ("entailed", "not_entailed")
    assert counts.to_dict() == {(a, v): 10 for a in ("blue", "green") for v in verdicts}
    # Each stands for all of its author's items that have its verdict.
    assert fixed.anchors["weight"].sum() == pytest.approx(240)
    assert fixed.baseline == [("entailed", 60, 0), ("not_entailed", 60, 0)]
    assert b"text of d" not in fixed.file.read_bytes()
    assert fixed.spent.calls == 3 * fixed.anchors.groupby(["doc_id", "author"]).ngroups
    assert read(ANCHORS, fixed.file)["anchor_set"].nunique() == 1
    with pytest.raises(
        BadInput, match="the anchors are fixed, and stay; --replace draws others"
    ):
        fix("one", "reader")


def test_each_check_is_fresh_kept_and_paid_for_by_itself(server):
    with Ledger(LEDGER) as ledger:
        before, sent = ledger.holdings()[0][2], server.requests.total()
    results = [check_after(week) for week in (1, 2)]
    assert [result.state for result in results] == ["no alarm"] * 2
    with Ledger(LEDGER) as ledger:  # none answered for another
        assert ledger.holdings()[0][2] == before + server.requests.total() - sent
    assert results[0].spent == pytest.approx(results[1].spent)
    assert results[0].spent is not None
    assert rows()["when"].tolist() == ["2026-11-30T06:00:00Z", "2026-12-07T06:00:00Z"]
    assert rows()["changed"].tolist() == [0, 0]


def test_a_second_check_waits_for_the_first_and_asks_anew(server, capsys):
    sent = server.requests.total()
    first = check_after()
    once = server.requests.total() - sent
    with ThreadPoolExecutor() as pool:
        with anchors.lock_benchmark("one"):
            second = pool.submit(check_after)
            while (
                "one: another check of its judges runs; waiting"
                not in capsys.readouterr().err
            ):
                assert not second.done()
                time.sleep(0.001)
            row = first.row() | {"when": "2026-11-30T06:00:01Z"}
            anchors.append_drift("one", pd.DataFrame([row]))
        second.result()
    assert server.requests.total() - sent == 2 * once
    assert rows()["when"].tolist() == [f"2026-11-30T06:00:0{n}Z" for n in range(3)]


def test_a_check_that_was_cut_off_pays_for_nothing_twice(server):
    sent = server.requests.total()
    server.script = lambda call: (
        failed(401) if call.number > sent + 9 else script(truth)(call)
    )
    assert check_after().state == "cannot tell"
    paid, server.script = server.answered.total(), script(truth)
    file = anchors.WORK / "one/reader.open"
    begun = file.read_bytes()
    for damage in (b"", b"[]", b'{"when": 7}', b"\xff", begun[:-1]):
        file.write_bytes(damage)
        assert anchors.salt("one", "reader", "check", NOW) != 0
    file.write_bytes(begun)
    assert check_after(1, HOUR).state == "no alarm"
    texts = read(PAIRS, TEXTS).groupby(["doc_id", "author"]).ngroups
    assert server.answered.total() - paid == texts - 9


@pytest.mark.parametrize("one_way", [True, False])
def test_another_model_behind_the_same_name_raises_the_alarm(server, *, one_way):
    fix_others(100)
    server.script = script(changed_by(one_way=one_way))
    result = check_after()
    assert (result.alarm, result.state) == (True, "alarm")
    assert result.changed is not None
    assert result.high is not None
    assert result.changed > result.high
    assert (result.p_shift or 1) < 0.01 if one_way else (result.p_shift or 0) > 0.01
    assert "(entailed to not_entailed: " in result.why or one_way
    assert "not_entailed to entailed: " in result.why
    assert "do not compare new verdicts with old ones" in result.why


def test_what_fails_is_unknown_and_too_much_of_it_tells_nothing(server):
    usual = script(truth)

    def fail(share: int) -> None:
        server.script = lambda call: (
            failed(422) if call.number % share == 0 else usual(call)
        )

    fail(30)
    result = check_after()
    assert (result.state, result.changed) == ("no alarm", 0)
    assert 0 < result.failed == result.anchors - result.answered
    assert f"{result.failed} without an answer, unknown" in result.why
    fail(3)
    result = check_after(2)
    assert (result.state, result.changed) == ("cannot tell", None)
    assert "max_failed" in result.why
    assert rows()["changed"].isna().tolist() == [False, True]
    paid, server.script = server.answered.total(), usual
    again = check_after(2, 2 * HOUR)
    assert (again.state, again.failed) == ("no alarm", 0)
    assert 0 < server.answered.total() - paid < 20  # what had failed, and no more


def test_a_cap_of_its_own_holds():
    edit(sentinel={"max_cost": 0.001}, max_cost={"amount": 0, "currency": "USD"})
    with Ledger(LEDGER) as ledger:
        before = spending(ledger, ACCOUNT)
    result = check_after()
    assert result.state == "cannot tell"
    assert "or max_cost there is raised" in result.why
    assert result.spent is not None
    assert result.spent <= 0.001
    edit(sentinel={"max_cost": 1.0})
    # though the run's own max_cost allows nothing
    assert check_after(2).state == "no alarm"
    with Ledger(LEDGER) as ledger:
        assert spending(ledger, ACCOUNT) == before
        assert spent_by_prefix(ledger, SENTINEL)["USD"] > result.spent


def retire(server: ScriptedServer) -> None:
    server.script = lambda _: whole(GONE, status="404 Not Found")


def close(_: ScriptedServer) -> None:
    file = Path("data/registry.yaml")
    file.write_text(file.read_text().replace("access: public", "access: private"))


@pytest.mark.parametrize(
    ("act", "state", "most", "words"),
    [  # `most` questions are under way then
        (
            retire,
            "retired",
            4,
            "says that it has no model 'm-1' any more; run both judges side",
        ),
        (
            lambda _: edit(models=OTHER_MODEL),
            "another judge",
            0,
            "model:m-1; model:m-3; a change of yours and no drift",
        ),
        (
            close,
            "cannot tell",
            0,
            "dataset 'one' is private: its text does not go to endpoint 'here'",
        ),
    ],
)
def test_a_judge_that_cannot_be_asked_is_a_result_that_says_why(
    server, act, state, most, words
):
    sent = server.requests.total()
    act(server)
    result = check_after()
    assert (result.state, result.alarm, result.changed) == (
        state,
        state == "retired",
        None,
    )
    assert all(word in result.why for word in words.split("; "))
    assert server.requests.total() - sent <= most


def test_anchors_outlive_edited_texts_and_another_clone_has_them_by_hash():
    pairs, content = read(PAIRS, TABLES / "pairs/all.parquet"), TEXTS.read_bytes()
    TEXTS.unlink()
    assert check_after(1).state == "no alarm"  # from the tables
    edited = pairs.assign(
        premise="another text", pair_id=[f"{n:032}" for n in range(len(pairs))]
    )
    write(PAIRS, edited, TABLES / "pairs/all.parquet")
    result = check_after(2)
    assert result.state == "cannot tell"
    assert "40 of 40 anchors have no text here" in result.why
    TEXTS.write_bytes(content)
    assert check_after(3).state == "no alarm"


def test_who_needs_no_sentinel_is_told_so():
    with pytest.raises(
        BadInput, match=r"lexical: asks no language model.*needs no sentinel"
    ):
        fix("one", "lexical")
    anchors.anchors_file("one", "reader").unlink()
    with pytest.raises(
        BadInput, match="has no anchors; `metassay sentinel fix one` draws them"
    ):
        check(Path(), "one")
    with pytest.raises(BadInput, match="no 'two' with judges"):
        check(Path(), "two")
    with pytest.raises(BadInput, match="of too few texts to show any change"):
        fix_others(3)
    edit(models=OTHER_MODEL)  # whose verdicts are not the stored ones
    with pytest.raises(BadInput, match="metassay run one brings them together"):
        fix_others()


def test_answers_that_cannot_be_read_are_named_and_not_taken_from_the_ledger_again(
    server,
):
    server.script = lambda _: whole(completion("perhaps"))
    result = check_after()
    assert result.state == "cannot tell"
    assert "40 of 40 anchors have no answer (unparsed 40)" in result.why
    assert "`metassay probe reader` shows" in result.why
    with pytest.raises(BadInput, match=r"\(unparsed 120\).*asks all of them again"):
        fix_others()
    server.script = script(truth)
    assert check_after().state == "no alarm"  # within the day
    assert fix_others().baseline == [("entailed", 60, 0), ("not_entailed", 60, 0)]


LIES: dict[str, Callable[[Call], dict[str, object]]] = {
    "another model": lambda call: {"model": f"m-{call.number}", "id": ["x"]},
    "no model": lambda call: {"model": None, "id": None, "object": 7},
    "odd counts": lambda call: {
        "prompt_tokens": [0, 10**30, -1, None, "9"][call.number % 5]
    },
    "many choices": lambda call: {"choices": completion(usual(call))["choices"] * 99},
    "an answer in a heap": lambda call: {"content": " " * 10**5 + usual(call)},
}


def usual(call: Call) -> str:
    return str(script(truth)(call).text)


@pytest.mark.parametrize("lie", LIES)
def test_what_a_server_says_beside_its_answers_changes_no_verdict(server, lie):
    server.script = lambda call: whole(
        completion(**{"content": usual(call)} | LIES[lie](call))
    )
    result = check_after()
    assert (result.state, result.changed, result.failed) == ("no alarm", 0, 0)
    assert result.spent is not None
    assert 0 < result.spent < 1
