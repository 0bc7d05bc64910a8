"""A new project: its files, written whole or not at all, and its git repository."""

import contextlib
import re
import subprocess
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from metassay import __version__
from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput
from metassay.core.naming import LONGEST, name_problem
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import BESIDE_REPORTS
from metassay.core.stages import DAG
from metassay.core.work import owner_alone, restrict_work
from metassay.datasets.registry import REGISTRY
from metassay.project import kit
from metassay.versions.code_yaml import refresh

_COMMIT = "A Metassay project, made by metassay init"
_NO_GIT = "    no_scm = true\n"  # what DVC needs to know where there is no git

# What is said of the example's own kinds, each after the line of another one.
_KINDS = {
    "  numbers: {kind: numbers}\n": (
        '  negations: {kind: "mylab.metrics:NEGATIONS", words: ["no", not, never, without]}\n'
    ),
    "  lexical: {kind: lexical, threshold: 0.6, window: 60}\n": (
        '  verbatim: {kind: "mylab.judges:VERBATIM"}\n'
    ),
}
_ENTRY = re.compile(r"^  sample:\n(?:    .*\n)+", re.MULTILINE)


class Content(NamedTuple):
    """What makes a project its owner's: settings and data.

    `data` are files by path; those of a dataset that is not public are ignored by git.
    """

    name: str  # of the benchmark
    params: str  # the root's params.yaml
    benchmark: str  # the benchmark's params.yaml
    registry: str
    data: Mapping[str, bytes]
    ignored: tuple[str, ...] = ()  # further lines of .gitignore
    about_data: str = ""  # a sentence of README.md


def example(name: str) -> Content:
    """A benchmark of this name on the invented sample, with a metric and a judge of its own."""
    params = kit.file(str(PARAMS)).decode("utf-8")
    for line, more in _KINDS.items():
        assert params.count(line) == 1, line
        params = params.replace(line, line + more)
    benchmark, n = re.subn(r"(?m)^(metrics: \[.*)\]$", r"\1, negations]", kit.example_params())
    entry = _ENTRY.search(kit.file(str(REGISTRY)).decode("utf-8"))
    assert n == 1
    assert entry is not None
    return Content(
        name=name,
        params=params,
        benchmark=re.sub(r"(?m)^name: .*$", f"name: {name}", benchmark),
        registry=registry(entry[0]),
        data=kit.example_files(),
        about_data="The example's are invented, in `data/sample/`.",
    )


def registry(entry: str) -> str:
    """A registry with one entry, below what ours says at its head of registries."""
    head = kit.file(str(REGISTRY)).decode("utf-8").partition("\nfetched:")[0]
    fetched = "fetched: [] # those that have files below: a stage of dvc.yaml each"
    return f"{head}\n{fetched}\ndatasets:\n{entry}"


def name_of(folder: Path) -> str:
    """What a benchmark is called after its project's folder."""
    name = in_letters(folder.resolve().name)[:LONGEST]
    return "mine" if name_problem(name, BESIDE_REPORTS) else name


def in_letters(told: str) -> str:
    """What is told, in the letters that names may have."""
    told = told.replace("ß", "ss")
    for umlaut in "äöüÄÖÜ":
        plain = unicodedata.normalize("NFKD", umlaut)[0]
        told = unicodedata.normalize("NFC", told).replace(umlaut, f"{plain}e")
    ascii_ = unicodedata.normalize("NFKD", told).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^A-Za-z0-9_-]+", "_", ascii_).strip("_-")


