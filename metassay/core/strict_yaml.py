"""Read YAML that means the same to every reader, and find the lines of keys.

PyYAML reads YAML 1.1, DVC 1.2: what they read differently is an error, and so are
duplicate keys, keys that are not text, and tags.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from metassay.core.errors import BadInput, disk_problem, one_line, raise_problems

# Both give the same values and marks; the C loader is five times as fast, but not
# always there.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INT = r"[-+]?(?:0|[1-9][0-9]{0,17})"  # fits into 64 bits
_FLOAT = r"(?:[-+]?[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)"
_WORD = r"true|True|TRUE|false|False|FALSE|~|null|Null|NULL|\.nan|\.NaN|\.NAN|"
_NOT_TEXT = re.compile(rf"{_INT}|{_FLOAT}|{_WORD}")  # for all readers
_AMBIGUOUS = re.compile(
    r"yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|="
    r"|[-+]?0[bB][01_]+|[-+]?0[oO]?[0-7_]+|[-+]?0[xX][0-9a-fA-F_]+"
    r"|[-+]?[0-9][0-9_]*(?::[0-9]+)+(?:\.[0-9_]*)?"
    r"|[-+]?[0-9_]*(?:\.[0-9_]+|[0-9_]\.?)(?:[eE][-+]?[0-9]+)?"
    r"|[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:[Tt\s].*)?"
)

# A file at the start of a message, or of an inner message, with a key after it.
_FILE = re.compile(r"^[^:>]+\.yaml(?= > )|(?<=: )[^:>\s]+\.yaml(?= > )")

_ARROW, _STEP_ENDS = " > ", re.compile(r"(?= > |: )|$")

_CONFLICT = re.compile(r"<{7}( |$)|>{7}( |$)")  # as git marks the sides of a conflict


def load(path: Path) -> object:
    """Return the value of a file of one YAML document, as `yaml.safe_load` does.

    Raises BadInput with all problems. Messages name keys as `<path> > <key> > <key>`;
    `add_lines` adds their lines.
    """
    text = _text(path)
    try:
        _check_tags(path, text)
        loader = LOADER(text)
        node = loader.get_single_node()
        if node is None:
            return None
        raise_problems(f"{path} > {problem}" for problem in _problems(node))
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        raise BadInput(
            f"{path}: {_merge(text) or f'not readable as YAML: {_why(error)}; correct it there'}"
        ) from None


def is_text(word: str) -> bool:
    """Return whether every YAML reader reads the unquoted word as text."""
    return not _NOT_TEXT.fullmatch(word) and not _AMBIGUOUS.fullmatch(word)


def add_lines(problems: Iterable[str]) -> list[str]:
    """Add the line of the key to messages: `params.yaml, line 3 > judges > x: ...`.

    A missing key gets the line of its block. A message without file and key, or with an
    unreadable file, does not change.
    """
    roots: dict[str, yaml.Node | None] = {}
    return [_located(problem, roots) for problem in problems]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"{path} does not exist; run in the project's folder") from None
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8"
        ) from None
    except PermissionError as error:
        raise BadInput(disk_problem(error)) from None
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be read: {error.strerror}; put a file there"
        ) from None


def _check_tags(path: Path, text: str) -> None:
    """Raise BadInput for tags and directives, which readers understand differently."""
    for event in yaml.parse(text, Loader=LOADER):
        if getattr(event, "tag", None) or getattr(event, "version", None):
            raise BadInput(
                f"{path}: line {_number(event)}: tags (`!`) and directives (`%`) are not"
                " read; remove it"
            )


def _number(node: yaml.Event | yaml.Node) -> int:
    return node.start_mark.line + 1 if node.start_mark else 0


# ---- keys and words --------------------------------------------------------------------------


def _problems(root: yaml.Node) -> Iterator[str]:
    """Describe what is wrong with keys and words, in file order. Visits an anchor's block once."""
    visited: set[int] = set()
    stack: list[tuple[yaml.Node, tuple[str, ...]]] = [(root, ())]
    while stack:
        node, place = stack.pop()
        if id(node) in visited:
            continue
        visited.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            word = node.value
            if (
                not node.style
                and _AMBIGUOUS.fullmatch(word)
                and not _NOT_TEXT.fullmatch(word)
            ):
                yield (
                    f"{' > '.join(place)}: {one_line(word)} is read differently by readers of YAML;"
                    " put text in quotes, and write a number in plain digits"
                )
        elif isinstance(node, yaml.MappingNode):
            yield from _keys(place, [key for key, _ in node.value])
        if isinstance(node, yaml.CollectionNode) and node.flow_style:
            yield from _find_colons(place, node)
        stack += [
            (child, (*place, step))
            for step, _, child in reversed(list(_children(node)))
        ]


