"""What an import makes is read by what goes on from there, and what it cannot make it says."""

import json
from typing import Any

import pytest
from openpyxl import Workbook

from metassay.cli.main import main
from metassay.datasets.ingest import ingest
from tests.imports.importing import write_json, write_lines


def line(number: int, /, **more: Any) -> dict[str, Any]:
    arguments = {"gen_args_0": {"arg_0": f"Question {number}?"}}
    beside = {"doc_id": number, "arguments": arguments, "target": f"Answer {number}."}
    return {**beside, "resps": [[f"Text {number}."]], "filter": "none", **more}


def spans(doc: int, system: str) -> list[dict[str, Any]]:
    value = (doc * 7 + len(system)) % 5
    shared = {
        "trace_id": f"d{doc}",
        "run": system,
        "name": "helpful",
        "data_type": "NUMERIC",
    }
    people = [
        {**shared, "source": "ANNOTATION", "author_user_id": by, "value": value % 3 + 1}
        for by in ("ann", "ben")
    ]
    return [{**shared, "source": "EVAL", "value": value / 4}, *people]


def test_meta_eval_goes_on_from_scores_and_ratings(importer, tmp_path, capsys) -> None:
    rows = [
        s
        for doc in range(6)
        for system in ("a", "bb", "ccc")
        for s in spans(doc, system)
    ]
    done = importer(
        "langfuse", write_lines(tmp_path / "s.jsonl", rows), "--columns", "system=run"
    )
    data = done.folder / "data"
    words = ["--resamples", "20", "--permutations", "20"]
    assert (
        main(["meta-eval", str(data / "scores.csv"), str(data / "ratings.csv"), *words])
        == 0
    )
    printed = capsys.readouterr().out
    assert "helpful" in printed
    assert "any two texts (global level)" in printed


def test_a_benchmark_goes_on_from_folder_and_sheets(importer, tmp_path, capsys) -> None:
    lines = [
        line(n, metrics=["acc", "bleu"], acc=n % 2, bleu=None if n else 0.5)
        for n in range(3)
    ]
    for model in ("one", "two"):
        write_lines(tmp_path / model / "samples_t.jsonl", lines)
    done = importer("lm-eval", tmp_path / "one", tmp_path / "two")
    # Metassay has a metric of that name.
    assert "called otherwise in scores.csv: 'own_bleu for bleu'" in done.lines
    tables = ingest("files", done.folder / "data", {}, dataset="lm_eval")
    assert not tables.warnings
    assert (len(tables.sources), len(tables.texts)) == (3, 3 + 6)
    sheets = [
        "--texts",
        done.folder / "texts.csv",
        "--scores",
        done.folder / "data/scores.csv",
    ]
    study = tmp_path / "study"
    assert main(["init", str(study), *map(str, sheets), "--yes"]) == 0, (
        capsys.readouterr().err
    )
    content = (study / "data/study/sources.jsonl").read_text("utf-8")
    assert json.loads(content.splitlines()[0])["passages"] == [{"text": "Question 0?"}]


def test_what_contradicts_itself_is_refused_whole_with_file_and_line(
    importer, tmp_path
) -> None:
    lines = [line(0, acc=1), line(1, acc=1), {"acc": 0, "resps": []}]
    other = [
        line(0, acc=1, resps=[["Other."]]),
        line(1, acc=0, arguments=[["Why?"]], target="No."),
    ]
    names = "samples_t.jsonl", "samples_t_2026-01-02T00-00-00.jsonl"
    paths = (
        write_lines(tmp_path / "a" / n, c)
        for n, c in zip(names, (lines, other), strict=True)
    )
    fix = "import these files one by one, or tell them apart by --columns doc=FIELD or system=FIELD"
    name = names[1]
    assert importer.refused("lm-eval", *paths) == [
        "samples_t.jsonl: line 3: has no name for its document; say --columns"
        " doc=FIELD, a field of every record",
        f"{name}: line 1: has another text than before (doc 't:0', system 'a'); {fix}",
        f"{name}: line 2: has another source than before (doc 't:1'); {fix}",
        f"{name}: line 2: has another reference than before (doc 't:1'); {fix}",
    ]


def test_later_values_hold_and_names_never_meet(importer, tmp_path) -> None:
    lines = [line(0, acc=1), line(0, acc=0)]
    done = importer("lm-eval", write_lines(tmp_path / "m/samples_t.jsonl", lines))
    assert done.lines[1].endswith("missing: 0; 1 replaced by later ones of the same")
    assert done.column("scores.csv", "value") == [("0",)]
    row = line(
        0, **{"a b": 1, "a-b": 2, "a_b": 3, "item": 4, "naïve": 5, "1": 6, "x" * 99: 7}
    )
    done = importer("lm-eval", write_lines(tmp_path / "m/samples_t.jsonl", [row]))
    assert done.tables["verdicts.csv"] == [
        {
            "item": "1",
            "document": "t:0",
            "system": "m",
            "a b": "1",
            "a-b": "2",
            "a_b": "3",
            "item_2": "4",
            "naïve": "5",
            "1": "6",
            "x" * 99: "7",
        }
    ]
    metrics = dict(done.column("scores.csv", "value", "metric"))
    assert len(set(metrics.values())) == 7
    assert metrics["5"] == "na_ve"
    assert {metrics["1"], metrics["2"], metrics["3"]} == {"a_b", "a-b_2", "a_b_3"}


