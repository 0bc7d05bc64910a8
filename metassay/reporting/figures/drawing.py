"""What all figures share: one look whatever the user's settings, and bytes that never vary.

Figures are drawn with matplotlib's object interface; no state outlives a call. SVG keeps text as
text (`svg.fonttype: none`): smaller, searchable, read aloud, and free of outlines that another
build of the font library would trace differently.
"""

import io
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from metassay.reporting.section import Key, Row, titled

PNG_DPI = 150
LONGEST_LABEL = 44
_LETTER, _LINE = 0.06, 0.14  # inches that a letter and a line of a note take
INK = "#1c2733"
FAINT = "#c9d2db"
ACCENT = "#1f5fa8"
GREY = "#7b8794"

# Paul Tol's light colours, which colour-blind readers tell apart, and hatches for those who see
# none. page/src/style.css marks facets with the same colours (.m0 to .m7).
_LOOKS = (
    *(("#99c2e8", ""), ("#eedd88", "////"), ("#a8d5a2", "...."), ("#f2b8c6", "\\\\\\\\")),
    *(("#99ddff", "xxxx"), ("#ee9f7c", "----"), ("#bbcc33", "||||"), ("#cfc4e6", "oo")),
)
_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1.2, "alpha": 0.85}
_NARROW = 0.06  # of a stacked bar: here a percentage would touch its neighbours

STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 9.0,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlesize": 9.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.color": GREY,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "metassay",
    "path.simplify": False,
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}

Draw = Callable[..., Figure | None]  # a frame, and what it takes by name


class Drawn(NamedTuple):
    """One figure in both formats."""

    svg: str
    png: bytes


def draw(figure_of: Draw, frame: pd.DataFrame, **given: float) -> Drawn | None:
    """Draw a frame; None where the frame has nothing to show. Equal frames give equal bytes."""
    with matplotlib.style.context(["default", STYLE]):
        figure = figure_of(frame, **given)
        if figure is None:
            return None
        svg, png = io.StringIO(), io.BytesIO()
        FigureCanvasAgg(figure)
        lay_out(figure)
        figure.savefig(svg, format="svg", metadata=_NO_METADATA)
        figure.savefig(png, format="png", dpi=PNG_DPI, metadata={"Software": None})
    return Drawn(svg.getvalue(), png.getvalue())


