"""Questions without an answer: kept with their kind, shared with the answers, never one of them."""

import socket
import sqlite3

import pandas as pd

from metassay.llm.endpoints import can_ask
from metassay.llm.ledger import Failure, Ledger, export, import_, responses
from metassay.llm.messages import ChatRequest
from metassay.tables.parquet import read, write
from metassay.tables.responses import RESPONSES
from tests.llm.batch_setup import asking, endpoint, request, requests
from tests.llm.scripted_server import Answer, Call, failed, said

FIRST, SECOND = request(1), request(2)


def failure(question: ChatRequest, code: str = "http_500") -> Failure:
    return Failure(question.key, code, question.canonical)


def test_the_last_failure_of_a_question_is_kept(ledger) -> None:
    ledger.note_failures([failure(FIRST), failure(SECOND)])
    ledger.note_failures([failure(FIRST, "timeout")])
    assert ledger.failures([FIRST.key, "unknown"]) == {FIRST.key: failure(FIRST, "timeout")}
    assert set(ledger.failures()) == {FIRST.key, SECOND.key}
    ledger.note_failures([])
    assert ledger.failures([]) == {}


def test_more_questions_than_a_statement_can_name(ledger) -> None:
    questions = requests(1200)
    ledger.note_failures(map(failure, questions))
    assert len(ledger.failures([question.key for question in questions])) == 1200


def test_an_answer_ends_a_failure(server, ledger) -> None:
    ledger.note_failures([failure(FIRST)])
    server.script = lambda call: said("yes")
    (reply,) = asking(server, ledger)([FIRST])
    assert (reply.status, reply.attempts) == ("ok", 1)  # asked, whatever was noted
    assert ledger.failures([FIRST.key]) == ledger.failures() == {}
    assert responses(ledger)["status"].tolist() == ["ok"]


def test_a_table_has_both_and_gives_both_back(server, ledger, tmp_path) -> None:
    def faulty(call: Call) -> Answer:
        return failed(400) if "2" in call.prompt else said("yes")

    server.script = faulty
    replies = asking(server, ledger)([FIRST, SECOND])
    assert [reply.error for reply in replies] == [None, "http_400"]
    ledger.note_failures([failure(SECOND, "http_400")])
    table = tmp_path / "all.parquet"
    assert export(ledger, table) == 2
    row = read(RESPONSES, table).set_index("key").loc[SECOND.key]
    assert (row["status"], row["finish_reason"]) == ("error", "http_400")
    assert row["request"] == SECOND.canonical
    assert row[["text", "prompt_tokens", "completion_tokens"]].isna().all()

    with Ledger(tmp_path / "other.sqlite") as other:
        assert tuple(import_(other, [table])) == (2, 2, 0, 0)
        assert tuple(import_(other, [table])) == (2, 0, 2, 0)
        assert other.failures() == {SECOND.key: failure(SECOND, "http_400")}
        assert set(other.lookup([FIRST.key, SECOND.key])) == {FIRST.key}  # it is no answer
        again = tmp_path / "again.parquet"
        export(other, again)
        assert again.read_bytes() == table.read_bytes()


def test_an_import_keeps_the_known_failure_unless_told_otherwise_and_an_answer_always(
    server, ledger, tmp_path
) -> None:
    table = tmp_path / "theirs.parquet"
    with Ledger(tmp_path / "other.sqlite") as other:
        other.note_failures([failure(FIRST, "timeout"), failure(SECOND, "timeout")])
        export(other, table)
    ledger.note_failures([failure(FIRST)])
    server.script = lambda call: said("mine")
    asking(server, ledger)([SECOND])
    assert tuple(import_(ledger, [table])) == (2, 0, 1, 1)
    assert ledger.failures()[FIRST.key].code == "http_500"
    assert tuple(import_(ledger, [table], replace=True)) == (2, 0, 1, 1)
    assert ledger.failures()[FIRST.key].code == "timeout"
    assert ledger.lookup([SECOND.key])[SECOND.key].text == "mine"


def test_a_failure_of_no_known_kind_is_unknown(ledger, tmp_path) -> None:
    row = dict.fromkeys(RESPONSES.columns) | {"key": FIRST.key, "request": FIRST.canonical}
    frame = pd.DataFrame([row | {"status": "error"}])
    counts = {"prompt_tokens": "Int64", "completion_tokens": "Int64"}
    write(RESPONSES, frame.astype(counts), tmp_path / "r.parquet")
    import_(ledger, [tmp_path / "r.parquet"])
    assert ledger.failures()[FIRST.key].code == "unknown"


def test_a_ledger_from_before_failures_were_kept_is_brought_up_to_date(server, tmp_path) -> None:
    path = tmp_path / "ledger.sqlite"
    server.script = lambda call: said("yes")
    with Ledger(path) as ledger:
        asking(server, ledger)([FIRST])
    with sqlite3.connect(path) as connection:
        for later in ("failures", "logprobs", "tried", "batches", "batch_lines"):
            connection.execute(f"DROP TABLE {later}")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with Ledger(path) as ledger:
        ledger.note_failures([failure(SECOND)])
        assert responses(ledger)["status"].tolist() == ["ok", "error"]
    with Ledger(path) as ledger:
        assert set(ledger.failures()) == {SECOND.key}


def test_a_key_decides_who_can_ask_and_where_none_is_wanted_whether_anybody_listens(
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
        assert can_ask(endpoint(f"{nowhere}/v1", proxy=f"http://127.0.0.1:{server.port}"))
    assert not server.calls
