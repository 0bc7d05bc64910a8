"""Everything that a module needs: modules, the files that lie beside them, and packages.

What was read is kept in .work/code.json, so that a stage that starts reads nothing again that has
not changed.
"""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core import strict_yaml
from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.versions import reading as code_reading
from metassay.versions.reading import DIGITS, Module, read_module

PACKAGES = ("metassay", "stages")
ABSENT = "absent"  # instead of the version of a package that is not installed
SETTLED = 2.0  # seconds; a file changed since may change again without another time or size

# What makes no number itself, but would have all run again at each edit: the version of the code,
# the table of stages, whose every line stands in dvc.yaml, which DVC reads, and what has others
# make the numbers by the same code.
APART = {
    *("metassay.versions.code_yaml", "metassay.versions.closure", "metassay.versions.reading"),
    "metassay.core.stages",
    "metassay.executor.dask_cluster",
}

# Packages that carry numbers and make none, by the name that is imported.
PLUMBING = {
    "pydantic",  # checks options; what it lets through is what params.yaml says
    "pydantic_core",  # its errors
    "yaml",  # reads params.yaml, whose values DVC watches
    "rich",  # prints to a terminal
    "requests",  # brings files, each checked against its sha256
    "httpx2",  # carries requests to models; what is asked stands in our own code
    "openai",  # likewise
    "psutil",  # counts memory and processes
    "prefect",  # decides when a stage runs
    "dvc",  # decides whether it does
    "networkx",  # reads DVC's graph
    "cloudpickle",  # brings shards to workers
    "distributed",  # likewise
    "fsspec",  # likewise
    "tokenizers",  # estimates what a question will cost, before it is asked
}

# Packages of extras that are called otherwise than what is imported of them.
BROUGHT_BY = {"sklearn": "scikit-learn"}


class Need(NamedTuple):
    """What a module needs: modules by name, files and packages, each with what tells a change."""

    modules: tuple[str, ...]  # "metassay.core.errors 0123456789abcdef"
    files: tuple[str, ...]  # "metassay/reporting/page.css 0123456789abcdef"
    packages: tuple[str, ...]  # "numpy==2.1.0"


