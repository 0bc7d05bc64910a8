"""Labels of sentences' elements, and FRANK's files: taken whole, or refused."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from metassay.core.options import Criterion
from metassay.datasets.annotations import SHARES
from metassay.datasets.ingest import ingest
from metassay.datasets.scored_texts import FRANK_CRITERIA as OF_FRANK
from metassay.tables import parquet
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import MEASUREMENTS
from metassay.units.statements import statements
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import CANARY, handled
from tests.fuzz.test_own_data import written
from tests.support.frank_files import put, records

KEY = {"doc_id": "d1", "author": "alpha"}
LINES: dict[str, Any] = {
    "sources.jsonl": [{"doc_id": "d1", "task": "other", "passages": [f"Any {CANARY}?"]}],
    "summaries.jsonl": [KEY | {"sentences": [f"No {CANARY}.", "It was é."]}],
    "labels.jsonl": [
        KEY | {"sentence": 0, "rater": "ann", "elements": [{"label": "correct", "text": CANARY}]},
        KEY | {"sentence": 1, "rater": "ann", "elements": []},
        KEY
        | {"sentence": 1, "rater": "bo", "elements": [{"label": "missing", "severity": "minor"}]},
    ],
}
SCALES = {name: Criterion(low=0, high=1, better="lower") for name in (*SHARES, *OF_FRANK.values())}


def _sound() -> dict[tuple[str, str], bytes]:
    """Reader and file -> what it holds."""
    found = {("element_labels", name): written(lines) for name, lines in LINES.items()}
    with tempfile.TemporaryDirectory() as made:
        folder = put(Path(made), *records(articles=2))
        return found | {("frank", path.name): path.read_bytes() for path in folder.iterdir()}


SOUND = _sound()


def check(reader: str, name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for (of, other), sound in SOUND.items():
            if of == reader:
                (folder / other).write_bytes(content if other == name else sound)
        ended = handled(lambda: ingest(reader, folder, SCALES))
        if ended.problems:
            said = (".json", ".txt", "does not hold what was released")
            assert all(any(one in line for one in said) for line in ended.problems)
            return
        found = ended.value
        tables = (SOURCES, TEXTS, RATINGS, MEASUREMENTS)
        kept = (found.sources, found.texts, found.ratings, found.measurements)
        for table, frame in zip(tables, kept, strict=True):
            path = folder / f"{table.name}.parquet"
            parquet.write(table, frame, path)
            assert len(parquet.read(table, path)) == len(frame)
        for text in found.texts["text"]:
            assert [one.text for one in statements(text)] == text.split("\n")


@pytest.mark.parametrize(("reader", "name"), SOUND)
def test_bytes(reader: str, name: str) -> None:
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        check(reader, name, damaged(SOUND[reader, name], accidents))

    check(reader, name, SOUND[reader, name])
    run()


@pytest.mark.parametrize(("reader", "name"), [key for key in SOUND if ".json" in key[1]])
def test_values(reader: str, name: str) -> None:
    @given(CHANGES)
    def run(changes: Any) -> None:
        if reader == "frank":
            value = changed(json.loads(SOUND[reader, name]), changes)
            check(reader, name, json.dumps(value).encode("ascii"))
        else:
            check(reader, name, written(changed(LINES[name], changes)))

    run()
