import hashlib
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.llm.client import asker, replayer
from metassay.llm.endpoints import clear
from metassay.llm.ledger import RESPONSES, Ledger, export, import_, responses
from metassay.tables.parquet import read, write
from tests.llm.batch_setup import asking, budget_of, endpoint, model, request, requests
from tests.llm.scripted_server import (
    Answer,
    Call,
    cut,
    filtered,
    refused,
    said,
)


def mixed(call: Call) -> Answer:
    number = int("".join(filter(str.isdigit, call.prompt)))
    kinds = (said(f"answer {number}"), cut(f"ans {number}"), refused("no"), filtered(prompt=True))
    return kinds[number % 4]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_table_travels_and_replays_without_a_request(server, ledger, tmp_path) -> None:
    server.script = mixed
    questions = requests(40)
    replies = asking(server, ledger)(questions)
    exported = tmp_path / "out" / "responses.parquet"
    assert export(ledger, exported) == 40
    sent = server.requests.total()
    with Ledger(tmp_path / "other.sqlite") as other:
        assert tuple(import_(other, [exported])) == (40, 40, 0, 0)
        again = tmp_path / "again.parquet"
        export(other, again)
        assert digest(again) == digest(exported)
        # Nobody has the key, and nobody needs it.
        options = endpoint(server.base_url, key_env="METASSAY_TEST_NO_SUCH_KEY")
        cleared = clear({"invented": "public"}, ["invented"], "here", options)
        ask = asker(cleared, model(), other, budget_of(other))
        replayed = ask(questions)
        assert replayed == replayer(other)(questions)
        with pytest.raises(BadInput, match=r"1 of 2 answers .* METASSAY_TEST_NO_SUCH_KEY"):
            ask([request(1), request("new")])
    assert server.requests.total() == sent
    for before, after in zip(replies, replayed, strict=True):
        assert (before.attempts, after.attempts) == (1, 0)
        assert (before.key, before.status, before.text) == (after.key, after.status, after.text)


def test_the_replayer_says_what_it_lacks(ledger) -> None:
    (reply,) = replayer(ledger)([request(1)])
    assert (reply.status, reply.error, reply.attempts) == ("error", "not_in_ledger", 0)


def test_the_table_holds_nothing_of_the_moment(server, ledger) -> None:
    asking(server, ledger)([request(1)])
    frame = responses(ledger)
    assert list(frame.columns) == list(RESPONSES.columns)
    assert not {"latency", "answered", "created", "endpoint_kind"} & set(frame.columns)


def test_an_export_of_what_is_not_there_is_refused(ledger) -> None:
    with pytest.raises(BadInput, match=f"1 of 1 answers .* {request(1).key}"):
        responses(ledger, [request(1).key])


def test_an_empty_ledger_exports_an_empty_table(ledger, tmp_path) -> None:
    export(ledger, tmp_path / "r.parquet")
    assert read(RESPONSES, tmp_path / "r.parquet").empty


def test_an_import_keeps_what_is_there_unless_told_otherwise(server, ledger, tmp_path) -> None:
    server.script = lambda call: said("mine")
    asking(server, ledger)([request(1), request(2)])
    with Ledger(tmp_path / "other.sqlite") as other:
        server.script = lambda call: said("mine" if "1" in call.prompt else "theirs")
        asking(server.base_url, other)([request(number) for number in (1, 2, 3)])
        export(other, tmp_path / "folder" / "a.parquet")
    assert tuple(import_(ledger, [tmp_path / "folder"])) == (3, 1, 1, 1)
    texts = [reply.text for reply in replayer(ledger)([request(n) for n in (1, 2, 3)])]
    assert texts == ["mine", "mine", "theirs"]
    assert tuple(import_(ledger, [tmp_path / "folder"], replace=True)) == (3, 0, 2, 1)
    assert replayer(ledger)([request(2)])[0].text == "theirs"


def test_a_changed_request_is_refused_and_nothing_is_imported(server, ledger, tmp_path) -> None:
    asking(server, ledger)(requests(5))
    frame = responses(ledger)
    good, changed = tmp_path / "good.parquet", tmp_path / "changed.parquet"
    write(RESPONSES, frame, good)
    frame.loc[3, "request"] = frame.loc[3, "request"].replace("Question", "Request")
    write(RESPONSES, frame, changed)
    with Ledger(tmp_path / "other.sqlite") as other:
        with pytest.raises(BadInput, match="1 requests do not belong to their key") as caught:
            import_(other, [good, changed])
        assert "Request" not in str(caught.value)
        assert responses(other).empty


def test_a_table_without_usage_comes_back_without(ledger, tmp_path) -> None:
    question = request(1)
    row = {
        "key": question.key,
        "request": question.canonical,
        "status": "ok",
        "finish_reason": None,
        "prompt_tokens": pd.NA,
        "completion_tokens": pd.NA,
        "text": "yes",
    }
    write(RESPONSES, pd.DataFrame([row]), tmp_path / "r.parquet")
    import_(ledger, [tmp_path / "r.parquet"])
    (reply,) = replayer(ledger)([question])
    assert (reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) == (None, None, None)
