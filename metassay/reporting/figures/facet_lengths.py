"""Stacked bars: which share of each author's words belongs to each facet."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from metassay.reporting.figures.drawing import GREY, INK, facet_look, label
from metassay.reporting.names import sorted_authors
from metassay.reporting.tables import rows

_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1.2, "alpha": 0.85}
_NARROW = 0.05  # of the bar: here a percentage would touch its neighbours


def draw(facets: pd.DataFrame) -> Figure | None:
    """One bar per author, a piece per facet with its `share` in per cent, the rest in none (white).

    None without a share. An author of whose texts no share is known has a cross.
    """
    if not facets["share"].notna().any():
        return None
    names = list(dict.fromkeys(facets["facet"]))
    authors = sorted_authors(facets["author"])
    shares = {(a, f): share for a, f, share in rows(facets, "author", "facet", "share")}
    labels = [label(author) for author in authors]
    per_row = max(1, min(len(names), 90 // (6 + max(len(label(name)) for name in names))))
    legend = -(-len(names) // per_row)
    figure = Figure(
        figsize=(6.6 + 0.075 * max(map(len, labels)), 0.75 + 0.3 * len(authors) + 0.22 * legend),
        layout="constrained",
    )
    axes = figure.subplots()
    looks = {name: facet_look(place) for place, name in enumerate(names[:-1])}
    looks[names[-1]] = ("white", "")
    for y, author in enumerate(authors):
        _bar(axes, y, [(looks[name], shares[author, name]) for name in names])
    axes.set_yticks(range(len(authors)), labels=labels)
    axes.set_ylim(len(authors) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    handles = [
        Patch(facecolor=colour, hatch=hatch, edgecolor=GREY, linewidth=0.6, label=label(name))
        for name, (colour, hatch) in looks.items()
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=per_row, frameon=False)
    figure.supxlabel(
        "mean over texts of the share of a text’s words; x: not known",
        fontsize=8,
        x=0.01,
        ha="left",
    )
    return figure


def _bar(axes: Axes, y: int, pieces: list[tuple[tuple[str, str], float | None]]) -> None:
    left = 0.0
    for (colour, hatch), share in pieces:
        if share is None:
            axes.plot([0.01], [y], "x", color=GREY)
            return
        axes.barh(y, share, 0.72, left, color=colour, hatch=hatch, edgecolor=GREY, linewidth=0.6)
        if share >= _NARROW:
            text = axes.text(left + share / 2, y, f"{100 * share:.0f}", ha="center", va="center")
            text.set(fontsize=8, color=INK, bbox=_BOX)
        left += share
