"""What one Python file says to the machine: its tokens, and the modules that it needs.

Comments, docstrings, blank lines and wraps inside brackets are not said to the machine. Tokens are
hashed and not the syntax tree, for the tree of the same text differs between versions of Python.
"""

import ast
import hashlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import sys
import time
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core import strict_yaml
from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput

DIGITS = 16  # of a SHA-256 in hex: 64 bits, so no two of a million versions are likely to meet
OUR_NAME = re.compile(r"(metassay|stages)(\.[A-Za-z_]\w*)+")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")

_TYPES_ALONE = ("TYPE_CHECKING", "typing.TYPE_CHECKING")

# Names by which a module finds files that lie beside it.
LOOKS = {"__file__", "__path__", "resources", "get_data", "PackageLoader"}

_UNSAID = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_LAYOUT = {tokenize.INDENT: " in", tokenize.DEDENT: " out"}  # no token starts with a space
# Python 3.12 takes f-strings apart, and 3.14 t-strings; before, an f-string is one token.
_OPENING = {getattr(tokenize, f"{kind}STRING_START", None) for kind in "FT"} - {None}
_CLOSING = {getattr(tokenize, f"{kind}STRING_END", None) for kind in "FT"} - {None}


@dataclass(frozen=True)
class Module:
    """What was read of one module.

    `tokens` is their hash. `imports` are dotted names as they are written, of modules or of what is
    in them. `indexes` are its literal tables from a kind to a module, of those that were asked for.
    `runs` says whether it is a doorway, `files` whether something in it is given `files=`, and
    `looks` whether it looks for files beside itself.
    """

    tokens: str
    imports: tuple[str, ...]
    indexes: Mapping[str, Mapping[str, str]]
    runs: bool
    files: bool
    looks: bool


def read_module(path: Path, indexes: Iterable[str] = ()) -> Module:
    """Read a module; the named `indexes` in it are set apart from its tokens and imports.

    A line in an index then concerns only whoever chooses that kind.

    Raises BadInput if the file is not Python, or an index is no literal table of names.
    """
    try:
        with tokenize.open(path) as file:
            source = file.read()
        tree = ast.parse(source)
        found = {name: _index(tree, name, path) for name in indexes}
        cut = [range(node.lineno, (node.end_lineno or 0) + 1) for node, _ in found.values()]
        needs = _Needs()
        for node in _running(tree, {node for node, _ in found.values()}):
            needs.add(node)
        # Docstrings count where somebody reads them: this module, or a model.
        spoken = needs.answers or "__doc__" in needs.names
        tokens = hash_of(said(source, cut, spoken=spoken))
    except (SyntaxError, UnicodeDecodeError, tokenize.TokenError) as error:
        line = getattr(error, "lineno", None)
        where = f"{path}: line {line}" if line else str(path)
        raise BadInput(f"{where}: is not Python; fix it") from None
    return Module(
        tokens=tokens,
        imports=tuple(sorted(needs.imports)),
        indexes={name: table for name, (_, table) in found.items()},
        runs=needs.runs,
        files=needs.files,
        looks=bool(needs.names & LOOKS),
    )


