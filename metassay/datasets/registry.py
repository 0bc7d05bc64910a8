"""data/registry.yaml: which datasets there are, where they lie, and who may see them.

An access class belongs to a place, not to a name: a dataset is its folder, and no folder or file
has two classes.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, raise_problems
from metassay.core.naming import name_problems
from metassay.core.options import BENCHMARKS, PARAMS, Options, parse
from metassay.core.params import Tuning, parse_folder

REGISTRY = Path("data/registry.yaml")
RAW = Path("data/raw")  # a folder per dataset that is fetched, and per dataset of examples

_ONE_CLASS = "give both the same access"
_NO_FOLDER = (
    "missing; write where the dataset lies, since its access class is that place's: the `raw` of"
    " the benchmark that reads it, or data/raw/<name> for examples and released claims"
)
_FILE_NAME = re.compile(r"[^/\\\0\s.][^/\\\0]*")


class File(Options):
    """One raw file: its name here, its URL at the pinned commit, and what it must be.

    `git_blob` is what `git ls-tree` lists, the sha1 of `blob SIZE`, a NUL and the content; it does
    where nobody has had the file to take its sha256.
    """

    name: str
    url: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    git_blob: Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None = None
    bytes: Annotated[int, Field(gt=0)]

    @model_validator(mode="after")
    def _one_hash(self) -> Self:
        if (self.sha256 is None) == (self.git_blob is None):
            raise ValueError("must have sha256, or git_blob where that is not known; give one")
        return self

    @property
    def kind(self) -> str:
        """Which hash it is known by."""
        return "sha256" if self.git_blob is None else "git_blob"

    @property
    def digest(self) -> str:
        """That hash, in hexadecimal digits: 64 of sha256, 40 of git_blob."""
        return str(self.sha256 or self.git_blob)


class Dataset(Options):
    """One dataset.

    `access`: the text of a dataset that is not `public` leaves the machine only for endpoints that
    params.yaml allows by name. `files` are what `fetch` brings; a dataset without any is read where
    it lies, in `folder` (a path from the project's folder, or an absolute one).
    """

    reader: str | None = None  # a name in readers.py; none for sets that only help others
    title: str
    licence: str
    access: Literal["public", "credentialed", "private"]
    folder: str = ""  # of a dataset without files; the others lie in data/raw/<name>
    invented: bool = False  # made up, not collected: reports say so
    citation: str = ""  # authors, title, venue, year
    upstream: str = ""
    commit: str = ""
    mirror: str = ""  # the folder of this dataset in a mirror
    files: list[File] = Field(default_factory=list)


class _Registry(Options):
    fetched: list[str]  # names of the datasets that have files, for dvc.yaml
    datasets: dict[str, Dataset]


def hashing(kind: str, size: int) -> "hashlib._Hash":
    """What takes the hash of a content of so many bytes, by the `File.kind`."""
    if kind == "sha256":
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)  # as git has it


def load_registry(path: Path = REGISTRY) -> dict[str, Dataset]:
    """Read and check the registry; BadInput lists every problem at once."""
    registry = parse(_Registry, strict_yaml.load(path), where=str(path))
    problems = [f"{path} > datasets > {problem}" for problem in name_problems(registry.datasets)]
    for name, dataset in registry.datasets.items():
        at = f"{path} > datasets > {name}"
        listed = name in registry.fetched
        if listed != bool(dataset.files):
            does = "is listed but has no files; take it out" if listed else "has files; add it"
            problems.append(f"{path} > fetched: {name!r} {does}")
        problems += [f"{at} > {problem}" for problem in _problems(name, dataset)]
    unknown = [name for name in registry.fetched if name not in registry.datasets]
    problems += [f"{path} > fetched: {name!r} is not in datasets; remove it" for name in unknown]
    problems += [f"{path} > datasets > {line}" for line in _two_classes(registry.datasets)]
    raise_problems(problems)
    return registry.datasets


def find(datasets: dict[str, Dataset], name: str) -> Dataset:
    """The dataset of that name; BadInput names the known ones."""
    if name not in datasets:
        raise BadInput(
            f"dataset {name!r} is not in {REGISTRY}; known: {', '.join(sorted(datasets))}; add an"
            " entry, or correct the name"
        )
    return datasets[name]


def place(name: str, dataset: Dataset) -> Path:
    """The folder that a dataset is: what lies in it has the dataset's access class."""
    return RAW / name if dataset.files else Path(dataset.folder)


def misplaced(name: str, dataset: Dataset, raw: Path) -> list[str]:
    """What is wrong with the folder that a dataset is to be read from: it must be the dataset's."""
    own = place(name, dataset)
    if raw == own or (not dataset.files and inside(raw, own) and inside(own, raw)):
        return []
    why = "fetched files lie there" if dataset.files else f"{REGISTRY} > datasets > {name} > folder"
    return [
        f"{raw} is not the folder of dataset {name!r}, which is {dataset.access} and lies in {own}"
        f" ({why}); make them one folder, or name the dataset that lies in {raw}"
    ]


def closed(word: str, datasets: Mapping[str, Dataset]) -> bool:
    """Whether what is made of a benchmark, or of a dataset, is its owner's alone.

    It is where it may repeat text of a dataset that is not public: its own, or one whose examples
    or claims it reads; a tuning may where its benchmark may. What is neither a folder of
    benchmarks/ nor a dataset is for all.
    """
    file = BENCHMARKS / word / PARAMS.name
    if not file.is_file():
        return word in datasets and datasets[word].access != "public"
    one = parse_folder(strict_yaml.load(file), where=str(file))
    if isinstance(one, Tuning):
        return closed(one.benchmark, datasets)
    if one.dataset not in datasets or datasets[one.dataset].access != "public":
        return True
    read = [getattr(one, key, {}).values() for key in ("few_shot", "released_claims")]
    folders = [Path(one.raw), *(Path(folder) for some in read for folder in some)]
    theirs = [place(name, entry) for name, entry in datasets.items() if entry.access != "public"]
    return any(inside(a, b) or inside(b, a) for a in folders for b in theirs)


def inside(inner: Path, outer: Path) -> bool:
    """True if a path leads to another one or to something in it, through symbolic links too."""
    inner, outer = _real(inner), _real(outer)
    return any(_same(folder, outer) for folder in (inner, *inner.parents))


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, or no path at all
        return path.absolute()


def _same(one: Path, other: Path) -> bool:
    try:
        return one == other or one.samefile(other)
    except (OSError, ValueError):  # one of them is not there, or nobody may look
        return False


def _two_classes(datasets: Mapping[str, Dataset]) -> Iterator[str]:
    """Folders and files to which two entries give different access classes."""
    for (name, one), (second, other) in combinations(datasets.items(), 2):
        if one.access == other.access:
            continue
        both = f"{name}: is {one.access}, and {second!r} is {other.access}, but"
        here, there = place(name, one), place(second, other)
        known = all(entry.files or entry.folder for entry in (one, other))
        if known and (inside(here, there) or inside(there, here)):
            yield f"{both} {here} and {there} share files; {_ONE_CLASS}, or part the folders"
        hashes = {file.digest: file.name for file in other.files}
        for file in one.files:
            if file.digest in hashes:
                theirs = hashes[file.digest]
                yield f"{both} {file.name!r} and {theirs!r} have one {file.kind}; {_ONE_CLASS}"


def _problems(name: str, dataset: Dataset) -> list[str]:
    if not dataset.files:
        if not dataset.folder:
            return [f"folder: {_NO_FOLDER}"]
        clean = dataset.folder.isprintable() and dataset.folder == dataset.folder.strip()
        return [] if clean else ["folder: has blanks at an end, or what does not print; clean it"]
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
            problems.append(f"files: {file_name!r} is there {count} times; keep one")
    return problems + [problem for file in dataset.files for problem in _file(file, dataset)]


def _file(file: File, dataset: Dataset) -> list[str]:
    problems = []
    if not _FILE_NAME.fullmatch(file.name):
        problems.append("must be a file name, without a path")
    if not file.url.startswith("https://"):
        problems.append("url: must begin with https://")
    if dataset.commit not in file.url:
        problems.append(f"url: must name the commit {dataset.commit}")
    return [f"files > {file.name!r} > {problem}" for problem in problems]
