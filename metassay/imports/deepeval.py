"""Test runs of DeepEval: `.latest_run_full.json`, `test_run_*.json`."""

from collections.abc import Iterator

from metassay.imports.record import Item, Judgment, Kind, Object, Task, judged, rated, several
from metassay.imports.records import Steps, parts, records
from metassay.imports.values import first, objects, text, texts, verdict
from metassay.tabular.rows import Findings

_CASES = ("testCases", "test_cases", "conversationalTestCases")
_SYSTEM = (("identifier",), ("hyperparameters", "model"), ("hyperparameters", "Model"))


def _wanted(steps: Steps) -> bool:
    return steps[-1:] in {(name,) for name in _CASES}


def _read(task: Task) -> Iterator[Item]:
    # What names the run stands below its cases.
    leaves = {one.steps: one.value for one in parts(task.path, _wanted, Findings())}
    named = (leaves.get((*of, *step)) for step in _SYSTEM for of in ((), ("testRunData",)))
    system = next(filter(None, named), None)
    for at, case in records(task.path, task.problems, _wanted):
        metrics = objects(first(case, "metricsData", "metrics_data", "metricsMetadata"))
        notes = objects(case.get("annotations") or [case.get("annotation")])
        yield Item(
            *(at, task.doc(case, case.get("name"))),
            task.system(case, system),
            several((*map(_metric, metrics), *map(_person, notes))),
            text(first(case, "actualOutput", "actual_output", "turns")),
            texts(case.get("input"), first(case, "retrievalContext", "retrieval_context")),
            text(first(case, "expectedOutput", "expected_output")),
        )


def _metric(one: Object) -> Iterator[Judgment]:
    name, by = first(one, "name", "metric"), first(one, "evaluationModel", "evaluation_model")
    failed = one.get("error") or one.get("score") is None
    said = (None, "") if failed else (one["score"], verdict(one.get("success")))
    yield from judged(name, said[0], by, label=said[1])


def _person(one: Object) -> Iterator[Judgment]:
    """An annotation: 0 or 1 for thumbs, 1 to 5 for stars."""
    name, by = first(one, "name", "metric"), first(one, "userId", "annotator", "user")
    yield from rated(name or "rating", first(one, "rating", "value", "score"), by)


KIND = Kind(
    "a test run of DeepEval",
    (".latest_run_full.json", ".latest_test_run.json", "test_run_*.json"),
    ("testCases", "test_cases metrics_data", "testRunData"),
    _read,
)
