"""The raw files of benchmarks, read as ingest reads them, before anything runs."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, collect_problems, hint, raise_problems
from metassay.core.kinds import Chosen, choose, is_path
from metassay.core.options import BENCHMARKS, PARAMS, Block, Options, parse
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
from metassay.core.stages import DAG, MODELS, dag_problem, stages_of
from metassay.datasets.ingest import ingest
from metassay.datasets.own_data import given_metrics
from metassay.datasets.readers import EVERY_READER, ITEM_READERS, SENTENCE_READERS, reader_problems
from metassay.datasets.registry import RAW, REGISTRY, Dataset, load_registry, misplaced
from metassay.datasets.study import ingest_study
from metassay.judges.make import example_problems, instruments_of
from metassay.labelled.ingest import ingest_items
from metassay.labelled.segmentations import ingest_sentences
from metassay.labelled.types import TESTS, chosen_test, reader_problem, segment_options
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.needs import FEW_SHOT, RELEASED_CLAIMS, folder_problems
from metassay.llm.session import cap_of, model_problems
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.metrics.faithfulness.reading import StatementOptions
from metassay.metrics.faithfulness.record import BY_TEXT
from metassay.reporting.published import COMPARISONS
from metassay.reporting.published_judges import JUDGE_COMPARISONS
from metassay.scoring.aggregation.combinations import combination
from metassay.scoring.aggregation.leaderboard import LeaderboardOptions
from metassay.scoring.catalogue import BLOCKS as METRIC_BLOCKS
from metassay.scoring.catalogue import check_given, descriptions, measured_twice
from metassay.scoring.pairing.questions import Questions, clashes, unanswerable
from metassay.scoring.rubrics.ask import criteria_table, expanded
from metassay.scoring.rubrics.record import RUBRICS, Rubric, load_rubric
from metassay.tables.names import FULL, NO_JUDGE, base_metric, metric_label
from metassay.tables.parquet import read
from metassay.tracking.comparison.differences import ComparisonOptions
from metassay.tracking.sentinel.checking import SentinelOptions
from metassay.tuning.options import BLOCKS as TUNING_BLOCKS
from metassay.tuning.options import checked
from metassay.versions.code_yaml import BLOCKS, DATASETS


def raw_problems(
    benchmarks: Mapping[str, Evaluation], registry: Mapping[str, Dataset]
) -> list[str]:
    """One line for each problem of the raw files that are there, led by who reads them.

    Nothing is said of a benchmark that `not_fetched` names, nor of one whose dataset or reader is
    unknown: that is a problem of the params or the registry.
    """
    found: dict[str, list[str]] = {}
    for name, benchmark, dataset in _readable(benchmarks, registry):
        if not _absent(benchmark, dataset):
            try:
                _read(name, benchmark, str(dataset.reader))
            except BadInput as error:
                for problem in error.problems:
                    found.setdefault(problem, []).append(name)
    return [f"{', '.join(names)}: {problem}" for problem, names in found.items()]


def not_fetched(benchmarks: Mapping[str, Evaluation], registry: Mapping[str, Dataset]) -> list[str]:
    """One line for each benchmark whose raw files are not all there, so that nobody checked them.

    That is no problem: a run fetches them. A folder that no dataset fetches is left to the params.
    """
    return [
        f"{name}: raw files were not checked, {missing} of {len(dataset.files)} are not in"
        f" {benchmark.raw}; metassay run {benchmark.dataset} --only fetch brings them"
        for name, benchmark, dataset in _readable(benchmarks, registry)
        if (missing := _absent(benchmark, dataset)) and dataset.files
    ]


def unfit(one: Evaluation, reader: str) -> str | None:
    """What is wrong with a dataset's reader for a folder of this sort; None if it suits."""
    if isinstance(one, JudgeTest):
        return reader_problem(one.test, reader) if one.test in TESTS else None
    if isinstance(one, SegmentTest):
        return reader_problem(SEGMENTATION, reader)
    if reader in ITEM_READERS or reader in SENTENCE_READERS:
        of = "judges" if reader in ITEM_READERS else "segmentations"
        return f"reader {reader!r} is for tests of {of}; give this folder a `test`"
    return None


def _read(name: str, one: Evaluation, reader: str) -> None:
    if isinstance(one, JudgeTest):
        test = chosen_test(one.test, one.options, where=f"{BENCHMARKS / name / PARAMS}")
        ingest_items(test, reader, Path(one.raw), dataset=one.dataset, judges=one.judges)
    elif isinstance(one, SegmentTest):
        options = segment_options(one.options, where=f"{BENCHMARKS / name / PARAMS}")
        ingest_sentences(reader, Path(one.raw), options)
    else:
        made = ingest(reader, Path(one.raw), one.criteria)
        check_given(made.criteria)
        _read_studies(one, made.sources, made.texts)


