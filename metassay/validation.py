"""Everything that can be wrong with a project, in one go: params, registry, tables."""

import datetime
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from metassay.aggregation.leaderboard import LeaderboardOptions
from metassay.alignment import ALIGNMENTS
from metassay.datasets.readers import reader_problems
from metassay.datasets.registry import REGISTRY, Dataset, load_registry
from metassay.desk import cap_of
from metassay.errors import BadInput
from metassay.generation import SYSTEMS, check_reads
from metassay.judges import JUDGES
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.project import find_model
from metassay.llm.prompts import load as load_prompt
from metassay.meta_evaluation.options import MetaOptions
from metassay.metrics import DESCRIPTIONS, METRICS
from metassay.pairing.pairs import PairOptions
from metassay.params import Options, Params, load, options_of, parse
from metassay.parquet import read
from metassay.reporting.published import COMPARISONS
from metassay.tables import RESPONSES, TABLES
from metassay.units import SEGMENTATIONS
from metassay.units.decompositions import DECOMPOSITIONS, check_claims, decomposition_of

PARAMS = Path("params.yaml")
RAW = Path("data/raw")


def configuration_problems() -> list[str]:
    """One line for each problem of params.yaml and data/registry.yaml, each with its remedy."""
    problems: list[str] = []
    params = _collect(problems, lambda: load(PARAMS))
    registry = _collect(problems, lambda: load_registry(REGISTRY))
    if registry is not None:
        problems += reader_problems(registry)
    if params is not None:
        of_blocks = _blocks(params)
        problems += [*of_blocks, *_models(params), *_benchmarks(params)]
        if not of_blocks:
            problems += _watched(params)
    if params is not None and registry is not None:
        problems += _datasets(params, registry)
    return problems


def table_problems(tables: Path) -> list[str]:
    """One line for each problem of the tables that are there: `<tables>/<benchmark>/<table>`."""
    problems: list[str] = []
    for folder in sorted(path for path in tables.glob("*") if path.is_dir()):
        for path in sorted(folder.iterdir()):
            table = TABLES.get(path.stem)
            if table is None:
                problems.append(f"{path}: no table is called {path.stem!r}; remove it")
            else:
                # Two stages may have asked the same, so each file of responses stands for itself.
                each = path.glob("*.parquet") if table is RESPONSES else [path]
                for file in sorted(each):
                    _collect(problems, lambda t=table, f=file: read(t, f))  # type: ignore[misc]
    return problems


def _collect(problems: list[str], action: Callable[[], Any]) -> Any:
    try:
        return action()
    except BadInput as error:
        problems += error.problems
        return None


def _blocks(params: Params) -> list[str]:
    """Every named block against the options that its kind takes."""
    problems: list[str] = []
    kinds: Mapping[str, tuple[Mapping[str, Any], Mapping[str, type[Options]]]] = {
        "segmentations": (params.segmentations, SEGMENTATIONS),
        "decompositions": (params.decompositions, DECOMPOSITIONS),
        "alignments": (params.alignments, _options(ALIGNMENTS)),
        "systems": (params.systems, SYSTEMS),
        "judges": (params.judges, _options(JUDGES)),
        "metrics": (params.metrics, _options(METRICS)),
    }
    for name, (blocks, known) in kinds.items():
        for key, block in blocks.items():
            where = f"{PARAMS} > {name} > {key}"
            _collect(problems, lambda b=block, k=known, w=where: options_of(b, k, where=w))  # type: ignore[misc]
    for name, block in params.pairings.items():
        where = f"{PARAMS} > pairings > {name}"
        _collect(problems, lambda b=block, w=where: parse(PairOptions, b, where=w))  # type: ignore[misc]
    singles: Iterable[tuple[str, Any, type[Options]]] = (
        ("aggregation", params.aggregation, LeaderboardOptions),
        ("meta_evaluation", params.meta_evaluation, MetaOptions),
    )
    for name, block, model in singles:
        _collect(problems, lambda m=model, b=block, n=name: parse(m, b, where=f"{PARAMS} > {n}"))  # type: ignore[misc]
    compared = params.meta_evaluation.get("compared")
    problems += [
        f"{PARAMS} > meta_evaluation > compared: no metric is called {metric!r}; docs/metrics.md"
        " has their names"
        for metric in (compared if isinstance(compared, list) else [])
        if metric not in DESCRIPTIONS
    ]
    return problems


def _options(index: Mapping[str, Any]) -> dict[str, type[Options]]:
    return {kind: entry.options for kind, entry in index.items()}


