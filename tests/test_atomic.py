"""Files and folders appear whole or not at all."""

from pathlib import Path

import pytest

from metassay.atomic import remove_leftovers, whole_file, whole_folder
from metassay.errors import BadInput


def test_a_file_is_replaced_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new" / "one.txt"
    with whole_file(path) as file:
        file.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write(b"%d" % (1 // 0))
    assert path.read_bytes() == b"whole"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_appears_at_the_end(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out", "--out") as made:
        (made / "one.txt").write_text("whole")
        assert not (tmp_path / "out").exists()
    assert (tmp_path / "out" / "one.txt").read_text() == "whole"
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path / "other", "--out"):
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("name", "says"),
    [("out", "holds something already"), ("out/file", "is a file"), ("out/file/in", "cannot be")],
)
def test_a_folder_that_is_taken(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file").write_text("mine")
    with (
        pytest.raises(BadInput, match=f"^--out .*: {says}"),
        whole_folder(tmp_path / name, "--out"),
    ):
        pass
    assert (tmp_path / "out" / "file").read_text() == "mine"


def test_leftovers_of_one_name_go(tmp_path: Path) -> None:
    (tmp_path / ".out.x.unfinished").mkdir()
    (tmp_path / ".out.y.unfinished").write_text("half")
    (tmp_path / ".other.x.unfinished").write_text("half")
    (tmp_path / "out").mkdir()
    remove_leftovers(tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.x.unfinished", "out"]
    remove_leftovers(tmp_path / "nowhere" / "out")
