"""History: each system's mean on each main metric, run by run, with its bootstrap interval."""

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.reporting.figures.drawing import FAINT, GREY, INK, label
from metassay.reporting.names import ARROWS, Metric, headline_metrics, sorted_authors
from metassay.reporting.tables import records
from metassay.tables.names import metric_label

_PER_ROW = 3
# Paul Tol's bright colours, dark enough for lines, and markers for those who tell no colours apart.
_LINES = ("#4477aa", "#aa3377", "#228833", "#997700", "#ee6677", "#0e7c93", "#555555", "#000000")
_MARKERS = "osD^vPX*"
_TICKS = 3

_Row = dict[str, Any]


def draw(means: pd.DataFrame) -> Figure | None:
    """One panel per main metric, one line per author over the runs; None without a value.

    `means` is table HISTORY_MEANS; runs are equally far apart. Bars are bootstrap intervals. A line
    is broken where the recipe is another than before: such numbers are not compared. A ring marks a
    mean that had regressed from the accepted one.
    """
    runs = sorted(set(means["run"]))
    places = {run: place for place, run in enumerate(runs)}
    rows = [row | {"x": places[row["run"]]} for row in records(means) if row["mean"] is not None]
    if not rows:
        return None
    metrics = headline_metrics({(row["metric"], row["judge"]) for row in rows})
    authors = sorted_authors(row["author"] for row in rows)
    n_columns = min(len(metrics), _PER_ROW)
    n_rows = math.ceil(len(metrics) / _PER_ROW)
    figure = Figure(
        figsize=(2.9 * n_columns, 1.9 * n_rows + 0.45),
        layout=ConstrainedLayoutEngine(h_pad=0.1),
    )
    panels = figure.subplots(n_rows, n_columns, squeeze=False)
    for index, axes in enumerate(panels.flat):
        if index < len(metrics):
            _panel(axes, rows, metrics[index], authors)
            _dates(axes, runs)
        else:
            axes.set_visible(False)
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        loc="outside upper left",
        ncols=4,
        frameon=False,
        fontsize=8,
        handlelength=2.4,
    )
    note = "bar: bootstrap interval; ring: regressed from accepted mean; broken line: other recipe"
    figure.supxlabel(note, fontsize=8, x=0.01, ha="left")
    return figure


def _panel(axes: Axes, rows: list[_Row], metric: Metric, authors: list[str]) -> None:
    mine = [row for row in rows if (row["metric"], row["judge"]) == metric]
    for place, author in enumerate(authors):
        line = [row for row in mine if row["author"] == author]
        look: dict[str, Any] = {
            "color": _LINES[place % len(_LINES)],
            "marker": _MARKERS[place % len(_MARKERS)],
        }
        axes.plot([], [], "-", label=label(author), markersize=4, **look)  # of the legend
        for piece in _by_recipe(line):
            at, values = [row["x"] for row in piece], [row["mean"] for row in piece]
            axes.plot(at, values, "-", linewidth=1.3, markersize=4, **look)
            bars = [row for row in piece if row["low"] is not None and row["high"] is not None]
            axes.vlines(
                [row["x"] for row in bars],
                [row["low"] for row in bars],
                [row["high"] for row in bars],
                color=look["color"],
                alpha=0.35,
                linewidth=1.6,
            )
        fell = [row for row in line if row["verdict"] == "regressed"]
        axes.plot(
            [row["x"] for row in fell],
            [row["mean"] for row in fell],
            "o",
            markersize=9,
            markerfacecolor="none",
            markeredgecolor=INK,
        )
    arrow = ARROWS[str(mine[0]["better"])]
    axes.set_title(label(f"{metric_label(*metric)} {arrow}".strip()), loc="left")
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _by_recipe(line: list[_Row]) -> list[list[_Row]]:
    pieces: list[list[_Row]] = []
    for row in sorted(line, key=lambda one: one["x"]):
        if not pieces or pieces[-1][-1]["recipe"] != row["recipe"]:
            pieces.append([])
        pieces[-1].append(row)
    return pieces


def _dates(axes: Axes, runs: list[str]) -> None:
    """Runs in equal steps, since a history may have several on one day; few of their dates."""
    step = max(1, math.ceil((len(runs) - 1) / (_TICKS - 1)))
    shown = range(len(runs) - 1, -1, -step)
    axes.set_xticks(list(shown), labels=[runs[place][:10] for place in shown])
    axes.set_xlim(-0.5, len(runs) - 0.5)
    axes.tick_params(axis="x", labelsize=7, colors=GREY)
