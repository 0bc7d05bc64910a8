"""Check the files that DVC reads, which a merge or a full disk can have damaged, before DVC does.

DVC's messages about such a file fill a page, and name no line.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, refusal
from metassay.core.options import BENCHMARKS

_LOCK = ("schema", "stages")  # required keys
_OF_A_LOCK = (
    "or delete it: the next run writes it again, and computes what is not in .dvc/cache"
)


def dvc_problems(root: Path, benchmarks: Iterable[str]) -> list[str]:
    """Describe each dvc.yaml and dvc.lock of the project and these benchmarks that DVC cannot read.

    Each message has the line and the remedy.
    """
    folders = [Path(), *(BENCHMARKS / name for name in benchmarks)]
    problems = []
    for folder in folders:
        if not (root / folder / "dvc.yaml").exists():
            problems.append(
                f"{folder / 'dvc.yaml'} does not exist; `metassay update` writes it"
            )
        else:
            problems += file_problems(root, folder / "dvc.yaml", ("stages",))
        lock = folder / "dvc.lock"
        has_lock = (root / lock).exists()
        if has_lock and not ((root / lock).is_file() and _is_readable(root / lock)):
            problems += [
                f"{problem}; {_OF_A_LOCK}"
                for problem in file_problems(root, lock, _LOCK)
            ]
    return problems


def _is_readable(lock: Path) -> bool:
    """Return whether DVC can read its file; other readers can differ about words in it."""
    try:
        text = lock.read_text(encoding="utf-8")
        root = yaml.compose(text, Loader=strict_yaml.LOADER)
    except (OSError, ValueError, yaml.YAMLError):
        return False
    blocks = _entries(root)
    stages = [
        stage
        for name, block in blocks
        if name == "stages"
        for stage, _ in _entries(block)
    ]
    top = [name for name, _ in blocks if name in _LOCK]
    return sorted(top) == sorted(_LOCK) and len(stages) == len(set(stages))


def _entries(block: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    pairs = block.value if isinstance(block, yaml.MappingNode) else []
    return [(str(key.value), value) for key, value in pairs]


def file_problems(root: Path, file: Path, keys: Iterable[str] = ()) -> list[str]:
    """Describe what is wrong with a YAML file: it must be a readable mapping with these keys."""
    try:
        content: Any = strict_yaml.load(root / file)
    except BadInput as error:
        return [
            problem.replace(str(root / file), str(file)) for problem in error.problems
        ]
    except OSError as error:
        return [
            refusal(error)
            or f"{file}: {error.strerror}; put a file there that can be read"
        ]
    absent = [
        key for key in keys if not isinstance(content, dict) or key not in content
    ]
    if content is None or absent:
        lacks = f"lacks {' and '.join(absent)}" if content else "is empty"
        return [f"{file}: {lacks}; bring it back as it was (`git checkout {file}`)"]
    return []
