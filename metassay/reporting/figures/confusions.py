"""Heat map: which label sentences have, and which label a segmentation gives them."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.reporting.figures.drawing import ACCENT, INK, label
from metassay.reporting.tables import rows

_SHARE = LinearSegmentedColormap.from_list("share", ["#ffffff", "#cfe0f2", ACCENT])
_PER_ROW = 3
_CELL = 0.52  # inches
_DARK = 0.7  # of a row's sentences: from here on letters are white


def draw(confusions: pd.DataFrame) -> Figure | None:
    """One panel per segmentation of table `confusions`, labels in the order of the frame.

    A row is a right label, a column the label given. Colour is the share of the row's sentences,
    the number how many they are. None without a sentence.
    """
    names = list(dict.fromkeys(confusions["segmentation"]))
    if not names:
        return None
    widest = confusions.groupby("segmentation")["label"].nunique().max()
    across = min(len(names), _PER_ROW)
    down = -(-len(names) // _PER_ROW)
    size = 1.3 + _CELL * widest
    figure = Figure(
        figsize=(0.4 + across * size, 0.3 + down * size),
        layout=ConstrainedLayoutEngine(h_pad=0.12, w_pad=0.12),
    )
    panels = figure.subplots(down, across, squeeze=False).flat
    for place, axes in enumerate(panels):
        if place < len(names):
            _panel(axes, confusions[confusions["segmentation"] == names[place]])
            axes.set_title(label(names[place]), loc="left")
        else:
            axes.set_visible(False)
    return figure


def _panel(axes: Axes, mine: pd.DataFrame) -> None:
    there = mine.groupby("label")["n"].transform("sum") > 0  # else no sentence has the label
    right, given = (list(dict.fromkeys(names)) for names in (mine["label"][there], mine["given"]))
    counts = np.zeros((len(right), len(given)))
    for label_of, label_given, n in rows(mine[there], "label", "given", "n"):
        counts[right.index(label_of), given.index(label_given)] = n
    share = counts / counts.sum(axis=1, keepdims=True)
    axes.pcolormesh(share, cmap=_SHARE, vmin=0, vmax=1, edgecolors="#e3e8ed", linewidth=0.5)
    for (row, column), n in np.ndenumerate(counts):
        if n:
            ink = "white" if share[row, column] > _DARK else INK
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
    for spine in axes.spines.values():
        spine.set_visible(False)
