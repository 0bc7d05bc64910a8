"""Figures of metrics and people."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from metassay.format.frames import records, rows
from metassay.format.numbers import short
from metassay.format.terms import COEFFICIENT_NAMES, COMPONENTS, LEVELS
from metassay.reporting.figures import drawing as d
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

    The rater's line is of the row that rests on most texts. Criteria after AT_MOST are left out.
    """
    every = by_criterion(certificates[certificates["level"] == LEVEL])
    criteria = every[:AT_MOST]
    shown = [row for _, mine in criteria for row in mine]
    metrics, undefined = _defined(shown)
    if not metrics:
        return None
    names = [d.label(metric_label(*metric)) for metric in metrics]
    size, left = (2.3, 0.75 + 0.185 * len(metrics)), d.width_of(names)
    figure, grid, each = d.panels(
        len(criteria), _FOREST_PER_ROW, size, left, 0.6, share="xy", h_pad=0.1
    )
    for axes, (_, mine), title in zip(each, criteria, d.criterion_titles(criteria), strict=True):
        _forest_panel(axes, mine, metrics, useful)
        axes.set_title(title, loc="left")
    for row in grid:
        d.lines_along(row[0], names)
    marks = f"dotted: {short(useful)}, a useful correlation"
    if any(row["rater"] is not None for row in shown):
        marks += "; dashed: one rater with the mean of the others"
    lines = [
        f"dot: {_coefficients(shown)} over all texts, {TURNED}; filled dot: a metric to use;"
        " half-filled: promising; no dot: undefined",
        "pale bar: interval for other systems and documents; dark line: interval for these systems",
        marks + undefined + d.of_more(len(criteria), len(every), "criteria"),
    ]
    d.note_below(figure, "\n".join(lines))
    return figure


def _coefficients(rows: list[Row]) -> str:
    return " or ".join(sorted({COEFFICIENT_NAMES[row["coefficient"]] for row in rows}))


def _defined(rows: list[Row]) -> tuple[list[Metric], str]:
    """The metrics that have a value, in the order of pages, and words for how many have none."""
    known = sorted_metrics(metric_of(row) for row in rows if row["value"] is not None)
    return known, d.left_out(len(set(map(metric_of, rows))) - len(known), "metric")


def _forest_panel(axes: Axes, mine: list[Row], metrics: list[Metric], useful: float) -> None:
    axes.axvline(0, color=d.INK, linewidth=0.9, zorder=1)
    axes.axvline(useful, color=d.GREY, linewidth=0.9, linestyle=":", zorder=1)
    raters = [row for row in mine if row["rater"] is not None]
    if raters:
        row = max(raters, key=lambda row: (row["n"], row["metric"], row["judge"]))
        axes.axvline(row["rater"], color=_RATER, linewidth=1.2, linestyle="--", zorder=1)
    by_metric = {metric_of(row): row for row in mine if row["value"] is not None}
    for y, metric in enumerate(metrics):
        axes.axhline(y, color=d.FAINT, linewidth=0.4, zorder=0)
        if metric in by_metric:
            _dot(axes, y, by_metric[metric])
    axes.set_xlim(-1.03, 1.03)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], labels=["−1", "−.5", "0", ".5", "1"])
    d.bare(axes)
    axes.tick_params(axis="x", labelbottom=True)


def _dot(axes: Axes, y: int, row: Row) -> None:
    wide, these = (row["low"], row["high"]), (row["low_these_systems"], row["high_these_systems"])
    if None not in wide:
        axes.plot(wide, [y, y], "-", color=_PALE, linewidth=4.0, solid_capstyle="butt")
    if None not in these:
        axes.plot(these, [y, y], "-", color=d.ACCENT, linewidth=1.1)
    axes.plot([row["value"]], [y], "o", color=d.ACCENT, markersize=4.8, **_fill(row))


def _fill(row: Row) -> dict[str, Any]:
    if row["trusted"]:
        return {"markerfacecolor": d.ACCENT}
    style = "left" if row["verdict"] == "promising" else "full"
    face = d.ACCENT if style == "left" else "white"
    return {"fillstyle": style, "markerfacecolor": face, "markerfacecoloralt": "white"}


