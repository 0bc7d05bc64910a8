"""The judges inside a jury or a cascade: blocks of params.yaml within a block."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from metassay.core.errors import BadInput, raise_problems
from metassay.core.kinds import Chosen, choose
from metassay.core.options import Block
from metassay.judges import JUDGES
from metassay.judges.protocol import Judgment


def _no_name(member: object) -> object:
    if isinstance(member, str):
        said = "is a name; write the judge's own block in its place, with its kind"
        raise PydanticCustomError("name", said)
    return member


Member = Annotated[Block, BeforeValidator(_no_name)]  # DVC would not watch a block named elsewhere


def chosen_members(blocks: Mapping[str, Block]) -> dict[str, Chosen]:
    """What the blocks ask for, by name; BadInput lists what is wrong with any, at any depth."""
    chosen: dict[str, Chosen] = {}
    problems: list[str] = []
    for name, block in blocks.items():
        where, inside = f"members > {name}", ""
        try:
            chosen[name] = choose(JUDGES, block, where=where)
            inside = f"{where} > "
            chosen[name].record.members(chosen[name].options)
        except BadInput as error:
            problems += [f"{inside}{problem}" for problem in error.problems]
    raise_problems(problems)
    return chosen


def paid(judgments: Iterable[Judgment]) -> int | None:
    """The tokens of all that say how many; None if none does."""
    known = [one.tokens for one in judgments if one.tokens is not None]
    return sum(known) if known else None


def own_notes(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """What members have to say, by name."""
    return [f"{name}: {note}" for name, told in notes.items() for note in told]
