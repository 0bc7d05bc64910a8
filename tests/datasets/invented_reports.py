"""Invented radiology reports, in the form of MIMIC-III's NOTEEVENTS.csv."""

import csv
from collections.abc import Sequence
from pathlib import Path

COLUMNS = (
    "ROW_ID",
    "SUBJECT_ID",
    "HADM_ID",
    "CHARTDATE",
    "CHARTTIME",
    "STORETIME",
    "CATEGORY",
    "DESCRIPTION",
    "CGID",
    "ISERROR",
    "TEXT",
)
TEXT = """\
[**2150-1-1**] 10:00 AM
 {description}                                   Clip # [**Clip Number 1**]
 Reason: fall
 ______________________________________________________________________________
                                 FINAL REPORT
 INDICATION:  Somebody fell.

 FINDINGS:  There is no
 bleed of size {number}.  The ventricles are of normal size.

 IMPRESSION:
 1. No bleed.
 2. Normal ventricles.
 ______________________________________________________________________________
 DR. [**First Name8**]
"""


def report(number: int, description: str = "CT HEAD W/O CONTRAST") -> dict[str, str]:
    """One row of the file."""
    row = dict.fromkeys(COLUMNS, "")
    return row | {
        "ROW_ID": str(number),
        "SUBJECT_ID": "1",
        "CATEGORY": "Radiology",
        "DESCRIPTION": description,
        "TEXT": TEXT.format(description=description, number=number),
    }


def put_notes(
    folder: Path,
    *,
    n_head: int = 0,
    n_mr: int = 0,
    rows: Sequence[dict[str, str]] | None = None,
) -> Path:
    """Write the file: reports of the head by CT and by MR, and one in ten of the neck."""
    if rows is None:
        heads = [report(number + 1) for number in range(n_head)]
        brains = [
            report(1000 + number, "MR HEAD W & W/O CONTRAST") for number in range(n_mr)
        ]
        n_neck = (n_head + n_mr) // 9
        necks = [
            report(2000 + number, "CT NECK W/CONTRAST") for number in range(n_neck)
        ]
        rows = [*heads, *brains, *necks]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "NOTEEVENTS.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return folder
