"""Heat map: every metric and human criterion against every other, over the texts of a study."""

from typing import Any

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from metassay.reporting.figures.drawing import GREY, INK, label
from metassay.reporting.numbers import short
from metassay.reporting.tables import rows
from metassay.reporting.words import COEFFICIENT_NAMES
from metassay.tables.names import FULL

COEFFICIENT = "pearson"
AT_MOST = 2  # studies
LARGEST = 40  # metrics and criteria of one

_CELL = 0.3  # inches
_DARK = 0.62

Scorer = tuple[str, str]  # metric or people, and its label


def draw(metric_correlations: pd.DataFrame) -> Figure | None:
    """One panel per study, of whole texts; None without a row of COEFFICIENT.

    The lower half of the matrix: criteria first (above the line), then metrics. Colour and number
    are `value`; an undefined one is hatched, one that was not computed white.
    """
    whole = metric_correlations[
        (metric_correlations["coefficient"] == COEFFICIENT) & (metric_correlations["part"] == FULL)
    ]
    studies = sorted(set(whole["study"]))[:AT_MOST]
    if not studies:
        return None
    found = [_scorers(whole[whole["study"] == study])[:LARGEST] for study in studies]
    longest = max(len(_name(one)) for scorers in found for one in scorers)
    side = _CELL * max(map(len, found)) + 0.07 * longest + 0.5
    figure = Figure(figsize=(side, (side + 0.3) * len(studies)), layout="constrained")
    panels = figure.subplots(len(studies), 1, squeeze=False)[:, 0]
    for axes, study, scorers in zip(panels, studies, found, strict=True):
        _panel(axes, whole[whole["study"] == study], scorers)
        name = COEFFICIENT_NAMES[COEFFICIENT]
        axes.set_title(label(f"{name} over all texts, {study}"), loc="left")
    note = "people: a human criterion; both turned so that more is better; hatched: undefined"
    if max(len(_scorers(whole[whole["study"] == study])) for study in studies) > LARGEST:
        note += f"; the first {LARGEST}"
    figure.supxlabel(note, fontsize=8, x=0.01, ha="left")
    return figure


def _scorers(mine: pd.DataFrame) -> list[Scorer]:
    """Criteria, then metrics, each by name."""
    found = {
        *rows(mine, "first_is", "first"),
        *rows(mine, "second_is", "second"),
    }
    return sorted(found, key=lambda one: (one[0] != "people", one[1]))


def _name(scorer: Scorer) -> str:
    return label(f"people: {scorer[1]}" if scorer[0] == "people" else scorer[1])


def _panel(axes: Axes, mine: pd.DataFrame, scorers: list[Scorer]) -> None:
    places = {scorer: place for place, scorer in enumerate(scorers)}
    columns = ("first_is", "first", "second_is", "second", "value")
    squares = {}
    for first_is, first, second_is, second, value in rows(mine, *columns):
        one, other = places.get((first_is, first)), places.get((second_is, second))
        if one is not None and other is not None and one != other:
            squares[min(one, other), max(one, other)] = value
    for (x, y), value in sorted(squares.items()):
        _square(axes, x, y, value)
    n_people = sum(scorer[0] == "people" for scorer in scorers)
    axes.plot([-0.5, n_people - 0.5], [n_people - 0.5] * 2, "-", color=GREY, linewidth=0.9)
    names = [_name(scorer) for scorer in scorers]
    axes.set_yticks(range(1, len(scorers)), labels=names[1:])
    turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(range(len(scorers) - 1), labels=names[:-1], **turned)
    axes.set_xlim(-0.5, max(len(scorers) - 1.5, 0.5))
    axes.set_ylim(len(scorers) - 0.5, 0.5)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _square(axes: Axes, x: int, y: int, value: float | None) -> None:
    corner = (x - 0.5, y - 0.5)
    if value is None:
        square = Rectangle(corner, 1, 1, facecolor="white", hatch="////", linewidth=0)
    else:
        colour = colormaps["RdBu"]((value + 1) / 2)
        square = Rectangle(corner, 1, 1, facecolor=colour, edgecolor="white", linewidth=1)
        ink = "white" if abs(value) > _DARK else INK
        text = axes.text(x, y, short(value), ha="center", va="center", color=ink)
        text.set(fontsize=6.5, in_layout=False)
    square.set_in_layout(False)  # inside the axes anyway: neither measured nor clipped
    axes.add_patch(square)
    square.set_clip_on(False)
