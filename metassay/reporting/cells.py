"""The cells of a comparison: a printed number, ours, and whether they agree."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import BadInput
from metassay.format.frames import rows
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


# DocLens's tables: what its systems and sections are called here, and its scores of metrics.

# Its own outputs of GPT-3.5 and GPT-4 (all rows of tables 20 to 27 with a number of shots, but not
# "Reported ...") were not released: what is called chatgpt and gpt4 here are other texts.
AUTHORS = {
    ("BART + SAMSum FT", "full"): "bart_samsum_full",
    ("BART + SAMSum FT", "section"): "bart_samsum_section",
    ("BioBART", "full"): "biobart_full",
    ("BioBART", "section"): "biobart_section",
    ("ChatGPT", "full"): "chatgpt",
    ("GPT-4", "full"): "gpt4",
    ("Reported GPT-3.5-turbo", "full, 0-shot"): "chatgpt",
    ("Reported GPT-4", "full, 0-shot"): "gpt4",
}
SECTIONS = {
    "full note": FULL,
    "Subjective": "subjective",
    "Objective-Exam": "objective_exam",
    "Objective-Results": "objective_results",
    "Assessment and Plan": "assessment_and_plan",
}
_NOT_EXPECTED = (
    "Unexpected: the same texts under rouge-score 0.1.2 without stemming gave the printed digits."
    " Look for another version, other texts, or another segmentation."
)


def compare_scores(metrics: dict[str, str]) -> Compare:
    """100 x our macro value of the metric that stands for each printed quantity."""

    def compare(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
        ours = macro_values(tables.leaderboard)
        cells = []
        for section, system, setting, quantity, value, note in rows(printed, *USED):
            author = AUTHORS.get((system, setting))
            key = (SECTIONS.get(section), metrics.get(quantity), author)
            if key in ours:
                number = ours[key]
                row = f"{system}, {setting}"
                column = quantity if section == "full note" else f"{section} {quantity}"
                scaled = None if number is None else 100 * number
                cells.append(Cell(row, column, scaled, float(value), note))
        return as_frame(cells, reason=_NOT_EXPECTED)

    return compare
