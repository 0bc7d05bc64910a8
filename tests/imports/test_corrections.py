"""Tools that put a person's correction in the judge's own place, besides Inspect."""

import json
from typing import Any

import pandas as pd
import pytest

from tests.imports.importing import write_json, write_lines

# ---- promptfoo


def component(kind: str, passed: bool, score: float, **more: Any) -> dict[str, Any]:
    return {"pass": passed, "score": score, "reason": "", "assertion": {"type": kind, **more}}


def result(test: int, *components: dict[str, Any], **more: Any) -> dict[str, Any]:
    grading = {"pass": True, "score": 1.0, "componentResults": list(components)}
    return {
        "testIdx": test,
        "promptIdx": 0,
        "provider": {"id": "openai:m", "label": ""},
        "prompt": {"raw": f"Sum {test}", "label": "p"},
        "vars": {"n": test},
        "response": {"output": f"It is {test}."},
        "success": True,
        "score": 1.0,
        "namedScores": {},
        "gradingResult": grading,
        "failureReason": 0,
        **more,
    }


HUMAN = component("human", True, 1.0)
PROMPTFOO = [
    result(0, component("contains", True, 1.0), namedScores={"tone": 0.5}),
    # The judge let it fail (.25 of weights 3 and 1), a person let it pass.
    result(
        1,
        component("llm-rubric", False, 0.0, metric="facts", weight=3),
        component("llm-rubric", True, 1.0),
        HUMAN,
        namedScores={"facts": 0.0},
    ),
    # The same with a threshold of the test's, which .25 reaches.
    result(
        2,
        component("llm-rubric", False, 0.0, weight=3),
        component("llm-rubric", True, 1.0),
        component("human", False, 0.0),
        success=False,
        score=0.0,
        testCase={"threshold": 0.25},
    ),
    result(3, HUMAN),  # nothing but a person
    # A score that somebody typed in has no component.
    result(
        4,
        score=0.8,
        gradingResult={
            "pass": True,
            "score": 0.8,
            "reason": "Manual result (overrides all other grading results)",
            "componentResults": [component("contains", False, 0.0)],
        },
    ),
    result(5, failureReason=2, success=False, gradingResult=None, response=None, error="timeout"),
]


@pytest.mark.parametrize("shape", ["nested", "flat", "lines"])
def test_promptfoo_the_judge_is_made_again_of_what_no_person_gave(importer, tmp_path, shape):
    path = tmp_path / ("r.jsonl" if shape == "lines" else "r.json")
    if shape == "lines":
        write_lines(path, PROMPTFOO)
    else:
        held = {"version": 3, "results": PROMPTFOO, "stats": {}}
        whole = {"evalId": "e", "results": held if shape == "nested" else PROMPTFOO, "config": {}}
        write_json(path, whole)
    done = importer("promptfoo", path)
    assert done.said[0] == "6 records, 6 scorers, 4 corrected by people, 1 failed"
    verdicts = done.column("verdicts.csv", "document", "overall", "overall_human")
    assert verdicts == [
        ("0", "pass", ""),
        ("1", "fail", "pass"),
        ("2", "pass", "fail"),
        ("3", "", "pass"),
        ("4", "fail", "pass"),
    ]
    scores = done.column("scores.csv", "doc_id", "metric", "value")
    overall = {doc: value for doc, metric, value in scores if metric == "overall"}
    assert overall == {"0": "1", "1": "0.25", "2": "0.25", "4": "0"}
    assert {metric for _, metric, _ in scores} == {
        *("overall", "contains", "tone", "facts", "llm-rubric", "llm-rubric_2")
    }
    assert done.column("ratings.csv", "doc_id", "criterion", "value") == [
        ("1", "overall", "1"),
        ("2", "overall", "0"),
        ("3", "overall", "1"),
        ("4", "overall", "0.8"),
    ]


def test_promptfoo_prompts_of_a_provider_are_systems(importer, tmp_path) -> None:
    rows = [
        result(0, component("contains", True, 1.0)),
        result(0, component("contains", True, 1.0), promptIdx=1, prompt={"raw": "Sum 0"}),
        result(0, component("contains", True, 1.0), promptIdx=2, provider="other"),
    ]
    done = importer("promptfoo", write_json(tmp_path / "r.json", {"results": {"results": rows}}))
    assert done.column("scores.csv", "author")[::2] == [
        ("openai:m",),
        ("openai:m#2",),
        ("other",),
    ]


# ---- MLflow


def assessment(name: str, value: object, kind: str, by: str, **more: Any) -> dict[str, Any]:
    source = {"source_type": kind, "source_id": by}
    return {"name": name, "feedback": {"value": value}, "source": source, **more}


