"""Annotation tools: answers of people, and marked spans as counts, in each tool's forms by hand."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.cli.main import main
from tests.imports.importing import Imported, Importer, write_json, write_lines


def ratings(done: Imported) -> list[tuple[str, ...]]:
    return done.column("ratings.csv", "doc_id", "author", "rater", "criterion", "value")


# ---- Argilla

RESPONSES = {
    "fluency": [{"value": 4, "user_id": "ann"}, {"value": 2, "user_id": "ben"}],
    "tone": [{"value": "polite", "user_id": "ann"}],
}
ARGILLA = [
    {
        "id": "r1",
        "status": "completed",
        "fields": {"summary": "Cough.", "dialogue": "Cough?"},
        "metadata": {"case": "c1", "model": "m1"},
        "responses": RESPONSES,
        "suggestions": {"fluency": {"value": 5, "score": None, "agent": "gpt-4"}},
        "vectors": {},
        "_server_id": "s1",
    },
    {
        "id": "r2",
        "status": "pending",
        "fields": {"summary": "None.", "dialogue": "Cough?"},
        "metadata": {"case": "c1", "model": "m2"},
        "responses": {},
        "suggestions": {},
    },
]


def flattened(record: dict[str, Any]) -> dict[str, Any]:
    flat = {
        "id": record["id"],
        "_server_id": "s",
        **record["fields"],
        **record["metadata"],
    }
    for question, answers in record["responses"].items():
        flat[f"{question}.responses"] = [answer["value"] for answer in answers]
        flat[f"{question}.responses.users"] = [answer["user_id"] for answer in answers]
        flat[f"{question}.responses.status"] = ["submitted" for _ in answers]
    for question, suggestion in record["suggestions"].items():
        flat[f"{question}.suggestion"] = suggestion["value"]
        flat[f"{question}.suggestion.agent"] = suggestion["agent"]
    return flat


def version_1(record: dict[str, Any]) -> dict[str, Any]:
    """A dataset of version 1: a list of responses per user, with the values of all questions."""
    by_user: dict[str, dict[str, Any]] = {}
    for question, answers in record["responses"].items():
        for answer in answers:
            by_user.setdefault(answer["user_id"], {})[question] = {
                "value": answer["value"]
            }
    responses = [
        {"user_id": user, "status": "submitted", "values": values}
        for user, values in by_user.items()
    ]
    suggestions = [
        {"question_name": question, **suggestion}
        for question, suggestion in record["suggestions"].items()
    ]
    return {**record, "responses": responses, "suggestions": suggestions}


@pytest.mark.parametrize("shape", ["nested", "lines", "flat", "parquet", "version 1"])
def test_argilla_responses_are_ratings_and_suggestions_a_judges(
    importer, tmp_path, shape
) -> None:
    if shape == "lines":
        path = write_lines(tmp_path / "a.jsonl", ARGILLA)
    elif shape == "parquet":
        path = tmp_path / "a.parquet"
        # Parquet has one type per column, so this has one record.
        pd.DataFrame([flattened(ARGILLA[0])]).to_parquet(path)
    else:
        reshape = {"nested": dict, "flat": flattened, "version 1": version_1}[shape]
        path = write_json(tmp_path / "a.json", [reshape(record) for record in ARGILLA])
    done = importer("argilla", path)
    assert ratings(done) == [
        ("c1", "m1", "ann", "fluency", "4"),
        ("c1", "m1", "ben", "fluency", "2"),
    ]
    names = ("system", "fluency", "fluency_human_ann", "tone_human_ann")
    assert done.column("verdicts.csv", *names) == [("m1", "5", "4", "polite")]
    assert done.column("texts.csv", "text", "source")[0] == ("Cough.", "Cough?")


def test_argilla_drafts_are_no_ratings_and_spans_are_counted(
    importer, tmp_path
) -> None:
    spans = [
        {"start": 0, "end": 3, "label": "omission"},
        {"start": 5, "end": 6, "label": "omission"},
    ]
    answers = [
        {"value": 1, "user_id": "ann", "status": "draft"},
        {"value": 3, "user_id": "ben", "status": "submitted"},
    ]
    record = {
        **ARGILLA[0],
        "responses": {
            "fluency": answers,
            "errors": [{"value": spans, "user_id": "ben"}],
        },
        "suggestions": {},
    }
    done = importer("argilla", write_json(tmp_path / "a.json", [record]))
    assert ratings(done) == [
        ("c1", "m1", "ben", "fluency", "3"),
        ("c1", "m1", "ben", "omission_count", "2"),
    ]
    assert any("1 response not read: draft" in line for line in done.lines)


# ---- Prodigy


def prodigy(number: int, by: str, **more: Any) -> dict[str, Any]:
    return {
        "text": f"Text {number}",
        "meta": {"doc_id": f"d{number}", "model": "m"},
        "_input_hash": number,
        "_task_hash": number + 100,
        "answer": "accept",
        "_annotator_id": by,
        "_timestamp": 1,
        **more,
    }


OPTIONS = [{"id": "good", "text": "Good"}, {"id": "bad", "text": "Bad"}]
MARK = {"start": 0, "end": 4, "label": "ERROR"}


def test_prodigy_labels_options_and_spans(importer: Importer, tmp_path: Path) -> None:
    rows = [
        prodigy(1, "ann", label="FAITHFUL"),
        prodigy(2, "ann", label="FAITHFUL", answer="reject"),
        prodigy(3, "ann", label="FAITHFUL", answer="ignore"),
        prodigy(1, "ben", options=OPTIONS, accept=["good"]),
        prodigy(2, "ben", options=OPTIONS, accept=[], answer="ignore"),
        prodigy(1, "cem", spans=[MARK, MARK]),
        prodigy(2, "cem", spans=[], _view_id="spans_manual"),
    ]
    done = importer("prodigy", write_lines(tmp_path / "db.jsonl", rows))
    assert ratings(done) == [
        ("d1", "m", "cem", "ERROR_count", "2"),
        ("d1", "m", "ann", "FAITHFUL", "1"),
        ("d2", "m", "cem", "ERROR_count", "0"),
        ("d2", "m", "ann", "FAITHFUL", "0"),
        ("d3", "m", "ann", "FAITHFUL", ""),
    ]
    names = ("document", "FAITHFUL_human_ann", "choice_human_ben")
    assert done.column("verdicts.csv", *names)[:2] == [
        ("d1", "yes", "good"),
        ("d2", "no", ""),
    ]
    assert any("2 tasks ignored by the annotator" in line for line in done.lines)


# ---- Doccano


def test_doccano_spans_of_two_annotators_in_two_files(importer, tmp_path) -> None:
    """A label that one annotator never used counts 0 in each text that this annotator has."""
    ann = [
        {
            "id": 1,
            "text": "One",
            "label": [[0, 2, "omission"], [2, 3, "error"]],
            "Comments": [],
        },
        {"id": 2, "text": "Two", "label": [], "Comments": []},
    ]
    ben = [{"id": 1, "text": "One", "label": [[0, 1, "error"]], "Comments": []}]
    done = importer(
        "doccano",
        write_lines(tmp_path / "ann.jsonl", ann),
        write_lines(tmp_path / "ben.jsonl", ben),
    )
    assert ratings(done) == [
        ("1", "texts", "ann", "error_count", "1"),
        ("1", "texts", "ben", "error_count", "1"),
        ("1", "texts", "ann", "omission_count", "1"),
        ("1", "texts", "ben", "omission_count", "0"),
        ("2", "texts", "ann", "error_count", "0"),
        ("2", "texts", "ann", "omission_count", "0"),
    ]


def test_doccano_labels_of_texts_and_entities(importer, tmp_path) -> None:
    labels = [
        {"id": 1, "text": "One", "label": ["yes"], "Comments": []},
        {"id": 2, "text": "Two", "label": ["no"], "Comments": []},
        {"id": 3, "text": "Three", "label": [], "Comments": []},
    ]
    done = importer("doccano", write_lines(tmp_path / "all.jsonl", labels))
    assert [row[0] + row[4] for row in ratings(done)] == ["11", "20"]
    entity = {"id": 5, "label": "error", "start_offset": 0, "end_offset": 2}
    related = [
        {"id": 1, "text": "One", "entities": [entity], "relations": []},
        {"id": 2, "text": "Two", "entities": [], "relations": []},
    ]
    done = importer("doccano", write_lines(tmp_path / "ann.jsonl", related))
    assert [row[3:] for row in ratings(done)] == [
        ("error_count", "1"),
        ("error_count", "0"),
    ]


# ---- INCEpTION

TSV = """#FORMAT=WebAnno TSV 3.3
#T_SP=webanno.custom.Fault|kind|severity
#T_RL=webanno.custom.Link|role|BT_webanno.custom.Fault
#T_SP=webanno.custom.Remark|


