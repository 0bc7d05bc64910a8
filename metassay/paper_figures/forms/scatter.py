"""A scatter: a point per row, its first column across and its second one up, with its name."""

from typing import Literal, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from metassay.errors import BadInput
from metassay.paper_figures.cells import Cell, Cells
from metassay.paper_figures.look import FAINT, OURS, THEIRS, WIDTH, bare, sheet, whose
from metassay.paper_figures.record import Record
from metassay.reporting.figures.drawing import label

_NAMED = 24  # points at most that bear their names
_LETTERS = 6.5
_PER_LETTER, _HALF, _DOT = 0.05, 0.055, 0.04  # inches: a letter's width, half a line, a point
# Where a name may stand: how it is aligned, how far up, and how far aside, in inches.
_SIDES: tuple[tuple[Literal["left", "center", "right"], float, float], ...] = (
    *(("left", 0.08, 0.04), ("left", -0.08, 0.04), ("right", 0.08, -0.04), ("right", -0.08, -0.04)),
    *(("left", 0.0, 0.06), ("right", 0.0, -0.06), ("center", 0.12, 0.0), ("center", -0.12, 0.0)),
)
_BEFORE = {"left": 0.0, "center": 0.5, "right": 1.0}  # which share of a name is left of its place
_HALO = [withStroke(linewidth=1.5, foreground="white")]


class _Box(NamedTuple):
    """A rectangle in a panel, in inches."""

    left: float
    low: float
    right: float
    high: float

    @classmethod
    def of(cls, x: float, y: float, long: float, before: float) -> "_Box":
        """That of a name of so many inches at a place."""
        return cls(x - before * long, y - _HALF, x + (1 - before) * long, y + _HALF)

    def shared(self, other: "_Box") -> float:
        """The area that two cover both."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        tall = min(self.high, other.high) - max(self.low, other.low)
        return max(wide, 0.0) * max(tall, 0.0)

    def outside(self, size: tuple[float, float]) -> float:
        """The area that lies outside the panel."""
        whole = (self.right - self.left) * (self.high - self.low)
        return whole - self.shared(_Box(0.0, 0.0, *size))


def draw(record: Record, cells: Cells) -> Figure:
    """A panel beside the other. A point needs both columns; BadInput unless there are two."""
    found = cells.cells
    columns = list(cells.columns)
    if len(columns) != 2:
        raise BadInput(
            f"{record.paper} {record.name}: a scatter takes two columns, not {len(columns)}"
        )
    panels = list(cells.panels)
    height = 0.28 + WIDTH / max(len(panels), 1.8)
    figure = sheet(height)
    grid = figure.subplots(1, len(panels), squeeze=False)
    for axes, panel in zip(grid[0], panels, strict=True):
        at = {(c.row, c.column): c for c in found if c.panel == panel}
        points = [
            (row, at[row, columns[0]], at[row, columns[1]])
            for row in dict.fromkeys(row for row, _ in at)
            if all((row, column) in at for column in columns)
        ]
        for _, across, up in points:
            _point(axes, across, up)
        axes.set_title(label(panel), loc="left")
        axes.set_xlabel(columns[0])
        axes.set_ylabel(columns[1])
        axes.margins(0.05)
        bare(axes, grid="y")
        axes.grid(axis="x", color=FAINT, linewidth=0.4)
        if len(points) <= _NAMED:
            named = [(across.ours, up.ours, label(row)) for row, across, up in points]
            _name(axes, named, (WIDTH / len(panels) - 0.6, height - 0.5))
    whose(figure, found)
    return figure


def _point(axes: Axes, across: Cell, up: Cell) -> None:
    x, y = across.ours, up.ours
    if across.low is not None and across.high is not None:
        axes.plot([across.low, across.high], [y, y], "-", color=OURS, linewidth=0.7, alpha=0.3)
    if up.low is not None and up.high is not None:
        axes.plot([x, x], [up.low, up.high], "-", color=OURS, linewidth=0.7, alpha=0.3)
    axes.plot([x], [y], "o", color=OURS, markersize=3.2)
    if across.published is not None and up.published is not None:
        axes.plot(
            [across.published],
            [up.published],
            "D",
            color=THEIRS,
            markersize=4.2,
            markerfacecolor="none",
        )


def _name(axes: Axes, points: list[tuple[float, float, str]], size: tuple[float, float]) -> None:
    """A name at each point, where it covers least; `size` is the panel's, in inches."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    at = [
        (size[0] * (x - left) / (right - left), size[1] * (y - low) / (high - low))
        for x, y, _ in points
    ]
    taken = [_Box(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in at]
    for (x, y), (across, up, name) in zip(at, points, strict=True):
        long = _PER_LETTER * len(name)
        places = [
            (_Box.of(x + aside, y + higher, long, _BEFORE[side]), side, higher, aside)
            for side, higher, aside in _SIDES
        ]
        covered = [sum(map(box.shared, taken)) + box.outside(size) for box, *_ in places]
        box, side, higher, aside = places[covered.index(min(covered))]
        taken.append(box)
        axes.annotate(
            name,
            (across, up),
            (72 * aside, 72 * higher),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=_LETTERS,
            path_effects=_HALO,
        )
