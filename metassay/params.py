"""Strict typed view of params.yaml: an unknown key, a wrong type or a dangling name is an error.

A block with a `kind` (a judge, a metric, ...) is checked against the options class that its own
module declares; `options_of` takes those from the caller, so that this file imports none of them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from metassay.errors import BadInput

Block = dict[str, Any]


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


class Benchmark(Options):
    """A dataset with the named configurations that it is put through."""

    dataset: str  # a name in data/registry.yaml
    raw: str  # the folder of its raw files
    segmentation: str
    decomposition: str
    alignment: str
    pairing: str
    criteria: dict[str, Criterion]  # what its raters judged; {} where nobody did
    published: list[str]  # tables in reports/published/ that the report compares with
    claims: str  # the folder of released claims that its decomposition reads; else data/none.txt


class MaxCost(Options):
    """What all runs of a project together may cost at most, in the currency of models' prices."""

    amount: Annotated[float, Field(ge=0)]
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]


class Generating(Options):
    """One system writing for one benchmark."""

    benchmark: str
    system: str
    reads: str  # the folder of raw files that its few-shot examples are in; else data/none.txt


class Judging(Options):
    """One judge reading the pairs of one benchmark."""

    benchmark: str
    judge: str


class Measuring(Options):
    """One metric family measuring one benchmark."""

    benchmark: str
    metric: str


class Params(Options):
    """The whole of params.yaml."""

    fetching: list[str]
    benchmarks: dict[str, Benchmark]
    generating: dict[str, Generating]
    judging: dict[str, Judging]
    measuring: dict[str, Measuring]
    segmentations: dict[str, Block]
    decompositions: dict[str, Block]
    alignments: dict[str, Block]
    pairings: dict[str, Block]
    systems: dict[str, Block]
    judges: dict[str, Block]
    metrics: dict[str, Block]
    endpoints: dict[str, Block]  # where language models answer
    models: dict[str, Block]
    max_cost: MaxCost | None
    aggregation: Block
    meta_evaluation: Block


def load(path: Path = Path("params.yaml")) -> Params:
    """Read and check params.yaml; BadInput lists every problem at once."""
    params = parse(Params, _load_yaml(path), where=str(path))
    problems = _dangling(params, str(path))
    if problems:
        raise BadInput(problems)
    return params


def parse(model: type[AnyOptions], block: object, *, where: str) -> AnyOptions:
    """Check one mapping against its options class; `where` leads every message."""
    try:
        return model.model_validate(block)
    except ValidationError as error:
        raise BadInput([_explain(where, e) for e in error.errors()]) from None


def options_of(block: Block, kinds: Mapping[str, type[AnyOptions]], *, where: str) -> AnyOptions:
    """Check a block that names its `kind` against the options class of that kind."""
    kind = block.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise BadInput(f"{where} > kind: {kind!r} is not known; choose from {sorted(kinds)}")
    rest = {name: value for name, value in block.items() if name != "kind"}
    return parse(kinds[kind], rest, where=where)


def printed(block: Block) -> str:
    """A named block as recipes print it: its kind, then its settings in order of their names."""
    settings = [f"{key}={block[key]}" for key in sorted(block) if key != "kind"]
    return ",".join([str(block["kind"]), *settings])


def _load_yaml(path: Path) -> object:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{path} does not exist; run in the project's folder") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except yaml.YAMLError as error:
        raise BadInput(f"{path}: not readable as YAML: {error}") from None


def _explain(where: str, error: Any) -> str:
    at = " > ".join(str(step) for step in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{where} > {at}: unknown key; remove it or correct its spelling"
    if error["type"] == "missing":
        return f"{where} > {at}: missing; add it"
    return f"{where} > {at}: {error['msg']}"


def _dangling(params: Params, where: str) -> list[str]:
    problems = []

    def check(at: str, name: str, known: Mapping[str, object], block: str) -> None:
        if name not in known:
            problems.append(f"{where} > {at}: {name!r} is not in {block}; known: {sorted(known)}")

    for key, benchmark in params.benchmarks.items():
        for field in ("segmentation", "decomposition", "alignment", "pairing"):
            named = str(getattr(benchmark, field))
            known = getattr(params, f"{field}s")
            check(f"benchmarks > {key} > {field}", named, known, f"{field}s")
    for stage, entries, field, block, known in (
        ("generating", params.generating, "system", "systems", params.systems),
        ("judging", params.judging, "judge", "judges", params.judges),
        ("measuring", params.measuring, "metric", "metrics", params.metrics),
    ):
        for key, entry in entries.items():
            named = str(getattr(entry, field))
            check(f"{stage} > {key} > benchmark", entry.benchmark, params.benchmarks, "benchmarks")
            check(f"{stage} > {key} > {field}", named, known, block)
            if key != f"{entry.benchmark}-{named}":
                problems.append(f"{where} > {stage} > {key}: call it {entry.benchmark}-{named}")
    return problems