def _children(node: yaml.Node) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    """Yield each child with its name in messages and the node that has its line."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield one_line(key.value), key, value
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield str(index), value, value


def _find_colons(place: tuple[str, ...], node: yaml.Node) -> Iterator[str]:
    """Find colons in words between brackets, such as {url: http://here}: DVC rejects them."""
    for step, key, child in _children(node):
        for word in {id(n): n for n in (key, child)}.values():
            plain = isinstance(word, yaml.ScalarNode) and not word.style
            if plain and ":" in word.value and is_text(word.value):
                path = " > ".join((*place, step))
                yield f"{path}: has a colon, between brackets; put it in quotes"


def _keys(place: tuple[str, ...], keys: list[yaml.Node]) -> Iterator[str]:
    by_value: dict[object, list[yaml.ScalarNode]] = {}
    for key in keys:
        if isinstance(key, yaml.ScalarNode) and (key.style or is_text(key.value)):
            by_value.setdefault(key.value, []).append(key)
        else:
            scalar = isinstance(key, yaml.ScalarNode)
            name = one_line(key.value) if scalar else f"line {_number(key)}"
            yield f"{' > '.join((*place, name))}: a key must be text; put it in quotes"
    for value, equal in by_value.items():
        if len(equal) == 1:
            continue
        count = "twice" if len(equal) == 2 else f"{len(equal)} times"
        *former, last = map(str, sorted({_number(key) for key in equal}))
        where = f"lines {', '.join(former)} and {last}" if former else f"line {last}"
        name = " > ".join((*place, one_line(str(value))))
        yield f"{name}: occurs {count}, in {where}; keep one"


def merge_line(text: str) -> int:
    """Return the first line with a conflict marker of git; 0 if there is none."""
    marks = (
        n for n, line in enumerate(text.splitlines(), start=1) if _CONFLICT.match(line)
    )
    return next(marks, 0)


def _merge(text: str) -> str:
    """Describe conflict markers and the remedy; empty if there are none."""
    line = merge_line(text)
    if not line:
        return ""
    return (
        f"line {line}: a merge left both sides in the file; keep one of them"
        " (`git checkout --ours` or `--theirs` with the file's name)"
    )


def _why(error: yaml.YAMLError) -> str:
    """Describe an error and its place in a line; PyYAML's message would quote the text."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem and error.problem_mark:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())


# ---- lines -----------------------------------------------------------------------------------


def _located(problem: str, roots: dict[str, yaml.Node | None]) -> str:
    def add_line(match: re.Match[str]) -> str:
        if match[0] not in roots:
            roots[match[0]] = _root(Path(match[0]))
        line = _line(roots[match[0]], problem[match.end() :])
        return f"{match[0]}, line {line}" if line else match[0]

    return _FILE.sub(add_line, problem)


def _root(path: Path) -> yaml.Node | None:
    try:
        text = _text(path)
        _check_tags(path, text)
        node: yaml.Node | None = LOADER(text).get_single_node()
    except (BadInput, yaml.YAMLError):
        return None
    return node


@functools.lru_cache(maxsize=64)
def _steps(node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.Node | None]]:
    """Return keys and children by their step of a path."""
    return {step: (key, child) for step, key, child in reversed(list(_children(node)))}


def _line(root: yaml.Node | None, rest: str) -> int:
    """Return the line of the key at ` > a > b: ...`, or of its last existing part; 0 for none."""
    node, line = root, 0
    while node is not None and rest.startswith(_ARROW):
        steps, begin = _steps(node), len(_ARROW)
        ends = [end.start() for end in _STEP_ENDS.finditer(rest, begin)]
        matched = [end for end in ends if rest[begin:end] in steps]
        if not matched:
            break
        key, node = steps[rest[begin : matched[-1]]]
        line, rest = _number(key), rest[matched[-1] :]
    if isinstance(node, yaml.SequenceNode):
        elements = [
            element
            for element in node.value
            if rest.startswith(f": {element.value!r} ")
        ]
        line = _number(elements[0]) if elements else line
    return line
