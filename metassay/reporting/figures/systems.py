"""Figures of systems and their texts."""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from metassay.format.frames import records, rows
from metassay.reporting.figures import drawing as d
from metassay.reporting.names import ARROWS, headline_metrics, sorted_authors, sorted_parts
from metassay.reporting.section import Row, by_criterion, grouped, metric_name, metric_of
from metassay.statistics.document_means import Reals
from metassay.tables.names import REFERENCE


def draw_leaderboard(leaderboard: pd.DataFrame) -> Figure | None:
    """One panel per metric, one line per author, for the whole text; None without a value."""
    if leaderboard.empty:
        return None
    part = sorted_parts(leaderboard["part"])[0]
    whole = leaderboard[leaderboard["part"] == part]
    by_metric = grouped(records(whole), metric_of)
    every_metric = headline_metrics(by_metric)
    metrics = [m for m in every_metric if any(row["macro"] is not None for row in by_metric[m])]
    if not metrics:
        return None
    authors = sorted_authors(whole["author"])
    names = [d.label(author) for author in authors]
    size = (2.05, 0.85 + 0.21 * len(authors))
    figure, grid, every = d.panels(len(metrics), 4, size, d.width_of(names), share="y", h_pad=0.12)
    for axes, metric in zip(every, metrics, strict=True):
        _dots_panel(axes, by_metric[metric], authors)
    d.lines_along(grid[0][0], names)
    note = f"dot: mean over documents ({part} texts); bar: its bootstrap interval; no dot: no value"
    d.note_below(figure, note + d.left_out(len(every_metric) - len(metrics), "metric"))
    return figure


def _dots_panel(axes: Axes, mine: list[Row], authors: list[str]) -> None:
    for row in sorted(mine, key=lambda row: authors.index(row["author"])):
        y = authors.index(row["author"])
        if row["macro"] is None:
            continue
        if row["low"] is not None and row["high"] is not None:
            ends = [row["low"], row["high"]]
            axes.plot(ends, [y, y], "-", color=d.ACCENT, linewidth=2.2, alpha=0.45)
        axes.plot([row["macro"]], [y], "o", color=d.ACCENT, markersize=4.5)
    if len({row["macro"] for row in mine} - {None}) < 2:
        axes.set_xlim(-0.05, 1.05)  # nothing to scale the axis by; shares run from 0 to 1
    _title(axes, mine[0])
    d.bare(axes)
    for line in range(len(authors)):
        axes.axhline(line, color=d.FAINT, linewidth=0.4, zorder=0)


_LONG_TITLE = 28


def _title(axes: Axes, row: Row) -> None:
    """The metric's name, with the direction in which it is better."""
    name = d.label(f"{metric_name(row)} {ARROWS[str(row['better'])]}".strip())
    if len(name) > _LONG_TITLE:  # else it runs into the next one
        name = name.replace("@", "\n@", 1) if "@" in name else name.replace(" (", "\n(", 1)
    axes.set_title(name, loc="left")


# History: each system's mean on each main metric, run by run, with its bootstrap interval.

# Paul Tol's bright colours, dark enough for lines, and markers for those who tell no colours apart.
_LINES = ("#4477aa", "#aa3377", "#228833", "#997700", "#ee6677", "#0e7c93", "#555555", "#000000")
_MARKERS = "osD^vPX*"
_TICKS = 3


