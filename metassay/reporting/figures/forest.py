"""Forest plot: each metric's correlation with people, its intervals, and one rater's own."""

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.reporting.best import ranked
from metassay.reporting.figures.drawing import ACCENT, FAINT, GREY, INK, label
from metassay.reporting.numbers import short
from metassay.reporting.views.section import Key, Row, by_criterion, titled
from metassay.reporting.words import COEFFICIENT_NAMES
from metassay.tables.names import metric_label

LEVEL = "global"
AT_MOST = 6  # criteria

_PER_ROW = 3
_PALE = "#a9c5e6"
_RATER = "#a8650f"


def draw(certificates: pd.DataFrame, *, useful: float) -> Figure | None:
    """One panel per criterion, at LEVEL, the best verdict on top; None without a row there.

    Dots are `value`, filled where the metric may be used, half where it is promising; pale bars
    `low` to `high`, dark lines the interval for these systems. A line stands at the rater's own
    correlation, from the row that rests on most texts where they differ, a dotted one at `useful`.
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
        figsize=(n_columns * (0.07 * longest + 2.4), n_rows * (0.75 + 0.185 * most) + 0.6),
        layout=ConstrainedLayoutEngine(h_pad=0.1),
    )
    panels = figure.subplots(n_rows, n_columns, sharex=True, squeeze=False)
    several = len({study for (study, _, _), _ in criteria}) > 1
    for index, axes in enumerate(panels.flat):
        if index < len(criteria):
            key, mine = criteria[index]
            _panel(axes, ranked(mine), most, useful)
            axes.set_title(label(_title(key, several=several)), loc="left")
        else:
            axes.set_visible(False)
    figure.supxlabel(_note(criteria, len(every), useful), fontsize=8, x=0.01, ha="left")
    return figure


def _label(row: Row) -> str:
    return metric_label(row["metric"], row["judge"])


def _title(key: Key, *, several: bool) -> str:
    return f"{key[0]}: {titled(key)}" if several else titled(key)


def _note(criteria: list[tuple[Key, list[Row]]], n_criteria: int, useful: float) -> str:
    found = {COEFFICIENT_NAMES[row["coefficient"]] for _, mine in criteria for row in mine}
    lines = [
        f"dot: {' or '.join(sorted(found))} over all texts; filled dot: a metric to use;"
        " half-filled: promising; x: undefined",
        "pale bar: interval for other systems and documents; dark line: interval for these systems",
    ]
    marks = f"dotted: {short(useful)}, a useful correlation"
    if any(row["rater"] is not None for _, mine in criteria for row in mine):
        marks += "; dashed: one rater with the mean of the others"
    lines.append(marks)
    if n_criteria > len(criteria):
        lines[-1] += f"; the first {len(criteria)} of {n_criteria} criteria"
    return "\n".join(lines)


def _panel(axes: Axes, mine: list[Row], most: int, useful: float) -> None:
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    axes.axvline(useful, color=GREY, linewidth=0.9, linestyle=":", zorder=1)
    _rater(axes, mine)
    for y, row in enumerate(mine):
        axes.axhline(y, color=FAINT, linewidth=0.4, zorder=0)
        value = row["value"]
        if value is None:
            axes.plot([0.03], [y], "x", color=GREY, transform=axes.get_yaxis_transform())
            continue
        wide = (row["low"], row["high"])
        these = (row["low_these_systems"], row["high_these_systems"])
        if None not in wide:
            axes.plot(wide, [y, y], "-", color=_PALE, linewidth=4.0, solid_capstyle="butt")
        if None not in these:
            axes.plot(these, [y, y], "-", color=ACCENT, linewidth=1.1)
        axes.plot([value], [y], "o", color=ACCENT, markersize=4.8, **_fill(row))
    axes.set_yticks(range(len(mine)), labels=[label(_label(row)) for row in mine])
    axes.set_ylim(most - 0.5, -0.5)  # equal lines in every panel
    axes.set_xlim(-1.03, 1.03)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], labels=["−1", "−.5", "0", ".5", "1"])
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelbottom=True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _fill(row: Row) -> dict[str, Any]:
    if row["trusted"]:
        return {"markerfacecolor": ACCENT}
    style = "left" if row["verdict"] == "promising" else "full"
    face = ACCENT if style == "left" else "white"
    return {"fillstyle": style, "markerfacecolor": face, "markerfacecoloralt": "white"}


def _rater(axes: Axes, mine: list[Row]) -> None:
    found = [row for row in mine if row["rater"] is not None]
    if found:
        row = max(found, key=lambda row: (row["n"], row["metric"], row["judge"]))
        axes.axvline(row["rater"], color=_RATER, linewidth=1.2, linestyle="--", zorder=1)
