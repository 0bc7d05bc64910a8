"""Log-probabilities from the wire to the reply, through the ledger and through a table."""

import json
from typing import Any

import pandas as pd
import pytest

from metassay.llm.client import replayer
from metassay.llm.ledger import Ledger, export, import_, responses
from metassay.llm.messages import TokenLogprobs, token_logprob
from metassay.tables.parquet import read, write
from metassay.tables.responses import RESPONSES
from tests.llm.batch_setup import asking, request
from tests.llm.scripted_server import Answer, completion, whole

NAN = float("nan")


def entry(
    token: object, logprob: object, *top: tuple[object, object]
) -> dict[str, Any]:
    others = [{"token": other, "logprob": value, "bytes": None} for other, value in top]
    return {"token": token, "logprob": logprob, "bytes": [1], "top_logprobs": others}


# As OpenAI's reference has it: bytes may be null, top_logprobs fewer than were asked
# for.
YES, NO = -0.10536051565782628, -2.3025850929940455
CONTENT = [entry("yes", YES, ("yes", YES), ("no", NO)), entry(".", 0)]
READ = (
    TokenLogprobs("yes", -0.105361, (("yes", -0.105361), ("no", -2.302585))),
    TokenLogprobs(".", 0.0, ()),
)
QUESTION = request(1, logprobs=2)


def saying(text: str, logprobs: Any, **message: Any) -> Answer:
    """A completion with these log-probabilities; `message` are more members of its message."""
    body = completion(text)
    body["choices"][0]["logprobs"] = logprobs
    body["choices"][0]["message"] |= message
    return whole(json.dumps(body))


def test_they_come_with_the_answer_and_from_the_ledger_and_travel(
    server, ledger, tmp_path
) -> None:
    server.script = lambda call: saying("yes.", {"content": CONTENT, "refusal": None})
    ask = asking(server, ledger)
    for _ in range(2):
        assert ask([QUESTION])[0].logprobs == READ
    assert server.requests.total() == 1
    # nobody asked for them: another question
    assert ask([request(1)])[0].logprobs is None
    table = tmp_path / "r.parquet"
    export(ledger, table)
    with Ledger(tmp_path / "other.sqlite") as other:
        assert tuple(import_(other, [table])) == (2, 2, 0, 0)
        assert replayer(other)([QUESTION])[0].logprobs == READ
        assert tuple(import_(other, [table], replace=True)) == (2, 0, 2, 0)
        changed = read(RESPONSES, table)
        changed["logprobs"] = changed["logprobs"].str.replace("-0.105361", "-0.2")
        write(RESPONSES, changed, tmp_path / "changed.parquet")
        assert tuple(import_(other, [tmp_path / "changed.parquet"], replace=True)) == (
            2,
            0,
            1,
            1,
        )
        (reply,) = replayer(other)([QUESTION])
        assert reply.logprobs is not None
        assert reply.logprobs[0].logprob == -0.2


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {"content": None},
        {"content": []},
        [],
        "none",
        {"content": [{"token": "yes"}]},
        *({"content": [entry("yes", value)]} for value in ("-0.1", NAN, 0.7)),
        {"content": [entry(None, -0.1)]},
        {
            "content": [
                {"token": "yes", "logprob": -0.1, "top_logprobs": [["no", -2.0]]}
            ]
        },
        {"tokens": ["yes"], "token_logprobs": [-0.1], "top_logprobs": [{"no": -2.0}]},
    ],
    ids=lambda logprobs: str(logprobs)[:40],
)
def test_what_is_no_log_probability_costs_them_and_not_the_answer(
    server, ledger, logprobs: Any
) -> None:
    server.script = lambda call: saying("yes", logprobs)
    (reply,) = asking(server, ledger)([QUESTION])
    assert (reply.status, reply.text, reply.logprobs) == ("ok", "yes", None)


def test_odd_numbers_and_tokens_are_stored_as_what_they_mean(server, ledger) -> None:
    minus = float("-inf")
    content = [entry("ye", 1e-7), entry("s", -1, ("no", minus), ("\ud83d", -3))]
    content[0]["top_logprobs"] = None
    server.script = lambda call: saying("yes", {"content": content})
    (reply,) = asking(server, ledger)([QUESTION])
    assert reply.logprobs == (
        TokenLogprobs("ye", 0.0, ()),
        TokenLogprobs("s", -1.0, (("no", -9999.0), ("?", -3.0))),
    )
    # What rounds to zero has no sign.
    assert [str(token_logprob("a", value)[1]) for value in (-1e-9, 0.0, 1e-9)] == [
        "0.0"
    ] * 3


@pytest.mark.parametrize(
    ("text", "message", "tokens", "left"),
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
def test_thoughts_have_none(server, ledger, text, message, tokens, left) -> None:
    content = {"content": [entry(token, -0.5) for token in tokens]}
    server.script = lambda call: saying(text, content, **message)
    (reply,) = asking(server, ledger)([QUESTION])
    assert (reply.logprobs and [token.token for token in reply.logprobs]) == left
    assert reply.text == (
        None if text == "<think>no" else text.rpartition("</think>\n")[2]
    )
    stored = responses(ledger).set_index("key")["text"]
    assert stored[QUESTION.key] == text
    assert replayer(ledger)([QUESTION]) == [reply._replace(attempts=0)]


def test_a_table_without_any_is_as_the_version_before_wrote_it(
    server, ledger, tmp_path
) -> None:
    asking(server, ledger)([request(1)])
    export(ledger, tmp_path / "r.parquet")
    columns = pd.read_parquet(tmp_path / "r.parquet").columns.tolist()
    assert columns == [name for name in RESPONSES.columns if name != "logprobs"]
    with Ledger(tmp_path / "other.sqlite") as other:
        assert import_(other, [tmp_path / "r.parquet"]).added == 1
        assert responses(other)["logprobs"].isna().all()