def lay_out(figure: Figure) -> None:
    """Once for both formats: it takes longer than drawing."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def panels(
    n: int,
    per_row: int,
    size: tuple[float, float],
    left: float = 0.0,
    above: float = 0.0,
    *,
    share: str = "",
    **pads: Any,
) -> tuple[Figure, list[list[Axes]], list[Axes]]:
    """A figure of `n` panels, `per_row` at most in a row: the figure, all rows, and the panels.

    `size` of a panel, and what is `left` of all of them and `above`, in inches. Axes that they
    `share`: x, y or both. What is left over of the last row is not shown.
    """
    columns, rows = min(n, per_row), math.ceil(n / per_row)
    inches = (left + size[0] * columns, above + size[1] * rows)
    figure = Figure(figsize=inches, layout=ConstrainedLayoutEngine(**pads))
    shared: Any = {"sharex": "x" in share, "sharey": "y" in share}
    grid = figure.subplots(rows, columns, squeeze=False, **shared).tolist()
    every = [axes for row in grid for axes in row]
    for axes in every[n:]:
        axes.set_visible(False)
    return figure, grid, every[:n]


def note_below(figure: Figure, text: str) -> None:
    """What the signs of a figure mean, in small letters.

    A line that is wider than the figure is broken, and the figure grows by what that adds.
    """
    most = int((figure.get_figwidth() - 0.2) / _LETTER)
    given = text.split("\n")
    lines = [line for whole in given for line in textwrap.wrap(whole, most)]
    figure.set_figheight(figure.get_figheight() + _LINE * (len(lines) - len(given)))
    figure.supxlabel("\n".join(lines), fontsize=8, x=0.01, ha="left")


def lines_along(axes: Axes, names: Sequence[str]) -> None:
    """One line per name, the first on top."""
    axes.set_yticks(range(len(names)), labels=names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def width_of(names: Sequence[str]) -> float:
    """Inches that names beside lines take."""
    return 0.6 + 0.075 * max(map(len, names))


def bare(axes: Axes) -> None:
    """Faint lines across and no frame but the lower axis."""
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    _unframed(axes)


def shares_along(axes: Axes, *places: float) -> None:
    """An axis of shares, with these places in per cent, and no frame but the axis."""
    axes.set_xlim(0, 1)
    axes.set_xticks(places, labels=[f"{100 * place:.0f} %" for place in places])
    _unframed(axes)


def _unframed(axes: Axes) -> None:
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


Look = tuple[str, str]  # a colour and a hatch


def stacked(axes: Axes, y: int, pieces: Sequence[tuple[Look, float | None]]) -> None:
    """A bar of shares, with those in per cent that have room; nothing where one is unknown."""
    left = 0.0
    for (colour, hatch), share in pieces:
        if share is None:
            return
        axes.barh(y, share, 0.72, left, color=colour, hatch=hatch, edgecolor=GREY, linewidth=0.6)
        if share >= _NARROW:
            text = axes.text(left + share / 2, y, f"{100 * share:.0f}", ha="center", va="center")
            text.set(fontsize=8, color=INK, bbox=_BOX)
        left += share


def looks_above(figure: Figure, looks: Mapping[str, Look], per_row: int) -> None:
    """The legend of stacked bars."""
    handles = [
        Patch(facecolor=colour, hatch=hatch, edgecolor=GREY, linewidth=0.6, label=label(name))
        for name, (colour, hatch) in looks.items()
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=per_row, frameon=False)


def left_out(n: int, what: str) -> str:
    """Said below a figure in which `n` things have no line, since nothing of them is defined."""
    return f"; left out because undefined: {n:,} {what}{'s' * (n > 1)}" if n else ""


def of_more(n: int, n_all: int, what: str) -> str:
    """Said below a figure that shows the first `n` alone."""
    return f"; the first {n} of {n_all} {what}" if n_all > n else ""


def tiles(
    axes: Axes,
    shades: NDArray[np.float64],
    texts: Mapping[Any, str],
    names: tuple[Sequence[str], Sequence[str]],
    *,
    dark: float,
    size: float = 8,
    hatched: Iterable[tuple[int, int]] = (),
    **look: Any,
) -> None:
    """A heat map: shades from 0 to 1 (from `dark` on letters are white), texts, names by side.

    `names` are those of rows and of columns. Places that are `hatched` have no shade.
    """
    axes.pcolormesh(shades, **{"vmin": 0, "vmax": 1, **look})
    for (row, column), text in texts.items():
        ink = "white" if abs(shades[row, column]) > dark else INK
        at = (column + 0.5, row + 0.5)
        axes.text(*at, text, ha="center", va="center", fontsize=size, color=ink)
    for row, column in hatched:
        square = Rectangle((column, row), 1, 1, facecolor="white", hatch="////", linewidth=0)
        axes.add_patch(square)
    down, across = ([label(name) for name in side] for side in names)
    axes.set_yticks(np.arange(len(down)) + 0.5, labels=down)
    axes.set_xticks(np.arange(len(across)) + 0.5, labels=across)
    for tick in axes.get_xticklabels():
        tick.set(rotation=40, ha="right", rotation_mode="anchor")
    axes.set_ylim(len(down), 0)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def criterion_titles(criteria: Sequence[tuple[Key, list[Row]]]) -> list[str]:
    """What panels are called: by criterion, with the study where there are several."""
    several = len({key[0] for key, _ in criteria}) > 1
    return [label(f"{key[0]}: {titled(key)}" if several else titled(key)) for key, _ in criteria]


def label(text: str) -> str:
    """Text for a figure: short enough, and without what XML cannot hold."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean if len(clean) <= LONGEST_LABEL else f"{clean[: LONGEST_LABEL - 1]}…"


def facet_look(place: int) -> Look:
    """Colour and hatch of the facet in this place; a ninth looks like the first."""
    return _LOOKS[place % len(_LOOKS)]
