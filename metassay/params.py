"""Strict typed view of the params files: an unknown key or name, or a wrong type, is an error.

params.yaml holds what benchmarks share by name, benchmarks/<name>/params.yaml what makes one
benchmark. A block with a `kind` (a judge, a metric, ...) is checked against the options class of
that kind by `metassay.kinds.choose`, so that this file imports none of them.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from metassay import strict_yaml
from metassay.errors import BadInput
from metassay.options import BENCHMARKS, CHEAP, GIVEN, PARAMS, Block, Criterion, Options, parse

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")  # a dot would part a key of DVC


class Benchmark(Options):
    """A dataset and what it is put through: the whole of benchmarks/<name>/params.yaml.

    A list names blocks of the root's params.yaml, and each name is a stage of its own but for
    `metrics`, which are measured in one. An empty list means that there is no such stage.
    """

    name: str  # that of the folder
    dataset: str  # a name in data/registry.yaml
    raw: str  # the folder of its raw files
    criteria: dict[str, Criterion]  # what its raters judged; {} where nobody did
    systems: list[str]  # what writes texts from the sources alone
    few_shot: dict[str, str]  # what is shown examples: system -> the folder of their raw files
    segmentation: str
    decompositions: list[str]  # one name; none if released_claims has it
    released_claims: dict[str, str]  # decomposition -> the folder of the claims that it reads
    alignment: str
    questions: list[str]
    judges: list[str]
    metrics: list[str]
    costly_metrics: list[str]
    published: list[str]  # tables in reports/published/ that the report compares with

    @property
    def writers(self) -> list[str]:
        """Every system that writes texts for this benchmark."""
        return [*self.systems, *self.few_shot]

    @property
    def decomposition(self) -> str:
        """The one decomposition, whether it reads released claims or not."""
        return [*self.decompositions, *self.released_claims][0]


class MaxCost(Options):
    """What all runs of a project together may cost at most, in the currency of models' prices."""

    amount: Annotated[float, Field(ge=0)]
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]


class Shared(Options):
    """The whole of the root's params.yaml: what benchmarks share by name."""

    segmentations: dict[str, Block]
    decompositions: dict[str, Block]
    alignments: dict[str, Block]
    questions: dict[str, Block]
    systems: dict[str, Block]
    judges: dict[str, Block]
    metrics: dict[str, Block]
    costly_metrics: dict[str, Block]
    endpoints: dict[str, Block]  # where language models answer
    models: dict[str, Block]
    max_cost: MaxCost | None
    aggregation: Block
    meta_evaluation: Block
    certification: Block


class Params(Shared):
    """What benchmarks share, and the benchmarks themselves by name."""

    benchmarks: dict[str, Benchmark]


def load(root: Path = Path()) -> Params:
    """Read and check the params files of a project; BadInput lists every problem at once."""
    problems: list[str] = []
    shared = None
    try:
        shared = parse(Shared, strict_yaml.load(root / PARAMS), where=str(PARAMS))
    except BadInput as error:
        problems += error.problems
    benchmarks: dict[str, Benchmark] = {}
    for file in sorted((root / BENCHMARKS).glob("*/params.yaml")):
        where = str(file.relative_to(root))
        try:
            benchmark = parse(Benchmark, strict_yaml.load(file), where=where)
        except BadInput as error:
            problems += error.problems
            continue
        benchmarks[file.parent.name] = benchmark
        problems += [f"{where} > {line}" for line in _inside(benchmark, file.parent.name)]
        if shared is not None:
            problems += [f"{where} > {line}" for line in _dangling(benchmark, shared)]
    if shared is not None:
        problems += [f"{PARAMS} > {line}" for line in _bad_names(shared)]
    if problems or shared is None:
        raise BadInput(problems)
    return Params(
        **{name: getattr(shared, name) for name in Shared.model_fields}, benchmarks=benchmarks
    )


def _inside(benchmark: Benchmark, folder: str) -> Iterator[str]:
    """What is wrong with one benchmark by itself."""
    if not _NAME.fullmatch(folder):
        yield f"name: {folder!r} is the folder's; use letters, digits, _ and - alone"
    if benchmark.name != folder:
        yield f"name: is {benchmark.name!r}, but the folder is {folder!r}; make them equal"
    chosen = [*benchmark.decompositions, *benchmark.released_claims]
    if len(chosen) != 1:
        yield (
            f"decompositions: {len(chosen)} are named here and under released_claims; name one in"
            " all (under released_claims if it reads released claims)"
        )
    for key in ("systems", "questions", "judges", "metrics", "costly_metrics"):
        named = getattr(benchmark, key)
        twice = sorted({name for name in named if named.count(name) > 1})
        yield from (f"{key}: {name!r} is named twice; name it once" for name in twice)
    for name in sorted(set(benchmark.systems) & set(benchmark.few_shot)):
        yield f"systems: {name!r} is under few_shot as well; name it in one of the two"
    if bool(benchmark.questions) != bool(benchmark.judges):
        empty, other = ("questions", "judges") if benchmark.judges else ("judges", "questions")
        yield f"{empty}: is empty, but {other} is not; name both or neither"


def _dangling(benchmark: Benchmark, shared: Shared) -> Iterator[str]:
    named = {
        "systems": [*benchmark.systems, *benchmark.few_shot],
        "segmentations": [benchmark.segmentation],
        "decompositions": [*benchmark.decompositions, *benchmark.released_claims],
        "alignments": [benchmark.alignment],
        **{k: getattr(benchmark, k) for k in ("questions", "judges", "metrics", "costly_metrics")},
    }
    for block, names in named.items():
        known: Mapping[str, Block] = getattr(shared, block)
        for name in names:
            if name not in known:
                yield f"{block}: {name!r} is not in {PARAMS} > {block}; known: {sorted(known)}"


def _bad_names(shared: Shared) -> Iterator[str]:
    """Names become names of files and of DVC's stages; some are taken."""
    taken = {"systems": [GIVEN, "reference"], "questions": [GIVEN], "judges": [GIVEN]}
    taken |= {"costly_metrics": [GIVEN, CHEAP]}
    for block in (
        "segmentations",
        "decompositions",
        "alignments",
        "systems",
        "judges",
        "questions",
        "metrics",
        "costly_metrics",
    ):
        for name in getattr(shared, block):
            if not _NAME.fullmatch(name):
                yield f"{block} > {name}: use letters, digits, _ and - alone"
            elif name in taken.get(block, ()):
                yield f"{block} > {name}: the name is taken; choose another"
