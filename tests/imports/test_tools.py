"""Tools where people's values stand beside the judge's: files written by hand, old and new."""

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.imports.importing import write_json, write_lines

# ---- lm-eval

GENERATED = {
    "doc_id": 0,
    "doc": {"question": "2+2?"},
    "target": "4",
    "resps": [["It is 4."]],
    "arguments": {"gen_args_0": {"arg_0": "Q: 2+2?", "arg_1": {"until": ["\n"]}}},
    "filtered_resps": ["4"],
    "filter": "strict-match",
    "metrics": ["exact_match"],
    "doc_hash": "d",
    "prompt_hash": "p",
    "target_hash": "t",
    "exact_match": 1.0,
}


def test_lm_eval_new_lines_have_filters(importer, tmp_path) -> None:
    two = {
        "doc_id": 1,
        "filter": "none",
        "metrics": ["acc", "em"],
        "acc": None,
        "em": 1,
    }
    changes = ({}, {"filter": "flexible", "exact_match": 0.0}, two)
    for model in ("one", "two"):
        path = (
            tmp_path / "runs" / model / "samples_gsm8k_2026-01-02T03-04-05.678901.jsonl"
        )
        write_lines(path, [GENERATED | change for change in changes])
    done = importer("lm-eval", tmp_path / "runs")
    assert done.lines[0] == "6 records, 4 scorers, 0 corrected by people, 0 failed"
    documents = done.column("verdicts.csv", "document", "system")
    assert documents[::2] == [("gsm8k:0", "one"), ("gsm8k:0", "two")]
    assert done.column("scores.csv", "author", "doc_id", "metric", "value")[:4] == [
        ("one", "gsm8k:0", "exact_match_flexible", "0"),
        ("one", "gsm8k:0", "exact_match_strict-match", "1"),
        ("one", "gsm8k:1", "acc", ""),
        ("one", "gsm8k:1", "em", "1"),
    ]
    texts = done.column("texts.csv", "text", "source", "reference")
    assert texts[0] == ("It is 4.", "Q: 2+2?", "4")


def test_lm_eval_old_lines_have_metrics_as_keys(importer, tmp_path) -> None:
    line = {
        "doc_id": 3,
        "doc": {},
        "target": 0,
        "acc": 1.0,
        "acc_norm": float("nan"),
        "arguments": [["Q", " yes"], ["Q", " no"]],
        "doc_hash": "d",
        "resps": [[["-1.5", "False"]], [["-2.5", "True"]]],
        "filtered_resps": [[-1.5, False]],
    }
    done = importer("lm-eval", write_lines(tmp_path / "m/samples_boolq.jsonl", [line]))
    assert done.column("scores.csv", "doc_id", "author", "metric", "value") == [
        ("boolq:3", "m", "acc", "1"),
        ("boolq:3", "m", "acc_norm", ""),
    ]
    assert "texts.csv" not in done.tables  # likelihoods are no texts
    assert any(line.startswith("no texts") for line in done.lines)


# ---- Ragas


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize(
    ("question", "answer", "contexts", "right"),
    [
        ("user_input", "response", "retrieved_contexts", "reference"),
        ("question", "answer", "contexts", "ground_truth"),
    ],
)
def test_ragas_experiments(
    importer, tmp_path, question, answer, contexts, right
) -> None:
    names = (
        question,
        contexts,
        answer,
        right,
        "faithfulness",
        "judge_label",
        "target",
        "note",
    )
    first = (
        "2+2?",
        "['Two and two.', \"It's 4.\"]",
        "4",
        "4",
        0.5,
        "pass",
        "fail",
        "ok",
    )
    second = ("3+3?", "[]", "7", "6", "", "fail", "", "so")
    rows = [dict(zip(names, row, strict=True)) for row in (first, second)]
    # Documents of two experiments meet, in whatever order they stand.
    paths = table(tmp_path / "one.csv", rows), table(tmp_path / "two.csv", rows[::-1])
    done = importer("ragas", *paths)
    assert done.lines[0] == "4 records, 2 scorers, 0 corrected by people, 0 failed"
    verdicts = done.column(
        "verdicts.csv", "system", "faithfulness", "judge_label", "target_human"
    )
    assert verdicts[:2] == [("one", "0.5", "pass", "fail"), ("one", "", "fail", "")]
    assert len({doc for (doc,) in done.column("verdicts.csv", "document")}) == 2
    assert done.column("ratings.csv", "author", "value") == [("one", "0"), ("two", "0")]
    assert done.tables["sources.jsonl"][0]["passages"] == [
        "2+2?",
        "Two and two.",
        "It's 4.",
    ]


