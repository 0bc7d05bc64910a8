"""Files that lie where one access class holds, and are known to be of another one.

A file is known by its content: that of a registered file (its sha256), or of one that lies in
another dataset's folder. A copy that was changed, by one byte, is not known any more.
"""

import contextlib
import functools
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from metassay.datasets.registry import Dataset, misplaced, place


class _Known(NamedTuple):
    """A file of a dataset, by its content: `digest` gives its sha256, None if it can't be read."""

    dataset: str
    name: str
    digest: Callable[[], str | None]


def label_problems(
    datasets: Mapping[str, Dataset], repeated: Iterable[str], read: Sequence[tuple[str, Path]]
) -> list[str]:
    """One line for each reason to doubt the access class of texts that repeat these datasets.

    `read`: names of datasets, and the folder that each is read from: it must be its own. No file of
    the datasets may be one of a stricter class; files that are empty or hidden, or that the entry
    itself lists, are what the entry says. Names that no entry has are left out.
    """
    problems = [
        problem
        for name, folder in read
        if name in datasets
        for problem in misplaced(name, datasets[name], folder)
    ]
    for name in dict.fromkeys([*repeated, *(name for name, _ in read)]):
        if name in datasets:
            own = datasets[name]
            stricter = {n: d for n, d in datasets.items() if d.access not in ("public", own.access)}
            problems += _mislabelled(name, own, _by_size(stricter), datasets)
    return problems


def _mislabelled(
    name: str, own: Dataset, known: Mapping[int, Sequence[_Known]], datasets: Mapping[str, Dataset]
) -> Iterator[str]:
    listed = {file.sha256 for file in own.files}
    for path, size in _files(place(name, own)):
        candidates = known.get(size, ())
        digest = _sha256(path) if candidates else None
        if digest in listed:
            continue
        if candidates and digest is None:
            yield f"{path}: cannot be read; allow it, or take it out of the folder"
            continue
        for theirs in candidates:
            if theirs.digest() == digest:
                access = datasets[theirs.dataset].access
                yield (
                    f"{path}: lies in the folder of {name!r}, which is {own.access}, but it is"
                    f" {theirs.name} of {theirs.dataset!r}, which is {access}; take it out, or"
                    f" write access: {access} at {name!r} in data/registry.yaml"
                )
                break


def _by_size(datasets: Mapping[str, Dataset]) -> dict[int, list[_Known]]:
    found: dict[int, list[_Known]] = {}
    for name, dataset in datasets.items():
        for file in dataset.files:
            one = _Known(name, file.name, functools.partial(str, file.sha256))
            found.setdefault(file.bytes, []).append(one)
        for path, size in _files(place(name, dataset)):
            one = _Known(name, str(path), functools.cache(functools.partial(_sha256, path)))
            found.setdefault(size, []).append(one)
    return found


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    """All that can be read as a raw file, with its length, also in folders that links lead to."""
    seen: set[Path] = set()
    for at, folders, names in os.walk(folder, followlinks=True):
        real = Path(at).resolve()
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        for name in sorted(names):
            path = Path(at, name)
            with contextlib.suppress(OSError):  # what nobody may look at, nobody reads
                size = path.stat().st_size if path.is_file() else 0
                if size and not name.startswith("."):
                    yield path, size


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return None
