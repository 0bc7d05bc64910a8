"""Judges out of params.yaml's blocks, with the judges inside them."""

from collections.abc import Callable

from metassay.core.kinds import Chosen
from metassay.judges.protocol import Judge
from metassay.llm.needs import Resources, members_of

Provide = Callable[[Chosen], Resources]


def make_judge(chosen: Chosen, provide: Provide) -> Judge:
    """The judge of a block; `provide` gives each kind what its record says that it needs."""
    members = [make_judge(member, provide) for member in members_of(chosen)]
    judge: Judge = chosen.record.make(chosen.options, provide(chosen), members)
    return judge


def instruments_of(chosen: Chosen) -> list[str]:
    """The instruments that a judge and all judges inside it can answer."""
    inside = [set(instruments_of(member)) for member in members_of(chosen)]
    return [name for name in chosen.record.instruments if all(name in some for some in inside)]
