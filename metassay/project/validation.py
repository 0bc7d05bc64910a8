"""Find what is wrong with the params files, the registry and the tables of a project.

Rooms that have a `problems.py` find theirs; raw files are checked by `raw_files`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from metassay.core.errors import BadInput, collect_problems, hint
from metassay.core.kinds import Chosen, choose, is_path
from metassay.core.options import BENCHMARKS, MODELS, PARAMS, Block, Options, parse
from metassay.core.params import (
    SEGMENTATION,
    TUNED,
    Benchmark,
    Evaluation,
    JudgeTest,
    Params,
    SegmentTest,
    load,
)
from metassay.core.stages import used_blocks
from metassay.core.versions import DATASETS, index_of
from metassay.core.versions import KINDS as BLOCKS
from metassay.datasets.own_data import score_metrics
from metassay.datasets.readers import (
    ITEM_READERS,
    SENTENCE_READERS,
    reader_problems,
)
from metassay.datasets.registry import (
    RAW,
    REGISTRY,
    Dataset,
    load_registry,
    place_problems,
)
from metassay.judges.make import example_problems, instruments_of
from metassay.labelled.ingest import asked_instrument
from metassay.labelled.types import TESTS, chosen_test, reader_problem, segment_options
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.needs import (
    FEW_SHOT,
    RELEASED_CLAIMS,
    folder_problems,
    packages_lacking,
)
from metassay.llm.session import cap_of, model_problems
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.metrics.faithfulness.record import BY_TEXT
from metassay.project.named_metrics import name_problems
from metassay.reporting.published.index import COMPARISONS, JUDGE_COMPARISONS
from metassay.scoring.aggregation.combinations import parse_combination
from metassay.scoring.aggregation.leaderboard import LeaderboardOptions
from metassay.scoring.catalogue import BLOCKS as METRIC_BLOCKS
from metassay.scoring.catalogue import descriptions, find_duplicates
from metassay.scoring.pairing.questions import Questions, clashes, unanswerable
from metassay.scoring.rubrics import problems as rubric_problems
from metassay.scoring.rubrics.problems import Answerable
from metassay.tables.names import NO_JUDGE, metric_label
from metassay.tables.parquet import read
from metassay.tracking.comparison.differences import ComparisonOptions
from metassay.tracking.sentinel.checking import SentinelOptions
from metassay.tuning import problems as tuning_problems


def not_installed(params: Params) -> list[str]:
    """Return one line for each package that a benchmark's blocks need and this machine lacks.

    That is no problem of the project: a run refuses only stages that it would run.
    """
    lines: list[str] = []
    for name, folder in params.evaluations.items():
        for block, names in used_blocks(folder).items():
            for entry in names if block in KINDS else ():
                settings, where = getattr(params, block)[entry], f"{block} > {entry}"
                with suppress(BadInput):  # reported already
                    lacking = packages_lacking(
                        choose(KINDS[block], settings, where=where)
                    )
                    lines += [
                        f"{name}: {where} needs {package}, which is not installed; {remedy}"
                        for package, remedy in lacking.items()
                    ]
    return lines


def _mismatch(folder: Evaluation, reader: str) -> str | None:
    """Say why a dataset's reader does not suit a folder of this sort; None if it does."""
    if isinstance(folder, JudgeTest):
        return reader_problem(folder.test, reader) if folder.test in TESTS else None
    if isinstance(folder, SegmentTest):
        return reader_problem(SEGMENTATION, reader)
    if reader in ITEM_READERS or reader in SENTENCE_READERS:
        subject = "judges" if reader in ITEM_READERS else "segmentations"
        return f"reader {reader!r} is for tests of {subject}; give this folder a `test`"
    return None


# Blocks of params.yaml whose entries name a kind, and the index of their kinds.
KINDS: Mapping[str, Mapping[str, str]] = {
    block: index_of(block) for block in BLOCKS if block != DATASETS
}
_METRICS = tuple(METRIC_BLOCKS)

# valid blocks of params.yaml, by block and name
Named = Mapping[tuple[str, str], Chosen]


