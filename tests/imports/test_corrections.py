"""Tools that put a person's correction in the judge's own place: Inspect, promptfoo, MLflow."""

import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from tests.imports.importing import write_json, write_lines

# ---- Inspect: both files, old and new shapes

ORIGINAL = {"value": "I", "answer": "5", "provenance": None}
EDIT = {"value": "C", "provenance": {"author": "ann", "reason": "it is right"}}
UNCHANGED = {"value": "UNCHANGED", "explanation": "so", "provenance": {"author": "ben"}}


def sample(name: object, epoch: int = 1, **more: Any) -> dict[str, Any]:
    message = {"content": [{"type": "text", "text": "It is 5."}]}
    return {
        "id": name,
        "epoch": epoch,
        "input": [{"role": "user", "content": "2+2?"}],
        "target": "4",
        "output": {"model": "m", "choices": [{"message": message}]},
        "scores": {"exact": {"value": "C", "history": []}},
        **more,
    }


CORRECTED = sample(
    2,
    input="3+3?",
    target=["6", "six"],
    output={"completion": "Six."},
    scores={
        "exact": {"value": "C", "history": [ORIGINAL, UNCHANGED, EDIT]},
        "grades": {"value": {"tone": 0.5, "length": None}, "history": []},
        "panel": {"value": ["C", "P", "N"]},
    },
)
FAILED = sample(3, error={"message": "timeout"}, output={}, scores=None)
UNSCORED = sample("x", 2, scores={"exact": {"value": float("nan")}})


def log(*samples: dict[str, Any]) -> dict[str, Any]:
    about = {"task": "sums", "model": "openai/m", "config": {"epochs": 2}}
    head = {"version": 2, "status": "success", "eval": about}
    return {
        **head,
        "plan": {"steps": [{"solver": "generate"}]},
        "samples": list(samples),
    }


def test_a_correction_is_the_persons_and_the_original_the_judges(
    importer, tmp_path
) -> None:
    path = write_json(
        tmp_path / "log.json", log(sample(1), CORRECTED, FAILED, UNSCORED)
    )
    done = importer("inspect", path)
    assert done.lines[0] == "4 records, 6 scorers, 1 corrected by people, 1 failed"
    assert done.lines[1].endswith(
        "which people rated 1; judges' values that are missing: 2"
    )
    verdicts = done.column(
        "verdicts.csv", "document", "system", "exact", "exact_human_ann"
    )
    assert verdicts == [
        ("1", "openai/m", "C", ""),
        ("2", "openai/m", "I", "C"),
        ("x", "openai/m#2", "", ""),
    ]
    ratings = done.column("ratings.csv", "doc_id", "rater", "criterion", "value")
    assert ratings == [("2", "ann", "exact", "1")]
    scores = done.column("scores.csv", "doc_id", "metric", "value")
    assert ("2", "exact", "0") in scores
    assert ("x", "exact", "") in scores
    by_name = {name: value for doc, name, value in scores if doc == "2"}
    assert by_name == {
        "exact": "0",
        "grades_tone": "0.5",
        "grades_length": "",
        "panel_1": "1",
        "panel_2": "0.5",
        "panel_3": "0",
    }
    assert done.column("texts.csv", "doc_id", "text", "source", "reference") == [
        ("1", "It is 5.", "2+2?", "4"),
        ("2", "Six.", "3+3?", '["6", "six"]'),
        ("3", "", "2+2?", "4"),
        ("x", "It is 5.", "2+2?", "4"),
    ]
    failed = [row for row in done.tables["texts.jsonl"] if row.get("status")]
    assert failed == [{"doc_id": "3", "author": "openai/m", "status": "error"}]


def test_letters_of_a_choice_are_no_grades(importer, tmp_path) -> None:
    # Of answers A to D, C is not "correct"; where all letters are Inspect's grades, it
    # is.
    values = (("C", "C"), ("A", "C"), ("B", "P"))
    samples = [
        sample(n, scores={"answer": {"value": letter}, "exact": {"value": grade}})
        for n, (letter, grade) in enumerate(values)
    ]
    done = importer("inspect", write_json(tmp_path / "log.json", log(*samples)))
    scores = done.column("scores.csv", "doc_id", "metric", "value")
    assert scores == [("0", "exact", "1"), ("1", "exact", "1"), ("2", "exact", "0.5")]
    assert "words that are no numbers, in verdicts.csv alone: 'answer'" in done.lines


