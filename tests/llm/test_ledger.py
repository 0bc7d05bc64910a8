"""The ledger: answers and failures that stay, claims that end, and files that are no ledger."""

import socket
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.llm.endpoints import can_ask
from metassay.llm.ledger import FORM, LONGEST_LEASE, Entry, Failure, Ledger, responses
from metassay.llm.messages import (
    count_codes,
    is_retryable,
    missing_notes,
    unfinished_message,
)
from tests.llm.batch_setup import asking, endpoint, request
from tests.llm.scripted_server import answer_with

KEYS = [request(number).key for number in range(4)]
CUT = {"status": "truncated", "finish_reason": "length", "completion_tokens": None}


def entry(number: int, text: str | None = "yes", **changes: object) -> Entry:
    counts = {"prompt_tokens": 12, "completion_tokens": 3}
    settings = {"status": "ok", "finish_reason": "stop"} | counts | changes
    return Entry(key=request(number).key, text=text, **settings)  # type: ignore[arg-type]


def store(ledger: Ledger, number: int, text: str = "yes", **changes: object) -> Entry:
    new = entry(number, text, **changes)
    return ledger.store(
        request(number).canonical, new, model="m-1", endpoint_kind="openai"
    )


def failure(number: int, code: str = "http_500") -> Failure:
    return Failure(request(number).key, code, request(number).canonical)


def test_what_was_stored_first_is_there_and_nothing_else(ledger) -> None:
    store(ledger, 1)
    assert store(ledger, 1, "second") == entry(1)
    store(ledger, 2, "", **CUT)
    assert ledger.lookup(KEYS[1:]) == {KEYS[1]: entry(1), KEYS[2]: entry(2, "", **CUT)}
    assert ledger.lookup([]) == {}
    assert ledger.holdings() == [
        ("m-1", "ok", 1, 12, 3),
        ("m-1", "truncated", 1, 12, 0),
    ]
    assert ledger.attempts() == {}
    with sqlite3.connect(ledger.path) as connection:  # readable by hand
        row = connection.execute(
            "SELECT request, model, endpoint_kind FROM answers"
        ).fetchone()
        assert connection.execute("PRAGMA application_id").fetchone() == (
            FORM.application_id,
        )
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    assert row == (request(1).canonical, "m-1", "openai")
    with Ledger(ledger.path) as again:
        assert len(again.lookup(KEYS)) == 2


def test_more_keys_than_a_statement_takes(ledger) -> None:
    with ledger.transaction():
        for number in range(1100):
            store(ledger, number, str(number))
    texts = {
        e.text for e in ledger.lookup(request(n).key for n in range(1200)).values()
    }
    assert texts == {str(number) for number in range(1100)}
    ledger.note_failures(failure(number) for number in range(2000, 3100))
    assert (
        len(ledger.failures(request(number).key for number in range(2000, 3100)))
        == 1100
    )


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (entry(1), ("ok", "yes", None)),
        (entry(1, "ye", **CUT), ("truncated", "ye", None)),
        (entry(1, "I will not", status="refused"), ("refused", None, "refusal")),
        (
            entry(1, None, status="refused", finish_reason="content_filter"),
            ("refused", None, "content_filter"),
        ),
    ],
)
def test_replies_of_each_status(
    stored: Entry, expected: tuple[str | None, ...]
) -> None:
    reply = stored.reply(attempts=2)
    assert (reply.status, reply.text, reply.error) == expected
    assert (reply.attempts, stored.reply().attempts) == (2, 0)


def test_a_claim_keeps_others_out_until_it_is_released(ledger) -> None:
    key = KEYS[1]
    assert ledger.claim(key, "first", 10**9)
    assert ledger.claim(key, "first", 60)  # who has it is no obstacle
    assert not ledger.claim(key, "second", 60)
    assert ledger.claimed_keys(KEYS) == {key}
    # as long as a lease may be, or others would ask as well
    ledger.renew("first", 10**9)
    ledger.release("second", key)  # is not theirs to release
    assert not ledger.claim(key, "second", 60)
    ledger.release("first")
    assert ledger.claimed_keys([key]) == set()
    assert ledger.claim(key, "second", 60)
    store(ledger, 2)
    assert not ledger.claim(KEYS[2], "somebody", 60)  # what is answered


