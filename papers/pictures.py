"""The pictures of records, a function per form; equal numbers give equal bytes.

Colours are Okabe and Ito's, which colour-blind readers tell apart; ours and theirs
differ in shape, too. Sizes are for print, without scaling. Fonts are embedded: as
outlines in SVG, as TrueType in PDF.
"""

import io
from collections.abc import Callable, Collection, Mapping, Sequence
from math import isnan
from typing import Literal

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke
from scipy.optimize import isotonic_regression

from metassay.core.errors import BadInput
from metassay.format.numbers import short
from metassay.reporting.figures import FAINT, INK, STYLE, label, lay_out
from papers.cells import Cell, Cells
from papers.record import Record

_WIDTH = 6.3  # inches between the margins of A4
_OURS, _THEIRS = "#0072B2", "#D55E00"
# Of series, in their order: Okabe and Ito 2008 without yellow, which is faint on white
# paper.
_SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "D", "s", "^", "v", "P", "X")
# the same as text, for names beside lines
_GLYPHS = ("●", "◆", "■", "▲", "▼", "✚", "✖")
_PNG_DPI = 300
_ABOVE = 0.22  # inches for the legend

_PRINT = STYLE | {
    "font.sans-serif": ["DejaVu Sans"],  # matplotlib brings it on any machine
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
_NO_METADATA = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def picture_files(record: Record, cells: Cells) -> dict[str, bytes]:
    """Return the picture by format: svg, pdf and png. Equal cells give equal bytes, in any process.

    Raises BadInput if the record's form cannot show the cells.
    """
    if record.form != "dots" and any(isnan(cell.ours) for cell in cells.cells):
        raise BadInput(
            f"{record.paper} {record.name}: {record.form} cannot show printed numbers alone; draw"
            " dots, or take printed_alone from its lines"
        )
    with matplotlib.style.context(["default", _PRINT]):
        figure = _FORMS[record.form](record, cells)
        FigureCanvasAgg(figure)
        lay_out(figure)
        files = {}
        for kind, metadata in _NO_METADATA.items():
            file = io.BytesIO()
            figure.savefig(file, format=kind, dpi=_PNG_DPI, metadata=metadata)
            files[kind] = file.getvalue()
    return files


# ---- what forms share ------------------------------------------------------------------------


def _sheet(height: float, h_pad: float | None = None) -> Figure:
    """Return an empty figure as wide as a page, `height` inches tall below the legend."""
    full = height + _ABOVE
    layout = ConstrainedLayoutEngine(rect=(0, 0, 1, 1 - _ABOVE / full), h_pad=h_pad)
    return Figure(figsize=(_WIDTH, full), layout=layout)


def _legend(figure: Figure, cells: Sequence[Cell], *, bars: bool = False) -> None:
    """Write above the panels, in their colours, which marks are ours and which were printed."""
    ends = ", strokes: their intervals" if bars else ", with its interval"
    ours, colour = ("bars: ours", INK) if bars else ("● ours", _OURS)
    words = [
        (ours + (ends if any(cell.low is not None for cell in cells) else ""), colour)
    ]
    if _any_printed(cells):
        words.append(("◇ as printed", _THEIRS))
    x = 0.01
    for text, colour in words:
        figure.text(x, 0.995, text, color=colour, ha="left", va="top", fontsize=7)
        x += (0.052 * len(text) + 0.2) / figure.get_figwidth()


def _any_printed(cells: Sequence[Cell]) -> bool:
    return any(cell.published is not None for cell in cells)


def _strip(axes: Axes, *, grid: Literal["x", "y"] = "x") -> None:
    """Remove the frame and draw faint grid lines."""
    for side in ("top", "right", "left" if grid == "x" else "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y" if grid == "x" else "x", length=0)
    axes.grid(axis=grid, color=FAINT, linewidth=0.4)
    axes.set_axisbelow(True)


def _interval(
    axes: Axes,
    cell: Cell,
    place: float,
    width: float,
    alpha: float | None = None,
    *,
    colour: str = _OURS,
    upright: bool = False,
) -> None:
    """Draw a stroke from end to end, at a height, or upright at an x; none without ends."""
    if cell.low is not None and cell.high is not None:
        ends, places = [cell.low, cell.high], [place, place]
        xy = (places, ends) if upright else (ends, places)
        axes.plot(*xy, "-", color=colour, linewidth=width, alpha=alpha)


def _diamond(axes: Axes, x: float | None, y: float | None, size: float) -> None:
    """Mark a printed number; nothing if none was printed."""
    if x is not None and y is not None:
        axes.plot([x], [y], "D", color=_THEIRS, markersize=size, markerfacecolor="none")


def _name_rows(axes: Axes, rows: Collection[str]) -> None:
    axes.set_yticks(range(len(rows)), labels=[label(row) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)


def _write_beside(
    axes: Axes, text: str, xy: tuple[float, float], size: float, colour: str
) -> None:
    """Write text a little to the right of a point, in the panel or outside of it."""
    axes.annotate(
        text,
        xy,
        (3, 0),
        textcoords="offset points",
        va="center",
        fontsize=size,
        color=colour,
        annotation_clip=False,
    )


# ---- bars ------------------------------------------------------------------------------------


def _bars(record: Record, cells: Cells) -> Figure:
    """Draw the panels one below the other; groups are named at the side, bars at their ends."""
    by_panel = {
        panel: [c for c in cells.cells if c.panel == panel] for panel in cells.panels
    }
    heights = [
        0.12 * len(of) + 0.08 * len({c.row for c in of}) + 0.25
        for of in by_panel.values()
    ]
    figure = _sheet(0.3 + sum(heights))
    grid = figure.subplots(
        len(by_panel), 1, squeeze=False, sharex=True, height_ratios=heights
    )
    for axes, (panel, bars) in zip(grid[:, 0], by_panel.items(), strict=True):
        _bar_panel(axes, bars, cells.columns)
        axes.set_title(label(panel), loc="left")
    grid[-1, 0].set_xlabel(record.axis)
    _legend(figure, cells.cells, bars=True)
    return figure


def _bar_panel(axes: Axes, cells: Sequence[Cell], columns: Sequence[str]) -> None:
    y, ticks = 0.0, {}
    for row in dict.fromkeys(cell.row for cell in cells):
        bars = [cell for cell in cells if cell.row == row]
        ticks[row] = y + (len(bars) - 1) / 2
        for cell in bars:
            colour = _SERIES[columns.index(cell.column) % len(_SERIES)]
            axes.barh(y, cell.ours, height=0.8, color=colour, alpha=0.55)
            _interval(axes, cell, y, 0.8, colour=INK)
            _diamond(axes, cell.published, y, 3.6)
            if len(columns) > 1:
                ends = (cell.ours, cell.high, cell.published)
                end = max(0.0, *(end for end in ends if end is not None))
                _write_beside(axes, label(cell.column), (end, y), 5.5, INK)
            y += 1
        y += 0.6
    axes.set_yticks(list(ticks.values()), labels=[label(row) for row in ticks])
    axes.set_ylim(y - 0.9, -0.7)
    axes.margins(x=0.12)
    _strip(axes)


# ---- dots and violins ------------------------------------------------------------------------


def _dots(record: Record, cells: Cells) -> Figure:
    """Draw a grid of panels: a column per column, a row per panel of the record."""
    rows = {panel: cells.rows_in(panel) for panel in cells.panels}
    heights = [len(names) + 1.6 for names in rows.values()]
    figure = _sheet(0.25 + 0.165 * sum(heights), h_pad=0.05)
    shape = len(rows), len(cells.columns)
    grid = figure.subplots(*shape, squeeze=False, sharex="col", height_ratios=heights)
    for down, panel in enumerate(cells.panels):
        for across, column in enumerate(cells.columns):
            axes = grid[down, across]
            for cell in cells.cells:
                if (cell.panel, cell.column) == (panel, column):
                    y = rows[panel].index(cell.row)
                    _interval(axes, cell, y, 1.6, 0.5)
                    axes.plot([cell.ours], [y], "o", color=_OURS, markersize=3.2)
                    _diamond(axes, cell.published, y, 4.6)
            _name_rows(axes, rows[panel])
            _strip(axes)
            if not down:
                axes.set_title(label(column), loc="left")
            if across:
                axes.set_yticklabels([])
        if panel:
            grid[down, 0].set_ylabel(
                label(panel), rotation=0, ha="right", va="bottom", y=1.0
            )
    for axes in grid[-1]:
        axes.set_xlabel(record.axis)
    _legend(figure, cells.cells)
    return figure


def _violins(record: Record, cells: Cells) -> Figure:
    """Draw each row's draws, ours as a dot; a panel per column, at most four in a row."""
    across = min(len(cells.columns), 4)
    down = -(-len(cells.columns) // across)
    figure = _sheet(down * (0.55 + 0.24 * len(cells.rows)), h_pad=0.05)
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    for place, axes in enumerate(grid.flat):
        if place >= len(cells.columns):
            axes.set_visible(False)
            continue
        for cell in cells.cells:
            if cell.column == cells.columns[place]:
                _violin(axes, cell, cells.rows.index(cell.row))
        axes.set_title(label(cells.columns[place]), loc="left")
        axes.set_xlabel(record.axis)
        _strip(axes)
    _name_rows(grid[0, 0], cells.rows)
    _legend(figure, cells.cells)
    return figure


def _violin(axes: Axes, cell: Cell, y: int) -> None:
    """Draw a mirrored histogram of the draws; a kernel would smooth away real steps."""
    if len(set(cell.draws)) > 1:
        bins = int(np.ceil(2 * len(cell.draws) ** (1 / 3)))  # Rice's rule
        counts, edges = np.histogram(np.asarray(cell.draws), bins=bins)
        middles = (edges[:-1] + edges[1:]) / 2
        half = 0.42 * counts / counts.max()
        axes.fill_between(
            middles, y - half, y + half, color=_OURS, alpha=0.3, linewidth=0
        )
    _interval(axes, cell, y, 1.2)
    axes.plot([cell.ours], [y], "o", color=_OURS, markersize=3)
    _diamond(axes, cell.published, y, 4.2)


# ---- heatmaps --------------------------------------------------------------------------------


def _heatmap(record: Record, cells: Cells) -> Figure:
    """Draw the panels side by side; numbers without the leading zero, the printed ones below."""
    shown, n_fields = cells.cells, len(cells.columns) * len(cells.panels)
    names = 0.055 * max(len(label(row)) for row in cells.rows)
    below = 0.055 * max(len(label(column)) for column in cells.columns)
    field = min(0.46, (_WIDTH - names - 0.3) / n_fields)  # inches
    figure = Figure(
        figsize=(
            names + 0.3 + field * n_fields,
            0.4 + below + field * 0.8 * len(cells.rows),
        ),
        layout=ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03),
    )
    grid = figure.subplots(1, len(cells.panels), squeeze=False, sharey=True)
    top = max(1.0, *(abs(cell.ours) for cell in shown))
    for axes, panel in zip(grid[0], cells.panels, strict=True):
        # From orange over white to purple, which all readers tell apart; no frame.
        shades = np.full((len(cells.rows), len(cells.columns)), np.nan)
        for cell in (c for c in shown if c.panel == panel):
            text = short(cell.ours)
            if cell.published is not None:
                text += f"\n({short(cell.published)})"
            colour = "white" if abs(cell.ours) > 0.55 * top else INK
            x, y = cells.columns.index(cell.column), cells.rows.index(cell.row)
            shades[y, x] = cell.ours
            size = min(6.5, 15 * field)
            axes.text(x, y, text, ha="center", va="center", fontsize=size, color=colour)
        axes.imshow(
            shades, "PuOr", vmin=-top, vmax=top, aspect="auto", interpolation="nearest"
        )
        axes.set_xticks(
            range(len(cells.columns)), labels=map(label, cells.columns), rotation=90
        )
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(label(panel), loc="left")
    grid[0, 0].set_yticks(range(len(cells.rows)), labels=map(label, cells.rows))
    words = [record.axis or "value"]
    words += ["ours, and in brackets the printed"] * _any_printed(shown)
    words += ["orange below 0, purple above"] * any(cell.ours < 0 for cell in shown)
    figure.supxlabel("; ".join(words), fontsize=6.5, x=0.01, ha="left")
    return figure


# ---- lines -----------------------------------------------------------------------------------


def _lines(record: Record, cells: Cells) -> Figure:
    """Draw columns along the axis, a line per row with its name at its end; panels side by side."""
    ticks = {name: float(place) for place, name in enumerate(cells.columns)}
    ticks |= {cell.column: cell.x for cell in cells.cells if cell.x is not None}
    step = 0.012 * (max(ticks.values()) - min(ticks.values()))
    figure = Figure(figsize=(_WIDTH, 2.9), layout=ConstrainedLayoutEngine())
    grid = figure.subplots(1, len(cells.panels), squeeze=False, sharey=True)
    for axes, panel in zip(grid[0], cells.panels, strict=True):
        ends = []
        for place, row in enumerate(cells.rows):
            points = [c for c in cells.cells if (c.panel, c.row) == (panel, row)]
            if points:
                shift = step * (place - (len(cells.rows) - 1) / 2)
                ends.append(
                    _line(
                        axes, points, [ticks[c.column] + shift for c in points], place
                    )
                )
        axes.set_title(label(panel), loc="left")
        axes.set_xticks(list(ticks.values()), labels=map(label, ticks))
        axes.set_xlabel(record.across)
        _strip(axes, grid="y")
        axes.margins(x=0.03)
        low, high = axes.get_ylim()
        heights = _spread([y for y, _, _ in ends], (high - low) * 0.06)
        for (_, name, colour), y in zip(ends, heights, strict=True):
            _write_beside(axes, name, (axes.get_xlim()[1], y), 6.5, colour)
    grid[0, 0].set_ylabel(record.axis)
    words = "ours: full lines, strokes: their intervals"
    words += "; printed: dashed" if _any_printed(cells.cells) else ""
    figure.supxlabel(words, fontsize=6.5, x=0.01, ha="left")
    return figure


def _line(
    axes: Axes, cells: list[Cell], xs: list[float], place: int
) -> tuple[float, str, str]:
    """Draw a line; return the height of its end, its name and its colour."""
    colour, marker = _SERIES[place % len(_SERIES)], _MARKERS[place % len(_MARKERS)]
    for x, cell in zip(xs, cells, strict=True):
        _interval(axes, cell, x, 0.9, 0.6, colour=colour, upright=True)
    axes.plot(
        xs, [c.ours for c in cells], "-", marker=marker, markersize=3.2, color=colour
    )
    printed = [
        (x, c.published)
        for x, c in zip(xs, cells, strict=True)
        if c.published is not None
    ]
    if printed:
        (dashes,) = axes.plot(
            *zip(*printed, strict=True), "--", color=colour, linewidth=0.9
        )
        dashes.set(marker=marker, markersize=4.2, markerfacecolor="none")
    glyph = _GLYPHS[place % len(_GLYPHS)]
    return cells[-1].ours, f"{glyph} {label(cells[-1].row)}", colour


def _spread(places: Sequence[float], least: float) -> list[float]:
    """Move positions as little as possible, so that any two are at least `least` apart."""
    order = np.argsort(places, kind="stable")
    steps = least * np.arange(len(order))
    level = isotonic_regression(np.asarray(places, dtype=float)[order] - steps).x
    result = np.empty(len(order))
    result[order] = level + steps
    return [float(place) for place in np.round(result, 9)]


# ---- scatters --------------------------------------------------------------------------------

_MOST_NAMES = 24  # the most points that get names
# Inches: a letter's width, half a line, a point, half an interval's stroke.
_PER_LETTER, _HALF, _DOT, _STROKE = 0.05, 0.055, 0.04, 0.02
# Positions of a name: alignment, offset up and offset aside, in inches.
_SIDES: tuple[tuple[Literal["left", "center", "right"], float, float], ...] = (
    ("left", 0.08, 0.04),
    ("left", -0.08, 0.04),
    ("right", 0.08, -0.04),
    ("right", -0.08, -0.04),
    ("left", 0.0, 0.06),
    ("right", 0.0, -0.06),
    ("center", 0.12, 0.0),
    ("center", -0.12, 0.0),
)
# the share of a name left of its position
_BEFORE = {"left": 0.0, "center": 0.5, "right": 1.0}
_HALO = [withStroke(linewidth=1.5, foreground="white")]


_Box = tuple[float, float, float, float]  # left, low, right, high in a panel, in inches


def _overlap(a: _Box, b: _Box) -> float:
    """Return the area that both cover."""
    wide, tall = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return max(wide, 0.0) * max(tall, 0.0)


def _scatter(record: Record, cells: Cells) -> Figure:
    """Draw a named point per row, x and y from two columns; raises BadInput for more or fewer."""
    if len(cells.columns) != 2:
        raise BadInput(
            f"{record.paper} {record.name}: a scatter takes two columns, not {len(cells.columns)}"
        )
    first, second = cells.columns
    height = 0.28 + _WIDTH / max(len(cells.panels), 1.8)
    figure = _sheet(height)
    grid = figure.subplots(1, len(cells.panels), squeeze=False)
    for axes, panel in zip(grid[0], cells.panels, strict=True):
        by_name = {(c.row, c.column): c for c in cells.cells if c.panel == panel}
        points = [
            (by_name[row, first], by_name[row, second])
            for row in dict.fromkeys(row for row, _ in by_name)
            if (row, first) in by_name and (row, second) in by_name
        ]
        for across, up in points:
            _interval(axes, across, up.ours, 0.7, 0.3)
            _interval(axes, up, across.ours, 0.7, 0.3, upright=True)
            axes.plot([across.ours], [up.ours], "o", color=_OURS, markersize=3.2)
            _diamond(axes, across.published, up.published, 4.2)
        axes.set_title(label(panel), loc="left")
        axes.set_xlabel(first)
        axes.set_ylabel(second)
        axes.margins(0.05)
        _strip(axes, grid="y")
        axes.grid(axis="x", color=FAINT, linewidth=0.4)
        if len(points) <= _MOST_NAMES:
            _name_points(axes, points, (_WIDTH / len(cells.panels) - 0.6, height - 0.5))
    _legend(figure, cells.cells)
    return figure


def _name_points(
    axes: Axes, points: Sequence[tuple[Cell, Cell]], size: tuple[float, float]
) -> None:
    """Name each point where the name covers least; `size` is the panel's, in inches."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()

    def inches(x: float, y: float) -> tuple[float, float]:
        return size[0] * (x - left) / (right - left), size[1] * (y - low) / (high - low)

    centres = [inches(across.ours, up.ours) for across, up in points]
    panel = (0.0, 0.0, *size)
    occupied = [(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in centres]
    for across, up in points:
        for x_low, y_low, x_high, y_high in (
            (across.low, up.ours, across.high, up.ours),
            (across.ours, up.low, across.ours, up.high),
            (across.published, up.published) * 2,
        ):
            if not (x_low is None or y_low is None or x_high is None or y_high is None):
                (west, south), (east, north) = (
                    inches(x_low, y_low),
                    inches(x_high, y_high),
                )
                occupied.append(
                    (west - _STROKE, south - _STROKE, east + _STROKE, north + _STROKE)
                )
    for (x, y), (across, up) in zip(centres, points, strict=True):
        name = label(up.row)
        boxes = [
            _name_box(name, x + offset, y + up, side) for side, up, offset in _SIDES
        ]
        overlaps = [
            sum(_overlap(box, other) for other in occupied)
            + (_overlap(box, box) - _overlap(box, panel))
            for box in boxes
        ]
        best = overlaps.index(min(overlaps))
        occupied.append(boxes[best])
        side, higher, offset = _SIDES[best]
        axes.annotate(
            name,
            (across.ours, up.ours),
            (72 * offset, 72 * higher),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=6.5,
            path_effects=_HALO,
        )


def _name_box(name: str, x: float, y: float, side: str) -> _Box:
    long = _PER_LETTER * len(name)
    return (
        x - _BEFORE[side] * long,
        y - _HALF,
        x + (1 - _BEFORE[side]) * long,
        y + _HALF,
    )


_FORMS: Mapping[str, Callable[[Record, Cells], Figure]] = {
    "bars": _bars,
    "dots": _dots,
    "heatmap": _heatmap,
    "lines": _lines,
    "scatter": _scatter,
    "violins": _violins,
}
