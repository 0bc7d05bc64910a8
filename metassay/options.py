"""Checked mappings: the base of every options class, and where a project's params files are."""

from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from metassay.errors import BadInput

Block = dict[str, Any]

PARAMS = Path("params.yaml")
BENCHMARKS = Path("benchmarks")
GIVEN = "given"  # the file of a fanned-out table that the dataset itself brings
CHEAP = "metrics"  # the file of measurements that all cheap metrics share


class Options(BaseModel):
    """Base of every options class: immutable, strictly typed, no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


AnyOptions = TypeVar("AnyOptions", bound=Options)


class Criterion(Options):
    """What raters judged: its scale's ends (both may be given), and which end is better."""

    low: float
    high: float
    better: Literal["higher", "lower"]
    scale: Literal["nominal", "ordinal", "interval", "count"] = "interval"


def parse(model: type[AnyOptions], block: object, *, where: str) -> AnyOptions:
    """Check one mapping against its options class; `where` leads every message."""
    try:
        return model.model_validate(block)
    except ValidationError as error:
        raise BadInput([_explain(where, e) for e in error.errors()]) from None


def printed(block: Block) -> str:
    """A named block as recipes print it: its kind, then its settings in order of their names."""
    settings = [f"{key}={block[key]}" for key in sorted(block) if key != "kind"]
    return ",".join([str(block["kind"]), *settings])


def _explain(where: str, error: Any) -> str:
    at = " > ".join(str(step) for step in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{where} > {at}: unknown key; remove it or correct its spelling"
    if error["type"] == "missing":
        return f"{where} > {at}: missing; add it"
    return f"{where} > {at}: {error['msg']}"
