import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.llm.ledger import FORM, LONGEST_LEASE, Entry, Ledger
from tests.llm.batch_setup import request


def entry(number: int, text: str | None = "yes", **changes: object) -> Entry:
    settings = {
        "status": "ok",
        "finish_reason": "stop",
        "prompt_tokens": 12,
        "completion_tokens": 3,
    } | changes
    return Entry(key=request(number).key, text=text, **settings)  # type: ignore[arg-type]


def store(ledger: Ledger, number: int, text: str = "yes", **changes: object) -> Entry:
    question = request(number)
    return ledger.store(
        question.canonical,
        entry(number, text, **changes),
        model=question.model,
        endpoint_kind="openai",
        latency=0.2,
    )


def test_what_was_stored_is_found_and_nothing_else(ledger) -> None:
    store(ledger, 1)
    store(ledger, 2, "", status="truncated", finish_reason="length", completion_tokens=None)
    keys = [request(number).key for number in (1, 2, 3)]
    assert ledger.lookup(keys) == {
        keys[0]: entry(1),
        keys[1]: entry(2, "", status="truncated", finish_reason="length", completion_tokens=None),
    }
    assert ledger.lookup([]) == {}


def test_lookup_of_more_keys_than_sqlite_takes_at_once(ledger) -> None:
    with ledger.transaction():
        for number in range(1300):
            store(ledger, number, str(number))
    found = ledger.lookup(request(number).key for number in range(1400))
    assert {e.text for e in found.values()} == {str(number) for number in range(1300)}


def test_the_first_answer_stays(ledger) -> None:
    assert store(ledger, 1, "first").text == "first"
    assert store(ledger, 1, "second").text == "first"
    assert ledger.lookup([request(1).key])[request(1).key].text == "first"


