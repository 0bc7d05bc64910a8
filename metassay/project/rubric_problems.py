"""What is wrong with rubrics beside the benchmarks that name them, before anything runs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from metassay.core.errors import BadInput
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import Benchmark, Params
from metassay.datasets.files import given_metrics
from metassay.scoring.catalogue import descriptions
from metassay.scoring.rubrics.ask import expanded
from metassay.scoring.rubrics.metrics import criteria_table
from metassay.scoring.rubrics.read import RUBRICS, load_rubric
from metassay.scoring.rubrics.record import Rubric


def rubric_problems(
    params: Params,
    facets: Mapping[str, Sequence[str]],
    judges: Mapping[str, Collection[str]],
) -> list[str]:
    """One line for each problem of the project's rubrics, and of metrics to compare, by their keys.

    `facets` are those that each segmentation can find; `judges` have the instruments that each can
    answer; what is not sound is in neither.
    """
    problems: list[str] = []
    rubrics: dict[str, Rubric] = {}
    for file in sorted(RUBRICS.glob("*.yaml")):
        try:
            rubrics[file.stem] = load_rubric(file)
        except BadInput as error:
            problems += error.problems
    made = dict.fromkeys(descriptions(), "")
    for name, own in params.benchmarks.items():
        metrics = dict.fromkeys(descriptions(), "one of Metassay's own")
        metrics |= dict.fromkeys(given_metrics(Path(own.raw)), "of the data's scores.csv")
        found = [*_unknown(own), *_unanswered(own, rubrics, judges)]
        if own.segmentation in facets:
            found += _metrics(own, rubrics, facets[own.segmentation], metrics)
        problems += [f"{BENCHMARKS / name / PARAMS} > {problem}" for problem in found]
        made |= metrics
    for rubric in rubrics.values():  # also of those that no benchmark names
        for names in {tuple(each) for each in facets.values()}:  # few, and slow to go through
            with suppress(BadInput):  # a rubric of facets, and a segmentation without any
                made |= dict.fromkeys(criteria_table(expanded(rubric, names))["metric"], "")
    return [*problems, *_compared(params, made)]


def _unknown(benchmark: Benchmark) -> Iterator[str]:
    known = sorted(file.stem for file in RUBRICS.glob("*.yaml"))
    for name in benchmark.rubrics:
        if name not in known:
            yield f"rubrics: there is no {RUBRICS}/{name}.yaml; known: {known}"


def _unanswered(
    benchmark: Benchmark, rubrics: Mapping[str, Rubric], judges: Mapping[str, Collection[str]]
) -> Iterator[str]:
    for rubric in (rubrics[name] for name in benchmark.rubrics if name in rubrics):
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


def _metrics(
    benchmark: Benchmark,
    rubrics: Mapping[str, Rubric],
    facets: Sequence[str],
    metrics: dict[str, str],
) -> Iterator[str]:
    """What is wrong with the metrics that the rubrics make; they are added to `metrics`."""
    for rubric in (rubrics[name] for name in benchmark.rubrics if name in rubrics):
        try:
            made = criteria_table(expanded(rubric, facets))["metric"]
        except BadInput as error:
            yield from (f"rubrics: {problem}" for problem in error.problems)
            continue
        for metric in made:
            other = metrics.setdefault(metric, f"of rubric {rubric.name}")
            if other != f"of rubric {rubric.name}":
                yield f"rubrics: {rubric.name} makes {metric}, which is {other}; rename one"


def _compared(params: Params, known: Collection[str]) -> Iterator[str]:
    compared = params.meta_evaluation.get("compared")
    for metric in compared if isinstance(compared, list) else []:
        if str(metric).partition(" (")[0] not in known:
            yield (
                f"{PARAMS} > meta_evaluation > compared: no metric is called {metric!r};"
                " docs/metrics.md and rubrics/ have their names"
            )
