"""batch_run.py: one charge per request, whatever happens to the batch or to who sent it.

The server counts what it charges by itself (tests/llm/batch_server.py). Costs are
computed by hand from its token counts: 10 read and 4 written each, at half of 2.5 and
10 USD per million.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput, Unfinished
from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.core.params import MaxCost
from metassay.llm import batch_run, client
from metassay.llm.endpoints import parse_models
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from metassay.llm.messages import Ask, ChatRequest, Reply
from metassay.llm.needs import Needs, Requests, Use
from metassay.llm.session import Session
from metassay.tables.parquet import read
from metassay.tables.responses import RESPONSES
from stages.doorway import UNFINISHED
from tests.llm.batch_server import BatchServer
from tests.llm.batch_setup import (
    Asker,
    another_process,
    missing,
    request,
    requests,
    serve,
)
from tests.stage_setup import KEY, run_stage, tiny_project

EACH = (10 * 2.5 + 4 * 10.0) / 1e6 / 2
PRICES = {
    "date": "2026-11-01", "input_per_million": 2.5, "output_per_million": 10.0, "currency": "USD"
}  # fmt: skip
QUICK = Policy(first_wait=0.01, longest_wait=0.05)


@pytest.fixture
def batches() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


def session(
    url: str, ledger: Path, *, cost: float | None = None, **changes: Any
) -> Session:
    """A run's session for public text, whose model is asked in batches unless `mode` is given."""
    model = {"endpoint": "here", "model": "m-1", "max_tokens": 40, "prices": PRICES}
    model["mode"] = changes.pop("mode", None)
    access = {"sample": changes.pop("access", "public")}
    more = {
        name: changes.pop(name) for name in ("max_missing", "dry") if name in changes
    }
    endpoint = {
        "kind": "openai",
        "base_url": url,
        "batch": True,
        "wait_s": 20.0,
    } | changes
    models = parse_models({"here": endpoint}, {"m": model})
    cap = None if cost is None else MaxCost(amount=cost, currency="USD")
    return Session(models, cap, access, ["sample"], ledger=ledger, policy=QUICK, **more)


def asker(opened: Session) -> Ask:
    record = Needs(model=lambda _: Use("m", None))
    return opened.provide(Chosen("asking", record, Options())).require_model().ask


@contextmanager
def run(url: str, folder: Path, **changes: Any) -> Iterator[tuple[Session, Ask]]:
    with session(url, folder / "ledger.sqlite", **changes) as opened:
        yield opened, asker(opened)


def ask(
    server: BatchServer, folder: Path, questions: list[ChatRequest], **changes: Any
) -> list[Reply]:
    with run(server.base_url, folder, **changes) as (_, put):
        return put(questions)


def spent(server: BatchServer, folder: Path) -> float:
    """The most that can have been spent."""
    with session(server.base_url, folder / "ledger.sqlite") as opened:
        return opened.spent.at_most


def journal_of(folder: Path) -> tuple[int, int, int]:
    """Batches under way, lines, and attempts that are reserved still."""
    with Ledger(folder / "ledger.sqlite") as ledger:
        counts = (
            "SELECT (SELECT count(*) FROM batches), (SELECT count(*) FROM batch_lines)"
        )
        return (*ledger.select(counts)[0], ledger.attempts().get("open", 0))


def test_answers_come_by_a_batch_at_half_the_price(batches, tmp_path) -> None:
    questions = [*requests(5), request(0)]
    with run(batches.base_url, tmp_path) as (opened, put):
        replies = put(questions)
        spent = opened.spent
        table = opened.finish().responses
    assert [reply.text for reply in replies] == [
        f"answer 1 to Question {number}?" for number in (0, 1, 2, 3, 4, 0)
    ]
    assert {reply.attempts for reply in replies} == {1}
    assert spent.spent == spent.at_most == pytest.approx(5 * EACH)
    assert (spent.calls, spent.hits, len(table)) == (5, 0, 5)
    assert batches.charges == {question.key: 1 for question in questions}
    assert batches.steps == {"upload": 1, "create": 1, "look": 2, "read": 1}
    assert journal_of(tmp_path) == (0, 0, 0)
    assert ask(batches, tmp_path, questions)[0].attempts == 0  # from the ledger
    assert ask(batches, tmp_path, questions, mode="single") == ask(
        batches, tmp_path, questions
    )
    assert batches.steps.total() == 5


