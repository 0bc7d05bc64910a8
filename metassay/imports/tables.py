"""CSV files of an import: rows as they come, and no file without rows."""

import csv
from collections.abc import Iterable
from pathlib import Path


def write_csv(
    path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]
) -> None:
    """Write a table, if it has any row."""
    waiting = iter(rows)
    first = next(waiting, None)
    if first is None:
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerow(first)
        writer.writerows(waiting)


def format_number(value: float | None) -> str:
    """Write a number so that it reads back as the same; "" for a missing one."""
    if value is None:
        return ""
    return str(int(value)) if value.is_integer() else repr(value)