def configuration_problems() -> list[str]:
    """Return one line, with its remedy, for each problem of the params files and the registry."""
    problems: list[str] = []
    with collect_problems(problems):
        params = load()
    valid = not problems
    with collect_problems(problems):
        registry = load_registry(REGISTRY)
        problems += reader_problems(registry)
        if valid:
            problems += [
                f"{_params_file(name)} > {problem}"
                for name, folder in params.evaluations.items()
                for problem in _dataset(name, folder, registry)
            ]
    return [*_check_params(params), *problems] if valid else problems


def _check_params(params: Params) -> list[str]:
    problems: list[str] = []
    named: dict[tuple[str, str], Chosen] = {}
    for block, index in KINDS.items():
        for name, options in getattr(params, block).items():
            with collect_problems(problems):
                named[block, name] = choose(
                    index, options, where=f"{PARAMS} > {block} > {name}"
                )
    answerable: dict[str, Collection[str]] = {}
    for (block, name), chosen in named.items():
        if block == "judges":
            with suppress(BadInput):  # reported already
                answerable[name] = instruments_of(chosen)
    trained = {key: _trained(chosen.options) for key, chosen in named.items()}
    released = {
        name: score_metrics(Path(benchmark.raw))
        for name, benchmark in params.benchmarks.items()
    }
    return [
        *problems,
        *_check_options(params),
        *_check_models(params, named),
        *_check_metrics(params, named),
        *_check_benchmarks(params, named, answerable),
        *_check_tests(params, answerable),
        *tuning_problems.find_problems(params, trained),
        *rubric_problems.find_problems(params, _facets(named), answerable, released),
    ]


def table_problems(tables: Path) -> list[str]:
    """Return one line for each problem of the tables in `<tables>/<benchmark>/<table>`."""
    # Here, because all contracts import the statistics.
    from metassay.reporting.contract_page import TABLES

    problems: list[str] = []
    for folder in sorted(path for path in tables.glob("*") if path.is_dir()):
        # hidden: half-written, now or by a killed run
        for path in sorted(folder.glob("[!.]*")):
            table = TABLES.get(path.stem)
            if table is None:
                problems.append(f"{path}: no table is called {path.stem!r}; remove it")
                continue
            # Stages may ask the same requests, so keys are unique in each file of
            # responses alone.
            files = path.glob("*.parquet") if table.name == "responses" else [path]
            for file in sorted(files):
                with collect_problems(problems):
                    read(table, file)
    return problems


def _check_options(params: Params) -> list[str]:
    """Check blocks that have no `kind`."""
    problems: list[str] = []
    blocks: list[tuple[str, Block, type[Options]]] = [
        *(
            (f"questions > {name}", block, Questions)
            for name, block in params.questions.items()
        ),
        ("aggregation", params.aggregation, LeaderboardOptions),
        ("meta_evaluation", params.meta_evaluation, MetaOptions),
        ("certification", params.certification, CertificationOptions),
        ("comparison", params.comparison, ComparisonOptions),
        ("sentinel", params.sentinel, SentinelOptions),
    ]
    for place, block, model in blocks:
        with collect_problems(problems):
            parse(model, block, where=f"{PARAMS} > {place}")
    return problems


def _check_models(params: Params, named: Named) -> list[str]:
    """Check endpoints, models, and the prompts and models that named blocks need."""
    try:
        models: Models = parse_models(params.endpoints, params.models)
    except BadInput as error:
        return list(error.problems)
    problems: list[str] = []
    for name, model in models.models.items():
        where = f"{PARAMS} > models > {name}"
        with collect_problems(problems):
            cap_of(params.max_cost, model, where)
        if (
            model.tokenizer is not None
            and not Path(model.tokenizer, "tokenizer.json").is_file()
        ):
            problems.append(
                f"{where} > tokenizer: has no tokenizer.json; name the model's own folder, or"
                " remove it"
            )
    for (block, name), chosen in named.items():
        where = f"{PARAMS} > {block} > {name}"
        of_block = model_problems(chosen, models, where=where)
        if block in ("judges", "segmentations") and not of_block:
            of_block = example_problems(chosen, models, where)
        problems += of_block
    return problems


