"""Log-probabilities from the wire to the reply, through the ledger and through a table."""

import json
import sqlite3
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.llm.client import replayer
from metassay.llm.ledger import FORM, Ledger, export, import_, responses
from metassay.llm.messages import TokenLogprobs, token_logprob
from metassay.tables.parquet import read, write
from metassay.tables.responses import RESPONSES
from tests.llm.batch_setup import asking, request
from tests.llm.scripted_server import Answer, completion, whole

# As OpenAI's reference has it: bytes may be null, top_logprobs fewer than were asked for.
CONTENT = [
    {
        "token": "yes",
        "logprob": -0.10536051565782628,
        "bytes": [121, 101, 115],
        "top_logprobs": [
            {"token": "yes", "logprob": -0.10536051565782628, "bytes": [121, 101, 115]},
            {"token": "no", "logprob": -2.3025850929940455, "bytes": None},
        ],
    },
    {"token": ".", "logprob": 0, "bytes": [46], "top_logprobs": []},
]
READ = (
    TokenLogprobs("yes", -0.105361, (("yes", -0.105361), ("no", -2.302585))),
    TokenLogprobs(".", 0.0, ()),
)
ASKED = request(1, logprobs=2)


def saying(text: str, logprobs: Any, **message: Any) -> Answer:
    """A completion with these log-probabilities; `message` are more members of its message."""
    body = completion(text)
    body["choices"][0]["logprobs"] = logprobs
    body["choices"][0]["message"] |= message
    return whole(json.dumps(body))


def of(*tokens: str) -> dict[str, Any]:
    return {"content": [{"token": one, "logprob": -0.5, "top_logprobs": []} for one in tokens]}


def test_they_come_with_the_answer_and_from_the_ledger_and_travel(server, ledger, tmp_path) -> None:
    server.script = lambda call: saying("yes.", {"content": CONTENT, "refusal": None})
    ask = asking(server, ledger)
    for _ in range(2):
        assert ask([ASKED])[0].logprobs == READ
    assert server.requests.total() == 1
    assert ask([request(1)])[0].logprobs is None  # nobody asked for them: another question
    table = tmp_path / "r.parquet"
    export(ledger, table)
    with Ledger(tmp_path / "other.sqlite") as other:
        assert tuple(import_(other, [table])) == (2, 2, 0, 0)
        assert replayer(other)([ASKED])[0].logprobs == READ
        assert tuple(import_(other, [table], replace=True)) == (2, 0, 2, 0)
        changed = read(RESPONSES, table)
        changed["logprobs"] = changed["logprobs"].str.replace("-0.105361", "-0.2")
        write(RESPONSES, changed, tmp_path / "changed.parquet")
        assert tuple(import_(other, [tmp_path / "changed.parquet"], replace=True)) == (2, 0, 1, 1)
        (reply,) = replayer(other)([ASKED])
        assert reply.logprobs is not None
        assert reply.logprobs[0].logprob == -0.2


