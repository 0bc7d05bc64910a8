"""Heatmap: every metric against every human criterion, one panel per level."""

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from metassay.reporting.figures.drawing import INK, label
from metassay.reporting.names import Metric, sorted_metrics
from metassay.reporting.tables import rows
from metassay.reporting.views.section import key_rank
from metassay.reporting.words import LEVELS
from metassay.tables.names import EACH_PART, FULL, metric_label

COEFFICIENT = "pearson"

_CELL = (0.56, 0.235)  # inches

Criterion = tuple[str, str, str]  # study, criterion, part


def draw(correlations: pd.DataFrame) -> Figure | None:
    """Colour and number are `value`, true sign, -1 to 1; None without a row of COEFFICIENT.

    An undefined coefficient is hatched; one that was not computed is left white.
    """
    pooled = correlations["part"] != EACH_PART  # those within parts are in the table
    chosen = correlations[pooled & (correlations["coefficient"] == COEFFICIENT)]
    if chosen.empty:
        return None
    metrics = sorted_metrics(zip(chosen["metric"], chosen["judge"], strict=True))
    criteria = _criteria(chosen)
    levels = [level for level in LEVELS if (chosen["level"] == level).any()]
    names = [label(metric_label(*metric)) for metric in metrics]
    heads = [label(name) for name in _names(criteria)]
    width = len(levels) * (len(criteria) * _CELL[0] + 0.25) + 0.075 * max(map(len, names)) + 0.9
    height = len(metrics) * _CELL[1] + 0.058 * max(map(len, heads)) + 0.6
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(1, len(levels), sharey=True, squeeze=False)[0]
    for axes, level in zip(panels, levels, strict=True):
        values = _values(chosen[chosen["level"] == level])
        _panel(axes, values, metrics, criteria)
        axes.set_title(f"{COEFFICIENT.capitalize()}, {level} level", loc="left")
        axes.set_xticks(
            range(len(criteria)), labels=heads, rotation=40, ha="right", rotation_mode="anchor"
        )
    panels[0].set_yticks(range(len(metrics)), labels=names)
    figure.supxlabel("hatched: undefined", fontsize=8, x=0.01, ha="left")
    return figure


def _criteria(chosen: pd.DataFrame) -> list[Criterion]:
    found = set(zip(chosen["study"], chosen["criterion"], chosen["part"], strict=True))
    return sorted(found, key=key_rank)


def _names(criteria: list[Criterion]) -> list[str]:
    several = len({study for study, _, _ in criteria}) > 1
    return [
        (f"{study}: " if several else "") + criterion + ("" if part == FULL else f", {part}")
        for study, criterion, part in criteria
    ]


def _values(level: pd.DataFrame) -> dict[tuple[Metric, Criterion], float | None]:
    columns = ("metric", "judge", "study", "criterion", "part", "value")
    return {((m, j), (s, c, p)): value for m, j, s, c, p, value in rows(level, *columns)}


def _panel(
    axes: Axes,
    values: dict[tuple[Metric, Criterion], float | None],
    metrics: list[Metric],
    criteria: list[Criterion],
) -> None:
    colours = colormaps["RdBu"]
    for y, metric in enumerate(metrics):
        for x, criterion in enumerate(criteria):
            if (metric, criterion) not in values:
                continue
            value = values[metric, criterion]
            corner = (x - 0.5, y - 0.5)
            if value is None:
                cell = Rectangle(corner, 1, 1, facecolor="white", hatch="////", linewidth=0)
            else:
                colour = colours((value + 1) / 2)
                cell = Rectangle(corner, 1, 1, facecolor=colour, edgecolor="white", linewidth=1)
                ink = "white" if abs(value) > 0.62 else INK
                text = axes.text(x, y, _short(value), ha="center", va="center", color=ink)
                text.set(fontsize=7.5, in_layout=False)
            cell.set_in_layout(False)  # inside the axes anyway: neither measured nor clipped
            axes.add_patch(cell)
            cell.set_clip_on(False)
    axes.set_xlim(-0.5, len(criteria) - 0.5)
    axes.set_ylim(len(metrics) - 0.5, -0.5)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _short(value: float) -> str:
    text = f"{value:.2f}".replace("0.", ".", 1)
    return "0" if float(text) == 0 else text.replace("-", "−")
