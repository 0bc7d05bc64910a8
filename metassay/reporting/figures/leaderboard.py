"""Dot plot: each author's mean on each main metric, with its bootstrap interval."""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.reporting.figures.drawing import ACCENT, FAINT, label
from metassay.reporting.names import (
    ARROWS,
    Metric,
    headline_metrics,
    sorted_authors,
    sorted_parts,
)
from metassay.reporting.tables import rows
from metassay.tables.names import metric_label

_PER_ROW = 4


def draw(leaderboard: pd.DataFrame) -> Figure | None:
    """One panel per metric, one line per author, for the whole text; None without a value.

    Dots are `macro`, bars `low` to `high`; an author without a value has a cross in the margin.
    """
    if leaderboard.empty:
        return None
    part = sorted_parts(leaderboard["part"])[0]
    whole = leaderboard[leaderboard["part"] == part]
    metrics = headline_metrics(zip(whole["metric"], whole["judge"], strict=True))
    authors = sorted_authors(whole["author"])
    n_rows = math.ceil(len(metrics) / _PER_ROW)
    n_columns = min(len(metrics), _PER_ROW)
    names = [label(author) for author in authors]
    figure = Figure(
        figsize=(
            0.6 + 0.075 * max(map(len, names)) + 2.05 * n_columns,
            n_rows * (0.85 + 0.21 * len(authors)),
        ),
        layout=ConstrainedLayoutEngine(h_pad=0.12),
    )
    panels = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False)
    for index, axes in enumerate(panels.flat):
        if index < len(metrics):
            _panel(axes, whole, metrics[index], authors)
        else:
            axes.set_visible(False)
    panels[0, 0].set_yticks(range(len(authors)), labels=names)
    panels[0, 0].set_ylim(len(authors) - 0.5, -0.5)
    note = f"dot: mean over documents; bar: its bootstrap interval; x: undefined ({part} texts)"
    figure.supxlabel(note, fontsize=8, x=0.01, ha="left")
    return figure


def _panel(axes: Axes, whole: pd.DataFrame, metric: Metric, authors: list[str]) -> None:
    mine = whole[(whole["metric"] == metric[0]) & (whole["judge"] == metric[1])]
    places = {author: place for place, author in enumerate(authors)}
    for author, macro, low, high in sorted(
        rows(mine, "author", "macro", "low", "high"), key=lambda row: places[row[0]]
    ):
        y = places[author]
        if macro is None:
            axes.plot([0.02], [y], "x", color="#7b8794", transform=axes.get_yaxis_transform())
            continue
        if low is not None and high is not None:
            axes.plot([low, high], [y, y], "-", color=ACCENT, linewidth=2.2, alpha=0.45)
        axes.plot([macro], [y], "o", color=ACCENT, markersize=4.5)
    if mine["macro"].nunique() < 2:
        axes.set_xlim(-0.05, 1.05)  # nothing to scale the axis by; shares run from 0 to 1
    arrow = ARROWS[str(mine["better"].iloc[0])]
    axes.set_title(label(f"{metric_label(*metric)} {arrow}".strip()), loc="left")
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    for line in range(len(authors)):
        axes.axhline(line, color=FAINT, linewidth=0.4, zorder=0)
