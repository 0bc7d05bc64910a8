"""Fetching from a real HTTP server on loopback and from a mirror, with all that goes wrong."""

import hashlib
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from metassay.core.errors import BadInput
from metassay.datasets import fetch as module
from metassay.datasets.fetch import FetchError, fetch
from metassay.datasets.registry import Dataset, File

CONTENT = {
    "one.csv": b"id,text\n1,one\n" * 9000,
    "two.csv": b"id,text\n2,two\n",
    "three": b"3",
}


class Server(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT; `faults` maps a path to the way in which its answer goes wrong."""

    faults: dict[str, str]
    requests: list[str]

    def do_GET(self) -> None:
        name = self.path.strip("/")
        self.requests.append(name)
        content, fault = CONTENT[name], self.faults.get(name, "")
        if fault.isdigit():
            self.send_error(int(fault))
            return
        if fault == "drop":
            self.connection.close()
            return
        if fault == "wrong":
            content = b"x" * len(content)
        if fault == "longer":
            content += b"x" * 100_000
        if fault == "shorter":
            content = b"<html>not found</html>"[: len(content) - 1]
        self.send_response(200)
        if fault == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
        elif fault != "hang up":
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        sent = (
            content[: len(content) // 2]
            if fault in ("truncated", "hang up")
            else content
        )
        self.wfile.write(
            b"%x\r\n%s\r\n" % (len(sent), sent) if fault == "chunked" else sent
        )

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[tuple[str, type[Server]]]:
    handler = type("Handler", (Server,), {"faults": {}, "requests": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(
            target=running.serve_forever, kwargs={"poll_interval": 0.01}
        )
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}", handler
        running.shutdown()
        thread.join()


def dataset(address: str = "http://127.0.0.1:9") -> Dataset:
    files = [
        {"name": n, "url": f"{address}/{n}", "bytes": len(content)}
        | {"sha256": hashlib.sha256(content).hexdigest()}
        for n, content in CONTENT.items()
    ]
    about = {
        "title": "t",
        "licence": "l",
        "access": "public",
        "mirror": "set_in_mirror",
    }
    return Dataset.model_validate({**about, "files": files})


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror" / "set_in_mirror"
    folder.mkdir(parents=True)
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o444)
    return folder.parent


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_fetches_every_file_and_leaves_alone_what_is_right(
    server: Any, tmp_path: Path
) -> None:
    address, handler = server
    paths = fetch("mine", dataset(address), tmp_path / "raw")
    assert [path.name for path in paths] == list(CONTENT)
    assert contents(tmp_path / "raw") == CONTENT
    (tmp_path / "raw/three").unlink()
    os.utime(tmp_path / "raw/one.csv", ns=(1, 1))
    for damaged in (b"", b"x" * len(CONTENT["two.csv"]), CONTENT["two.csv"][:-1]):
        (tmp_path / "raw/two.csv").write_bytes(damaged)
        handler.requests.clear()
        fetch("mine", dataset(address), tmp_path / "raw")
        assert set(handler.requests) <= {"two.csv", "three"}
        assert contents(tmp_path / "raw") == CONTENT
    assert (tmp_path / "raw/one.csv").stat().st_mtime_ns == 1


@pytest.mark.parametrize(
    "fault", ["truncated", "hang up", "drop", "chunked", "503", "429"]
)
def test_a_network_that_fails_may_be_tried_again(
    server: Any, tmp_path: Path, fault: str
) -> None:
    address, handler = server
    handler.faults["one.csv"] = fault
    with pytest.raises(FetchError) as caught:
        fetch("mine", dataset(address), tmp_path)
    assert str(caught.value).startswith(f"mine: one.csv: {address}/one.csv: ")
    assert "--mirror DIR" in str(caught.value)
    # the rest came; of one.csv nothing is left
    assert names(tmp_path) == ["three", "two.csv"]
    handler.faults.clear()
    fetch("mine", dataset(address), tmp_path)
    assert (tmp_path / "one.csv").read_bytes() == CONTENT["one.csv"]
    assert handler.requests.count("two.csv") == 1


@pytest.mark.parametrize("fault", ["wrong", "longer", "shorter"])
def test_wrong_content_is_bad_input_and_leaves_nothing(
    server: Any, tmp_path: Path, fault: str
) -> None:
    address, handler = server
    handler.faults["one.csv"] = fault
    (tmp_path / "one.csv").write_bytes(b"what was there before")
    with pytest.raises(BadInput) as caught:
        fetch("mine", dataset(address), tmp_path)
    (problem,) = caught.value.problems
    expected = hashlib.sha256(CONTENT["one.csv"]).hexdigest()[:12]
    assert problem.startswith(f"mine: one.csv: sha256 {expected}... expected, ")
    assert "--mirror DIR" in problem
    assert contents(tmp_path) == CONTENT | {"one.csv": b"what was there before"}


def test_every_problem_in_one_go(server: Any, tmp_path: Path) -> None:
    address, handler = server
    handler.faults.update({"one.csv": "404", "two.csv": "wrong", "three": "503"})
    with pytest.raises(BadInput) as caught:
        fetch("mine", dataset(address), tmp_path)
    refused, *others = caught.value.problems
    assert refused.startswith(
        f"mine: one.csv: {address}/one.csv answers 404; correct the URL"
    )
    assert [problem.split(":")[1] for problem in others] == [" two.csv", " three"]
    assert names(tmp_path) == []


def test_a_host_that_does_not_answer_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        FetchError, match="ConnectionError; try again, or take the files from"
    ):
        fetch("mine", dataset(), tmp_path)  # nobody listens
    urls = []

    def silent(url: str, **_: Any) -> None:
        urls.append(url)
        raise requests.ConnectTimeout(url)

    # What loopback cannot do: packets that nobody answers.
    monkeypatch.setattr(module.requests, "get", silent)
    with pytest.raises(FetchError, match=r"one\.csv: .*ConnectTimeout; try again"):
        fetch("mine", dataset(), tmp_path)
    assert len(urls) == 1


def test_a_silent_server_is_given_up(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, handler = server
    release = threading.Event()
    monkeypatch.setattr(handler, "do_GET", lambda self: release.wait(5))
    monkeypatch.setattr(module, "_TIMEOUT", (1.0, 0.1))
    with pytest.raises(FetchError, match="ReadTimeout"):
        fetch("mine", dataset(address), tmp_path)
    release.set()


def test_takes_files_from_a_mirror(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, folder = tmp_path / "raw", mirror / "set_in_mirror"
    raw.mkdir()
    (raw / ".one.csv.abc.unfinished").write_bytes(b"half")  # of a fetch that was killed
    (raw / ".other.unfinished").write_bytes(b"not ours")
    fetch("mine", dataset(), raw, mirror=mirror)
    assert contents(raw) == {".other.unfinished": b"not ours", **CONTENT}
    assert all((raw / name).stat().st_mode & 0o777 == 0o644 for name in CONTENT)
    (folder / "two.csv").unlink()
    (folder / "three").chmod(0o644)
    (folder / "three").write_bytes(b"")
    with pytest.raises(BadInput) as caught:
        fetch("mine", dataset(), tmp_path / "new", mirror=mirror)
    missing, wrong = caught.value.problems
    assert (
        missing
        == f"mine: two.csv: the mirror has no {folder / 'two.csv'}; put it there"
    )
    assert wrong.startswith("mine: three: sha256 ")
    assert names(tmp_path / "new") == ["one.csv"]

    def interrupted(*_: Any) -> Iterator[bytes]:
        yield b"id,"
        raise KeyboardInterrupt

    monkeypatch.setattr("metassay.datasets.fetch._copy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch("mine", dataset(), tmp_path / "third", mirror=mirror)
    assert names(tmp_path / "third") == []
    with pytest.raises(
        BadInput, match="has no folder set_in_mirror; a mirror has a folder per"
    ):
        fetch("mine", dataset(), tmp_path / "fourth", mirror=tmp_path / "none")
    assert not (tmp_path / "fourth").exists()


def test_a_file_known_by_its_git_blob(mirror: Path, tmp_path: Path) -> None:
    """The hash is git's own of these six bytes (`echo hello | git hash-object --stdin`)."""
    blob = "ce013625030ba8dba906f756967f9e9ca394464a"
    file = File(name="hello", url="https://example.org/hello", git_blob=blob, bytes=6)
    entry = dataset().model_copy(update={"files": [file]})
    (mirror / "set_in_mirror/hello").write_bytes(b"hello\n")
    (path,) = fetch("mine", entry, tmp_path / "raw", mirror=mirror)
    assert path.read_bytes() == b"hello\n"
    path.write_bytes(b"hallo\n")
    (mirror / "set_in_mirror/hello").write_bytes(b"hullo\n")
    with pytest.raises(
        BadInput, match=r"^mine: hello: git_blob ce013625030b\.\.\. expected, "
    ):
        fetch("mine", entry, tmp_path / "raw", mirror=mirror)


def test_what_is_no_file_or_no_folder_is_named(tmp_path: Path) -> None:
    sample = Dataset(reader="files", title="t", licence="l", access="private")
    assert fetch("sample", sample, tmp_path / "raw") == []
    (tmp_path / "raw/two.csv").mkdir()
    (tmp_path / "file").write_bytes(b"")
    for into, path in (("raw", "raw/two.csv"), ("file", "file")):
        with pytest.raises(BadInput) as caught:
            fetch("set", dataset(), tmp_path / into)
        text = f"set: {tmp_path / path} stands where a dataset belongs; remove it"
        assert caught.value.problems == (text,)
