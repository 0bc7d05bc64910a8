"""Checked mappings: the base of every options class, and where a project's params files are."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from metassay.core.errors import BadInput, meant
from metassay.core.naming import name_problem, words_problem

Block = dict[str, Any]

PARAMS = Path("params.yaml")
BENCHMARKS = Path("benchmarks")
GIVEN = "given"  # the file of a fanned-out table that the dataset itself brings
CHEAP = "metrics"  # the file of measurements that all cheap metrics share
JUDGED = "judged"  # the file of statement scores that judges gave, and what confounds them


class Options(BaseModel):
    """Base of every options class: immutable, strictly typed, no unknown keys, floats finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def without(problem_of: Callable[[Any], str | None]) -> AfterValidator:
    """What refuses values of which `problem_of` says what is wrong with them."""

    def checked(value: Any) -> Any:
        if problem := problem_of(value):
            raise ValueError(problem)
        return value

    return AfterValidator(checked)


Name = Annotated[str, without(name_problem)]  # where the name isn't a key of the params files
Words = Annotated[str, without(words_problem)]

Draws = Annotated[int, Field(ge=1, le=100_000)]  # each is held in memory
Seed = Annotated[int, Field(ge=0)]
# What is nearer to 0 or 1 asks for more systems and labels than integers hold.
Confidence = Annotated[float, Field(ge=0.1, le=0.9999)]
Share = Annotated[float, Field(ge=0.001, le=0.999)]

AnyOptions = TypeVar("AnyOptions", bound=Options)


class Criterion(Options):
    """What raters judged: its scale's ends (both may be given), and which end is better."""

    low: float
    high: float
    better: Literal["higher", "lower"]
    scale: Literal["nominal", "ordinal", "interval", "count"] = "interval"


SCALES: tuple[str, ...] = get_args(Criterion.model_fields["scale"].annotation)


class Design(Options):
    """Which documents and systems of a benchmark belong together, and what was planned.

    `strata`, `cluster`: attributes of the sources; documents of one stratum are held against each
    other alone, documents of one cluster (a patient, a topic) count as one; by `doc_id` each stands
    for itself. `families`: systems -> what they are versions of. `primary`: the metric that was
    named before anybody looked, by name or label; it is not adjusted for the others.
    """

    strata: str = ""
    cluster: str = ""
    families: dict[str, str] = Field(default_factory=dict)
    primary: str | None = None


def parse(model: type[AnyOptions], block: object, *, where: str) -> AnyOptions:
    """Check one mapping against its options class; `where` leads every message."""
    try:
        return model.model_validate(block)
    except ValidationError as error:
        raise BadInput([_explain(where, e, model) for e in error.errors()]) from None


def printed(block: Block) -> str:
    """A named block as recipes print it: its kind, then its settings in order of their names."""
    settings = [f"{key}={block[key]}" for key in sorted(block) if key != "kind"]
    return ",".join([str(block["kind"]), *settings])


def _explain(where: str, error: Any, model: type[BaseModel]) -> str:
    at = " > ".join([where, *map(str, error["loc"])])
    if error["type"] == "extra_forbidden":
        close = meant(str(error["loc"][-1]), model.model_fields) if len(error["loc"]) == 1 else ""
        return f"{at}: unknown key; remove it or correct its spelling{close}"
    if error["type"] == "missing":
        return f"{at}: missing; add it"
    if error["type"] in ("model_type", "dict_type"):
        return f"{at}: must be a mapping of keys to values"
    return f"{at}: {error['msg'].removeprefix('Value error, ')}"
