"""What an LLM judge is asked, taken out of its requests, and replies in each style."""

import functools
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
REASONED = ("cot", "json_cot")


class QuestionSet(NamedTuple):
    """What all questions of a call rest on, and the questions."""

    material: Any
    items: list[dict[str, Any]]

    @property
    def numbers(self) -> list[int]:
        return [item["number"] for item in self.items]


def values_in(user: str) -> list[Any]:
    """The values in a judge's last message: each stands on a line of its own."""
    lines = user.split("\n")
    return [
        json.loads(line)
        for line in lines
        if line[:1] in ('"', "[", "{") or line == "null"
    ]


def asked_in(user: str) -> QuestionSet:
    """What a judge's last message asks."""
    return QuestionSet(*values_in(user))


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
    """Answers what a call asks by `answer(questions, repeat)`: a reply's text, or a status."""

    def __init__(self, answer: Callable[[Any, int], str], read: Any = asked_in) -> None:
        self.answer, self.read = answer, read
        self.requests: list[ChatRequest] = []
        self.rounds = 0

    @property
    def calls(self) -> list[tuple[Any, int]]:
        """What was asked, and in which round."""
        return [(self.read(r.messages[-1].content), r.repeat) for r in self.requests]

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.rounds += 1
        return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> Reply:
        assert request not in self.requests, "asked again with the same key"
        self.requests.append(request)
        answer: Any = self.answer(
            self.read(request.messages[-1].content), request.repeat
        )
        if answer in ("refused", "truncated", "error"):
            return Reply(request.key, answer, None, None, None, None, 1)
        return Reply(request.key, "ok", answer, "stop", 10, 5, 1)


def always(style: str = "json", **entry: Any) -> Callable[[QuestionSet, int], str]:
    """The same answer to every question, "so"; entailed unless told otherwise."""
    entry = {"reason": "so", "label": "entailed"} | entry
    return lambda questions, _: reply_of(
        style, [{"number": n} | entry for n in questions.numbers]
    )


def options(**changes: Any) -> LlmOptions:
    block = {
        "model": "invented",
        "style": "json",
        "per_call": "part",
        "shots": 0,
        "rounds": 1,
    }
    return parse(LlmOptions, block | changes, where="test")


def judge_of(ask: Any, **changes: Any) -> LlmJudge:
    return LlmJudge(options(**changes), ask, DECODING, prompts=PROMPTS)


def pair(hypothesis: str, instrument: str = "entailment", **changes: Any) -> Pair:
    settings = {
        "premise": "P",
        "part": "full",
        "author": "a",
        "context": None,
    } | changes
    place = [str(settings[name]) for name in ("premise", "context")]
    return Pair(
        "-".join([instrument, *place, hypothesis]),
        instrument,
        hypothesis=hypothesis,
        **settings,
    )


class _Line:
    """Hands requests on to whoever answers now."""

    ask: Any = None

    def __call__(self, requests: Sequence[ChatRequest]) -> Any:
        return self.ask(requests)


@functools.cache
def _judge(changes: str) -> tuple[_Line, LlmJudge]:
    line = _Line()
    return line, judge_of(line, **json.loads(changes))


def judged(pairs: Sequence[Pair], ask: Any, **changes: Any) -> list[Judgment]:
    """Judgments by a judge that many tests share: reading its prompts takes longest."""
    line, judge = _judge(json.dumps(changes, sort_keys=True))
    line.ask = ask
    return [judgment for judgment in judge.judge(pairs) if judgment is not None]


def cited(statement: str, passages: list[str]) -> list[Pair]:
    """What is asked about each citation of a statement, beside all of them together."""
    whole, pairs = "\n".join(passages), []
    for place, passage in enumerate(passages):
        rest = "\n".join(passages[:place] + passages[place + 1 :])
        pairs.append(
            pair(statement, "attribution_alone", premise=passage, context=whole)
        )
        if rest:
            pairs.append(
                pair(statement, "attribution_rest", premise=rest, context=whole)
            )
    return pairs
