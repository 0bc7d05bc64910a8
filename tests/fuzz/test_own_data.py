"""Own data: taken whole, or refused with the file and the line; the files stay as they are."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metassay.core.options import Criterion
from metassay.datasets.ingest import ingest
from metassay.tables import parquet
from metassay.tables.criteria import CRITERIA as CRITERIA_TABLE
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.parts import SEGMENTS
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import MEASUREMENTS
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import CANARY, handled

CRITERIA = {
    "usefulness": Criterion(low=1, high=5, better="higher"),
    "preference": Criterion(low=0, high=1, better="higher", scale="ordinal"),
    "coverage": Criterion(low=0, high=1, better="higher", scale="nominal"),
}
LINES = {
    "sources.jsonl": [
        {
            "doc_id": "d1",
            "task": "note",
            "passages": [{"text": f"Any {CANARY}?", "speaker": "doctor"}, "None."],
            "attributes": {"b": 1, "a": "é"},
        },
        {"doc_id": "d2", "task": "impression", "passages": [{"text": "No mass.", "group": "f"}]},
    ],
    "texts.jsonl": [
        {"doc_id": "d1", "author": "reference", "text": f"No {CANARY}."},
        {"doc_id": "d1", "author": "alpha", "text": f"No {CANARY} [1].\r\nSecond line."},
        {"doc_id": "d2", "author": "reference", "text": "No mass."},
        {"doc_id": "d2", "author": "alpha", "status": "refused"},
        {"doc_id": "d1", "author": "beta", "part": "plan", "text": "Rest."},
    ],
    "segments.jsonl": [
        {"doc_id": "d1", "author": "reference", "part": "finding", "text": f"No {CANARY}."},
        {"doc_id": "d1", "author": "alpha", "part": "finding", "text": "no cough"},
    ],
}
RATED = (
    b"study,doc_id,author,rater,criterion,value,unit,part\n"
    b"s,d1,alpha,ann,usefulness,4,,\n"
    b"s,d1,alpha,ben,usefulness,,text,full\n"
    b"s,d1,beta,ann,usefulness,1.5,text,plan\n"
    b"s,d1,alpha,ann,preference,0.5,versus:beta,\n"
    b"s,d1,alpha,ann,coverage,1,claim:0,\n"
)


def written(lines: list[object]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode("ascii")


SCORED = b"""doc_id,author,metric,value,better
d1,alpha,ter,0.5,lower
d2,alpha,own,,
"""
SOUND = {name: written(list(lines)) for name, lines in LINES.items()}
SOUND |= {"ratings.csv": RATED, "scores.csv": SCORED}


def check(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for other, sound in SOUND.items():
            (folder / other).write_bytes(content if other == name else sound)
        ended = handled(lambda: ingest("files", folder, CRITERIA))
        assert (folder / name).read_bytes() == content
        assert sorted(path.name for path in folder.iterdir()) == sorted(SOUND)
        if ended.problems:
            assert all(".jsonl" in line or ".csv" in line for line in ended.problems)
            return
        for warning in ended.value.warnings:
            assert CANARY not in warning
        tables = (SOURCES, TEXTS, SEGMENTS, RATINGS, MEASUREMENTS, CRITERIA_TABLE)
        found = ended.value
        kept = (found.sources, found.texts, found.segments, found.ratings, found.measurements)
        for table, frame in zip(tables, (*kept, found.criteria), strict=True):
            path = folder / f"{table.name}.parquet"
            parquet.write(table, frame, path)
            assert len(parquet.read(table, path)) == len(frame)
        for rows, file in zip(kept, SOUND, strict=True):
            lines = [line for line in _lines(folder / file) if line.strip()]
            assert len(rows) == len(lines) - (file.endswith(".csv")), f"{file}: a line vanished"


def _lines(file: Path) -> list[str]:
    # As the readers count them: a quoted cell may hold a line's end, which no case here has.
    return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").split("\n")


@pytest.mark.parametrize("name", SOUND)
def test_bytes(name: str) -> None:
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        content = damaged(SOUND[name], accidents)
        check(name, content)

    run()


@pytest.mark.parametrize("name", LINES)
def test_values(name: str) -> None:
    @given(CHANGES)
    def run(changes: Any) -> None:
        lines = changed(list(LINES[name]), changes)
        check(name, written(lines))

    run()


@given(
    st.integers(0, 5), st.integers(0, 7), st.sampled_from(["", "=x", "nan", "inf", "1e400", "é"])
)
@example(1, 5, "1e400")
def test_cells(line: int, column: int, value: str) -> None:
    rows = [row.split(",") for row in RATED.decode().splitlines()]
    rows[line][column] = value
    check("ratings.csv", "\n".join(",".join(row) for row in rows).encode())