def test_a_bar_says_how_many_are_answered(batches, tmp_path, monkeypatch) -> None:
    bars, done = [], []

    @contextmanager
    def bar(model: str, total: int) -> Iterator[Any]:
        bars.append((model, total))
        yield done.append

    monkeypatch.setattr(batch_run, "bar", bar)
    batches.looks = 3
    assert missing(ask(batches, tmp_path, requests(5))) == {}
    assert bars == [("answers of m-1", 5)]
    assert done[0] == done[-1] == 5  # by the endpoint's count, and then by the answers
    monkeypatch.setattr(client, "bar", bar)
    done.clear()
    assert missing(ask(batches, tmp_path / "b", requests(4), batch=False)) == {}
    assert (bars[1], done) == (("answers of m-1", 4), [1, 2, 3, 4])


@pytest.mark.parametrize("ended", ["completed", "expired"])
def test_expired_failed_and_lost_lines_are_asked_again(
    batches, tmp_path, ended: str
) -> None:
    keys = [question.key for question in requests(8)]
    fates = ["ok", "expired", 500, "twice", "first failed", 429, "missing", "garbled"]
    batches.fate = lambda key, time: fates[keys.index(key)] if time == 1 else "ok"
    batches.ended = ended
    with run(batches.base_url, tmp_path) as (opened, put):
        replies = put(requests(8))
        account = opened.spent
    times = [1, 1, 1, 1, 1, 1, 2, 2]
    texts = [f"answer {time} to Question {n}?" for n, time in enumerate(times)]
    assert [reply.text for reply in replies] == texts
    assert [reply.attempts for reply in replies] == [1, 2, 2, 1, 1, 2, 2, 2]
    assert batches.charges == dict(zip(keys, times, strict=True))
    assert len(batches.batches) == 2
    # An answer that nobody gets may have been paid for: 64 + 2 * 32 + 7 + 11 bytes, and
    # 40 tokens.
    assert account.spent == pytest.approx(8 * EACH)
    lost = 2 if ended == "completed" else 0
    assert account.at_most == pytest.approx(
        8 * EACH + lost * (146 * 2.5 + 40 * 10) / 2e6
    )


def test_a_line_that_always_fails_ends_as_an_error(batches, tmp_path) -> None:
    bad, long = request(0).key, request(1).key
    batches.fate = lambda key, time: {bad: 500, long: 413}.get(key, "ok")
    with run(batches.base_url, tmp_path, max_missing=0.4) as (opened, put):
        replies = put(requests(4))
        assert missing(replies) == {"http_413": 1, "http_500": 1}
        assert [reply.attempts for reply in replies] == [QUICK.attempts, 1, 1, 1]
        assert (
            opened.finish().notes[0].startswith("model 'm': 1 of 4 answers are missing")
        )
    assert batches.charges.total() == 2
    assert journal_of(tmp_path) == (0, 0, 0)


def test_a_lost_upload_is_sent_again(batches, tmp_path) -> None:
    batches.lose_uploads = 1
    assert missing(ask(batches, tmp_path, requests(3))) == {}
    assert batches.steps["upload"] == 2
    batches.fail_batches = ["empty_file"]
    assert missing(ask(batches, tmp_path, [request("new")])) == {}
    assert set(batches.charges.values()) == {1}
    batches.fail_batches = ["token_limit_exceeded"] * 2
    assert missing(ask(batches, tmp_path, [request(9)])) == {
        "batch_token_limit_exceeded": 1
    }
    batches.lose_uploads = 9
    with pytest.raises(
        BadInput, match=r"models > m: endpoint 'here'.*http_404.*mode: single"
    ):
        ask(batches, tmp_path, [request(10)])
    assert journal_of(tmp_path) == (0, 0, 0)