def _check_metrics(params: Params, named: Named) -> Iterator[str]:
    """Check combinations, costly metrics among cheap ones, and names of a user's metrics."""
    ours = descriptions()
    for name in params.combinations:
        try:
            parse_combination(params.combinations, name)
        except BadInput as error:
            yield from error.problems
        if name in ours:
            what = "is one of Metassay's own metrics; give it another name"
            yield f"{PARAMS} > combinations > {name}: {what}"
    for (block, name), chosen in named.items():
        if block == "metrics" and chosen.record.costly:
            yield (
                f"{PARAMS} > metrics > {name}: kind {chosen.kind!r} is costly; name it under"
                " costly_metrics, so that it is a stage of its own"
            )
        users = block in _METRICS and is_path(chosen.kind)
        for metric in chosen.record.descriptions if users else ():
            if ours.get(metric.name, metric) is not metric:
                yield (
                    f"{PARAMS} > {block} > {name} > kind: {chosen.kind!r} gives a metric"
                    f" {metric.name!r}, which is one of Metassay's own; give it another name"
                )


def _check_benchmarks(
    params: Params, named: Named, judges: Answerable
) -> Iterator[str]:
    metrics = {}
    for key, chosen in named.items():
        names = (
            [metric.name for metric in chosen.record.descriptions]
            if key[0] in _METRICS
            else []
        )
        if key[0] == "statement_metrics":  # whichever alignments the block reads
            by = BY_TEXT if chosen.options.by == "text" else ""
            models = getattr(chosen.options, "checkpoints", [NO_JUDGE])
            names = [
                metric_label(metric + by, model) for metric in names for model in models
            ]
        metrics[key] = names
    for name, benchmark in params.benchmarks.items():
        file = _params_file(name)
        if not benchmark.judges and not any(
            getattr(benchmark, block) for block in _METRICS
        ):
            yield f"{file} > metrics: nothing measures or judges the texts; name a metric"
        yield from _check_published(file, benchmark.published, COMPARISONS)
        of_benchmark = {
            judge: judges[judge] for judge in benchmark.judges if judge in judges
        }
        problems = _check_questions(params, benchmark, of_benchmark)
        yield from (f"{file} > {problem}" for problem in problems)
        for criterion, scale in benchmark.criteria.items():
            if scale.low >= scale.high:
                yield f"{file} > criteria > {criterion}: low must be below high"
        twice = find_duplicates(benchmark.measured_by, metrics)
        yield from (f"{file}: {problem}" for problem in twice)
        yield from _find_unmeasured(file, params, benchmark, metrics)
        yield from _check_measuring(file, benchmark, named)
        claims, released = [benchmark.decomposition], benchmark.released_claims
        for block, lists, names, folders in (
            ("systems", FEW_SHOT, benchmark.writers, benchmark.few_shot),
            ("decompositions", RELEASED_CLAIMS, claims, released),
        ):  # raw folders that a stage reads and DVC does not watch
            kinds = {key: named[block, key] for key in names if (block, key) in named}
            reads = {
                key: kind.record.datasets(kind.options) for key, kind in kinds.items()
            }
            yield from folder_problems(reads, folders, RAW, where=file, lists=lists)
    yield from name_problems(params, metrics, _facets(named))


def _facets(named: Named) -> dict[str, Sequence[str]]:
    """Return the facets of each segmentation."""
    return {
        name: chosen.record.facets(chosen.options)
        for (block, name), chosen in named.items()
        if block == "segmentations"
    }


def _find_unmeasured(
    file: str,
    params: Params,
    benchmark: Benchmark,
    metrics: Mapping[tuple[str, str], Sequence[str]],
) -> Iterator[str]:
    """Find metrics that a combination needs and no block of this benchmark measures."""
    here = {
        metric for block in benchmark.measured_by for metric in metrics.get(block, [])
    }
    anywhere = {metric for names in metrics.values() for metric in names}
    for name in benchmark.combinations:
        for metric in params.combinations[name].get("metrics", []):
            if metric in anywhere - here:
                yield (
                    f"{file} > combinations > {name}: no block of this benchmark measures"
                    f" {metric!r}; name one under metrics or costly_metrics"
                )


def _check_questions(
    params: Params, benchmark: Benchmark, judges: Answerable
) -> list[str]:
    """Check that no two blocks ask the same measure, and that the judges can answer."""
    blocks: dict[str, Questions] = {}
    for name in benchmark.questions:
        try:
            blocks[name] = parse(Questions, params.questions[name], where=name)
        except BadInput:
            return []  # reported already
    alignments = benchmark.alignments
    problems = [f"questions: {clash}" for clash in clashes(blocks, alignments)]
    for name, options in blocks.items():
        problems += _find_unaligned(
            f"questions > {name}", options.alignments, alignments
        )
    return [*problems, *unanswerable(blocks, judges)]


