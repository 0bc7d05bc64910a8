""".metassay.yaml: what Metassay itself wrote into a project, by hash."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metassay import __version__
from metassay.core import strict_yaml
from metassay.core.errors import BadInput

FILE = Path(".metassay.yaml")
_HEADER = """\
# Written by `metassay init` and `metassay upgrade`; commit it. What they wrote, by hash: a file
# that is as they wrote it may be replaced by an upgrade, one that you edited never is.
"""
_DIGITS = 16


@dataclass(frozen=True)
class Record:
    """The version that wrote last, and by path the hash of what it wrote."""

    version: str = __version__
    files: Mapping[str, str] = field(default_factory=dict)


def hash_of(content: bytes) -> str:
    """The first 16 digits of the SHA-256; lines may end in CRLF, as git writes them on Windows."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()[:_DIGITS]


def read(root: Path) -> Record | None:
    """The record of a project; None where there is none. Raises BadInput if it is damaged."""
    path = root / FILE
    if not path.exists():
        return None
    found = strict_yaml.load(path)
    whole = found if isinstance(found, dict) else {}
    files = whole.get("files")
    if not isinstance(files, dict) or not all(isinstance(one, str) for one in files.values()):
        raise BadInput(
            f"{FILE}: is damaged; take it from your last commit (git checkout -- {FILE}), or remove"
            " it: then every file that differs from ours counts as edited"
        )
    return Record(str(whole.get("metassay")), files)


def written(files: Mapping[str, str]) -> bytes:
    """The file's bytes."""
    # In quotes: one hash in a thousand has but digits and an e, which some read as a number.
    lines = [f"  {path}: {json.dumps(one)}\n" for path, one in sorted(files.items())]
    head = f"{_HEADER}metassay: {json.dumps(__version__)}\nfiles:{'' if lines else ' {}'}\n"
    return (head + "".join(lines)).encode("utf-8")
