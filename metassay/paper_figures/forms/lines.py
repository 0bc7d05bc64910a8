"""Lines: columns along the axis, a line per row that bears its name at its end."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.paper_figures.cells import Cell, Cells
from metassay.paper_figures.look import GLYPHS, MARKERS, SERIES, WIDTH, bare, moved_apart
from metassay.paper_figures.record import Record
from metassay.reporting.figures.drawing import label

_APART = 0.012  # of the axis: lines of one place stand beside each other, with their intervals


def draw(record: Record, cells: Cells) -> Figure:
    """A panel beside the other; ours in full with a stroke for the interval, the printed dashed."""
    found = cells.cells
    panels = list(cells.panels)
    rows = list(cells.rows)
    columns = {name: float(place) for place, name in enumerate(cells.columns)}
    columns |= {cell.column: cell.x for cell in found if cell.x is not None}
    wide = max(columns.values()) - min(columns.values())
    figure = Figure(figsize=(WIDTH, 2.9), layout=ConstrainedLayoutEngine())
    grid = figure.subplots(1, len(panels), squeeze=False, sharey=True)
    for axes, panel in zip(grid[0], panels, strict=True):
        ends = []
        for place, row in enumerate(rows):
            own = [c for c in found if (c.panel, c.row) == (panel, row)]
            if own:
                aside = _APART * wide * (place - (len(rows) - 1) / 2)
                at = [columns[c.column] + aside for c in own]
                ends.append(_line(axes, own, at, place))
        axes.set_title(label(panel), loc="left")
        axes.set_xticks(list(columns.values()), labels=map(label, columns))
        axes.set_xlabel(record.across)
        bare(axes, grid="y")
        axes.margins(x=0.03)
        _name(axes, ends)
    grid[0, 0].set_ylabel(record.axis)
    said = "ours: full lines, strokes: their intervals"
    if any(cell.published is not None for cell in found):
        said += "; printed: dashed"
    figure.supxlabel(said, fontsize=6.5, x=0.01, ha="left")
    return figure


def _line(axes: Axes, cells: list[Cell], at: list[float], place: int) -> tuple[float, str, str]:
    """Draw a line; how high it ends, its name and its colour."""
    colour, marker = SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)]
    for x, cell in zip(at, cells, strict=True):
        if cell.low is not None and cell.high is not None:
            axes.plot([x, x], [cell.low, cell.high], "-", color=colour, linewidth=0.9, alpha=0.6)
    axes.plot(at, [c.ours for c in cells], "-", marker=marker, markersize=3.2, color=colour)
    printed = [(x, c.published) for x, c in zip(at, cells, strict=True) if c.published is not None]
    if printed:
        axes.plot(
            *zip(*printed, strict=True),
            "--",
            marker=marker,
            markersize=4.2,
            markerfacecolor="none",
            color=colour,
            linewidth=0.9,
        )
    glyph = GLYPHS[place % len(GLYPHS)]
    return cells[-1].ours, f"{glyph} {label(cells[-1].row)}", colour


def _name(axes: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Names beside the panel, at the height of the lines' ends or near it."""
    low, high = axes.get_ylim()
    right = axes.get_xlim()[1]
    places = moved_apart([y for y, _, _ in ends], (high - low) * 0.06)
    for (_, name, colour), y in zip(ends, places, strict=True):
        axes.annotate(
            name,
            (right, y),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
            color=colour,
            annotation_clip=False,
        )