def draw_history(means: pd.DataFrame) -> Figure | None:
    """One panel per main metric, one line per author over the runs; None without a value.

    A line is broken where the recipe is another than before: such numbers are not compared.
    """
    runs = sorted(set(means["run"]))
    places = {run: place for place, run in enumerate(runs)}
    rows = [row | {"x": places[row["run"]]} for row in records(means) if row["mean"] is not None]
    if not rows:
        return None
    metrics = headline_metrics(set(map(metric_of, rows)))
    authors = sorted_authors(row["author"] for row in rows)
    figure, grid, every = d.panels(len(metrics), 3, (2.9, 1.9), above=0.45, h_pad=0.1)
    for axes, metric in zip(every, metrics, strict=True):
        _history_panel(axes, [row for row in rows if metric_of(row) == metric], authors)
        _dates(axes, runs)
    handles, names = grid[0][0].get_legend_handles_labels()
    look: dict[str, Any] = {"frameon": False, "fontsize": 8, "handlelength": 2.4}
    figure.legend(handles, names, loc="outside upper left", ncols=4, **look)
    note = "bar: bootstrap interval; ring: regressed from accepted mean; broken line: other recipe"
    d.note_below(figure, note)
    return figure


def _history_panel(axes: Axes, mine: list[Row], authors: list[str]) -> None:
    for place, author in enumerate(authors):
        line = [row for row in mine if row["author"] == author]
        colour = _LINES[place % len(_LINES)]
        look: dict[str, Any] = {"color": colour, "marker": _MARKERS[place % len(_MARKERS)]}
        axes.plot([], [], "-", label=d.label(author), markersize=4, **look)  # of the legend
        ordered = sorted(line, key=lambda row: row["x"])
        for _, of_recipe in groupby(ordered, lambda row: row["recipe"]):
            piece = list(of_recipe)
            axes.plot(*_columns(piece, "x", "mean"), "-", linewidth=1.3, markersize=4, **look)
            bars = [row for row in piece if row["low"] is not None and row["high"] is not None]
            at, low, high = _columns(bars, "x", "low", "high")
            axes.vlines(at, low, high, color=colour, alpha=0.35, linewidth=1.6)
        fell = [row for row in line if row["verdict"] == "regressed"]
        ring: dict[str, Any] = {
            "markersize": 9,
            "markerfacecolor": "none",
            "markeredgecolor": d.INK,
        }
        axes.plot(*_columns(fell, "x", "mean"), "o", **ring)
    _title(axes, mine[0])
    axes.grid(axis="y", color=d.FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _columns(mine: list[Row], *names: str) -> list[list[Any]]:
    return [[row[name] for row in mine] for name in names]


def _dates(axes: Axes, runs: list[str]) -> None:
    """Runs in equal steps, since a history may have several on one day; few of their dates."""
    step = max(1, math.ceil((len(runs) - 1) / (_TICKS - 1)))
    shown = range(len(runs) - 1, -1, -step)
    axes.set_xticks(list(shown), labels=[runs[place][:10] for place in shown])
    axes.set_xlim(-0.5, len(runs) - 0.5)
    axes.tick_params(axis="x", labelsize=7, colors=d.GREY)


# Violins: what people gave each system, criterion by criterion, and the mean of it.

AT_MOST = 12  # criteria

_BODY = "#bcd3ec"
_HALF, _BELOW = (
    0.3,
    0.42,
)  # of a line's height: half a body at its widest; from its middle to the mean
_MOST_VALUES = 21  # on one scale: more are drawn to the nearest twentieth
_WIDEST = 0.12  # of the scale, for one value


def draw_violins(violins: pd.DataFrame) -> Figure | None:
    """One panel per study, criterion and part, one violin per system; None without a row.

    No kernel, which would smooth what people give in steps. Criteria after AT_MOST are left out.
    """
    every = by_criterion(violins)
    if not every:
        return None
    criteria = every[:AT_MOST]
    authors = sorted_authors(row["author"] for _, mine in criteria for row in mine)
    names = [d.label(author) for author in authors]
    size, left = (2.4, 0.75 + 0.36 * len(names)), d.width_of(names)
    figure, grid, found = d.panels(
        len(criteria), 4, size, left, 0.5, share="xy", h_pad=0.1, w_pad=0.08
    )
    for axes, (_, mine), title in zip(found, criteria, d.criterion_titles(criteria), strict=True):
        _violins_panel(axes, mine, authors)
        axes.set_title(title, loc="left")
        axes.tick_params(axis="x", labelbottom=True)
    for row in grid:
        d.lines_along(row[0], names)
    found[0].set_ylim(len(names) - 0.5 + _BELOW / 2, -0.5)  # the last mean stands clear of the axis
    note = (
        "ratings from 0, worst, to 1, best; body: how often each was given; below it the mean: dot;"
        " its interval: line"
    )
    d.note_below(figure, note + d.of_more(len(criteria), len(every), "criteria"))
    return figure


def _violins_panel(axes: Axes, mine: list[Row], authors: list[str]) -> None:
    every = _values(np.concatenate([row["all_ratings"] for row in mine]))
    fine = len(np.unique(every)) > _MOST_VALUES
    width = 0.9 * min([_WIDEST, *np.diff(np.unique(_values(every, fine=fine)))])
    for row in mine:
        y = authors.index(row["author"])
        at, counts = np.unique(_values(row["all_ratings"], fine=fine), return_counts=True)
        half = _HALF * counts / counts.max()
        axes.bar(at, 2 * half, width, y - half, color=_BODY, edgecolor=d.GREY, linewidth=0.4)
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [y + _BELOW] * 2, "-", color=d.INK, linewidth=0.9)
        axes.plot([row["mean"]], [y + _BELOW], "o", color=d.ACCENT, markersize=3.5)
    axes.set_xlim(-0.08, 1.08)
    d.bare(axes)


