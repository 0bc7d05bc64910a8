"""YAML as every reader takes it, and the lines of its keys.

PyYAML reads YAML 1.1, DVC 1.2: what they differ about is refused, and so are double keys, keys that
are not text, tags, and blocks that are too deep or too many for any reader.
"""

import functools
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from metassay.core.errors import BadInput, one_line, raise_problems, told

# The same values and marks from both; the C one, five times as fast, is not in every build.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 40  # blocks within blocks; a few thousand end the process, without a word
_LARGEST = 50_000_000  # bytes
_MOST = 100_000  # values, with those of an anchor's block counted each time that it is named

_INT = r"[-+]?(?:0|[1-9][0-9]{0,17})"  # fits into 64 bits
_FLOAT = r"(?:[-+]?[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)"
_WORD = r"true|True|TRUE|false|False|FALSE|~|null|Null|NULL|\.nan|\.NaN|\.NAN|"
_NO_TEXT = re.compile(rf"{_INT}|{_FLOAT}|{_WORD}")  # the same to all readers
_TO_SOME = re.compile(
    r"yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|="
    r"|[-+]?0[bB][01_]+|[-+]?0[oO]?[0-7_]+|[-+]?0[xX][0-9a-fA-F_]+"
    r"|[-+]?[0-9][0-9_]*(?::[0-9]+)+(?:\.[0-9_]*)?"
    r"|[-+]?[0-9_]*(?:\.[0-9_]+|[0-9_]\.?)(?:[eE][-+]?[0-9]+)?"
    r"|[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:[Tt\s].*)?"
)

# A file at the beginning of a message, or of the message that it introduces, with a key after it.
_FILE = re.compile(r"^[^:>]+\.yaml(?= > )|(?<=: )[^:>\s]+\.yaml(?= > )")

_ARROW, _STEP_ENDS = " > ", re.compile(r"(?= > |: )|$")

_CONFLICT = re.compile(r"<{7}( |$)|>{7}( |$)")  # as git marks the sides of a conflict


def load(path: Path) -> object:
    """The value of a file of one YAML document, as `yaml.safe_load` gives it.

    Raises BadInput with all that is refused. Messages name keys as `<path> > <key> > <key>`;
    `located` adds their lines.
    """
    text = _text(path)
    try:
        _check_shape(path, text)
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
    """Whether every YAML reader takes the word for text where it stands without quotes."""
    return not _NO_TEXT.fullmatch(word) and not _TO_SOME.fullmatch(word)


def is_deep(text: str) -> bool:
    """Whether it has blocks within blocks that could end the process of a reader; YAMLError if it
    is no YAML."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            return True
    return False


def located(problems: Iterable[str]) -> list[str]:
    """Messages with the line of the key that they name: `params.yaml, line 3 > judges > x: ...`.

    A key that is not there has the line of the block in which it is missed. A message that names no
    file and key, or a file that is not readable, stays as it is.
    """
    roots: dict[str, yaml.Node | None] = {}
    return [_located(problem, roots) for problem in problems]


def _text(path: Path) -> str:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            raise BadInput(f"{path}: is a pipe or a device; put a file there")
        if found.st_size > _LARGEST:
            raise BadInput(f"{path}: has more than {_LARGEST:,} bytes; take some away")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"{path} does not exist; run in the project's folder") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except PermissionError as error:
        raise BadInput(told(error)) from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}; put a file there") from None


# ---- shape -----------------------------------------------------------------------------------


def _check_shape(path: Path, text: str) -> None:
    """BadInput for what a reader would not come to an end with; builds nothing."""
    around: list[tuple[str | None, int]] = [(None, 0)]  # blocks: anchor, and values before
    depths = [0]  # how deep blocks are within each of these
    sizes: dict[str | None, tuple[int, int]] = {}  # of what has an anchor: values, and its depth
    values = 0
    for event in yaml.parse(text, Loader=LOADER):
        problem = ""
        values += 1
        if getattr(event, "tag", None) or getattr(event, "version", None):
            problem = "tags (`!`) and directives (`%`) are not read; remove it"
        elif isinstance(event, yaml.CollectionStartEvent):
            around.append((event.anchor, values))
            depths.append(0)
        elif isinstance(event, yaml.CollectionEndEvent):
            (anchor, before), depth = around.pop(), 1 + depths.pop()
            sizes[anchor] = values - before, depth
            depths[-1] = max(depths[-1], depth)
        elif isinstance(event, yaml.AliasEvent):
            more, depth = sizes.get(event.anchor, (0, 0))
            values, depths[-1] = values + more, max(depths[-1], depth)
            if event.anchor in (anchor for anchor, _ in around):
                problem = f"*{event.anchor} is within its own block; remove it"
        if len(around) + depths[-1] > _DEEPEST:
            problem = f"blocks within blocks, more than {_DEEPEST}; take some away"
        elif values > _MOST:
            problem = f"more than {_MOST:,} values, anchors' counted each time; take some away"
        if problem:
            raise BadInput(f"{path}: line {_number(event)}: {problem}")


def _number(of: yaml.Event | yaml.Node) -> int:
    return of.start_mark.line + 1 if of.start_mark else 0


# ---- keys and words --------------------------------------------------------------------------


def _problems(root: yaml.Node) -> Iterator[str]:
    """What is wrong with keys and words, in the file's order. An anchor's block is seen once."""
    seen: set[int] = set()
    waiting: list[tuple[yaml.Node, tuple[str, ...]]] = [(root, ())]
    while waiting:
        node, at = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            yield from _word(at, node)
        elif isinstance(node, yaml.MappingNode):
            yield from _keys(at, [key for key, _ in node.value])
        if isinstance(node, yaml.CollectionNode) and node.flow_style:
            yield from _in_brackets(at, node)
        waiting += [(child, (*at, step)) for step, _, child in reversed(list(_children(node)))]


def _children(node: yaml.Node) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    """What messages call each child, the node whose line is its line, and the child."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield one_line(key.value), key, value
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield str(index), value, value


