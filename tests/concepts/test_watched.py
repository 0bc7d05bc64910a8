"""DVC knows the files that metrics of concepts read: their records name them."""

from pathlib import Path
from typing import Any

import pytest

from metassay.core.kinds import choose
from metassay.metrics import METRICS

LINKER = {"linker": {"kind": "terms", "terms": "data/terms/clinical.csv"}}
NETWORK = LINKER | {"model": "m", "device": "cpu", "dtype": "float64"}
TERMS = ["data/terms/clinical.csv"]


@pytest.mark.parametrize(
    ("kind", "block", "files"),
    [
        ("medcon", LINKER, TERMS),
        (
            *("mist", LINKER | {"vectors": {"file": "v.npy", "vocabulary": "names.txt"}}),
            [*TERMS, "v.npy", "names.txt"],
        ),
        *(
            (f"med_{name}", NETWORK, TERMS)
            for name in ("bertscore", "bertscore_window", "bartscore")
        ),
        ("f1_radgraph", {"annotations": "entities.jsonl"}, ["entities.jsonl"]),
    ],
)
def test_files_of_options_are_needs(kind: str, block: dict[str, Any], files: list[str]) -> None:
    chosen = choose(METRICS, {"kind": kind} | block, where="test")
    read = [file.path for file in chosen.record.files(chosen.options)]
    assert read == list(map(Path, files))