def test_scores_without_a_judge_and_without_names(importer, tmp_path) -> None:
    """A score that a person added, and a log of before scores had names."""
    added = sample(1, scores={"exact": {"value": "C", "history": [EDIT]}})
    done = importer("inspect", write_json(tmp_path / "log.json", log(added)))
    assert done.lines[0] == "1 record, 0 scorers, 1 corrected by people, 0 failed"
    assert "scores.csv" not in done.tables
    assert done.column("verdicts.csv", "exact_human_ann") == [("C",)]
    old = {**sample(1), "score": {"value": 0.25}}
    del old["scores"], old["epoch"]
    done = importer("inspect", write_json(tmp_path / "log.json", log(old)))
    assert done.column("scores.csv", "author", "metric", "value") == [
        ("openai/m", "score", "0.25")
    ]


def zstd_archive(path: Path, members: dict[str, object], damage: str = "") -> Path:
    """A zip archive whose members are compressed by zstd, which this Python's zipfile
    can't write: stored members, whose headers are then said to be of method 93.
    """
    lengths = {}
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in members.items():
            data = json.dumps(value).encode()
            packed = pa.compress(data, codec="zstd", asbytes=True)
            crc = zlib.crc32(data) ^ (name == damage)
            lengths[name] = (len(data), crc, len(packed))
            archive.writestr(name, packed)
    raw = bytearray(path.read_bytes())
    for name, (size, crc, packed_size) in lengths.items():
        for mark, method, sums in ((b"PK\3\4", 8, 14), (b"PK\1\2", 10, 16)):
            at = -1
            head = 30 if method == 8 else 46
            while True:
                at = raw.index(mark, at + 1)
                if raw[at + head : at + head + len(name)] == name.encode():
                    break
            raw[at + method : at + method + 2] = struct.pack("<H", 93)
            raw[at + sums : at + sums + 12] = struct.pack(
                "<III", crc, packed_size, size
            )
    path.write_bytes(raw)
    return path


HEADER = {key: value for key, value in log().items() if key != "samples"}


@pytest.mark.parametrize("header", ["header.json", "_journal/start.json"])
@pytest.mark.parametrize(
    "member", ["samples/{}_epoch_1.json", "samples/{}_epoch_1/sample.json"]
)
def test_an_archive_says_what_the_log_says(importer, tmp_path, header, member) -> None:
    samples = {member.format(s["id"]): s for s in (sample(1), CORRECTED)}
    chunk = {"samples/2_epoch_1/events.json": [], "summaries.json": [], header: HEADER}
    packed = zstd_archive(tmp_path / "log.eval", {**samples, **chunk})
    plain = write_json(tmp_path / "log.json", log(sample(1), CORRECTED))
    assert importer("inspect", packed).tables == importer("inspect", plain).tables
    with zipfile.ZipFile(
        tmp_path / "deflated.eval", "w", zipfile.ZIP_DEFLATED
    ) as archive:
        for name, value in {**samples, header: HEADER}.items():
            archive.writestr(name, json.dumps(value))
    deflated = importer("inspect", tmp_path / "deflated.eval")
    assert deflated.column("verdicts.csv", "exact", "exact_human_ann") == [
        ("C", ""),
        ("I", "C"),
    ]


def test_a_log_without_samples_is_left_out_and_named(importer, tmp_path) -> None:
    write_json(tmp_path / "logs/a.json", {**log(), "status": "error"})
    write_json(tmp_path / "logs/b.json", log(sample(1)))
    done = importer("inspect", tmp_path / "logs")
    assert done.lines[0].startswith("1 record, ")
    assert "a.json: has no record; export it again if it should" in done.lines
    # What Inspect writes beside its logs is no log; it is refused where somebody names
    # it.
    write_json(tmp_path / "logs/logs.json", {"a.json": {"version": 2}})
    start = "logs.json: is JSON with 'a.json', 'version', and not a log of Inspect"
    assert any(
        line.startswith(start) for line in importer("inspect", tmp_path / "logs").lines
    )
    assert importer.refused("inspect", tmp_path / "logs/logs.json")[0].startswith(start)
    (line,) = importer.refused("inspect", tmp_path / "logs/a.json")
    assert line == "a.json: has no record; export it again if it should"