def _values(given: Sequence[float] | Reals, *, fine: bool = False) -> Reals:
    """Equal numbers for equal ratings, whatever brought them to the scale."""
    steps = _MOST_VALUES - 1
    values: Reals = np.asarray(given, dtype=float)
    return np.round(values * steps) / steps if fine else np.round(values, 9)


# What texts are like: the distribution of each quantity over each author's texts.

TITLES = {
    "words": "words per text",
    "numbers": "numbers per text",
    "popularity": "how common its words are\n(log10 per million words)",
}

_PALE = "#d3e1f1"
_MIDDLE = "#9fbfe2"


def draw_profile(profile: pd.DataFrame) -> Figure | None:
    """One panel per quantity, one line per author; None without a value."""
    if profile.empty:
        return None
    quantities = [name for name in TITLES if (profile["quantity"] == name).any()]
    authors = sorted_authors(profile["author"])
    names = [d.label(author) for author in authors]
    n, size = len(quantities), (2.7, 1 + 0.25 * len(names))
    figure, grid, found = d.panels(n, n, size, d.width_of(names), share="y", w_pad=0.08)
    for axes, quantity in zip(found, quantities, strict=True):
        _profile_panel(axes, records(profile[profile["quantity"] == quantity]), authors)
        axes.set_title(TITLES[quantity], loc="left")
    d.lines_along(grid[0][0], names)
    note = (
        "pale: 10 % to 90 % of texts; darker: 25 % to 75 %; stroke: median; dot and line: mean and"
        " its interval\nbroken line: the reference’s mean; no bar: no value"
    )
    d.note_below(figure, note)
    return figure


