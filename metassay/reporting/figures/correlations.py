"""Figures of metrics and people."""

import math
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
AT_MOST = 6  # criteria

_FOREST_PER_ROW = 3
_FOREST_PALE = "#a9c5e6"
_RATER = "#a8650f"


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
    most = max(len(mine) for _, mine in criteria)
    longest = max(len(label(metric_name(row))) for _, mine in criteria for row in mine)
    wide, high = 0.07 * longest + 2.4, 0.75 + 0.185 * most
    figure, _, found = panels(
        len(criteria),
        _FOREST_PER_ROW,
        lambda columns, rows: (columns * wide, rows * high + 0.6),
        pads={"h_pad": 0.1},
        sharex=True,
    )
    titles = criterion_titles(criteria)
    for axes, (_, mine), title in zip(found, criteria, titles, strict=True):
        _forest_panel(axes, ranked(mine), most, useful)
        axes.set_title(title, loc="left")
    note_below(figure, _forest_note(criteria, len(every), useful))
    return figure


def _forest_note(criteria: list[tuple[Key, list[Row]]], n_criteria: int, useful: float) -> str:
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


def _forest_panel(axes: Axes, mine: list[Row], most: int, useful: float) -> None:
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
            axes.plot(wide, [y, y], "-", color=_FOREST_PALE, linewidth=4.0, solid_capstyle="butt")
        if None not in these:
            axes.plot(these, [y, y], "-", color=ACCENT, linewidth=1.1)
        axes.plot([value], [y], "o", color=ACCENT, markersize=4.8, **_fill(row))
    axes.set_yticks(range(len(mine)), labels=[label(metric_name(row)) for row in mine])
    axes.set_ylim(most - 0.5, -0.5)  # equal lines in every panel
    axes.set_xlim(-1.03, 1.03)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], labels=["−1", "−.5", "0", ".5", "1"])
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelbottom=True)
    axes.spines[["top", "right", "left"]].set_visible(False)


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


# Where the agreement lies: each metric's correlation between systems, documents and texts.

_COMPONENTS_PER_ROW = 2
_COMPONENTS_PALE = "#a9c5e6"
_ABOVE = 34  # points from a panel to its criterion's name


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
    panels = figure.subplots(n_rows, per_row * len(COMPONENTS), squeeze=False)
    titles = criterion_titles(criteria)
    for index, axes in enumerate(panels.flat):
        place, column = divmod(index, len(COMPONENTS))
        if place >= len(criteria):
            axes.set_visible(False)
            continue
        _, mine = criteria[place]
        component = list(COMPONENTS)[column]
        of_component = [row for row in mine if row["component"] == component]
        _components_panel(axes, of_component, metrics[place], most, named=column == 0)
        axes.set_title(_heading(component, of_component), loc="left", fontsize=8.5)
        if column == 0:
            above = {"xycoords": "axes fraction", "textcoords": "offset points"}
            axes.annotate(titles[place], (0, 1), (0, _ABOVE), weight="bold", **above)
    figure.supxlabel(_components_note(criteria, len(every)), fontsize=8, x=0.01, ha="left")
    return figure


def _metrics(mine: list[Row]) -> list[Metric]:
    """Those that agree most text by text first; the undefined last."""
    values = {metric_of(row): row["value"] for row in mine if row["component"] == "within"}
    return sorted(sorted_metrics(map(metric_of, mine)), key=lambda m: best_first(values.get(m)))


def _heading(component: str, rows: list[Row]) -> str:
    share = per_cent(rows[0]["people_share"]) if rows else ""
    return f"{COMPONENTS[component]}\n" + (f"people vary {share}" if share else "")


def _components_note(criteria: list[tuple[Key, list[Row]]], n_criteria: int) -> str:
    found = {COEFFICIENT_NAMES[row["coefficient"]] for _, mine in criteria for row in mine}
    lines = [
        f"dot: {' or '.join(sorted(found))} of metric and people; bar: interval for other systems"
        " and documents; x: undefined",
        "people vary: the share of their ratings’ variance that lies there",
    ]
    if n_criteria > len(criteria):
        lines[1] += f"; the first {len(criteria)} of {n_criteria} criteria"
    return "\n".join(lines)


def _components_panel(
    axes: Axes, rows: list[Row], metrics: list[Metric], most: int, *, named: bool
) -> None:
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
            axes.plot(
                ends, [y, y], "-", color=_COMPONENTS_PALE, linewidth=4.0, solid_capstyle="butt"
            )
        axes.plot([row["value"]], [y], "o", color=ACCENT, markersize=4.8)
    names = [label(metric_label(*metric)) for metric in metrics] if named else []
    axes.set_yticks(range(len(names)), labels=names)
    axes.set_ylim(most - 0.5, -0.5)  # equal lines in every panel
    axes.set_xlim(-1.08, 1.08)
    axes.set_xticks([-1, 0, 1], labels=["−1", "0", "1"])
    bare(axes)


# Heatmap: every metric against every human criterion, one panel per level.

COEFFICIENT = "pearson"

_HEATMAP_CELL = (0.56, 0.235)  # inches

Criterion = tuple[str, str, str]  # study, criterion, part