def test_damage_is_named_by_sample_and_nothing_is_written(importer, tmp_path) -> None:
    names = [f"samples/{n}_epoch_1.json" for n in (1, 2)]
    members = {"header.json": HEADER, names[0]: sample(1), names[1]: sample(2)}
    path = zstd_archive(tmp_path / "log.eval", members, damage=names[1])
    assert importer.refused("inspect", path) == [
        "log.eval: sample 2: is damaged; write it again, or correct it"
    ]
    (tmp_path / "cut.json").write_text(
        json.dumps(log(sample(1)))[:-40], encoding="utf-8"
    )
    (line,) = importer.refused("inspect", tmp_path / "cut.json")
    assert line.startswith("cut.json: is not valid JSON")


# ---- promptfoo


def component(kind: str, passed: bool, score: float, **more: Any) -> dict[str, Any]:
    return {
        "pass": passed,
        "score": score,
        "reason": "",
        "assertion": {"type": kind, **more},
    }


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
            "componentResults": [component("contains", False, 0.0)],
            "reason": "Manual result (overrides all other grading results)",
        },
    ),
    result(
        5,
        failureReason=2,
        success=False,
        gradingResult=None,
        response=None,
        error="timeout",
    ),
]


@pytest.mark.parametrize("shape", ["nested", "flat", "lines"])
def test_promptfoo_the_judge_is_made_again_of_what_no_person_gave(
    importer, tmp_path, shape
):
    path = tmp_path / ("r.jsonl" if shape == "lines" else "r.json")
    if shape == "lines":
        write_lines(path, PROMPTFOO)
    else:
        nested = {"version": 3, "results": PROMPTFOO, "stats": {}}
        results = nested if shape == "nested" else PROMPTFOO
        whole = {"evalId": "e", "results": results, "config": {}}
        write_json(path, whole)
    done = importer("promptfoo", path)
    assert done.lines[0] == "6 records, 6 scorers, 4 corrected by people, 1 failed"
    verdicts = done.column("verdicts.csv", "overall", "overall_human")
    expected = [
        ("pass", ""),
        ("fail", "pass"),
        ("pass", "fail"),
        ("", "pass"),
        ("fail", "pass"),
    ]
    assert verdicts == expected
    scores = done.column("scores.csv", "doc_id", "metric", "value")
    overall = {doc: value for doc, metric, value in scores if metric == "overall"}
    assert overall == {"0": "1", "1": "0.25", "2": "0.25", "4": "0"}
    assert {metric for _, metric, _ in scores} == {
        "overall",
        "contains",
        "tone",
        "facts",
        "llm-rubric",
        "llm-rubric_2",
    }
    assert {name for (name,) in done.column("ratings.csv", "criterion")} == {"overall"}
    ratings = done.column("ratings.csv", "doc_id", "value")
    assert ratings == [("1", "1"), ("2", "0"), ("3", "1"), ("4", "0.8")]


def test_promptfoo_prompts_of_a_provider_are_systems(importer, tmp_path) -> None:
    rows = [
        result(0, component("contains", True, 1.0)),
        result(
            0, component("contains", True, 1.0), promptIdx=1, prompt={"raw": "Sum 0"}
        ),
        result(0, component("contains", True, 1.0), promptIdx=2, provider="other"),
    ]
    done = importer(
        "promptfoo", write_json(tmp_path / "r.json", {"results": {"results": rows}})
    )
    authors = done.column("scores.csv", "author")
    assert authors[::2] == [("openai:m",), ("openai:m#2",), ("other",)]


# ---- MLflow


def assessment(
    name: str, value: object, kind: str, by: str, **more: Any
) -> dict[str, Any]:
    source = {"source_type": kind, "source_id": by}
    return {"name": name, "feedback": {"value": value}, "source": source, **more}


