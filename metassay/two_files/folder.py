"""A folder of results that is there whole or not at all."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from metassay.errors import BadInput
from metassay.tables import TABLES


@contextmanager
def whole(folder: Path) -> Iterator[Path]:
    """A new folder to write to, which becomes `folder` at the end; after an error nothing is left.

    Raises BadInput where `folder` is a file, holds something, or cannot be made.
    """
    folder = folder.resolve()
    if folder.is_dir() and any(folder.iterdir()):
        raise BadInput(f"--out {folder}: the folder holds something already; name an empty one")
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"--out {folder}: is a file; name a folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise BadInput(f"--out {folder}: cannot be made: {error.strerror}") from error
    try:
        yield made
        made.chmod(0o755)
        if folder.is_dir():
            folder.rmdir()
        made.replace(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def write_all(
    tables: Mapping[str, pd.DataFrame], choices: Mapping[str, object], folder: Path
) -> None:
    """Every table as CSV with all digits, sorted by its key, and `choices.json`.

    A missing number is an empty cell.
    """
    for name, table in tables.items():
        rows = table.sort_values(list(TABLES[name].key)) if name in TABLES else table
        rows.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n", encoding="utf-8")
    text = json.dumps(choices, indent=2, ensure_ascii=False)
    (folder / "choices.json").write_text(f"{text}\n", encoding="utf-8")