#Text=No fever today.
1-1\t0-2\tNo\t_\t_\t_\t_\t_\t
1-2\t3-8\tfever\tomission[1]\tmild[1]\t_\t_\t*[3]\t
1-3\t9-14\ttoday\tomission[1]|error[2]\tmild[1]|_[2]\t_\t_\t*[3]\t
1-4\t14-15\t.\terror\t_\t_\t_\t_\t

#Text=None.
2-1\t16-20\tNone\t_\t_\t_\t_\t_\t
"""


def test_inception_tsv_counts_each_span_once(importer, tmp_path) -> None:
    """By hand: one omission of two tokens, two errors, one remark without a feature."""
    for rater, content in (("ann", TSV), ("ben", TSV.replace("error", "omission"))):
        path = tmp_path / "export" / "annotation" / "note1.txt" / f"{rater}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    done = importer("inception", tmp_path / "export")
    assert [row for row in ratings(done) if row[2] == "ann"] == [
        ("note1.txt", "texts", "ann", "Remark_count", "1"),
        ("note1.txt", "texts", "ann", "error_count", "2"),
        ("note1.txt", "texts", "ann", "omission_count", "1"),
    ]
    assert ("note1.txt", "texts", "ben", "error_count", "0") in ratings(done)
    assert done.tables["texts.jsonl"][0]["text"] == "No fever today.\nNone."


def test_inception_cas_json(importer, tmp_path) -> None:
    structures = [
        {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": "No fever."},
        {"%ID": 2, "%TYPE": "de.tudarmstadt.ukp...Token", "begin": 0, "end": 2},
        {
            "%ID": 3,
            "%TYPE": "custom.Fault",
            "@sofa": 1,
            "begin": 0,
            "end": 2,
            "kind": "error",
        },
        {"%ID": 4, "%TYPE": "custom.Remark", "@sofa": 1, "begin": 3, "end": 8},
    ]
    cas = {"%TYPES": {}, "%FEATURE_STRUCTURES": structures, "%VIEWS": {}}
    done = importer("inception", write_json(tmp_path / "note2.json", cas))
    assert ratings(done) == [
        ("note2", "texts", "person", "Remark_count", "1"),
        ("note2", "texts", "person", "error_count", "1"),
    ]


# ---- spans of other tools


def test_rows_of_spans_are_counted_by_text_and_annotator(importer, tmp_path) -> None:
    rows = "doc_id,system,annotator,label,start,end\n"
    rows += "d1,m,ann,error,0,3\nd1,m,ann,error,5,7\nd1,m,ben,omission,0,1\n"
    (tmp_path / "spans.csv").write_text(rows, encoding="utf-8")
    done = importer("spans", tmp_path / "spans.csv")
    assert ratings(done) == [
        ("d1", "m", "ann", "error_count", "2"),
        ("d1", "m", "ben", "error_count", "0"),
        ("d1", "m", "ann", "omission_count", "0"),
        ("d1", "m", "ben", "omission_count", "1"),
    ]


def test_faithbench_spans_and_detectors(importer, tmp_path) -> None:
    """As FaithBench's schema has it: span labels of annotators, detectors in the metadata."""

    def span(annotator: str, *labels: str) -> dict[str, Any]:
        return {
            "annot_id": 1,
            "annotator_name": annotator,
            "label": list(labels),
            "note": "",
            "summary_span": "x",
            "summary_start": 0,
            "summary_end": 1,
        }

    samples = [
        {
            "sample_id": number,
            "source": f"Source {number}",
            "summary": f"Summary {number}",
            "annotations": [
                span("ann", "Unwanted", "Unwanted.Intrinsic"),
                span("ben", "Benign"),
            ]
            if number % 2
            else [],
            "metadata": {
                "summarizer": "m",
                "hhem-2.1": 0.5 + number / 10,
                "gpt_4o": number % 2,
            },
        }
        for number in range(4)
    ]
    path = write_json(tmp_path / "batch_1.json", {"samples": samples})
    fields = ["doc=sample_id", "system=metadata.summarizer"]
    judges = ["judge=metadata.hhem-2.1", "judge=metadata.gpt_4o"]
    done = importer("spans", path, "--columns", *fields, *judges)
    assert ("1", "m", "ann", "Unwanted_count", "1") in ratings(done)
    assert ("1", "m", "ben", "Unwanted_count", "0") in ratings(done)
    assert not [row for row in ratings(done) if row[0] in "02"]
    assert any("2 texts without a span" in line for line in done.lines)
    names = ("document", "metadata.hhem-2.1", "metadata.gpt_4o")
    assert done.column("verdicts.csv", *names)[1] == ("1", "0.6", "1")


