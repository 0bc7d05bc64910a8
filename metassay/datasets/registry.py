"""Read data/registry.yaml: the datasets, their folders, and their access classes.

An access class belongs to a folder, not to a name: a dataset is its folder, and no
folder or file has two classes.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain, combinations, product
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, raise_problems
from metassay.core.naming import name_problems
from metassay.core.options import BENCHMARKS, PARAMS, Options, parse
from metassay.core.params import Tuning, parse_folder

REGISTRY = Path("data/registry.yaml")
# a folder per dataset that is fetched, and per dataset of examples
RAW = Path("data/raw")

_ONE_CLASS = "give both the same access"
_NO_FOLDER = (
    "missing; write where the dataset lies, since its access class is that place's: the `raw` of"
    " the benchmark that reads it, or data/raw/<name> for examples and released claims"
)
_FILE_NAME = re.compile(r"[^/\\\0\s.][^/\\\0]*")


class File(Options):
    """A raw file: its name here, its URL at the pinned commit, its size and a hash.

    `git_blob` is the hash that `git ls-tree` lists: the sha1 of `blob SIZE`, a NUL and
    the content. It is used where the sha256 is not known.
    """

    name: str
    url: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    git_blob: Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None = None
    bytes: Annotated[int, Field(gt=0)]

    @model_validator(mode="after")
    def _one_hash(self) -> Self:
        if (self.sha256 is None) == (self.git_blob is None):
            raise ValueError(
                "must have sha256, or git_blob where that is not known; give one"
            )
        return self

    @property
    def kind(self) -> str:
        """The kind of hash: sha256 or git_blob."""
        return "sha256" if self.git_blob is None else "git_blob"

    @property
    def digest(self) -> str:
        """The hash in hexadecimal digits: 64 of sha256, 40 of git_blob."""
        return str(self.sha256 or self.git_blob)


class Dataset(Options):
    """A dataset.

    `access`: the text of a dataset that is not `public` leaves the machine only for
    endpoints that params.yaml allows by name. `files` are fetched; a dataset without
    files is read from `folder` (a path from the project's folder, or an absolute one).
    """

    reader: str | None = None  # a name in readers.py; None for sets of examples
    title: str
    licence: str
    access: Literal["public", "credentialed", "private"]
    folder: str = ""  # of a dataset without files; the others lie in data/raw/<name>
    invented: bool = False  # not collected: reports say so
    citation: str = ""  # authors, title, venue, year
    upstream: str = ""
    commit: str = ""
    mirror: str = ""  # the folder of this dataset in a mirror
    files: list[File] = Field(default_factory=list)


class _Registry(Options):
    fetched: list[str]  # names of the datasets that have files, for dvc.yaml
    datasets: dict[str, Dataset]


def new_hash(kind: str, size: int) -> "hashlib._Hash":
    """Return a new hash object for a content of `size` bytes, by `File.kind`."""
    if kind == "sha256":
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)  # as git has it


def digest_of(path: Path, kind: str) -> str:
    """Return a file's hash in hexadecimal digits, by `File.kind`."""
    with path.open("rb") as file:
        return hashlib.file_digest(
            file, partial(new_hash, kind, path.stat().st_size)
        ).hexdigest()


def load_registry(path: Path = REGISTRY) -> dict[str, Dataset]:
    """Read and check the registry; raise BadInput with all problems at once."""
    registry = parse(_Registry, strict_yaml.load(path), where=str(path))
    problems = [
        f"{path} > datasets > {problem}" for problem in name_problems(registry.datasets)
    ]
    for name, dataset in registry.datasets.items():
        at = f"{path} > datasets > {name}"
        listed = name in registry.fetched
        if listed != bool(dataset.files):
            does = (
                "is listed but has no files; take it out"
                if listed
                else "has files; add it"
            )
            problems.append(f"{path} > fetched: {name!r} {does}")
        problems += [f"{at} > {problem}" for problem in _problems(name, dataset)]
    unknown = [name for name in registry.fetched if name not in registry.datasets]
    problems += [
        f"{path} > fetched: {name!r} is not in datasets; remove it" for name in unknown
    ]
    problems += [
        f"{path} > datasets > {line}" for line in _two_classes(registry.datasets)
    ]
    raise_problems(problems)
    return registry.datasets


def find(datasets: dict[str, Dataset], name: str) -> Dataset:
    """Return the dataset of that name; BadInput lists the known ones."""
    if name not in datasets:
        raise BadInput(
            f"dataset {name!r} is not in {REGISTRY}; known: {', '.join(sorted(datasets))}; add an"
            " entry, or correct the name"
        )
    return datasets[name]


def folder_of(name: str, dataset: Dataset) -> Path:
    """Return a dataset's folder; its content has the dataset's access class."""
    return RAW / name if dataset.files else Path(dataset.folder)


def place_problems(name: str, dataset: Dataset, raw: Path) -> list[str]:
    """Return the problems of reading a dataset from a folder that is not the dataset's."""
    folder = folder_of(name, dataset)
    if raw == folder or (
        not dataset.files and is_inside(raw, folder) and is_inside(folder, raw)
    ):
        return []
    why = (
        "fetched files lie there"
        if dataset.files
        else f"{REGISTRY} > datasets > {name} > folder"
    )
    return [
        f"{raw} is not the folder of dataset {name!r}, which is {dataset.access} and lies in"
        f" {folder} ({why}); make them one folder, or name the dataset that lies in {raw}"
    ]


def is_closed(word: str, datasets: Mapping[str, Dataset]) -> bool:
    """Whether the outputs of a benchmark or dataset are private.

    They are if they can repeat text of a dataset that is not public: the benchmark's,
    or one whose examples or claims it reads. A tuning is private if its benchmark is.
    Words that are neither a folder of benchmarks/ nor a dataset are public.
    """
    file = BENCHMARKS / word / PARAMS.name
    if not file.is_file():
        return word in datasets and datasets[word].access != "public"
    benchmark = parse_folder(strict_yaml.load(file), where=str(file))
    if isinstance(benchmark, Tuning):
        return is_closed(benchmark.benchmark, datasets)
    if (
        benchmark.dataset not in datasets
        or datasets[benchmark.dataset].access != "public"
    ):
        return True
    repeated = [
        getattr(benchmark, key, {}).values() for key in ("few_shot", "released_claims")
    ]
    folders = [Path(benchmark.raw), *map(Path, chain.from_iterable(repeated))]
    closed = [
        folder_of(n, entry) for n, entry in datasets.items() if entry.access != "public"
    ]
    return any(is_inside(a, b) or is_inside(b, a) for a, b in product(folders, closed))


def is_inside(inner: Path, outer: Path) -> bool:
    """Whether a path leads to another path or into it, also through symbolic links."""
    inner = _real(inner)
    outer = _real(outer)
    return any(_same(folder, outer) for folder in (inner, *inner.parents))


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # circular links, or an invalid path
        return path.absolute()


def _same(path: Path, other: Path) -> bool:
    try:
        return path == other or path.samefile(other)
    except (OSError, ValueError):  # missing, or without permission
        return False


def _two_classes(datasets: Mapping[str, Dataset]) -> Iterator[str]:
    """Yield folders and files to which two entries give different access classes."""
    for (name, dataset), (second, other) in combinations(datasets.items(), 2):
        if dataset.access == other.access:
            continue
        both = f"{name}: is {dataset.access}, and {second!r} is {other.access}, but"
        folder = folder_of(name, dataset)
        other_folder = folder_of(second, other)
        have_folders = all(entry.files or entry.folder for entry in (dataset, other))
        if have_folders and (
            is_inside(folder, other_folder) or is_inside(other_folder, folder)
        ):
            fix = f"{_ONE_CLASS}, or separate the folders"
            yield f"{both} {folder} and {other_folder} share files; {fix}"
        hashes = {file.digest: file.name for file in other.files}
        for file in dataset.files:
            if file.digest in hashes:
                copy = hashes[file.digest]
                yield f"{both} {file.name!r} and {copy!r} have the same {file.kind}; {_ONE_CLASS}"


def _problems(name: str, dataset: Dataset) -> list[str]:
    if not dataset.files:
        if not dataset.folder:
            return [f"folder: {_NO_FOLDER}"]
        clean = (
            dataset.folder.isprintable() and dataset.folder == dataset.folder.strip()
        )
        return (
            []
            if clean
            else ["folder: has blanks at an end, or what does not print; clean it"]
        )
    problems = []
    if dataset.folder:
        problems.append(f"folder: fetched files lie in {RAW / name}; take it out")
    for field in ("upstream", "commit", "mirror"):
        if not getattr(dataset, field):
            problems.append(f"{field}: missing; a dataset with files needs it")
    if dataset.mirror and not _FILE_NAME.fullmatch(dataset.mirror):
        problems.append("mirror: must be the name of one folder, without a path")
    for file_name, count in Counter(file.name for file in dataset.files).items():
        if count > 1:
            problems.append(f"files: {file_name!r} occurs {count} times; keep one")
    for file in dataset.files:
        problems += _file(file, dataset)
    return problems


def _file(file: File, dataset: Dataset) -> list[str]:
    problems = []
    if not _FILE_NAME.fullmatch(file.name):
        problems.append("must be a file name, without a path")
    if not file.url.startswith("https://"):
        problems.append("url: must begin with https://")
    if dataset.commit not in file.url:
        problems.append(f"url: must name the commit {dataset.commit}")
    return [f"files > {file.name!r} > {problem}" for problem in problems]
