"""Single numbers of ours beside single printed numbers, and their difference."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.format.frames import records, rows
from metassay.format.numbers import counted
from metassay.format.prose import join_lines
from metassay.reporting.page import ExtraTables
from metassay.reporting.published.printed import read_all
from metassay.reporting.table_words import NO_CELL, TableWords
from metassay.tables.names import FULL, NO_JUDGE

Row = dict[str, Any]  # a row of a printed table, by column
Number = float | None  # None: undefined
Numbers = Mapping[Hashable, Number]  # of ours, by whatever a paper's module keys them


class Ours(NamedTuple):
    """The tables of these names that a comparison may take our numbers from."""

    leaderboard: pd.DataFrame
    correlations: pd.DataFrame
    scores: pd.DataFrame
    ratings: pd.DataFrame
    facet_weights: pd.DataFrame


class Place(NamedTuple):
    """Where a printed number stands, and the key of ours that it stands beside."""

    row: str
    column: str
    key: Hashable


@dataclass(frozen=True, kw_only=True)
class CellComparison:
    """A printed table whose cells we compute too.

    Parameters
    ----------
    title
        The paper and the table.
    files
        Files of `reports/published/`.
    says
        What is compared with what. Line breaks count as blanks.
    reason
        Why a number of ours differs from the printed one, if it does.
    numbers
        Our numbers.
    place
        Where the number of a printed row stands, and beside which of ours.
    decimals
        As printed.
    all_numbers
        Our numbers of all documents, if `numbers`, like the printed ones, are of some.
    """

    title: str
    files: Sequence[str]
    says: str
    reason: str
    numbers: Callable[[Ours], Numbers]
    place: Callable[[Row], Place]
    decimals: int = 2
    all_numbers: Callable[[Ours], Numbers] | None = None

    def add_to(
        self, compared: ExtraTables, name: str, folder: Path, ours: Ours
    ) -> None:
        """Add the cells as a table: row, column, ours, published, difference, note.

        `difference` is ours less the printed number, and `note` why they differ.
        `ours_all` is there if `all_numbers` is.
        """
        printed = read_all(folder, self.files)
        cells = self._cells(ours, records(printed))
        n_not_run = int((printed["value"] != "").sum()) - len(cells)
        summary = _summarise(cells, n_not_run, self.decimals)
        table = f"published_{name}"
        compared.tables[table] = cells
        says = [join_lines(self.says), summary, "Nothing is tuned to agree."]
        compared.words[table] = replace(
            _WORDS, title=self.title, says="\n\n".join(says)
        )

    def _cells(self, ours: Ours, printed: Sequence[Row]) -> pd.DataFrame:
        numbers = self.numbers(ours)
        of_all_documents = self.all_numbers(ours) if self.all_numbers else {}
        cells = []
        for line in printed:
            row, column, key = self.place(line)
            if key not in numbers:
                continue
            number, published = numbers[key], float(line["value"])
            difference = None if number is None else round(number - published, 12)
            cells.append(
                {
                    "row": row,
                    "column": column,
                    "ours": number,
                    "published": published,
                    "difference": difference,
                    "note": self._note(difference, line["note"]),
                    "ours_all": of_all_documents.get(key),
                }
            )
        columns = ["row", "column", "ours", "published", "difference", "note"]
        real = ["ours", "published", "difference", "ours_all"]
        frame = pd.DataFrame(cells, columns=[*columns, "ours_all"])
        frame = frame.astype(dict.fromkeys(real, "float64"))
        return frame if self.all_numbers else frame[columns]

    def _note(self, difference: Number, transcription: str) -> str:
        if difference is None:
            return "Undefined here."
        if agrees(difference, _half_a_digit(self.decimals)):
            return ""
        note = join_lines(self.reason)
        # Notes on the rows of ScholarSum's table are labels.
        if transcription and not self.all_numbers:
            note += f" The transcribed row notes: {transcription}."
        return note


def agrees(difference: Number, tolerance: float = 0.005) -> bool:
    """Whether ours rounds to the printed digits; `tolerance` is half a unit of the last one."""
    return difference is not None and abs(difference) <= tolerance + 1e-9


def _half_a_digit(decimals: int) -> float:
    return 0.5 * 10.0**-decimals


def _summarise(cells: pd.DataFrame, n_not_run: int, decimals: int) -> str:
    """Say how many cells agree, the largest difference, and what has no counterpart."""
    if cells.empty:
        return f"None of its {counted(n_not_run, 'cell')} was computed here."
    differences = cells.set_index(["row", "column"])["difference"].dropna()
    tolerance = _half_a_digit(decimals)
    n_same = sum(agrees(difference, tolerance) for difference in differences)
    summary = f"{n_same} of {counted(len(cells), 'cell')} equal the printed digits"
    if len(differences):
        cell = int(differences.abs().argmax())
        most, place = differences.iloc[cell], ", ".join(differences.index[cell])
        summary += f"; the largest difference is {most:+.{decimals + 1}f} ({place})"
    others = (
        f" {counted(n_not_run, 'published cell')} of metrics or systems not run here"
    )
    return f"{summary}.{others} are left out." if n_not_run else f"{summary}."


# How the page shows these tables; reporting/table_words.py explains the fields.
_WORDS = TableWords(
    group="Published numbers",
    pick=(),
    lead=("row", "column"),
    cell=NO_CELL,
    columns={
        "row": "as in the paper’s table",
        "column": "as in the paper’s table",
        "ours": "our number",
        "published": "the printed number",
        "difference": "ours less the printed one",
        "note": "why they differ",
        "ours_all": "ours of all documents, where the print is of some",
    },
)


# ---- numbers that several papers print ----------------------------------------------------


def read_correlations(ours: Ours, study: str) -> dict[Hashable, Number]:
    """Return correlations over all texts, by coefficient, metric and criterion.

    Only metrics that need no judge are among them.
    """
    table = ours.correlations
    table = table[
        (table["study"] == study)
        & (table["part"] == FULL)
        & (table["judge"] == NO_JUDGE)
        & (table["level"] == "global")
    ]
    columns = ("coefficient", "metric", "criterion", "value")
    return {tuple(key): value for *key, value in rows(table, *columns)}
