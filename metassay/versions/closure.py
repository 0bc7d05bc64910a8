"""Find the code behind a module: tokens of all modules that it imports, files and packages.

Comments, docstrings, blank lines and wraps inside brackets do not count. Tokens are
hashed instead of the syntax tree, which differs between versions of Python.
"""

import ast
import contextlib
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
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core import strict_yaml
from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput

# of a SHA-256 in hex: 64 bits, so two of a million versions are unlikely to collide
DIGITS = 16
OUR_NAME = re.compile(r"(metassay|stages)(\.[A-Za-z_]\w*)+")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")

_TYPE_CHECKING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")

# Names by which a module finds files beside it.
FILE_LOOKUPS = {"__file__", "__path__", "resources", "get_data", "PackageLoader"}

_IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
# no token starts with a space
_LAYOUT = {tokenize.INDENT: " in", tokenize.DEDENT: " out"}
# Python 3.12 splits f-strings into tokens, and 3.14 t-strings; before, an f-string is
# one token.
_OPENING = {getattr(tokenize, f"{kind}STRING_START", None) for kind in "FT"} - {None}
_CLOSING = {getattr(tokenize, f"{kind}STRING_END", None) for kind in "FT"} - {None}


@dataclass(frozen=True)
class Module:
    """The content of one module.

    `tokens` is their hash. `imports` are dotted names as written, of modules or of
    names in them. `indexes` are its literal tables from a kind to a module. `is_stage`:
    it is a doorway; `sets_files`: a call in it sets `files=`; `uses_files`: it looks
    for files beside itself.
    """

    tokens: str
    imports: tuple[str, ...]
    indexes: Mapping[str, Mapping[str, str]]
    is_stage: bool
    sets_files: bool
    uses_files: bool


def read_module(path: Path, indexes: Iterable[str] = ()) -> Module:
    """Read a module; its tokens and imports leave out the named `indexes`.

    So a line of an index concerns only those who choose that kind. Raises BadInput if
    the file is not Python, or an index is no literal table of names.
    """
    try:
        with tokenize.open(path) as file:
            source = file.read()
        tree = ast.parse(source)
        tables = {name: _find_index(tree, name, path) for name in indexes}
        cut = [
            range(node.lineno, (node.end_lineno or 0) + 1)
            for node, _ in tables.values()
        ]
        nodes = list(_running_nodes(tree, {node for node, _ in tables.values()}))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        # Docstrings count where the module or a language model reads them.
        bases = (
            base
            for node in nodes
            if isinstance(node, ast.ClassDef)
            for base in node.bases
        )
        docstrings = "__doc__" in names or any(
            "Answer" in ast.unparse(base) for base in bases
        )
        tokens = hash_of(code_words(source, cut, docstrings=docstrings))
    except (SyntaxError, UnicodeDecodeError, tokenize.TokenError) as error:
        line = getattr(error, "lineno", None)
        where = f"{path}: line {line}" if line else str(path)
        raise BadInput(f"{where}: is not Python; fix it") from None
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
    calls = (node for node in nodes if isinstance(node, ast.Call))
    return Module(
        tokens=tokens,
        imports=tuple(sorted({name for node in nodes for name in _imported(node)})),
        indexes={name: table for name, (_, table) in tables.items()},
        is_stage=any(
            "program" in map(ast.unparse, f.decorator_list) for f in functions
        ),
        sets_files=any(
            keyword.arg == "files" for call in calls for keyword in call.keywords
        ),
        uses_files=bool(names & FILE_LOOKUPS),
    )