def _read_studies(one: Benchmark, sources: pd.DataFrame, texts: pd.DataFrame) -> None:
    """Ratings that came back from people; systems that are yet to write have all their texts."""
    writing = pd.MultiIndex.from_product([sources["doc_id"], one.writers, [FULL]])
    keys = ["doc_id", "author", "part"]
    every = pd.concat([texts[keys], writing.to_frame(index=False, name=keys)], ignore_index=True)
    problems: list[str] = []
    for study, file in one.studies.items():
        with collect_problems(problems):
            ingest_study(Path(file), study, one.criteria, sources, every)
    raise_problems(problems)


def _readable(
    benchmarks: Mapping[str, Evaluation], registry: Mapping[str, Dataset]
) -> Iterator[tuple[str, Evaluation, Dataset]]:
    for name, benchmark in benchmarks.items():
        dataset = registry.get(benchmark.dataset)
        reader = None if dataset is None else dataset.reader
        if dataset is not None and reader and (reader in EVERY_READER or is_path(reader)):
            yield name, benchmark, dataset


def _absent(benchmark: Evaluation, dataset: Dataset) -> int:
    """How many raw files are not there; 1 where the folder of a dataset without files is not."""
    folder = Path(benchmark.raw)
    if not dataset.files:
        return 0 if folder.is_dir() else 1
    return sum(not (folder / file.name).is_file() for file in dataset.files)


# Everything that can be wrong with a project, in one go: params, registry, rubrics, tables.


# Blocks of params.yaml whose entries name a kind, and the index of their kinds.
KINDS: Mapping[str, Mapping[str, str]] = {
    block: getattr(import_module(module), names[0])
    for block, (module, *names) in BLOCKS.items()
    if block != DATASETS
}
_METRICS = tuple(METRIC_BLOCKS)

Named = Mapping[tuple[str, str], Chosen]  # sound blocks of params.yaml, by block and name
Answerable = Mapping[str, Collection[str]]  # the instruments that sound judges can answer


def configuration_problems() -> list[str]:
    """One line for each problem of the params files and the registry, each with its remedy."""
    problems: list[str] = []
    with collect_problems(problems):
        params = load()
    sound = not problems
    with collect_problems(problems):
        registry = load_registry(REGISTRY)
        problems += reader_problems(registry)
        if sound:
            problems += [
                f"{_at(name)} > {problem}"
                for name, one in params.evaluations.items()
                for problem in _dataset(name, one, registry)
            ]
    return [*(_of_params(params) if sound else ()), *problems]


def _of_params(params: Params) -> list[str]:
    problems: list[str] = []
    named: dict[tuple[str, str], Chosen] = {}
    for block, index in KINDS.items():
        for name, options in getattr(params, block).items():
            with collect_problems(problems):
                named[block, name] = choose(index, options, where=f"{PARAMS} > {block} > {name}")
    answerable: dict[str, Collection[str]] = {}
    for (block, name), chosen in named.items():
        if block == "judges":
            with suppress(BadInput):  # told already
                answerable[name] = instruments_of(chosen)
    return [
        *problems,
        *_options(params),
        *_models(params, named),
        *_metrics(named),
        *_combinations(params),
        *_benchmarks(params, named, answerable),
        *_tests(params),
        *_tunings(params, named),
        *_rubrics(params, named, answerable),
        *_dags(params),
    ]


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
                continue
            # Two stages may have asked the same, so each file of responses stands for itself.
            each = path.glob("*.parquet") if table.name == "responses" else [path]
            for file in sorted(each):
                with collect_problems(problems):
                    read(table, file)
    return problems


def _options(params: Params) -> list[str]:
    """Blocks that are of one kind."""
    problems: list[str] = []
    blocks: list[tuple[str, Block, type[Options]]] = [
        *((f"questions > {name}", block, Questions) for name, block in params.questions.items()),
        ("aggregation", params.aggregation, LeaderboardOptions),
        ("meta_evaluation", params.meta_evaluation, MetaOptions),
        ("certification", params.certification, CertificationOptions),
        ("comparison", params.comparison, ComparisonOptions),
        ("sentinel", params.sentinel, SentinelOptions),
    ]
    for at, block, model in blocks:
        with collect_problems(problems):
            parse(model, block, where=f"{PARAMS} > {at}")
    return problems


