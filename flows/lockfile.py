"""dvc.lock survives a killed run: DVC writes it in place, so a kill can cut it short.

A file cut short may still be sound YAML that has merely forgotten the stages further down. So a
copy is kept in the work folder while a run lasts; a copy found at the start of the next run means
that the last one was killed, and what the file has lost since is put back. Whether a stage is fresh
is then up to DVC as always: it compares hashes.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dvc.utils.serialize import YAMLFileCorruptedError, dump_yaml, load_yaml


@contextmanager
def guarded(root: Path) -> Iterator[None]:
    """Mend dvc.lock if the last run was killed, then keep a copy of it while this one lasts."""
    lock, kept = root / "dvc.lock", root / ".work" / "dvc.lock"
    if kept.exists():
        mend(lock, kept)
    if lock.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        _replace(lock, kept)
    yield
    kept.unlink(missing_ok=True)  # not in a finally: only a run that ended leaves none


def mend(lock: Path, kept: Path) -> None:
    """Put back what `lock` lacks of the copy `kept`; newer entries of `lock` stay.

    Its last entry may have been cut short without a sign of it, so it is not trusted: the stage is
    looked at again, by the copy's entry or anew.
    """
    old, new = _stages(kept), _stages(lock)
    for last in list(new)[-1:]:
        del new[last]
    whole = {"schema": "2.0", "stages": {**old, **new}}
    mended = lock.with_suffix(".mended")
    dump_yaml(str(mended), whole)
    mended.replace(lock)


def _stages(path: Path) -> dict[str, Any]:
    """The entries of a lock file, in its order; none if it cannot be read."""
    try:
        content = load_yaml(str(path))
    except (YAMLFileCorruptedError, FileNotFoundError):
        return {}
    stages = content.get("stages") if isinstance(content, dict) else None
    return dict(stages) if isinstance(stages, dict) else {}


def _replace(source: Path, target: Path) -> None:
    temporary = target.with_suffix(".part")
    shutil.copyfile(source, temporary)
    temporary.replace(target)
