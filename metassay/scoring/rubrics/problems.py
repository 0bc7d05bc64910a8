"""Find what is wrong with the rubrics of a project, and with what benchmarks ask by them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from metassay.core.errors import BadInput, collect_problems
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import Benchmark, Params
from metassay.scoring.catalogue import descriptions
from metassay.scoring.rubrics.ask import criteria_table, expand_facets
from metassay.scoring.rubrics.record import RUBRICS, Rubric, load_rubric
from metassay.tables.names import base_metric

# the instruments that valid judges can answer
Answerable = Mapping[str, Collection[str]]


def find_problems(
    params: Params,
    facets: Mapping[str, Sequence[str]],
    judges: Answerable,
    released: Mapping[str, Collection[str]],
) -> list[str]:
    """Return a line, with its remedy, for each problem of a rubric or of who asks by it.

    `facets` of each segmentation; `judges`: the instruments of each; `released`: the metrics
    that came with the data of each benchmark.
    """
    problems: list[str] = []
    rubrics: dict[str, Rubric] = {}
    files = sorted(RUBRICS.glob("*.yaml"))
    for file in files:
        with collect_problems(problems):
            rubrics[file.stem] = load_rubric(file)
    all_metrics = set(descriptions())
    for name, benchmark in params.benchmarks.items():
        of_benchmark = [
            f"rubrics: there is no {RUBRICS}/{rubric}.yaml; known: {[file.stem for file in files]}"
            for rubric in benchmark.rubrics
            if RUBRICS / f"{rubric}.yaml" not in files
        ]
        metrics = dict.fromkeys(descriptions(), "one of Metassay's own")
        metrics |= dict.fromkeys(released[name], "of the data's scores.csv")
        for rubric in (
            rubrics[rubric] for rubric in benchmark.rubrics if rubric in rubrics
        ):
            of_benchmark += _find_unanswered(benchmark, rubric, judges)
            if benchmark.segmentation in facets:
                of_benchmark += _find_clashes(
                    rubric, facets[benchmark.segmentation], metrics
                )
        file = BENCHMARKS / name / PARAMS
        problems += [f"{file} > {problem}" for problem in of_benchmark]
        all_metrics.update(metrics)
    for rubric in rubrics.values():  # also of those that no benchmark names
        # few, and slow to go through
        for names in {tuple(names) for names in facets.values()}:
            # a rubric of facets, and a segmentation without any
            with suppress(BadInput):
                all_metrics.update(
                    criteria_table(expand_facets(rubric, names))["metric"]
                )
    compared = params.meta_evaluation.get("compared")
    return problems + [
        f"{PARAMS} > meta_evaluation > compared: no metric is called {metric!r};"
        " docs/metrics.md and rubrics/ have their names"
        for metric in (compared if isinstance(compared, list) else [])
        if base_metric(str(metric).partition(" (")[0]) not in all_metrics
    ]


def _find_unanswered(
    benchmark: Benchmark, rubric: Rubric, judges: Answerable
) -> Iterator[str]:
    instruments: dict[str, list[str]] = {}
    for criterion in rubric.criteria:
        instruments.setdefault(criterion.kind, []).append(criterion.name)
    for judge in (name for name in benchmark.judges if name in judges):
        for instrument, criteria in instruments.items():
            if instrument not in judges[judge]:
                yield (
                    f"judges > {judge}: cannot answer instrument {instrument!r}, which"
                    f" {', '.join(criteria)} of rubric {rubric.name} asks; choose another"
                    " judge, or leave out the rubric"
                )


def _find_clashes(
    rubric: Rubric, facets: Sequence[str], metrics: dict[str, str]
) -> Iterator[str]:
    """Find metrics of a rubric whose names others have; add the rubric's to `metrics`."""
    try:
        names = criteria_table(expand_facets(rubric, facets))["metric"]
    except BadInput as error:
        yield from (f"rubrics: {problem}" for problem in error.problems)
        return
    for metric in names:
        owner = metrics.setdefault(metric, f"of rubric {rubric.name}")
        if owner != f"of rubric {rubric.name}":
            yield f"rubrics: {rubric.name} makes {metric}, which is {owner}; rename one"
