"""Counted facts, marked phrases and listed errors: taken whole, or refused with file and row."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from metassay.core.options import Criterion
from metassay.datasets.annotations import FACT_CRITERIA
from metassay.datasets.consultations import LISTS, SECONDS
from metassay.datasets.ingest import ingest
from metassay.tables import parquet
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.ratings import RATINGS
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import CANARY, handled
from tests.fuzz.test_own_data import written

KEY = {"doc_id": "d1", "author": "alpha", "rater": "ann"}
FACT = {"subject": CANARY, "predicate": "is", "object": "é", "status": "correct"}
LINES: dict[str, Any] = {
    "sources.jsonl": [{"doc_id": "d1", "task": "note", "passages": [f"Any {CANARY}?"]}],
    "texts.jsonl": [
        {"doc_id": "d1", "author": "reference", "text": f"No {CANARY}. It was é."},
        {"doc_id": "d1", "author": "alpha", "text": f"No {CANARY} at all."},
    ],
    "facts.jsonl": [
        KEY | {"facts": [FACT, FACT | {"object": "", "status": "omitted"}], "reference_facts": 2},
        KEY | {"rater": "bo", "facts": [FACT | {"status": None}]},
    ],
    "phrases.jsonl": [
        KEY | {"hallucinated": [{"start": 0, "end": 2, "text": "No"}], "omitted": []},
        KEY | {"rater": "bo", "hallucinated": [], "omitted": [{"start": 3, "end": 9}]},
    ],
}
HEAD = "doc_id,author,rater,"
TABLES = {
    "fact_counts.csv": f"{HEAD}correct,incorrect,hallucinated,omitted,reference_facts\n"
    "d1,alpha,cy,6,1,1,2,9\nd1,alpha,di,6,,1,2,\n",
    "errors.csv": f"{HEAD}critical,non_critical,spelling\nd1,alpha,ann,1,2,4\nd1,alpha,bo,,0,0\n",
}
RESULTS = (
    "Evaluator,Consultation,Model,Evaluator Note,Model Note,Post-edited note,Post-edit time,"
    "Incorrect Statements,Omissions\n"
    f'1,c1,m1,Own {CANARY}.,Noted.,Edited.,30,"! {CANARY}\n- b",\n'
    f"2,c1,m1,Other.,Noted.,,,,- {CANARY}\n"
)
SOUND = {
    **{("fact_annotations", name): written(lines) for name, lines in LINES.items()},
    **{("fact_annotations", name): text.encode() for name, text in TABLES.items()},
    ("primock57", "results.csv"): RESULTS.encode(),
}
LOWER = Criterion(low=-1e9, high=1e9, better="lower")
COUNTED = [*LISTS.values(), *(f"critical_{name}" for name in LISTS.values()), SECONDS]
SCALES = FACT_CRITERIA | dict.fromkeys(
    ("hallucination_count", "omission_count", "quality", *COUNTED), LOWER
)


def check(reader: str, name: str, content: bytes) -> bool:
    """Whether it was taken."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for (of, other), sound in SOUND.items():
            if of == reader:
                (folder / other).write_bytes(content if other == name else sound)
        ended = handled(lambda: ingest(reader, folder, SCALES))
        if ended.problems:
            assert all(".json" in line or ".csv" in line for line in ended.problems)
            return False
        found = ended.value
        kept = (found.sources, found.texts, found.ratings)
        for table, frame in zip((SOURCES, TEXTS, RATINGS), kept, strict=True):
            path = folder / f"{table.name}.parquet"
            parquet.write(table, frame, path)
            assert len(parquet.read(table, path)) == len(frame)
        return True


@pytest.mark.parametrize(("reader", "name"), SOUND)
def test_bytes(reader: str, name: str) -> None:
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        check(reader, name, damaged(SOUND[reader, name], accidents))

    assert check(reader, name, SOUND[reader, name])
    run()


@pytest.mark.parametrize("name", LINES)
def test_values(name: str) -> None:
    @given(CHANGES)
    def run(changes: Any) -> None:
        check("fact_annotations", name, written(changed(LINES[name], changes)))

    run()