TRACES = [
    {
        "trace_id": "t1",
        "request": {"q": "2+2?"},
        "response": "5",
        "trace_metadata": {"mlflow.sourceRun": "run1"},
        "assessments": [
            assessment("ok", "no", "LLM_JUDGE", "gpt", assessment_id="a1", valid=False),
            assessment("ok", "yes", "HUMAN", "ann", assessment_id="a2", overrides="a1"),
            {
                **{"name": "expected_response", "expectation": {"value": "4"}},
                **{"source": {"source_type": "HUMAN", "source_id": "ann"}},
            },
        ],
    },
    {
        "trace_id": "t2",
        "request": {"q": "3+3?"},
        "response": "6",
        "trace_metadata": {"mlflow.sourceRun": "run1"},
        "assessments": [
            assessment("ok", "yes", "LLM_JUDGE", "gpt", assessment_id="b1", valid=True),
            # A person who thought again: the second word holds, and corrects no judge.
            assessment("ok", "no", "HUMAN", "ben", assessment_id="b2", valid=False),
            assessment("ok", "yes", "HUMAN", "ben", assessment_id="b3", overrides="b2"),
            # A judge that judged again, of whom the last word is read.
            assessment("tone", 1, "CODE", "rule", assessment_id="b4", valid=False),
            assessment("tone", 2, "CODE", "rule", assessment_id="b5", overrides="b4"),
            {
                **assessment("length", None, "CODE", "rule"),
                **{"error": {"error_code": "E"}, "feedback": None},
            },
        ],
    },
]


def old_shape(trace: dict[str, Any]) -> dict[str, Any]:
    """As the protobuf form writes it: `assessment_name`, and all of it in `info`."""
    each = [
        {"assessment_name": one["name"], **{k: v for k, v in one.items() if k != "name"}}
        for one in trace["assessments"]
    ]
    info = {key: trace[key] for key in ("trace_id", "trace_metadata")}
    previews = {f"{name}_preview": trace[name] for name in ("request", "response")}
    return {"info": {**info, **previews, "assessments": each}, "data": {"spans": []}}


@pytest.mark.parametrize("shape", ["records", "lines", "columns", "info", "text", "parquet"])
def test_mlflow_what_was_overridden_is_the_judges(importer, tmp_path, shape) -> None:
    path = tmp_path / {"lines": "t.jsonl", "parquet": "t.parquet"}.get(shape, "t.json")
    frame = pd.DataFrame(TRACES)
    if shape == "lines":
        write_lines(path, TRACES)
    elif shape == "columns":
        frame.to_json(path)
    elif shape == "parquet":
        frame["assessments"] = [
            [{**{"expectation": None}, **one} for one in each] for each in frame["assessments"]
        ]
        flat = frame.assign(assessments=frame["assessments"].map(json.dumps))
        flat.to_parquet(path)
    elif shape == "text":
        write_json(path, [{**one, "request": "q" + one["trace_id"]} for one in TRACES])
    else:
        write_json(path, [old_shape(one) if shape == "info" else one for one in TRACES])
    done = importer("mlflow", path)
    assert done.said[0] == "2 records, 3 scorers, 1 corrected by people, 0 failed"
    names = ("document", "system", "ok", "ok_human_ann", "ok_human_ben", "tone", "length")
    assert done.column("verdicts.csv", *names) == [
        ("t1", "run1", "no", "yes", "", "", ""),
        ("t2", "run1", "yes", "", "yes", "2", ""),
    ]
    assert done.column("scores.csv", "doc_id", "metric", "value") == [
        ("t1", "ok", "0"),
        ("t2", "length", ""),
        ("t2", "ok", "1"),
        ("t2", "tone", "2"),
    ]
    assert done.column("ratings.csv", "doc_id", "rater", "value") == [
        ("t1", "ann", "1"),
        ("t2", "ben", "1"),
    ]
    assert done.column("texts.csv", "text", "reference") == [("5", "4"), ("6", "")]


def test_mlflow_lists_of_parquet_are_read(importer, tmp_path) -> None:
    each = [one for one in TRACES[0]["assessments"] if "feedback" in one]
    frame = pd.DataFrame([{"trace_id": "t1", "assessments": each}])
    frame.to_parquet(tmp_path / "t.parquet")
    done = importer("mlflow", tmp_path / "t.parquet", "--columns", "system=trace_id")
    assert done.column("verdicts.csv", "system", "ok", "ok_human_ann") == [("t1", "no", "yes")]