def draw_correlation_heatmap(correlations: pd.DataFrame) -> Figure | None:
    """Colour and number are `value`, true sign, -1 to 1; None without a row of COEFFICIENT.

    An undefined coefficient is hatched; one that was not computed is left white.
    """
    pooled = correlations["part"] != EACH_PART  # those within parts are in the table
    chosen = correlations[pooled & (correlations["coefficient"] == COEFFICIENT)]
    if chosen.empty:
        return None
    metrics = sorted_metrics(zip(chosen["metric"], chosen["judge"], strict=True))
    criteria = sorted(set(map(key_of, records(chosen))), key=key_rank)
    levels = [level for level in LEVELS if (chosen["level"] == level).any()]
    names = [label(metric_label(*metric)) for metric in metrics]
    heads = criterion_titles([(key, []) for key in criteria])
    width = (
        len(levels) * (len(criteria) * _HEATMAP_CELL[0] + 0.25) + 0.075 * max(map(len, names)) + 0.9
    )
    height = len(metrics) * _HEATMAP_CELL[1] + 0.058 * max(map(len, heads)) + 0.6
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(1, len(levels), sharey=True, squeeze=False)[0]
    for axes, level in zip(panels, levels, strict=True):
        values = _values(chosen[chosen["level"] == level])
        _heatmap_panel(axes, values, metrics, criteria)
        axes.set_title(f"{COEFFICIENT.capitalize()}, {level} level", loc="left")
        axes.set_xticks(
            range(len(criteria)), labels=heads, rotation=40, ha="right", rotation_mode="anchor"
        )
    panels[0].set_yticks(range(len(metrics)), labels=names)
    note_below(figure, "hatched: undefined")
    return figure


def _values(level: pd.DataFrame) -> dict[tuple[Metric, Criterion], float | None]:
    columns = ("metric", "judge", "study", "criterion", "part", "value")
    return {((m, j), (s, c, p)): value for m, j, s, c, p, value in rows(level, *columns)}


def _heatmap_panel(
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
    axes.spines[:].set_visible(False)


def _short(value: float) -> str:
    text = f"{value:.2f}".replace("0.", ".", 1)
    return "0" if float(text) == 0 else text.replace("-", "−")


# Heat map: every metric and human criterion against every other, over the texts of a study.

STUDIES = 2  # studies
LARGEST = 40  # metrics and criteria of one

_MATRIX_CELL = 0.3  # inches
_DARK = 0.62

Scorer = tuple[str, str]  # metric or people, and its label


def draw_metric_matrix(metric_correlations: pd.DataFrame) -> Figure | None:
    """One panel per study, of whole texts; None without a row of COEFFICIENT.

    The lower half of the matrix: criteria first (above the line), then metrics. Colour and number
    are `value`; an undefined one is hatched, one that was not computed white.
    """
    whole = metric_correlations[
        (metric_correlations["coefficient"] == COEFFICIENT) & (metric_correlations["part"] == FULL)
    ]
    studies = sorted(set(whole["study"]))[:STUDIES]
    if not studies:
        return None
    found = [_scorers(whole[whole["study"] == study])[:LARGEST] for study in studies]
    longest = max(len(_name(one)) for scorers in found for one in scorers)
    side = _MATRIX_CELL * max(map(len, found)) + 0.07 * longest + 0.5
    figure = Figure(figsize=(side, (side + 0.3) * len(studies)), layout="constrained")
    panels = figure.subplots(len(studies), 1, squeeze=False)[:, 0]
    for axes, study, scorers in zip(panels, studies, found, strict=True):
        _matrix_panel(axes, whole[whole["study"] == study], scorers)
        name = COEFFICIENT_NAMES[COEFFICIENT]
        axes.set_title(label(f"{name} over all texts, {study}"), loc="left")
    note = "people: a human criterion; both turned so that more is better; hatched: undefined"
    if max(len(_scorers(whole[whole["study"] == study])) for study in studies) > LARGEST:
        note += f"; the first {LARGEST}"
    note_below(figure, note)
    return figure


def _scorers(mine: pd.DataFrame) -> list[Scorer]:
    """Criteria, then metrics, each by name."""
    found = {*rows(mine, "first_is", "first"), *rows(mine, "second_is", "second")}
    return sorted(found, key=lambda one: (one[0] != "people", one[1]))


def _name(scorer: Scorer) -> str:
    return label(f"people: {scorer[1]}" if scorer[0] == "people" else scorer[1])


def _matrix_panel(axes: Axes, mine: pd.DataFrame, scorers: list[Scorer]) -> None:
    places = {scorer: place for place, scorer in enumerate(scorers)}
    columns = ("first_is", "first", "second_is", "second", "value")
    squares = {}
    for first_is, first, second_is, second, value in rows(mine, *columns):
        one, other = places.get((first_is, first)), places.get((second_is, second))
        if one is not None and other is not None and one != other:
            squares[min(one, other), max(one, other)] = value
    for (x, y), value in sorted(squares.items()):
        _square(axes, x, y, value)
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


def _square(axes: Axes, x: int, y: int, value: float | None) -> None:
    corner = (x - 0.5, y - 0.5)
    if value is None:
        square = Rectangle(corner, 1, 1, facecolor="white", hatch="////", linewidth=0)
    else:
        colour = colormaps["RdBu"]((value + 1) / 2)
        square = Rectangle(corner, 1, 1, facecolor=colour, edgecolor="white", linewidth=1)
        ink = "white" if abs(value) > _DARK else INK
        text = axes.text(x, y, short(value), ha="center", va="center", color=ink)
        text.set(fontsize=6.5, in_layout=False)
    square.set_in_layout(False)  # inside the axes anyway: neither measured nor clipped
    axes.add_patch(square)
    square.set_clip_on(False)
