"""Copy passages: the first ones, a strong baseline if sources begin with the main
points, or the longest ones, such as the longest turns of a dialogue in ACI-BENCH (Yim
2023).
"""

from collections.abc import Iterable, Sequence

from pydantic import Field

from metassay.core.options import Options
from metassay.generation.record import System, by_rule
from metassay.text.citations import parse
from metassay.text.sentences import sentences
from metassay.text.tokens import words

VERSION = 2  # raised by whoever changes results of this module's kinds


class CopyOptions(Options):
    """The number of passages to copy."""

    passages: int = Field(ge=1)


def copy_first(passages: Sequence[str], _: Sequence[str], options: CopyOptions) -> str:
    """Copy the first `options.passages` passages, one per line; empty ones are left out."""
    return _copy(passages, range(min(options.passages, len(passages))))


def copy_longest(
    passages: Sequence[str], _: Sequence[str], options: CopyOptions
) -> str:
    """Copy the `options.passages` passages with the most words, in order; ties go to the first."""
    places = sorted(range(len(passages)), key=lambda i: (-len(words(passages[i])), i))
    return _copy(passages, sorted(places[: options.passages]))


def _copy(passages: Sequence[str], places: Iterable[int]) -> str:
    """Copy passages, one per line, with ` [n]` after each sentence in place of citations."""
    lines = []
    for n in places:
        passage = " ".join(passages[n].split())
        texts = [parse(passage[start:end]).text for start, end in sentences(passage)]
        if texts:
            lines.append(" ".join(f"{text} [{n}]" for text in texts))
    return "\n".join(lines)


LEAD = System(options=CopyOptions, write=by_rule("lead", copy_first))
LONGEST_TURN = System(options=CopyOptions, write=by_rule("longest_turn", copy_longest))
