"""Figures of metrics and people."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle

from metassay.format.frames import records, rows
from metassay.format.numbers import per_cent, short
from metassay.format.terms import COEFFICIENT_NAMES, COMPONENTS, LEVELS
from metassay.reporting.certificates import ranked
from metassay.reporting.figures.drawing import (
    ACCENT,
    FAINT,
    GREY,
    INK,
    bare,
    criterion_titles,
    label,
    note_below,
    panels,
)
from metassay.reporting.names import Metric, sorted_metrics
from metassay.reporting.section import (
    Key,
    Row,
    best_first,
    by_criterion,
    key_of,
    key_rank,
    metric_name,
    metric_of,
)
from metassay.tables.names import EACH_PART, FULL, metric_label

LEVEL = "global"
COEFFICIENT = "pearson"  # of heat maps
AT_MOST = 6  # criteria
STUDIES, LARGEST = 2, 40  # of the matrix: studies, and metrics and criteria of one study

_FOREST_PER_ROW, _COMPONENTS_PER_ROW = 3, 2
_PALE, _RATER = "#a9c5e6", "#a8650f"
_ABOVE = 34  # points from a panel to its criterion's name
_HEATMAP_CELL = (0.56, 0.235)  # inches
_MATRIX_CELL = 0.3  # inches
_DARK = 0.62  # of what is darker, numbers are white

Criteria = list[tuple[Key, list[Row]]]
Scorer = tuple[str, str]  # metric or people, and its label


def draw_forest(certificates: pd.DataFrame, *, useful: float) -> Figure | None:
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
    shown = [row for _, mine in criteria for row in mine]
    most = max(len(mine) for _, mine in criteria)
    longest = max(len(label(metric_name(row))) for row in shown)
    wide, high = 0.07 * longest + 2.4, 0.75 + 0.185 * most
    figure, _, each = panels(
        len(criteria),
        _FOREST_PER_ROW,
        lambda columns, rows: (columns * wide, rows * high + 0.6),
        pads={"h_pad": 0.1},
        sharex=True,
    )
    for axes, (_, mine), title in zip(each, criteria, criterion_titles(criteria), strict=True):
        _forest_panel(axes, ranked(mine), most, useful)
        axes.set_title(title, loc="left")
    marks = f"dotted: {short(useful)}, a useful correlation"
    if any(row["rater"] is not None for row in shown):
        marks += "; dashed: one rater with the mean of the others"
    lines = [
        f"dot: {_coefficients(criteria)} over all texts; filled dot: a metric to use;"
        " half-filled: promising; x: undefined",
        "pale bar: interval for other systems and documents; dark line: interval for these systems",
        marks + _left_out(every),
    ]
    note_below(figure, "\n".join(lines))
    return figure


def _coefficients(criteria: Criteria) -> str:
    names = {COEFFICIENT_NAMES[row["coefficient"]] for _, mine in criteria for row in mine}
    return " or ".join(sorted(names))


def _left_out(every: Criteria) -> str:
    n = len(every)
    return f"; the first {AT_MOST} of {n} criteria" if n > AT_MOST else ""


def _forest_panel(axes: Axes, mine: list[Row], most: int, useful: float) -> None:
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    axes.axvline(useful, color=GREY, linewidth=0.9, linestyle=":", zorder=1)
    raters = [row for row in mine if row["rater"] is not None]
    if raters:
        row = max(raters, key=lambda row: (row["n"], row["metric"], row["judge"]))
        axes.axvline(row["rater"], color=_RATER, linewidth=1.2, linestyle="--", zorder=1)
    _dots(axes, mine, cross=0.03)
    axes.set_yticks(range(len(mine)), labels=[label(metric_name(row)) for row in mine])
    axes.set_ylim(most - 0.5, -0.5)  # equal lines in every panel
    axes.set_xlim(-1.03, 1.03)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], labels=["−1", "−.5", "0", ".5", "1"])
    bare(axes)
    axes.tick_params(axis="x", labelbottom=True)


def _dots(axes: Axes, lines: Iterable[Row | None], cross: float) -> None:
    """A dot and its intervals per line; a cross in the margin for one without a value."""
    for y, row in enumerate(lines):
        axes.axhline(y, color=FAINT, linewidth=0.4, zorder=0)
        if row is None or row["value"] is None:
            axes.plot([cross], [y], "x", color=GREY, transform=axes.get_yaxis_transform())
            continue
        wide = [row["low"], row["high"]]
        these: list[Any] = [row.get("low_these_systems"), row.get("high_these_systems")]
        if None not in wide:
            axes.plot(wide, [y, y], "-", color=_PALE, linewidth=4.0, solid_capstyle="butt")
        if None not in these:
            axes.plot(these, [y, y], "-", color=ACCENT, linewidth=1.1)
        axes.plot([row["value"]], [y], "o", color=ACCENT, markersize=4.8, **_fill(row))


def _fill(row: Row) -> dict[str, Any]:
    if "trusted" not in row:
        return {}
    if row["trusted"]:
        return {"markerfacecolor": ACCENT}
    style = "left" if row["verdict"] == "promising" else "full"
    face = ACCENT if style == "left" else "white"
    return {"fillstyle": style, "markerfacecolor": face, "markerfacecoloralt": "white"}


def draw_components(components: pd.DataFrame) -> Figure | None:
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
    per_row = min(len(criteria), _COMPONENTS_PER_ROW)
    n_rows = math.ceil(len(criteria) / per_row)
    width, height = per_row * (0.07 * longest + 4.9), n_rows * (0.95 + 0.185 * most) + 0.4
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.1))
    grid = figure.subplots(n_rows, per_row * len(COMPONENTS), squeeze=False)
    titles = criterion_titles(criteria)
    for index, axes in enumerate(grid.flat):
        place, column = divmod(index, len(COMPONENTS))
        if place >= len(criteria):
            axes.set_visible(False)
            continue
        component = list(COMPONENTS)[column]
        mine = [row for row in criteria[place][1] if row["component"] == component]
        _components_panel(axes, mine, metrics[place], most, named=column == 0)
        share = per_cent(mine[0]["people_share"]) if mine else ""
        heading = f"{COMPONENTS[component]}\n" + (f"people vary {share}" if share else "")
        axes.set_title(heading, loc="left", fontsize=8.5)
        if column == 0:
            above = {"xycoords": "axes fraction", "textcoords": "offset points"}
            axes.annotate(titles[place], (0, 1), (0, _ABOVE), weight="bold", **above)
    lines = [
        f"dot: {_coefficients(criteria)} of metric and people; bar: interval for other systems and"
        " documents; x: undefined",
        f"people vary: the share of their ratings’ variance that lies there{_left_out(every)}",
    ]
    note_below(figure, "\n".join(lines))
    return figure


def _metrics(mine: list[Row]) -> list[Metric]:
    """Those that agree most text by text first; the undefined last."""
    values = {metric_of(row): row["value"] for row in mine if row["component"] == "within"}
    return sorted(sorted_metrics(map(metric_of, mine)), key=lambda m: best_first(values.get(m)))


def _components_panel(
    axes: Axes, mine: list[Row], metrics: list[Metric], most: int, *, named: bool
) -> None:
    by_metric = {metric_of(row): row for row in mine}
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    _dots(axes, map(by_metric.get, metrics), cross=0.04)
    names = [label(metric_label(*metric)) for metric in metrics] if named else []
    axes.set_yticks(range(len(names)), labels=names)
    axes.set_ylim(most - 0.5, -0.5)  # equal lines in every panel
    axes.set_xlim(-1.08, 1.08)
    axes.set_xticks([-1, 0, 1], labels=["−1", "0", "1"])
    bare(axes)


def draw_correlation_heatmap(correlations: pd.DataFrame) -> Figure | None:
    """Every metric against every human criterion, one panel per level.

    Colour and number are `value`, true sign, -1 to 1; None without a row of COEFFICIENT. An
    undefined coefficient is hatched; one that was not computed is left white.
    """
    pooled = correlations["part"] != EACH_PART  # those within parts are in the table
    chosen = records(correlations[pooled & (correlations["coefficient"] == COEFFICIENT)])
    if not chosen:
        return None
    metrics = sorted_metrics(map(metric_of, chosen))
    criteria = sorted(set(map(key_of, chosen)), key=key_rank)
    levels = [level for level in LEVELS if any(row["level"] == level for row in chosen)]
    names = [label(metric_label(*metric)) for metric in metrics]
    heads = criterion_titles([(key, []) for key in criteria])
    wide, high = _HEATMAP_CELL
    width = len(levels) * (len(criteria) * wide + 0.25) + 0.075 * max(map(len, names)) + 0.9
    height = len(metrics) * high + 0.058 * max(map(len, heads)) + 0.6
    figure = Figure(figsize=(width, height), layout="constrained")
    each = figure.subplots(1, len(levels), sharey=True, squeeze=False)[0]
    for axes, level in zip(each, levels, strict=True):
        mine = [row for row in chosen if row["level"] == level]
        values = {(metric_of(row), key_of(row)): row["value"] for row in mine}
        for y, metric in enumerate(metrics):
            for x, criterion in enumerate(criteria):
                if (metric, criterion) in values:
                    value = values[metric, criterion]
                    _square(axes, x, y, value, _two_decimals(value), 7.5)
        axes.set_xlim(-0.5, len(criteria) - 0.5)
        axes.set_ylim(len(metrics) - 0.5, -0.5)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(f"{COEFFICIENT.capitalize()}, {level} level", loc="left")
        axes.set_xticks(
            range(len(criteria)), labels=heads, rotation=40, ha="right", rotation_mode="anchor"
        )
    each[0].set_yticks(range(len(metrics)), labels=names)
    note_below(figure, "hatched: undefined")
    return figure


def _two_decimals(value: float | None) -> str:
    text = "" if value is None else f"{value:.2f}".replace("0.", ".", 1)
    return "0" if text and float(text) == 0 else text.replace("-", "−")


def _square(axes: Axes, x: int, y: int, value: float | None, text: str, size: float) -> None:
    """One cell of a heat map; hatched where the value is undefined."""
    corner = (x - 0.5, y - 0.5)
    if value is None:
        square = Rectangle(corner, 1, 1, facecolor="white", hatch="////", linewidth=0)
    else:
        colour = colormaps["RdBu"]((value + 1) / 2)
        square = Rectangle(corner, 1, 1, facecolor=colour, edgecolor="white", linewidth=1)
        ink = "white" if abs(value) > _DARK else INK
        number = axes.text(x, y, text, ha="center", va="center", color=ink)
        number.set(fontsize=size, in_layout=False)
    square.set_in_layout(False)  # inside the axes anyway: neither measured nor clipped
    axes.add_patch(square)
    square.set_clip_on(False)


def draw_metric_matrix(metric_correlations: pd.DataFrame) -> Figure | None:
    """Metrics and criteria against each other: a panel per study, of whole texts.

    None without a row of COEFFICIENT. The lower half of the matrix: criteria first (above the
    line), then metrics. Colour and number are `value`; an undefined one is hatched, one that was
    not computed white.
    """
    whole = metric_correlations[
        (metric_correlations["coefficient"] == COEFFICIENT) & (metric_correlations["part"] == FULL)
    ]
    studies = [(str(study), mine) for study, mine in whole.groupby("study", sort=True)][:STUDIES]
    if not studies:
        return None
    every = [_scorers(mine) for _, mine in studies]
    shown = [scorers[:LARGEST] for scorers in every]
    longest = max(len(_name(one)) for scorers in shown for one in scorers)
    side = _MATRIX_CELL * max(map(len, shown)) + 0.07 * longest + 0.5
    figure = Figure(figsize=(side, (side + 0.3) * len(studies)), layout="constrained")
    each = figure.subplots(len(studies), 1, squeeze=False)[:, 0]
    for axes, (study, mine), scorers in zip(each, studies, shown, strict=True):
        _matrix_panel(axes, mine, scorers)
        name = COEFFICIENT_NAMES[COEFFICIENT]
        axes.set_title(label(f"{name} over all texts, {study}"), loc="left")
    note = "people: a human criterion; both turned so that more is better; hatched: undefined"
    note_below(figure, note + (f"; the first {LARGEST}" if every != shown else ""))
    return figure


def _scorers(mine: pd.DataFrame) -> list[Scorer]:
    """Criteria, then metrics, each by name."""
    found = {*rows(mine, "first_is", "first"), *rows(mine, "second_is", "second")}
    return sorted(found, key=lambda one: (one[0] != "people", one[1]))


def _name(scorer: Scorer) -> str:
    return label(f"people: {scorer[1]}" if scorer[0] == "people" else scorer[1])


def _matrix_panel(axes: Axes, mine: pd.DataFrame, scorers: Sequence[Scorer]) -> None:
    places = {scorer: place for place, scorer in enumerate(scorers)}
    squares = {}
    for first_is, first, second_is, second, value in rows(
        mine, "first_is", "first", "second_is", "second", "value"
    ):
        one, other = places.get((first_is, first)), places.get((second_is, second))
        if one is not None and other is not None and one != other:
            squares[min(one, other), max(one, other)] = value
    for (x, y), value in sorted(squares.items()):
        _square(axes, x, y, value, short(value), 6.5)
    n_people = sum(scorer[0] == "people" for scorer in scorers)
    axes.plot([-0.5, n_people - 0.5], [n_people - 0.5] * 2, "-", color=GREY, linewidth=0.9)
    names = [_name(scorer) for scorer in scorers]
    axes.set_yticks(range(1, len(scorers)), labels=names[1:])
    turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(range(len(scorers) - 1), labels=names[:-1], **turned)
    axes.set_xlim(-0.5, max(len(scorers) - 1.5, 0.5))
    axes.set_ylim(len(scorers) - 0.5, 0.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
