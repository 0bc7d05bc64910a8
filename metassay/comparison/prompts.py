"""Which prompt files differ between two runs.

A lock has one hash over all prompts that a block reads. What the files said is looked for in the
working tree and in git's history until their hash is that of the lock, so that a file is only named
for sure. Where one of both states was never committed, the block alone is named.
"""

import functools
import hashlib
import importlib
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from metassay.code_reading import DIGITS, hash_of
from metassay.code_version import BLOCKS, parts_of
from metassay.code_version import FILE as CODE
from metassay.comparison.causes import Cause
from metassay.comparison.changed_params import PROMPTS_OF
from metassay.comparison.locks import Lock
from metassay.errors import BadInput
from metassay.kinds import choose
from metassay.needs import everyone
from metassay.options import PARAMS

COMMITS = 100  # so many of those that changed a prompt are looked at, the latest first

Contents = Mapping[str, str]  # by file the hash of what it says


def with_files(root: Path, found: Sequence[Cause], before: Lock, after: Lock) -> list[Cause]:
    """The causes, with the files that were edited where a cause is a block's prompts."""
    return [_with_files(root, cause, before, after) for cause in found]


def _with_files(root: Path, cause: Cause, before: Lock, after: Lock) -> Cause:
    if not cause.what.startswith(PROMPTS_OF):
        return cause
    key = cause.what.removeprefix(PROMPTS_OF)
    read = [lock["stages"][cause.stage]["params"] for lock in (before, after)]
    was, now = (_said(root, key, one.get(str(PARAMS), {}), one[CODE]) for one in read)
    if not was or not now:
        return cause
    files = sorted(file for file in {*was, *now} if was.get(file) != now.get(file))
    return cause._replace(what=f"{cause.what}: {', '.join(files)}")


def _files(root: Path, key: str, block: object) -> list[str]:
    """The prompts that a block reads, from the project's root; none where it isn't understood."""
    kind, _, name = key.partition(".")
    if kind not in BLOCKS or not isinstance(block, dict):
        return []
    package, *indexes = BLOCKS[kind]
    module = importlib.import_module(package)
    known = {one: place for index in indexes for one, place in getattr(module, index).items()}
    try:
        every = everyone(choose(known, block, where=f"{PARAMS} > {kind} > {name}"))
    except BadInput:  # options that another version knows
        return []
    read = [file for one in every for file in one.record.files(one.options)]
    paths = {file.path for file in read if file.filled is not None}
    return sorted(Path(os.path.relpath(root / path, root)).as_posix() for path in paths)


def _said(root: Path, key: str, blocks: Mapping[str, Any], code: Mapping[str, Any]) -> Contents:
    """What the prompts of a block said when it was run; empty where nobody knows, and where several
    blocks have one version together."""
    files, wanted = _files(root, key, blocks.get(key)), parts_of(str(code.get(key, "")))[1]
    for contents in _states(root, tuple(files)) if files and wanted else ():
        if hash_of(sorted(f"{name} {one}" for name, one in contents.items())) == wanted:
            return contents
    return {}


def _states(root: Path, files: tuple[str, ...]) -> Iterator[Contents]:
    """What these files say here, and said in each commit that changed one, the latest first."""
    there = {file: root / file for file in files}
    if all(path.is_file() for path in there.values()):
        yield {file: _hash(path.read_bytes()) for file, path in there.items()}
    log = _git(root, "log", "--all", f"--max-count={COMMITS}", "--format=%H", "--", *files)
    for commit in log.decode().split():
        # `<mode> blob <id>\t<path>`, the paths from the root, wherever in the repository that is
        tree = _git(root, "ls-tree", "-z", commit, "--", *files).decode()
        blobs = [line.partition("\t")[::2] for line in tree.split("\0") if line]
        yield {path: _blob(root, about.split()[2]) for about, path in blobs}


@functools.cache
def _blob(root: Path, name: str) -> str:
    return _hash(_git(root, "cat-file", "blob", name))


def _git(root: Path, *words: str) -> bytes:
    """What git prints; nothing where it cannot do so, or is not there."""
    try:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]
