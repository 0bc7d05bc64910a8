"""The files of `--out`, but for the page."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from metassay.reporting.tables import to_csv


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
