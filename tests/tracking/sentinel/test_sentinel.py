"""The sentinel against a scripted server: what is asked, what is kept, what is said."""

import contextlib
import datetime
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
from tests.tracking.sentinel.project import TABLES, Model, endpoint, project, script, truth

NOW = datetime.datetime(2026, 11, 23, 6, tzinfo=datetime.UTC)
WEEK = datetime.timedelta(days=7)
GONE = {"error": {"message": "The model `m-1` does not exist", "code": "model_not_found"}}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(script(truth)) as running:
        yield running


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was judged, and its anchors fixed."""
    root = tmp_path_factory.mktemp("template") / "project"
    root.mkdir()
    with ScriptedServer(script(truth)) as server, contextlib.chdir(root):
        project(root, server)
        fixed()
    return root


@pytest.fixture
def here(
    template: Path, tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    root = Path(shutil.copytree(template, tmp_path / "project"))
    monkeypatch.chdir(root)
    edit("params.yaml", endpoints={"here": endpoint(server)})
    return root


def fixed(anchors: int = 40) -> FixedAnchors:
    """Other anchors than those of the template, if there are any."""
    return fix("one", "reader", anchors=anchors, replace=True, now=NOW)


def checked(weeks: int = 1) -> DriftResult:
    (found,) = check(Path(), "one", now=NOW + weeks * WEEK)
    return found


def changed_by(*, one_way: bool) -> Model:
    """Half of what does not hold is said to hold; or as many answers turn either way."""

    def model(hypothesis: str, number: int) -> str:
        usual = truth(hypothesis, number)
        document = int(hypothesis.split()[1])
        if usual == "not_entailed":
            return "entailed" if document % 3 == 0 else usual
        return "not_entailed" if not one_way and document % 2 == 0 else usual

    return model


def edit(name: str, **changes: dict[str, object]) -> None:
    path = Path(name)
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        content[key] = {**(content.get(key) or {}), **value}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


def test_anchors_have_both_labels_of_each_system_and_no_text(
    here: Path, server: ScriptedServer
) -> None:
    there = server.requests.total()
    made = fixed()
    assert server.requests.total() - there == made.spent.calls
    counts = made.anchors.groupby(["author", "verdict"]).size()
    assert counts.to_dict() == {
        (author, verdict): 10
        for author in ("blue", "green")
        for verdict in ("entailed", "not_entailed")
    }
    # Each stands for all of its author's items that have its verdict.
    assert made.anchors["weight"].sum() == pytest.approx(240)
    assert made.baseline == [("entailed", 60, 0), ("not_entailed", 60, 0)]
    assert b"text of d" not in made.file.read_bytes()
    assert made.spent.calls == 3 * made.anchors.groupby(["doc_id", "author"]).ngroups
    assert read(ANCHORS, made.file)["anchor_set"].nunique() == 1
    with pytest.raises(BadInput, match="the anchors are fixed, and stay; --replace draws others"):
        fix("one", "reader")


def test_each_check_is_fresh_kept_and_paid_for_by_itself(
    here: Path, server: ScriptedServer
) -> None:
    with Ledger(LEDGER) as ledger:
        before = ledger.holdings()[0][2]
    sent = server.requests.total()
    results = [checked(week) for week in (1, 2)]
    asked = server.requests.total() - sent
    assert [one.state for one in results] == ["no alarm"] * 2
    with Ledger(LEDGER) as ledger:
        assert ledger.holdings()[0][2] == before + asked  # none answered for another
    assert results[0].spent == pytest.approx(results[1].spent)
    assert results[0].spent is not None
    rows = read(DRIFT, anchors.drift_file("one"))
    assert rows["when"].tolist() == ["2026-11-30T06:00:00Z", "2026-12-07T06:00:00Z"]
    assert rows["changed"].tolist() == [0, 0]


def test_a_second_check_waits_for_the_first_and_asks_anew(
    here: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = server.requests.total()
    first = checked()
    once = server.requests.total() - sent
    with ThreadPoolExecutor() as pool:
        with anchors.lock_benchmark("one"):
            second = pool.submit(checked)
            while "one: another check of its judges runs; waiting" not in capsys.readouterr().err:
                assert not second.done()
                time.sleep(0.001)
            anchors.append_drift(
                "one", pd.DataFrame([first.row() | {"when": "2026-11-30T06:00:01Z"}])
            )
        second.result()
    assert server.requests.total() - sent == 2 * once
    rows = read(DRIFT, anchors.drift_file("one"))
    assert rows["when"].tolist() == [f"2026-11-30T06:00:0{n}Z" for n in range(3)]


def test_a_check_that_was_cut_off_pays_for_nothing_twice(
    here: Path, server: ScriptedServer
) -> None:
    sent = server.requests.total()
    server.script = lambda call: failed(401) if call.number > sent + 9 else script(truth)(call)
    assert checked().state == "cannot tell"
    paid, server.script = server.answered.total(), script(truth)
    left = anchors.WORK / "one/reader.open"
    begun = left.read_bytes()
    for damage in (b"", b"[]", b'{"when": 7}', b"\xff", begun[:-1]):
        left.write_bytes(damage)
        assert anchors.salt("one", "reader", "check", NOW) != 0
    left.write_bytes(begun)
    found = check(Path(), "one", now=NOW + WEEK + datetime.timedelta(hours=1))[0]
    assert found.state == "no alarm"
    texts = read(PAIRS, anchors.WORK / "one/reader.parquet").groupby(["doc_id", "author"]).ngroups
    assert server.answered.total() - paid == texts - 9


@pytest.mark.parametrize("one_way", [True, False])
def test_another_model_behind_the_same_name_raises_the_alarm(
    here: Path, server: ScriptedServer, *, one_way: bool
) -> None:
    fixed(100)
    server.script = script(changed_by(one_way=one_way))
    found = checked()
    assert found.alarm
    assert found.state == "alarm"
    assert found.changed is not None
    assert found.high is not None
    assert found.changed > found.high
    assert (found.p_shift or 1) < 0.01 if one_way else (found.p_shift or 0) > 0.01
    assert "(entailed to not_entailed: " in found.why or one_way
    assert "not_entailed to entailed: " in found.why
    assert "do not compare new verdicts with old ones" in found.why


def test_what_fails_is_unknown_and_too_much_of_it_tells_nothing(
    here: Path, server: ScriptedServer
) -> None:
    usual = script(truth)

    def some(share: int) -> None:
        server.script = lambda call: failed(422) if call.number % share == 0 else usual(call)

    some(30)
    found = checked()
    assert (found.state, found.changed) == ("no alarm", 0)
    assert 0 < found.failed == found.anchors - found.answered
    assert f"{found.failed} without an answer, unknown" in found.why
    some(3)
    found = checked(2)
    assert (found.state, found.changed) == ("cannot tell", None)
    assert "max_failed" in found.why
    assert read(DRIFT, anchors.drift_file("one"))["changed"].isna().tolist() == [False, True]
    paid, server.script = server.answered.total(), usual
    (again,) = check(Path(), "one", now=NOW + 2 * WEEK + datetime.timedelta(hours=2))
    assert (again.state, again.failed) == ("no alarm", 0)
    assert 0 < server.answered.total() - paid < 20  # what had failed, and no more


def test_a_cap_of_its_own_holds(here: Path) -> None:
    edit("params.yaml", sentinel={"max_cost": 0.001}, max_cost={"amount": 0, "currency": "USD"})
    with Ledger(LEDGER) as ledger:
        before = spending(ledger, ACCOUNT)
    found = checked()
    assert found.state == "cannot tell"
    assert "or max_cost there is raised" in found.why
    assert found.spent is not None
    assert found.spent <= 0.001
    edit("params.yaml", sentinel={"max_cost": 1.0})
    assert checked(2).state == "no alarm"  # though the run's own max_cost allows nothing
    with Ledger(LEDGER) as ledger:
        assert spending(ledger, ACCOUNT) == before
        watching = spent_by_prefix(ledger, SENTINEL)
    assert watching["USD"] > found.spent


def test_a_retired_model_is_named_once_and_not_asked_again(
    here: Path, server: ScriptedServer
) -> None:
    sent = server.requests.total()
    server.script = lambda _: whole(GONE, status="404 Not Found")
    found = checked()
    assert (found.state, found.alarm, found.changed) == ("retired", True, None)
    assert "says that it has no model 'm-1' any more" in found.why
    assert "run both judges side by side" in found.why
    assert server.requests.total() - sent <= 4  # those that were under way


def test_a_changed_judge_is_a_change_and_no_drift(here: Path, server: ScriptedServer) -> None:
    sent = server.requests.total()
    edit("params.yaml", models={"m": {"endpoint": "here", "model": "m-3", "max_tokens": 200}})
    found = checked()
    assert (found.state, found.alarm) == ("another judge", False)
    assert "model:m-1" in found.why
    assert "model:m-3" in found.why
    assert "a change of yours and no drift" in found.why
    assert server.requests.total() == sent


def test_text_goes_only_where_its_class_may_go(here: Path, server: ScriptedServer) -> None:
    registry = Path("data/registry.yaml")
    registry.write_text(registry.read_text().replace("access: public", "access: private"))
    sent = server.requests.total()
    found = checked()
    assert found.state == "cannot tell"
    assert "dataset 'one' is private: its text does not go to endpoint 'here'" in found.why
    assert server.requests.total() == sent


def test_anchors_outlive_edited_texts_and_another_clone_has_them_by_hash(here: Path) -> None:
    kept = anchors.WORK / "one/reader.parquet"
    pairs = read(PAIRS, TABLES / "pairs/all.parquet")
    own = kept.read_bytes()
    kept.unlink()
    assert checked(1).state == "no alarm"  # from the tables
    edited = pairs.assign(premise="another text", pair_id=[f"{n:032}" for n in range(len(pairs))])
    write(PAIRS, edited, TABLES / "pairs/all.parquet")
    found = checked(2)
    assert found.state == "cannot tell"
    assert "40 of 40 anchors have no text here" in found.why
    kept.write_bytes(own)
    assert checked(3).state == "no alarm"


def test_who_needs_no_sentinel_is_told_so(here: Path) -> None:
    with pytest.raises(BadInput, match=r"lexical: asks no language model.*needs no sentinel"):
        fix("one", "lexical")
    anchors.anchors_file("one", "reader").unlink()
    with pytest.raises(BadInput, match="has no anchors; `metassay sentinel fix one` draws them"):
        check(here, "one")
    with pytest.raises(BadInput, match="no 'two' with judges"):
        check(here, "two")
    with pytest.raises(BadInput, match="of too few texts to show any change"):
        fixed(3)


def test_stored_verdicts_of_another_judge_are_not_fixed(here: Path) -> None:
    edit("params.yaml", models={"m": {"endpoint": "here", "model": "m-3", "max_tokens": 200}})
    with pytest.raises(BadInput, match="metassay run one brings them together"):
        fixed()


def test_answers_that_cannot_be_read_are_named_and_not_taken_from_the_ledger_again(
    here: Path, server: ScriptedServer
) -> None:
    server.script = lambda call: whole(completion("perhaps"))
    found = checked()
    assert found.state == "cannot tell"
    assert "40 of 40 anchors have no answer (unparsed 40)" in found.why
    assert "`metassay probe reader` shows" in found.why
    with pytest.raises(BadInput, match=r"\(unparsed 120\).*asks all of them again"):
        fixed()
    server.script = script(truth)
    assert checked().state == "no alarm"  # within the day
    assert fixed().baseline == [("entailed", 60, 0), ("not_entailed", 60, 0)]


LIES: dict[str, Callable[[Call], dict[str, object]]] = {
    "another model": lambda call: {"model": f"m-{call.number}", "id": ["x"]},
    "no model": lambda call: {"model": None, "id": None, "object": 7},
    "odd counts": lambda call: {"prompt_tokens": [0, 10**30, -1, None, "9"][call.number % 5]},
    "many choices": lambda call: {"choices": completion(usual(call))["choices"] * 99},
    "an answer in a heap": lambda call: {"content": " " * 10**5 + usual(call)},
}


def usual(call: Call) -> str:
    return str(script(truth)(call).text)


@pytest.mark.parametrize("lie", LIES)
def test_what_a_server_says_beside_its_answers_changes_no_verdict(
    here: Path, server: ScriptedServer, lie: str
) -> None:
    server.script = lambda call: whole(completion(**{"content": usual(call)} | LIES[lie](call)))
    found = checked()
    assert (found.state, found.changed, found.failed) == ("no alarm", 0, 0)
    assert found.spent is not None
    assert 0 < found.spent < 1
