"""Make a new project: its files, written whole or not at all, and its git repository."""

import contextlib
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput
from metassay.core.naming import LONGEST, name_problem
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import BESIDE_REPORTS
from metassay.core.work import owner_alone, restrict_work
from metassay.datasets.registry import REGISTRY
from metassay.project import kit
from metassay.project.refresh import refresh

_COMMIT = "A Metassay project, made by metassay init"
_NO_GIT = "    no_scm = true\n"  # DVC's setting for a folder without git

# The blocks of the example's own kinds, each by the line before it.
_KINDS = {
    "  numbers: {kind: numbers}\n": (
        '  negations: {kind: "mylab.metrics:NEGATIONS", words: ["no", not, never, without]}\n'
    ),
    "  lexical: {kind: lexical, threshold: 0.6, window: 60}\n": (
        '  verbatim: {kind: "mylab.judges:VERBATIM"}\n'
    ),
}


class Content(NamedTuple):
    """The settings and data of a project.

    `data` are files by path; git ignores those of a dataset that is not public.
    """

    name: str  # of the benchmark
    params: str  # the root's params.yaml
    benchmark: str  # the benchmark's params.yaml
    registry: str
    data: Mapping[str, bytes]
    ignored: tuple[str, ...] = ()  # further lines of .gitignore
    about_data: str = ""  # a sentence of README.md


def example(name: str) -> Content:
    """Return a benchmark on the invented sample, with a metric and a judge of its own."""
    params = kit.file(str(PARAMS)).decode("utf-8")
    for line, more in _KINDS.items():
        assert params.count(line) == 1, line
        params = params.replace(line, line + more)
    benchmark, n = re.subn(
        r"(?m)^(metrics: \[.*)\]$", r"\1, negations]", kit.example_params()
    )
    assert n == 1
    return Content(
        name=name,
        params=params,
        benchmark=re.sub(r"(?m)^name: .*$", f"name: {name}", benchmark),
        registry=registry(kit.registry_entry("sample")),
        data=kit.example_files(),
        about_data="The example's are invented, in `data/sample/`.",
    )


def registry(entry: str) -> str:
    """Return a registry with one entry, below the comments at the head of ours."""
    head = kit.file(str(REGISTRY)).decode("utf-8").partition("\nfetched:")[0]
    fetched = "fetched: [] # those that have files below: a stage of dvc.yaml each"
    return f"{head}\n{fetched}\ndatasets:\n{entry}"


def set_key(text: str, key: str, line: str) -> str:
    """Put a line in the place of a key of YAML and its value."""
    return substitute(rf"(?m)^{key}:.*\n(?:[ \t]+.*\n)*", line, text)


def substitute(pattern: str, replacement: str, text: str) -> str:
    """Put words in the place of the pattern, which occurs once."""
    changed, n = re.subn(pattern, lambda _: replacement, text)
    assert n == 1, pattern
    return changed


def name_of(folder: Path) -> str:
    """Return the benchmark's name: the project's folder in letters of names."""
    name = replace_letters(folder.resolve().name)[:LONGEST]
    return "mine" if name_problem(name, BESIDE_REPORTS) else name


def replace_letters(text: str) -> str:
    """Write a text in the letters that names may have; others become `_`."""
    text = unicodedata.normalize("NFC", text.replace("ß", "ss"))
    for umlaut in "äöüÄÖÜ":
        text = text.replace(umlaut, unicodedata.normalize("NFKD", umlaut)[0] + "e")
    ascii_ = (
        unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    )
    return re.sub(r"[^A-Za-z0-9_-]+", "_", ascii_).strip("_-")


# A whole project, inside a folder that may be a shell's working folder and so must stay.
_WHOLE = ".new"


