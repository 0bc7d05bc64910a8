"""Damaged answers over HTTP: each costs its own question alone, and no more than was reserved."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from metassay.llm.budget import bound_request_tokens, spending
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import fuzz, handled
from tests.llm.batch_setup import PRICES, asking, request
from tests.llm.scripted_server import Answer, Call, ScriptedServer, completion, whole

STATUSES = {"ok", "refused", "truncated", "error"}
POLICY = Policy(attempts=2, first_wait=0.001, longest_wait=0.01, lease=1.0)
MOST = (
    bound_request_tokens(request(99)) * PRICES.input_per_million
    + request(99).max_tokens * PRICES.output_per_million
) / 1e6
SOUND = completion("a sound answer")


def check(odd: list[Answer]) -> None:
    """Each odd answer stands between two sound ones; then everything is asked again, soundly."""
    requests = [request(number) for number in range(10, 11 + 2 * len(odd))]
    answers = {
        f"Question {11 + 2 * index}?": answer for index, answer in enumerate(odd)
    }

    def script(call: Call) -> Answer:
        return answers.get(call.prompt.rpartition("\n")[2], whole(completion("sound")))

    with (
        tempfile.TemporaryDirectory() as folder,
        ScriptedServer(script) as server,
        Ledger(Path(folder) / "ledger.sqlite") as ledger,
    ):
        ended = handled(
            lambda: asking(server.base_url, ledger, POLICY, max_cost=1.0)(requests)
        )
        assert not ended.problems
        replies = ended.value
        assert {reply.status for reply in replies} <= STATUSES
        assert [reply.text for reply in replies[::2]] == ["sound"] * (len(odd) + 1)
        account = spending(ledger, "study")
        assert account.at_most <= MOST * account.calls * (1 + 1e-9)
        for reply in replies:
            (reply.text or "").encode("utf-8")
        server.script = lambda call: whole(completion("again"))
        before = server.requests.total()
        again = asking(server.base_url, ledger, POLICY, max_cost=1.0)(requests)
        missing = sum(reply.status == "error" for reply in replies)
        assert server.requests.total() - before == missing
        stored = [reply.text for reply in replies if reply.status != "error"]
        assert [reply.text for reply in again if reply.text != "again"] == stored


def test_bytes_values_and_whole_responses() -> None:
    content, raw = json.dumps(SOUND).encode(), whole(SOUND).raw
    assert raw is not None
    ways: list[tuple[st.SearchStrategy[Any], Any]] = [
        (ACCIDENTS, lambda each: whole(damaged(content, each))),
        (CHANGES, lambda each: whole(json.dumps(changed(SOUND, each)))),
        (ACCIDENTS, lambda each: Answer(raw=damaged(raw, each), fault="close")),
    ]
    for strategy, answer in ways:
        eight = st.lists(strategy, min_size=8, max_size=8)
        fuzz(lambda every, make=answer: check(list(map(make, every))), eight, few=True)
