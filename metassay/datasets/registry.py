"""data/registry.yaml: which datasets there are, where they come from, and who may see them."""

import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from metassay import strict_yaml
from metassay.errors import BadInput
from metassay.options import Options, parse

REGISTRY = Path("data/registry.yaml")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")  # a dot would part a key of DVC
_FILE_NAME = re.compile(r"[^/\\\0\s.][^/\\\0]*")


class File(Options):
    """One raw file: its name here, its URL at the pinned commit, and what it must be."""

    name: str
    url: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(gt=0)]


class Dataset(Options):
    """One dataset.

    `access`: the text of a dataset that is not `public` leaves the machine only for endpoints that
    params.yaml allows by name. `files` are what `fetch` brings; a dataset without any is read where
    it lies.
    """

    reader: str | None = None  # a name in readers.py; none for sets that only help others
    title: str
    licence: str
    access: Literal["public", "credentialed", "private"]
    invented: bool = False  # made up, not collected: reports say so
    citation: str = ""  # authors, title, venue, year
    upstream: str = ""
    commit: str = ""
    mirror: str = ""  # the folder of this dataset in a mirror
    files: list[File] = Field(default_factory=list)


class _Registry(Options):
    fetched: list[str]  # names of the datasets that have files, for dvc.yaml
    datasets: dict[str, Dataset]


def load_registry(path: Path = REGISTRY) -> dict[str, Dataset]:
    """Read and check the registry; BadInput lists every problem at once."""
    registry = parse(_Registry, strict_yaml.load(path), where=str(path))
    problems = []
    for name, dataset in registry.datasets.items():
        at = f"{path} > datasets > {name}"
        if not _NAME.fullmatch(name):
            problems.append(f"{at}: use letters, digits, '_' and '-' for the name")
        listed = name in registry.fetched
        if listed != bool(dataset.files):
            does = "is listed but has no files; take it out" if listed else "has files; add it"
            problems.append(f"{path} > fetched: {name!r} {does}")
        problems += [f"{at} > {problem}" for problem in _problems(dataset)]
    unknown = [name for name in registry.fetched if name not in registry.datasets]
    problems += [f"{path} > fetched: {name!r} is not in datasets; remove it" for name in unknown]
    if problems:
        raise BadInput(problems)
    return registry.datasets


def find(datasets: dict[str, Dataset], name: str) -> Dataset:
    """The dataset of that name; BadInput names the known ones."""
    if name not in datasets:
        raise BadInput(
            f"dataset {name!r} is not in {REGISTRY}; known: {', '.join(sorted(datasets))}; add an"
            " entry, or correct the name"
        )
    return datasets[name]


def _problems(dataset: Dataset) -> list[str]:
    if not dataset.files:
        return []
    problems = []
    for field in ("upstream", "commit", "mirror"):
        if not getattr(dataset, field):
            problems.append(f"{field}: missing; a dataset with files needs it")
    if dataset.mirror and not _FILE_NAME.fullmatch(dataset.mirror):
        problems.append("mirror: must be the name of one folder, without a path")
    for name, count in Counter(file.name for file in dataset.files).items():
        if count > 1:
            problems.append(f"files: {name!r} is there {count} times; keep one")
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
