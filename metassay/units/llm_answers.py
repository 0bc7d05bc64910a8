"""What a language model answers about texts, one request per text: for claims and for facets."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from metassay.core.options import Options
from metassay.llm.endpoints import Length
from metassay.llm.messages import Ask
from metassay.llm.needs import PromptFile, Requests, Use
from metassay.llm.prompts import Kind, file_of
from metassay.llm.structured import (
    AGAIN_FILE,
    AGAIN_FILLED,
    Again,
    Answer,
    Group,
    ItemResult,
    RoundTally,
    ask_groups,
    first_requests,
)

Groups = Sequence[Group[Answer] | None]  # of one item each; None where there is nothing to ask


class LlmOptions(Options):
    """A chat model (a name in params.yaml > models) that reads texts.

    `rounds`: how often it is asked again. `max_tokens`: how long an answer may be; null for what is
    said of the model.
    """

    model: str
    rounds: int = Field(ge=0, le=20)
    max_tokens: Length | None = None


def answers(
    ask: Ask, groups: Groups, rounds: int
) -> tuple[list[ItemResult[Answer] | None], list[str]]:
    """One result per group, None where there is none; and what there is to say of the rounds."""
    asked = [group for group in groups if group is not None]
    results = [one for (one,) in ask_groups(ask, asked, rounds=rounds, again=Again())]
    tally = RoundTally(rounds)
    tally.add(results)
    left = iter(results)
    return [None if group is None else next(left) for group in groups], tally.notes


def requests(groups: Groups, rounds: int, length: float) -> Requests:
    """What is asked at first; `length`: tokens of an answer per token of the text."""
    asked = first_requests([group for group in groups if group is not None])
    return Requests(asked, [1 + rounds] * len(asked), length, Again().longest)


def use(options: LlmOptions) -> Use:
    """The model that is asked."""
    return Use(options.model, options.max_tokens)


def files(prompt: str, filled: Mapping[str, Kind]) -> tuple[PromptFile, ...]:
    """The prompts that are read: the block's own, and that for asking again."""
    return PromptFile(file_of(prompt), filled), PromptFile(AGAIN_FILE, AGAIN_FILLED)