def _models(params: Params, named: Named) -> list[str]:
    """Endpoints, models, and the prompts and models that named blocks need."""
    try:
        models: Models = parse_models(params.endpoints, params.models)
    except BadInput as error:
        return list(error.problems)
    problems: list[str] = []
    for name, model in models.models.items():
        where = f"{PARAMS} > models > {name}"
        with collect_problems(problems):
            cap_of(params.max_cost, model, where)
        if model.tokenizer is not None and not Path(model.tokenizer, "tokenizer.json").is_file():
            problems.append(
                f"{where} > tokenizer: has no tokenizer.json; name the model's own folder, or"
                " remove it"
            )
    for (block, name), chosen in named.items():
        where = f"{PARAMS} > {block} > {name}"
        found = model_problems(chosen, models, where=where)
        if block in ("judges", "segmentations") and not found:
            found = example_problems(chosen, models, where)
        problems += found
    return problems


def _metrics(named: Named) -> Iterator[str]:
    """Costly metrics among the cheap ones; metrics of a user's kind that are called as ours."""
    ours = descriptions()
    for (block, name), chosen in named.items():
        if block == "metrics" and chosen.record.costly:
            yield (
                f"{PARAMS} > metrics > {name}: kind {chosen.kind!r} is costly; name it under"
                " costly_metrics, so that it is a stage of its own"
            )
        for one in chosen.record.descriptions if block in _METRICS and is_path(chosen.kind) else ():
            if ours.get(one.name, one) is not one:
                yield (
                    f"{PARAMS} > {block} > {name} > kind: {chosen.kind!r} gives a metric"
                    f" {one.name!r}, which is one of Metassay's own; give it another name"
                )


def _combinations(params: Params) -> list[str]:
    """Blocks of combinations that are wrong, or are called as one of Metassay's own metrics."""
    problems: list[str] = []
    for name in params.combinations:
        with collect_problems(problems):
            combination(params.combinations, name)
        if name in descriptions():
            problems.append(
                f"{PARAMS} > combinations > {name}: is one of Metassay's own metrics; give it"
                " another name"
            )
    return problems


def _benchmarks(params: Params, named: Named, judges: Answerable) -> Iterator[str]:
    gives = {}
    for key, chosen in named.items():
        names = [one.name for one in chosen.record.descriptions] if key[0] in _METRICS else []
        each = key[0] == "statement_metrics"
        gives[key] = _statement_scores(chosen.options, names) if each else names
    for name, benchmark in params.benchmarks.items():
        at = _at(name)
        if not benchmark.judges and not any(getattr(benchmark, block) for block in _METRICS):
            yield f"{at} > metrics: nothing measures or judges the texts; name a metric"
        yield from _published(at, benchmark.published, COMPARISONS)
        own = {judge: judges[judge] for judge in benchmark.judges if judge in judges}
        yield from (f"{at} > {problem}" for problem in _asked(params, benchmark, own))
        for criterion, scale in benchmark.criteria.items():
            if scale.low >= scale.high:
                yield f"{at} > criteria > {criterion}: low must be below high"
        twice = measured_twice(benchmark.measured_by, gives)
        yield from (f"{at}: {problem}" for problem in twice)
        yield from (f"{at} > {problem}" for problem in _unmeasured(params, benchmark, gives))
        yield from _measuring(at, benchmark, named)
        for block, lists, names, folders in (
            ("systems", FEW_SHOT, benchmark.writers, benchmark.few_shot),
            (
                "decompositions",
                RELEASED_CLAIMS,
                [benchmark.decomposition],
                benchmark.released_claims,
            ),
        ):  # raw folders that a stage reads and DVC does not watch
            there = {one: named[block, one] for one in names if (block, one) in named}
            reads = {one: own.record.datasets(own.options) for one, own in there.items()}
            yield from folder_problems(reads, folders, RAW, where=at, lists=lists)


def _unmeasured(
    params: Params, benchmark: Benchmark, gives: Mapping[tuple[str, str], Sequence[str]]
) -> Iterator[str]:
    """Metrics of blocks that a combination needs, and no block of this benchmark measures."""
    here = {metric for block in benchmark.measured_by for metric in gives.get(block, [])}
    anywhere = {metric for metrics in gives.values() for metric in metrics}
    for name in benchmark.combinations:
        for metric in params.combinations[name].get("metrics", []):
            if metric in anywhere - here:
                yield (
                    f"combinations > {name}: no block of this benchmark measures {metric!r}; name"
                    " one under metrics or costly_metrics"
                )


