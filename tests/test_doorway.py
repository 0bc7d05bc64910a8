"""What all stages share before they begin."""

import sys
from pathlib import Path

import pytest

from stages.doorway import enter
from tests.stage_setup import tiny_project


def test_what_a_killed_one_left_of_its_outs_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing that another stage writes at this moment into the same folder."""
    root = tiny_project(tmp_path, "http://127.0.0.1:1/v1", ["A passage."])
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", ["generate.py", "one", "writer"])
    texts = root / "data/tables/one/texts"
    left, written = (
        texts / ".writer.parquet.x1y2.unfinished",
        texts / ".lead.parquet.z.unfinished",
    )
    texts.mkdir(parents=True)
    left.touch()
    written.touch()
    seen: list[Path] = []
    enter(lambda io: seen.extend(texts.iterdir()))
    assert seen == [written]
