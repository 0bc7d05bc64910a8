"""Where shards end, and how they are kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from metassay.executor import shards
from metassay.executor.record import LOCAL
from metassay.executor.shards import Storage, contents, cut, difference, versions
from tests.executor.dask_machines import ROOT


def test_shards_are_the_pieces_in_their_order() -> None:
    for n in (0, 1, 7, 63, 64, 1000, 20_000):
        pieces = [f"piece {number}" for number in range(n)]
        shards = list(cut(pieces))
        assert [piece for shard in shards for piece in shard] == pieces
        assert all(shards)
        if n < 128:
            assert len(shards) == n
        else:
            assert max(64, n / 64) / 1.4 < len(shards) < max(128, n / 64) * 1.4
    # equal pieces end in time
    assert max(len(shard) for shard in cut(["same"] * 10_000)) <= 256
    # A piece more changes its shard alone.
    pieces = [f"piece {number}" for number in range(4000)]
    before = {tuple(shard) for shard in cut(pieces)}
    after = {tuple(shard) for shard in cut([*pieces[:1234], "new", *pieces[1234:]])}
    assert len(before - after) <= 2
    assert len(after - before) <= 3
    assert LOCAL.map(sorted, [3, 1, 2]) == [[1, 2, 3]]
    assert LOCAL.map(sorted, []) == [[]]


@pytest.mark.parametrize("place", ["folder", "memory://metassay-test"])
def test_a_storage_has_files_that_are_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(shards, "LATE_SECONDS", 0.0)
    storage = Storage(place if "://" in place else str(tmp_path / place))
    assert not storage.has("a")
    with pytest.raises(FileNotFoundError):
        storage.read("a")
    storage.write("a", b"one")
    storage.write("a", b"two")
    assert (storage.has("a"), storage.read("a")) == (True, b"two")
    if "://" not in place:
        assert os.listdir(tmp_path / place) == ["a"]  # noqa: PTH208
        assert (tmp_path / place).stat().st_mode & 0o077 == 0
    storage.clear()
    storage.clear()
    assert not storage.has("a")


def test_other_versions_are_named_in_a_line(tmp_path: Path) -> None:
    known = {"python": "3.11", "numpy": "2.4", "torch": "2.13"}
    assert difference(known, known) == ""
    assert difference(
        known, {**known, "numpy": "2.5", "torch": "not there", "other": "1"}
    ) == ("numpy 2.5 instead of 2.4, torch not there instead of 2.13")
    assert len(versions()["metassay"]) == 12
    file = tmp_path / "prompt.yaml"
    file.write_text("a", encoding="utf-8")
    first = contents([file, tmp_path / "none"])
    assert first[str(tmp_path / "none")] == "not there"
    file.write_text("b", encoding="utf-8")
    assert contents([file]) != {str(file): first[str(file)]}


def test_without_a_cluster_no_stage_loads_dask() -> None:
    names = (
        "align",
        "decompose",
        "generate",
        "judge",
        "measure",
        "meta_evaluate",
        "segment",
    )
    code = f"""
import importlib, sys
for name in {names}:
    importlib.import_module("stages." + name)
from metassay.datasets.workers import open_executor
loaded = {{"dask", "distributed", "fsspec"}} & set(sys.modules)
sys.exit(", ".join(loaded) or 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
