"""Fetch raw files from their URLs or a mirror folder, and verify them before use."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

import requests

from metassay.core.atomic import remove_leftovers, whole_file
from metassay.core.errors import BadInput, Unfinished, raise_problems
from metassay.datasets.registry import Dataset, File, digest_of, new_hash

_CHUNK = 1 << 16
_TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two pieces of the answer
_SHOWN = 12  # digits of a hash that a message shows
_BY_MIRROR = "take the files from a local copy with --mirror DIR (or METASSAY_MIRROR)"
# Refusals that another try can change.
_PASSING = frozenset({408, 425, 429})


class FetchError(Unfinished):
    """The network failed; another try can help. The message names file, URL and remedy."""


def fetch(
    name: str, dataset: Dataset, into: Path, *, mirror: Path | None = None
) -> list[Path]:
    """Fetch the dataset's files into a folder and return their paths, in the registry's order.

    With `mirror`, from `mirror/<dataset.mirror>/<file>`, else from the URLs. A file
    with the right hash is kept; a new file replaces it once verified. Every file is
    tried, unless the host does not answer at all. Then raises BadInput with all
    problems that another try cannot solve, or FetchError with the failures of the
    network.
    """
    if mirror is not None and dataset.files and not (mirror / dataset.mirror).is_dir():
        raise BadInput(
            f"{name}: the mirror {mirror} has no folder {dataset.mirror}; a mirror has a folder per"
            " dataset, named as in data/registry.yaml > mirror"
        )
    blocked = [into] if into.exists() and not into.is_dir() else []
    blocked += [
        into / file.name for file in dataset.files if (into / file.name).is_dir()
    ]
    raise_problems(
        f"{name}: {path} stands where a dataset belongs; remove it" for path in blocked
    )
    into.mkdir(parents=True, exist_ok=True)
    problems = []
    failures = []
    for file in dataset.files:
        path = into / file.name
        remove_leftovers(path)  # they would count as raw files
        complete = path.is_file() and path.stat().st_size == file.bytes
        if complete and digest_of(path, file.kind) == file.digest:
            continue
        try:
            pieces = (
                _download(file)
                if mirror is None
                else _copy(mirror / dataset.mirror, file)
            )
            with whole_file(path) as file_:
                _write(pieces, file, file_)
        except BadInput as error:
            problems += [f"{name}: {problem}" for problem in error.problems]
        except (requests.RequestException, FetchError) as error:
            failures.append(_failure(name, file, error))
            if isinstance(error, requests.ConnectTimeout):
                # the other files are on the same host, which would not answer either
                break
    if problems:
        raise BadInput(problems + failures)
    if failures:
        raise FetchError("\n".join(failures))
    return [into / file.name for file in dataset.files]


def _failure(name: str, file: File, error: Exception) -> str:
    # Messages of requests repeat parts of the URL; the type of the error is enough.
    what = str(error) if isinstance(error, FetchError) else type(error).__name__
    return f"{name}: {file.name}: {file.url}: {what}; try again, or {_BY_MIRROR}"


def _download(file: File) -> Iterator[bytes]:
    # With identity, Content-Length counts the file's bytes, so that a short answer is
    # detected.
    headers = {"Accept-Encoding": "identity"}
    with requests.get(
        file.url, stream=True, timeout=_TIMEOUT, headers=headers
    ) as response:
        code = response.status_code
        if 400 <= code < 500 and code not in _PASSING:
            raise BadInput(
                f"{file.name}: {file.url} answers {code}; correct the URL in data/registry.yaml, or"
                f" {_BY_MIRROR}"
            )
        if code != requests.codes.ok:
            raise FetchError(f"answers {code}")
        done = 0
        for piece in response.iter_content(_CHUNK):
            done += len(piece)
            yield piece
        announced = {"Content-Length", "Transfer-Encoding"} & {
            h.title() for h in response.headers
        }
        if done < file.bytes and not announced:
            # The connection closed, either at the end or by a failure.
            raise FetchError(f"only {done} of {file.bytes} bytes came")


def _copy(folder: Path, file: File) -> Iterator[bytes]:
    path = folder / file.name
    if not path.is_file():
        raise BadInput(f"{file.name}: the mirror has no {path}; put it there")
    with path.open("rb") as file_:
        yield from iter(partial(file_.read, _CHUNK), b"")


def _write(pieces: Iterator[bytes], file: File, file_: BinaryIO) -> None:
    digest = new_hash(file.kind, file.bytes)
    done = 0
    for piece in pieces:
        done += len(piece)
        digest.update(piece)
        file_.write(piece)
        if done > file.bytes:
            break  # wrong content, whatever follows
    actual = digest.hexdigest()
    if actual != file.digest:
        raise BadInput(
            f"{file.name}: {file.kind} {file.digest[:_SHOWN]}... expected, {actual[:_SHOWN]}..."
            f" found; this is not the pinned file: {_BY_MIRROR}, or put the right file into the"
            " mirror"
        )
