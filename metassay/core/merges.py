"""The files that DVC reads, which a merge or a full disk may have left broken: told before it does.

DVC's own words for such a file are a page, and name no line.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, refusal
from metassay.core.options import BENCHMARKS

_LOCK = ("schema", "stages")  # what it must have
_OF_A_LOCK = "or delete it: the next run writes it again, and computes what .dvc/cache hasn't kept"


def dvc_problems(root: Path, benchmarks: Iterable[str]) -> list[str]:
    """One line for each dvc.yaml and dvc.lock of the project and of these benchmarks that DVC
    could not read, with its line and remedy."""
    folders = [Path(), *(BENCHMARKS / name for name in benchmarks)]
    problems = []
    for folder in folders:
        if not (root / folder / "dvc.yaml").exists():
            problems.append(f"{folder / 'dvc.yaml'} is not there; `metassay update` writes it")
        else:
            problems += file_problems(root, folder / "dvc.yaml", ("stages",))
        lock = folder / "dvc.lock"
        there = (root / lock).exists()
        if there and not ((root / lock).is_file() and _as_dvc_writes(root / lock)):
            problems += [f"{one}; {_OF_A_LOCK}" for one in file_problems(root, lock, _LOCK)]
    return problems


def _as_dvc_writes(lock: Path) -> bool:
    """Whether DVC can read its own file; it may hold words that other readers take otherwise."""
    try:
        text = lock.read_text(encoding="utf-8")
        if strict_yaml.is_deep(text):
            return False
        whole = yaml.compose(text, Loader=strict_yaml.LOADER)
    except (OSError, ValueError, yaml.YAMLError):
        return False
    blocks = _entries(whole)
    stages = [one for name, block in blocks if name == "stages" for one, _ in _entries(block)]
    top = [name for name, _ in blocks if name in _LOCK]
    return sorted(top) == sorted(_LOCK) and len(stages) == len(set(stages))


def _entries(block: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    pairs = block.value if isinstance(block, yaml.MappingNode) else []
    return [(str(key.value), value) for key, value in pairs]


def file_problems(root: Path, file: Path, wanted: Iterable[str] = ()) -> list[str]:
    """What is wrong with one YAML file: it must be readable, and a mapping that has these keys."""
    try:
        found: Any = strict_yaml.load(root / file)
    except BadInput as error:
        return [problem.replace(str(root / file), str(file)) for problem in error.problems]
    except OSError as error:
        return [refusal(error) or f"{file}: {error.strerror}; put a file there that can be read"]
    absent = [key for key in wanted if not isinstance(found, dict) or key not in found]
    if found is None or absent:
        lacks = f"lacks {' and '.join(absent)}" if found else "is empty"
        return [f"{file}: {lacks}; bring it back as it was (`git checkout {file}`)"]
    return []