def test_ragas_annotations_accepted_outputs_are_no_ratings(importer, tmp_path) -> None:
    values = [(1, True, None), (1, False, 0), (0, True, 0)]
    records = [
        {
            "metric_input": {"user_input": f"q{n}", "response": f"r{n}"},
            "prompts": {},
            "metric_output": output,
            "is_accepted": accepted,
            "target": target,
        }
        for n, (output, accepted, target) in enumerate(values)
    ]
    done = importer("ragas", write_json(tmp_path / "a.json", {"correct": records}))
    assert done.lines[0] == "3 records, 1 scorer, 1 corrected by people, 0 failed"
    verdicts = done.column("verdicts.csv", "correct", "correct_human")
    assert verdicts == [("1", ""), ("1", "0"), ("0", "0")]
    assert any("1 output accepted without a target" in line for line in done.lines)


# ---- DeepEval


def case(name: str, *metrics: dict[str, Any], **more: Any) -> dict[str, Any]:
    beside = {"input": "2+2?", "actualOutput": "5", "expectedOutput": "4"}
    return {
        "name": name,
        **beside,
        "retrievalContext": ["2."],
        "metricsData": [*metrics],
        **more,
    }


def metric(score: float | None, success: bool, **more: Any) -> dict[str, Any]:
    about = {"name": "Answer Relevancy", "threshold": 0.5, "evaluationModel": "gpt"}
    return {**about, "score": score, "success": success, **more}


FAILED = metric(None, False, error="no JSON")
CASES = [
    case("a", metric(0.75, True), metric(0.0, True, name="Hallucination")),
    case("b", FAILED, annotations=[{"rating": 0, "userId": "ann"}]),
    case("c", metric(0.25, False), annotation={"rating": 4}, actualOutput=None),
]


@pytest.mark.parametrize("shape", ["run", "latest", "model"])
def test_deepeval_runs(importer, tmp_path, shape) -> None:
    run: dict[str, Any] = {
        "testFile": None,
        "testCases": CASES,
        "conversationalTestCases": [],
    }
    run["hyperparameters"] = {"model": "m"}
    if shape != "model":
        run["identifier"] = "r1"
    name = (
        ".latest_run_full.json"
        if shape == "latest"
        else "test_run_20260102_030405.json"
    )
    write_json(
        tmp_path / "d" / name, {"testRunData": run} if shape == "latest" else run
    )
    done = importer("deepeval", tmp_path / "d")
    assert done.lines[0] == "3 records, 2 scorers, 0 corrected by people, 0 failed"
    assert done.lines[1].endswith("missing: 1")
    system = "m" if shape == "model" else "r1"
    columns = (
        "document",
        "system",
        "Answer Relevancy",
        "rating_human_ann",
        "rating_human",
    )
    assert done.column("verdicts.csv", *columns) == [
        ("a", system, "pass", "", ""),
        ("b", system, "", "0", ""),
        ("c", system, "fail", "", "4"),
    ]
    assert done.column("scores.csv", "metric", "value", "better") == [
        ("Answer_Relevancy", "0.75", "higher"),
        ("Hallucination", "0", "lower"),
        ("Answer_Relevancy", "", "higher"),
        ("Answer_Relevancy", "0.25", "higher"),
    ]
    assert any("'Answer_Relevancy for Answer Relevancy'" in line for line in done.lines)
    assert "less is better, as the tool says: 'Hallucination'" in done.lines
    assert done.tables["texts.jsonl"][-1] == {
        "doc_id": "c",
        "author": system,
        "status": "error",
    }


