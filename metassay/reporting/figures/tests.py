"""Figures of tests of judges and of segmentations."""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.format.frames import rows
from metassay.format.numbers import short
from metassay.reporting.figures.drawing import ACCENT, FAINT, GREY, INK, label, panels

_GOOD = LinearSegmentedColormap.from_list("good", ["#f4d9d6", "#ffffff", "#cfe0f2", ACCENT])
_TITLES = {"detected": "share detected", "false alarms": "share of false alarms"}
_KINDS_DARK = 0.85  # of the way to the best: from here on letters are white


def draw_judge_kinds(kinds: pd.DataFrame) -> Figure | None:
    """One panel per measure of table `kinds`, a row per kind, a column per judge; None if empty.

    Blue is good in both: much detected, few false alarms. Grey is undefined or not asked.
    """
    panels = [name for name in _TITLES if (kinds["measure"] == name).any()]
    if not panels:
        return None
    judges = sorted(set(kinds["judge"]))
    by_panel = {name: kinds[kinds["measure"] == name] for name in panels}
    n_rows = max(mine["kind"].nunique() for mine in by_panel.values())
    figure = Figure(
        figsize=(1.6 + len(panels) * (1.2 + 0.85 * len(judges)), 1.4 + 0.27 * n_rows),
        layout=ConstrainedLayoutEngine(w_pad=0.1),
    )
    found = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (name, mine) in zip(found, by_panel.items(), strict=True):
        _kinds_panel(axes, mine, judges, name)
    return figure


def _kinds_panel(axes: Axes, mine: pd.DataFrame, judges: list[str], name: str) -> None:
    names = list(dict.fromkeys(mine["kind"]))
    values = np.full((len(names), len(judges)), np.nan)
    for kind, judge, value in rows(mine, "kind", "judge", "value"):
        values[names.index(kind), judges.index(judge)] = np.nan if value is None else value
    good = values if name == "detected" else 1.0 - values
    axes.set_facecolor("#eef1f4")
    axes.pcolormesh(good, cmap=_GOOD, vmin=0, vmax=1, edgecolors="white")
    for row, column in np.argwhere(np.isfinite(values)):
        ink = "white" if good[row, column] > _KINDS_DARK else INK
        at = (column + 0.5, row + 0.5)
        text = short(float(values[row, column]))
        axes.text(*at, text, ha="center", va="center", fontsize=8, color=ink)
    axes.set_title(_TITLES[name], loc="left")
    axes.set_yticks(np.arange(len(names)) + 0.5, labels=[label(n.replace("_", " ")) for n in names])
    axes.set_xticks(np.arange(len(judges)) + 0.5, labels=[label(judge) for judge in judges])
    for tick in axes.get_xticklabels():
        tick.set(rotation=30, ha="right", rotation_mode="anchor")
    axes.set_ylim(len(names), 0)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


# Reliability diagram: do a judge's probabilities mean what they say, judge by judge.

_RELIABILITY_PER_ROW = 4


def draw_reliability(calibration: pd.DataFrame) -> Figure | None:
    """One panel per judge of rows of table `calibration`, those of one study; None if empty.

    Dots are bins: the mean probability, and the share of their items that are entailed, with its
    interval. Their area goes with the number of items. The line is where both are equal.
    """
    judges = sorted(set(calibration["judge"]))
    if not judges:
        return None
    figure, grid, every = panels(
        len(judges),
        _RELIABILITY_PER_ROW,
        lambda columns, rows: (0.5 + 2.6 * columns, 0.5 + 2.6 * rows),
        pads={"h_pad": 0.1, "w_pad": 0.1},
        sharex=True,
        sharey=True,
    )
    largest = int(calibration["n"].max())
    for axes, judge in zip(every, judges, strict=True):
        _reliability_panel(axes, calibration[calibration["judge"] == judge], largest)
        axes.set_title(label(judge), loc="left")
    for axes in grid[-1]:
        axes.set_xlabel("probability of “entailed”")
    for row in grid:
        row[0].set_ylabel("share entailed")
    return figure


def _reliability_panel(axes: Axes, mine: pd.DataFrame, largest: int) -> None:
    axes.plot([0, 1], [0, 1], "-", color=GREY, linewidth=0.8)
    for mean, passed, low, high, n in rows(mine, "mean", "passed", "low", "high", "n"):
        axes.plot([mean, mean], [low, high], "-", color=ACCENT, linewidth=1.6, alpha=0.45)
        size = 3.0 + 6.0 * math.sqrt(n / largest)
        axes.plot([mean], [passed], "o", color=ACCENT, markersize=size)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    axes.set_aspect("equal")
    axes.grid(color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)


# Heat map: which label sentences have, and which label a segmentation gives them.

_SHARE = LinearSegmentedColormap.from_list("share", ["#ffffff", "#cfe0f2", ACCENT])
_CONFUSIONS_PER_ROW = 3
_CELL = 0.52  # inches
_CONFUSIONS_DARK = 0.7  # of a row's sentences: from here on letters are white


def draw_confusions(confusions: pd.DataFrame) -> Figure | None:
    """One panel per segmentation of table `confusions`, labels in the order of the frame.

    A row is a right label, a column the label given. Colour is the share of the row's sentences,
    the number how many they are. None without a sentence.
    """
    names = list(dict.fromkeys(confusions["segmentation"]))
    if not names:
        return None
    side = 1.3 + _CELL * confusions.groupby("segmentation")["label"].nunique().max()
    figure, _, every = panels(
        len(names),
        _CONFUSIONS_PER_ROW,
        lambda columns, rows: (0.4 + columns * side, 0.3 + rows * side),
        pads={"h_pad": 0.12, "w_pad": 0.12},
    )
    for axes, name in zip(every, names, strict=True):
        _confusions_panel(axes, confusions[confusions["segmentation"] == name])
        axes.set_title(label(name), loc="left")
    return figure


def _confusions_panel(axes: Axes, mine: pd.DataFrame) -> None:
    there = mine.groupby("label")["n"].transform("sum") > 0  # else no sentence has the label
    right, given = (list(dict.fromkeys(names)) for names in (mine["label"][there], mine["given"]))
    counts = np.zeros((len(right), len(given)))
    for label_of, label_given, n in rows(mine[there], "label", "given", "n"):
        counts[right.index(label_of), given.index(label_given)] = n
    share = counts / counts.sum(axis=1, keepdims=True)
    axes.pcolormesh(share, cmap=_SHARE, vmin=0, vmax=1, edgecolors="#e3e8ed", linewidth=0.5)
    for (row, column), n in np.ndenumerate(counts):
        if n:
            ink = "white" if share[row, column] > _CONFUSIONS_DARK else INK
            at = (column + 0.5, row + 0.5)
            axes.text(*at, f"{n:,.0f}", ha="center", va="center", fontsize=8, color=ink)
    axes.set_yticks(np.arange(len(right)) + 0.5, labels=[label(name) for name in right])
    axes.set_xticks(np.arange(len(given)) + 0.5, labels=[label(name) for name in given])
    for tick in axes.get_xticklabels():
        tick.set(rotation=35, ha="right", rotation_mode="anchor")
    axes.set_ylim(len(right), 0)
    axes.set_aspect("equal", anchor="N")
    axes.set_xlabel("label given")
    axes.set_ylabel("right label")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