@pytest.mark.parametrize(
    "given",
    [
        None,
        {"content": None},
        {"content": []},
        [],
        "none",
        {"content": [{"token": "yes"}]},
        {"content": [{"token": "yes", "logprob": "-0.1"}]},
        {"content": [{"token": "yes", "logprob": float("nan")}]},
        {"content": [{"token": "yes", "logprob": 0.7}]},
        {"content": [{"token": None, "logprob": -0.1}]},
        {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": [["no", -2.0]]}]},
        {"tokens": ["yes"], "token_logprobs": [-0.1], "top_logprobs": [{"no": -2.0}]},
    ],
    ids=lambda given: str(given)[:40],
)
def test_what_is_no_log_probability_costs_them_and_not_the_answer(
    server, ledger, given: Any
) -> None:
    server.script = lambda call: saying("yes", given)
    (reply,) = asking(server, ledger)([ASKED])
    assert (reply.status, reply.text, reply.logprobs) == ("ok", "yes", None)


def test_odd_numbers_and_tokens_are_kept_as_what_they_mean(server, ledger) -> None:
    top = [{"token": "no", "logprob": float("-inf")}, {"token": "\ud83d", "logprob": -3}]
    content = [
        {"token": "ye", "logprob": 1e-7, "top_logprobs": None},
        {"token": "s", "logprob": -1, "top_logprobs": top},
    ]
    server.script = lambda call: saying("yes", {"content": content})
    (reply,) = asking(server, ledger)([ASKED])
    assert reply.logprobs == (
        TokenLogprobs("ye", 0.0, ()),
        TokenLogprobs("s", -1.0, (("no", -9999.0), ("?", -3.0))),
    )


@pytest.mark.parametrize(
    ("text", "message", "tokens", "kept"),
    [
        # A block of thoughts that the message holds, too
        ("<think>no? 1: no</think>\n1: yes", {},
         ["<think>", "no? 1: no", "</think>", "\n", "1:", " yes", "<|im_end|>"],
         ["1:", " yes", "<|im_end|>"]),
        # Thoughts that the server took out of the message alone, as SGLang did
        ("1: yes", {"reasoning_content": "1: yes?"}, ["1: yes?", "</think>", "\n\n1", ": yes"],
         ["\n\n1", ": yes"]),
        # Thoughts that cannot be told from the answer: its characters are cut in parts
        ("caf\u00e9", {"reasoning": "hm"}, ["hm", "caf", "\ufffd", "\ufffd"], None),
        # The same without thoughts
        ("caf\u00e9", {}, ["caf", "\ufffd", "\ufffd"], ["caf", "\ufffd", "\ufffd"]),
        # An answer that ends within its thoughts
        ("<think>no", {}, ["<think>", "no"], None),
        ("", {"reasoning": "hm"}, ["hm"], None),
    ],
    ids=["block", "server", "parts", "parts alone", "cut", "empty"],
)  # fmt: skip
def test_thoughts_have_none(
    server, ledger, text: str, message: dict[str, str], tokens: list[str], kept: list[str] | None
) -> None:
    server.script = lambda call: saying(text, of(*tokens), **message)
    (reply,) = asking(server, ledger)([ASKED])
    found = None if reply.logprobs is None else [one.token for one in reply.logprobs]
    assert found == kept


def test_a_ledger_of_the_version_before_opens_and_keeps_its_answers(tmp_path) -> None:
    path, question = tmp_path / "ledger.sqlite", request(1)
    with sqlite3.connect(path) as connection:
        connection.executescript("".join(FORM.steps[:2]))
        connection.execute(f"PRAGMA application_id = {FORM.application_id}")
        connection.execute("PRAGMA user_version = 2")
        connection.execute(
            "INSERT INTO answers VALUES (?, 'openai', 'm-1', 'ok', 'stop', 5, 1, 0.1, 1.0, ?, ?)",
            (question.key, "yes", question.canonical),
        )
    connection.close()
    for _ in range(2):
        with Ledger(path) as ledger:
            (reply,) = replayer(ledger)([question])
            assert (reply.status, reply.text, reply.logprobs) == ("ok", "yes", None)


def test_a_table_without_any_is_as_the_version_before_wrote_it(server, ledger, tmp_path) -> None:
    asking(server, ledger)([request(1)])
    export(ledger, tmp_path / "r.parquet")
    there = pd.read_parquet(tmp_path / "r.parquet").columns.tolist()
    assert there == [name for name in RESPONSES.columns if name != "logprobs"]
    with Ledger(tmp_path / "other.sqlite") as other:
        assert import_(other, [tmp_path / "r.parquet"]).added == 1
        assert responses(other)["logprobs"].isna().all()


def test_what_cannot_be_read_is_not_imported(server, ledger, tmp_path) -> None:
    asking(server, ledger)([request(1)])
    frame = responses(ledger).assign(logprobs='[["yes", 0.5, []]]')
    write(RESPONSES, frame, tmp_path / "r.parquet")
    with (
        Ledger(tmp_path / "other.sqlite") as other,
        pytest.raises(BadInput, match="1 answers have log-probabilities that cannot be read"),
    ):
        import_(other, [tmp_path / "r.parquet"])


def test_what_rounds_to_zero_has_no_sign() -> None:
    assert [str(token_logprob("a", value)[1]) for value in (-1e-9, 0.0, 1e-9)] == ["0.0"] * 3
