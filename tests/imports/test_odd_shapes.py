"""Files that are not as the tool writes them: read, or refused in words, and never half written."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metassay.cli.main import main
from tests.imports.test_annotation_tools import ARGILLA, MARK, OPTIONS, prodigy
from tests.imports.test_corrections import CORRECTED, PROMPTFOO, TRACES, log
from tests.imports.test_corrections import sample as inspect_sample
from tests.imports.test_preferences import alpaca, bench
from tests.imports.test_tools import CASES, GENERATED, SCORES, SPANS, TASKS

WHOLE: dict[str, Any] = {
    "inspect": log(inspect_sample(1), CORRECTED),
    "lm-eval": [GENERATED],
    "ragas": {
        "ok": [{"metric_input": {"user_input": "q"}, "metric_output": 1, "target": 0}]
    },
    "deepeval": {"testCases": CASES, "identifier": "r"},
    "promptfoo": {"evalId": "e", "results": {"results": PROMPTFOO[:3]}},
    "langfuse": SCORES,
    "phoenix": [{"span_id": name, **row} for name, row in SPANS],
    "mlflow": TRACES,
    "label-studio": TASKS,
    "argilla": ARGILLA,
    "prodigy": [
        prodigy(1, "ann", label="X"),
        prodigy(2, "ben", options=OPTIONS, accept=["good"]),
        prodigy(3, "cem", spans=[MARK]),
    ],
    "doccano": [{"id": 1, "text": "One", "label": [[0, 2, "error"]], "Comments": []}],
    "spans": [{"id": 1, "text": "One", "spans": [{**MARK, "annotator": "ann"}]}],
    "preferences": [bench(81, "author_0", "model_a"), alpaca("a", 1.5, 3)],
}
ODD = st.sampled_from(
    [None, True, -1, 1e308, 10**400, "", "x\ud800y", "C", [], {}, [[1]], {"a": {}}]
)


def places(value: Any) -> list[tuple[Any, ...]]:
    """The way to every value inside."""
    if not isinstance(value, dict | list):
        return []
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [
        way for step, v in inner for way in ((step,), *((step, *r) for r in places(v)))
    ]


def changed(value: Any, way: tuple[Any, ...], odd: Any) -> Any:
    whole = inner = copy.deepcopy(value)
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = odd
    return whole


@pytest.mark.parametrize("kind", WHOLE)
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_value_in_any_place(
    tmp_path_factory, capsys, kind: str, data: st.DataObject
) -> None:
    whole = WHOLE[kind]
    way = data.draw(st.sampled_from(places(whole)))
    odd = changed(whole, way, data.draw(ODD))
    folder = tmp_path_factory.mktemp("odd")
    path = folder / "one.json"
    path.write_text(json.dumps(odd), encoding="utf-8")
    out = folder / "out"
    code = main(["import", kind, str(path), "--out", str(out)])
    printed = capsys.readouterr()
    assert code in (0, 2)
    assert out.exists() == (code == 0)
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    assert bool(printed.err) == (code == 2)
