"""DocLens's format: one JSON file per system."""

import json
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.datasets.ingest import Tables, ingest

NUMBERED = "[0][doctor] Any pain?\n[1][patient] None.\nNot since May.\n[2] (nods)"
PLAIN = "Fell on ice.\n\n  Wrist hurts. \n"


def record(name: str, **change: Any) -> dict[str, Any]:
    inputs = {"a": NUMBERED, "b": PLAIN}
    whole = {
        "example_id": name,
        "input": inputs[name],
        "reference": f"Reference {name}.",
        "output": "No pain [1].",
    }
    return whole | change


def put(folder: Path, system: str, records: object) -> None:
    (folder / f"{system}.json").write_text(json.dumps(records), encoding="utf-8")


def read(folder: Path, reader: str = "doclens_note") -> Tables:
    return ingest(reader, folder, {})


def problems(folder: Path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(folder)
    return list(caught.value.problems)


def test_good_data(tmp_path: Path) -> None:
    put(tmp_path, "x", [record("a"), record("b", output="Hurt.\n")])
    put(tmp_path, "y", [record("b"), record("a")])
    sources, texts, segments, ratings, measurements, _, warnings = read(tmp_path)
    first, second = sources.to_dict("records")
    assert first["passages"] == ["Any pain?", "None.\nNot since May.", "(nods)"]
    assert first["speaker"] == ["doctor", "patient", ""]
    assert second["passages"] == ["Fell on ice.", "Wrist hurts."]
    assert second["speaker"] == second["group"] == ["", ""]
    assert set(sources["task"]) == {"note"}
    by_key = texts.set_index(["doc_id", "author"])["text"]
    assert by_key["b", "x"] == "Hurt.\n"
    assert by_key["b", "reference"] == "Reference b."
    assert len(texts) == 6
    assert len(ratings) == 0
    assert measurements.empty
    assert segments.empty
    assert warnings == ()


@pytest.mark.parametrize("task", ["note", "impression", "question", "abstract"])
def test_the_reader_says_the_task(tmp_path: Path, task: str) -> None:
    put(tmp_path, "x", [record("a")])
    assert read(tmp_path, f"doclens_{task}").sources["task"].tolist() == [task]


def test_what_is_not_read_or_absent_is_a_warning(tmp_path: Path) -> None:
    put(tmp_path, "x", [record("a", subclaims=["c"]), record("b", subclaims=[])])
    put(tmp_path, "y", [record("a", output="No pain [3].")])
    assert [warning.split(";")[0] for warning in read(tmp_path).warnings] == [
        "x.json: 2 records: 1 key(s) are not read (first: record 1, 'subclaims')",
        "y.json: record 1: a citation names a passage that does not exist (doc_id 'a', author 'y':"
        " [3] of 3 passages, counted from 0)",
        "y.json: 'y' has no text for 1 of 2 documents (first: doc_id 'b')",
    ]


BAD = {
    "reference differs": (
        [record("a", reference="Another.")],
        "y.json: record 1: 'reference' differs from that in x.json (example_id 'a'); make them the",
    ),
    "input differs": (
        [record("a", input="Another.")],
        "y.json: record 1: 'input' differs from that in x.json (example_id 'a'); make them the",
    ),
    "same example twice": (
        [record("a"), record("a")],
        "y.json: record 2: the key (doc_id, author, part) is there twice (same as record 1: doc_id",
    ),
    "missing key": (
        [{k: v for k, v in record("a").items() if k != "output"}],
        "y.json: record 1: 'output' is missing; add it",
    ),
    "empty output": (
        [record("a", output=" ")],
        "y.json: record 1: 'output' is empty; write it; where a system failed",
    ),
    "no object": (["text"], "y.json: record 1: is not an object with named values; write"),
    "no list": ({"a": 1}, "y.json: is not a list of records; docs/own-data.md"),
    "a number as id": (
        [record("a", example_id=7)],
        "y.json: record 1: 'example_id' is wrong: input should be a valid string; correct it",
    ),
    "numbers out of order": (
        [record("b", input="[0] One.\n[2] Two.")],
        "y.json: record 1: the passages of 'input' are not numbered 0, 1, 2, ... (example_id 'b')",
    ),
    "empty passage": (
        [record("b", input="[0] One.\n[1][doctor] ")],
        "y.json: record 1: a passage of 'input' is empty (example_id 'b', passage 1); remove it",
    ),
    "reference cites too far": (
        [record("b", reference="Ice [2].")],
        "y.json: record 1: the reference cites a passage that does not exist (doc_id 'b', author",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_names_file_record_and_remedy(tmp_path: Path, case: str) -> None:
    records, expected = BAD[case]
    put(tmp_path, "x", [record("a")])
    put(tmp_path, "y", records)
    (problem,) = problems(tmp_path)
    assert problem.startswith(expected)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    put(tmp_path, "a", [record("a")])
    (tmp_path / "b.json").write_bytes(b'[\n{"example_id": "a",\n"input": "\xe9"}]')
    (tmp_path / "c.json").write_text('[\n{"example_id": }]')
    (tmp_path / "d.json").write_text("")
    put(tmp_path, "reference", [record("a")])
    found = problems(tmp_path)
    assert [problem.split(";")[0] for problem in found[:4]] == [
        "b.json: line 3: is not UTF-8 (byte 32 of the file is 0xe9)",
        "c.json: is not valid JSON (expecting value at column 16 of line 2)",
        "d.json: is empty",
        "reference.json: is named reference",
    ]


def test_empty_folder(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path)
    assert problem.startswith(f"{tmp_path}: holds no .json file; put one per system there")


def test_odd_names_of_files_and_what_is_not_read(tmp_path: Path) -> None:
    put(tmp_path, "x", [record("a"), record("b")])
    put(tmp_path, "y", [record("a"), record("b")])
    (tmp_path / "y.json").rename(tmp_path / "y.JSON")
    assert read(tmp_path).warnings == ("y.JSON: is not read; name it <system>.json if it is one",)
    put(tmp_path, "\x1b[31m", [record("a"), record("b")])
    assert problems(tmp_path) == [
        r"'\x1b[31m.json': the file's name has blanks at an end or characters that do not print;"
        " rename it: it is the system's name"
    ]


def test_a_number_of_five_thousand_digits_is_no_passage_s(tmp_path: Path) -> None:
    put(tmp_path, "x", [record("a", input=f"[{'1' * 5000}] Any pain?")])
    assert read(tmp_path).sources["passages"].tolist() == [[f"[{'1' * 5000}] Any pain?"]]
