"""Everything that can be wrong with a project, in one go: params, registry, raw files, tables."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen, choose, is_path
from metassay.core.options import BENCHMARKS, PARAMS, Block, Options, parse
from metassay.core.params import Benchmark, Folder, Params, load
from metassay.datasets.readers import reader_problems
from metassay.datasets.registry import RAW, REGISTRY, Dataset, load_registry, misplaced
from metassay.generation import SYSTEMS
from metassay.judges import JUDGES
from metassay.judges.make import instruments_of
from metassay.judges.problems import example_problems
from metassay.labelled.types import chosen_test, segment_options
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.needs import FEW_SHOT, RELEASED_CLAIMS, folder_problems
from metassay.llm.session import cap_of, model_problems
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.metrics import METRICS
from metassay.project.raw_checks import unfit
from metassay.project.rubric_problems import rubric_problems
from metassay.reporting.published import COMPARISONS
from metassay.reporting.published_judges import JUDGE_COMPARISONS
from metassay.scoring.aggregation.leaderboard import LeaderboardOptions
from metassay.scoring.catalogue import descriptions, measured_twice
from metassay.scoring.pairing.questions import Questions, clashes, unanswerable
from metassay.tables.parquet import read
from metassay.tracking.options import ComparisonOptions, SentinelOptions
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.alignment import ALIGNMENTS

# Blocks of params.yaml whose entries name a kind, and the index of their kinds.
KINDS: Mapping[str, Mapping[str, str]] = {
    "segmentations": SEGMENTATIONS,
    "decompositions": DECOMPOSITIONS,
    "alignments": ALIGNMENTS,
    "systems": SYSTEMS,
    "judges": JUDGES,
    "metrics": METRICS,
    "costly_metrics": METRICS,
}


class _Named(NamedTuple):
    """One named block of params.yaml, and what it asks for."""

    block: str
    name: str
    chosen: Chosen


def configuration_problems() -> list[str]:
    """One line for each problem of the params files and the registry, each with its remedy."""
    problems: list[str] = []
    params = _collect(problems, load)
    registry = _collect(problems, lambda: load_registry(REGISTRY))
    if registry is not None:
        problems += reader_problems(registry)
    if params is not None:
        named = list(_named(problems, params))
        problems += [
            *_options(params),
            *_models(params, named),
            *_costly(named),
            *_clashing(named),
            *_benchmarks(params, named),
            *_judge_tests(params),
            *_segment_tests(params),
            *_measured_twice(params, named),
            *_rubrics(params, named),
            *_watched(params, named),
        ]
    if params is not None and registry is not None:
        problems += _datasets(params, registry)
    return problems


def table_problems(tables: Path) -> list[str]:
    """One line for each problem of the tables that are there: `<tables>/<benchmark>/<table>`."""
    # Here, for all contracts take the statistics along.
    from metassay.reporting.contract_page import TABLES

    problems: list[str] = []
    for folder in sorted(path for path in tables.glob("*") if path.is_dir()):
        for path in sorted(folder.glob("[!.]*")):  # hidden: half-written, now or by a killed run
            table = TABLES.get(path.stem)
            if table is None:
                problems.append(f"{path}: no table is called {path.stem!r}; remove it")
            else:
                # Two stages may have asked the same, so each file of responses stands for itself.
                each = path.glob("*.parquet") if table.name == "responses" else [path]
                for file in sorted(each):
                    _collect(problems, lambda t=table, f=file: read(t, f))  # type: ignore[misc]
    return problems


def _collect(problems: list[str], action: Callable[[], Any]) -> Any:
    try:
        return action()
    except BadInput as error:
        problems += error.problems
        return None


def _named(problems: list[str], params: Params) -> Iterator[_Named]:
    """Every named block with sound options; what is wrong with the others goes to `problems`."""
    for block, index in KINDS.items():
        for name, options in getattr(params, block).items():
            where = f"{PARAMS} > {block} > {name}"
            chosen = _collect(problems, lambda i=index, o=options, w=where: choose(i, o, where=w))  # type: ignore[misc]
            if chosen is not None:
                yield _Named(block, name, chosen)


def _options(params: Params) -> list[str]:
    """Blocks that are of one kind."""
    problems: list[str] = []
    blocks: list[tuple[str, Block, type[Options]]] = [
        *((f"questions > {name}", b, Questions) for name, b in params.questions.items()),
        ("aggregation", params.aggregation, LeaderboardOptions),
        ("meta_evaluation", params.meta_evaluation, MetaOptions),
        ("certification", params.certification, CertificationOptions),
        ("comparison", params.comparison, ComparisonOptions),
        ("sentinel", params.sentinel, SentinelOptions),
    ]
    for at, block, model in blocks:
        _collect(problems, lambda m=model, b=block, a=at: parse(m, b, where=f"{PARAMS} > {a}"))  # type: ignore[misc]
    return problems


def _models(params: Params, named: list[_Named]) -> list[str]:
    """Endpoints, models, and the prompts and models that named blocks need."""
    problems: list[str] = []
    models: Models | None = _collect(
        problems, lambda: parse_models(params.endpoints, params.models)
    )
    if models is None:
        return problems
    for name, model in models.models.items():
        where = f"{PARAMS} > models > {name}"
        _collect(problems, lambda m=model, w=where: cap_of(params.max_cost, m, w))  # type: ignore[misc]
        if model.tokenizer is not None and not Path(model.tokenizer, "tokenizer.json").is_file():
            problems.append(
                f"{where} > tokenizer: has no tokenizer.json; name the model's own folder, or"
                " remove it"
            )
    for block, name, chosen in named:
        where = f"{PARAMS} > {block} > {name}"
        found = model_problems(chosen, models, where=where)
        if block in ("judges", "segmentations") and not found:
            found = example_problems(chosen, models, where)
        problems += found
    return problems


def _costly(named: list[_Named]) -> list[str]:
    return [
        f"{PARAMS} > metrics > {name}: kind {chosen.kind!r} is costly; name it under"
        " costly_metrics, so that it is a stage of its own"
        for block, name, chosen in named
        if block == "metrics" and chosen.record.costly
    ]


def _clashing(named: list[_Named]) -> list[str]:
    """Metrics of a user's kind that are called as Metassay's."""
    return [
        f"{PARAMS} > {block} > {name} > kind: {chosen.kind!r} gives a metric {one.name!r}, which is"
        " one of Metassay's own; give it another name"
        for block, name, chosen in named
        if block in ("metrics", "costly_metrics") and is_path(chosen.kind)
        for one in chosen.record.descriptions
        if descriptions().get(one.name, one) is not one
    ]


def _answerable(named: list[_Named]) -> Iterator[tuple[str, Collection[str]]]:
    """Each judge with the instruments that it can answer, as far as it is sound."""
    for one in named:
        if one.block == "judges":
            try:
                yield one.name, instruments_of(one.chosen)
            except BadInput:
                continue  # told already


def _benchmarks(params: Params, named: list[_Named]) -> list[str]:
    problems = []
    judges = dict(_answerable(named))
    for name, benchmark in params.benchmarks.items():
        at = _at(name)
        if not benchmark.metrics and not benchmark.costly_metrics and not benchmark.judges:
            problems.append(f"{at} > metrics: nothing measures or judges the texts; name a metric")
        problems += _published(at, benchmark.published, COMPARISONS)
        own = {judge: judges[judge] for judge in benchmark.judges if judge in judges}
        problems += [f"{at} > {problem}" for problem in _asked(params, benchmark, own)]
        problems += [
            f"{at} > criteria > {criterion}: low must be below high"
            for criterion, scale in benchmark.criteria.items()
            if scale.low >= scale.high
        ]
    return problems


def _published(at: str, tables: Iterable[str], known: Collection[str]) -> list[str]:
    return [
        f"{at} > published: {table!r} is not known; choose from {', '.join(known)}"
        for table in tables
        if table not in known
    ]


def _judge_tests(params: Params) -> list[str]:
    problems: list[str] = []
    for name, one in params.judge_tests.items():
        at = _at(name)
        _collect(problems, lambda t=one, a=at: chosen_test(t.test, t.options, where=a))  # type: ignore[misc]
        problems += _published(at, one.published, JUDGE_COMPARISONS)
    return problems


def _segment_tests(params: Params) -> list[str]:
    problems: list[str] = []
    for name, one in params.segment_tests.items():
        _collect(problems, lambda o=one, n=name: segment_options(o.options, where=_at(n)))  # type: ignore[misc]
    return problems


def _measured_twice(params: Params, named: list[_Named]) -> Iterator[str]:
    gives = {
        (one.block, one.name): [metric.name for metric in one.chosen.record.descriptions]
        for one in named
        if one.block in ("metrics", "costly_metrics")
    }
    for name, own in params.benchmarks.items():
        blocks = [*(("metrics", one) for one in own.metrics)]
        blocks += [("costly_metrics", one) for one in own.costly_metrics]
        yield from (f"{_at(name)}: {problem}" for problem in measured_twice(blocks, gives))


def _rubrics(params: Params, named: list[_Named]) -> list[str]:
    found = [one for one in named if one.block == "segmentations"]
    facets = {one.name: one.chosen.record.facets(one.chosen.options) for one in found}
    return rubric_problems(params, facets, dict(_answerable(named)))


def _asked(
    params: Params, benchmark: Benchmark, judges: Mapping[str, Collection[str]]
) -> list[str]:
    """Measures that two of its blocks ask, and questions that a judge of its cannot answer."""
    blocks: dict[str, Questions] = {}
    for name in benchmark.questions:
        try:
            blocks[name] = parse(Questions, params.questions[name], where=name)
        except BadInput:
            return []  # told already
    return [*(f"questions: {one}" for one in clashes(blocks)), *unanswerable(blocks, judges)]


def _watched(params: Params, named: list[_Named]) -> list[str]:
    """Raw folders that a stage reads and DVC does not watch."""
    reads = {
        (block, name): chosen.record.datasets(chosen.options)
        for block, name, chosen in named
        if block in ("systems", "decompositions")
    }

    def of(block: str, names: list[str]) -> dict[str, Any]:
        return {name: reads[block, name] for name in names if (block, name) in reads}

    problems: list[str] = []
    for name, b in params.benchmarks.items():
        writers, decompositions = of("systems", b.writers), of("decompositions", [b.decomposition])
        problems += folder_problems(
            writers, b.few_shot, RAW, where=_at(name), lists=FEW_SHOT
        ) + folder_problems(
            decompositions, b.released_claims, RAW, where=_at(name), lists=RELEASED_CLAIMS
        )
    return problems


def _datasets(params: Params, registry: Mapping[str, Dataset]) -> list[str]:
    return [
        f"{_at(name)} > {problem}"
        for name, one in params.every.items()
        for problem in _dataset(name, one, registry)
    ]


def _dataset(name: str, benchmark: Folder, registry: Mapping[str, Dataset]) -> Iterator[str]:
    dataset = registry.get(benchmark.dataset)
    if dataset is None:
        known = ", ".join(registry)
        yield f"dataset: {benchmark.dataset!r} is not in {REGISTRY}; known: {known}"
    elif dataset.reader is None:
        yield f"dataset: {benchmark.dataset!r} has no reader; choose another"
    elif problem := unfit(benchmark, dataset.reader):
        yield f"dataset: {problem}"
    elif problems := misplaced(benchmark.dataset, dataset, Path(benchmark.raw)):
        yield from (f"raw: {problem}" for problem in problems)
    elif not dataset.files and not any(
        # Where tables were pulled, nobody needs it; a run that does is told by DVC.
        one.is_dir()
        for one in (Path(benchmark.raw), Path("data/tables", name))
    ):
        yield f"raw: the folder {benchmark.raw} does not exist"


def _at(benchmark: str) -> str:
    return f"{BENCHMARKS / benchmark / PARAMS}"
