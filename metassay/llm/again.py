"""Asking again: what the model is told, when it is of no more use, and what it won.

The same question at temperature 0 has the same answer. So whoever asks again says what was wrong
with the form of the last answer: at the end of the user's message, since some models' templates
take no two messages of one role in a row, and an answer with its thoughts can be long.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Protocol

from metassay.llm.messages import ChatRequest
from metassay.llm.prompts import PROMPTS, Kind, file_of, load, render

# A round that wins none of so many wins less than 14 % with 95 % confidence: the next is not asked.
ENOUGH = 20

Fault = Literal["form", "numbers", "missing", "twice", "value", "truncated"]
FILLED: Mapping[str, Kind] = {"fault": "text", "attempt": "text"}
FILE = file_of("answer-again")

_NAMED = 10  # numbers that a fault names
_SAID: Mapping[Fault, str] = {
    "form": "it was not in the form that is asked for",
    "numbers": "it had numbers that nobody asked about",
    "missing": "it had no answer to number {}",
    "twice": "it had more than one answer to number {}",
    "value": "the answer to number {} was none that the form allows",
    "truncated": "it was too long and was cut off",
}


class Again:
    """How a question is asked again, in the words of prompts/answer-again.yaml."""

    def __init__(self, prompts: Path = PROMPTS) -> None:
        """BadInput if the prompt is not usable."""
        self._prompt = load(FILE.stem, prompts, filled=FILLED)

    def signature(self, rounds: int) -> str:
        """Rounds and wording as recipes print them."""
        said = [message.content for message in self._prompt.text] + [*_SAID.values()]
        digest = hashlib.sha256("\n".join(said).encode("utf-8")).hexdigest()[:8]
        return f"rounds:{rounds}" + (f"|again:{digest}" if rounds else "")

    def request(
        self, first: ChatRequest, faults: Mapping[int, Fault | None], turn: int
    ) -> ChatRequest:
        """The question for the round `turn`, with what was wrong of each number; none: unchanged.

        It has a key of its own, so that no ledger answers it with the same reply.
        """
        said = _faults(faults)
        if not said:
            return replace(first, repeat=turn)
        told = render(self._prompt, fault=said, attempt=turn + 1)[-1].content
        *before, last = first.messages
        longer = replace(last, content=f"{last.content}\n\n{told}")
        return replace(first, messages=(*before, longer), repeat=turn)

    @property
    def longest(self) -> int:
        """How many bytes a question gets longer by at most."""
        fault = "; ".join(_SAID.values()) + 3 * _NAMED * "10000, " + 3 * " and 10000 more"
        told = render(self._prompt, fault=fault, attempt=100)[-1].content
        return len(f"\n\n{told}".encode())


class Result(Protocol):
    """What came of one question, as `ask_groups` gives it."""

    @property
    def status(self) -> str:
        """The status `ok`, or why there is no answer."""

    @property
    def attempts(self) -> int:
        """How often it was asked."""

    @property
    def repaired(self) -> bool:
        """Whether the answer was not in just the form that was asked for."""


class Tally:
    """Counts what each round of asking won, and how many answers were repaired."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._asked: Counter[int] = Counter()  # questions, by round
        self._won: Counter[int] = Counter()
        self._repaired = self._given_up = 0

    def add(self, results: Iterable[Result]) -> None:
        """Count results of `ask_groups`."""
        for result in results:
            self._asked.update(range(result.attempts))
            self._won[result.attempts - 1] += result.status == "ok"
            self._repaired += result.repaired
            self._given_up += result.status == "unparsed" and result.attempts <= self._rounds

    @property
    def notes(self) -> list[str]:
        """What there is to say; nothing if every answer came at once, in just the form."""
        lines = []
        again = [turn for turn in self._asked if turn]
        if again:
            each = ", ".join(
                f"{'at first' if not turn else f'in round {turn}'} {self._won[turn]:,} of"
                f" {self._asked[turn]:,}"
                for turn in sorted(self._asked)
            )
            lines.append(f"questions that were answered: {each}")
        if self._given_up:
            lines.append(
                f"{self._given_up:,} questions were not asked again in every round, since a round"
                f" in which {ENOUGH} or more were asked again won none"
            )
        if self._repaired:
            lines.append(
                f"{self._repaired:,} of {self._won.total():,} answers were not in just the form"
                " that was asked for, and were read all the same (repaired)"
            )
        return lines


def _faults(faults: Mapping[int, Fault | None]) -> str:
    by_fault: dict[Fault, list[int]] = {}
    for number, fault in faults.items():
        if fault is not None:
            by_fault.setdefault(fault, []).append(number)
    return "; ".join(_SAID[fault].format(_listed(own)) for fault, own in by_fault.items())


def _listed(numbers: Sequence[int]) -> str:
    named = ", ".join(map(str, numbers[:_NAMED]))
    more = len(numbers) - _NAMED
    return f"{named} and {more} more" if more > 0 else named