def hash_of(words: Iterable[str]) -> str:
    """Return a hash of words, in hex; no word may contain NUL."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:DIGITS]


def code_words(
    source: str, cut: Sequence[range] = (), *, docstrings: bool = False
) -> list[str]:
    """Return the tokens of a source as words, the same under Python 3.11 to 3.13.

    Leaves out statements that start in one of the rows `cut`, and those that are only a
    string, which is a docstring or does nothing, unless `docstrings` count. Raises
    SyntaxError or TokenError if the source is not Python.
    """
    lines = io.StringIO(source).readlines()  # splits where the tokenizer does
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    words: list[str] = []
    statement: list[str] = []
    only_strings = True
    for kind, text, row in join_strings(tokens, lines):
        if kind in _IGNORED:
            continue
        if kind in _LAYOUT:
            words.append(_LAYOUT[kind])
        elif kind == tokenize.NEWLINE:
            if docstrings or not only_strings:
                words += [*statement, "\n"]
            statement, only_strings = [], True
        elif not any(row in rows for rows in cut):
            statement.append(text)
            # an f-string runs code
            prefix = re.split("['\"]", text, maxsplit=1)[0].lower()
            only_strings = (
                only_strings and kind == tokenize.STRING and "f" not in prefix
            )
    return words


def join_strings(
    tokens: Iterable[tokenize.TokenInfo], lines: Sequence[str]
) -> Iterator[tuple[int, str, int]]:
    """Yield kind, text and row of each token; join the tokens of an f-string, as written."""
    depth, start = 0, (0, 0)
    for token in tokens:
        if token.type in _OPENING:
            if depth == 0:
                start = token.start
            depth += 1
        elif token.type in _CLOSING:
            depth -= 1
            if depth == 0:
                (first, left), (last, right) = start, token.end
                text = "".join(lines[first - 1 : last])
                yield (
                    tokenize.STRING,
                    text[left : right - len(lines[last - 1]) or None],
                    first,
                )
        elif depth == 0:
            yield token.type, token.string, token.start[0]


def _find_index(
    tree: ast.Module, name: str, path: Path
) -> tuple[ast.stmt, dict[str, str]]:
    for node in tree.body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [getattr(node, "target", None)]
        )
        if any(
            isinstance(target, ast.Name) and target.id == name for target in targets
        ):
            try:
                table = ast.literal_eval(getattr(node, "value", node))
                return node, {str(kind): str(module) for kind, module in table.items()}
            except (ValueError, AttributeError):
                break
    raise BadInput(
        f"{path}: {name} must be a literal table from kind to module, such as"
        f' {name} = {{"rouge": "metassay.metrics.rouge"}}'
    )


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield what a node imports; a module's name in a string counts, too."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(
        node, ast.ImportFrom
    ):  # its names may be modules; leading dots stay
        start = "." * node.level + (f"{node.module}." if node.module else "")
        yield from (f"{start}{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call):
        if re.search("import|module", ast.unparse(node.func).rpartition(".")[2]):
            yield from filter(_NAME.fullmatch, map(_string, node.args))
    elif OUR_NAME.fullmatch(_string(node)):
        yield _string(node)


def _string(node: ast.AST) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else ""


def _running_nodes(tree: ast.Module, excluded: set[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes that run, without those `excluded` and those for type checkers."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if node in excluded:
            continue
        yield node
        for_types = (
            isinstance(node, ast.If) and ast.unparse(node.test) in _TYPE_CHECKING
        )
        stack += (
            getattr(node, "orelse", []) if for_types else ast.iter_child_nodes(node)
        )


# ---- all that a module needs: modules, files beside them, and packages --------------------------

PACKAGES = ("metassay", "stages")
ABSENT = "absent"  # instead of the version of a package that is not installed
# seconds; a younger file may change again with the same time and size
SETTLING_TIME = 2.0

# These make no number, but each edit would have all stages run again: the version of
# the code, the table of stages (DVC reads all of it in dvc.yaml), and workers that run
# the same code.
EXCLUDED = {
    "metassay.versions.code_yaml",
    "metassay.versions.closure",
    "metassay.core.stages",
    "metassay.executor.dask_cluster",
}

# Packages that make no numbers, by the name that is imported.
PLUMBING = {
    "pydantic",  # checks options, and does not change values of params.yaml
    "pydantic_core",  # its errors
    "yaml",  # reads params.yaml, whose values DVC watches
    "rich",  # prints to a terminal
    "requests",  # fetches files, each checked by its sha256
    "httpx2",  # sends requests to models; our own code writes them
    "openai",  # likewise
    "psutil",  # counts memory and processes
    "prefect",  # decides when a stage runs
    "dvc",  # decides whether it does
    "networkx",  # reads DVC's graph
    "cloudpickle",  # sends shards to workers
    "distributed",  # likewise
    "fsspec",  # likewise
    "tokenizers",  # estimates the cost of a request before it is sent
}

# Packages of extras whose names differ from the names that are imported.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}


class Dependencies(NamedTuple):
    """The modules, files and packages that a module needs, each with its hash or version."""

    modules: tuple[str, ...]  # "metassay.core.errors 0123456789abcdef"
    files: tuple[str, ...]  # "metassay/reporting/page.css 0123456789abcdef"
    packages: tuple[str, ...]  # "numpy==2.1.0"


class FileCache:
    """Results of reading files, stored in a file and valid while times and sizes are the same.

    A stage that starts so reads only files that changed.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.changed = False
        # Other code may read files differently, so results of it are not used.
        self.about = f"{sys.version_info[:2]} {_hash(Path(__file__).read_bytes())}"
        self.entries: dict[str, Any] = {}
        # read all again
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            content = json.loads(file.read_text(encoding="utf-8"))
            if content["about"] == self.about:
                self.entries = content["entries"]

    def get(self, key: str, state: list[int], make: Callable[[], Any]) -> Any:
        """Return the stored result of this key and state, or else make and store it."""
        entry = self.entries.get(key)
        if entry is None or entry[0] != state:
            entry = self.entries[key] = [state, make()]
            self.changed = True
        return entry[1]

    def get_file(self, path: Path, kind: str, make: Callable[[], Any]) -> Any:
        """Return the stored result of a file; read it again if it changed or is new."""
        try:
            stat = path.stat()
        except OSError:
            return make()  # which says what is wrong
        if time.time() - max(stat.st_mtime, stat.st_ctime) < SETTLING_TIME:
            return make()
        return self.get(
            f"{kind} {path}", [stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size], make
        )

    def save(self) -> None:
        """Write the file whole; if two processes do so at once, either result is right."""
        if not self.changed:
            return
        keys = {key: key.partition(" ") for key in self.entries}
        entries = {
            key: self.entries[key]
            for key, (kind, _, path) in keys.items()
            if kind == "installed" or Path(path).exists()
        }
        # In a folder that cannot be written to, files are read each time.
        with contextlib.suppress(OSError), whole_file(self.file) as file:
            file.write(json.dumps({"about": self.about, "entries": entries}).encode())
        self.changed = False


