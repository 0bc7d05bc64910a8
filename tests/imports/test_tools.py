"""The other tools: each on files written by hand to the documented shape, old and new."""

import csv
import io
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
    "arguments": {"gen_args_0": {"arg_0": "Q: 2+2?", "arg_1": {"until": ["\n"]}}},
    "resps": [["It is 4."]],
    "filtered_resps": ["4"],
    "filter": "strict-match",
    "metrics": ["exact_match"],
    "doc_hash": "d",
    "prompt_hash": "p",
    "target_hash": "t",
    "exact_match": 1.0,
}


def test_lm_eval_new_lines_have_filters(importer, tmp_path) -> None:
    lines = [
        GENERATED,
        {**GENERATED, "filter": "flexible", "exact_match": 0.0},
        {
            **GENERATED,
            "doc_id": 1,
            "filter": "none",
            "metrics": ["acc", "em"],
            "acc": None,
            "em": 1,
        },
    ]
    for model in ("one", "two"):
        name = "samples_gsm8k_2026-01-02T03-04-05.678901.jsonl"
        write_lines(tmp_path / "runs" / model / name, lines)
    done = importer("lm-eval", tmp_path / "runs")
    assert done.said[0] == "6 records, 4 scorers, 0 corrected by people, 0 failed"
    assert done.column("verdicts.csv", "document", "system")[::2] == [
        ("gsm8k:0", "one"),
        ("gsm8k:0", "two"),
    ]
    one = [
        row[1:]
        for row in done.column("scores.csv", "author", "doc_id", "metric", "value")
        if row[0] == "one"
    ]
    assert one == [
        ("gsm8k:0", "exact_match_flexible", "0"),
        ("gsm8k:0", "exact_match_strict-match", "1"),
        ("gsm8k:1", "acc", ""),
        ("gsm8k:1", "em", "1"),
    ]
    assert done.column("texts.csv", "text", "source", "reference")[0] == (
        "It is 4.",
        "Q: 2+2?",
        "4",
    )


def test_lm_eval_old_lines_have_metrics_as_keys(importer, tmp_path) -> None:
    line = {
        **{"doc_id": 3, "doc": {}, "target": 0, "acc": 1.0, "acc_norm": float("nan")},
        **{"arguments": [["Q", " yes"], ["Q", " no"]], "doc_hash": "d"},
        **{"resps": [[["-1.5", "False"]], [["-2.5", "True"]]], "filtered_resps": [[-1.5, False]]},
    }
    path = write_lines(tmp_path / "m" / "samples_boolq.jsonl", [line])
    done = importer("lm-eval", path)
    assert done.column("scores.csv", "doc_id", "author", "metric", "value") == [
        ("boolq:3", "m", "acc", "1"),
        ("boolq:3", "m", "acc_norm", ""),
    ]
    assert "texts.csv" not in done.tables  # likelihoods are no texts
    assert any(line.startswith("no texts") for line in done.said)


