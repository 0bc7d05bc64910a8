"""Small spreadsheets, invented, in the forms that people keep them in."""

from collections.abc import Sequence
from pathlib import Path

from metassay.project.spreadsheets.read import Inputs, OwnData, read_all

DOCS, SYSTEMS, RATERS = ("v1", "v2", "v3"), ("alba", "brise"), ("ann", "ben")
SOURCE = "Doctor: How is the cough?\nPatient: Gone since {}.\nDoctor: Then no more tablets."
DAYS = dict(zip(DOCS, ("Monday", "Friday", "Sunday"), strict=True))
TEXT = "{} writes that the cough of {} is gone since {}."

LONG = [
    ["visit_id", "model", "note", "dialogue", "gold"],
    *(
        [d, s, TEXT.format(s, d, DAYS[d]), SOURCE.format(DAYS[d]), f"The cough of {d} is gone."]
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


def put(path: Path, table: Table, separator: str = ",", encoding: str = "utf-8") -> Path:
    """Write a table as CSV."""
    quoted = [
        [f'"{cell}"' if separator in cell or "\n" in cell else cell for cell in row]
        for row in table
    ]
    path.write_text("".join(separator.join(row) + "\n" for row in quoted), encoding=encoding)
    return path


def files(folder: Path, **tables: Table) -> dict[str, list[Path]]:
    """Write one of each kind."""
    return {kind: [put(folder / f"{kind}.csv", table)] for kind, table in tables.items()}


def found(folder: Path, *columns: str, **tables: Table) -> OwnData:
    """What is read of them."""
    return read_all(Inputs(files(folder, **tables), columns))