# ---- Langfuse


def score(trace: str, name: str, kind: str, source: str, **more: Any) -> dict[str, Any]:
    return {"traceId": trace, "name": name, "dataType": kind, "source": source, **more}


TRUE, FALSE = {"value": 1, "stringValue": "True"}, {"value": 0, "stringValue": "False"}
RUDE = {"value": None, "stringValue": "rude", "observationId": "o"}
SCORES = [
    score("t1", "ok", "BOOLEAN", "EVAL", **TRUE),
    score("t1", "ok", "BOOLEAN", "ANNOTATION", **FALSE, authorUserId="ann"),
    score("t1", "kind", "CATEGORICAL", "API", **RUDE),
    score("t2", "ok", "BOOLEAN", "EVAL", value=None),
    score("t2", "fix", "TEXT", "ANNOTATION", stringValue="Better so."),
]
SNAKE = {"traceId": "trace_id", "stringValue": "string_value", "dataType": "data_type"}
SNAKE |= {"authorUserId": "author_user_id", "observationId": "observation_id"}


@pytest.mark.parametrize("shape", ["list", "data", "lines", "csv"])
def test_langfuse_annotations_are_peoples(importer, tmp_path, shape) -> None:
    rows = [{**row, "metadata": {"model": "m"}} for row in SCORES]
    snake = [
        {SNAKE.get(name, name): value for name, value in row.items()} for row in rows
    ]
    if shape == "csv":
        cells = [dict.fromkeys(snake[1] | snake[2], "") | row for row in snake]
        path = table(
            tmp_path / "s.csv", [{**row, "metadata": '{"model": "m"}'} for row in cells]
        )
    elif shape == "lines":
        path = write_lines(tmp_path / "s.jsonl", snake)
    else:
        whole = rows if shape == "list" else {"data": rows, "meta": {}}
        path = write_json(tmp_path / "s.json", whole)
    done = importer("langfuse", path, "--columns", "system=metadata.model")
    assert done.lines[0] == "4 records, 2 scorers, 0 corrected by people, 0 failed"
    start = "3 texts, of which people rated 1; judges' values that are missing: 1"
    assert done.lines[1].startswith(start)
    columns = ("document", "system", "ok", "kind", "ok_human_ann")
    assert done.column("verdicts.csv", *columns) == [
        ("t1", "m", "1", "", "0"),
        ("t1/o", "m", "", "rude", ""),
        ("t2", "m", "", "", ""),
    ]
    assert "words that are no numbers, in verdicts.csv alone: 'kind'" in done.lines
    assert {name for (name,) in done.column("scores.csv", "metric")} == {"ok"}
    assert any("1 score not read: texts" in line for line in done.lines)


# ---- Phoenix


def span(
    kind: str, value: float | None, label: str | None, by: str = ""
) -> dict[str, Any]:
    result = {
        "result.score": value,
        "result.label": label,
        "result.explanation": "because",
    }
    return {
        "annotation_name": "faithful",
        "annotator_kind": kind,
        **result,
        "identifier": by,
    }


SPANS = [
    ("s1", span("LLM", 1.0, "faithful")),
    ("s1", span("HUMAN", 0.0, "unfaithful", "ann")),
    ("s1", span("HUMAN", 1.0, "faithful", "ben")),
    ("s2", span("CODE", None, None)),
]


