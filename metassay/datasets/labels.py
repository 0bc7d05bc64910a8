"""Find files of a stricter access class in a dataset's folder.

Files are compared by content: with registered files (sha256 or git_blob), and with
files in other datasets' folders. A copy with a changed byte is not recognised.
"""

import contextlib
import functools
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from metassay.datasets.registry import Dataset, digest_of, folder_of, place_problems


def label_problems(
    datasets: Mapping[str, Dataset],
    repeated: Iterable[str],
    read: Sequence[tuple[str, Path]],
) -> list[str]:
    """Return a line for each reason to doubt the access class of texts that repeat these datasets.

    `read`: names of datasets, each with the folder that it is read from, which must be
    its own. No file of the datasets may be of a stricter class, except files that are
    empty, hidden or listed in the dataset's entry. Names without an entry are ignored.
    """
    problems: list[str] = []
    for name, folder in read:
        if name in datasets:
            problems += place_problems(name, datasets[name], folder)
    for name in dict.fromkeys([*repeated, *(name for name, _ in read)]):
        if name in datasets:
            problems += _find_mislabelled(name, datasets)
    return problems


def _find_mislabelled(name: str, datasets: Mapping[str, Dataset]) -> Iterator[str]:
    dataset = datasets[name]
    # Files of stricter datasets by size: the dataset, the file's name, and its known
    # hashes.
    known = defaultdict[int, list[tuple[str, str, Callable[[], Set[str]]]]](list)
    for other, entry in datasets.items():
        if entry.access not in ("public", dataset.access):
            for file in entry.files:
                listed_hash = functools.partial(frozenset[str], (file.digest,))
                known[file.bytes].append((other, file.name, listed_hash))
            for path, size in _files(folder_of(other, entry)):
                read = functools.cache(functools.partial(_digests, path))
                known[size].append((other, str(path), read))
    listed = {file.digest for file in dataset.files}
    for path, size in _files(folder_of(name, dataset)):
        hashes = _digests(path) if known[size] else set()
        if listed & hashes:
            continue
        if known[size] and not hashes:
            yield f"{path}: cannot be read; allow it, or take it out of the folder"
        for other, file_name, digests in known[size]:
            if digests() & hashes:
                access = datasets[other].access
                yield (
                    f"{path}: lies in the folder of {name!r}, which is {dataset.access}, but it is"
                    f" {file_name} of {other!r}, which is {access}; take it out, or write access:"
                    f" {access} at {name!r} in data/registry.yaml"
                )
                break


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
            # a file without permission is not read either
            with contextlib.suppress(OSError):
                size = path.stat().st_size if path.is_file() else 0
                if size and not name.startswith("."):
                    yield path, size


def _digests(path: Path) -> set[str]:
    """Return the file's hashes of both kinds; none if it cannot be read."""
    with contextlib.suppress(OSError):
        return {digest_of(path, kind) for kind in ("sha256", "git_blob")}
    return set()
