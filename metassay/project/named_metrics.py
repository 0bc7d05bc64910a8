"""Check names of metrics that only a late stage reads, before anything is paid for.

The primary metric of a benchmark and the metrics of its combinations are read when all
answers are there. Most metrics follow from names alone: of judges, of measures, of
blocks, of rubrics. Others come with the data, so what is not known is no problem.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from metassay.core.errors import BadInput, hint
from metassay.core.options import BENCHMARKS, PARAMS, find_contradictions, parse
from metassay.core.params import Benchmark, Params
from metassay.datasets.own_data import score_metrics
from metassay.metrics.describe import RELEASED
from metassay.scoring.catalogue import descriptions
from metassay.scoring.pairing.questions import Questions, measures_of
from metassay.scoring.rubrics.ask import criteria_table, expand_facets
from metassay.scoring.rubrics.record import RUBRICS, load_rubric
from metassay.tables.names import READS, aligned_suffixes, base_metric, metric_label

_LABEL = re.compile(r"(.+) \((.+)\)")  # claim_recall (lexical)


def name_problems(
    params: Params,
    measured: Mapping[tuple[str, str], Sequence[str]],
    facets: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """Yield a line for each name of a metric that a late stage of a benchmark would refuse.

    `measured`: the labels of the metrics that each block measures, by block and name;
    `facets`: those of each segmentation.
    """
    for name, benchmark in params.benchmarks.items():
        labels = _labels(params, benchmark, measured, facets)
        file = BENCHMARKS / name / PARAMS
        design = benchmark.design
        names = {
            f"{file} > design > primary": [design.primary] if design.primary else [],
            f"{file} > design > fitted": design.fitted,
        }
        chosen = design.primary, design.tried, design.fitted
        for fault in find_contradictions(*chosen):
            yield fault.line(str(file), "design")
        for combination in benchmark.combinations:
            place = f"{file} > combinations > {combination}"
            names[place] = params.combinations[combination].get("metrics", [])
        for place, metrics in names.items():
            for metric in metrics:
                if problem := _problem(metric, labels, params, benchmark):
                    yield f"{place}: {problem}{hint(metric, labels)}"


def _labels(
    params: Params,
    benchmark: Benchmark,
    measured: Mapping[tuple[str, str], Sequence[str]],
    facets: Mapping[str, Sequence[str]],
) -> set[str]:
    """Return names and labels of the metrics that are known to be made for a benchmark."""
    labels = {*benchmark.combinations, *score_metrics(Path(benchmark.raw))}
    for block in benchmark.measured_by:
        labels.update(measured.get(block, []))
    judged = _measures(params, benchmark) + _criteria(benchmark, facets)
    labels.update(judged)
    for judge in benchmark.judges:
        labels.update(metric_label(metric, judge) for metric in judged)
    return labels | {_parts(label)[0] for label in labels}


def _measures(params: Params, benchmark: Benchmark) -> list[str]:
    names: list[str] = []
    for block in benchmark.questions:
        with suppress(BadInput):  # reported elsewhere
            options = parse(Questions, params.questions[block], where=block)
            suffixes = aligned_suffixes(options.alignments, benchmark.alignments)
            measures = measures_of(options, suffixes.values())
            names += [measure.description.name for measure in measures]
    return names


def _criteria(benchmark: Benchmark, facets: Mapping[str, Sequence[str]]) -> list[str]:
    names: list[str] = []
    for rubric in benchmark.rubrics:
        with suppress(BadInput):  # reported elsewhere
            of_rubric = load_rubric(RUBRICS / f"{rubric}.yaml")
            of_segmentation = facets.get(benchmark.segmentation, ())
            names += criteria_table(expand_facets(of_rubric, of_segmentation))[
                "metric"
            ].tolist()
    return names


def _problem(
    metric: str, labels: set[str], params: Params, benchmark: Benchmark
) -> str:
    """Return why a metric cannot be there; empty if it may be."""
    name, judge = _parts(metric)
    base = base_metric(name)
    if metric in labels or _is_aligned(name, labels, benchmark):
        return ""
    if judge in params.judges and judge not in benchmark.judges:
        return (
            f"{metric!r} is of judge {judge!r}, which is not among this benchmark's judges;"
            " add it to judges, or name another metric"
        )
    # Data may bring verdicts, whose judges nobody declares, and released metrics.
    is_misspelt = hint(metric, labels)
    described = descriptions().get(base)
    if (judge and not is_misspelt) or (described and described.family == RELEASED):
        return ""
    if described is None:
        return f"no metric is called {metric!r}; docs/metrics.md and rubrics/ have all"
    return (
        f"nothing of this benchmark makes {metric!r}; add the block, measure or judge that"
        " does, or name another metric"
    )


def _is_aligned(name: str, labels: set[str], benchmark: Benchmark) -> bool:
    """Return whether a name is that of a metric of statements and an alignment it reads."""
    base, _, alignment = name.partition(READS)
    bases = {base_metric(label) for label in labels}
    return base in bases and alignment.partition(READS)[0] in benchmark.alignments


def _parts(label: str) -> tuple[str, str]:
    """Return the name of a metric, and its judge or model; empty if it has none."""
    match = _LABEL.fullmatch(label)
    return (match[1], match[2]) if match else (label, "")
