"""Forest plot: each metric's correlation with people, its interval, and the human ceiling."""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.reporting.figures.drawing import ACCENT, FAINT, INK, label
from metassay.reporting.names import metric_label
from metassay.reporting.views.section import Key, Row, best_first, by_criterion, titled

LEVEL = "global"
AT_MOST = 6  # criteria

_PER_ROW = 3
_BAND = "#f3e3bf"
_GREY = "#7b8794"


def draw(certificates: pd.DataFrame) -> Figure | None:
    """One panel per criterion, at LEVEL, the best metric on top; None without a row there.

    Dots are `value`, bars `low` to `high`; a dot is filled where the verdict tells it from 0. The
    band is the human ceiling's interval, from the row that rests on most texts where they differ.
    An undefined metric has a cross in the margin. Criteria after the first AT_MOST are left out.
    """
    every = by_criterion(certificates[certificates["level"] == LEVEL])
    if not every:
        return None
    criteria = every[:AT_MOST]
    n_columns = min(len(criteria), _PER_ROW)
    n_rows = math.ceil(len(criteria) / _PER_ROW)
    most = max(len(mine) for _, mine in criteria)
    longest = max(len(label(_label(row))) for _, mine in criteria for row in mine)
    figure = Figure(
        figsize=(n_columns * (0.07 * longest + 2.4), n_rows * (0.75 + 0.185 * most) + 0.4),
        layout=ConstrainedLayoutEngine(h_pad=0.1),
    )
    panels = figure.subplots(n_rows, n_columns, sharex=True, squeeze=False)
    several = len({study for (study, _, _), _ in criteria}) > 1
    for index, axes in enumerate(panels.flat):
        if index < len(criteria):
            key, mine = criteria[index]
            _panel(axes, sorted(mine, key=_rank), most)
            axes.set_title(label(_title(key, several=several)), loc="left")
        else:
            axes.set_visible(False)
    figure.supxlabel(_note(criteria, len(every)), fontsize=8, x=0.01, ha="left")
    return figure


def _label(row: Row) -> str:
    return metric_label(row["metric"], row["judge"])


def _rank(row: Row) -> tuple[tuple[bool, float], str]:
    return best_first(row["value"]), _label(row)


def _title(key: Key, *, several: bool) -> str:
    return f"{key[0]}: {titled(key)}" if several else titled(key)


def _note(criteria: list[tuple[Key, list[Row]]], n_criteria: int) -> str:
    coefficients = " or ".join(sorted({row["coefficient"] for _, mine in criteria for row in mine}))
    lines = [
        f"dot: {coefficients}, all texts pooled, filled where the verdict tells it from 0;"
        " bar: bootstrap interval; x: undefined",
        "line at 0: nothing in common with people; band: one rater against the others",
    ]
    if n_criteria > len(criteria):
        lines[1] += f"; the first {len(criteria)} of {n_criteria} criteria"
    return "\n".join(lines)


def _panel(axes: Axes, mine: list[Row], most: int) -> None:
    _ceiling(axes, mine)
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    for y, row in enumerate(mine):
        axes.axhline(y, color=FAINT, linewidth=0.4, zorder=0)
        value, low, high = row["value"], row["low"], row["high"]
        if value is None:
            axes.plot([0.03], [y], "x", color=_GREY, transform=axes.get_yaxis_transform())
            continue
        sure = row["verdict"] != "not shown"
        if low is not None and high is not None:
            axes.plot([low, high], [y, y], "-", color=ACCENT, linewidth=2.2, alpha=0.45)
        face = ACCENT if sure else "white"
        axes.plot([value], [y], "o", color=ACCENT, markerfacecolor=face, markersize=4.5)
    axes.set_yticks(range(len(mine)), labels=[label(_label(row)) for row in mine])
    axes.set_ylim(most - 0.5, -0.5)  # equal lines in every panel
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelbottom=True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _ceiling(axes: Axes, mine: list[Row]) -> None:
    found = [row for row in mine if row["ceiling"] is not None]
    if not found:
        return
    row = max(found, key=lambda row: (row["n"], row["metric"], row["judge"]))
    if row["ceiling_low"] is not None and row["ceiling_high"] is not None:
        axes.axvspan(row["ceiling_low"], row["ceiling_high"], color=_BAND, linewidth=0, zorder=0)
    axes.axvline(row["ceiling"], color="#a87b1f", linewidth=1.1, zorder=1)
