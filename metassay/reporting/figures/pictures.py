"""The figures of reports, a function each; what else a page shows, it draws itself."""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from metassay.format.frames import records, rows
from metassay.format.numbers import short
from metassay.format.terms import COEFFICIENT_NAMES
from metassay.reporting.figures import drawing as d
from metassay.reporting.names import (
    ARROWS,
    Metric,
    headline_metrics,
    sorted_authors,
    sorted_metrics,
    sorted_parts,
)
from metassay.reporting.section import Row, by_criterion, grouped, metric_name, metric_of
from metassay.statistics.document_means import Reals
from metassay.tables.names import metric_label

_SHARES = LinearSegmentedColormap.from_list("share", ["#ffffff", "#cfe0f2", d.ACCENT])


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
    figure, _, every = d.panels(len(metrics), 4, size, names, share="y", h_pad=0.12)
    for axes, metric in zip(every, metrics, strict=True):
        _dots_panel(axes, by_metric[metric], authors)
    note = f"dot: mean over documents ({part} texts); bar: its bootstrap interval; no dot: no value"
    d.note_below(figure, note + d.left_out(len(every_metric) - len(metrics), "metric"))
    return figure


def _dots_panel(axes: Axes, mine: list[Row], authors: list[str]) -> None:
    known = d.placed(mine, "macro", lambda row: authors.index(row["author"]))
    look: dict[str, Any] = {"color": d.ACCENT, "linewidth": 2.2, "alpha": 0.45}
    d.intervals(axes, [(y, row["low"], row["high"]) for y, row in known], **look)
    axes.plot(*_at(known, "macro"), "o", color=d.ACCENT, markersize=4.5)
    if len({row["macro"] for _, row in known}) < 2:
        axes.set_xlim(-0.05, 1.05)  # nothing to scale the axis by; shares run from 0 to 1
    _title(axes, mine[0])
    d.bare(axes, len(authors))


def _at(known: Sequence[tuple[int, Row]], column: str) -> tuple[list[float], list[int]]:
    return [row[column] for _, row in known], [y for y, _ in known]


_LONG_TITLE = 28


def _title(axes: Axes, row: Row) -> None:
    """The metric's name, with the direction in which it is better."""
    name = d.label(f"{metric_name(row)} {ARROWS[str(row['better'])]}".strip())
    if len(name) > _LONG_TITLE:  # else it runs into the next one
        name = name.replace("@", "\n@", 1) if "@" in name else name.replace(" (", "\n(", 1)
    axes.set_title(name, loc="left")


# A metric's correlation with people by each criterion, beside one rater's own.

LEVEL = "global"
MOST_PANELS = 6  # criteria

_FOREST_PER_ROW = 3
_RATER = "#a8650f"
_BARS: dict[str, dict[str, Any]] = {  # intervals, by the ends of their columns
    "": {"color": "#a9c5e6", "linewidth": 4.0, "capstyle": "butt"},
    "_these_systems": {"color": d.ACCENT, "linewidth": 1.1},
}
_FILLS: dict[str, dict[str, Any]] = {
    "to use": {"fillstyle": "full"},
    "promising": {"fillstyle": "left"},
    "no": {"markerfacecolor": "white"},
}


def draw_forest(certificates: pd.DataFrame, *, useful: float) -> Figure | None:
    """One panel per criterion, at LEVEL, metrics in the order of pages; None without a value.

    The rater's line is of the row that rests on most texts. Of criteria the first MOST_PANELS.
    """
    every = by_criterion(certificates[certificates["level"] == LEVEL])
    criteria = every[:MOST_PANELS]
    shown = [row for _, mine in criteria for row in mine]
    metrics, undefined = _defined(shown)
    if not metrics:
        return None
    names = [d.label(metric_label(*metric)) for metric in metrics]
    size, n = (2.3, 0.75 + 0.185 * len(metrics)), len(criteria)
    figure, _, each = d.panels(n, _FOREST_PER_ROW, size, names, 0.6, share="xy", h_pad=0.1)
    for axes, (_, mine), title in zip(each, criteria, d.criterion_titles(criteria), strict=True):
        _forest_panel(axes, mine, metrics, useful)
        axes.set_title(title, loc="left")
    marks = f"dotted: {short(useful)}, a useful correlation"
    if any(row["rater"] is not None for row in shown):
        marks += "; dashed: one rater with the mean of the others"
    lines = [
        f"dot: {_coefficients(shown)} over all texts, signs turned so that more is better; filled"
        " dot: a metric to use; half-filled: promising; no dot: undefined",
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
    known = d.placed(mine, "value", lambda row: metrics.index(metric_of(row)))
    for ends, look in _BARS.items():
        d.intervals(axes, [(y, row[f"low{ends}"], row[f"high{ends}"]) for y, row in known], **look)
    for kind, fill in _FILLS.items():
        at = _at([one for one in known if _kind(one[1]) == kind], "value")
        axes.plot(*at, "o", color=d.ACCENT, markersize=4.8, markerfacecoloralt="white", **fill)
    axes.set_xlim(-1.03, 1.03)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], labels=["−1", "−.5", "0", ".5", "1"])
    d.bare(axes, len(metrics))
    axes.tick_params(axis="x", labelbottom=True)