def _profile_panel(axes: Axes, lines: list[Row], authors: list[str]) -> None:
    for row in lines:
        y = authors.index(row["author"])
        if row["mean"] is None:
            continue
        axes.barh(y, row["p90"] - row["p10"], 0.62, row["p10"], color=_PALE)
        axes.barh(y, row["p75"] - row["p25"], 0.62, row["p25"], color=_MIDDLE)
        axes.plot([row["median"]] * 2, [y - 0.31, y + 0.31], "-", color="white", linewidth=1.6)
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [y, y], "-", color=d.INK, linewidth=1.3)
        axes.plot([row["mean"]], [y], "o", color=d.ACCENT, markersize=4.5, markeredgecolor="white")
        if row["author"] == REFERENCE:
            axes.axvline(row["mean"], color=d.GREY, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.use_sticky_edges = False
    axes.margins(x=0.04)
    d.bare(axes)


# Stacked bars: which share of each author's words belongs to each facet.


def draw_facet_lengths(facets: pd.DataFrame) -> Figure | None:
    """One bar per author, a piece per facet with its `share` in per cent, the rest in none (white).

    None without a share.
    """
    if not facets["share"].notna().any():
        return None
    names = list(dict.fromkeys(facets["facet"]))
    authors = sorted_authors(facets["author"])
    shares = {(a, f): share for a, f, share in rows(facets, "author", "facet", "share")}
    labels = [d.label(author) for author in authors]
    per_row = max(1, min(len(names), 90 // (6 + max(len(d.label(name)) for name in names))))
    legend = -(-len(names) // per_row)
    figure = Figure(
        figsize=(6.6 + 0.075 * max(map(len, labels)), 0.75 + 0.3 * len(authors) + 0.22 * legend),
        layout="constrained",
    )
    axes = figure.subplots()
    looks = {name: d.facet_look(place) for place, name in enumerate(names[:-1])}
    looks[names[-1]] = ("white", "")
    for y, author in enumerate(authors):
        d.stacked(axes, y, [(looks[name], shares[author, name]) for name in names])
    d.lines_along(axes, labels)
    d.shares_along(axes, 0, 0.25, 0.5, 0.75, 1)
    d.looks_above(figure, looks, per_row)
    d.note_below(figure, "mean over texts of the share of a text’s words; no bar: not known")
    return figure


# Stacked bars: how often each level of a rubric was given, by criterion, judge and author.

_LEVELS_NARROW = 0.09  # of the bar: here a level's number would not fit
_DARK = 0.6


def draw_rubric_levels(levels: pd.DataFrame) -> Figure | None:
    """One panel per criterion and judge, one bar per author; None without a grade.

    Criteria after the first AT_MOST are left out.
    """
    every = grouped(records(levels), lambda row: (row["rubric"], row["criterion"], row["judge"]))
    if not every:
        return None
    chosen = list(every)[:AT_MOST]
    authors = sorted_authors(row["author"] for key in chosen for row in every[key])
    names = [d.label(author) for author in authors]
    size, left = (3.1, 0.7 + 0.26 * len(names)), d.width_of(names)
    figure, grid, found = d.panels(
        len(chosen), 3, size, left, 0.4, share="y", h_pad=0.1, w_pad=0.08
    )
    for axes, (rubric, criterion, judge) in zip(found, chosen, strict=True):
        _levels_panel(axes, every[rubric, criterion, judge], authors)
        axes.set_title(f"{d.label(f'{rubric}: {criterion}')}\n{d.label(judge)}", loc="left")
    for row in grid:
        d.lines_along(row[0], names)
    note = "share of texts with each grade (its number); the darker, the better"
    d.note_below(figure, note + d.of_more(len(chosen), len(every), "criteria and judges"))
    return figure


def _levels_panel(axes: Axes, mine: list[Row], authors: list[str]) -> None:
    low = mine[0]["low"]
    known = mine[0]["high"]
    high = max(row["grade"] for row in mine) if known is None else known
    left = dict.fromkeys(authors, 0.0)
    for row in mine:  # by grade, the lowest first
        y, share = authors.index(row["author"]), row["share"]
        place = (row["grade"] - low) / (high - low) if high > low else 1.0
        good = place if row["better"] == "higher" else 1 - place
        colour = colormaps["Blues"](0.08 + 0.8 * min(max(good, 0.0), 1.0))
        start = left[row["author"]]
        axes.barh(y, share, 0.74, start, color=colour, edgecolor="white", linewidth=0.8)
        if share >= _LEVELS_NARROW:
            ink = "white" if good > _DARK else d.INK
            text = axes.text(start + share / 2, y, f"{row['grade']:g}", ha="center", va="center")
            text.set(color=ink, fontsize=8)
        left[row["author"]] = start + share
    d.shares_along(axes, 0, 0.5, 1)
