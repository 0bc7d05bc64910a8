"""Bars: rows down the side, a bar per column in each; parts of a whole with their names on them."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from metassay.paper_figures.cells import Cell, Cells
from metassay.paper_figures.look import INK, SERIES, THEIRS, bare, sheet, whose
from metassay.paper_figures.record import Record
from metassay.reporting.figures.drawing import label


def draw(record: Record, cells: Cells) -> Figure:
    """A panel below the other; each group of bars is named at its side, each bar at its end."""
    found = cells.cells
    panels = list(cells.panels)
    per = {p: [c for c in found if c.panel == p] for p in panels}
    heights = [0.12 * len(per[p]) + 0.08 * len({c.row for c in per[p]}) + 0.25 for p in panels]
    figure = sheet(0.3 + sum(heights))
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights)
    columns = list(cells.columns)
    for axes, panel in zip(grid[:, 0], panels, strict=True):
        _panel(axes, per[panel], columns)
        axes.set_title(label(panel), loc="left")
    grid[-1, 0].set_xlabel(record.axis)
    whose(figure, found, bars=True)
    return figure


def _panel(axes: Axes, cells: list[Cell], columns: list[str]) -> None:
    y, ticks = 0.0, []
    for row in dict.fromkeys(cell.row for cell in cells):
        own = [cell for cell in cells if cell.row == row]
        ticks.append((y + (len(own) - 1) / 2, row))
        for cell in own:
            colour = SERIES[columns.index(cell.column) % len(SERIES)]
            axes.barh(y, cell.ours, height=0.8, color=colour, alpha=0.55)
            end = cell.ours
            if cell.low is not None and cell.high is not None:
                axes.plot([cell.low, cell.high], [y, y], "-", color=INK, linewidth=0.8)
                end = max(end, cell.high)
            if cell.published is not None:
                axes.plot(
                    cell.published, y, "D", color=THEIRS, markersize=3.6, markerfacecolor="none"
                )
                end = max(end, cell.published)
            if len(columns) > 1:
                axes.annotate(
                    label(cell.column),
                    (end, y),
                    (3, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=5.5,
                    color=INK,
                )
            y += 1
        y += 0.6
    axes.set_yticks([place for place, _ in ticks], labels=[label(row) for _, row in ticks])
    axes.set_ylim(y - 0.9, -0.7)
    axes.margins(x=0.12)
    bare(axes)
