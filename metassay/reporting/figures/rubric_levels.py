"""Stacked bars: how often each level of a rubric was given, by criterion, judge and author."""

import math
from typing import Any

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.reporting.figures.drawing import INK, label
from metassay.reporting.names import sorted_authors
from metassay.reporting.tables import records

AT_MOST = 12  # criteria, each of one judge

_PER_ROW = 3
_NARROW = 0.09  # of the bar: here a level's number would not fit
_DARK = 0.6

Panel = tuple[str, str, str]  # rubric, criterion, judge


def draw(levels: pd.DataFrame) -> Figure | None:
    """One panel per criterion and judge, one bar per author; None without a grade.

    A piece's length is the `share` of the texts with this grade, its number the grade; the darker,
    the better. Criteria after the first AT_MOST are left out.
    """
    panels: dict[Panel, list[dict[str, Any]]] = {}
    for row in records(levels):
        panels.setdefault((row["rubric"], row["criterion"], row["judge"]), []).append(row)
    if not panels:
        return None
    chosen = list(panels)[:AT_MOST]
    authors = sorted_authors(row["author"] for key in chosen for row in panels[key])
    names = [label(author) for author in authors]
    columns = min(len(chosen), _PER_ROW)
    n_rows = math.ceil(len(chosen) / columns)
    figure = Figure(
        figsize=(
            0.6 + 0.075 * max(map(len, names)) + 3.1 * columns,
            0.4 + n_rows * (0.7 + 0.26 * len(names)),
        ),
        layout=ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.08),
    )
    found = figure.subplots(n_rows, columns, sharey=True, squeeze=False)
    for place, axes in enumerate(found.flat):
        if place >= len(chosen):
            axes.set_visible(False)
            continue
        _panel(axes, panels[chosen[place]], authors)
        rubric, criterion, judge = chosen[place]
        axes.set_title(f"{label(f'{rubric}: {criterion}')}\n{label(judge)}", loc="left")
    for axes in found[:, 0]:
        axes.set_yticks(range(len(names)), labels=names)
    found[0, 0].set_ylim(len(names) - 0.5, -0.5)
    note = "share of texts with each grade (its number); the darker, the better"
    if len(panels) > len(chosen):
        note += f"; the first {len(chosen)} of {len(panels)} criteria and judges"
    figure.supxlabel(note, fontsize=8, x=0.01, ha="left")
    return figure


def _panel(axes: Axes, mine: list[dict[str, Any]], authors: list[str]) -> None:
    low = mine[0]["low"]
    known = mine[0]["high"]
    high = max(row["grade"] for row in mine) if known is None else known
    left = dict.fromkeys(authors, 0.0)
    for row in mine:  # by grade, the lowest first
        y, share = authors.index(row["author"]), row["share"]
        place = (row["grade"] - low) / (high - low) if high > low else 1.0
        good = place if row["better"] == "higher" else 1 - place
        colour = colormaps["Blues"](0.08 + 0.8 * min(max(good, 0.0), 1.0))
        start = left[row["author"]]
        axes.barh(y, share, 0.74, start, color=colour, edgecolor="white", linewidth=0.8)
        if share >= _NARROW:
            ink = "white" if good > _DARK else INK
            text = axes.text(start + share / 2, y, f"{row['grade']:g}", ha="center", va="center")
            text.set(color=ink, fontsize=8)
        left[row["author"]] = start + share
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], labels=["0 %", "50 %", "100 %"])
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
