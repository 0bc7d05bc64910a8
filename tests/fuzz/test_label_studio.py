"""Exports of Label Studio: all ratings or none, and what is wrong in lines without a text.

METASSAY_FUZZ=500 python -m pytest tests/fuzz/test_label_studio.py
"""

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from metassay.studies import importing, key, label_studio
from metassay.studies.export import write
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import CANARY, handled
from tests.studies.invented_tables import PLAIN, study

STUDY = study(documents=("d1",), raters=("anna", "ben"), text=f"{CANARY} {{author}}, {{doc}}")
KEY = key._parse(json.loads(key.to_bytes(STUDY.key)))


def sent() -> dict[str, list[Any]]:
    """Each rater's export with a grade, a count and a comment per task, one task skipped."""
    with tempfile.TemporaryDirectory() as made:
        write(STUDY, label_studio.KIND, Path(made) / "s")
        files = {rater: Path(made) / f"s/sheets/{rater}.json" for rater in STUDY.key.assignments}
        return {name: exported(json.loads(path.read_bytes())) for name, path in files.items()}


def exported(tasks: list[Any]) -> list[Any]:
    said = {"choices": ["2"]}, {"number": 3}, {"text": [f"{CANARY}?"]}
    kinds = ("choices", "number", "textarea")
    results = [
        {"id": "a", "from_name": name, "to_name": "row", "type": kind, "value": value}
        for name, kind, value in zip(("answer_1", "answer_2", "comment"), kinds, said, strict=True)
    ]
    return [
        {
            "id": number,
            "annotations": [
                {
                    **{"id": number, "completed_by": 1, "was_cancelled": number == 2},
                    "result": copy.deepcopy(results) if number != 2 else [],
                }
            ],
            **{"drafts": [], "predictions": [], "data": task["data"]},
        }
        for number, task in enumerate(tasks, start=1)
    ]


SOUND = sent()
FILE = json.dumps(SOUND["anna"]).encode()
ASKED = sum(len(row.questions) for row in KEY.rows.values()) * len(KEY.assignments)


def check(content: bytes, *, partial: bool = False) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "anna.json").write_bytes(content)
        (folder / "ben.json").write_text(json.dumps(SOUND["ben"]), encoding="utf-8")

        def run() -> importing.Results:
            files = [folder / "anna.json", folder / "ben.json"]
            rows = importing.read_files(files, [label_studio.KIND])
            found = importing.unblind(rows, KEY, PLAIN, partial=partial)
            importing.write(found, KEY, folder)
            return found

        ended = handled(run)
        there = {path.name for path in folder.iterdir()} - {"anna.json", "ben.json"}
        if ended.problems:
            assert all("anna.json" in one or "key.json" in one for one in ended.problems)
            assert not there, "half imported"
            return
        assert there == {"ratings.csv", "comments.csv"}
        assert len(ended.value.ratings) == ended.value.n_questions == ASKED
        for one in ended.value.ratings:
            scale = KEY.criteria[one.target.criterion]
            assert one.value is None or scale.low <= one.value <= scale.high


def test_the_sound_one_is_taken() -> None:
    check(FILE)


@given(ACCIDENTS)
def test_bytes(accidents: Any) -> None:
    check(damaged(FILE, accidents))


@given(CHANGES, st.booleans())
@example([], False)
def test_values(changes: Any, partial: bool) -> None:
    check(json.dumps(changed(SOUND["anna"], changes)).encode("ascii"), partial=partial)


@given(CHANGES)
def test_values_of_one_result(changes: Any) -> None:
    tasks = copy.deepcopy(SOUND["anna"])
    annotation = tasks[0]["annotations"][0]
    annotation["result"] = changed(annotation["result"], changes)
    check(json.dumps(tasks).encode("ascii"))