def _models(params: Params) -> list[str]:
    """Endpoints, models, and the systems and decompositions that ask them."""
    problems = [
        f"{PARAMS} > models > {name} > prices > date: put it in quotes, DVC reads no other dates"
        for name, block in params.models.items()
        if isinstance(block.get("prices"), dict)
        and isinstance(block["prices"].get("date"), datetime.date)
    ]
    models = _collect(problems, lambda: parse_models(params.endpoints, params.models))
    if models is None:
        return problems
    for name, model in models.models.items():
        where = f"{PARAMS} > models > {name}"
        _collect(problems, lambda m=model, w=where: cap_of(params, m, w))  # type: ignore[misc]
    asking = {"chat": ("systems", params.systems), "llm": ("decompositions", params.decompositions)}
    for kind, (group, blocks) in asking.items():
        for key, block in blocks.items():
            if block.get("kind") == kind:
                problems += [
                    f"{PARAMS} > {group} > {key}: {problem}" for problem in _asked(block, models)
                ]
    return problems


def _asked(block: Mapping[str, Any], models: Models) -> list[str]:
    """What is wrong with the model and the prompts that a block names."""
    problems: list[str] = []
    _collect(problems, lambda: find_model(models, str(block.get("model"))))
    named = [block["prompt"]] if "prompt" in block else list(block.get("prompts", {}).values())
    for name in named:
        _collect(problems, lambda n=name: load_prompt(str(n)))  # type: ignore[misc]
    return problems


def _benchmarks(params: Params) -> list[str]:
    problems = []
    for name, benchmark in params.benchmarks.items():
        at = f"{PARAMS} > benchmarks > {name}"
        if name not in {entry.benchmark for entry in params.measuring.values()}:
            problems.append(f"{at}: no metric measures it; add {name}-<metric> to measuring")
        if name not in {entry.benchmark for entry in params.judging.values()}:
            problems.append(f"{at}: no judge reads it; add {name}-<judge> to judging")
        problems += [
            f"{at} > published: {table!r} is not known; choose from {', '.join(COMPARISONS)}"
            for table in benchmark.published
            if table not in COMPARISONS
        ]
        problems += [
            f"{at} > criteria > {criterion}: low must be below high"
            for criterion, scale in benchmark.criteria.items()
            if scale.low >= scale.high
        ]
    return problems


def _watched(params: Params) -> list[str]:
    """Raw folders that a stage reads and DVC does not watch."""
    problems: list[str] = []
    for key, entry in params.generating.items():
        where = f"{PARAMS} > systems > {entry.system}"
        options = options_of(params.systems[entry.system], SYSTEMS, where=where)
        at = f"{PARAMS} > generating > {key}"
        reads = Path(entry.reads)
        _collect(problems, lambda o=options, r=reads, w=at: check_reads(o, r, RAW, where=w))  # type: ignore[misc]
    for name, benchmark in params.benchmarks.items():
        chosen = decomposition_of(params, benchmark.decomposition)
        at = f"{PARAMS} > benchmarks > {name}"
        claims = Path(benchmark.claims)
        _collect(problems, lambda o=chosen, c=claims, w=at: check_claims(o, c, RAW, where=w))  # type: ignore[misc]
    return problems


def _datasets(params: Params, registry: Mapping[str, Dataset]) -> list[str]:
    known = ", ".join(registry)
    problems = [
        f"{PARAMS} > fetching: {name!r} is not in {REGISTRY}; known: {known}"
        for name in params.fetching
        if name not in registry
    ]
    for name, benchmark in params.benchmarks.items():
        at = f"{PARAMS} > benchmarks > {name}"
        dataset = registry.get(benchmark.dataset)
        if dataset is None:
            problems.append(
                f"{at} > dataset: {benchmark.dataset!r} is not in {REGISTRY}; known: {known}"
            )
        elif dataset.reader is None:
            problems.append(f"{at} > dataset: {benchmark.dataset!r} has no reader; choose another")
        elif dataset.files and benchmark.dataset not in params.fetching:
            problems.append(f"{at}: {benchmark.dataset!r} is fetched; add it to fetching")
        elif dataset.files and benchmark.raw != f"data/raw/{benchmark.dataset}":
            problems.append(f"{at} > raw: fetched data lie in data/raw/{benchmark.dataset}")
        elif not dataset.files and not Path(benchmark.raw).is_dir():
            problems.append(f"{at} > raw: the folder {benchmark.raw} does not exist")
    return problems
