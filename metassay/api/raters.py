"""The table `raters`: how each person rated, in means and standard deviations."""

from collections.abc import Iterator

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from metassay.api.reading import EVERYBODY
from metassay.format.frames import records
from metassay.format.numbers import shown, shown_interval
from metassay.meta_evaluation.agreement import ALL
from metassay.tables.names import REFERENCE

_STUDIED = ["study", "criterion", "part"]
COLUMNS = [*_STUDIED, "rater", "author", "n", "mean", "sd"]


def rater_means(ratings: pd.DataFrame) -> pd.DataFrame:
    """One row per study, criterion, part, rater and system; `(all)` is over all of either.

    `ratings`: the table of that name, whole texts only. `n` counts ratings; `mean` and `sd` are on
    the criterion's own scale, as rated; `sd` has the denominator n - 1, and is missing where n is
    1. Rows without a value and the reference's own ratings are left out.
    """
    rated = ratings[ratings["value"].notna() & (ratings["author"] != REFERENCE)]
    views = [
        rated.assign(**{name: EVERYBODY for name in over})
        for over in ([], ["author"], ["rater"], ["rater", "author"])
    ]
    keys = COLUMNS[:5]
    found = pd.concat(views).groupby(keys, sort=True)["value"].agg(["count", "mean", "std"])
    return found.reset_index().set_axis(COLUMNS, axis=1)


def show_raters(tables: dict[str, pd.DataFrame], console: Console) -> None:
    """Print the raters' means and their agreement, a board per criterion."""
    agreement = tables["agreement"]
    for key, rows in tables["raters"].groupby(_STUDIED, sort=True):
        study, criterion, part = (str(name) for name in key)
        board = RichTable(
            Column("rater", overflow="fold"),
            Column("n", justify="right"),
            Column("mean", justify="right"),
            Column("SD (n − 1)", justify="right"),
            box=SIMPLE_HEAD,
            pad_edge=False,
            title=Text(f"{criterion}, {part}, {study}"),
            title_justify="left",
        )
        for row in records(rows[rows["author"] == EVERYBODY]):
            cells = (row["rater"], f"{row['n']:,}", shown(row["mean"]), shown(row["sd"]))
            board.add_row(*map(Text, cells))
        console.print(board)
        mine = agreement[(agreement["study"] == study) & (agreement["criterion"] == criterion)]
        for line in _lines(mine):
            console.print(line, markup=False, highlight=False)


def _lines(agreement: pd.DataFrame) -> Iterator[str]:
    together = agreement[(agreement["rater_a"] == ALL) & (agreement["rater_b"] == ALL)]
    if together.empty:
        yield "No text has two raters, so there is no agreement.\n"
        return
    yield "All raters together [interval]:"
    for row in records(together):
        ends = shown_interval(row["low"], row["high"])
        value = shown(row["value"]) or "undefined"
        yield f"  {row['coefficient']} {value} {ends}, n = {row['n']:,}".replace(" ,", ",")
    yield ""