def test_a_claim_of_the_dead_expires_unless_it_is_renewed(ledger) -> None:
    renewed, forgotten, later = KEYS[1:]
    assert ledger.claim(forgotten, "dead", -1)
    assert ledger.claimed_keys([forgotten]) == set()
    assert ledger.claim(forgotten, "second", 60)
    assert ledger.claim(renewed, "alive", -1)
    ledger.renew("alive", 60)
    assert not ledger.claim(renewed, "second", 60)
    # From before the machine was restarted: it would end in years.
    for expires in (
        time.time() + 10 * 365 * 86400,
        time.monotonic() + 2 * LONGEST_LEASE,
    ):
        ledger.write(
            "INSERT OR REPLACE INTO claims VALUES (?, 'gone', ?)", later, expires
        )
        assert ledger.claimed_keys([later]) == set()
        assert ledger.claim(later, "second", 60)
        assert ledger.claimed_keys([later]) == {later}


def test_a_transaction_is_written_whole_or_not_at_all(ledger) -> None:
    def half() -> None:
        with ledger.transaction():
            store(ledger, 1)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert ledger.lookup(KEYS) == {}
    store(ledger, 2)  # and the next works
    assert len(ledger.lookup(KEYS)) == 1


def test_threads_share_an_open_ledger(ledger) -> None:
    with ThreadPoolExecutor(4) as pool:  # they overlap
        for first in range(0, 160, 40):
            pool.map(lambda number: store(ledger, number), range(first, first + 50))
    assert sum(holding[2] for holding in ledger.holdings()) == 170


# ---- questions without an answer ---------------------------------------------------------------


def test_the_last_failure_of_a_question_stays_until_it_is_answered(
    server, ledger
) -> None:
    ledger.note_failures([failure(1), failure(2)])
    ledger.note_failures([failure(1, "timeout")])
    assert ledger.failures([KEYS[1], "unknown"]) == {KEYS[1]: failure(1, "timeout")}
    assert set(ledger.failures()) == {KEYS[1], KEYS[2]}
    assert ledger.failures([]) == {}
    server.script = lambda call: answer_with("yes")
    (reply,) = asking(server, ledger)([request(1)])
    assert (reply.status, reply.attempts) == ("ok", 1)  # asked, whatever was noted
    assert set(ledger.failures()) == {KEYS[2]}
    assert responses(ledger)["status"].tolist() == ["ok", "error"]


@pytest.mark.parametrize(
    ("codes", "may"),
    [
        (
            "timeout connection bad_reply endpoint_down client stopped unknown None nan",
            True,
        ),
        # The key, the account, the address, the model, a proxy, a law; a moment.
        (
            "http_401 http_402 http_403 http_404 http_405 http_407 http_410 http_451",
            True,
        ),
        (
            "http_301 http_308 http_408 http_409 http_425 http_429 http_500 http_599 http_",
            True,
        ),
        ("http_400 http_413 http_414 http_422 context_length", False),  # the question
    ],
)
def test_which_failures_asking_again_may_mend(codes: str, may: bool) -> None:
    assert {is_retryable(code) for code in codes.split()} == {may}


def test_messages_name_each_model_with_its_counts_and_codes() -> None:
    assert (
        count_codes(["timeout", "http_500", "a", "http_500"])
        == "http_500 2, a 1, timeout 1"
    )
    models = {"a": "m", "b": "m", "c": "m", "d": "n"}
    codes = {"a": "timeout", "b": "context_length", "d": "endpoint_down"}
    open_, lost, other = missing_notes(models, codes)
    assert open_.startswith(
        "model 'm': 1 of 3 answers are missing (timeout 1); the next"
    )
    assert lost.startswith(
        "model 'm': 1 of 3 questions failed for good (context_length 1)"
    )
    assert "`metassay run NAME --ask-again`" in lost
    assert other.startswith("model 'n': 1 of 1 answers are missing (endpoint_down 1)")
    message = unfinished_message(models, codes, 0.25)
    assert (
        "endpoint_down: not asked, since its endpoint failed too often in a row"
        in message
    )
    assert message.endswith("that may be missing; it is 0.25")
    assert missing_notes(models, {}) == []


