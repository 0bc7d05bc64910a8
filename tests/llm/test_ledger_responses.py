"""Answers and failures as a table: it travels, replays without a request, and is checked."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.llm.client import replayer
from metassay.llm.ledger import RESPONSES, Failure, Ledger, export, import_, responses
from metassay.tables.parquet import read, write
from tests.llm.batch_setup import asking, request, requests
from tests.llm.scripted_server import (
    Answer,
    Call,
    answer_with,
    cut,
    failed,
    filtered,
    refused,
)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "other.sqlite") as opened:
        yield opened


def failure(number: int, code: str) -> Failure:
    return Failure(request(number).key, code, request(number).canonical)


def mixed(call: Call) -> Answer:
    number = int("".join(filter(str.isdigit, call.prompt)))
    kinds = (
        answer_with(f"answer {number}"),
        cut(f"ans {number}"),
        refused("no"),
        filtered(prompt=True),
    )
    return failed(400) if number == 9 else kinds[number % 4]


def test_a_table_travels_and_replays_without_a_request(
    server, ledger, other, tmp_path
) -> None:
    server.script = mixed
    replies = asking(server, ledger)(requests(10))
    assert (replies[9].status, replies[9].error) == ("error", "http_400")
    ledger.note_failures([failure(9, "http_400")])
    table, again = tmp_path / "out" / "responses.parquet", tmp_path / "again.parquet"
    assert export(ledger, table) == 10
    frame = read(RESPONSES, table).set_index("key")
    assert not {"latency", "answered", "created", "endpoint_kind"} & set(frame.columns)
    row = frame.loc[request(9).key]
    assert (row["status"], row["finish_reason"]) == ("error", "http_400")
    assert row["request"] == request(9).canonical
    assert row[["text", "prompt_tokens", "completion_tokens"]].isna().all()
    sent = server.requests.total()
    assert tuple(import_(other, [table])) == (10, 10, 0, 0)
    assert tuple(import_(other, [table])) == (10, 0, 10, 0)
    assert other.failures() == {request(9).key: failure(9, "http_400")}
    export(other, again)
    assert again.read_bytes() == table.read_bytes()
    # Nobody has the key, and nobody needs it.
    ask = asking(server, other, key_env="METASSAY_TEST_NO_SUCH_KEY")
    replayed = ask(requests(9))
    assert replayed == replayer(other)(requests(9))
    with pytest.raises(BadInput, match=r"1 of 2 answers .* METASSAY_TEST_NO_SUCH_KEY"):
        ask([request(1), request("new")])
    assert server.requests.total() == sent
    for before, after in zip(replies, replayed, strict=False):
        assert (before.attempts, after.attempts) == (1, 0)
        assert (before.key, before.status, before.text) == (
            after.key,
            after.status,
            after.text,
        )
    (lacking,) = replayer(other)([request("new")])
    assert (lacking.status, lacking.error, lacking.attempts) == (
        "error",
        "not_in_ledger",
        0,
    )


def test_what_is_not_there_is_not_exported(ledger, tmp_path) -> None:
    with pytest.raises(BadInput, match=f"1 of 1 answers .* {request(1).key}"):
        responses(ledger, [request(1).key])
    export(ledger, tmp_path / "r.parquet")
    assert read(RESPONSES, tmp_path / "r.parquet").empty


@pytest.mark.parametrize("replace", [False, True])
def test_an_import_keeps_what_is_there_unless_it_may_replace_it(
    server, ledger, other, tmp_path, replace: bool
) -> None:
    server.script = lambda call: answer_with("first")
    asking(server, ledger)([request(1), request(2)])
    ledger.note_failures([failure(4, "http_500")])
    server.script = lambda call: answer_with(
        "first" if "1" in call.prompt else "second"
    )
    asking(server.base_url, other)([request(number) for number in (1, 2, 3)])
    other.note_failures([failure(4, "timeout")])
    export(other, tmp_path / "folder" / "a.parquet")
    assert tuple(import_(ledger, [tmp_path / "folder"], replace=replace)) == (
        4,
        1,
        1,
        2,
    )
    texts = [reply.text for reply in replayer(ledger)([request(n) for n in (1, 2, 3)])]
    assert texts == ["first", "second" if replace else "first", "second"]
    assert ledger.failures()[request(4).key].code == (
        "timeout" if replace else "http_500"
    )
    # A failure never replaces an answer.
    with Ledger(tmp_path / "third.sqlite") as third:
        third.note_failures([failure(1, "timeout")])
        export(third, tmp_path / "failed.parquet")
    assert tuple(import_(ledger, [tmp_path / "failed.parquet"], replace=replace)) == (
        1,
        0,
        1,
        0,
    )
    assert replayer(ledger)([request(1)])[0].text == "first"


def test_a_table_that_was_changed_is_refused_and_nothing_is_imported(
    server, ledger, other, tmp_path
) -> None:
    asking(server, ledger)(requests(12))
    good, changed = tmp_path / "good.parquet", tmp_path / "changed.parquet"
    frame = responses(ledger)
    write(RESPONSES, frame, good)
    frame.loc[0, "request"] = frame.loc[0, "request"].replace("Question", "Request")
    wrong = ["[]", "5", "{}", '{"kind":"chat","model":5}', "[" * 5000, "no JSON", ""]
    for at, text in enumerate(wrong, start=1):
        frame.loc[at, "request"] = text
        frame.loc[at, "key"] = hashlib.sha256(text.encode()).hexdigest()
    frame.loc[9, "prompt_tokens"] = -1
    frame.loc[10, "logprobs"] = json.dumps([["yes", 0.5, []]])
    write(RESPONSES, frame, changed)
    with pytest.raises(
        BadInput, match="8 requests do not belong to their key"
    ) as caught:
        import_(other, [good, changed])
    assert [
        problem.partition("parquet: ")[2][:12] for problem in caught.value.problems
    ] == [
        "8 requests d",
        "1 answers ha",
        "1 answers ha",
    ]
    assert "Request" not in str(caught.value)
    assert responses(other).empty


def test_rows_without_usage_or_a_known_code_come_back_as_unknown(
    ledger, tmp_path
) -> None:
    rows = [
        dict.fromkeys(RESPONSES.columns)
        | {
            "key": request(n).key,
            "request": request(n).canonical,
            "status": status,
            "text": text,
        }
        | {"finish_reason": reason}
        for n, status, text, reason in (
            (1, "ok", "yes", None),
            (2, "error", None, None),
            (3, "error", None, "[red]\0"),
        )
    ]
    counts = {"prompt_tokens": "Int64", "completion_tokens": "Int64"}
    write(RESPONSES, pd.DataFrame(rows).astype(counts), tmp_path / "r.parquet")
    import_(ledger, [tmp_path / "r.parquet"])
    (reply,) = replayer(ledger)([request(1)])
    assert (reply.text, reply.finish_reason, reply.prompt_tokens) == ("yes", None, None)
    assert {code for _, code, _ in ledger.failures().values()} == {"unknown"}
