"""Where the agreement lies: each metric's correlation between systems, documents and texts."""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.reporting.figures.drawing import ACCENT, FAINT, GREY, INK, label
from metassay.reporting.names import Metric, sorted_metrics
from metassay.reporting.numbers import per_cent
from metassay.reporting.views.section import Key, Row, by_criterion, titled
from metassay.reporting.words import COEFFICIENT_NAMES, COMPONENTS
from metassay.tables.names import metric_label

AT_MOST = 6  # criteria

_PER_ROW = 2
_PALE = "#a9c5e6"
_ABOVE = 34  # points from a panel to its criterion's name


def draw(components: pd.DataFrame) -> Figure | None:
    """Three panels per criterion, one a component; None without a row.

    Dots are `value`, bars `low` to `high`; an undefined metric has a cross in the margin. Metrics
    stand in the order of their agreement text by text. Criteria after the first AT_MOST are left
    out.
    """
    every = by_criterion(components)
    if not every:
        return None
    criteria = every[:AT_MOST]
    metrics = [_metrics(mine) for _, mine in criteria]
    most = max(map(len, metrics))
    longest = max(len(label(metric_label(*m))) for mine in metrics for m in mine)
    per_row = min(len(criteria), _PER_ROW)
    n_rows = math.ceil(len(criteria) / per_row)
    width, height = per_row * (0.07 * longest + 4.9), n_rows * (0.95 + 0.185 * most) + 0.4
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.1))
    panels = figure.subplots(n_rows, per_row * len(COMPONENTS), squeeze=False)
    several = len({study for (study, _, _), _ in criteria}) > 1
    for index, axes in enumerate(panels.flat):
        place, column = divmod(index, len(COMPONENTS))
        if place >= len(criteria):
            axes.set_visible(False)
            continue
        key, mine = criteria[place]
        component = list(COMPONENTS)[column]
        of_component = [row for row in mine if row["component"] == component]
        _panel(axes, of_component, metrics[place], most, named=column == 0)
        axes.set_title(_heading(component, of_component), loc="left", fontsize=8.5)
        if column == 0:
            above = {"xycoords": "axes fraction", "textcoords": "offset points"}
            heading = label(_title(key, several=several))
            axes.annotate(heading, (0, 1), (0, _ABOVE), weight="bold", **above)
    figure.supxlabel(_note(criteria, len(every)), fontsize=8, x=0.01, ha="left")
    return figure


def _metrics(mine: list[Row]) -> list[Metric]:
    """Those that agree most text by text first; the undefined last."""
    values = {
        (row["metric"], row["judge"]): row["value"] for row in mine if row["component"] == "within"
    }
    metrics = sorted_metrics((row["metric"], row["judge"]) for row in mine)
    return sorted(metrics, key=lambda m: _last_if_unknown(values.get(m)))


def _last_if_unknown(value: float | None) -> tuple[bool, float]:
    return value is None, -(value or 0.0)


def _title(key: Key, *, several: bool) -> str:
    return f"{key[0]}: {titled(key)}" if several else titled(key)


def _heading(component: str, rows: list[Row]) -> str:
    share = per_cent(rows[0]["people_share"]) if rows else ""
    return f"{COMPONENTS[component]}\n" + (f"people vary {share}" if share else "")


def _note(criteria: list[tuple[Key, list[Row]]], n_criteria: int) -> str:
    found = {COEFFICIENT_NAMES[row["coefficient"]] for _, mine in criteria for row in mine}
    lines = [
        f"dot: {' or '.join(sorted(found))} of metric and people; bar: interval for other systems"
        " and documents; x: undefined",
        "people vary: the share of their ratings’ variance that lies there",
    ]
    if n_criteria > len(criteria):
        lines[1] += f"; the first {len(criteria)} of {n_criteria} criteria"
    return "\n".join(lines)


def _panel(axes: Axes, rows: list[Row], metrics: list[Metric], most: int, *, named: bool) -> None:
    by_metric = {(row["metric"], row["judge"]): row for row in rows}
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    for y, metric in enumerate(metrics):
        axes.axhline(y, color=FAINT, linewidth=0.4, zorder=0)
        row = by_metric.get(metric)
        if row is None or row["value"] is None:
            axes.plot([0.04], [y], "x", color=GREY, transform=axes.get_yaxis_transform())
            continue
        if row["low"] is not None and row["high"] is not None:
            ends = [row["low"], row["high"]]
            axes.plot(ends, [y, y], "-", color=_PALE, linewidth=4.0, solid_capstyle="butt")
        axes.plot([row["value"]], [y], "o", color=ACCENT, markersize=4.8)
    names = [label(metric_label(*metric)) for metric in metrics] if named else []
    axes.set_yticks(range(len(names)), labels=names)
    axes.set_ylim(most - 0.5, -0.5)  # equal lines in every panel
    axes.set_xlim(-1.08, 1.08)
    axes.set_xticks([-1, 0, 1], labels=["−1", "0", "1"])
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