def _kind(row: Row) -> str:
    return "to use" if row["trusted"] else row["verdict"] if row["verdict"] in _FILLS else "no"


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
    size, n = (2.4, 0.75 + 0.36 * len(names)), len(criteria)
    figure, _, found = d.panels(n, 4, size, names, 0.5, share="xy", h_pad=0.1, w_pad=0.08)
    for axes, (_, mine), title in zip(found, criteria, d.criterion_titles(criteria), strict=True):
        _violins_panel(axes, mine, authors)
        axes.set_title(title, loc="left")
        axes.tick_params(axis="x", labelbottom=True)
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


# Judges' probabilities beside the share of items that are entailed.


def draw_reliability(calibration: pd.DataFrame) -> Figure | None:
    """One panel per judge of rows of table `calibration`, those of one study; None if empty.

    A dot is a bin; its area goes with the number of items.
    """
    judges = sorted(set(calibration["judge"]))
    if not judges:
        return None
    figure, grid, every = d.panels(
        len(judges), 4, (2.75, 2.6), above=0.5, share="xy", h_pad=0.1, w_pad=0.1
    )
    largest = int(calibration["n"].max())
    for axes, judge in zip(every, judges, strict=True):
        _reliability_panel(axes, calibration[calibration["judge"] == judge], largest)
        axes.set_title(d.label(judge), loc="left")
    for axes in grid[-1]:
        axes.set_xlabel("probability of “entailed”")
    for row in grid:
        row[0].set_ylabel("share entailed")
    return figure


def _reliability_panel(axes: Axes, mine: pd.DataFrame, largest: int) -> None:
    axes.plot([0, 1], [0, 1], "-", color=d.GREY, linewidth=0.8)
    for mean, passed, low, high, n in rows(mine, "mean", "passed", "low", "high", "n"):
        axes.plot([mean, mean], [low, high], "-", color=d.ACCENT, linewidth=1.6, alpha=0.45)
        size = 3.0 + 6.0 * math.sqrt(n / largest)
        axes.plot([mean], [passed], "o", color=d.ACCENT, markersize=size)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    axes.set_aspect("equal")
    axes.grid(color=d.FAINT, linewidth=0.5)
    axes.set_axisbelow(True)


# How many sentences of each label are given which label.


def draw_confusions(confusions: pd.DataFrame) -> Figure | None:
    """One panel per segmentation of table `confusions`, labels in the order of the frame.

    Colour is the share of a right label's sentences. None without a sentence.
    """
    names = list(dict.fromkeys(confusions["segmentation"]))
    if not names:
        return None
    side = 1.3 + 0.52 * confusions.groupby("segmentation")["label"].nunique().max()
    size = (side + 0.15, side)
    figure, _, every = d.panels(len(names), 3, size, above=0.3, h_pad=0.12, w_pad=0.12)
    for axes, name in zip(every, names, strict=True):
        _confusions_panel(axes, confusions[confusions["segmentation"] == name])
        axes.set_title(d.label(name), loc="left")
    return figure


def _confusions_panel(axes: Axes, mine: pd.DataFrame) -> None:
    mine = mine[mine.groupby("label")["n"].transform("sum") > 0]  # labels that sentences have
    right, given = (list(dict.fromkeys(mine[column])) for column in ("label", "given"))
    wide = mine.pivot(index="label", columns="given", values="n").reindex(
        index=right, columns=given
    )
    counts = wide.to_numpy(dtype=np.float64)
    share = counts / counts.sum(axis=1, keepdims=True)
    edges = [np.arange(len(side) + 1) - 0.5 for side in (given, right)]
    axes.pcolormesh(*edges, share, cmap=_SHARES, vmin=0, vmax=1, edgecolors="#e3e8ed")
    axes.invert_yaxis()
    axes.set_aspect("equal", anchor="N")
    for (y, x), n in np.ndenumerate(counts):
        if n:
            ink = "white" if share[y, x] > 0.7 else d.INK
            axes.text(x, y, f"{n:,.0f}", ha="center", va="center", fontsize=8, color=ink)
    axes.set_yticks(range(len(right)), labels=map(d.label, right))
    axes.set_xticks(range(len(given)), labels=map(d.label, given), rotation=40, ha="right")
    axes.tick_params(length=0)
    axes.set(xlabel="label given", ylabel="right label")
