"""What all figures share: one look whatever the user's settings, and bytes that never vary.

Figures are drawn with matplotlib's object interface; no state outlives a call. SVG keeps text as
text (`svg.fonttype: none`): smaller, searchable, read aloud, and free of outlines that another
build of the font library would trace differently.
"""

import io
import math
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import matplotlib.style
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.reporting.section import Key, Row, titled

PNG_DPI = 150
LONGEST_LABEL = 44
_LETTER, _LINE = 0.06, 0.14  # inches that a letter and a line of a note take
INK = "#1c2733"
FAINT = "#c9d2db"
ACCENT = "#1f5fa8"
GREY = "#7b8794"

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
    names: Sequence[str] = (),
    above: float = 0.0,
    *,
    share: str = "",
    **pads: Any,
) -> tuple[Figure, list[list[Axes]], list[Axes]]:
    """A figure of `n` panels, `per_row` at most in a row: the figure, all rows, and the panels.

    `size` of a panel, and what is `above` all of them, in inches. Axes that they `share`: x, y or
    both. `names` are those of lines, the first on top, where they share y. What is left over of the
    last row is not shown.
    """
    left = 0.6 + 0.075 * max(map(len, names)) if names else 0.0
    columns, rows = min(n, per_row), math.ceil(n / per_row)
    inches = (left + size[0] * columns, above + size[1] * rows)
    figure = Figure(figsize=inches, layout=ConstrainedLayoutEngine(**pads))
    shared: Any = {"sharex": "x" in share, "sharey": "y" in share}
    grid = figure.subplots(rows, columns, squeeze=False, **shared).tolist()
    every = [axes for row in grid for axes in row]
    for axes in every[n:]:
        axes.set_visible(False)
    if names:
        for axes in (one for row in grid for one in row[1:]):
            axes.yaxis.set_visible(False)  # its ticks would be laid out, and show nothing
        grid[0][0].set_yticks(range(len(names)), labels=names)
        grid[0][0].set_ylim(len(names) - 0.5, -0.5)
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


def bare(axes: Axes, lines: int = 0) -> None:
    """Faint lines across, and so many along, and no frame but the lower axis."""
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    across = axes.get_yaxis_transform()
    axes.hlines(range(lines), 0, 1, color=FAINT, linewidth=0.4, zorder=0, transform=across)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def placed(mine: Sequence[Row], column: str, place: Callable[[Row], int]) -> list[tuple[int, Row]]:
    """The rows that have a value there, each after its line, in the order of lines."""
    known = [(place(row), row) for row in mine if row[column] is not None]
    return sorted(known, key=lambda one: one[0])


def intervals(
    axes: Axes, lines: Sequence[tuple[float, float | None, float | None]], **look: Any
) -> None:
    """A stroke from low to high at each height; none where an end is unknown."""
    known = [line for line in lines if None not in line]
    if known:
        heights, low, high = zip(*known, strict=True)
        axes.hlines(heights, low, high, **{"capstyle": "projecting", "zorder": 2, **look})


def left_out(n: int, what: str) -> str:
    """Said below a figure in which `n` things have no line, since nothing of them is defined."""
    return f"; left out because undefined: {n:,} {what}{'s' * (n > 1)}" if n else ""


def of_more(n: int, n_all: int, what: str) -> str:
    """Said below a figure that shows the first `n` alone."""
    return f"; the first {n} of {n_all} {what}" if n_all > n else ""


def criterion_titles(criteria: Sequence[tuple[Key, list[Row]]]) -> list[str]:
    """What panels are called: by criterion, with the study where there are several."""
    several = len({key[0] for key, _ in criteria}) > 1
    return [label(f"{key[0]}: {titled(key)}" if several else titled(key)) for key, _ in criteria]


def label(text: str) -> str:
    """Text for a figure: short enough, and without what XML cannot hold."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean if len(clean) <= LONGEST_LABEL else f"{clean[: LONGEST_LABEL - 1]}…"
