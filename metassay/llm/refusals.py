"""Requests that a server refuses: the first with a new block stops, and so does a row of them.

A block is all that its requests have in common: the endpoint, the model, its parameters, and the
kinds of what is sent. Its first question goes alone, so that a parameter that a model does not take
costs one request. A server that refuses three questions in a row, all for the same reason, is taken
to refuse them all. A prompt that is too long for the model is its document's affair alone.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from metassay.llm.egress import Cleared
from metassay.llm.failures import Failure, note, noted
from metassay.llm.ledger import Ledger
from metassay.llm.messages import ChatRequest

if TYPE_CHECKING:
    from metassay.llm.http import Outcome

IN_A_ROW = 3


class Refusals:
    """What one batch of questions knows of its blocks, and of what was refused."""

    def __init__(
        self,
        ledger: Ledger,
        endpoint: Cleared,
        limit: str,
        requests: Mapping[str, ChatRequest],
        where: str,
    ) -> None:
        """Look up which blocks have answers; `where` names the model in params.yaml."""
        self._ledger = ledger
        self._endpoint = endpoint
        self._where = where
        self._requests = requests
        self._blocks = {key: _block(endpoint, limit, one) for key, one in requests.items()}
        self._untried = set(self._blocks.values()) - ledger.tried(set(self._blocks.values()))
        self._known = noted(ledger, requests)
        self._row: list[Failure] = []
        self._kind = ""

    def first_ones(self) -> list[list[str]]:
        """The questions of each block that has no answer."""
        found: dict[str, list[str]] = {block: [] for block in sorted(self._untried)}
        for key, block in self._blocks.items():
            if block in found:
                found[block].append(key)
        return list(found.values())

    def is_untried(self, key: str) -> bool:
        """Whether the block of a question has no answer yet."""
        return self._blocks[key] in self._untried

    def answered(self, key: str) -> None:
        """Note that a question has its answer."""
        self._row.clear()
        if self.is_untried(key):
            self._untried.discard(self._blocks[key])
            self._ledger.note_tried(self._blocks[key])

    def refused(self, key: str, outcome: "Outcome") -> str | None:
        """Note that a question is refused; why nothing more is to be asked, None if more is.

        Those that stop a run are noted in the ledger: should they be refused again although others
        are answered, they are no news.
        """
        status, said = outcome.code.removeprefix("http_"), outcome.said
        if self.is_untried(key):
            what = "the first question that is asked with it"
        else:
            known = self._known.get(key)
            if known is not None and known.code == outcome.code:
                return None
            if self._kind != f"{status} {outcome.kind}":
                self._row.clear()
            self._kind = f"{status} {outcome.kind}"
            self._row.append(Failure(key, outcome.code, self._requests[key].canonical))
            if len(self._row) < IN_A_ROW:
                return None
            note(self._ledger, self._row)
            what = f"{IN_A_ROW} questions in a row"
        name = self._where.rpartition(" > ")[2]
        return (
            f"{self._where}: endpoint {self._endpoint.name!r} ({self._endpoint.options.base_url})"
            f" refuses {what}, with HTTP {status}, and says {said}. `metassay probe {name}` asks"
            " one question and shows all that is sent and comes back. Correct the block, or its"
            " endpoint's, then run again"
        )


def _block(endpoint: Cleared, limit: str, request: ChatRequest) -> str:
    """Everything of a request but what it asks, as JSON."""
    options = endpoint.options
    form = "none" if request.schema is None else request.structured or options.structured
    return json.dumps(
        [
            *(options.kind, options.base_url, options.api_version, request.model, limit),
            *(request.temperature, request.seed is None, request.max_tokens, request.extra),
            *(form, request.logprobs),
        ],
        separators=(",", ":"),
    )
