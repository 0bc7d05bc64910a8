"""dvc.lock cut short by a kill is mended, wherever the cut."""

from pathlib import Path

import pytest
from dvc.utils.serialize import dump_yaml, load_yaml

from flows.lockfile import guarded, mend

STAGES = {
    f"stage@{n}": {"cmd": f"run {n}", "outs": [{"path": f"out{n}", "md5": str(n) * 32}]}
    for n in range(4)
}


def lock_file(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    dump_yaml(str(path), {"schema": "2.0", "stages": STAGES})
    return path


def killed_while_writing(root: Path) -> None:
    with guarded(root):
        lock = root / "dvc.lock"
        lock.write_bytes(lock.read_bytes()[: lock.stat().st_size // 2])
        raise KeyboardInterrupt


def test_a_cut_anywhere_loses_nothing(tmp_path: Path) -> None:
    kept = lock_file(tmp_path / "kept")
    whole = kept.read_bytes()
    lock = tmp_path / "dvc.lock"
    for length in range(len(whole) + 1):
        lock.write_bytes(whole[:length])
        mend(lock, kept)
        assert lock.read_bytes() == whole, length


def test_what_the_killed_run_finished_stays_but_for_the_last_entry(tmp_path: Path) -> None:
    kept = lock_file(tmp_path / "kept")
    newer = {"cmd": "newer", "outs": [{"path": "out1", "md5": "f" * 32}]}
    stages = {**STAGES, "stage@1": newer, "stage@8": newer, "stage@9": newer}
    dump_yaml(str(tmp_path / "dvc.lock"), {"schema": "2.0", "stages": stages})
    mend(tmp_path / "dvc.lock", kept)
    found = load_yaml(str(tmp_path / "dvc.lock"))["stages"]
    assert list(found) == [*STAGES, "stage@8"]
    assert found["stage@1"] == newer


def test_the_copy_lasts_as_long_as_the_run_and_longer_if_it_is_killed(tmp_path: Path) -> None:
    lock, kept = lock_file(tmp_path / "dvc.lock"), tmp_path / ".work/dvc.lock"
    whole = lock.read_bytes()
    with guarded(tmp_path):
        assert kept.read_bytes() == whole
    assert not kept.exists()
    with pytest.raises(KeyboardInterrupt):
        killed_while_writing(tmp_path)
    with guarded(tmp_path):
        assert lock.read_bytes() == whole


def test_the_first_run_of_all_has_no_lock_file(tmp_path: Path) -> None:
    with guarded(tmp_path):
        pass
    assert not (tmp_path / "dvc.lock").exists()
