"""What texts are like: the distribution of each quantity over each author's texts."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.reporting.figures.drawing import ACCENT, FAINT, GREY, INK, label
from metassay.reporting.names import sorted_authors
from metassay.reporting.tables import records
from metassay.tables.names import REFERENCE

TITLES = {
    "words": "words per text",
    "numbers": "numbers per text",
    "popularity": "how common its words are\n(log10 per million words)",
}

_PALE = "#d3e1f1"
_MIDDLE = "#9fbfe2"


def draw(profile: pd.DataFrame) -> Figure | None:
    """One panel per quantity, one line per author; None without a value.

    Pale from p10 to p90, darker from p25 to p75, a stroke at the median; a dot at the mean with its
    interval as a line. The reference's mean goes through the panel as a broken line.
    """
    if profile.empty:
        return None
    quantities = [name for name in TITLES if (profile["quantity"] == name).any()]
    authors = sorted_authors(profile["author"])
    names = [label(author) for author in authors]
    figure = Figure(
        figsize=(0.6 + 0.075 * max(map(len, names)) + 2.7 * len(quantities), 1 + 0.25 * len(names)),
        layout=ConstrainedLayoutEngine(w_pad=0.08),
    )
    panels = figure.subplots(1, len(quantities), sharey=True, squeeze=False)[0]
    for axes, quantity in zip(panels, quantities, strict=True):
        _panel(axes, records(profile[profile["quantity"] == quantity]), authors)
        axes.set_title(TITLES[quantity], loc="left")
    panels[0].set_yticks(range(len(authors)), labels=names)
    panels[0].set_ylim(len(authors) - 0.5, -0.5)
    note = (
        "pale: 10 % to 90 % of texts; darker: 25 % to 75 %; stroke: median; dot and line: mean and"
        " its interval\nbroken line: the reference’s mean; x: no value"
    )
    figure.supxlabel(note, fontsize=8, x=0.01, ha="left")
    return figure


def _panel(axes: Axes, lines: list[dict[str, Any]], authors: list[str]) -> None:
    for row in lines:
        y = authors.index(row["author"])
        if row["mean"] is None:
            axes.plot([0.02], [y], "x", color=GREY, transform=axes.get_yaxis_transform())
            continue
        axes.barh(y, row["p90"] - row["p10"], 0.62, row["p10"], color=_PALE)
        axes.barh(y, row["p75"] - row["p25"], 0.62, row["p25"], color=_MIDDLE)
        axes.plot([row["median"]] * 2, [y - 0.31, y + 0.31], "-", color="white", linewidth=1.6)
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [y, y], "-", color=INK, linewidth=1.3)
        axes.plot([row["mean"]], [y], "o", color=ACCENT, markersize=4.5, markeredgecolor="white")
        if row["author"] == REFERENCE:
            axes.axvline(row["mean"], color=GREY, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.use_sticky_edges = False
    axes.margins(x=0.04)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
