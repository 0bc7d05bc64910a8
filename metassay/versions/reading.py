"""What one Python file says to the machine: its tokens, and the modules that it needs.

Comments, docstrings, blank lines and wraps inside brackets are not said to the machine. Tokens are
hashed and not the syntax tree, for the tree of the same text differs between versions of Python.
"""

import ast
import hashlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
