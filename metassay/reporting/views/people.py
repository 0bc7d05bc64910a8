"""What people gave: means with intervals, by system, by rater and in all."""

import pandas as pd

from metassay.reporting.names import sorted_authors
from metassay.reporting.numbers import counted, shown
from metassay.reporting.tables import rows
from metassay.reporting.views.section import (
    FEW,
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Key,
    Row,
    Section,
    by_criterion,
    number,
    titled,
)


def people_section(summaries: pd.DataFrame, violins: pd.DataFrame) -> Section | None:
    """Authors by criterion, one table per study; None without ratings.

    `summaries` is table rating_summaries; `violins`, `violins.violins` of the ratings, is what the
    figure draws, on a scale on which 1 is best.
    """
    if summaries.empty:
        return None
    of_authors = by_criterion(summaries[summaries["of"] == "author"])
    studies = list(dict.fromkeys(key[0] for key, _ in of_authors))
    return Section(
        "people",
        "What people gave",
        [
            *_highest(violins),
            "Below each mean stand its interval, for other documents and the same systems and"
            " raters, the standard deviation of the ratings (divided by n), and how many ratings it"
            " rests on. The figure has every criterion on one scale, from its worst end to its"
            " best, and shows how far each mean would move with other documents: the narrower, the"
            " surer.",
        ],
        ["rating_summaries", *([] if violins.empty else ["rating_violins"])],
        groups=[
            *(_study(study, of_authors, is_open=place == 0) for place, study in enumerate(studies)),
            _raters(summaries[summaries["of"] != "author"]),
        ],
        figure="violins",
    )


def _highest(violins: pd.DataFrame) -> list[str]:
    """Per criterion the system with the best mean, where there are several systems."""
    said = []
    found = by_criterion(violins)
    several = len({key[0] for key, _ in found}) > 1
    for key, mine in found:
        best = max(mine, key=lambda row: (row["mean"], row["author"]))
        if len(mine) > 1:
            # Its interval stands in the table alone: the figure's is another estimate of it.
            study = f"{key[0]}, " if several else ""
            said.append(f"{study}{titled(key)}: {best['author']} with {shown(best['mean'])}")
    if not said:
        return []
    more = f"; and {len(said) - FEW} more in the tables" if len(said) > FEW else ""
    return [f"Rated best, on scales from 0 to 1: {'; '.join(said[:FEW])}{more}."]


def _study(study: str, found: list[tuple[Key, list[Row]]], *, is_open: bool) -> Group:
    mine = [(key, of_key) for key, of_key in found if key[0] == study]
    cells = {(row["name"], key): row for key, of_key in mine for row in of_key}
    keys = [key for key, _ in mine]
    lines = [
        (author, [_cell(cells.get((author, key))) for key in keys])
        for author in sorted_authors(author for author, _ in cells)
    ]
    grid = Grid("Mean rating of each author", ["author", *map(titled, keys)], lines)
    return Group(
        study,
        counted(len(keys), "criterion") if len(keys) == 1 else f"{len(keys)} criteria",
        [grid],
        open=is_open,
    )


def _raters(summaries: pd.DataFrame) -> Group:
    """All ratings of systems' texts together, and each rater's."""
    lines = []
    for key, mine in by_criterion(summaries):
        for row in sorted(mine, key=lambda row: (row["of"] != "all", row["name"])):
            whose = "all raters" if row["of"] == "all" else row["name"]
            lines.append((f"{key[0]}: {titled(key)}, {whose}", [_cell(row)]))
    raters = {name for of, name in rows(summaries, "of", "name") if of == "rater"}
    grid = Grid("", ["whose", "mean rating"], lines)
    return Group("By rater", counted(len(raters), "rater"), [grid])


def _cell(row: Row | None) -> Cell:
    if row is None:
        return NOT_COMPUTED
    without = f", {row['n_missing']:,} without a value" if row["n_missing"] else ""
    spread = f"SD {shown(row['sd'])}" if row["sd"] is not None else ""
    return number(
        row["mean"], spread, f"n = {row['n']:,}{without}", low=row["low"], high=row["high"]
    )
