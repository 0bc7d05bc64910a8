"""Parts of the answer of `judge_check` that all kinds of labels share: cells and sentences."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from metassay.api.label_tables import TOO_FEW, WHOLE
from metassay.format.frames import records
from metassay.format.numbers import short, short_interval

LINES, WIDE = 20, 80  # size of the first screen
JUDGES, IDS = 3, 5  # shown there at most

Tables = Mapping[str, pd.DataFrame]


def rows_of(tables: Tables, table: str, judge: str) -> list[dict[str, Any]]:
    """Return a judge's rows of a table, those of all items and not of slices."""
    rows = records(tables[table]) if table in tables else []
    return [
        row
        for row in rows
        if row["judge"] == judge and row.get("slice", WHOLE) == WHOLE
    ]


def rows_by(
    key: str, tables: Tables, table: str, judge: str
) -> dict[str, dict[str, Any]]:
    """Return the same rows by the value of a column."""
    return {row[key]: row for row in rows_of(tables, table, judge)}


def cell_of(row: Mapping[str, Any]) -> str:
    """Return a value with its interval, or why there is none."""
    if row.get("refused"):
        return "refused"
    if row["value"] is None:
        if row["why_blank"].startswith(TOO_FEW):
            return TOO_FEW
        return "not given" if "method" in row and row["why_blank"] else "undefined"
    cell = f"{short(row['value'])} {short_interval(row['low'], row['high'])}"
    return cell.strip().replace("1.00", "1")


def wrap(line: str) -> list[str]:
    """Return a sentence as lines of the screen."""
    return textwrap.wrap(line, WIDE, subsequent_indent="  ", break_on_hyphens=False)


def one_line(line: str) -> str:
    """Return a sentence cut to one line of the screen."""
    return textwrap.shorten(line, WIDE, placeholder=" …")


def shorten(name: str) -> str:
    """Return a name of at most 15 characters."""
    return name if len(name) < 16 else f"{name[:14]}…"


def board_line(name: str, cells: Iterable[str]) -> str:
    """Return a line of the board: a name, and cells of 15 characters."""
    return f"{shorten(name):<16}{''.join(f'{cell:<15} ' for cell in cells)}".rstrip()


def may_replace(tables: Tables) -> str:
    """Say whether each judge may replace a rater, by the alternative annotator test."""
    lead, judges = "May it replace a rater?", records(tables["replacement"])
    first = judges[0]
    if not (raters := first["n_raters"]):
        return (
            f"{lead} Unknown: that takes rows with labels by two people, better three."
        )
    parts = []
    for row in judges[:JUDGES]:
        contests = rows_of(tables, "contests", row["judge"])
        wins, old = (
            sum(contest[k] for contest in contests) for k in ("wins", "wins_published")
        )
        differs = row["winning_rate_published"] is not None and old != wins
        published = f", {old} by the published test" if differs else ""
        passes = (
            f"{'yes' if row['passes'] else 'not shown'}, as good as {wins} of {raters}"
        )
        advantage = f"advantage {short(row['advantage'])}"
        parts.append(f"{shorten(row['judge'])}: {passes}{published}, {advantage}")
    guess = (
        " So may one that knows only the base rate."
        if first["base_rate_passes"]
        else ""
    )
    few = " Two raters are few." if raters == 2 else ""
    return f"{lead} {'; '.join(parts)} (epsilon {short(first['epsilon'])}).{guess}{few}"


def name_disagreements(tables: Tables, judge: str, n: int) -> Iterator[str]:
    """Say on how many of `n` rows a judge and people differ, and on which the most."""
    if wrong := rows_of(tables, "disagreements", judge):
        many = f"{len(wrong):,} of {n:,}"
        ids = ", ".join(str(row["id"]) for row in wrong[:IDS])
        yield one_line(
            f"Disagreements of {shorten(judge)}: {many}, the surest first: {ids}"
        )
