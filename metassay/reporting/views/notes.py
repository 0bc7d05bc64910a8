"""What stages did about the data that its owner should know: the notes, by stage."""

from collections.abc import Mapping

import pandas as pd

from metassay.parquet import empty
from metassay.reporting.numbers import counted
from metassay.reporting.views.section import Cell, Grid, Group, Section
from metassay.tables.notes import NOTES

OPEN = 5  # so many stand open on the page; more are behind a line that opens them


def notes_table(notes: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tables NOTES by stage as one, in that order."""
    return pd.concat([empty(NOTES), *notes.values()], ignore_index=True)


def notes_section(table: pd.DataFrame) -> Section | None:
    """Every note and which stage said it; None if there is none."""
    if table.empty:
        return None
    said = table.groupby("stage", sort=False).size()
    rows = [
        (str(stage), [Cell(str(note))])
        for stage, note in zip(table["stage"], table["note"], strict=True)
    ]
    group = Group(
        counted(len(table), "note"),
        ", ".join(f"{stage} {count:,}" for stage, count in said.items()),
        [Grid("", ["stage", "note"], rows, sort=False)],
        open=len(table) <= OPEN,
    )
    return Section(
        "notes",
        "Notes on the data",
        ["What stages did about the data that you should know. None of it stopped the run."],
        ["notes"],
        groups=[group],
    )
