"""DocLens's format: one JSON file per system."""

import json
from pathlib import Path
from typing import Any

import pytest

from metassay.datasets.ingest import Tables, ingest
from tests.datasets import reading

NUMBERED = "[0][doctor] Any pain?\n[1][patient] None.\nNot since May.\n[2] (nods)"
PLAIN = "Fell on ice.\n\n  Wrist hurts. \n"


def record(name: str, **changes: Any) -> dict[str, Any]:
    texts = {
        "input": {"a": NUMBERED, "b": PLAIN}[name],
        "reference": f"Reference {name}.",
    }
    return {"example_id": name, **texts, "output": "No pain [1].", **changes}


def put(folder: Path, system: str, records: object) -> None:
    (folder / f"{system}.json").write_text(json.dumps(records), encoding="utf-8")


def read(folder: Path, reader: str = "doclens_note") -> Tables:
    return ingest(reader, folder, {})


def problems(folder: Path) -> list[str]:
    return reading.problems("doclens_note", folder)


def test_good_data(tmp_path: Path) -> None:
    put(tmp_path, "x", [record("a"), record("b", output="Hurt.\n")])
    put(tmp_path, "y", [record("b"), record("a")])
    sources, texts, segments, ratings, measurements, _, warnings = read(tmp_path)
    first, second = sources.to_dict("records")
    assert first["passages"] == ["Any pain?", "None.\nNot since May.", "(nods)"]
    assert first["speaker"] == ["doctor", "patient", ""]
    assert second["passages"] == ["Fell on ice.", "Wrist hurts."]
    assert second["speaker"] == second["group"] == ["", ""]
    by_key = texts.set_index(["doc_id", "author"])["text"]
    assert (by_key["b", "x"], by_key["b", "reference"]) == ("Hurt.\n", "Reference b.")
    assert [len(texts), len(ratings), len(measurements), len(segments)] == [6, 0, 0, 0]
    assert warnings == ()
    for task in ("note", "impression", "question", "abstract"):
        assert set(read(tmp_path, f"doclens_{task}").sources["task"]) == {task}
    # no passage's number
    put(tmp_path, "x", [record("a", input=f"[{'1' * 5000}] Any pain?")])
    (tmp_path / "y.json").unlink()
    assert read(tmp_path).sources["passages"].tolist() == [
        [f"[{'1' * 5000}] Any pain?"]
    ]


def test_what_is_not_read_or_absent_is_a_warning(tmp_path: Path) -> None:
    put(tmp_path, "x", [record("a", subclaims=["c"]), record("b", subclaims=[])])
    put(tmp_path, "y", [record("a", output="No pain [3].")])
    (tmp_path / "z.JSON").touch()
    assert [warning.split(";")[0] for warning in read(tmp_path).warnings] == [
        "x.json: 2 records: 1 key(s) are not read (first: record 1, 'subclaims')",
        "z.JSON: is not read",
        "y.json: record 1: a citation names a passage that does not exist (doc_id 'a', author 'y':"
        " [3] of 3 passages, counted from 0)",
        "y.json: 'y' has no text for 1 of 2 documents (first: doc_id 'b')",
    ]


@pytest.mark.parametrize(
    ("records", "start"),
    [
        (
            [record("a", reference="Another.")],
            "record 1: 'reference' differs from that in x.json",
        ),
        (
            [record("a", input="Another.")],
            "record 1: 'input' differs from that in x.json (exam",
        ),
        (
            [record("a")] * 2,
            "record 2: the key (doc_id, author, part) occurs twice (same as rec",
        ),
        (["text"], "record 1: is not an object with named values; write"),
        ({"a": 1}, "is not a list of records; docs/data-files.md"),
        (
            [record("a", example_id=7)],
            "record 1: 'example_id' is wrong: input should be a valid",
        ),
        (
            [record("b", input="[0] One.\n[2] Two.")],
            "record 1: the passages of 'input' are not numbered 0, 1, 2, ... (example_id 'b')",
        ),
        (
            [record("b", input="[0] One.\n[1][doctor] ")],
            "record 1: a passage of 'input' is empty (example_id 'b', passage 1); remove it",
        ),
        (
            [record("b", reference="Ice [2].")],
            "record 1: the reference cites a passage that does not exist (doc_id 'b', author",
        ),
    ],
)
def test_bad_input_names_record_and_remedy(
    tmp_path: Path, records: object, start: str
) -> None:
    put(tmp_path, "x", [record("a")])
    put(tmp_path, "y", records)
    (problem,) = problems(tmp_path)
    assert problem.startswith(f"y.json: {start}")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path)
    assert problem.startswith(
        f"{tmp_path}: holds no .json file; put one per system there"
    )
    for name in ("a", "reference", "\x1b[31m"):
        put(tmp_path, name, [record("a")])
    (tmp_path / "b.json").write_bytes(b'[\n{"example_id": "a",\n"input": "\xe9"}]')
    assert [problem.split(";")[0] for problem in problems(tmp_path)[:3]] == [
        r"'\x1b[31m.json': the file's name has blanks at an end or characters that do not print",
        "b.json: line 3: is not UTF-8 (byte 32 of the file is 0xe9)",
        "reference.json: is named reference",
    ]
