"""Tables of papers as they were transcribed, in `reports/published/`."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from metassay.core.errors import BadInput

_COLUMNS = [
    "split_or_section",
    "system_or_metric",
    "setting",
    "quantity",
    "value",
    "note",
]


def read_printed(file: Path) -> pd.DataFrame:
    """Read a transcribed table, all columns as text; BadInput if it is absent or damaged.

    A `value` is a number, or empty.
    """
    restore = "restore it from the repository"
    if not file.is_file():
        wrong = "is not a file" if file.exists() else "does not exist"
        raise BadInput(f"published: {file} {wrong}; {restore}")
    try:
        printed = pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8")
    except PermissionError:
        raise BadInput(
            f"published: {file} cannot be read: you have no permission"
        ) from None
    except ValueError as error:  # pandas': neither a table nor UTF-8
        raise BadInput(f"published: {file} is damaged; {restore}") from error
    lacking = [name for name in _COLUMNS if name not in printed.columns]
    if lacking:
        raise BadInput(
            f"published: {file} lacks the columns {lacking}; restore the file"
        )
    no_number = pd.to_numeric(printed["value"], errors="coerce").isna() & (
        printed["value"] != ""
    )
    if no_number.any():
        lines = ", ".join(str(row + 2) for row in printed.index[no_number])
        raise BadInput(
            f"published: {file}: row {lines}: `value` is not a number; restore the file"
        )
    return printed


def read_all(folder: Path, files: Iterable[str]) -> pd.DataFrame:
    """Read several transcribed tables of a folder as one."""
    return pd.concat([read_printed(folder / file) for file in files])
