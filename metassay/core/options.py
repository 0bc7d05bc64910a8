"""Checked mappings: the base of all options classes, and the places of params files."""

import importlib.util
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from metassay.core.errors import BadInput, hint, shown
from metassay.core.naming import name_problem, words_problem

Block = dict[str, Any]

PARAMS = Path("params.yaml")
BENCHMARKS = Path("benchmarks")
MODELS = "data/models"  # trained by tuning
FROM_DATASET = "given"  # the file of a fanned-out table that comes from the dataset
CHEAP = "metrics"  # the file of measurements that all cheap metrics share
JUDGED = "judged"  # the file of statement scores by judges, and of their confounds


class Options(BaseModel):
    """Base of every options class: immutable, strictly typed, no unknown keys, floats finite."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False
    )

    @property
    def packages(self) -> Mapping[str, str]:
        """Packages beside those of the project that are imported, each with how to install it."""
        return {}


def missing_packages(value: object) -> dict[str, str]:
    """Return the packages that options, and options inside them, lack, as `Options.packages`.

    Nothing is imported: whether a package works is seen when it is used.
    """
    if isinstance(value, Mapping):
        members = list(value.values())
    elif isinstance(value, Options):
        members = [getattr(value, name) for name in type(value).model_fields]
    else:
        members = list(value) if isinstance(value, list | tuple) else []
    missing: dict[str, str] = {}
    if isinstance(value, Options):
        for package, remedy in value.packages.items():
            if importlib.util.find_spec(package) is None:
                missing[package] = remedy
    for member in members:
        missing |= missing_packages(member)
    return missing


def refuse(problem_of: Callable[[Any], str | None]) -> AfterValidator:
    """Make a validator that rejects values for which `problem_of` returns a problem."""

    def check(value: Any) -> Any:
        if problem := problem_of(value):
            raise ValueError(problem)
        return value

    return AfterValidator(check)


# for names that are not keys of the params files
Name = Annotated[str, refuse(name_problem)]
Words = Annotated[str, refuse(words_problem)]

Draws = Annotated[int, Field(ge=1, le=100_000)]  # all are in memory
Seed = Annotated[int, Field(ge=0)]
# Nearer to 0 or 1, numbers of systems and labels overflow.
Confidence = Annotated[float, Field(ge=0.1, le=0.9999)]
Share = Annotated[float, Field(ge=0.001, le=0.999)]

AnyOptions = TypeVar("AnyOptions", bound=Options)


class Criterion(Options):
    """A criterion of raters: the ends of its scale (both are valid ratings), and the better end."""

    low: float
    high: float
    better: Literal["higher", "lower"]
    scale: Literal["nominal", "ordinal", "interval", "count"] = "interval"


SCALES: tuple[str, ...] = get_args(Criterion.model_fields["scale"].annotation)


class Design(Options):
    """Which documents and systems of a benchmark belong together, and what was chosen how.

    `strata`, `cluster`: attributes of the sources. Documents are compared only within a
    stratum; documents of a cluster (a patient, a topic) are correlated; with `doc_id`
    each document is a cluster. `families`: system -> family (versions of a system).
    `primary`: the metric, by name or label, that was chosen before anybody saw the
    data; it is not adjusted for the others. `primary_criterion`: the same of criteria.
    `tried`: each metric is the best of so many that were tried on the ratings
    elsewhere. `fitted`: metrics that were fitted on the ratings; they get no verdict.
    """

    strata: str = ""
    cluster: str = ""
    families: dict[str, str] = Field(default_factory=dict)
    primary: str | None = None
    primary_criterion: str | None = None
    tried: int = Field(default=1, ge=1)
    fitted: list[str] = Field(default_factory=list)

    @property
    def choices(self) -> dict[str, Any]:
        """How metrics and criteria were chosen, by the names of MetaOptions."""
        names = "primary", "primary_criterion", "tried", "fitted"
        return {name: getattr(self, name) for name in names}


class OptionFault(NamedTuple):
    """What is wrong with an option: its keys, the outermost first, and a sentence with a remedy."""

    keys: tuple[str, ...]
    text: str

    def line(self, *where: str) -> str:
        """Return the message for a file: `params.yaml > design > primary: ...`."""
        return f"{' > '.join((*where, *self.keys))}: {self.text}"


def find_contradictions(
    primary: str | None, tried: int, fitted: Collection[str]
) -> Iterator[OptionFault]:
    """Yield a fault for each two choices that cannot both be true."""
    if primary is None:
        return
    if tried > 1:
        yield OptionFault(
            ("primary",),
            f"{shown(primary)} was named before anybody saw results, and tried"
            f" {tried} says that it is the best of {tried}; remove one of the two",
        )
    if primary in fitted:
        yield OptionFault(
            ("primary",),
            f"{shown(primary)} is named by fitted, too, and a metric that was fitted"
            " on these ratings has no verdict; remove one of the two",
        )


def find_option_faults(model: type[BaseModel], block: object) -> list[OptionFault]:
    """Return what is wrong with a mapping by its options class."""
    try:
        model.model_validate(block)
    except ValidationError as error:
        return [_explain(e, model) for e in error.errors()]
    return []


def parse(model: type[AnyOptions], block: object, *, where: str) -> AnyOptions:
    """Check a mapping against its options class; `where` starts every message."""
    try:
        return model.model_validate(block)
    except ValidationError as error:
        faults = [_explain(e, model) for e in error.errors()]
    raise BadInput(fault.line(where) for fault in faults)


def recipe_text(block: Block) -> str:
    """Format a named block for recipes: its kind, then its settings sorted by name."""
    settings = [f"{key}={block[key]}" for key in sorted(block) if key != "kind"]
    return ",".join([str(block["kind"]), *settings])


def _explain(error: Any, model: type[BaseModel]) -> OptionFault:
    keys = tuple(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        close = hint(keys[-1], model.model_fields if len(keys) == 1 else ())
        text = f"unknown key; remove it or correct its spelling{close}"
    elif error["type"] == "missing":
        text = "missing; add it"
    elif error["type"] in ("model_type", "dict_type"):
        text = "must be a mapping of keys to values"
    else:  # a sentence of pydantic
        text = error["msg"].removeprefix("Value error, ")
        text = text.replace("Input should be", "must be")
    return OptionFault(keys, text)
