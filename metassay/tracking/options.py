"""The blocks `comparison` and `sentinel` of params.yaml, all of them optional."""

from typing import Annotated

from pydantic import Field

from metassay.core.options import PARAMS, Confidence, Draws, Options, Seed, parse
from metassay.core.params import Params


class ComparisonOptions(Options):
    """How two sides are compared: how sure a difference must be, and how it is tried.

    `confidence`: 1 less this is the chance that anything at all is called a difference where there
    is none; intervals have it, too, each by itself. `permutations`: so many signs of the documents'
    differences are drawn; all of them are tried where they are fewer. `documents`: so many of those
    behind a difference are listed.
    """

    confidence: Confidence = 0.95
    permutations: Annotated[Draws, Field(ge=100)] = 10_000
    seed: Seed = 20261121
    documents: Annotated[int, Field(ge=1, le=1000)] = 5


class SentinelOptions(Options):
    """The block `sentinel` of params.yaml; all of it may be left out.

    `max_cost`: what one fix or check of one judge may cost at most, in the currency of the prices
    of its models (a model without prices has no cap); it is no part of the run's max_cost.
    `false_alarm`: how often a check of a judge that did not change may raise the alarm.
    `max_failed`: of the anchors, the share without an answer from which on nothing can be said.
    """

    max_cost: Annotated[float, Field(ge=0, le=4_000_000)] = 1.0  # as of a run
    false_alarm: Annotated[float, Field(ge=0.0001, le=0.2)] = 0.02
    max_failed: Annotated[float, Field(ge=0, le=0.5)] = 0.1


def comparison_options(params: Params) -> ComparisonOptions:
    """The block `comparison` as params.yaml has it, checked."""
    return parse(ComparisonOptions, params.comparison, where=f"{PARAMS} > comparison")


def sentinel_options(params: Params) -> SentinelOptions:
    """The block `sentinel` as params.yaml has it, checked."""
    return parse(SentinelOptions, params.sentinel, where=f"{PARAMS} > sentinel")