# ---- Label Studio

MIN = [
    {
        "note_id": "n1",
        "model": "m",
        "summary": "Cough.",
        "year": 2020,
        "id": 1,
        "quality": 4,
        "faults": {"choices": ["omission", "error"]},
        "marks": [{"start": 0, "end": 2, "text": "Co", "labels": ["error"]}],
        "annotator": 1,
        "annotation_id": 11,
        "created_at": "2026-01-01",
        "updated_at": "2026-01-01",
        "lead_time": 3.1,
    },
    {
        "note_id": "n2",
        "model": "m",
        "summary": "None.",
        "year": 2021,
        "id": 2,
        "annotator": {"id": 2, "email": "ben@lab"},
        "annotation_id": 12,
        "created_at": "2026-01-01",
        "updated_at": "2026-01-01",
        "lead_time": 3.1,
    },
]


def test_label_studio_json_min_has_answers_between_id_and_annotator(
    importer, tmp_path
) -> None:
    done = importer("label-studio", write_json(tmp_path / "min.json", MIN))
    assert ratings(done) == [
        ("n1", "m", "1", "error_count", "1"),
        ("n1", "m", "1", "quality", "4"),
    ]
    assert done.column("verdicts.csv", "faults_human_1") == [("error | omission",)]
    assert any(
        "1 annotation without an answer to 'quality'" in line for line in done.lines
    )
    assert done.column("texts.csv", "doc_id", "text") == [
        ("n1", "Cough."),
        ("n2", "None."),
    ]


