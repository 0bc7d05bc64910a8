"""Labelled sentences: taken whole, or refused with the file and the line; a label never moves."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from metassay.labelled.segmentations import ingest_sentences
from metassay.labelled.types import SegmentTestOptions
from metassay.tables import parquet
from metassay.tables.documents import TEXTS
from metassay.tables.sentences import SENTENCES
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import CANARY, handled
from tests.fuzz.test_own_data import written

LINES: list[object] = [
    {"doc_id": "d1", "sentences": [f"A {CANARY}.", "é."], "labels": ["result", "none"]},
    {"doc_id": "d2", "sentences": ["Two."], "labels": ["method"], "confs": [0.5]},
]
ABSTRACTS: list[object] = [
    {"abstract_id": 0, "sentences": [f"A {CANARY}."], "labels": ["other"], "confs": [0.5]},
    {"abstract_id": 0, "sentences": ["B."], "labels": ["result"]},
]
RCT = f"###1\nMETHODS\tA {CANARY} .\r\nRESULTS\té .\n\n###2\nOBJECTIVE\tTo see .\n".encode()
SOUND = {"sentences": written(LINES), "csabstruct": written(ABSTRACTS), "pubmed_rct": RCT}
FILES = {"sentences": "a.jsonl", "csabstruct": "a.jsonl", "pubmed_rct": "a.txt"}


def check(reader: str, content: bytes) -> None:
    options = SegmentTestOptions(labels={}, sample=None)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / FILES[reader]).write_bytes(content)
        ended = handled(lambda: ingest_sentences(reader, folder, options))
        if ended.problems:
            return
        for table, frame in ((TEXTS, ended.value.texts), (SENTENCES, ended.value.sentences)):
            parquet.write(table, frame, folder / f"{table.name}.parquet")
            assert len(parquet.read(table, folder / f"{table.name}.parquet")) == len(frame)
        texts = dict(zip(ended.value.texts["doc_id"], ended.value.texts["text"], strict=True))
        rows = ended.value.sentences
        for doc_id, start, end in zip(rows["doc_id"], rows["start"], rows["end"], strict=True):
            said = texts[doc_id][start:end]
            assert said == said.strip() != ""


@pytest.mark.parametrize("reader", SOUND)
def test_bytes(reader: str) -> None:
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        check(reader, damaged(SOUND[reader], accidents))

    check(reader, SOUND[reader])
    run()


@pytest.mark.parametrize(("reader", "lines"), [("sentences", LINES), ("csabstruct", ABSTRACTS)])
def test_values(reader: str, lines: list[object]) -> None:
    @given(CHANGES)
    def run(changes: Any) -> None:
        check(reader, written(changed(lines, changes)))

    run()
