"""Files of other tools, given to a command that reads tables: name the tool, and what to type."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from metassay.core.errors import BadInput
from metassay.imports.tools import TOOLS, tool_of
from metassay.tabular.decoding import is_readable
from metassay.tabular.rows import Findings


@contextmanager
def propose_import(
    files: Sequence[Path], *, ratings: Sequence[Path] = (), named: bool = False
) -> Iterator[None]:
    """Refuse other tools' files with the command that reads them.

    Records with values inside values are refused at once, and so are tables that hold
    verdicts of judges where `ratings` of people are asked for. Other files are refused
    where the command cannot read them. With `named`, the user said which columns to
    read, and only the command's own problems count.
    """
    if named:
        yield
        return
    if lines := [*_proposals(files, ratings, unread=False)]:
        raise BadInput(lines)
    try:
        yield
    except BadInput as error:
        lines = [*_proposals(files, ratings, unread=True)]
        raise BadInput([*error.problems, *lines]) from None


def _proposals(
    files: Sequence[Path], ratings: Sequence[Path], *, unread: bool
) -> Iterator[str]:
    for path in dict.fromkeys([*files, *ratings]):
        if not is_readable(path, Findings(), remedy=""):
            continue
        tool, nested = tool_of(path)
        if tool is None:
            continue
        mixed = path in ratings and not tool.people_only
        if unread or nested or mixed:
            yield f"{path.name}: contains {tool.what}; to read them, type:"
            yield f"  {import_command(tool.name, path)}"


def import_command(tool: str, path: Path) -> str:
    """Return the command that reads a file into a folder that is not there yet."""
    number = 1
    folder = Path("imported")
    while folder.exists():
        number += 1
        folder = Path(f"imported{number}")
    return shlex.join(["metassay", "import", tool, str(path), "--out", str(folder)])


def check_kind(words: Sequence[str]) -> None:
    """Refuse `metassay import FILE`, which names no tool, with the command that names it."""
    if words[:1] != ["import"] or len(words) < 2 or words[1] in TOOLS:
        return
    path = Path(words[1])
    if not is_readable(path, Findings(), remedy=""):
        return
    tool, _ = tool_of(path)
    if tool is not None:
        lines = [f"import: name the tool that wrote {path.name}, {tool.what}:"]
        raise BadInput([*lines, f"  {import_command(tool.name, path)}"])
