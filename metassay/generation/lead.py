"""The first passages, copied: the baseline that wins where sources begin with what matters."""

from collections.abc import Sequence

from pydantic import Field

from metassay.core.options import Options
from metassay.generation.by_rule import by_rule, copied
from metassay.generation.record import System


class LeadOptions(Options):
    """How many passages are copied."""

    passages: int = Field(ge=1)


def write(passages: Sequence[str], speakers: Sequence[str], options: LeadOptions) -> str:  # noqa: ARG001
    """Copy the first `options.passages` passages, each a line; nothing of an empty one."""
    return copied(passages, range(min(options.passages, len(passages))))


KIND = System(options=LeadOptions, write=by_rule("lead", write))
