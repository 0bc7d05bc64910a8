"""A language model that answers about one text at a time, as tests tell it to."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from metassay.llm.messages import ChatRequest, Reply
from metassay.llm.prompts import Decoding

DECODING = Decoding("invented-1", 0.0, 7, 500)


class FakeModel:
    """Answers each text of a request by `answer(text, repeat)`: an answer's field, or any reply."""

    def __init__(self, field: str, answer: Callable[[str, int], Any]) -> None:
        self.field, self.answer = field, answer
        self.seen: list[dict[str, Any]] = []
        self.requests: list[ChatRequest] = []

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.requests += requests
        return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> Reply:
        user = request.messages[-1].content
        (item,), _ = json.JSONDecoder().raw_decode(user, user.index("[{"))
        self.seen.append(item)
        answer = self.answer(item["text"], request.repeat)
        if answer in ("refused", "truncated", "error"):
            return Reply(request.key, answer, None, None, None, None, 1)
        if not isinstance(answer, str):
            answer = json.dumps({"items": [{"number": 1, self.field: answer}]})
        return Reply(request.key, "ok", answer, "stop", 9, 9, 1)


def unexpected(text: str, repeat: int) -> Any:
    raise AssertionError("nothing was to be asked")
