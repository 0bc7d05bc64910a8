"""DeepEval: a test run with a list of cases."""

from collections.abc import Iterator
from itertools import chain

from metassay.imports.items import (
    Item,
    Judgment,
    Object,
    Task,
    Tool,
    first,
    key,
    missing_judgment,
    number,
    objects,
    parse_rating,
    parse_value,
)
from metassay.imports.records import Steps, parts, records
from metassay.tabular.rows import Findings

_CASES = ("testCases", "test_cases", "conversationalTestCases")
_METRICS = ("metricsData", "metrics_data", "metricsMetadata")


def read(task: Task) -> Iterator[Item]:
    """Yield the cases of a run; a case without metrics lacks each metric of the run."""
    system = _name_of_run(task)
    run_metrics = _metrics_of_run(task)
    without = 0
    for place, case in records(task.path, task.problems, _is_cases):
        metrics = objects(first(case, *_METRICS))
        notes = objects(case.get("annotations") or [case.get("annotation")])
        lacking = [] if metrics else [missing_judgment(*names) for names in run_metrics]
        without += not metrics
        yield Item(
            place=place,
            record=case,
            judgments=chain(
                chain.from_iterable(map(_judgments, metrics)),
                lacking,
                chain.from_iterable(map(_annotation, notes)),
            ),
            doc=case.get("name"),
            system=system,
            text=first(case, "actualOutput", "actual_output", "turns"),
            source=[
                case.get("input"),
                first(case, "retrievalContext", "retrieval_context"),
            ],
            reference=first(case, "expectedOutput", "expected_output"),
        )
    what = "without metrics: each metric of the run is missing there"
    task.note(without, "case", what, "run these cases again in DeepEval")


def _is_cases(steps: Steps) -> bool:
    return bool(steps) and steps[-1] in _CASES


def _name_of_run(task: Task) -> object:
    """Return the name of the run, which stands below its cases."""
    leaves = {
        part.steps[-1:]: part.value for part in parts(task.path, _is_cases, Findings())
    }
    systems = (leaves.get((name,)) for name in ("identifier", "model", "Model"))
    return next((system for system in systems if system), None)


def _metrics_of_run(task: Task) -> list[tuple[str, str]]:
    """Return the names and models of all metrics in the file."""
    names: dict[tuple[str, str], None] = {}
    for _, case in records(task.path, Findings(), _is_cases):
        for metric in objects(first(case, *_METRICS)):
            names[_names(metric)] = None
    return list(names)


def _names(metric: Object) -> tuple[str, str]:
    by = first(metric, "evaluationModel", "evaluation_model")
    return key(first(metric, "name", "metric")), key(by)


def _judgments(metric: Object) -> Iterator[Judgment]:
    name, by = _names(metric)
    score = None if metric.get("error") else metric.get("score")
    return parse_value(
        name,
        score,
        by,
        label="" if score is None else metric.get("success"),
        better=_direction(metric),
    )


def _direction(metric: Object) -> str:
    """Tell from a score apart from its threshold, and its success, which end is better."""
    score, threshold = number(metric.get("score")), number(metric.get("threshold"))
    success = metric.get("success")
    if (
        score is None
        or threshold is None
        or score == threshold
        or not isinstance(success, bool)
    ):
        return ""
    return "higher" if (score > threshold) == success else "lower"


def _annotation(note: Object) -> Iterator[Judgment]:
    """Yield a person's judgment: 0 or 1 for thumbs, 1 to 5 for stars."""
    name, by = first(note, "name", "metric"), first(note, "userId", "annotator", "user")
    return parse_rating(name or "rating", first(note, "rating", "value", "score"), by)


TOOL = Tool(
    name="deepeval",
    what="a test run of DeepEval",
    read=read,
    patterns=(".latest_run_full.json", ".latest_test_run.json", "test_run_*.json"),
    marks=(("testCases",), ("test_cases", "metrics_data"), ("testRunData",)),
)