# ---- files of another kind

LM = {"doc_id": 0, "resps": [["x"]], "filtered_resps": ["x"], "acc": 1}
TASK = {"id": 1, "data": {"x": 1}, "annotations": []}
FILES: list[tuple[str, object, str, str]] = [
    ("a.json", {"evalId": "e", "results": {"results": []}}, "results of promptfoo", "promptfoo"),
    ("a.json", {"eval": {"task": "t", "model": "m"}, "samples": []}, "a log of Inspect", "inspect"),
    ("a.json", [TASK], "an export of Label Studio", "label-studio"),
    ("a.jsonl", LM, "samples of lm-eval", "lm-eval"),
    ("a.json", {"testCases": [{"name": "a"}]}, "a test run of DeepEval", "deepeval"),
    ("a.json", [{"trace_id": "t", "assessments": [{"name": "a"}]}], "traces of MLflow", "mlflow"),
    ("a.csv", "span_id,annotator_kind\ns,LLM\n", "annotations of Phoenix", "phoenix"),
    ("a.csv", "user_input;response\nq;a\n", "an experiment or annotations of Ragas", "ragas"),
    ("a.csv", "id,target\n1,true\n", "a validation or scan of Inspect Scout", "scout"),
    ("a.csv", "traceId,source,dataType\nt,EVAL,TEXT\n", "scores of Langfuse", "langfuse"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "what", "kind"), FILES)
def test_a_file_of_another_kind_is_called_by_what_it_is(
    importer, tmp_path, name, content, what, kind
):
    path = tmp_path / name
    path.write_text(
        content if isinstance(content, str) else json.dumps(content) + "\n", "utf-8"
    )
    for reader in {"inspect", "phoenix"} - {kind}:
        (problem,) = importer.refused(reader, path)
        assert problem == f"{name}: is {what}; metassay import {kind} reads it"


def test_other_files_are_described_in_a_line(importer, tmp_path) -> None:
    sheet, book = tmp_path / "ratings.csv", Workbook()
    sheet.write_text("doc,rater,fluency\nd,ann,1\n", "utf-8")
    for row in (["run", "score"], ["r", 1]):
        book.active.append(row)
    book.save(tmp_path / "weave.xlsx")
    data = {"row": "r", "rater": "ann", "headings": {"a": 1}, "columns": {"b": 2}}
    write_json(tmp_path / "ann.json", [{"id": 1, "data": data, "annotations": []}])
    (tmp_path / "x.json").write_text("{}", "utf-8")
    (tmp_path / "x.eval").write_bytes(b"PK\3\4 not a zip")
    log = {"eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, "target": "C"}]}
    problem = "a.json: is a log of Inspect; metassay import inspect reads it"
    assert importer.refused("scout", write_json(tmp_path / "a.json", log)) == [problem]
    names = ("weave.xlsx", "ann.json", "x.json", "x.eval", "absent.json")
    lines = importer.refused("inspect", sheet, *(tmp_path / name for name in names))
    starts = (
        "ratings.csv: is a table with 'doc', 'rater', 'fluency', and not a log of",
        "weave.xlsx: is a table",
        "ann.json: is a sheet of a study of Metassay; metassay study import reads it",
        "x.json: is JSON with nothing that can be read, and not a log of Inspect;",
        "x.eval: is damaged, or is not a log of Inspect",
        "absent.json: is not in ",
    )
    assert len(lines) == len(starts)
    assert all(map(str.startswith, lines, starts)), lines
    assert lines[0].endswith(
        "; metassay judge-check, meta-eval and init read tables as they are"
    )
    (tmp_path / "empty").mkdir()
    (problem,) = importer.refused("lm-eval", tmp_path / "empty")
    assert problem.endswith("empty: has no file called samples_*.jsonl; name files")


def test_fields_that_name_documents_and_systems(importer, tmp_path) -> None:
    lines = [line(0, doc={"id": "n7"}, of={"model": "m1"}, metrics=["acc"], acc=1)]
    path = write_lines(tmp_path / "m/samples_t.jsonl", lines)
    done = importer("lm-eval", path, "--columns", "doc=doc.id", "system=of.model")
    assert done.column("scores.csv", "doc_id", "author") == [("n7", "m1")]
    (problem,) = importer.refused("lm-eval", path, "--columns", "doc=doc.name")
    assert "has no name for its document; say --columns doc=FIELD" in problem
    # not empty
    assert main(["import", "lm-eval", str(path), "--out", str(path.parent)]) == 2