def _find_unaligned(
    where: str, read: Sequence[str], alignments: Sequence[str]
) -> Iterator[str]:
    """Find alignments that a block reads and the benchmark does not make."""
    for name in () if read == "all" else sorted(set(read) - set(alignments)):
        yield (
            f"{where}: reads alignment {name!r}, which is not among this benchmark's: {alignments};"
            " add it to alignments, or take it out of the block"
        )


def _trained(options: Options) -> list[Path]:
    """The models of a block that are in folders which stages write."""
    blocks = (options, *getattr(options, "checkpoints", {}).values())
    paths = [Path(str(getattr(block, "model", ""))) for block in blocks]
    return [path for path in paths if path.is_relative_to(MODELS)]


def _check_measuring(file: str, benchmark: Benchmark, named: Named) -> Iterator[str]:
    """Find what blocks of metrics read that this benchmark lacks, or that DVC would not watch."""
    for block, name in (key for key in benchmark.measured_by if key in named):
        options, where = named[block, name].options, f"{file} > {block} > {name}"
        of_statements = block == TUNED["tuned_metrics"]
        tuned = "tuned_metrics" if of_statements else "tuned_costly_metrics"
        folder = getattr(benchmark, tuned).get(name, "nowhere")
        for model in (
            path for path in _trained(options) if not path.is_relative_to(folder)
        ):
            yield (
                f"{where}: {model} is trained here; name the block under {tuned}, with that"
                f" folder, or {MODELS} if there are several"
            )
        if of_statements:
            yield from _find_unaligned(where, options.alignments, benchmark.alignments)
            if options.by == "text" and not named[block, name].record.by_text:
                yield f"{where} > by: this kind reads statements one by one; write statement"


def _check_published(
    file: str, tables: Iterable[str], names: Collection[str]
) -> Iterator[str]:
    for table in tables:
        if table not in names:
            known = f"{', '.join(names)}{hint(table, names)}"
            yield f"{file} > published: {table!r} is not known; choose from {known}"


def _check_tests(params: Params, judges: Answerable) -> list[str]:
    problems: list[str] = []
    for name, test in params.judge_tests.items():
        file = _params_file(name)
        with collect_problems(problems):
            chosen = chosen_test(test.test, test.options, where=file)
            instrument = asked_instrument(chosen)
            problems += [
                f"{file} > judges > {judge}: cannot answer instrument {instrument!r}, which"
                " this test asks; choose another judge"
                for judge in test.judges
                if judge in judges and instrument not in judges[judge]
            ]
        problems += _check_published(
            _params_file(name), test.published, JUDGE_COMPARISONS
        )
    for name, segment_test in params.segment_tests.items():
        with collect_problems(problems):
            segment_options(segment_test.options, where=_params_file(name))
    return problems


def _dataset(
    name: str, benchmark: Evaluation, registry: Mapping[str, Dataset]
) -> Iterator[str]:
    dataset = registry.get(benchmark.dataset)
    if dataset is None:
        names, close = ", ".join(registry), hint(benchmark.dataset, registry)
        yield f"dataset: {benchmark.dataset!r} is not in {REGISTRY}; known: {names}{close}"
    elif dataset.reader is None:
        yield f"dataset: {benchmark.dataset!r} has no reader; choose another"
    elif problem := _mismatch(benchmark, dataset.reader):
        yield f"dataset: {problem}"
    elif problems := place_problems(benchmark.dataset, dataset, Path(benchmark.raw)):
        yield from (f"raw: {problem}" for problem in problems)
    elif not (
        # Where tables were pulled, nobody needs the folder; DVC says so to a run that
        # does.
        dataset.files
        or Path(benchmark.raw).is_dir()
        or Path("data/tables", name).is_dir()
    ):
        yield f"raw: the folder {benchmark.raw} does not exist"


def _params_file(benchmark: str) -> str:
    return f"{BENCHMARKS / benchmark / PARAMS}"
