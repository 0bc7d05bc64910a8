"""The cells of a comparison: a printed number, ours, and whether they agree."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.errors import BadInput
from metassay.reporting.tables import rows
from metassay.tables.names import FULL, NO_JUDGE

TOLERANCE = 0.005  # half a unit of the second decimal: the papers' tables print two
USED = ["split_or_section", "system_or_metric", "setting", "quantity", "value", "note"]

_COLUMNS = ["row", "column", "ours", "published", "difference", "note"]


class Cell(NamedTuple):
    """One printed number with ours; `ours` is None where it is undefined here."""

    row: str
    column: str
    ours: float | None
    published: float
    note: str  # what the transcriber of the table had to say


class Ours(NamedTuple):
    """The tables of those names that a comparison may take numbers from."""

    leaderboard: pd.DataFrame
    correlations: pd.DataFrame
    scores: pd.DataFrame
    ratings: pd.DataFrame
    facet_weights: pd.DataFrame


Compare = Callable[[pd.DataFrame, Ours], pd.DataFrame]


def correlation_values(
    correlations: pd.DataFrame, *, study: str, coefficient: str = "pearson"
) -> dict[tuple[str, str | None], float | None]:
    """Our correlation over all texts of each metric that needs no judge, by metric, criterion."""
    chosen = correlations[
        (correlations["study"] == study)
        & (correlations["part"] == FULL)
        & (correlations["judge"] == NO_JUDGE)
        & (correlations["level"] == "global")
        & (correlations["coefficient"] == coefficient)
    ]
    return {(m, c): value for m, c, value in rows(chosen, "metric", "criterion", "value")}


def macro_values(
    leaderboard: pd.DataFrame,
) -> dict[tuple[str | None, str | None, str | None], float | None]:
    """Our macro value by part, metric, author, of metrics that need no judge."""
    chosen = leaderboard[leaderboard["judge"] == NO_JUDGE]
    return {(p, m, a): v for p, m, a, v in rows(chosen, "part", "metric", "author", "macro")}


def as_frame(cells: list[Cell], *, reason: str, tolerance: float = TOLERANCE) -> pd.DataFrame:
    """The cells as a comparison's frame, with `reason` as the note of each that disagrees."""
    made = []
    for cell in cells:
        difference = None if cell.ours is None else round(cell.ours - cell.published, 12)
        made.append([*cell[:4], difference, _note(difference, cell.note, reason, tolerance)])
    frame = pd.DataFrame(made, columns=_COLUMNS)
    numbers = ["ours", "published", "difference"]
    return frame.astype({name: "float64" for name in numbers})


def _note(difference: float | None, transcription: str, reason: str, tolerance: float) -> str:
    if difference is None:
        return "Undefined here."
    if agrees(difference, tolerance):
        return ""
    return f"{reason} The transcribed row notes: {transcription}." if transcription else reason


def agrees(difference: float | None, tolerance: float = TOLERANCE) -> bool:
    """Whether ours rounds to the printed digits; `tolerance` is half a unit of the last one."""
    return difference is not None and abs(difference) <= tolerance + 1e-9


def read_printed(file: Path) -> pd.DataFrame:
    """A transcribed table, all columns as text; BadInput if it is absent or damaged.

    A `value` is a number, or empty.
    """
    restore = "restore it from the repository"
    if not file.is_file():
        wrong = "is no file" if file.exists() else "does not exist"
        raise BadInput(f"published: {file} {wrong}; {restore}")
    try:
        printed = pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8")
    except PermissionError:
        raise BadInput(f"published: {file} may not be read by you") from None
    except ValueError as error:  # pandas': neither a table nor UTF-8
        raise BadInput(f"published: {file} is damaged; {restore}") from error
    lacking = [name for name in USED if name not in printed.columns]
    if lacking:
        raise BadInput(f"published: {file} lacks the columns {lacking}; restore the file")
    no_number = pd.to_numeric(printed["value"], errors="coerce").isna() & (printed["value"] != "")
    if no_number.any():
        lines = ", ".join(str(row + 2) for row in printed.index[no_number])
        raise BadInput(f"published: {file}: row {lines}: `value` is no number; restore the file")
    return printed