EXPECTED = {"name": "expected_response", "expectation": {"value": "4"}}
BROKEN = {"error": {"error_code": "E"}, "feedback": None}
OF_TRACES = [
    [
        assessment("ok", "no", "LLM_JUDGE", "gpt", assessment_id="a1", valid=False),
        assessment("ok", "yes", "HUMAN", "ann", assessment_id="a2", overrides="a1"),
        {**EXPECTED, "source": {"source_type": "HUMAN", "source_id": "ann"}},
    ],
    [
        assessment("ok", "yes", "LLM_JUDGE", "gpt", assessment_id="b1", valid=True),
        # A person who thought again: the second word holds, and corrects no judge.
        assessment("ok", "no", "HUMAN", "ben", assessment_id="b2", valid=False),
        assessment("ok", "yes", "HUMAN", "ben", assessment_id="b3", overrides="b2"),
        # A judge that judged again, of whom the last word is read.
        assessment("tone", 1, "CODE", "rule", assessment_id="b4", valid=False),
        assessment("tone", 2, "CODE", "rule", assessment_id="b5", overrides="b4"),
        assessment("length", None, "CODE", "rule") | BROKEN,
    ],
]
TRACES: list[dict[str, Any]] = [
    {
        "trace_id": name,
        "request": {"q": question},
        "response": response,
        "trace_metadata": {"mlflow.sourceRun": "run1"},
        "assessments": assessments,
    }
    for (name, question, response), assessments in zip(
        (("t1", "2+2?", "5"), ("t2", "3+3?", "6")), OF_TRACES, strict=True
    )
]


def old_shape(trace: dict[str, Any]) -> dict[str, Any]:
    """As the protobuf form writes it: `assessment_name`, and all of it in `info`."""
    each = [
        {"assessment_name" if k == "name" else k: value for k, value in entry.items()}
        for entry in trace["assessments"]
    ]
    info = {key: trace[key] for key in ("trace_id", "trace_metadata")}
    previews = {f"{name}_preview": trace[name] for name in ("request", "response")}
    return {"info": {**info, **previews, "assessments": each}, "data": {"spans": []}}


@pytest.mark.parametrize(
    "shape", ["records", "lines", "columns", "info", "text", "parquet"]
)
def test_mlflow_what_was_overridden_is_the_judges(importer, tmp_path, shape) -> None:
    path = tmp_path / {"lines": "t.jsonl", "parquet": "t.parquet"}.get(shape, "t.json")
    frame = pd.DataFrame(TRACES)
    if shape == "lines":
        write_lines(path, TRACES)
    elif shape == "columns":
        frame.to_json(path)
    elif shape == "parquet":
        frame.assign(assessments=frame["assessments"].map(json.dumps)).to_parquet(path)
    elif shape == "text":
        write_json(
            path, [{**trace, "request": "q" + trace["trace_id"]} for trace in TRACES]
        )
    else:
        write_json(path, [old_shape(t) if shape == "info" else t for t in TRACES])
    done = importer("mlflow", path)
    assert done.lines[0] == "2 records, 3 scorers, 1 corrected by people, 0 failed"
    names = (
        "document",
        "system",
        "ok",
        "ok_human_ann",
        "ok_human_ben",
        "tone",
        "length",
    )
    assert done.column("verdicts.csv", *names) == [
        ("t1", "run1", "no", "yes", "", "", ""),
        ("t2", "run1", "yes", "", "yes", "2", ""),
    ]
    scores = done.column("scores.csv", "doc_id", "metric", "value")
    assert scores == [
        ("t1", "ok", "0"),
        ("t2", "length", ""),
        ("t2", "ok", "1"),
        ("t2", "tone", "2"),
    ]
    ratings = done.column("ratings.csv", "doc_id", "rater", "value")
    assert ratings == [("t1", "ann", "1"), ("t2", "ben", "1")]
    assert done.column("texts.csv", "text", "reference") == [("5", "4"), ("6", "")]


def test_mlflow_lists_of_parquet_are_read(importer, tmp_path) -> None:
    frame = pd.DataFrame([{"trace_id": "t1", "assessments": OF_TRACES[0][:2]}])
    frame.to_parquet(tmp_path / "t.parquet")
    done = importer("mlflow", tmp_path / "t.parquet", "--columns", "system=trace_id")
    assert done.column("verdicts.csv", "system", "ok", "ok_human_ann") == [
        ("t1", "no", "yes")
    ]
