"""Dots: rows down the side, a panel for each column; ours with its interval, the printed beside."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from metassay.paper_figures.cells import Cell, Cells
from metassay.paper_figures.look import OURS, THEIRS, bare, sheet, whose
from metassay.paper_figures.record import Record
from metassay.reporting.figures.drawing import label


def draw(record: Record, cells: Cells) -> Figure:
    """A grid of panels: one per column, and a line of them per panel of the record."""
    found = cells.cells
    across = list(cells.columns)
    down = list(cells.panels)
    rows = {
        panel: [row for row in cells.rows if (panel, row) in {cell[:2] for cell in found}]
        for panel in down
    }
    heights = [len(rows[panel]) + 1.6 for panel in down]
    figure = sheet(0.25 + 0.165 * sum(heights), h_pad=0.05)
    grid = figure.subplots(
        len(down), len(across), squeeze=False, sharex="col", height_ratios=heights
    )
    for line, panel in enumerate(down):
        for place, column in enumerate(across):
            axes = grid[line, place]
            here = [c for c in found if (c.panel, c.column) == (panel, column)]
            _panel(axes, here, rows[panel])
            if not line:
                axes.set_title(label(column), loc="left")
            if place:
                axes.set_yticklabels([])
        if panel:
            grid[line, 0].set_ylabel(label(panel), rotation=0, ha="right", va="bottom", y=1.0)
    for axes in grid[-1]:
        axes.set_xlabel(record.axis)
    whose(figure, found)
    return figure


def _panel(axes: Axes, cells: list[Cell], rows: list[str]) -> None:
    for cell in cells:
        y = rows.index(cell.row)
        if cell.low is not None and cell.high is not None:
            axes.plot([cell.low, cell.high], [y, y], "-", color=OURS, linewidth=1.6, alpha=0.5)
        axes.plot([cell.ours], [y], "o", color=OURS, markersize=3.2)
        if cell.published is not None:
            axes.plot(
                [cell.published], [y], "D", color=THEIRS, markersize=4.6, markerfacecolor="none"
            )
    axes.set_yticks(range(len(rows)), labels=[label(row) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    bare(axes)
