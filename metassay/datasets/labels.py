"""Files that lie where one access class holds, and are known to be of another one.

A file is known by its content: that of a registered file (its sha256 or git_blob), or of one that
lies in another dataset's folder. A copy that was changed, by one byte, is not known any more.
"""

import contextlib
import functools
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from metassay.datasets.registry import Dataset, hashing, misplaced, place


class _Known(NamedTuple):
    """A file of a dataset, by its content: those of its hashes that are known."""

    dataset: str
    name: str
    digests: Callable[[], Set[str]]


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
    listed = {file.digest for file in own.files}
    for path, size in _files(place(name, own)):
        candidates = known.get(size, ())
        digests = _digests(path, size) if candidates else set()
        if listed & digests:
            continue
        if candidates and not digests:
            yield f"{path}: cannot be read; allow it, or take it out of the folder"
            continue
        for theirs in candidates:
            if theirs.digests() & digests:
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
            one = _Known(name, file.name, functools.partial(frozenset, (file.digest,)))
            found.setdefault(file.bytes, []).append(one)
        for path, size in _files(place(name, dataset)):
            digests = functools.cache(functools.partial(_digests, path, size))
            found.setdefault(size, []).append(_Known(name, str(path), digests))
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


def _digests(path: Path, size: int) -> set[str]:
    """The hashes by which the registry may know the file; none if it can't be read."""
    found = set()
    with contextlib.suppress(OSError):
        for kind in ("sha256", "git_blob"):
            with path.open("rb") as opened:
                digest = hashlib.file_digest(opened, functools.partial(hashing, kind, size))
                found.add(digest.hexdigest())
    return found