def test_the_file_is_readable_by_hand(ledger) -> None:
    store(ledger, 7)
    with sqlite3.connect(ledger.path) as connection:
        row = connection.execute("SELECT request, model, endpoint_kind FROM answers").fetchone()
        assert connection.execute("PRAGMA application_id").fetchone() == (FORM.application_id,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    assert row == (request(7).canonical, "m-1", "openai")


def test_replies_of_each_status() -> None:
    ok = entry(1).reply(attempts=2)
    assert (ok.status, ok.text, ok.error, ok.attempts) == ("ok", "yes", None, 2)
    cut = entry(1, "ye", status="truncated", finish_reason="length").reply()
    assert (cut.status, cut.text, cut.error, cut.attempts) == ("truncated", "ye", None, 0)
    declined = entry(1, "I will not", status="refused").reply()
    assert (declined.status, declined.text, declined.error) == ("refused", None, "refusal")
    filtered = entry(1, None, status="refused", finish_reason="content_filter").reply()
    assert (filtered.text, filtered.error) == (None, "content_filter")


def test_a_claim_keeps_others_out_until_it_is_released(ledger) -> None:
    key = request(1).key
    assert ledger.claim(key, "first", 60)
    assert ledger.claim(key, "first", 60)  # one's own claim is no obstacle
    assert not ledger.claim(key, "second", 60)
    assert ledger.claimed_keys([key, request(2).key]) == {key}
    ledger.release("second", key)  # is not theirs to release
    assert not ledger.claim(key, "second", 60)
    ledger.release("first")
    assert ledger.claimed_keys([key]) == set()
    assert ledger.claim(key, "second", 60)


def test_a_claim_of_the_dead_expires_unless_it_is_renewed(ledger) -> None:
    renewed, forgotten = request(1).key, request(2).key
    assert ledger.claim(forgotten, "dead", -1)
    assert ledger.claimed_keys([forgotten]) == set()
    assert ledger.claim(forgotten, "second", 60)
    assert ledger.claim(renewed, "alive", -1)
    ledger.renew("alive", 60)
    assert not ledger.claim(renewed, "second", 60)


def test_a_claim_that_ends_in_ten_years_is_nobodys(ledger) -> None:
    key, later = request(1).key, time.time() + 10 * 365 * 86400
    for expires in (later, time.monotonic() + 2 * LONGEST_LEASE):
        with ledger.transaction() as connection:
            claim = "INSERT OR REPLACE INTO claims VALUES (?, 'gone', ?)"
            connection.execute(claim, (key, expires))
        assert ledger.claimed_keys([key]) == set()
        assert ledger.claim(key, "second", 60)
        assert ledger.claimed_keys([key]) == {key}


def test_a_lease_is_never_longer_than_it_may_be(ledger) -> None:
    key = request(1).key
    assert ledger.claim(key, "first", 10**9)
    assert ledger.claimed_keys([key]) == {key}  # or others would ask as well
    ledger.renew("first", 10**9)
    assert not ledger.claim(key, "second", 60)


def test_nobody_claims_what_is_answered(ledger) -> None:
    store(ledger, 1)
    assert not ledger.claim(request(1).key, "somebody", 60)


def test_a_transaction_is_written_whole_or_not_at_all(ledger) -> None:
    def half() -> None:
        with ledger.transaction():
            store(ledger, 1)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert ledger.lookup([request(1).key]) == {}
    store(ledger, 2)  # and the next one works
    assert len(ledger.lookup([request(2).key])) == 1


def test_stats(ledger) -> None:
    store(ledger, 1)
    store(ledger, 2)
    store(ledger, 3, "", status="truncated", completion_tokens=None)
    assert ledger.holdings() == [("m-1", "ok", 2, 24, 6), ("m-1", "truncated", 1, 12, 0)]
    assert ledger.attempts() == {}


def test_threads_share_an_open_ledger(ledger) -> None:
    def work(first: int) -> None:
        for number in range(first, first + 50):
            store(ledger, number)

    threads = [threading.Thread(target=work, args=(n * 40,)) for n in range(4)]  # they overlap
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(holding[2] for holding in ledger.holdings()) == 170


def refusal(path: Path) -> str:
    """Opening must fail and change nothing, neither the file nor its folder."""

    def files() -> list[Path]:
        return sorted(path.parent.glob("*[!g]"))  # all but the empty `-opening`

    before, beside = path.read_bytes(), files()
    with pytest.raises(BadInput) as caught:
        Ledger(path)
    assert path.read_bytes() == before
    assert files() == beside
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_file_that_is_no_database_is_refused(tmp_path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_text("dear diary\n" * 100, encoding="utf-8")
    assert "not an SQLite database" in refusal(path)


def test_another_programs_database_is_refused(tmp_path) -> None:
    path = tmp_path / "ledger.sqlite"
    for identity in (0, 42):
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE IF NOT EXISTS notes (words TEXT)")
        connection.execute(f"PRAGMA application_id = {identity}")
        connection.commit()
        connection.close()
        assert "another program's database" in refusal(path)


def test_a_newer_ledger_is_refused(tmp_path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert "update Metassay" in refusal(path)


def test_another_programs_database_with_a_log_is_refused(tmp_path) -> None:
    path = tmp_path / "notes.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE notes (words TEXT)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(BadInput, match="another program's database"):
        Ledger(path)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_ledger(tmp_path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.touch()
    with Ledger(path) as ledger:
        store(ledger, 1)
    with Ledger(path) as ledger:
        assert len(ledger.lookup([request(1).key])) == 1


def test_a_ledger_in_use_can_be_opened_again(ledger) -> None:
    store(ledger, 1)
    with Ledger(ledger.path) as second:
        assert len(second.lookup([request(1).key])) == 1


def test_a_path_that_is_a_folder_is_bad_input(tmp_path) -> None:
    with pytest.raises(BadInput, match="name a file in it"):
        Ledger(tmp_path)  # a folder is not a file


def test_many_may_make_the_same_ledger_at_once(tmp_path) -> None:
    for attempt in range(60):
        path = tmp_path / f"{attempt}.sqlite"
        together = threading.Barrier(8)

        def work(path: Path = path, together: threading.Barrier = together) -> int:
            together.wait()
            with Ledger(path) as ledger:
                return len(ledger.lookup(["none"]))

        with ThreadPoolExecutor(8) as pool:
            assert [one.result() for one in [pool.submit(work) for _ in range(8)]] == [0] * 8