@pytest.mark.parametrize("step", ["upload", "create", "list", "look", "read"])
def test_a_call_that_fails_is_made_again_and_no_batch_twice(
    batches, tmp_path, step: str
) -> None:
    if step == "list":
        batches.errors["create"] = [500]
    batches.errors[step] = [-503, 502]  # the first was done all the same
    assert missing(ask(batches, tmp_path, requests(3))) == {}
    assert set(batches.charges.values()) == {1}
    assert len(batches.batches) == 1


def test_an_endpoint_that_is_down_leaves_what_was_sent(batches, tmp_path) -> None:
    batches.errors["look"] = [503] * QUICK.attempts
    replies = ask(batches, tmp_path, requests(3))
    assert missing(replies) == {"in_batch": 3}
    # created, without anybody knowing
    batches.errors["create"] = [-500] * QUICK.attempts
    batches.errors["list"] = [500] * QUICK.attempts
    assert missing(ask(batches, tmp_path, [request("b")])) == {"in_batch": 1}
    assert missing(ask(batches, tmp_path, [*requests(3), request("b")])) == {}
    assert batches.charges.total() == 4 == len(batches.charges)


def test_patience_ends_and_the_next_run_collects(batches, tmp_path) -> None:
    batches.looks = 3
    with run(batches.base_url, tmp_path, wait_s=0.0, max_missing=1.0) as (opened, put):
        assert missing(put(requests(2))) == {"in_batch": 2}
        with pytest.raises(
            Unfinished,
            match=r"^batch batch_0 of 2 requests is in progress since 20\d\d-\d\d-\d\d \d\d:\d\d"
            r" UTC; `metassay run NAME` collects it$",
        ):
            opened.finish()
        assert missing(put([request("more")])) == {"in_batch": 1}
        with pytest.raises(
            Unfinished, match=r"^2 batches of 3 requests in all are in progress"
        ):
            opened.finish()
        assert opened.spent.spent == 0 < opened.spent.at_most
    with run(batches.base_url, tmp_path) as (opened, put):
        assert opened.spent.at_most > 0  # nobody takes what is in batches for lost
        assert missing(put([*requests(2), request("more")])) == {}
        assert opened.spent.at_most == pytest.approx(3 * EACH)
        assert len(opened.finish().responses) == 3
    assert batches.steps["create"] == 2
    assert set(batches.charges.values()) == {1}