def hash_of(words: Iterable[str]) -> str:
    """A hash of words, in hex; none of them holds a NUL."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:DIGITS]


def said(source: str, cut: Sequence[range] = (), *, spoken: bool = False) -> list[str]:
    """The tokens of a source as one list of words, the same under Python 3.11 to 3.13.

    A statement that starts in one of the rows `cut` is left out; and so is one that is just a
    string, which is a docstring or does nothing, unless docstrings are `spoken`.

    Raises SyntaxError or TokenError if the source is not Python.
    """
    lines = io.StringIO(source).readlines()  # splits where the tokenizer does
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    words: list[str] = []
    statement: list[str] = []
    silent = True
    for kind, text, row in whole_strings(tokens, lines):
        if kind in _UNSAID:
            continue
        if kind in _LAYOUT:
            words.append(_LAYOUT[kind])
        elif kind == tokenize.NEWLINE:
            if spoken or not silent:
                words += [*statement, "\n"]
            statement, silent = [], True
        elif not any(row in rows for rows in cut):
            statement.append(text)
            silent = silent and kind == tokenize.STRING and _plain(text)
    return words


def whole_strings(
    tokens: Iterable[tokenize.TokenInfo], lines: Sequence[str]
) -> Iterator[tuple[int, str, int]]:
    """Kind, text and row of each token; the parts of an f-string are one again, as written."""
    depth, start = 0, (0, 0)
    for token in tokens:
        if token.type in _OPENING:
            if depth == 0:
                start = token.start
            depth += 1
        elif token.type in _CLOSING:
            depth -= 1
            if depth == 0:
                yield tokenize.STRING, _between(lines, start, token.end), start[0]
        elif depth == 0:
            yield token.type, token.string, token.start[0]


def _between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return "".join([lines[first - 1][left:], *lines[first : last - 1], lines[last - 1][:right]])


def _plain(text: str) -> bool:
    """Whether a string is constant: an f-string runs what is in it."""
    return "f" not in re.split("['\"]", text, maxsplit=1)[0].lower()


def _index(tree: ast.Module, name: str, path: Path) -> tuple[ast.stmt, dict[str, str]]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            try:
                table = ast.literal_eval(getattr(node, "value", node))
                return node, {str(kind): str(module) for kind, module in table.items()}
            except (ValueError, AttributeError):
                break
    raise BadInput(
        f"{path}: {name} must be a literal table from kind to module, such as"
        f' {name} = {{"rouge": "metassay.metrics.rouge"}}'
    )


@dataclass
class _Needs:
    """What a module needs, wherever in it that stands; a name as a string is a need as well."""

    imports: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    runs: bool = False
    files: bool = False
    answers: bool = False  # whether it has classes whose docstrings are sent to a model

    def add(self, node: ast.AST) -> None:
        """Note what a node needs."""
        if isinstance(node, ast.Import):
            self.imports.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):  # of names that may be modules; dots are kept
            start = "." * node.level + (f"{node.module}." if node.module else "")
            self.imports.update(f"{start}{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Name | ast.Attribute):
            self.names.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.FunctionDef):
            self.runs |= "program" in map(ast.unparse, node.decorator_list)
        elif isinstance(node, ast.ClassDef):
            self.answers |= any("Answer" in ast.unparse(base) for base in node.bases)
        elif isinstance(node, ast.Call):
            self.files |= any(keyword.arg == "files" for keyword in node.keywords)
            called = ast.unparse(node.func).rpartition(".")[2]
            given = node.args if re.search("import|module", called) else []
            self.imports.update(word for one in given if _NAME.fullmatch(word := _word(one)))
        elif OUR_NAME.fullmatch(_word(node)):
            self.imports.add(_word(node))


def _word(node: ast.AST) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else ""


def _running(tree: ast.Module, apart: set[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes that run: not those `apart`, nor what only a type checker sees."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if node in apart:
            continue
        yield node
        unseen = isinstance(node, ast.If) and ast.unparse(node.test) in _TYPES_ALONE
        waiting += getattr(node, "orelse", []) if unseen else ast.iter_child_nodes(node)


# Everything that a module needs: modules, the files that lie beside them, and packages.
# What was read is kept in .work/code.json, so that a stage that starts reads nothing again that has
# not changed.


PACKAGES = ("metassay", "stages")
ABSENT = "absent"  # instead of the version of a package that is not installed
SETTLED = 2.0  # seconds; a file changed since may change again without another time or size

# What makes no number itself, but would have all run again at each edit: the version of the code,
# the table of stages, whose every line stands in dvc.yaml, which DVC reads, and what has others
# make the numbers by the same code.
APART = {
    *("metassay.versions.code_yaml", "metassay.versions.closure"),
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
        own = Path(__file__).read_bytes()
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