@pytest.mark.parametrize("shape", ["parquet", "csv", "list", "data"])
def test_phoenix_people_are_raters(importer, tmp_path, shape) -> None:
    names, cells = zip(*SPANS, strict=True)
    frame = pd.DataFrame(cells, index=pd.Index(names, name="span_id"))
    path = tmp_path / f"a.{shape if shape in ('csv', 'parquet') else 'json'}"
    if shape == "csv":
        frame.to_csv(path)
    elif shape == "parquet":
        frame.assign(metadata=[{"a": 1}] * 4).to_parquet(path)
    else:
        rows = [
            {
                "span_id": name,
                "name": row["annotation_name"],
                **{key: row[key] for key in ("identifier", "annotator_kind")},
                "result": {
                    key: row[f"result.{key}"]
                    for key in ("score", "label", "explanation")
                },
            }
            for name, row in SPANS
        ]
        write_json(
            path, rows if shape == "list" else {"data": rows, "next_cursor": None}
        )
    done = importer("phoenix", path)
    assert done.lines[0] == "4 records, 1 scorer, 0 corrected by people, 0 failed"
    columns = ("document", "faithful", "faithful_human_ann", "faithful_human_ben")
    assert done.column("verdicts.csv", *columns) == [
        ("s1", "faithful", "unfaithful", "faithful"),
        ("s2", "", "", ""),
    ]
    assert done.column("scores.csv", "value") == [("1",), ("",)]
    assert done.column("ratings.csv", "rater", "value") == [("ann", "0"), ("ben", "1")]


# ---- Scout


def test_scout_scans_and_their_validation(importer, tmp_path) -> None:
    validation = tmp_path / "validation.csv"
    lines = "id,target,split,label_tone\nt1,true,dev,yes\nt2,false,dev,\n"
    validation.write_text(lines, encoding="utf-8")
    scans = {"transcript_id": ["t1", "t2", "t3"], "scanner_name": ["target"] * 3}
    scans |= {"value": ["false", "true", None], "scan_error": [None, None, "timeout"]}
    pd.DataFrame(scans).to_parquet(tmp_path / "scan.parquet")
    done = importer("scout", validation, tmp_path / "scan.parquet")
    assert done.column(
        "verdicts.csv", "document", "target", "target_human", "tone_human"
    ) == [
        ("t1", "false", "true", "yes"),
        ("t2", "true", "false", ""),
        ("t3", "", "", ""),
    ]
    assert done.column("scores.csv", "value") == [("0",), ("1",), ("",)]
    ratings = done.column("ratings.csv", "doc_id", "criterion", "value")
    assert ratings == [
        ("t1", "target", "1"),
        ("t1", "tone", "1"),
        ("t2", "target", "0"),
    ]


# ---- Label Studio


def answer(name: str, kind: str, value: object) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": {kind: value}}


MARK = {
    "from_name": "mark",
    "type": "labels",
    "value": {"start": 0, "end": 2, "labels": ["x"]},
}
BY_ANN = [answer("tone", "choices", ["good"]), answer("stars", "rating", 4)]
BY_BEN = [answer("stars", "rating", 2), MARK]
TASKS = [
    {
        "id": 7,
        "data": {
            "note_id": "n1",
            "model": "m",
            "summary": "Cough.",
            "dialogue": "Cough?",
        },
        "annotations": [
            {"completed_by": 1, "result": BY_ANN},
            {"completed_by": {"id": 2, "email": "ben@lab"}, "result": BY_BEN},
            {
                "completed_by": 3,
                "was_cancelled": True,
                "result": [answer("stars", "rating", 1)],
            },
        ],
    },
    {"id": 8, "data": {"model": "m", "summary": "None."}, "annotations": []},
]


def test_label_studio_annotators_are_raters(importer, tmp_path) -> None:
    done = importer("label-studio", write_json(tmp_path / "export.json", TASKS))
    assert done.lines[0] == "2 records, 0 scorers, 0 corrected by people, 0 failed"
    columns = ("document", "stars_human_1", "stars_human_ben@lab", "tone_human_1")
    assert done.column("verdicts.csv", *columns) == [("n1", "4", "2", "good")]
    ratings = done.column("ratings.csv", "doc_id", "rater", "criterion", "value")
    assert ratings == [
        ("n1", "1", "stars", "4"),
        ("n1", "ben@lab", "stars", "2"),
        ("n1", "ben@lab", "x_count", "1"),  # a marked span
    ]
    texts = done.column("texts.csv", "doc_id", "author", "text", "source")
    assert texts == [("n1", "m", "Cough.", "Cough?"), ("8", "m", "None.", "")]
