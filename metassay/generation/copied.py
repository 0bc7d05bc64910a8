"""Passages, copied: the first ones, a baseline that wins where sources begin with what matters; or
the longest, which are the longest turns of a dialogue, as in ACI-BENCH (Yim 2023)."""

from collections.abc import Iterable, Sequence

from pydantic import Field

from metassay.core.options import Options
from metassay.generation.record import System, by_rule
from metassay.text.citations import parse
from metassay.text.sentences import sentences
from metassay.text.tokens import words


class CopyOptions(Options):
    """How many passages are copied."""

    passages: int = Field(ge=1)


def first(passages: Sequence[str], _: Sequence[str], options: CopyOptions) -> str:
    """Copy the first `options.passages` passages, each a line; nothing of an empty one."""
    return _copied(passages, range(min(options.passages, len(passages))))


def longest(passages: Sequence[str], _: Sequence[str], options: CopyOptions) -> str:
    """Copy the `options.passages` passages with the most words (first of equals), in order."""
    places = sorted(range(len(passages)), key=lambda at: (-len(words(passages[at])), at))
    return _copied(passages, sorted(places[: options.passages]))


def _copied(passages: Sequence[str], chosen: Iterable[int]) -> str:
    """The chosen passages, a line each, their own citations replaced by ` [n]` per sentence."""
    lines = []
    for at in chosen:
        passage = " ".join(passages[at].split())
        said = [parse(passage[start:end]).text for start, end in sentences(passage)]
        if said:
            lines.append(" ".join(f"{sentence} [{at}]" for sentence in said))
    return "\n".join(lines)


LEAD = System(options=CopyOptions, write=by_rule("lead", first))
LONGEST_TURN = System(options=CopyOptions, write=by_rule("longest_turn", longest))