def check_place(folder: Path) -> None:
    """Raise BadInput if a project can't be made there."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder}: is a file; name a new folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise BadInput(
            f"{folder}: holds something already, and nothing was changed; name a new folder"
            + (", or run `metassay update` in it" if (folder / PARAMS).exists() else "")
        )


def make(folder: Path, content: Content) -> list[str]:
    """Write a project into a folder that is new or empty; returns what its owner should know.

    It is there whole or not at all. Raises BadInput if the folder holds something.
    """
    check_place(folder)
    there = folder.is_dir()  # it may be where somebody stands, so it stays the folder that it is
    into = folder / ".new" if there else folder
    with whole_folder(into, "metassay init") as made:
        said = _write(made, folder, content)
    if there:
        for child in sorted(into.iterdir()):
            child.replace(folder / child.name)
        into.rmdir()
    return said


def _write(made: Path, folder: Path, content: Content) -> list[str]:
    owned = kit.files() | {f"{BENCHMARKS.name}/{content.name}/{DAG}": kit.dag_of({})}
    owned[kit.WORKFLOW] = filled(owned[kit.WORKFLOW].decode("utf-8"), content.name)
    lines = {name: kit.file(name) for name in kit.LINES}
    lines[kit.IGNORED] += "".join(f"{line}\n" for line in content.ignored).encode("utf-8")
    said = {"NAME": content.name, "DATA": content.about_data}
    readme = re.sub("NAME|DATA", lambda word: said[word[0]], kit.readme())
    mine = {
        str(PARAMS): content.params.encode("utf-8"),
        f"{BENCHMARKS.name}/{content.name}/{PARAMS.name}": content.benchmark.encode("utf-8"),
        str(REGISTRY): content.registry.encode("utf-8"),
        "README.md": readme.encode("utf-8"),
        ".dvc/config": kit.file(".dvc/config"),
    }
    _put(made, {**owned, **lines, **mine})
    with owner_alone() if content.ignored else contextlib.nullcontext():
        _put(made, content.data)
    hashes = {name: kit.hash_of(held) for name, held in owned.items()}
    (made / kit.RECORD).write_bytes(kit.record(hashes))
    restrict_work(made)
    refresh(made)
    return _under_git(made, folder)


def _put(made: Path, files: Mapping[str, bytes]) -> None:
    for name, held in files.items():
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held)


def filled(workflow: str, name: str) -> bytes:
    """The CI workflow of a project with this benchmark."""
    return workflow.replace("VERSION", __version__).replace("BENCHMARK", name).encode("utf-8")


def _under_git(made: Path, folder: Path) -> list[str]:
    """Make it a git repository with a first commit, as far as that can be."""
    outside = next(one for one in folder.resolve().parents if one.is_dir())
    found = _git(outside, "rev-parse", "--show-toplevel")
    if found is None:
        _without_git(made)
        return [
            "git is not installed, so nothing is under version control; once it is: `git init`, and"
            " take `no_scm` out of .dvc/config"
        ]
    if found.returncode == 0:
        return [
            f"the folder lies in the git repository {found.stdout.strip()}, to which nothing was"
            " added yet; commit it there, or run `git init` here for a repository of its own"
        ]
    for words in (("init", "--quiet", "--initial-branch=main"), ("add", "--all")):
        done = _git(made, *words)
        if done is None or done.returncode:
            _without_git(made)
            return [f"git {words[0]} failed, so nothing is under version control: {_why(done)}"]
    known = [_git(made, "config", key) for key in ("user.name", "user.email")]
    if not all(one is not None and one.stdout.strip() for one in known):
        return [
            "git does not know who you are, so all files are staged and not committed: set git"
            " config user.name and user.email, then `git commit`"
        ]
    done = _git(made, "commit", "--quiet", "-m", _COMMIT)
    if done is None or done.returncode:
        return [f"all files are staged, but git commit failed: {_why(done)}"]
    return []


def _without_git(made: Path) -> None:
    config = made / ".dvc" / "config"
    config.write_text(config.read_text(encoding="utf-8") + _NO_GIT, encoding="utf-8")


def _git(folder: Path, *words: str) -> "subprocess.CompletedProcess[str] | None":
    """What git did; None where it isn't installed."""
    with contextlib.suppress(FileNotFoundError, PermissionError):
        return subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, check=False
        )
    return None


def _why(done: "subprocess.CompletedProcess[str] | None") -> str:
    lines = done.stderr.strip().splitlines() if done is not None else []
    return lines[-1] if lines else "it says no more"