def check_place(folder: Path) -> None:
    """Raise BadInput if a project can't be made there."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder}: is a file; name a new folder")
    if (folder / _WHOLE).is_dir():
        _move_in(folder)
        raise BadInput(
            f"{folder}: a killed `metassay init` had written a project here; its last step"
            " was done now, so the project is whole; go on with it, or name a new folder"
        )
    if folder.is_dir() and any(folder.iterdir()):
        raise BadInput(
            f"{folder}: holds something already, and nothing was changed; name a new folder"
            + (", or run `metassay update` in it" if (folder / PARAMS).exists() else "")
        )


def make(folder: Path, content: Content) -> list[str]:
    """Write a project, whole or not at all, into a new or empty folder.

    Returns remarks for its owner. Raises BadInput if the folder holds something.
    """
    check_place(folder)
    # it may be a shell's working folder, so it is not replaced
    exists = folder.is_dir()
    new = folder / _WHOLE if exists else folder
    with whole_folder(new, "metassay init") as half_written:
        remarks = _write(half_written, folder, content)
    if exists:
        _move_in(folder)
    return remarks


def _move_in(folder: Path) -> None:
    """Move the project in the folder `.new` into the folder around it."""
    new = folder / _WHOLE
    for child in sorted(new.iterdir()):
        child.replace(folder / child.name)
    new.rmdir()


def _write(root: Path, folder: Path, content: Content) -> list[str]:
    """Write all files to `root`, which becomes `folder` when it is whole."""
    replaceable = kit.files([content.name])
    lines = {name: kit.file(name) for name in kit.LINES}
    lines[kit.IGNORED] += "".join(f"{line}\n" for line in content.ignored).encode(
        "utf-8"
    )
    values = {"NAME": content.name, "DATA": content.about_data}
    template = Path(__file__).with_name("readme.md").read_text(encoding="utf-8")
    readme = re.sub("NAME|DATA", lambda word: values[word[0]], template)
    settings = {
        str(PARAMS): content.params.encode("utf-8"),
        f"{BENCHMARKS.name}/{content.name}/{PARAMS.name}": content.benchmark.encode(
            "utf-8"
        ),
        str(REGISTRY): content.registry.encode("utf-8"),
        "README.md": readme.encode("utf-8"),
        ".dvc/config": kit.file(".dvc/config"),
    }
    _put(root, {**replaceable, **lines, **settings})
    with owner_alone() if content.ignored else contextlib.nullcontext():
        _put(root, content.data)
    hashes = {name: kit.hash_of(data) for name, data in replaceable.items()}
    (root / kit.RECORD).write_bytes(kit.record(hashes))
    restrict_work(root)
    refresh(root)
    return _commit(root, folder)


def _put(root: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _commit(root: Path, folder: Path) -> list[str]:
    """Make `root` a git repository with a first commit; return what prevented that, if anything."""
    if shutil.which("git") is None:
        _disable_scm(root)
        return [
            "git is not installed, so nothing is under version control; once it is: `git init`, and"
            " take `no_scm` out of .dvc/config"
        ]
    outside = next(parent for parent in folder.resolve().parents if parent.is_dir())
    toplevel = _git(outside, "rev-parse", "--show-toplevel")
    if toplevel.returncode == 0:
        return [
            f"the folder lies in the git repository {toplevel.stdout.strip()}, to which nothing was"
            " added yet; commit it there, or run `git init` here for a repository of its own"
        ]
    for args in (("init", "--quiet", "--initial-branch=main"), ("add", "--all")):
        result = _git(root, *args)
        if result.returncode:
            _disable_scm(root)
            return [
                f"git {args[0]} failed, so nothing is under version control: {_error(result)}"
            ]
    if not all(
        _git(root, "config", key).stdout.strip() for key in ("user.name", "user.email")
    ):
        return [
            "git does not know who you are, so all files are staged and not committed: set git"
            " config user.name and user.email, then `git commit`"
        ]
    result = _git(root, "commit", "--quiet", "-m", _COMMIT)
    if result.returncode:
        return [f"all files are staged, but git commit failed: {_error(result)}"]
    return []


def _disable_scm(root: Path) -> None:
    config = root / ".dvc" / "config"
    config.write_text(config.read_text(encoding="utf-8") + _NO_GIT, encoding="utf-8")


def _git(folder: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["git", *args], cwd=folder, capture_output=True, text=True, check=False
    )


def _error(result: "subprocess.CompletedProcess[str]") -> str:
    return (result.stderr.strip().splitlines() or ["it says no more"])[-1]
