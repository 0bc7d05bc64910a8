"""What an LLM judge is asked, taken out of its requests, and replies in each style."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core.options import parse
from metassay.judges.llm import LlmJudge, LlmOptions
from metassay.judges.protocol import Judgment, Pair
from metassay.llm.messages import ChatRequest, Reply
from metassay.llm.prompts import Decoding

PROMPTS = Path(__file__).parents[2] / "prompts"
DECODING = Decoding("invented-1", 0.0, 7, 500)
STYLES = ("plain", "json", "cot", "json_cot")


class Asked(NamedTuple):
    """What all questions of a call rest on, and the questions."""

    material: Any
    items: list[dict[str, Any]]

    @property
    def numbers(self) -> list[int]:
        return [item["number"] for item in self.items]


def asked_in(user: str) -> Asked:
    """The values in a judge's last message: each stands on a line of its own."""
    material, items = [
        json.loads(line)
        for line in user.split("\n")
        if line[:1] in ('"', "[", "{") or line == "null"
    ]
    return Asked(material, items)


def reply_of(style: str, entries: Sequence[dict[str, Any]]) -> str:
    """The reply in which a model answers so: `number`, `label` or `grade`, `passages`, `reason`."""
    if style in ("json", "json_cot"):
        leave = () if style == "json_cot" else ("reason",)
        items = [{n: v for n, v in e.items() if n not in leave} for e in entries]
        return json.dumps({"items": items})
    lines = []
    for entry in entries:
        value = entry.get("label", entry.get("grade"))
        if entry.get("passages"):
            value = f"{value} by {', '.join(map(str, entry['passages']))}"
        lines.append(f"{entry['number']}: {value}")
    if style == "cot":
        reasons = [f"{e['number']}: {e['reason']}" for e in entries]
        lines = [*reasons, "", "ANSWERS", *lines]
    return "\n".join(lines)


class FakeAsk:
    """Answers what a call asks by `answer(asked, repeat)`: a reply's text, or a status."""

    def __init__(self, answer: Callable[[Asked, int], str]) -> None:
        self.answer = answer
        self.requests: list[ChatRequest] = []
        self.calls: list[tuple[Asked, int]] = []
        self.rounds = 0

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.rounds += 1
        return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> Reply:
        assert request not in self.requests, "asked again with the same key"
        self.requests.append(request)
        asked = asked_in(request.messages[-1].content)
        self.calls.append((asked, request.repeat))
        said: Any = self.answer(asked, request.repeat)
        if said in ("refused", "truncated", "error"):
            return Reply(request.key, said, None, None, None, None, 1)
        return Reply(request.key, "ok", said, "stop", 10, 5, 1)


def options(**changes: Any) -> LlmOptions:
    block = {"model": "invented", "style": "json", "per_call": "part", "shots": 0, "rounds": 1}
    return parse(LlmOptions, block | changes, where="test")


def judge_of(ask: FakeAsk, **changes: Any) -> LlmJudge:
    return LlmJudge(options(**changes), ask, DECODING, prompts=PROMPTS)


def pair(hypothesis: str, instrument: str = "entailment", **changes: Any) -> Pair:
    settings = {"premise": "P", "part": "full", "author": "a", "context": None} | changes
    place = [str(settings[name]) for name in ("premise", "context")]
    return Pair(
        "-".join([instrument, *place, hypothesis]), instrument, hypothesis=hypothesis, **settings
    )


def judged(pairs: Sequence[Pair], ask: FakeAsk, **changes: Any) -> list[Judgment]:
    found = judge_of(ask, **changes).judge(pairs)
    return [judgment for judgment in found if judgment is not None]


def cited(statement: str, passages: list[str]) -> list[Pair]:
    """What is asked about each citation of a statement, beside all of them together."""
    whole = "\n".join(passages)
    found = []
    for place, passage in enumerate(passages):
        rest = "\n".join(passages[:place] + passages[place + 1 :])
        found.append(pair(statement, "attribution_alone", premise=passage, context=whole))
        if rest:
            found.append(pair(statement, "attribution_rest", premise=rest, context=whole))
    return found
