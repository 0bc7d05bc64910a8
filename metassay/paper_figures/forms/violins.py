"""Violins: the draws of each row, a panel for each column; ours as a dot, the printed beside."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from metassay.paper_figures.cells import Cell, Cells
from metassay.paper_figures.look import OURS, THEIRS, bare, sheet, whose
from metassay.paper_figures.record import Record
from metassay.reporting.figures.drawing import label


def draw(record: Record, cells: Cells) -> Figure:
    """A grid of panels, at most four in a line: one per column."""
    found = cells.cells
    columns = list(cells.columns)
    rows = list(cells.rows)
    across = min(len(columns), 4)
    down = -(-len(columns) // across)
    figure = sheet(down * (0.55 + 0.24 * len(rows)), h_pad=0.05)
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    for place, axes in enumerate(grid.flat):
        if place >= len(columns):
            axes.set_visible(False)
            continue
        for cell in found:
            if cell.column == columns[place]:
                _violin(axes, cell, rows.index(cell.row))
        axes.set_title(label(columns[place]), loc="left")
        axes.set_xlabel(record.axis)
        bare(axes)
    grid[0, 0].set_yticks(range(len(rows)), labels=map(label, rows))
    grid[0, 0].set_ylim(len(rows) - 0.4, -0.6)
    whose(figure, found)
    return figure


def _violin(axes: Axes, cell: Cell, y: int) -> None:
    """How often each value was drawn, mirrored; no kernel, which would smooth what isn't smooth."""
    if len(set(cell.draws)) > 1:
        bins = int(np.ceil(2 * len(cell.draws) ** (1 / 3)))  # Rice's rule
        counts, edges = np.histogram(np.asarray(cell.draws), bins=bins)
        middles = (edges[:-1] + edges[1:]) / 2
        half = 0.42 * counts / counts.max()
        axes.fill_between(middles, y - half, y + half, color=OURS, alpha=0.3, linewidth=0)
    if cell.low is not None and cell.high is not None:
        axes.plot([cell.low, cell.high], [y, y], "-", color=OURS, linewidth=1.2)
    axes.plot([cell.ours], [y], "o", color=OURS, markersize=3)
    if cell.published is not None:
        axes.plot([cell.published], [y], "D", color=THEIRS, markersize=4.2, markerfacecolor="none")
