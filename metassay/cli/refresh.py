"""`metassay refresh`: bring code.yaml and dvc.yaml up to date with code, packages and prompts."""

import argparse
from pathlib import Path

from metassay.versions.code_yaml import FILE, put, recorded, refresh

SHOWN = 12  # names of what has changed; the rest is counted


def refresh_code(_: argparse.Namespace) -> int:
    """Write code.yaml if it isn't true any more, and say what has changed."""
    root = Path()
    if (root / "metassay/project").is_dir():  # our own repository
        from metassay.project.kit import own_dags

        changed = [str(file) for file, text in own_dags(root).items() if put(root / file, text)]
        print(f"dvc.yaml: {', '.join(changed) or 'all are up to date'}")
    before = _entries(root)
    if not refresh(root):
        print(f"{FILE} is up to date")
        return 0
    after = _entries(root)
    changed = sorted(name for name in before | after if before.get(name) != after.get(name))
    more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    names = f" Changed: {', '.join(changed[:SHOWN])}{more}" if changed else ""
    print(f"{FILE} is written again; commit it.{names}")
    return 0


def _entries(root: Path) -> dict[str, str]:
    return {
        f"{block}.{name}": version
        for block, names in recorded(root).items()
        for name, version in names.items()
    }