# ---- Ragas


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    made = io.StringIO()
    writer = csv.DictWriter(made, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(made.getvalue(), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("asks", "answers", "contexts", "right"),
    [
        ("user_input", "response", "retrieved_contexts", "reference"),
        ("question", "answer", "contexts", "ground_truth"),
    ],
)
def test_ragas_experiments(importer, tmp_path, asks, answers, contexts, right) -> None:
    rows = [
        {
            **{asks: "2+2?", contexts: "['Two and two.', \"It's 4.\"]", answers: "4", right: "4"},
            **{"faithfulness": 0.5, "judge_label": "pass", "target": "fail", "note": "ok"},
        },
        {
            **{asks: "3+3?", contexts: "[]", answers: "7", right: "6"},
            **{"faithfulness": "", "judge_label": "fail", "target": "", "note": "so"},
        },
    ]
    # Documents of two experiments meet, in whatever order they stand.
    one = table(tmp_path / "one.csv", rows)
    two = table(tmp_path / "two.csv", rows[::-1])
    done = importer("ragas", one, two)
    assert done.said[0] == "4 records, 2 scorers, 0 corrected by people, 0 failed"
    verdicts = done.column("verdicts.csv", "system", "faithfulness", "judge_label", "target_human")
    assert verdicts[:2] == [("one", "0.5", "pass", "fail"), ("one", "", "fail", "")]
    assert len({doc for (doc,) in done.column("verdicts.csv", "document")}) == 2
    assert done.column("ratings.csv", "author", "value") == [("one", "0"), ("two", "0")]
    assert done.tables["sources.jsonl"][0]["passages"] == ["2+2?", "Two and two.", "It's 4."]


def test_ragas_annotations_accepted_outputs_are_no_ratings(importer, tmp_path) -> None:
    def record(n: int, output: object, accepted: bool, target: object) -> dict[str, Any]:
        asked = {"user_input": f"q{n}", "response": f"r{n}"}
        shared = {"metric_input": asked, "prompts": {}, "metric_output": output}
        return {**shared, "is_accepted": accepted, "target": target}

    records = [record(1, 1, True, None), record(2, 1, False, 0), record(3, 0, True, 0)]
    done = importer("ragas", write_json(tmp_path / "a.json", {"correct": records}))
    assert done.said[0] == "3 records, 1 scorer, 1 corrected by people, 0 failed"
    assert done.column("verdicts.csv", "correct", "correct_human") == [
        *(("1", ""), ("1", "0"), ("0", "0"))
    ]
    assert any("1 outputs are accepted without a target" in line for line in done.said)


# ---- DeepEval


def case(name: str, metrics: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    beside = {"input": "2+2?", "actualOutput": "5", "expectedOutput": "4"}
    return {"name": name, **beside, "retrievalContext": ["Two."], "metricsData": metrics, **more}


METRIC = {"name": "Answer Relevancy", "threshold": 0.5, "evaluationModel": "gpt"}
CASES = [
    case(
        "a",
        [
            {**METRIC, "score": 0.75, "success": True},
            {**METRIC, "name": "Hallucination", "score": 0.0, "success": True},
        ],
    ),
    case(
        "b",
        [{**METRIC, "score": None, "success": False, "error": "no JSON"}],
        annotations=[{"rating": 0, "userId": "ann"}],
    ),
    case(
        "c",
        [{**METRIC, "score": 0.25, "success": False}],
        annotation={"rating": 4},
        actualOutput=None,
    ),
]


@pytest.mark.parametrize("shape", ["run", "latest", "model"])
def test_deepeval_runs(importer, tmp_path, shape) -> None:
    run: dict[str, Any] = {"testFile": None, "testCases": CASES, "conversationalTestCases": []}
    run |= {"hyperparameters": {"model": "m"}, **({} if shape == "model" else {"identifier": "r1"})}
    name = ".latest_run_full.json" if shape == "latest" else "test_run_20260102_030405.json"
    write_json(tmp_path / "d" / name, {"testRunData": run} if shape == "latest" else run)
    done = importer("deepeval", tmp_path / "d")
    assert done.said[0] == "3 records, 2 scorers, 0 corrected by people, 0 failed"
    assert done.said[1].endswith("missing: 1")
    system = "m" if shape == "model" else "r1"
    columns = ("document", "system", "Answer Relevancy", "rating_human_ann", "rating_human")
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
    assert any("'Answer_Relevancy for Answer Relevancy'" in line for line in done.said)
    assert "less is better, by the name: 'Hallucination'" in done.said
    assert done.tables["texts.jsonl"][-1] == {"doc_id": "c", "author": system, "status": "error"}


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


def snake(row: dict[str, Any]) -> dict[str, Any]:
    renamed = {"traceId": "trace_id", "stringValue": "string_value", "dataType": "data_type"}
    renamed |= {"authorUserId": "author_user_id", "observationId": "observation_id"}
    return {renamed.get(name, name): value for name, value in row.items()}


@pytest.mark.parametrize("shape", ["list", "data", "lines", "csv"])
def test_langfuse_annotations_are_peoples(importer, tmp_path, shape) -> None:
    rows = [{**row, "metadata": {"model": "m"}} for row in SCORES]
    if shape == "csv":
        filled = [
            {name: snake(row).get(name, "") for name in snake(rows[1] | rows[2])} for row in rows
        ]
        path = table(tmp_path / "s.csv", [{**one, "metadata": '{"model": "m"}'} for one in filled])
    elif shape == "lines":
        path = write_lines(tmp_path / "s.jsonl", map(snake, rows))
    else:
        path = write_json(
            tmp_path / "s.json", rows if shape == "list" else {"data": rows, "meta": {}}
        )
    done = importer("langfuse", path, "--columns", "system=metadata.model")
    assert done.said[0] == "4 records, 2 scorers, 0 corrected by people, 0 failed"
    assert done.said[1].startswith(
        "3 texts, of which people rated 1; judges' values that are missing: 1"
    )
    columns = ("document", "system", "ok", "kind", "ok_human_ann")
    assert done.column("verdicts.csv", *columns) == [
        ("t1", "m", "1", "", "0"),
        ("t1/o", "m", "", "rude", ""),
        ("t2", "m", "", "", ""),
    ]
    assert "words that are no numbers, in verdicts.csv alone: 'kind'" in done.said
    assert {name for (name,) in done.column("scores.csv", "metric")} == {"ok"}
    assert any("1 scores are texts" in line for line in done.said)


# ---- Phoenix


def span(kind: str, score: float | None, label: str | None, **more: Any) -> dict[str, Any]:
    held = {"result.score": score, "result.label": label, "result.explanation": "because"}
    return {"annotation_name": "faithful", "annotator_kind": kind, **held, **more}


SPANS = [
    ("s1", span("LLM", 1.0, "faithful", identifier="")),
    ("s1", span("HUMAN", 0.0, "unfaithful", identifier="ann")),
    ("s1", span("HUMAN", 1.0, "faithful", identifier="ben")),
    ("s2", span("CODE", None, None, identifier="")),
]


@pytest.mark.parametrize("shape", ["parquet", "csv", "list", "data"])
def test_phoenix_people_are_raters(importer, tmp_path, shape) -> None:
    frame = pd.DataFrame(
        [one for _, one in SPANS], index=pd.Index([n for n, _ in SPANS], name="span_id")
    )
    path = tmp_path / ("a.csv" if shape == "csv" else "a.parquet")
    if shape == "csv":
        frame.to_csv(path)
    elif shape == "parquet":
        frame.assign(metadata=[{"a": 1}] * 4).to_parquet(path)
    else:
        rows = [
            {
                **{
                    "span_id": name,
                    "name": one["annotation_name"],
                    "identifier": one["identifier"],
                },
                **{"annotator_kind": one["annotator_kind"]},
                "result": {key: one[f"result.{key}"] for key in ("score", "label", "explanation")},
            }
            for name, one in SPANS
        ]
        path = write_json(
            tmp_path / "a.json", rows if shape == "list" else {"data": rows, "next_cursor": None}
        )
    done = importer("phoenix", path)
    assert done.said[0] == "4 records, 1 scorer, 0 corrected by people, 0 failed"
    assert done.column(
        "verdicts.csv", "document", "faithful", "faithful_human_ann", "faithful_human_ben"
    ) == [
        ("s1", "faithful", "unfaithful", "faithful"),
        ("s2", "", "", ""),
    ]
    assert done.column("scores.csv", "value") == [("1",), ("",)]
    assert done.column("ratings.csv", "rater", "value") == [("ann", "0"), ("ben", "1")]


# ---- Scout


def test_scout_scans_and_their_validation(importer, tmp_path) -> None:
    validation = tmp_path / "validation.csv"
    validation.write_text(
        "id,target,split,label_tone\nt1,true,dev,yes\nt2,false,dev,\n", encoding="utf-8"
    )
    scans = pd.DataFrame(
        {
            "transcript_id": ["t1", "t2", "t3"],
            "scanner_name": ["target"] * 3,
            "value": ["false", "true", None],
            "scan_error": [None, None, "timeout"],
        }
    )
    scans.to_parquet(tmp_path / "scan.parquet")
    done = importer("scout", validation, tmp_path / "scan.parquet")
    assert done.column("verdicts.csv", "document", "target", "target_human", "tone_human") == [
        ("t1", "false", "true", "yes"),
        ("t2", "true", "false", ""),
        ("t3", "", "", ""),
    ]
    assert done.column("scores.csv", "value") == [("0",), ("1",), ("",)]
    assert done.column("ratings.csv", "doc_id", "criterion", "value") == [
        *(("t1", "target", "1"), ("t1", "tone", "1"), ("t2", "target", "0"))
    ]


# ---- Label Studio


def answer(name: str, kind: str, said: object) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": {kind: said}}


TASKS = [
    {
        "id": 7,
        "data": {"note_id": "n1", "model": "m", "summary": "Cough.", "dialogue": "Cough?"},
        "annotations": [
            {
                "completed_by": 1,
                "result": [answer("tone", "choices", ["good"]), answer("stars", "rating", 4)],
            },
            {
                "completed_by": {"id": 2, "email": "ben@lab"},
                "result": [
                    answer("stars", "rating", 2),
                    {
                        "from_name": "mark",
                        "type": "labels",
                        "value": {"start": 0, "end": 2, "labels": ["x"]},
                    },
                ],
            },
            {"completed_by": 3, "was_cancelled": True, "result": [answer("stars", "rating", 1)]},
        ],
    },
    {"id": 8, "data": {"model": "m", "summary": "None."}, "annotations": []},
]


def test_label_studio_annotators_are_raters(importer, tmp_path) -> None:
    done = importer("label-studio", write_json(tmp_path / "export.json", TASKS))
    assert done.said[0] == "2 records, 0 scorers, 0 corrected by people, 0 failed"
    columns = ("document", "stars_human_1", "stars_human_ben@lab", "tone_human_1")
    assert done.column("verdicts.csv", *columns) == [("n1", "4", "2", "good")]
    assert done.column("ratings.csv", "doc_id", "rater", "value") == [
        ("n1", "1", "4"),
        ("n1", "ben@lab", "2"),
    ]
    assert done.column("texts.csv", "doc_id", "author", "text", "source") == [
        ("n1", "m", "Cough.", "Cough?"),
        ("8", "m", "None.", ""),
    ]
    assert any("1 results of type 'labels' are not ratings" in line for line in done.said)
