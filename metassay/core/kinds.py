"""A named block of params.yaml, and the record of its `kind`.

Each kind is a frozen record, exported as `KIND` by its module, or by the name after a
colon. Each folder of kinds has an index, a literal table from kind to module. A kind
that is not in an index can be the dotted path of a user's record, `mylab.metrics` or
`mylab.metrics:NEGATIONS`, in the project's folder or installed.
"""

import contextlib
import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core.errors import BadInput, hint
from metassay.core.options import Block, Options, parse

_PATH = re.compile(
    r"(?=.*[.:])([A-Za-z_]\w*)(\.[A-Za-z_]\w*)*(:[A-Za-z_]\w*)?", re.ASCII
)


class Chosen(NamedTuple):
    """What a block chooses: the kind's name, its record, and the options."""

    kind: str
    record: Any
    options: Any


def record_of(index: Mapping[str, str], kind: str) -> Any:
    """Import the record of a kind in the index."""
    module, _, name = index[kind].partition(":")
    return getattr(importlib.import_module(module), name or "KIND")


def choose(index: Mapping[str, str], block: Block, *, where: str) -> Chosen:
    """Return the record and the checked options of a block; `where` starts every message.

    Raises BadInput if the kind is neither in the index nor the dotted path of a record
    of its type, or the options are not valid.
    """
    kind = block.get("kind")
    if kind is None:
        raise BadInput(f"{where} > kind: missing; choose from {sorted(index)}")
    if not isinstance(kind, str) or (kind not in index and not is_path(kind)):
        close = hint(str(kind), index)
        raise BadInput(
            f"{where} > kind: {kind!r} is not known; choose from {sorted(index)}{close}"
        )
    record = (
        record_of(index, kind) if kind in index else _user_record(index, kind, where)
    )
    rest = {name: value for name, value in block.items() if name != "kind"}
    return Chosen(kind, record, parse(record.options, rest, where=where))


def is_path(kind: str) -> bool:
    """Return whether a kind is a dotted path (`mylab.metrics`, `mylab:NEGATIONS`)."""
    return _PATH.fullmatch(kind) is not None


def object_at(path: str, default: str, *, where: str) -> Any:
    """Import the object at a dotted path: `module:name`, or the name `default` of a module.

    Raises BadInput, starting with `where`, if there is no such module, if importing it
    fails, or if it has no such name.
    """
    module, _, name = path.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()  # the file can be newer than this process
    try:
        imported = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's module can raise anything
        raise BadInput(f"{where}: {path!r} {_import_problem(module, error)}") from None
    if not hasattr(imported, name or default):
        raise BadInput(
            f"{where}: module {module!r} has no {name or default}; define it there, or correct the"
            " path (module:NAME)"
        )
    return getattr(imported, name or default)


@contextlib.contextmanager
def imports_from(root: Path) -> Iterator[None]:
    """Import kinds of the user's own from the project in `root`.

    If that is not the working folder, its modules are forgotten afterwards: another
    project may have modules of these names, and a new project is still to be moved to
    its place.
    """
    if root.resolve() == Path.cwd():
        yield
        return
    folder = root.resolve()
    path = [*sys.path]
    before = set(sys.modules)
    try:
        with contextlib.chdir(root):
            yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            module = sys.modules[name]
            places = [
                getattr(module, "__file__", None) or "",
                *getattr(module, "__path__", ()),
            ]
            if any(Path(place).is_relative_to(folder) for place in places):
                del sys.modules[name]


def _user_record(index: Mapping[str, str], kind: str, where: str) -> Any:
    record = object_at(kind, "KIND", where=f"{where} > kind")
    expected = type(record_of(index, next(iter(index))))
    if not isinstance(record, expected):
        raise BadInput(
            f"{where} > kind: {kind!r} is of type {type(record).__name__}, and {expected.__name__}"
            " is wanted here; name a record of that type, or move the block"
        )
    options = getattr(record, "options", None)
    if not (isinstance(options, type) and issubclass(options, Options)):
        raise BadInput(
            f"{where} > kind: the options of {kind!r} are no class of options; derive it from"
            " metassay.kinds.Options"
        )
    return record


def _import_problem(module: str, error: BaseException) -> str:
    """Describe in a line why a module could not be imported, with the user's file and line."""
    if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(
        f"{error.name}."
    ):
        return (
            f"is not known: there is no module {error.name!r} in the project's folder, and no"
            " installed package has it; create it, or correct the path (module:NAME)"
        )
    frames = [
        (frame.filename, frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno))
    folder = Path.cwd()
    in_project = [
        (file, line) for file, line in frames if Path(file).is_relative_to(folder)
    ]
    file, line = (in_project or frames)[-1]
    short = os.path.relpath(file, folder) if in_project else file
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    reason = " ".join(message.split()) or "no message"
    return f"cannot be imported: {short}, line {line}: {type(error).__name__}: {reason}; fix it"
