"""How two sides are compared: the block `comparison` of params.yaml, all of it optional."""

from typing import Annotated

from pydantic import Field

from metassay.options import PARAMS, Confidence, Draws, Options, Seed, parse
from metassay.params import Params


class ComparisonOptions(Options):
    """How sure a difference must be, and how it is tried.

    `confidence`: 1 less this is the chance that anything at all is called a difference where there
    is none; intervals have it, too, each by itself. `permutations`: so many signs of the documents'
    differences are drawn; all of them are tried where they are fewer. `documents`: so many of those
    behind a difference are listed.
    """

    confidence: Confidence = 0.95
    permutations: Annotated[Draws, Field(ge=100)] = 10_000
    seed: Seed = 20261121
    documents: Annotated[int, Field(ge=1, le=1000)] = 5


def settings(params: Params) -> ComparisonOptions:
    """The block as params.yaml has it, checked."""
    return parse(ComparisonOptions, params.comparison, where=f"{PARAMS} > comparison")
