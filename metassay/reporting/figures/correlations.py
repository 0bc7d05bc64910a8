"""Figures of metrics and people."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from metassay.format.frames import records, rows
from metassay.format.numbers import short
from metassay.format.terms import COEFFICIENT_NAMES, COMPONENTS, LEVELS
from metassay.reporting.figures.drawing import (
    ACCENT,
    FAINT,
    GREY,
    INK,
    bare,
    criterion_titles,
    facet_look,
    label,
    left_out,
    lines_along,
    looks_above,
    note_below,
    of_more,
    panels,
    shares_along,
    stacked,
    width_of,
)
from metassay.reporting.names import Metric, criterion_rank, criterion_title, sorted_metrics
from metassay.reporting.section import (
    Key,
    Row,
    by_criterion,
    grouped,
    key_of,
    key_rank,
    metric_of,
    titled,
)
from metassay.tables.names import FULL, NO_JUDGE, metric_label

LEVEL = "global"
COEFFICIENT = "pearson"  # of the matrix
AT_MOST = 6  # criteria
TURNED = "signs turned so that more is better"  # in every figure: of metric and criterion alike
STUDIES, LARGEST = 2, 40  # of the matrix: studies, and metrics and criteria of one study

_FOREST_PER_ROW, _COMPONENTS_PER_ROW = 3, 2
_PALE, _RATER = "#a9c5e6", "#a8650f"
_HEATMAP_CELL = (0.56, 0.235)  # inches
_MATRIX_CELL = 0.3  # inches
_DARK = 0.62  # of what is darker, numbers are white

Criteria = list[tuple[Key, list[Row]]]
Scorer = tuple[str, str]  # metric or people, and its label


def draw_forest(certificates: pd.DataFrame, *, useful: float) -> Figure | None:
    """One panel per criterion, at LEVEL, metrics in the order of pages; None without a value.

    Dots are `value`, filled where the metric may be used, half where it is promising; pale bars
    `low` to `high`, dark lines the interval for these systems. A line stands at the rater's own
    correlation, from the row that rests on most texts where they differ, a dotted one at `useful`.
    Metrics that have no value in any panel are left out and counted below. Criteria after the
    first AT_MOST are left out.
    """
    every = by_criterion(certificates[certificates["level"] == LEVEL])
    criteria = every[:AT_MOST]
    shown = [row for _, mine in criteria for row in mine]
    metrics, undefined = _defined(shown)
    if not metrics:
        return None
    names = [label(metric_label(*metric)) for metric in metrics]
    high = 0.75 + 0.185 * len(metrics)
    figure, grid, each = panels(
        len(criteria),
        _FOREST_PER_ROW,
        lambda columns, rows: (width_of(names) + 2.3 * columns, rows * high + 0.6),
        pads={"h_pad": 0.1},
        sharex=True,
        sharey=True,
    )
    for axes, (_, mine), title in zip(each, criteria, criterion_titles(criteria), strict=True):
        _forest_panel(axes, mine, metrics, useful)
        axes.set_title(title, loc="left")
    for row in grid:
        lines_along(row[0], names)
    marks = f"dotted: {short(useful)}, a useful correlation"
    if any(row["rater"] is not None for row in shown):
        marks += "; dashed: one rater with the mean of the others"
    lines = [
        f"dot: {_coefficients(shown)} over all texts, {TURNED}; filled dot: a metric to use;"
        " half-filled: promising; no dot: undefined",
        "pale bar: interval for other systems and documents; dark line: interval for these systems",
        marks + undefined + of_more(len(criteria), len(every), "criteria"),
    ]
    note_below(figure, "\n".join(lines))
    return figure


def _coefficients(rows: list[Row]) -> str:
    return " or ".join(sorted({COEFFICIENT_NAMES[row["coefficient"]] for row in rows}))


def _defined(rows: list[Row]) -> tuple[list[Metric], str]:
    """The metrics that have a value, in the order of pages, and words for how many have none."""
    known = sorted_metrics(metric_of(row) for row in rows if row["value"] is not None)
    return known, left_out(len(set(map(metric_of, rows))) - len(known), "metric")


def _forest_panel(axes: Axes, mine: list[Row], metrics: list[Metric], useful: float) -> None:
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    axes.axvline(useful, color=GREY, linewidth=0.9, linestyle=":", zorder=1)
    raters = [row for row in mine if row["rater"] is not None]
    if raters:
        row = max(raters, key=lambda row: (row["n"], row["metric"], row["judge"]))
        axes.axvline(row["rater"], color=_RATER, linewidth=1.2, linestyle="--", zorder=1)
    by_metric = {metric_of(row): row for row in mine if row["value"] is not None}
    for y, metric in enumerate(metrics):
        axes.axhline(y, color=FAINT, linewidth=0.4, zorder=0)
        if metric in by_metric:
            _dot(axes, y, by_metric[metric])
    axes.set_xlim(-1.03, 1.03)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], labels=["−1", "−.5", "0", ".5", "1"])
    bare(axes)
    axes.tick_params(axis="x", labelbottom=True)


def _dot(axes: Axes, y: int, row: Row) -> None:
    wide, these = (row["low"], row["high"]), (row["low_these_systems"], row["high_these_systems"])
    if None not in wide:
        axes.plot(wide, [y, y], "-", color=_PALE, linewidth=4.0, solid_capstyle="butt")
    if None not in these:
        axes.plot(these, [y, y], "-", color=ACCENT, linewidth=1.1)
    axes.plot([row["value"]], [y], "o", color=ACCENT, markersize=4.8, **_fill(row))


def _fill(row: Row) -> dict[str, Any]:
    if row["trusted"]:
        return {"markerfacecolor": ACCENT}
    style = "left" if row["verdict"] == "promising" else "full"
    face = ACCENT if style == "left" else "white"
    return {"fillstyle": style, "markerfacecolor": face, "markerfacecoloralt": "white"}


def draw_components(components: pd.DataFrame) -> Figure | None:
    """Which shares of the variance of people and metrics lie where; None without a share.

    One panel per study and part: a bar per criterion (`people_share`), below them one per metric
    (`metric_share`), in the order of pages. A metric has a share on the texts of each criterion;
    drawn is that of the criterion that rests on most. Whoever has no share is left out and counted
    below, and panels after the first AT_MOST are left out.
    """
    every: dict[tuple[str, str], Criteria] = {}
    shared = components.dropna(subset=["people_share", "metric_share"], how="all")
    for key, mine in by_criterion(shared):
        every.setdefault((key[0], key[2]), []).append((key, mine))
    if not every:
        return None
    chosen = list(every)[:AT_MOST]
    named = [_component_bars(every[key]) for key in chosen]
    bars = [{name: of for name, of in mine.items() if None not in of} for mine in named]
    undefined = sum(map(len, named)) - sum(map(len, bars))
    high = 0.6 + 0.2 * max(map(len, bars))
    wide = width_of([name for mine in bars for name in mine])
    figure, _, each = panels(
        len(bars),
        _COMPONENTS_PER_ROW,
        lambda columns, rows: (columns * (wide + 3.2), 0.6 + rows * high),
        pads={"h_pad": 0.1, "w_pad": 0.08},
    )
    looks = {words: facet_look(place) for place, words in enumerate(COMPONENTS.values())}
    for axes, (study, part), shown in zip(each, chosen, bars, strict=True):
        for y, shares in enumerate(shown.values()):
            stacked(axes, y, list(zip(looks.values(), shares, strict=True)))
        lines_along(axes, list(shown))
        shares_along(axes, 0, 0.25, 0.5, 0.75, 1)
        axes.set_title(label(criterion_title(study, part)), loc="left")
    looks_above(figure, looks, len(looks))
    note = "share of variance, in per cent; people: their ratings by this criterion"
    note += left_out(undefined, "metric or criterion")
    note_below(figure, note + of_more(len(chosen), len(every), "studies and parts"))
    return figure


def _component_bars(criteria: Criteria) -> dict[str, list[float | None]]:
    """By name the shares of each component: of people by each criterion, then of metrics."""
    _, most = max(criteria, key=lambda of: max(row["n"] for row in of[1]))
    by_metric = grouped(most, metric_of)
    of_people = {f"people: {titled(key)}": (mine, "people_share") for key, mine in criteria}
    of_metrics = {
        metric_label(*metric): (by_metric[metric], "metric_share")
        for metric in sorted_metrics(by_metric)
    }
    found = {}
    for name, (mine, column) in (of_people | of_metrics).items():
        shares = {row["component"]: row[column] for row in mine}
        found[label(name)] = [shares.get(component) for component in COMPONENTS]
    return found


def draw_correlation_heatmap(certificates: pd.DataFrame) -> Figure | None:
    """Every metric against every human criterion, one panel per level; None without a value.

    Colour and number are `value`, -1 to 1. Metrics that have none are left out and counted below;
    a single undefined coefficient is hatched; one that was not computed is left white.
    """
    chosen = records(certificates)
    metrics, undefined = _defined(chosen)
    if not metrics:
        return None
    criteria = sorted(set(map(key_of, chosen)), key=key_rank)
    levels = [level for level in LEVELS if any(row["level"] == level for row in chosen)]
    names = [label(metric_label(*metric)) for metric in metrics]
    heads = criterion_titles([(key, []) for key in criteria])
    wide, high = _HEATMAP_CELL
    width = len(levels) * (len(criteria) * wide + 0.25) + 0.075 * max(map(len, names)) + 0.9
    height = len(metrics) * high + 0.058 * max(map(len, heads)) + 0.8
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
        axes.set_title(f"{level} level", loc="left")
        axes.set_xticks(
            range(len(criteria)), labels=heads, rotation=40, ha="right", rotation_mode="anchor"
        )
    each[0].set_yticks(range(len(metrics)), labels=names)
    note_below(figure, f"{_coefficients(chosen)}, {TURNED}; hatched: undefined{undefined}")
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

    None without a value of COEFFICIENT. The lower half of the matrix: criteria first (above the
    line), then metrics. Colour and number are `value`; an undefined one is hatched, one that was
    not computed white. What has no value at all is left out and counted below.
    """
    whole = metric_correlations[
        (metric_correlations["coefficient"] == COEFFICIENT) & (metric_correlations["part"] == FULL)
    ]
    studies = [
        (str(study), mine)
        for study, mine in whole.groupby("study", sort=True)
        if mine["value"].notna().any()
    ][:STUDIES]
    if not studies:
        return None
    every = [_scorers(mine[mine["value"].notna()]) for _, mine in studies]
    undefined = sum(
        len(_scorers(mine)) - len(of) for (_, mine), of in zip(studies, every, strict=True)
    )
    shown = [scorers[:LARGEST] for scorers in every]
    longest = max(len(_name(one)) for scorers in shown for one in scorers)
    side = _MATRIX_CELL * max(map(len, shown)) + 0.07 * longest + 0.5
    figure = Figure(figsize=(side, (side + 0.3) * len(studies)), layout="constrained")
    each = figure.subplots(len(studies), 1, squeeze=False)[:, 0]
    for axes, (study, mine), scorers in zip(each, studies, shown, strict=True):
        _matrix_panel(axes, mine, scorers)
        name = COEFFICIENT_NAMES[COEFFICIENT]
        axes.set_title(label(f"{name} over all texts, {study}"), loc="left")
    note = f"people: a human criterion; {TURNED}; hatched: undefined"
    note += left_out(undefined, "metric or criterion")
    note_below(figure, note + (f"; the first {LARGEST}" if every != shown else ""))
    return figure


def _scorers(mine: pd.DataFrame) -> list[Scorer]:
    """Criteria, then metrics, in the order of pages."""
    found = {*rows(mine, "first_is", "first"), *rows(mine, "second_is", "second")}
    people = sorted((name for kind, name in found if kind == "people"), key=criterion_rank)
    labels = {
        (name, judge.removesuffix(")") or NO_JUDGE): label
        for kind, label in found
        if kind == "metric"
        for name, _, judge in [label.partition(" (")]
    }
    metrics = [labels[metric] for metric in sorted_metrics(labels)]
    return [*(("people", name) for name in people), *(("metric", name) for name in metrics)]


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