def test_a_stage_ends_unfinished_and_the_next_run_goes_on(
    batches, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setenv(KEY, "k")
    monkeypatch.setattr(client, "Policy", lambda: QUICK)
    batches.looks = 3
    passages = ["The knee hurts.", "The hip hurts."]
    endpoint = {"batch": True, "wait_s": 0.0}
    root = tiny_project(
        tmp_path, batches.base_url, passages, endpoint=endpoint, max_missing=1
    )
    assert run_stage(monkeypatch, root, "generate", "writer") == UNFINISHED
    message = capsys.readouterr().err.strip()
    assert re.fullmatch(r"batch batch_0 of 2 requests is in progress since .*", message)
    assert not list((root / "data/tables/one").glob("texts/*"))
    batches.looks = batches.batches["batch_0"]["looks"] = 0
    assert run_stage(monkeypatch, root, "generate", "writer") == 0
    table = read(RESPONSES, root / "data/tables/one/responses/generate-writer.parquet")
    assert table["status"].tolist() == ["ok", "ok"]
    assert list(batches.charges.values()) == [1, 1]


def test_a_mode_may_change_while_a_batch_is_in_progress(batches, tmp_path) -> None:
    batches.looks = 4
    assert missing(ask(batches, tmp_path, requests(2), wait_s=0.0)) == {"in_batch": 2}
    with session(batches.base_url, tmp_path / "ledger.sqlite", mode="single") as opened:
        opened.alone = True  # who asks alone leaves what is in a batch
        assert missing(asker(opened)(requests(3))) == {"in_batch": 2}
    assert batches.charges["alone"] == 1
    assert missing(ask(batches, tmp_path, requests(4), mode="single")) == {}
    assert batches.charges == {request(0).key: 1, request(1).key: 1, "alone": 2}


def test_a_file_has_no_more_than_its_endpoint_takes(
    batches, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(batch_run, "MOST_REQUESTS", 4)
    assert missing(ask(batches, tmp_path, requests(10))) == {}
    counts = [batch["request_counts"]["total"] for batch in batches.batches.values()]
    assert counts == [4, 4, 2]
    longest = max(len(file) for file in batches.files.values())
    monkeypatch.setattr(batch_run, "MOST_BYTES", longest // 2)
    assert missing(ask(batches, tmp_path, [request(f"x{n}") for n in range(4)])) == {}
    assert set(batches.charges.values()) == {1}
    sent = [file for name, file in batches.files.items() if name.startswith("file-")]
    assert max(map(len, sent[3:])) <= longest // 2


def test_the_cap_holds_before_anything_is_uploaded(batches, tmp_path) -> None:
    most = (146 * 2.5 + 40 * 10) / 2e6
    with pytest.raises(BadInput, match="max_cost"):
        ask(batches, tmp_path, requests(3), cost=0.9 * most)
    assert not batches.steps
    # Two at the most fit at first; their real costs then leave room for the others, one
    # by one.
    assert missing(ask(batches, tmp_path, requests(3), cost=2.5 * most)) == {}
    assert [b["request_counts"]["total"] for b in batches.batches.values()] == [2, 1]
    assert spent(batches, tmp_path) == pytest.approx(3 * EACH)


def test_private_text_is_not_uploaded_without_leave(batches, tmp_path) -> None:
    canary = request("CANARY-7731")
    with pytest.raises(
        BadInput, match="sample' is private: its text does not go to endpoint"
    ):
        ask(batches, tmp_path, [canary], access="private")
    assert not batches.bodies
    # Begun with leave and killed before its upload: who has none does not send it in
    # passing.
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.begin_batch("left", batches.base_url)
        ledger.add_line("left", canary.key, 1, canary.canonical)
    assert missing(ask(batches, tmp_path, requests(2))) == {}
    assert not any(b"CANARY" in body for body in batches.bodies)
    assert journal_of(tmp_path)[:2] == (0, 0)
    allowed = {"access": "private", "sends": ["private"]}
    assert missing(ask(batches, tmp_path, [canary], **allowed)) == {}
    assert any(b"CANARY" in body for body in batches.bodies)


def test_errors_quote_no_text(batches, tmp_path) -> None:
    batches.fate = lambda key, time: 400
    secret = [request(f"CANARY-{number}") for number in range(3)]
    with pytest.raises(
        BadInput, match="refuses all 3 questions of batch batch_0"
    ) as caught:
        ask(batches, tmp_path, secret)
    assert "CANARY" not in str(caught.value)
    # They are no news: should they be refused again, they failed for good.
    assert missing(ask(batches, tmp_path, secret)) == {"http_400": 3}
    batches.fate = lambda key, time: 401
    with pytest.raises(BadInput, match="does not accept the key"):
        ask(batches, tmp_path, [request("key")])


def test_a_batch_that_its_endpoint_does_not_know(
    batches, tmp_path, monkeypatch
) -> None:
    batches.looks = 3
    ask(batches, tmp_path, requests(2), wait_s=0.0)
    batches.batches.clear()
    with pytest.raises(BadInput, match=r"does not know batch batch_0.*48 hours"):
        ask(batches, tmp_path, requests(2))
    monkeypatch.setattr(batch_run, "ABANDONED", -1.0)
    assert missing(ask(batches, tmp_path, requests(2))) == {}
    with session(batches.base_url, tmp_path / "ledger.sqlite") as opened:
        account = opened.spent
    assert account.spent == pytest.approx(2 * EACH)
    assert account.at_most == pytest.approx(2 * EACH + 2 * (146 * 2.5 + 40 * 10) / 2e6)


def test_the_estimate_is_halved(tmp_path) -> None:
    first = Requests(requests(3), [1, 1, 1])
    costs = {}
    for mode in ("single", "batch"):
        place = tmp_path / "ledger.sqlite"
        with session("http://127.0.0.1:9/v1", place, mode=mode, dry=True) as opened:
            costs[mode] = opened.estimate(Use("m", None), first, [4.0] * 3)
    assert costs["single"].cost == pytest.approx(2 * costs["batch"].cost)
    assert costs["batch"].cost_at_most == pytest.approx(3 * (146 * 2.5 + 40 * 10) / 2e6)


# Killed at each step, in a child that was forked after all imports.


@pytest.fixture(scope="module")
def killable() -> Iterator[Asker]:
    with another_process("tests.llm.test_batch_mode") as process:
        yield process


def start(
    process: Asker, server: BatchServer, folder: Path, count: int, **settings: Any
) -> int:
    return process.start(
        url=server.base_url, folder=str(folder), count=count, **settings
    )


def kill_at(
    process: Asker, server: BatchServer, folder: Path, count: int, *when: Any
) -> None:
    """Start a child that dies at a step, before it is done or after."""
    server.killed = (start(process, server, folder, count, begin=True), *when)
    process.go()
    assert process.result() is None


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("step", ["upload", "create", "look", "read"])
def test_killed_at_a_step_and_charged_once(
    batches, tmp_path, killable, step, before
) -> None:
    batches.looks = 2
    kill_at(killable, batches, tmp_path, 7, step, before)
    assert missing(ask(batches, tmp_path, requests(7))) == {}
    assert batches.charges == {question.key: 1 for question in requests(7)}
    assert journal_of(tmp_path) == (0, 0, 0)
    assert spent(batches, tmp_path) == pytest.approx(7 * EACH)


@pytest.mark.parametrize("stores", [1, 4, 7])
def test_killed_while_answers_are_stored(
    batches, tmp_path, killable, stores: int
) -> None:
    start(killable, batches, tmp_path, 7, stores=stores)
    assert killable.result() is None
    assert missing(ask(batches, tmp_path, requests(7))) == {}
    assert set(batches.charges.values()) == {1}
    assert spent(batches, tmp_path) == pytest.approx(7 * EACH)


def test_killed_while_a_batch_is_looked_for(batches, tmp_path, killable) -> None:
    for step in ("create", "list"):  # on a second page of the list
        kill_at(killable, batches, tmp_path, 3, step, False)
        for other in (f"{step}{letter}" for letter in "xyz"):
            batches.batches[other] = {
                "id": other,
                "metadata": None,
                "created_at": 1 << 40,
            }
    assert missing(ask(batches, tmp_path, requests(3))) == {}
    assert batches.steps["list"] >= 1 + 4
    assert set(batches.charges.values()) == {1}


def test_two_processes_send_one_batch(batches, tmp_path, killable) -> None:
    batches.looks = 20
    start(killable, batches, tmp_path, 9)
    assert missing(ask(batches, tmp_path, requests(9))) == {}
    assert killable.result() == {"ok": 9}
    assert set(batches.charges.values()) == {1}
    assert batches.steps["create"] == 1


def ask_in_child(settings: dict[str, Any]) -> Counter[str]:
    left, store_as_ever = settings.get("stores", 0), Ledger.store

    def store(self: Ledger, *values: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)
        return store_as_ever(self, *values, **named)

    Ledger.store = store  # type: ignore[method-assign]
    with run(settings["url"], Path(settings["folder"])) as (_, put):
        return Counter(reply.status for reply in put(requests(settings["count"])))


if __name__ == "__main__":
    serve(ask_in_child)