class Kept:
    """What was read of files, kept in a file as long as their time and size are the same."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.changed = False
        # What is kept was read by this code: other code may read otherwise.
        own = b"".join(Path(one).read_bytes() for one in (__file__, code_reading.__file__))
        self.about = f"{sys.version_info[:2]} {_hash(own)}"
        self.entries: dict[str, Any] = {}
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            if found["about"] == self.about:
                self.entries = found["entries"]
        except (OSError, ValueError, KeyError, TypeError):
            pass  # it is made again

    def get(self, key: str, state: list[int], make: Callable[[], Any]) -> Any:
        """What is kept of this key in this state; else it is made, and kept."""
        entry = self.entries.get(key)
        if entry is None or entry[0] != state:
            entry = self.entries[key] = [state, make()]
            self.changed = True
        return entry[1]

    def of_file(self, path: Path, kind: str, make: Callable[[], Any]) -> Any:
        """What is kept of a file; one that has only just been changed is read each time."""
        try:
            found = path.stat()
        except OSError:
            return make()  # which says what is wrong
        if time.time() - max(found.st_mtime, found.st_ctime) < SETTLED:
            return make()
        state = [found.st_mtime_ns, found.st_ctime_ns, found.st_size]
        return self.get(f"{kind} {path}", state, make)

    def save(self) -> None:
        """Put the file in place whole; of two that write at once, one wins, and both are right."""
        if not self.changed:
            return
        places = {key: key.partition(" ") for key in self.entries}
        there = {
            key: entry
            for key, entry in self.entries.items()
            if places[key][0] == "installed" or Path(places[key][2]).exists()
        }
        try:
            with whole_file(self.file) as file:
                file.write(json.dumps({"about": self.about, "entries": there}).encode())
        except OSError:
            pass  # a folder that can't be written to costs time, nothing else
        self.changed = False


class Code:
    """The modules of the project in `root`, as they are now.

    They are found as `python -m stages.judge` finds them that is run in `root`: there, else where
    Metassay is installed. A user's modules in `root` count as well, once something imports them or
    a kind names them. `indexes` are the literal tables of kinds, by the module they are in.

    Of a name: `module` is what was read of that module of ours, KeyError if there is none; `path`
    its file or None; `is_local` whether Python takes a top-level name, other than our own, from the
    project's folder.
    """

    def __init__(self, root: Path, indexes: Mapping[str, Iterable[str]]) -> None:
        self.root = root
        self.indexes = indexes
        self.kept = Kept(root / ".work" / "code.json")
        self.folders = {name: _folder(root, name) for name in PACKAGES}
        self.values = cache(strict_yaml.load)  # which many blocks ask, and nobody changes
        self.module = cache(self._module)
        self.path = cache(self._path)
        self.is_local = cache(self._is_local)
        self._imported = cache(self._imports)  # many entries need the same modules
        self._listing = cache(_listing)
        self._beside = cache(self._files)

    def need(self, entry: str) -> Need:
        """All that a module needs; KeyError if there is none of that name."""
        first = entry.partition(".")[0]
        if not self._is_ours(first):
            return Need((), (), self.installed([first]))
        names, foreign = self._closure(entry)
        looking = [self.path(name) for name in names if self.module(name).looks]
        # A module reads the text file of its own name, or else what it likes of its folder.
        # Beside a module in the project's folder lie its data and settings, which DVC watches.
        beside = {self._beside(path) for path in looking if path and path.parent != self.root}
        return Need(
            modules=tuple(f"{name} {self.module(name).tokens}" for name in sorted(names)),
            files=tuple(sorted({line for lines in beside for line in lines})),
            packages=self.installed(foreign),
        )

    def has(self, name: str) -> bool:
        """Whether there is a module of this name: Metassay's, the project's, or a package's."""
        first = name.partition(".")[0]
        if self._is_ours(first):
            return self.path(name) is not None
        return bool(first) and self.installed([first]) != (f"{first}=={ABSENT}",)

    def names_files(self, name: str) -> bool:
        """Whether options of a kind may name prompts and other files that it reads.

        A user's kind may say so in another module than its own; of a package it isn't known.
        """
        first = name.partition(".")[0]
        if first in PACKAGES or not self.is_local(first):
            return first not in PACKAGES or self.module(name).files
        local = (one for one in self._closure(name)[0] if one.partition(".")[0] not in PACKAGES)
        return any(self.module(one).files for one in local)

    def programs(self) -> list[str]:
        """The stages: what can be run of the package `stages`, without the package's name."""
        files = [Path(name) for name in self._listing(self.folders["stages"])]
        names = sorted(file.stem for file in files if file.suffix == ".py")
        return [name for name in names if self.module(f"stages.{name}").runs]

    def installed(self, foreign: Iterable[str]) -> tuple[str, ...]:
        """`name==version` of the packages that bring modules of these names.

        Of one that is not installed it is the version that constraints.txt would install, so that
        versions are the same whichever extras are there.
        """
        places = [Path(one) for one in sys.path if one.endswith("-packages") and Path(one).is_dir()]
        state = [place.stat().st_mtime_ns for place in places]
        key = "installed " + os.pathsep.join(map(str, places))
        versions = self.kept.get(key, state, _versions)
        found = (versions.get(name) or [self._pinned(name)] for name in foreign)
        return tuple(sorted({line for lines in found for line in lines}))

    def content(self, path: Path) -> str:
        """A hash of a file's bytes."""
        made: str = self.kept.of_file(path, "file", lambda: _hash(path.read_bytes()))
        return made

    def _pinned(self, name: str) -> str:
        brought = BROUGHT_BY.get(name, name)
        file, like = self.root / "constraints.txt", f"{brought.lower().replace('_', '-')}=="
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        return next((line for line in lines if line.startswith(like)), f"{name}=={ABSENT}")

    def _module(self, name: str) -> Module:
        path = self.path(name)
        if path is None:
            raise KeyError(name)
        indexes = tuple(self.indexes.get(name, ()))
        return Module(
            **self.kept.of_file(path, "module", lambda: asdict(read_module(path, indexes)))
        )

    def _path(self, name: str) -> Path | None:
        package, *steps = name.split(".")
        if not self._is_ours(package):
            return None
        folder = self.folders.get(package, self.root)
        steps = steps if package in PACKAGES else [package, *steps]
        for step in steps[:-1]:
            if step not in self._listing(folder):
                return None
            folder /= step
        last = steps[-1] if steps else "__init__"
        there = self._listing(folder)
        if f"{last}.py" in there:
            return folder / f"{last}.py"
        if last in there and "__init__.py" in self._listing(folder / last):
            return folder / last / "__init__.py"
        return None

    def _is_ours(self, package: str) -> bool:
        return package in PACKAGES or self.is_local(package)

    def _is_local(self, package: str) -> bool:
        names = {package, f"{package}.py"}
        if package in sys.stdlib_module_names or not names & self._listing(self.root):
            return False
        root = self.root.resolve()
        found = importlib.machinery.PathFinder.find_spec(package, [str(root), *sys.path])
        places = [found.origin, *(found.submodule_search_locations or ())] if found else []
        return not {str(root / name) for name in (*names, f"{package}/__init__.py")}.isdisjoint(
            places
        )

    def _closure(self, entry: str) -> tuple[set[str], set[str]]:
        names, foreign = set[str](), set[str]()
        waiting = [entry]
        if entry.partition(".")[0] not in PACKAGES:
            waiting += self._on_the_way(entry)
        while waiting:
            name = waiting.pop()
            if name not in names:
                names.add(name)
                ours, others = self._imported(name)
                waiting += ours
                foreign |= others
        return names, foreign

    def _imports(self, name: str) -> tuple[set[str], set[str]]:
        """What one module imports: modules of ours with those on the way, and packages."""
        ours, foreign = set[str](), set[str]()
        # The outermost package hands out `meta_eval` if it is asked for it, and no stage asks.
        for imported in self.module(name).imports if name not in PACKAGES else ():
            wanted = self._absolute(imported, name)
            first = wanted.partition(".")[0]
            if self._is_ours(first):
                ours.update(self._on_the_way(wanted))
            elif first not in sys.stdlib_module_names and first not in PLUMBING:
                foreign.add(first)
        return ours, foreign

    def _on_the_way(self, wanted: str) -> list[str]:
        """The modules that importing a dotted name runs: itself, and the packages that hold it."""
        steps = wanted.split(".")
        names = [".".join(steps[:length]) for length in range(2, len(steps) + 1)]
        if steps[0] not in PACKAGES or not names or self.path(names[0]) is None:
            names.append(steps[0])
        return [name for name in names if name not in APART and self.path(name)]

    def _absolute(self, wanted: str, module: str) -> str:
        """The full name of what a module imports, which may begin with dots."""
        if not wanted.startswith("."):
            return wanted
        path = self.path(module)
        package = path is not None and path.name == "__init__.py"
        try:
            return importlib.util.resolve_name(
                wanted, module if package else module.rpartition(".")[0]
            )
        except ImportError:  # beyond the outermost package: Python will say so
            return module

    def _files(self, module: Path) -> tuple[str, ...]:
        """Templates, words of pages, their bundle and other files that lie beside a module."""
        folder, own = module.parent, module.with_suffix(".txt")
        inside = [folder / name for name in self._listing(folder)]
        for deeper in {folder / "templates", folder / "bundle"} & set(inside):
            inside += deeper.rglob("*")
        above = [one.parent for one in self.folders.values() if folder.is_relative_to(one)]
        top = above[0] if above else self.root
        return tuple(
            f"{path.relative_to(top).as_posix()} {self.content(path)}"
            for path in ([own] if own in inside else inside)
            if path.suffix not in (".py", ".pyc")
            and path.is_file()
            and not path.name.startswith(".")
        )


def _listing(folder: Path) -> frozenset[str]:
    return frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset()


def _folder(root: Path, package: str) -> Path:
    found = importlib.machinery.PathFinder.find_spec(package, [str(root.resolve()), *sys.path])
    if found is None or not found.submodule_search_locations:
        # An editable install may have a finder of its own.
        found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise BadInput(f"{root}: has no folder {package}/, and none is installed; copy it there")
    return Path(next(iter(found.submodule_search_locations)))


def _versions() -> dict[str, list[str]]:
    """`name==version` (without `+cpu`) of every package installed, by what is imported of it."""
    from importlib import metadata  # 20 ms, which a stage that starts has not got

    lines: dict[str, set[str]] = {}
    for name, brought_by in metadata.packages_distributions().items():
        for one in brought_by:
            version = metadata.version(one).partition("+")[0]
            lines.setdefault(name, set()).add(f"{one.lower().replace('_', '-')}=={version}")
    return {name: sorted(found) for name, found in lines.items()}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]