class Code:
    """The modules of the project in `root`, in their present state.

    Modules are found as by `python -m stages.judge` in `root`: there, or else where
    Metassay is installed. A user's modules in `root` count if something imports them or
    a kind names them. `indexes` are the literal tables of kinds, by their module.

    `module(name)` reads a module, KeyError if there is none; `path(name)` is its file
    or None; `is_local(name)`: whether Python finds a top-level name, not our own, in
    the project's folder.
    """

    def __init__(self, root: Path, indexes: Mapping[str, Iterable[str]]) -> None:
        self.root = root
        self.indexes = indexes
        self.cache = FileCache(root / ".work" / "code.json")
        self.folders = {name: _find_folder(root, name) for name in PACKAGES}
        # many blocks read it, and none changes it
        self.load_yaml = cache(strict_yaml.load)
        self.module = cache(self._module)
        self.path = cache(self._path)
        self.is_local = cache(self._is_local)
        # many entries need the same modules
        self._cached_imports = cache(self._imports)
        self._listing = cache(_listing)
        self._cached_files = cache(self._files)

    def dependencies(self, entry: str) -> Dependencies:
        """Find all that a module needs; KeyError if there is no such module."""
        first = entry.partition(".")[0]
        if not self._is_ours(first):
            return Dependencies((), (), self.package_versions([first]))
        names, packages = self._closure(entry)
        paths = [self.path(name) for name in names if self.module(name).uses_files]
        # A module reads the text file of its own name, or else any file of its folder.
        # Data and settings, which DVC watches, are in the project's folder beside its
        # modules.
        files = {
            self._cached_files(path)
            for path in paths
            if path and path.parent != self.root
        }
        return Dependencies(
            modules=tuple(
                f"{name} {self.module(name).tokens}" for name in sorted(names)
            ),
            files=tuple(sorted({line for lines in files for line in lines})),
            packages=self.package_versions(packages),
        )

    def has(self, name: str) -> bool:
        """Whether Metassay, the project or a package has a module of this name."""
        first = name.partition(".")[0]
        if self._is_ours(first):
            return self.path(name) is not None
        return bool(first) and self.package_versions([first]) != (f"{first}=={ABSENT}",)

    def reads_files(self, name: str) -> bool:
        """Whether options of a kind may name prompts and other files that it reads.

        Another module of the user may set them for a user's kind; for a package they
        are assumed.
        """
        first = name.partition(".")[0]
        if first in PACKAGES or not self.is_local(first):
            return first not in PACKAGES or self.module(name).sets_files
        local = (
            n for n in self._closure(name)[0] if n.partition(".")[0] not in PACKAGES
        )
        return any(self.module(n).sets_files for n in local)

    def stages(self) -> list[str]:
        """Return the names of modules in `stages` that can be run."""
        files = [Path(name) for name in self._listing(self.folders["stages"])]
        names = sorted(file.stem for file in files if file.suffix == ".py")
        return [name for name in names if self.module(f"stages.{name}").is_stage]

    def package_versions(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return `name==version` of the packages with modules of these names.

        If a package is not installed, this is its version in constraints.txt, so that
        versions do not depend on the extras that are installed.
        """
        folders = [Path(path) for path in sys.path if path.endswith("-packages")]
        folders = [folder for folder in folders if folder.is_dir()]
        state = [folder.stat().st_mtime_ns for folder in folders]
        key = "installed " + os.pathsep.join(map(str, folders))
        versions = self.cache.get(key, state, _versions)
        lines = (versions.get(name) or [self._pinned(name)] for name in names)
        return tuple(sorted(set(chain.from_iterable(lines))))

    def hash_file(self, path: Path) -> str:
        """Return a hash of a file's bytes."""
        return str(self.cache.get_file(path, "file", lambda: _hash(path.read_bytes())))

    def _pinned(self, name: str) -> str:
        file, start = (
            self.root / "constraints.txt",
            _requirement(DISTRIBUTIONS.get(name, name)),
        )
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        return next(
            (line for line in lines if line.startswith(start)), f"{name}=={ABSENT}"
        )

    def _module(self, name: str) -> Module:
        path = self.path(name)
        if path is None:
            raise KeyError(name)
        indexes = tuple(self.indexes.get(name, ()))
        content = self.cache.get_file(
            path, "module", lambda: asdict(read_module(path, indexes))
        )
        return Module(**content)

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
        names = self._listing(folder)
        if f"{last}.py" in names:
            return folder / f"{last}.py"
        if last in names and "__init__.py" in self._listing(folder / last):
            return folder / last / "__init__.py"
        return None

    def _is_ours(self, package: str) -> bool:
        return package in PACKAGES or self.is_local(package)

    def _is_local(self, package: str) -> bool:
        names = {package, f"{package}.py"}
        if package in sys.stdlib_module_names or not names & self._listing(self.root):
            return False
        root = self.root.resolve()
        spec = importlib.machinery.PathFinder.find_spec(package, [str(root), *sys.path])
        places = [spec.origin, *(spec.submodule_search_locations or ())] if spec else []
        return any(
            str(root / name) in places for name in (*names, f"{package}/__init__.py")
        )

    def _closure(self, entry: str) -> tuple[set[str], set[str]]:
        names, packages = set[str](), set[str]()
        stack = [entry]
        if entry.partition(".")[0] not in PACKAGES:
            stack += self._with_parents(entry)
        while stack:
            name = stack.pop()
            if name not in names:
                names.add(name)
                ours, others = self._cached_imports(name)
                stack += ours
                packages |= others
        return names, packages

    def _imports(self, name: str) -> tuple[set[str], set[str]]:
        ours, packages = set[str](), set[str]()
        # The outermost package imports `meta_eval` on demand, and no stage demands it.
        for imported in self.module(name).imports if name not in PACKAGES else ():
            full = self._absolute(imported, name)
            first = full.partition(".")[0]
            if self._is_ours(first):
                ours.update(self._with_parents(full))
            elif first not in sys.stdlib_module_names and first not in PLUMBING:
                packages.add(first)
        return ours, packages

    def _with_parents(self, name: str) -> list[str]:
        """Return the modules that importing a dotted name runs: its module and parent packages."""
        steps = name.split(".")
        names = [".".join(steps[:length]) for length in range(2, len(steps) + 1)]
        if steps[0] not in PACKAGES or not names or self.path(names[0]) is None:
            names.append(steps[0])
        return [name for name in names if name not in EXCLUDED and self.path(name)]

    def _absolute(self, name: str, module: str) -> str:
        """Return the full name of an import of a module; the import may begin with dots."""
        if not name.startswith("."):
            return name
        path = self.path(module)
        is_package = path is not None and path.name == "__init__.py"
        parent = module if is_package else module.rpartition(".")[0]
        try:
            return importlib.util.resolve_name(name, parent)
        except ImportError:  # beyond the outermost package: Python will say so
            return module

    def _files(self, module: Path) -> tuple[str, ...]:
        """Return names and hashes of templates, bundles and other files beside a module."""
        folder, text = module.parent, module.with_suffix(".txt")
        paths = [folder / name for name in self._listing(folder)]
        for subfolder in {folder / "templates", folder / "bundle"} & set(paths):
            paths += subfolder.rglob("*")
        parents = [
            top.parent for top in self.folders.values() if folder.is_relative_to(top)
        ]
        top = parents[0] if parents else self.root
        return tuple(
            f"{path.relative_to(top).as_posix()} {self.hash_file(path)}"
            for path in ([text] if text in paths else paths)
            if path.suffix not in (".py", ".pyc")
            and path.is_file()
            and not path.name.startswith(".")
        )


def _listing(folder: Path) -> frozenset[str]:
    return (
        frozenset(path.name for path in folder.iterdir())
        if folder.is_dir()
        else frozenset()
    )


def _find_folder(root: Path, package: str) -> Path:
    spec = importlib.machinery.PathFinder.find_spec(
        package, [str(root.resolve()), *sys.path]
    )
    if spec is None or not spec.submodule_search_locations:
        # An editable install may have a finder of its own.
        spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise BadInput(
            f"{root}: has no folder {package}/, and none is installed; copy it there"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _versions() -> dict[str, list[str]]:
    """Return `name==version` (without `+cpu`) of all packages, by the name that is imported."""
    from importlib import metadata  # takes 20 ms, which would delay every stage

    return {
        name: sorted(
            {_requirement(d) + metadata.version(d).partition("+")[0] for d in packages}
        )
        for name, packages in metadata.packages_distributions().items()
    }


def _requirement(distribution: str) -> str:
    return f"{distribution.lower().replace('_', '-')}=="


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]