def _asked(params: Params, benchmark: Benchmark, judges: Answerable) -> list[str]:
    """Measures that two of its blocks ask, and questions that a judge of its cannot answer."""
    blocks: dict[str, Questions] = {}
    for name in benchmark.questions:
        try:
            blocks[name] = parse(Questions, params.questions[name], where=name)
        except BadInput:
            return []  # told already
    alignments = benchmark.alignments
    problems = [f"questions: {one}" for one in clashes(blocks, alignments)]
    for name, options in blocks.items():
        problems += _not_aligned(f"questions > {name}", options.alignments, alignments)
    return [*problems, *unanswerable(blocks, judges)]


def _not_aligned(at: str, wanted: Sequence[str], alignments: Sequence[str]) -> Iterator[str]:
    """Alignments that a block reads and the benchmark does not make."""
    for name in () if wanted == "all" else sorted(set(wanted) - set(alignments)):
        yield (
            f"{at}: reads alignment {name!r}, which is not among this benchmark's: {alignments};"
            " add it to alignments, or take it out of the block"
        )


def _trained(options: Options) -> list[Path]:
    """The models of a block that are in folders which stages write."""
    every = (options, *getattr(options, "checkpoints", {}).values())
    paths = [Path(str(getattr(one, "model", ""))) for one in every]
    return [path for path in paths if path.is_relative_to(MODELS)]


def _measuring(at: str, benchmark: Benchmark, named: Named) -> Iterator[str]:
    """What blocks of metrics read that this benchmark lacks, or DVC would not watch for them."""
    for block, name in (key for key in benchmark.measured_by if key in named):
        options, where = named[block, name].options, f"{at} > {block} > {name}"
        of_statements = block == TUNED["tuned_metrics"]
        tuned = "tuned_metrics" if of_statements else "tuned_costly_metrics"
        folder = getattr(benchmark, tuned).get(name, "nowhere")
        for model in (one for one in _trained(options) if not one.is_relative_to(folder)):
            yield (
                f"{where}: {model} is trained here; name the block under {tuned}, with that"
                f" folder, or {MODELS} if there are several"
            )
        if of_statements:
            yield from _not_aligned(where, options.alignments, benchmark.alignments)
            if options.by == "text" and not named[block, name].record.by_text:
                yield f"{where} > by: this kind reads statements one by one; write statement"


def _statement_scores(options: StatementOptions, metrics: Iterable[str]) -> list[str]:
    """What a block of statement_metrics gives, whichever alignments it reads."""
    by = BY_TEXT if options.by == "text" else ""
    models = getattr(options, "checkpoints", [NO_JUDGE])
    return [metric_label(name + by, model) for name in metrics for model in models]


def _published(at: str, tables: Iterable[str], known: Collection[str]) -> Iterator[str]:
    for table in tables:
        if table not in known:
            close = hint(table, known)
            yield f"{at} > published: {table!r} is not known; choose from {', '.join(known)}{close}"


def _tests(params: Params) -> list[str]:
    problems: list[str] = []
    for name, test in params.judge_tests.items():
        with collect_problems(problems):
            chosen_test(test.test, test.options, where=_at(name))
        problems += _published(_at(name), test.published, JUDGE_COMPARISONS)
    for name, segment_test in params.segment_tests.items():
        with collect_problems(problems):
            segment_options(segment_test.options, where=_at(name))
    return problems


def _tunings(params: Params, named: Named) -> list[str]:
    problems: list[str] = []
    for name, tuning in params.tunings.items():
        options: dict[str, Any] = {}
        for key, block in tuning:
            if key in TUNING_BLOCKS:
                with collect_problems(problems):
                    options[key] = checked(tuning.tune, key, block, where=_at(name))
        learnt = {"distill": "distilled of its own scores", "quality": "tuned on its own ratings"}
        models = {Path(MODELS, one) for one in tuning.models}
        for metric in params.benchmarks[tuning.benchmark].measured_by:
            read = _trained(named[metric].options) if metric in named else []
            if tuning.tune in learnt and not models.isdisjoint(read):
                problems.append(
                    f"{_at(name)} > from: metric {metric[1]!r} of {tuning.benchmark!r} reads what"
                    f" is {learnt[tuning.tune]}; measure it in another benchmark"
                )
        rule = getattr(options.get("teachers"), "human", None)
        criterion = rule and params.benchmarks[tuning.benchmark].criteria.get(rule.criterion)
        if rule and (criterion is None or criterion.better != rule.better):
            problems.append(
                f"{_at(name)} > teachers > human: {tuning.benchmark!r} has no criterion"
                f" {rule.criterion!r} of which the {rule.better} is better; correct one of the two"
            )
    return problems


