"""Write what DVC reads of a project: versions.yaml, and a dvc.yaml per folder of benchmarks/."""

from pathlib import Path

from metassay.core import strict_yaml
from metassay.core.atomic import write_if_changed
from metassay.core.errors import BadInput
from metassay.core.options import BENCHMARKS
from metassay.core.params import Folder, load
from metassay.core.stages import DAG, dag, has_own_dag
from metassay.core.versions import FILE, format_yaml, versions
from metassay.project.migration import OLD, migrate_locks


def refresh(root: Path) -> list[str]:
    """Bring these files up to date; return a line for each that changed.

    A project of a Metassay that hashed its code (code.yaml) keeps its results: its
    locks are migrated, once. Raises BadInput as `load` and `versions`.
    """
    params = load(root)
    declared = versions(root, params)  # before anything is written
    changed = []
    for name, folder in params.every.items():
        file = BENCHMARKS / name / DAG
        text = _new_dag(root / file, folder)
        if text is not None and write_if_changed(root / file, text):
            changed.append(f"{file.as_posix()}: updated")
    if write_if_changed(root / FILE, format_yaml(declared)):
        changed.append(f"{FILE}: updated")
    if (root / OLD).exists():
        changed += migrate_locks(root, params, declared)
        (root / OLD).unlink()
        changed.append(f"{OLD}: removed; {FILE} is in its place")
    return changed


def _new_dag(file: Path, folder: Folder) -> str | None:
    """Return the dvc.yaml of a folder; None if the present one is its owner's alone."""
    present: object = None
    if file.exists():
        try:
            present = strict_yaml.load(file)
        except BadInput:
            return None  # after a merge: `metassay validate` and a run say where
        if has_own_dag(present):
            return None
    return dag(folder, present)
