"""A heatmap: rows by columns, each number in its field, and the printed one below it."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.paper_figures.cells import Cell, Cells
from metassay.paper_figures.look import INK, WIDTH
from metassay.paper_figures.record import Record
from metassay.reporting.figures.drawing import label
from metassay.reporting.numbers import short

_FIELD = 0.46  # inches at most
_COLOURS = "PuOr"  # from orange over white to purple: told apart by all readers


def draw(record: Record, cells: Cells) -> Figure:
    """A panel beside the other; numbers without the zero before the point."""
    found = cells.cells
    panels = list(cells.panels)
    rows = list(cells.rows)
    columns = list(cells.columns)
    names = 0.055 * max(len(label(row)) for row in rows)
    field = min(_FIELD, (WIDTH - names - 0.3) / (len(columns) * len(panels)))
    width = names + 0.3 + field * len(columns) * len(panels)
    below = 0.055 * max(len(label(column)) for column in columns)
    figure = Figure(
        figsize=(width, 0.4 + below + field * 0.8 * len(rows)),
        layout=ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03),
    )
    grid = figure.subplots(1, len(panels), squeeze=False, sharey=True)
    signed = any(cell.ours < 0 for cell in found)
    top = max(1.0, *(abs(cell.ours) for cell in found))
    for axes, panel in zip(grid[0], panels, strict=True):
        at = {(c.row, c.column): c for c in found if c.panel == panel}
        shades = [[_shade(at.get((row, column))) for column in columns] for row in rows]
        axes.imshow(
            shades, cmap=_COLOURS, vmin=-top, vmax=top, aspect="auto", interpolation="nearest"
        )
        _numbers(axes, at, rows, columns, size=min(6.5, 15 * field), top=top)
        axes.set_title(label(panel), loc="left")
        axes.set_xticks(range(len(columns)), labels=map(label, columns), rotation=90)
    grid[0, 0].set_yticks(range(len(rows)), labels=map(label, rows))
    for axes in grid[0]:
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
    said = record.axis or "value"
    if any(cell.published is not None for cell in found):
        said += "; ours, and in brackets the printed"
    if signed:
        said += "; orange below 0, purple above"
    figure.supxlabel(said, fontsize=6.5, x=0.01, ha="left")
    return figure


def _shade(cell: Cell | None) -> float:
    return float("nan") if cell is None else cell.ours


def _numbers(
    axes: Axes,
    at: dict[tuple[str, str], Cell],
    rows: list[str],
    columns: list[str],
    *,
    size: float,
    top: float,
) -> None:
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            cell = at.get((row, column))
            if cell is None:
                continue
            text = short(cell.ours)
            if cell.published is not None:
                text += f"\n({short(cell.published)})"
            colour = "white" if abs(cell.ours) > 0.55 * top else INK
            axes.text(x, y, text, ha="center", va="center", fontsize=size, color=colour)