def draw_components(components: pd.DataFrame) -> Figure | None:
    """Which shares of the variance of people and metrics lie where; None without a share.

    A metric has a share on the texts of each criterion; drawn is that of the criterion with most
    texts. Panels after AT_MOST are left out.
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
    wide = d.width_of([name for mine in bars for name in mine])
    size = (wide + 3.2, 0.6 + 0.2 * max(map(len, bars)))
    figure, _, each = d.panels(
        len(bars), _COMPONENTS_PER_ROW, size, above=0.6, h_pad=0.1, w_pad=0.08
    )
    looks = {words: d.facet_look(place) for place, words in enumerate(COMPONENTS.values())}
    for axes, (study, part), shown in zip(each, chosen, bars, strict=True):
        for y, shares in enumerate(shown.values()):
            d.stacked(axes, y, list(zip(looks.values(), shares, strict=True)))
        d.lines_along(axes, list(shown))
        d.shares_along(axes, 0, 0.25, 0.5, 0.75, 1)
        axes.set_title(d.label(criterion_title(study, part)), loc="left")
    d.looks_above(figure, looks, len(looks))
    note = "share of variance, in per cent; people: their ratings by this criterion"
    note += d.left_out(undefined, "metric or criterion")
    d.note_below(figure, note + d.of_more(len(chosen), len(every), "studies and parts"))
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
        found[d.label(name)] = [shares.get(component) for component in COMPONENTS]
    return found


def draw_correlation_heatmap(certificates: pd.DataFrame) -> Figure | None:
    """Every metric against every human criterion, one panel per level; None without a value."""
    chosen = records(certificates)
    metrics, undefined = _defined(chosen)
    if not metrics:
        return None
    criteria = sorted(set(map(key_of, chosen)), key=key_rank)
    levels = [level for level in LEVELS if any(row["level"] == level for row in chosen)]
    names = [d.label(metric_label(*metric)) for metric in metrics]
    heads = d.criterion_titles([(key, []) for key in criteria])
    wide, high = _HEATMAP_CELL
    width = len(levels) * (len(criteria) * wide + 0.25) + 0.075 * max(map(len, names)) + 0.9
    height = len(metrics) * high + 0.058 * max(map(len, heads)) + 0.8
    figure = Figure(figsize=(width, height), layout="constrained")
    each = figure.subplots(1, len(levels), sharey=True, squeeze=False)[0]
    for axes, level in zip(each, levels, strict=True):
        mine = [row for row in chosen if row["level"] == level]
        places = {
            (metrics.index(metric_of(row)), criteria.index(key_of(row))): row["value"]
            for row in mine
            if metric_of(row) in metrics
        }
        _squares(axes, places, (names, heads), size=7.5)
        axes.set_title(f"{level} level", loc="left")
    d.note_below(figure, f"{_coefficients(chosen)}, {TURNED}; hatched: undefined{undefined}")
    return figure


def _squares(
    axes: Axes, values: Mapping[tuple[int, int], float | None], names: Any, **how: float
) -> None:
    """A heat map of correlations by row and column, hatched where one is undefined."""
    values = dict(sorted(values.items()))
    shades = np.full((len(names[0]), len(names[1])), np.nan)
    for place, value in values.items():
        shades[place] = np.nan if value is None else value
    texts = {place: short(value) for place, value in values.items() if value is not None}
    hatched = [place for place, value in values.items() if value is None]
    look: dict[str, Any] = {"vmin": -1, "vmax": 1, "cmap": "RdBu", "edgecolors": "white"}
    d.tiles(axes, shades, texts, names, dark=_DARK, hatched=hatched, **look, **how)


def draw_metric_matrix(metric_correlations: pd.DataFrame) -> Figure | None:
    """Metrics and criteria against each other: a panel per study, of whole texts.

    The lower half of the matrix: criteria first (above the line), then metrics.
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
        axes.set_title(d.label(f"{name} over all texts, {study}"), loc="left")
    note = f"people: a human criterion; {TURNED}; hatched: undefined"
    note += d.left_out(undefined, "metric or criterion")
    d.note_below(figure, note + (f"; the first {LARGEST}" if every != shown else ""))
    return figure


def _scorers(mine: pd.DataFrame) -> list[Scorer]:
    """Criteria, then metrics, in the order of pages."""
    found = {*rows(mine, "first_is", "first"), *rows(mine, "second_is", "second")}
    people = sorted((name for kind, name in found if kind == "people"), key=criterion_rank)
    labels = {
        (name, judge.removesuffix(")") or NO_JUDGE): scorer
        for kind, scorer in found
        if kind == "metric"
        for name, _, judge in [scorer.partition(" (")]
    }
    metrics = [labels[metric] for metric in sorted_metrics(labels)]
    return [*(("people", name) for name in people), *(("metric", name) for name in metrics)]


def _name(scorer: Scorer) -> str:
    return d.label(f"people: {scorer[1]}" if scorer[0] == "people" else scorer[1])


def _matrix_panel(axes: Axes, mine: pd.DataFrame, scorers: Sequence[Scorer]) -> None:
    places = {scorer: place for place, scorer in enumerate(scorers)}
    squares = {}
    for first_is, first, second_is, second, value in rows(
        mine, "first_is", "first", "second_is", "second", "value"
    ):
        one, other = places.get((first_is, first)), places.get((second_is, second))
        if one is not None and other is not None and one != other:
            squares[max(one, other) - 1, min(one, other)] = value
    names = [_name(scorer) for scorer in scorers]
    _squares(axes, squares, (names[1:], names[:-1]), size=6.5)
    n_people = sum(scorer[0] == "people" for scorer in scorers)
    axes.plot([0, n_people], [n_people - 1] * 2, "-", color=d.GREY, linewidth=0.9)