def _word(at: tuple[str, ...], node: yaml.ScalarNode) -> Iterator[str]:
    word = node.value
    if not node.style and _TO_SOME.fullmatch(word) and not _NO_TEXT.fullmatch(word):
        yield (
            f"{' > '.join(at)}: {one_line(word)} is not the same to every reader of YAML; put text"
            " in quotes, and write a number in plain digits"
        )


def _in_brackets(at: tuple[str, ...], node: yaml.Node) -> Iterator[str]:
    """DVC's reader takes no colon in words between brackets, such as {url: http://here}."""
    for step, key, child in _children(node):
        for word in {id(one): one for one in (key, child)}.values():
            plain = isinstance(word, yaml.ScalarNode) and not word.style
            if plain and ":" in word.value and is_text(word.value):
                yield f"{' > '.join((*at, step))}: has a colon, between brackets; put it in quotes"


def _keys(at: tuple[str, ...], keys: list[yaml.Node]) -> Iterator[str]:
    alike: dict[object, list[yaml.ScalarNode]] = {}
    for key in keys:
        if isinstance(key, yaml.ScalarNode) and (key.style or is_text(key.value)):
            alike.setdefault(key.value, []).append(key)
        else:
            scalar = isinstance(key, yaml.ScalarNode)
            name = one_line(key.value) if scalar else f"line {_number(key)}"
            yield f"{' > '.join((*at, name))}: a key must be text; put it in quotes"
    for same in (same for same in alike.values() if len(same) > 1):
        count = "twice" if len(same) == 2 else f"{len(same)} times"
        *former, last = map(str, sorted({_number(key) for key in same}))
        where = f"lines {', '.join(former)} and {last}" if former else f"line {last}"
        name = " > ".join((*at, one_line(same[0].value)))
        yield f"{name}: is there {count}, in {where}; keep one"


def merge_line(text: str) -> int:
    """The first line with a mark of a merge that git could not finish; 0 if there is none."""
    marks = (n for n, line in enumerate(text.splitlines(), start=1) if _CONFLICT.match(line))
    return next(marks, 0)


def _merge(text: str) -> str:
    """Where the marks of a merge are, and what to do; empty if there are none."""
    line = merge_line(text)
    if not line:
        return ""
    return (
        f"line {line}: a merge left both sides in the file; keep one of them"
        " (`git checkout --ours` or `--theirs` with the file's name)"
    )


def _why(error: yaml.YAMLError) -> str:
    """What is wrong and where, in one line; PyYAML's own words show a piece of the text too."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem and error.problem_mark:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())


# ---- lines -----------------------------------------------------------------------------------


def _located(problem: str, roots: dict[str, yaml.Node | None]) -> str:
    def with_line(found: re.Match[str]) -> str:
        if found[0] not in roots:
            roots[found[0]] = _root(Path(found[0]))
        line = _line(roots[found[0]], problem[found.end() :])
        return f"{found[0]}, line {line}" if line else found[0]

    return _FILE.sub(with_line, problem)


def _root(path: Path) -> yaml.Node | None:
    try:
        text = _text(path)
        _check_shape(path, text)
        node: yaml.Node | None = LOADER(text).get_single_node()
    except (BadInput, yaml.YAMLError):
        return None
    return node


@functools.lru_cache(maxsize=64)
def _steps(node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.Node | None]]:
    """Keys and what stands there, by the step of a path that leads to it."""
    return {step: (key, child) for step, key, child in reversed(list(_children(node)))}


def _line(root: yaml.Node | None, rest: str) -> int:
    """The line of the key at ` > a > b: ...`, or of the last of these that is there; 0 for none."""
    node, line = root, 0
    while node is not None and rest.startswith(_ARROW):
        steps, begin = _steps(node), len(_ARROW)
        ends = [end.start() for end in _STEP_ENDS.finditer(rest, begin)]
        reached = [end for end in ends if rest[begin:end] in steps]
        if not reached:
            break
        key, node = steps[rest[begin : reached[-1]]]
        line, rest = _number(key), rest[reached[-1] :]
    if isinstance(node, yaml.SequenceNode):
        named = [one for one in node.value if rest.startswith(f": {one.value!r} ")]
        line = _number(named[0]) if named else line
    return line
