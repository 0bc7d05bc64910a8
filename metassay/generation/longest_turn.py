"""The longest passages, copied: for a dialogue, its longest turns, as in ACI-BENCH (Yim 2023)."""

from collections.abc import Sequence

from pydantic import Field

from metassay.core.options import Options
from metassay.generation.by_rule import by_rule, copied
from metassay.generation.record import System
from metassay.text.tokens import words


class LongestTurnOptions(Options):
    """How many passages are copied."""

    passages: int = Field(ge=1)


def write(passages: Sequence[str], speakers: Sequence[str], options: LongestTurnOptions) -> str:  # noqa: ARG001
    """Copy the `options.passages` passages with the most words (first of equals), in order."""
    longest = sorted(range(len(passages)), key=lambda at: (-len(words(passages[at])), at))
    return copied(passages, sorted(longest[: options.passages]))


KIND = System(options=LongestTurnOptions, write=by_rule("longest_turn", write))
