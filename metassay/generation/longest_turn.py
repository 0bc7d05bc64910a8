"""The longest passages, copied: for a dialogue, its longest turns, as in ACI-BENCH (Yim 2023)."""

from collections.abc import Sequence

from metassay.generation.record import CopyOptions, System, by_rule, copied
from metassay.text.tokens import words


def write(passages: Sequence[str], speakers: Sequence[str], options: CopyOptions) -> str:  # noqa: ARG001
    """Copy the `options.passages` passages with the most words (first of equals), in order."""
    longest = sorted(range(len(passages)), key=lambda at: (-len(words(passages[at])), at))
    return copied(passages, sorted(longest[: options.passages]))


KIND = System(options=CopyOptions, write=by_rule("longest_turn", write))