def _dags(params: Params) -> Iterator[str]:
    """Stages of which a dvc.yaml says something else than the table of stages."""
    for name, folder in params.every.items():
        file, stages = BENCHMARKS / name / DAG, stages_of(folder)
        with suppress(BadInput):  # not there, or no YAML: told elsewhere
            if problem := dag_problem(str(file), strict_yaml.load(file), stages, stages):
                yield problem


def _dataset(name: str, benchmark: Evaluation, registry: Mapping[str, Dataset]) -> Iterator[str]:
    dataset = registry.get(benchmark.dataset)
    if dataset is None:
        known, close = ", ".join(registry), hint(benchmark.dataset, registry)
        yield f"dataset: {benchmark.dataset!r} is not in {REGISTRY}; known: {known}{close}"
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


# ---- rubrics ----------------------------------------------------------------------------------


def _rubrics(params: Params, named: Named, judges: Answerable) -> list[str]:
    """What is wrong with rubrics, beside who names them, and with metrics to compare."""
    problems: list[str] = []
    rubrics: dict[str, Rubric] = {}
    files = sorted(RUBRICS.glob("*.yaml"))
    for file in files:
        with collect_problems(problems):
            rubrics[file.stem] = load_rubric(file)
    facets: dict[str, Sequence[str]] = {
        name: chosen.record.facets(chosen.options)
        for (block, name), chosen in named.items()
        if block == "segmentations"
    }
    made = set(descriptions())
    for name, own in params.benchmarks.items():
        found = [
            f"rubrics: there is no {RUBRICS}/{rubric}.yaml; known: {[file.stem for file in files]}"
            for rubric in own.rubrics
            if RUBRICS / f"{rubric}.yaml" not in files
        ]
        theirs = [rubrics[rubric] for rubric in own.rubrics if rubric in rubrics]
        metrics = dict.fromkeys(descriptions(), "one of Metassay's own")
        metrics |= dict.fromkeys(given_metrics(Path(own.raw)), "of the data's scores.csv")
        for rubric in theirs:
            found += _unanswered(own, rubric, judges)
        for rubric in theirs if own.segmentation in facets else ():
            found += _clashing(rubric, facets[own.segmentation], metrics)
        problems += [f"{_at(name)} > {problem}" for problem in found]
        made.update(metrics)
    for rubric in rubrics.values():  # also of those that no benchmark names
        for names in {tuple(each) for each in facets.values()}:  # few, and slow to go through
            with suppress(BadInput):  # a rubric of facets, and a segmentation without any
                made.update(criteria_table(expanded(rubric, names))["metric"])
    compared = params.meta_evaluation.get("compared")
    return problems + [
        f"{PARAMS} > meta_evaluation > compared: no metric is called {metric!r};"
        " docs/metrics.md and rubrics/ have their names"
        for metric in (compared if isinstance(compared, list) else [])
        if base_metric(str(metric).partition(" (")[0]) not in made
    ]


def _unanswered(benchmark: Benchmark, rubric: Rubric, judges: Answerable) -> Iterator[str]:
    asking: dict[str, list[str]] = {}
    for criterion in rubric.criteria:
        asking.setdefault(criterion.kind, []).append(criterion.name)
    for judge in (name for name in benchmark.judges if name in judges):
        for instrument, criteria in asking.items():
            if instrument not in judges[judge]:
                yield (
                    f"judges > {judge}: cannot answer instrument {instrument!r}, which"
                    f" {', '.join(criteria)} of rubric {rubric.name} asks; choose another"
                    " judge, or leave out the rubric"
                )


def _clashing(rubric: Rubric, facets: Sequence[str], metrics: dict[str, str]) -> Iterator[str]:
    """What is wrong with the metrics that a rubric makes; they are added to `metrics`."""
    try:
        made = criteria_table(expanded(rubric, facets))["metric"]
    except BadInput as error:
        yield from (f"rubrics: {problem}" for problem in error.problems)
        return
    for metric in made:
        other = metrics.setdefault(metric, f"of rubric {rubric.name}")
        if other != f"of rubric {rubric.name}":
            yield f"rubrics: {rubric.name} makes {metric}, which is {other}; rename one"
