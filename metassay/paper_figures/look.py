"""The one look of all paper figures, and files whose bytes never vary.

Colours are Okabe and Ito's, which colour-blind readers tell apart; ours and theirs differ in shape,
too. Sizes are those of print: nothing is to be scaled. Fonts are embedded: as outlines in SVG, as
TrueType in PDF.
"""

import io
from collections.abc import Callable, Iterable, Sequence

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from scipy.optimize import isotonic_regression

from metassay.paper_figures.cells import Cell
from metassay.reporting.figures.drawing import FAINT, INK, STYLE, lay_out

WIDTH = 6.3  # inches between the margins of A4
OURS, THEIRS = "#0072B2", "#D55E00"
# Of series, in their order: Okabe and Ito 2008 without yellow, which white paper swallows.
SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "D", "s", "^", "v", "P", "X")
GLYPHS = ("●", "◆", "■", "▲", "▼", "✚", "✖")  # the same as text, for names beside lines
PNG_DPI = 300
_ABOVE = 0.22  # inches for the line that says whose marks are whose

_PRINT = STYLE | {
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so it is there on any machine
    "font.size": 7.0,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.6,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
_NAMELESS = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def rendered(figure_of: Callable[[], Figure]) -> dict[str, bytes]:
    """The figure by format: svg, pdf and png. Equal figures give equal bytes, in any process."""
    with matplotlib.style.context(["default", _PRINT]):
        figure = figure_of()
        FigureCanvasAgg(figure)
        lay_out(figure)
        made = {}
        for kind, metadata in _NAMELESS.items():
            file = io.BytesIO()
            figure.savefig(file, format=kind, dpi=PNG_DPI, metadata=metadata)
            made[kind] = file.getvalue()
    return made


def bare(axes: Axes, *, grid: str = "x") -> None:
    """Only what carries numbers: no frame, faint lines to read them by."""
    for side in ("top", "right", "left" if grid == "x" else "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y" if grid == "x" else "x", length=0)
    axes.grid(axis=grid, color=FAINT, linewidth=0.4)  # type: ignore[arg-type] # it is x or y
    axes.set_axisbelow(True)


def sheet(height: float, h_pad: float | None = None) -> Figure:
    """An empty figure as wide as a page, `height` inches for panels below what `whose` says."""
    whole = height + _ABOVE
    layout = ConstrainedLayoutEngine(rect=(0, 0, 1, 1 - _ABOVE / whole), h_pad=h_pad)
    return Figure(figsize=(WIDTH, whole), layout=layout)


def whose(figure: Figure, cells: Iterable[Cell], *, bars: bool = False) -> None:
    """Say above the panels, in their colours, which marks are ours and which were printed.

    Bars have the colours of their columns, so their words have none.
    """
    shown = list(cells)
    printed = any(cell.published is not None for cell in shown)
    interval = any(cell.low is not None for cell in shown)
    ends = ", strokes: their intervals" if bars else ", with its interval"
    ours, colour = ("bars: ours", INK) if bars else ("● ours", OURS)
    said = [(ours + (ends if interval else ""), colour)]
    if printed:
        said.append(("◇ as printed", THEIRS))
    x = 0.01
    for text, colour in said:
        figure.text(x, 0.995, text, color=colour, ha="left", va="top", fontsize=7)
        x += (0.052 * len(text) + 0.2) / figure.get_figwidth()


def moved_apart(places: Sequence[float], least: float) -> list[float]:
    """Places of names so that two are at least so far apart, moved as little as that takes."""
    order = np.argsort(places, kind="stable")
    steps = least * np.arange(len(order))
    level = isotonic_regression(np.asarray(places, dtype=float)[order] - steps).x
    moved = np.empty(len(order))
    moved[order] = level + steps
    return [float(place) for place in np.round(moved, 9)]


__all__ = [
    "FAINT",
    "GLYPHS",
    "INK",
    "MARKERS",
    "OURS",
    "SERIES",
    "THEIRS",
    "WIDTH",
    "bare",
    "moved_apart",
    "rendered",
    "sheet",
    "whose",
]
