"""Small spreadsheets, invented, in the forms that people keep them in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.project.spreadsheets.read import Inputs, OwnData, read_all
from metassay.project.spreadsheets.summary import lines, settings_of

DOCS, SYSTEMS, RATERS = ("v1", "v2", "v3"), ("alba", "brise"), ("ann", "ben")
SOURCE = (
    "Doctor: How is the cough?\nPatient: Gone since {}.\nDoctor: Then no more tablets."
)
DAYS = dict(zip(DOCS, ("Monday", "Friday", "Sunday"), strict=True))
TEXT = "{} writes that the cough of {} is gone since {}."

LONG = [
    ["visit_id", "model", "note", "dialogue", "gold"],
    *(
        [
            d,
            s,
            TEXT.format(s, d, DAYS[d]),
            SOURCE.format(DAYS[d]),
            f"The cough of {d} is gone.",
        ]
        for d in DOCS
        for s in SYSTEMS
    ),
]
WIDE = [
    ["id", "alba", "brise"],
    *([d, *(TEXT.format(s, d, DAYS[d]) for s in SYSTEMS)] for d in DOCS),
]
RATINGS = [
    ["visit_id", "model", "rater", "fluency", "errors"],
    *(
        [d, s, r, str(1 + (n + m) % 5), str(n % 3)]
        for n, d in enumerate(DOCS)
        for m, s in enumerate(SYSTEMS)
        for r in RATERS
    ),
]
SCORES = [
    ["visit_id", "model", "align score", "bleu", "TER"],
    *(
        [d, s, f".{n}{m}5", str(20 + n), f"{n}.5"]
        for n, d in enumerate(DOCS)
        for m, s in enumerate(SYSTEMS)
    ),
]
Table = Sequence[Sequence[str]]


def put(
    path: Path, table: Table, separator: str = ",", encoding: str = "utf-8"
) -> Path:
    """Write a table as CSV."""
    quoted = [
        [f'"{cell}"' if separator in cell or "\n" in cell else cell for cell in row]
        for row in table
    ]
    path.write_text(
        "".join(separator.join(row) + "\n" for row in quoted), encoding=encoding
    )
    return path


def files(folder: Path, **tables: Table) -> dict[str, list[Path]]:
    """Write one of each kind."""
    return {
        kind: [put(folder / f"{kind}.csv", table)] for kind, table in tables.items()
    }


def read(folder: Path, *columns: str, texts: Table = LONG, **more: Any) -> OwnData:
    """Return what is read of tables by kind; all else in `more` is an option."""
    tables = {kind: more.pop(kind) for kind in ("ratings", "scores") if kind in more}
    return read_all(Inputs(files(folder, texts=texts, **tables), columns, **more))


def refused(folder: Path, *columns: str, **more: Any) -> str:
    """Return the problems in lines, which quote no text."""
    with pytest.raises(BadInput) as caught:
        read(folder, *columns, **more)
    message = "\n".join(caught.value.problems)
    assert "cough" not in message
    return message


def confirmed(data: OwnData) -> str:
    """Return the lines that a user confirms."""
    return "\n".join(lines(data, settings_of(data.rows)))