def test_a_key_decides_who_can_ask_and_without_a_key_whether_anybody_listens(
    server, monkeypatch
) -> None:
    wanting = endpoint("https://llm.example/v1", key_env="METASSAY_TEST_KEY")
    for value, may in (("k", True), (" ", False)):
        monkeypatch.setenv("METASSAY_TEST_KEY", value)
        assert can_ask(wanting) is may
    monkeypatch.delenv("METASSAY_TEST_KEY")
    assert not can_ask(wanting)
    with socket.socket() as unheard:  # bound, so that nobody else listens there
        unheard.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{unheard.getsockname()[1]}"
        assert can_ask(endpoint(server.base_url))
        assert not can_ask(endpoint(f"{nowhere}/v1"))
        assert not can_ask(endpoint(server.base_url, proxy=nowhere))
        assert can_ask(
            endpoint(f"{nowhere}/v1", proxy=f"http://127.0.0.1:{server.port}")
        )
    assert not server.calls


# ---- files -------------------------------------------------------------------------------------


def test_an_older_ledger_is_brought_up_to_date(server, tmp_path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        asking(server, ledger)([request(1)])
    with sqlite3.connect(path) as connection:
        for later in ("failures", "logprobs", "tried", "batches", "batch_lines"):
            connection.execute(f"DROP TABLE {later}")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with Ledger(path) as ledger:
        ledger.note_failures([failure(2)])
        assert responses(ledger)["status"].tolist() == ["ok", "error"]
    with Ledger(path) as ledger:
        assert set(ledger.failures()) == {KEYS[2]}


def by_sql(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


NOTES = "CREATE TABLE notes (words TEXT)"


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ((NOTES,), "another program's database"),
        ((NOTES, "PRAGMA application_id = 42"), "another program's database"),
        (("PRAGMA journal_mode = WAL", NOTES), "another program's database"),
        ((*FORM.steps[0].split(";")[:1], f"PRAGMA application_id = {FORM.application_id}",
          "PRAGMA user_version = 99"), "update Metassay"),
        ((), "not an SQLite database"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(
    tmp_path, statements, words
) -> None:
    path = tmp_path / "ledger.sqlite"
    by_sql(path, *statements)
    if not statements:
        path.write_text("dear diary\n" * 100, encoding="utf-8")
    before, beside = path.read_bytes(), {*tmp_path.glob("*[!g]")}  # without `-opening`
    logs = (
        {".sqlite-wal", ".sqlite-shm"}
        if "PRAGMA journal_mode = WAL" in statements
        else set()
    )
    with pytest.raises(BadInput, match=words) as caught:
        Ledger(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    assert {path.suffix for path in {*tmp_path.glob("*[!g]")} - beside} <= logs


def test_an_empty_file_becomes_a_ledger_and_a_folder_is_none(tmp_path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.touch()
    with Ledger(path) as ledger:
        store(ledger, 1)
        with Ledger(path) as second:  # in use
            assert len(second.lookup(KEYS)) == 1
    with pytest.raises(BadInput, match="name a file in it"):
        Ledger(tmp_path)


def test_many_may_make_the_same_ledger_at_the_same_time(tmp_path) -> None:
    for attempt in range(40):
        path = tmp_path / f"{attempt}.sqlite"
        together = threading.Barrier(8)

        def work(path: Path = path, together: threading.Barrier = together) -> int:
            together.wait()
            with Ledger(path) as ledger:
                return len(ledger.lookup(["none"]))

        with ThreadPoolExecutor(8) as pool:
            assert [f.result() for f in [pool.submit(work) for _ in range(8)]] == [
                0
            ] * 8
