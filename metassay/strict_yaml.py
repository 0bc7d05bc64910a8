"""YAML as it was meant: a key that is there twice is an error, not the second block in silence."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from metassay.errors import BadInput

# The same values and key marks from both; the C one is not in every build of PyYAML.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# `<<` and `=`, which are no values of their own.
_MARKS = ("tag:yaml.org,2002:merge", "tag:yaml.org,2002:value")


def load(path: Path) -> object:
    """The value of a file of one YAML document, as `yaml.safe_load` gives it.

    Raises BadInput if there is no such file, if it is not UTF-8, if it is no YAML, and with every
    key of a mapping that is there more than once, where it is and in which lines.
    """
    try:
        loader = _LOADER(path.read_text(encoding="utf-8"))
        node = loader.get_single_node()
        if node is None:
            return None
        repeated = list(_repeated(loader, node))
        if repeated:
            raise BadInput([f"{path} > {one}" for one in repeated])
        return loader.construct_document(node)
    except FileNotFoundError:
        raise BadInput(f"{path} does not exist; run in the project's folder") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except yaml.YAMLError as error:
        raise BadInput(f"{path}: not readable as YAML: {_why(error)}") from None
    except ValueError as error:  # PyYAML lets it pass for a date that no calendar has
        raise BadInput(f"{path}: not readable as YAML: {error}; put dates in quotes") from None


def _repeated(loader: Any, root: yaml.Node) -> Iterator[str]:
    """Where each repeated key is, in the file's order. An anchor's block is looked at once."""
    seen: set[int] = set()
    waiting: list[tuple[yaml.Node, tuple[str, ...]]] = [(root, ())]
    while waiting:
        node, at = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        children: list[tuple[yaml.Node, tuple[str, ...]]] = []
        if isinstance(node, yaml.MappingNode):
            # A key that is no scalar is refused when the value is made.
            pairs = [(k, value) for k, value in node.value if isinstance(k, yaml.ScalarNode)]
            keys: dict[object, list[yaml.ScalarNode]] = {}
            for key, _ in pairs:
                plain = key.value if key.tag in _MARKS else loader.construct_object(key)
                keys.setdefault(plain, []).append(key)
            yield from (_twice(at, alike) for alike in keys.values() if len(alike) > 1)
            children = [(value, (*at, key.value)) for key, value in pairs]
        elif isinstance(node, yaml.SequenceNode):
            children = [(value, (*at, str(index))) for index, value in enumerate(node.value)]
        waiting += reversed(children)


def _twice(at: tuple[str, ...], keys: list[yaml.ScalarNode]) -> str:
    count = "twice" if len(keys) == 2 else f"{len(keys)} times"
    numbers = [str(line) for line in sorted({key.start_mark.line + 1 for key in keys})]
    *former, last = numbers
    where = f"lines {', '.join(former)} and {last}" if former else f"line {last}"
    return f"{' > '.join((*at, keys[0].value))}: is there {count}, in {where}; keep one"


def _why(error: yaml.YAMLError) -> str:
    """What is wrong and where, in one line; PyYAML's own words show a piece of the text too."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem and error.problem_mark:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())
