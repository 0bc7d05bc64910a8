"""A folder of results that is there whole or not at all."""

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from metassay.errors import BadInput
from metassay.reporting.tables import to_csv


@contextmanager
def whole(folder: Path, option: str = "--out") -> Iterator[Path]:
    """A new folder to write to, which becomes `folder` at the end; after an error nothing is left.

    Raises BadInput where `folder` is a file, holds something, or cannot be made; `option` asked.
    """
    folder = folder.resolve()
    if folder.is_dir() and any(folder.iterdir()):
        raise BadInput(f"{option} {folder}: the folder holds something already; name an empty one")
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{option} {folder}: is a file; name a folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise BadInput(f"{option} {folder}: cannot be made: {error.strerror}") from error
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
    tables: Mapping[str, pd.DataFrame],
    choices: Mapping[str, object],
    notes: Iterable[str],
    folder: Path,
) -> None:
    """Every table as CSV with all its digits, sorted by its key, `choices.json` and `notes.txt`.

    A missing number is an empty cell.
    """
    for name, table in tables.items():
        (folder / f"{name}.csv").write_text(to_csv(table), encoding="utf-8", newline="\n")
    text = json.dumps(choices, indent=2, ensure_ascii=False)
    (folder / "choices.json").write_text(f"{text}\n", encoding="utf-8", newline="\n")
    lines = "".join(f"{note}\n" for note in notes)
    (folder / "notes.txt").write_text(lines, encoding="utf-8", newline="\n")
