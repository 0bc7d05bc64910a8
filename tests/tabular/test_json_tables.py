"""JSON in every form that tools and people write: the same rows, and what was found is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from metassay.tabular.files import read_sheet
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet

RECORDS = [
    {"id": "d1", "judge": "yes", "human": "no"},
    {"id": "d2", "judge": "no", "human": "no"},
    {"id": "d3", "judge": "yes", "human": "yes"},
]
NAMED = {record["id"]: {k: record[k] for k in ("judge", "human")} for record in RECORDS}
BY_COLUMN = {
    side: {record["id"]: record[side] for record in RECORDS}
    for side in ("judge", "human")
}
DOCS = [f"d{n}" for n in range(1, 16)]


def read(folder: Path, text: str, name: str = "a.json") -> Sheet:
    (folder / name).write_text(text, encoding="utf-8")
    problems = Findings()
    sheet = read_sheet(folder / name, problems)
    assert not problems, problems.lines()
    assert sheet is not None
    return sheet


def rows(sheet: Sheet) -> list[dict[str, str]]:
    return [cells for _, cells in sheet.rows]


def refused(folder: Path, text: str, name: str = "a.json") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    problems = Findings()
    assert read_sheet(folder / name, problems) is None
    return "\n".join(problems.lines())


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RECORDS),
        json.dumps(RECORDS, indent=2),
        "\n".join(map(json.dumps, RECORDS)),
        "\n\n".join(json.dumps(record, indent=2) for record in RECORDS),
        json.dumps({"version": 2, "results": {"results": RECORDS}}, indent=1),
        json.dumps({"data": RECORDS, "meta": [{"n": 3}]}),
        json.dumps(NAMED, indent=2),
        json.dumps(BY_COLUMN),
        json.dumps({key: [r[key] for r in RECORDS] for key in RECORDS[0]}),
        json.dumps(
            {
                "columns": list(RECORDS[0]),
                "index": [0, 1, 2],
                "data": [list(record.values()) for record in RECORDS],
            }
        ),
        json.dumps({"schema": {"fields": [{"name": "id"}]}, "data": RECORDS}),
    ],
    ids=[
        "list",
        "pretty list",
        "lines",
        "pretty objects, one after another",
        "below two keys",
        "the longest list",
        "keyed by id",
        "keyed by column",
        "a list per column",
        "split",
        "with a schema",
    ],
)
def test_the_same_rows_in_every_form(tmp_path: Path, text: str) -> None:
    assert rows(read(tmp_path, text)) == RECORDS


@pytest.mark.parametrize(
    ("value", "columns", "note"),
    [
        (
            {
                "rater_a": {"i1": "yes", "i2": "no"},
                "rater_b": {"i1": "yes", "i2": "yes"},
            },
            ("id", "rater_a", "rater_b"),
            "each of 'rater_a', 'rater_b' is a column, and each key in it, such as 'i1', "
            "'i2', a row",
        ),
        (
            {d: {"gpt4": {"fluency": 3}, "llama": {"fluency": 2}} for d in DOCS},
            ("id", "key 2", "fluency"),
            "'id' has keys such as 'd1', 'd2', 'd3'; 'key 2' has keys such as 'gpt4', "
            "'llama'",
        ),
        (
            {
                r: [{"id": d, "fluency": 3} for d in DOCS]
                for r in ("rater_1", "rater_2")
            },
            ("rater", "id", "fluency"),
            "'rater' has keys such as 'rater_1', 'rater_2'",
        ),
        (
            {s: {r: dict.fromkeys(DOCS, 1) for r in ("r1", "r2")} for s in ("a", "b")},
            ("key 1", "rater", "id", "value"),
            "'key 1' has keys such as 'a', 'b'; 'rater' has keys such as 'r1', 'r2'; 'id' "
            "has keys such as 'd1', 'd2', 'd3'",
        ),
        (
            {"d1": 4, "d2": 5},
            ("id", "value"),
            "each key, such as 'd1', 'd2', is a row with one value",
        ),
    ],
)
def test_keys_that_are_data(
    tmp_path: Path, value: Any, columns: tuple[str, ...], note: str
) -> None:
    sheet = read(tmp_path, json.dumps(value))
    assert sheet.columns == columns
    assert list(sheet.notes) == [note]
    assert sheet.levels == tuple(name for name in columns if name.startswith("key"))


def test_fields_within_fields_have_names_with_dots(tmp_path: Path) -> None:
    record = {
        "id": 1,
        "output": {"text": "A text.", "scores": {"rouge": 0.5}},
        "judgments": [
            {"decision": "A>B", "why": None},
            {"decision": "B>A", "why": "x"},
        ],
        "grades": [4, 5],
        "label": ["good"],
        "quality": [{"rating": 3}],
        "chat": [{"role": "user", "content": "Hi"}],
        "references": ["A first text of several words.", "A second text of more."],
        "empty": {},
    }
    (row,) = rows(read(tmp_path, json.dumps([record])))
    assert row == {
        "id": "1",
        "output.text": "A text.",
        "output.scores.rouge": "0.5",
        "judgments.0.decision": "A>B",
        "judgments.0.why": "",
        "judgments.1.decision": "B>A",
        "judgments.1.why": "x",
        "grades.0": "4",
        "grades.1": "5",
        "label": "good",
        "quality": "3",
        "chat": '[{"role": "user", "content": "Hi"}]',
        "references": json.dumps(record["references"]),
        "empty": "",
    }


def test_answers_that_name_their_raters_are_a_row_each(tmp_path: Path) -> None:
    """Whatever their order in each record, and however many lists there are."""
    records = [
        {
            "id": "d1",
            "responses": {
                "fluency": [
                    {"value": 4, "user_id": "ann"},
                    {"value": 5, "user_id": "ben"},
                ],
                "errors": [{"value": 1, "user_id": "ben"}],
            },
        },
        {
            "id": "d2",
            "responses": {
                "fluency": [
                    {"value": 1, "user_id": "ben"},
                    {"value": 2, "user_id": "ann"},
                ],
                "errors": [],
            },
        },
    ]
    sheet = read(tmp_path, "\n".join(map(json.dumps, records)), "a.jsonl")
    values = [
        (r["id"], r["rater"], r["responses.fluency"], r["responses.errors"])
        for r in rows(sheet)
    ]
    assert values == [
        ("d1", "ann", "4", ""),
        ("d1", "ben", "5", "1"),
        ("d2", "ben", "1", ""),
        ("d2", "ann", "2", ""),
    ]
    (note,) = sheet.notes
    assert note == (
        "each row is of one rater, as named in 'responses.errors', 'responses.fluency'"
    )
    assert sheet.at(1).row == 1


def test_nan_is_missing(tmp_path: Path) -> None:
    sheet = read(tmp_path, '[{"id": 1, "a": NaN}, {"id": 2, "a": 3}]')
    assert [row["a"] for row in rows(sheet)] == ["", "3"]


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ('{"id": 1}\n{"id": 2\n', "a.jsonl", "line 2: is not valid JSON"),
        ('[{"id": 1},\n{"id" 2}]', "a.json", "at column 7 of line 2"),
        ("[1, 2]", "a.json", "2 records: is not an object with named values"),
        ("[]", "a.json", "has no row"),
        ("3", "a.json", "has no records"),
        (
            '{"a": [1], "b": [1, 2]}',
            "a.json",
            "lists of different lengths, from 1 to 2",
        ),
        ('{"x": {"p": 1, "q": 2}, "y": {"p": 1, "q": 2}}', "a.json", "which are rows?"),
        (
            '{"a": [{"x": 1}, {"x": 2}], "b": [{"y": 1}, {"y": 2}]}',
            "a.json",
            "has several lists of records: 'a', 'b'",
        ),
        ('[{"id": 1, "id": 2}]', "a.json", "key 'id' occurs twice"),
        ('[{"id": Infinity}]', "a.json", "Infinity is not a JSON number"),
    ],
)
def test_what_is_no_table_is_told(
    tmp_path: Path, text: str, name: str, words: str
) -> None:
    line = refused(tmp_path, text, name)
    assert words in line
    assert "; " in line
