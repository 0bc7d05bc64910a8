"""Violins: what each system's mean rating would be with other documents, criterion by criterion."""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.reporting.figures.drawing import ACCENT, FAINT, GREY, INK, label
from metassay.reporting.names import sorted_authors
from metassay.reporting.numbers import short
from metassay.reporting.resampled import Reals
from metassay.reporting.views.section import Key, Row, by_criterion, titled

AT_MOST = 12  # criteria

_PER_ROW = 4
_BODY = "#bcd3ec"
_POINTS = 61  # of an outline
_HALF = 0.4  # of a line's height, at the widest


def draw(violins: pd.DataFrame) -> Figure | None:
    """One panel per study, criterion and part, one violin per system; None without a row.

    The body is the density of `draws`, a bar goes from p25 to p75, a line from low to high, a dot
    stands at the mean. All panels have one axis, so that widths can be compared. Criteria after the
    first AT_MOST are left out.
    """
    every = by_criterion(violins)
    if not every:
        return None
    criteria = every[:AT_MOST]
    authors = sorted_authors(row["author"] for _, mine in criteria for row in mine)
    names = [label(author) for author in authors]
    columns = min(len(criteria), _PER_ROW)
    n_rows = math.ceil(len(criteria) / columns)
    figure = Figure(
        figsize=(
            0.6 + 0.075 * max(map(len, names)) + 2.4 * columns,
            0.5 + n_rows * (0.85 + 0.3 * len(names)),
        ),
        layout=ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.08),
    )
    panels = figure.subplots(n_rows, columns, sharex=True, sharey=True, squeeze=False)
    several = len({key[0] for key, _ in criteria}) > 1
    for place, axes in enumerate(panels.flat):
        if place >= len(criteria):
            axes.set_visible(False)
            continue
        key, mine = criteria[place]
        _panel(axes, mine, authors)
        axes.set_title(_title(key, mine, several=several), loc="left")
        axes.tick_params(axis="x", labelbottom=place + columns >= len(criteria))
    for axes in panels[:, 0]:
        axes.set_yticks(range(len(names)), labels=names)
    panels[0, 0].set_ylim(len(names) - 0.5, -0.5)
    note = (
        "mean rating, 0 worst to 1 best: dot; its interval: line; the middle half of the means with"
        " other documents: bar; all of them: body\nspread: the length of that bar, the median over"
        " systems"
    )
    if len(every) > len(criteria):
        note += f"; the first {len(criteria)} of {len(every)} criteria"
    figure.supxlabel(note, fontsize=8, x=0.01, ha="left")
    return figure


def _title(key: Key, mine: list[Row], *, several: bool) -> str:
    spreads = [row["iqr"] for row in mine if row["iqr"] is not None]
    spread = f"\nspread {short(float(np.median(spreads)))}" if spreads else ""
    return label(f"{key[0]}: {titled(key)}" if several else titled(key)) + spread


def _panel(axes: Axes, mine: list[Row], authors: list[str]) -> None:
    for row in mine:
        y = authors.index(row["author"])
        if row["low"] is not None:
            _body(axes, y, np.array(row["draws"], dtype=float))
            axes.plot([row["low"], row["high"]], [y, y], "-", color=INK, linewidth=0.9)
            ends = [row["p25"], row["p75"]]
            axes.plot(ends, [y, y], "-", color=INK, linewidth=4, solid_capstyle="butt")
        axes.plot([row["mean"]], [y], "o", color=ACCENT, markersize=5, markeredgecolor="white")
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _body(axes: Axes, y: int, draws: Reals) -> None:
    """A Gaussian kernel's density with Silverman's bandwidth, cut at the outermost draws."""
    spread = float(np.std(draws))
    if spread < 1e-9:  # all the same: no body
        return
    width = 1.06 * spread * len(draws) ** -0.2
    at = np.linspace(draws.min(), draws.max(), _POINTS)
    density = np.exp(-0.5 * ((at[:, None] - draws[None, :]) / width) ** 2).sum(axis=1)
    half = np.round(_HALF * density / density.max(), 6)
    axes.fill_between(at, y - half, y + half, color=_BODY, edgecolor=GREY, linewidth=0.5)
