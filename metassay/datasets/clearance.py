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

from metassay.core.errors import raise_problems
from metassay.core.kinds import Chosen
from metassay.core.params import Evaluation, Shared
from metassay.datasets.registry import RAW, Dataset, hashing, load_registry, misplaced, place
from metassay.llm.endpoints import PUBLIC, parse_models
from metassay.llm.limits import Policy
from metassay.llm.needs import all_datasets, everyone
from metassay.llm.session import ACCOUNT, Session


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


# Sessions with language models for the texts of a benchmark: clearance follows the text.
# The texts say of which dataset they are, and whose examples they may repeat; the registry, of
# which access class each dataset is. What all may cost (`max_cost`), and how much may be missing
# (`max_missing`), are asked each time.


_PROBE = "the question of `metassay probe`"  # in the place of a dataset's name


def open_session(
    shared: Shared,
    benchmark: Evaluation,
    chosen: Chosen,
    repeated: Iterable[str],
    *,
    account: str = ACCOUNT,
    max_cost: float | None = None,
) -> Session:
    """A session of a kind, for texts that may repeat text of the datasets `repeated`.

    `max_cost` is that of an account with a cap of its own; the run's is `shared.max_cost`. Raises
    BadInput, if the kind asks a model, where the access class of that text is in doubt.
    """
    registry = load_registry()
    datasets = sorted({benchmark.dataset, *repeated})
    if any(one.record.model(one.options) is not None for one in everyone(chosen)):
        # Only then may anything be sent.
        read = [(benchmark.dataset, Path(benchmark.raw))]
        read += [(name, RAW / name) for name in all_datasets([chosen])]
        raise_problems(label_problems(registry, datasets, read))
    return Session(
        parse_models(shared.endpoints, shared.models),
        shared.max_cost if account == ACCOUNT else max_cost,
        {name: dataset.access for name, dataset in registry.items()},
        datasets,
        account=account,
        max_missing=shared.max_missing,
        raw=RAW,
    )


def dry_session(shared: Shared, benchmark: Evaluation) -> Session:
    """A session that answers from the ledger alone, for `metassay ledger cost`."""
    access = {name: dataset.access for name, dataset in load_registry().items()}
    models = parse_models(shared.endpoints, shared.models)
    return Session(models, shared.max_cost, access, [benchmark.dataset], dry=True, raw=RAW)


def probe_session(shared: Shared) -> Session:
    """A session for one public question, asked once, and for the datasets that its judge shows."""
    access = {name: one.access for name, one in load_registry().items()} | {_PROBE: PUBLIC}
    models = parse_models(shared.endpoints, shared.models)
    policy = Policy(attempts=1)
    return Session(models, shared.max_cost, access, [_PROBE], policy=policy, alone=True)
