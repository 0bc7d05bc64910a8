"""Files and folders appear whole or not at all."""

import fcntl
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from metassay.core.atomic import (
    out_file,
    remove_dead,
    remove_leftovers,
    whole_file,
    whole_folder,
)
from metassay.core.errors import BadInput


def put(path: Path, content: bytes = b"new") -> None:
    with whole_file(path) as file:
        file.write(content)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_file_is_replaced_at_the_end(tmp_path):
    path = tmp_path / "new" / "a.txt"
    with whole_file(path) as file:
        file.write(b"whole")
        assert not path.exists()
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write(b"%d" % (1 // 0))
    assert path.read_bytes() == b"whole"
    assert names(tmp_path) == ["new", "new/a.txt"]


def test_a_folder_appears_at_the_end(tmp_path):
    out = tmp_path / "out"
    with whole_folder(out, "--out") as folder:
        (folder / "a.txt").touch()
        assert not out.exists()
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path / "other", "--out"):
        raise KeyboardInterrupt
    assert names(tmp_path) == ["out", "out/a.txt"]
    out.chmod(0o700)
    with (
        pytest.raises(ZeroDivisionError),
        whole_folder(out, "--out", replace=True) as folder,
    ):
        (folder / "half").write_bytes(b"%d" % (1 // 0))
    with whole_folder(out, "--out", replace=True) as folder:
        (folder / "b.txt").touch()
        assert names(out) == ["a.txt"]
    assert names(tmp_path) == ["out", "out/b.txt"]
    assert mode(out) == 0o700


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("out", "holds something already"),
        ("out/file", "is a file"),
        ("out/file/in", "cannot be"),
    ],
)
def test_a_folder_that_is_taken(tmp_path, name, words):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/file").write_text("of a user")
    refused = pytest.raises(BadInput, match=f"^--out .*: {words}")
    with refused, whole_folder(tmp_path / name, "--out"):
        pass
    assert (tmp_path / "out/file").read_text() == "of a user"


def test_leftovers_of_one_name_go(tmp_path):
    for name in (".out.x.unfinished", "out"):
        (tmp_path / name).mkdir()
    for name in (".out.y.unfinished", ".other.x.unfinished"):
        (tmp_path / name).write_text("half")
    remove_leftovers(tmp_path / "out")
    assert names(tmp_path) == [".other.x.unfinished", "out"]
    remove_leftovers(tmp_path / "nowhere" / "out")


KILLED = """
import os, signal, sys
from pathlib import Path
from metassay.core.atomic import whole_file, whole_folder

with whole_folder(Path(sys.argv[1], "out"), "--out") as folder:
    (folder / "texts.csv").write_text("private")
    with whole_file(Path(sys.argv[1], "a.txt")):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_goes_at_the_next_one_and_is_told(tmp_path, caplog):
    subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False)
    left = sorted(tmp_path.iterdir())
    assert [path.suffix for path in left] == [".unfinished"] * 2
    assert mode(left[1]) == 0o700, "nobody else reads what is half-written"
    with whole_folder(tmp_path / "living", "--out"):
        remove_dead(tmp_path)
        (living,) = tmp_path.iterdir()
        assert living.name.startswith(".living.")
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: a killed run had left it; it was removed" for path in left
    ]


def test_what_another_container_writes_stays_though_its_process_is_not_here(tmp_path):
    theirs = tmp_path / f".out.{2**22 + 1}-0a1b2c3d.unfinished"  # no process has it
    theirs.mkdir()
    handle = os.open(theirs, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    remove_dead(tmp_path)
    assert theirs.exists()
    os.close(handle)
    remove_dead(tmp_path)
    assert not theirs.exists()


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_file_keeps_its_mode_and_a_new_one_has_that_of_the_umask(tmp_path):
    for before in (0o600, 0o664, 0o444):
        path = tmp_path / f"{before:o}"
        path.touch()
        path.chmod(before)
        with whole_file(path) as file:
            (hidden,) = tmp_path.glob(".*.unfinished")
            assert mode(hidden) == before, "from its first byte on"
            file.write(b"new")
        assert mode(path) == before
    put(tmp_path / "new")
    assert mode(tmp_path / "new") == 0o640


@pytest.mark.usefixtures("umask")
def test_a_folder_keeps_its_mode_and_a_new_one_has_that_of_the_umask(tmp_path):
    (tmp_path / "old").mkdir(0o700)
    for name, expected in (("old", 0o700), ("new", 0o750)):
        with whole_folder(tmp_path / name, "--out") as folder:
            (folder / "file").touch()
        assert (mode(tmp_path / name), mode(tmp_path / name / "file")) == (
            expected,
            0o640,
        )


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
def test_a_file_that_root_writes_again_stays_its_owners(tmp_path):
    path = tmp_path / "theirs"
    path.touch(0o600)
    os.chown(path, 65534, 65534)
    put(path)
    assert (path.stat().st_uid, path.stat().st_gid, mode(path)) == (65534, 65534, 0o600)


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far/target").write_bytes(b"old")
    for name, target in (("link", "far/target"), ("to_nothing", "far/absent")):
        (tmp_path / name).symlink_to(target)
        put(tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / target).read_bytes() == b"new"
    assert names(tmp_path / "far") == ["absent", "target"]


def test_a_link_into_a_cache_that_nobody_may_write_to_makes_way(tmp_path):
    (tmp_path / "cached").write_bytes(b"old")
    (tmp_path / "cached").chmod(0o444)
    (tmp_path / "table").symlink_to("cached")
    put(tmp_path / "table")
    assert not (tmp_path / "table").is_symlink()
    assert [(tmp_path / name).read_bytes() for name in ("cached", "table")] == [
        b"old",
        b"new",
    ]


def test_a_link_that_leads_to_itself_is_named(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(OSError, match="loop") as raised:
        put(loop)
    assert raised.value.filename == str(loop)
    with pytest.raises((OSError, BadInput), match="loop"), whole_folder(loop, "--out"):
        pass
    assert list(tmp_path.iterdir()) == [loop]


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=put, args=(pipe,))
    writing.start()
    assert pipe.read_bytes() == b"new"
    writing.join()
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_device_is_written_to_and_stays_a_device():
    put(Path(os.devnull))
    assert Path(os.devnull).is_char_device()


def test_stdout_is_written_to_wherever_it_goes(capfd):
    # capfd has stdout go to a file, which is not replaced either: what follows would be
    # lost.
    print("before")
    put(out_file("-"), b"table\n")
    put(Path("/dev/stdout"), b"again\n")
    print("after")
    assert capfd.readouterr().out == "before\ntable\nagain\nafter\n"
    assert out_file("./x") == Path("x")
