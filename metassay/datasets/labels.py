"""Find files of a stricter access class in a dataset's folder.

Files are compared by content: with registered files (sha256 or git_blob), and with files in other
datasets' folders. A copy with a changed byte is not recognised.
"""

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from metassay.datasets.registry import Dataset, digest_of, folder_of, place_problems


class _KnownFile(NamedTuple):
    """A file of a dataset, with its known hashes."""

    dataset: str
    name: str
    digests: Callable[[], Set[str]]


def label_problems(
    datasets: Mapping[str, Dataset], repeated: Iterable[str], read: Sequence[tuple[str, Path]]
) -> list[str]:
    """Return a line for each reason to doubt the access class of texts that repeat these datasets.

    `read`: names of datasets, each with the folder that it is read from, which must be its own. No
    file of the datasets may be of a stricter class, except files that are empty, hidden or listed
    in the dataset's entry. Names without an entry are ignored.
    """
    problems = [
        problem
        for name, folder in read
        if name in datasets
        for problem in place_problems(name, datasets[name], folder)
    ]
    for name in dict.fromkeys([*repeated, *(name for name, _ in read)]):
        if name in datasets:
            dataset = datasets[name]
            laxer = "public", dataset.access
            stricter = {n: d for n, d in datasets.items() if d.access not in laxer}
            problems += _find_mislabelled(name, _by_size(stricter), datasets)
    return problems


def _find_mislabelled(
    name: str, known: Mapping[int, Sequence[_KnownFile]], datasets: Mapping[str, Dataset]
) -> Iterator[str]:
    dataset = datasets[name]
    listed = {file.digest for file in dataset.files}
    for path, size in _files(folder_of(name, dataset)):
        candidates = known.get(size, ())
        digests = _digests(path) if candidates else set()
        if listed & digests:
            continue
        if candidates and not digests:
            yield f"{path}: cannot be read; allow it, or take it out of the folder"
            continue
        for other in candidates:
            if other.digests() & digests:
                access = datasets[other.dataset].access
                yield (
                    f"{path}: lies in the folder of {name!r}, which is {dataset.access}, but it is"
                    f" {other.name} of {other.dataset!r}, which is {access}; take it out, or"
                    f" write access: {access} at {name!r} in data/registry.yaml"
                )
                break


def _by_size(datasets: Mapping[str, Dataset]) -> dict[int, list[_KnownFile]]:
    files: dict[int, list[_KnownFile]] = {}
    for name, dataset in datasets.items():
        for file in dataset.files:
            known_file = _KnownFile(name, file.name, functools.partial(frozenset, (file.digest,)))
            files.setdefault(file.bytes, []).append(known_file)
        for path, size in _files(folder_of(name, dataset)):
            digests = functools.cache(functools.partial(_digests, path))
            files.setdefault(size, []).append(_KnownFile(name, str(path), digests))
    return files


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield all files that can be read, with their sizes, also in linked folders."""
    seen: set[Path] = set()
    for root, folders, names in os.walk(folder, followlinks=True):
        real = Path(root).resolve()
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            with contextlib.suppress(OSError):  # a file without permission is not read either
                size = path.stat().st_size if path.is_file() else 0
                if size and not name.startswith("."):
                    yield path, size


def _digests(path: Path) -> set[str]:
    """Return the file's hashes of both kinds; none if it cannot be read."""
    with contextlib.suppress(OSError):
        return {digest_of(path, kind) for kind in ("sha256", "git_blob")}
    return set()