def test_a_single_label_studio_task_with_a_prediction(importer, tmp_path) -> None:
    def stars(value: int) -> dict[str, Any]:
        return {"from_name": "stars", "type": "rating", "value": {"rating": value}}

    task = {
        "id": 5,
        "data": {"note_id": "n1", "model": "m", "summary": "Cough."},
        "annotations": [{"completed_by": 1, "result": [stars(4)]}],
        "predictions": [{"model_version": "v2", "result": [stars(5)]}],
    }
    path = tmp_path / "task.json"
    path.write_text(json.dumps(task, indent=2), encoding="utf-8")
    done = importer("label-studio", path)
    assert done.column("verdicts.csv", "document", "stars", "stars_human_1") == [
        ("n1", "5", "4")
    ]


# ---- what goes on from these files


def test_meta_eval_answers_from_the_printed_command(importer, tmp_path, capsys) -> None:
    records = [
        {
            **ARGILLA[0],
            "id": f"r{number}",
            "metadata": {"case": f"c{number // 2}", "model": f"m{number % 2}"},
            "responses": {
                "fluency": [
                    {"value": number % 4 + 1, "user_id": "ann"},
                    {"value": number % 5 + 1, "user_id": "ben"},
                ]
            },
            "suggestions": {},
        }
        for number in range(12)
    ]
    done = importer("argilla", write_lines(tmp_path / "a.jsonl", records))
    (command,) = [line for line in done.lines if line.startswith("next: metassay ")]
    assert main(command.removeprefix("next: metassay ").split()) == 0
    assert "All raters together" in capsys.readouterr().out
