"""Figures of tests of judges and of segmentations."""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from metassay.format.frames import rows
from metassay.format.numbers import short
from metassay.reporting.figures.drawing import ACCENT, FAINT, GREY, label, panels, tiles

_GOOD = LinearSegmentedColormap.from_list("good", ["#f4d9d6", "#ffffff", "#cfe0f2", ACCENT])
_SHARE = LinearSegmentedColormap.from_list("share", ["#ffffff", "#cfe0f2", ACCENT])
_TITLES = {"detected": "share detected", "false alarms": "share of false alarms"}


def draw_judge_kinds(kinds: pd.DataFrame) -> Figure | None:
    """One panel per measure of table `kinds`, a row per kind, a column per judge; None if empty.

    Blue is good in both. Grey is undefined or not asked.
    """
    by_panel = {name: kinds[kinds["measure"] == name] for name in _TITLES}
    by_panel = {name: mine for name, mine in by_panel.items() if len(mine)}
    if not by_panel:
        return None
    judges = sorted(set(kinds["judge"]))
    n_rows = max(mine["kind"].nunique() for mine in by_panel.values())
    n, size = len(by_panel), (1.2 + 0.85 * len(judges), 1.4 + 0.27 * n_rows)
    figure, _, found = panels(n, n, size, 1.6, w_pad=0.1)
    for axes, (name, mine) in zip(found, by_panel.items(), strict=True):
        of_kinds = list(dict.fromkeys(mine["kind"]))
        values = _matrix(mine, ("kind", "judge", "value"), (of_kinds, judges))
        texts = {(y, x): short(float(values[y, x])) for y, x in np.argwhere(np.isfinite(values))}
        axes.set_facecolor("#eef1f4")
        axes.set_title(_TITLES[name], loc="left")
        good = values if name == "detected" else 1.0 - values
        kinds_shown = [kind.replace("_", " ") for kind in of_kinds]
        look: dict[str, Any] = {"cmap": _GOOD, "edgecolors": "white"}
        tiles(axes, good, texts, (kinds_shown, judges), dark=0.85, **look)
    return figure


def _matrix(
    frame: pd.DataFrame, columns: tuple[str, str, str], names: tuple[list[str], list[str]]
) -> NDArray[np.float64]:
    """The third of the columns by the other two, in the order of the names."""
    down, across, value = columns
    wide = frame.pivot(index=down, columns=across, values=value)
    return wide.reindex(index=names[0], columns=names[1]).to_numpy(dtype=np.float64)


def draw_reliability(calibration: pd.DataFrame) -> Figure | None:
    """One panel per judge of rows of table `calibration`, those of one study; None if empty.

    A dot is a bin; its area goes with the number of items.
    """
    judges = sorted(set(calibration["judge"]))
    if not judges:
        return None
    pads = {"h_pad": 0.1, "w_pad": 0.1}
    figure, grid, every = panels(len(judges), 4, (2.6, 2.6), 0.5, 0.5, share="xy", **pads)
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


def draw_confusions(confusions: pd.DataFrame) -> Figure | None:
    """One panel per segmentation of table `confusions`, labels in the order of the frame.

    Colour is the share of a right label's sentences. None without a sentence.
    """
    names = list(dict.fromkeys(confusions["segmentation"]))
    if not names:
        return None
    side = 1.3 + 0.52 * confusions.groupby("segmentation")["label"].nunique().max()
    figure, _, every = panels(len(names), 3, (side, side), 0.4, 0.3, h_pad=0.12, w_pad=0.12)
    for axes, name in zip(every, names, strict=True):
        mine = confusions[confusions["segmentation"] == name]
        mine = mine[mine.groupby("label")["n"].transform("sum") > 0]  # labels that sentences have
        sides = (list(dict.fromkeys(mine["label"])), list(dict.fromkeys(mine["given"])))
        counts = _matrix(mine, ("label", "given", "n"), sides)
        texts = {place: f"{n:,.0f}" for place, n in np.ndenumerate(counts) if n}
        share = counts / counts.sum(axis=1, keepdims=True)
        look: dict[str, Any] = {"cmap": _SHARE, "edgecolors": "#e3e8ed", "linewidth": 0.5}
        tiles(axes, share, texts, sides, dark=0.7, **look)
        axes.set_aspect("equal", anchor="N")
        axes.set_xlabel("label given")
        axes.set_ylabel("right label")
        axes.set_title(label(name), loc="left")
    return figure
