"""What a metric family is: one frozen record per module of this folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from metassay.core.options import Options
from metassay.llm.needs import Needs
from metassay.metrics.describe import Description, Measured

# Of what is compared with source and reference, evidence is both, in this order.
Measure = Callable[[Sequence[str], Sequence[Any], Any], Mapping[str, Sequence[Measured]]]


@dataclass(frozen=True, kw_only=True)
class Metric(Needs):
    """One metric family that needs no judge: what a kind in params.yaml > metrics stands for.

    `measure(candidates, evidence, options)` gives, by metric name, one Measured per candidate;
    `evidence` holds at the same index what the candidate is compared with, as `against` says.
    `recipe(options)` states every setting that can change a value. A `costly` family is a stage of
    its own, named under params.yaml > costly_metrics; the others share one stage.
    """

    options: type[Options]
    measure: Measure
    recipe: Callable[[Any], str]
    against: Literal["reference", "source", "source and reference", "nothing"]
    descriptions: tuple[Description, ...]
    costly: bool = False
