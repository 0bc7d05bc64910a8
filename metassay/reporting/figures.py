"""The figures of reports, a function each; what else a page shows, it draws itself.

All have one look, whatever the user's settings, and bytes that never vary. Figures are
drawn with matplotlib's object interface; no state outlives a call. SVG keeps text as
text (`svg.fonttype: none`): smaller, searchable, read aloud, and free of outlines that
another build of the font library would trace differently.
"""

import io
import math
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from metassay.format.frames import records, rows
from metassay.format.numbers import short
from metassay.format.terms import COEFFICIENT_NAMES
from metassay.reporting.keys import Key, criterion_title
from metassay.reporting.names import (
    ARROWS,
    Metric,
    Row,
    group_by_criterion,
    grouped,
    headline_metrics,
    metric_name,
    metric_of,
    sorted_metrics,
    sorted_parts,
)
from metassay.statistics.document_means import Reals
from metassay.tables.names import FULL, metric_label, sorted_authors

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

Draw = Callable[[pd.DataFrame], Figure | None]


class Files(NamedTuple):
    """A figure in both formats."""

    svg: str
    png: bytes


def figures(useful: float) -> dict[str, Draw]:
    """Return what draws each figure, by its name; `useful`: a correlation that is of use."""
    return {
        "leaderboard": draw_leaderboard,
        "forest": partial(draw_forest, useful=useful),
        "violins": draw_violins,
        "history": draw_history,
        "reliability": draw_reliability,
    }


def draw(figure_of: Draw, frame: pd.DataFrame) -> Files | None:
    """Draw a frame; None where it has nothing to show. Equal frames give equal bytes."""
    with matplotlib.style.context(["default", STYLE]):
        figure = figure_of(frame)
        if figure is None:
            return None
        svg, png = io.StringIO(), io.BytesIO()
        FigureCanvasAgg(figure)
        lay_out(figure)
        figure.savefig(svg, format="svg", metadata=_NO_METADATA)
        figure.savefig(png, format="png", dpi=PNG_DPI, metadata={"Software": None})
    return Files(svg.getvalue(), png.getvalue())


def lay_out(figure: Figure) -> None:
    """Lay out once for both formats: it takes longer than drawing."""
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
    """Make a figure of `n` panels, `per_row` at most in a row: the figure, all rows, the panels.

    `size` of a panel, and what is `above` all of them, in inches. Axes that they
    `share`: x, y or both. `names` are those of lines, the first on top, where they
    share y.
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
        for axes in (axes for row in grid for axes in row[1:]):
            # its ticks would be laid out, and show nothing
            axes.yaxis.set_visible(False)
        grid[0][0].set_yticks(range(len(names)), labels=names)
        grid[0][0].set_ylim(len(names) - 0.5, -0.5)
    return figure, grid, every[:n]


def note_below(figure: Figure, text: str) -> None:
    """Write what the signs of a figure mean, in small letters.

    A line that is wider than the figure is broken, and the figure grows by what that
    adds.
    """
    most = int((figure.get_figwidth() - 0.2) / _LETTER)
    paragraphs = text.split("\n")
    lines = [
        line for paragraph in paragraphs for line in textwrap.wrap(paragraph, most)
    ]
    figure.set_figheight(
        figure.get_figheight() + _LINE * (len(lines) - len(paragraphs))
    )
    figure.supxlabel("\n".join(lines), fontsize=8, x=0.01, ha="left")


def bare(axes: Axes, lines: int = 0) -> None:
    """Draw faint lines across, and so many along, and no frame but the lower axis."""
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    across = axes.get_yaxis_transform()
    axes.hlines(
        range(lines), 0, 1, color=FAINT, linewidth=0.4, zorder=0, transform=across
    )
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def place_on_lines(
    rows: Sequence[Row], column: str, line: Callable[[Row], int]
) -> list[tuple[int, Row]]:
    """Return the rows that have a value there, each after its line, in the order of lines."""
    known = [(line(row), row) for row in rows if row[column] is not None]
    return sorted(known, key=lambda pair: pair[0])


def intervals(
    axes: Axes, lines: Sequence[tuple[float, float | None, float | None]], **look: Any
) -> None:
    """Draw a stroke from low to high at each height; none where an end is unknown."""
    known = [line for line in lines if None not in line]
    if known:
        heights, low, high = zip(*known, strict=True)
        axes.hlines(
            heights, low, high, **{"capstyle": "projecting", "zorder": 2, **look}
        )


def left_out(n: int, what: str) -> str:
    """Say below a figure how many have no line, since nothing of them is defined."""
    return f"; left out because undefined: {n:,} {what}{'s' * (n > 1)}" if n else ""


def say_first(n: int, n_all: int, what: str) -> str:
    """Say below a figure that it shows the first `n` alone."""
    return f"; the first {n} of {n_all} {what}" if n_all > n else ""


def criterion_titles(criteria: Sequence[tuple[Key, list[Row]]]) -> list[str]:
    """Name panels by criterion, with the study where there are several."""
    several = len({study for (study, _, _), _ in criteria}) > 1
    return [
        label((f"{study}: " if several else "") + criterion_title(*of_study))
        for (study, *of_study), _ in criteria
    ]


def label(text: str) -> str:
    """Make a text fit a figure: short enough, and without what XML cannot have."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean if len(clean) <= LONGEST_LABEL else f"{clean[: LONGEST_LABEL - 1]}…"


# Each author's mean on the main metrics.


def draw_leaderboard(leaderboard: pd.DataFrame) -> Figure | None:
    """Draw a panel per metric, a line per author, for the whole text; None without a value."""
    if leaderboard.empty:
        return None
    part = sorted_parts(leaderboard["part"])[0]
    whole = leaderboard[leaderboard["part"] == part]
    by_metric = grouped(records(whole), metric_of)
    every_metric = headline_metrics(by_metric)
    metrics = [
        m for m in every_metric if any(row["macro"] is not None for row in by_metric[m])
    ]
    if not metrics:
        return None
    authors = sorted_authors(whole["author"])
    names = [label(author) for author in authors]
    size = (2.05, 0.85 + 0.21 * len(authors))
    figure, _, every = panels(len(metrics), 4, size, names, share="y", h_pad=0.12)
    for axes, metric in zip(every, metrics, strict=True):
        _dots_panel(axes, by_metric[metric], authors)
    note = f"dot: mean over documents ({part} texts); bar: its bootstrap interval; no dot: no value"
    note_below(figure, note + left_out(len(every_metric) - len(metrics), "metric"))
    return figure


def _dots_panel(axes: Axes, rows: list[Row], authors: list[str]) -> None:
    known = place_on_lines(rows, "macro", lambda row: authors.index(row["author"]))
    look: dict[str, Any] = {"color": ACCENT, "linewidth": 2.2, "alpha": 0.45}
    intervals(axes, [(y, row["low"], row["high"]) for y, row in known], **look)
    axes.plot(*_points(known, "macro"), "o", color=ACCENT, markersize=4.5)
    if len({row["macro"] for _, row in known}) < 2:
        # nothing to scale the axis by; shares run from 0 to 1
        axes.set_xlim(-0.05, 1.05)
    _title(axes, rows[0])
    bare(axes, len(authors))


def _points(
    known: Sequence[tuple[int, Row]], column: str
) -> tuple[list[float], list[int]]:
    return [row[column] for _, row in known], [y for y, _ in known]


_LONG_TITLE = 28


def _title(axes: Axes, row: Row) -> None:
    """Write the metric's name, with the direction in which it is better."""
    name = label(f"{metric_name(row)} {ARROWS[str(row['better'])]}".strip())
    if len(name) > _LONG_TITLE:  # else it runs into the next one
        name = (
            name.replace("@", "\n@", 1) if "@" in name else name.replace(" (", "\n(", 1)
        )
    axes.set_title(name, loc="left")


# A metric's correlation with people by each criterion, beside one rater's own.

LEVEL = "global"
MOST_PANELS = 6  # criteria

_RATER = "#a8650f"
_BARS: dict[str, dict[str, Any]] = {  # intervals, by the ends of their columns
    "": {"color": "#a9c5e6", "linewidth": 4.0, "capstyle": "butt"},
    "_these_systems": {"color": ACCENT, "linewidth": 1.1},
}
_FILLS: dict[str, dict[str, Any]] = {
    "to use": {"fillstyle": "full"},
    "promising": {"fillstyle": "left"},
    "no": {"markerfacecolor": "white"},
}


def draw_forest(certificates: pd.DataFrame, *, useful: float) -> Figure | None:
    """Draw a panel per criterion, at LEVEL, metrics in the order of pages; None without a value.

    The rater's line is of the row that rests on most texts. Of criteria the first
    MOST_PANELS.
    """
    every = group_by_criterion(certificates[certificates["level"] == LEVEL])
    criteria = every[:MOST_PANELS]
    shown = [row for _, of_criterion in criteria for row in of_criterion]
    metrics, undefined = _defined(shown)
    if not metrics:
        return None
    names = [label(metric_label(*metric)) for metric in metrics]
    size, n = (2.3, 0.75 + 0.185 * len(metrics)), len(criteria)
    figure, _, axes_of = panels(n, 3, size, names, 0.6, share="xy", h_pad=0.1)
    for axes, (_, group), title in zip(
        axes_of, criteria, criterion_titles(criteria), strict=True
    ):
        _forest_panel(axes, group, metrics, useful)
        axes.set_title(title, loc="left")
    marks = f"dotted: {short(useful)}, a useful correlation"
    if any(row["rater"] is not None for row in shown):
        marks += "; dashed: one rater with the mean of the others"
    lines = [
        f"dot: {_coefficients(shown)} over all texts, signs turned so that more is better; filled"
        " dot: a metric to use; half-filled: promising; no dot: undefined",
        "pale bar: interval for other systems and documents; dark line: interval for these systems",
        marks + undefined + say_first(len(criteria), len(every), "criteria"),
    ]
    note_below(figure, "\n".join(lines))
    return figure


def _coefficients(rows: list[Row]) -> str:
    return " or ".join(sorted({COEFFICIENT_NAMES[row["coefficient"]] for row in rows}))


def _defined(rows: list[Row]) -> tuple[list[Metric], str]:
    """Return metrics that have a value, in the order of pages, and say how many have none."""
    known = sorted_metrics(metric_of(row) for row in rows if row["value"] is not None)
    return known, left_out(len(set(map(metric_of, rows))) - len(known), "metric")


def _forest_panel(
    axes: Axes, rows: list[Row], metrics: list[Metric], useful: float
) -> None:
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    axes.axvline(useful, color=GREY, linewidth=0.9, linestyle=":", zorder=1)
    raters = [row for row in rows if row["rater"] is not None]
    if raters:
        row = max(raters, key=lambda row: (row["n"], row["metric"], row["judge"]))
        axes.axvline(
            row["rater"], color=_RATER, linewidth=1.2, linestyle="--", zorder=1
        )
    known = place_on_lines(rows, "value", lambda row: metrics.index(metric_of(row)))
    for ends, look in _BARS.items():
        intervals(
            axes,
            [(y, row[f"low{ends}"], row[f"high{ends}"]) for y, row in known],
            **look,
        )
    for kind, fill in _FILLS.items():
        dots = [(y, row) for y, row in known if _kind(row) == kind]
        look = {
            "color": ACCENT,
            "markersize": 4.8,
            "markerfacecoloralt": "white",
            **fill,
        }
        axes.plot(*_points(dots, "value"), "o", **look)
    axes.set_xlim(-1.03, 1.03)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], labels=["−1", "−.5", "0", ".5", "1"])
    bare(axes, len(metrics))
    axes.tick_params(axis="x", labelbottom=True)


def _kind(row: Row) -> str:
    if row["trusted"]:
        return "to use"
    return row["verdict"] if row["verdict"] in _FILLS else "no"


# History: each system's mean on each main metric, run by run, with its bootstrap
# interval.

# Paul Tol's bright colours, dark enough for lines, and markers for those who tell no
# colours apart.
_LINES = (
    "#4477aa",
    "#aa3377",
    "#228833",
    "#997700",
    "#ee6677",
    "#0e7c93",
    "#555555",
    "#000000",
)
_MARKERS = "osD^vPX*"
_TICKS = 3


def draw_history(means: pd.DataFrame) -> Figure | None:
    """Draw a panel per main metric, a line per author over the runs; None without a value.

    A line is broken where the recipe is another than before: such numbers are not
    compared.
    """
    runs = sorted(set(means["run"]))
    places = {run: place for place, run in enumerate(runs)}
    rows = [
        row | {"x": places[row["run"]]}
        for row in records(means)
        if row["mean"] is not None
    ]
    if not rows:
        return None
    metrics = headline_metrics(set(map(metric_of, rows)))
    authors = sorted_authors(row["author"] for row in rows)
    figure, grid, every = panels(len(metrics), 3, (2.9, 1.9), above=0.45, h_pad=0.1)
    for axes, metric in zip(every, metrics, strict=True):
        _history_panel(axes, [row for row in rows if metric_of(row) == metric], authors)
        _dates(axes, runs)
    handles, names = grid[0][0].get_legend_handles_labels()
    look: dict[str, Any] = {"frameon": False, "fontsize": 8, "handlelength": 2.4}
    figure.legend(handles, names, loc="outside upper left", ncols=4, **look)
    note = "bar: bootstrap interval; ring: regressed from accepted mean; broken line: other recipe"
    note_below(figure, note)
    return figure


def _history_panel(axes: Axes, rows: list[Row], authors: list[str]) -> None:
    for place, author in enumerate(authors):
        line = [row for row in rows if row["author"] == author]
        colour = _LINES[place % len(_LINES)]
        look: dict[str, Any] = {
            "color": colour,
            "marker": _MARKERS[place % len(_MARKERS)],
        }
        # of the legend
        axes.plot([], [], "-", label=label(author), markersize=4, **look)
        ordered = sorted(line, key=lambda row: row["x"])
        for _, of_recipe in groupby(ordered, lambda row: row["recipe"]):
            piece = list(of_recipe)
            axes.plot(
                *_columns(piece, "x", "mean"), "-", linewidth=1.3, markersize=4, **look
            )
            bars = [
                row
                for row in piece
                if row["low"] is not None and row["high"] is not None
            ]
            at, low, high = _columns(bars, "x", "low", "high")
            axes.vlines(at, low, high, color=colour, alpha=0.35, linewidth=1.6)
        fell = [row for row in line if row["verdict"] == "regressed"]
        ring: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": INK}
        axes.plot(*_columns(fell, "x", "mean"), "o", markersize=9, **ring)
    _title(axes, rows[0])
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _columns(rows: list[Row], *names: str) -> list[list[Any]]:
    return [[row[name] for row in rows] for name in names]


def _dates(axes: Axes, runs: list[str]) -> None:
    """Place runs in equal steps, since several may be of one day; name few of their dates."""
    step = max(1, math.ceil((len(runs) - 1) / (_TICKS - 1)))
    shown = range(len(runs) - 1, -1, -step)
    axes.set_xticks(list(shown), labels=[runs[place][:10] for place in shown])
    axes.set_xlim(-0.5, len(runs) - 0.5)
    axes.tick_params(axis="x", labelsize=7, colors=GREY)


# Violins: what people gave each system, criterion by criterion, and the mean of it.

AT_MOST = 12  # criteria

_BODY = "#bcd3ec"
# of a line's height: half a body at its widest; down to the mean
_HALF, _BELOW = 0.3, 0.42
_MOST_VALUES = 21  # on one scale: more are drawn to the nearest twentieth
_WIDEST = 0.12  # of the scale, for one value


def draw_violins(violins: pd.DataFrame) -> Figure | None:
    """Draw a panel per study, criterion and part, a violin per system; None without a row.

    No kernel, which would smooth what people give in steps. Criteria after AT_MOST are
    left out.
    """
    every = group_by_criterion(violins)
    if not every:
        return None
    criteria = every[:AT_MOST]
    authors = sorted_authors(row["author"] for _, rows in criteria for row in rows)
    names = [label(author) for author in authors]
    size, n = (2.4, 0.75 + 0.36 * len(names)), len(criteria)
    figure, _, axes_of = panels(
        n, 4, size, names, 0.5, share="xy", h_pad=0.1, w_pad=0.08
    )
    for axes, (_, group), title in zip(
        axes_of, criteria, criterion_titles(criteria), strict=True
    ):
        _violins_panel(axes, group, authors)
        axes.set_title(title, loc="left")
        axes.tick_params(axis="x", labelbottom=True)
    # the last mean is clear of the axis
    axes_of[0].set_ylim(len(names) - 0.5 + _BELOW / 2, -0.5)
    note = (
        "ratings from 0, worst, to 1, best; body: how often each was given; below it the mean: dot;"
        " its interval: line"
    )
    note_below(figure, note + say_first(len(criteria), len(every), "criteria"))
    return figure


def _violins_panel(axes: Axes, rows: list[Row], authors: list[str]) -> None:
    every = _values(np.concatenate([row["all_ratings"] for row in rows]))
    fine = len(np.unique(every)) > _MOST_VALUES
    width = 0.9 * min([_WIDEST, *np.diff(np.unique(_values(every, fine=fine)))])
    for row in rows:
        y = authors.index(row["author"])
        at, counts = np.unique(
            _values(row["all_ratings"], fine=fine), return_counts=True
        )
        half = _HALF * counts / counts.max()
        axes.bar(
            at, 2 * half, width, y - half, color=_BODY, edgecolor=GREY, linewidth=0.4
        )
        if row["low"] is not None:
            axes.plot(
                [row["low"], row["high"]],
                [y + _BELOW] * 2,
                "-",
                color=INK,
                linewidth=0.9,
            )
        axes.plot([row["mean"]], [y + _BELOW], "o", color=ACCENT, markersize=3.5)
    axes.set_xlim(-0.08, 1.08)
    bare(axes)


def _values(ratings: Sequence[float] | Reals, *, fine: bool = False) -> Reals:
    """Return equal numbers for equal ratings, whatever brought them to the scale."""
    steps = _MOST_VALUES - 1
    values: Reals = np.asarray(ratings, dtype=float)
    return np.round(values * steps) / steps if fine else np.round(values, 9)


# Judges' probabilities beside the share of items that are entailed.


def draw_reliability(calibration: pd.DataFrame) -> Figure | None:
    """Draw a panel per judge of table `calibration`, of all items of its first study; or None.

    A dot is a bin; its area goes with the number of items.
    """
    whole = calibration[calibration["part"] == FULL]
    calibration = whole[whole["study"].isin(whole["study"].head(1))]
    judges = sorted(set(calibration["judge"]))
    if not judges:
        return None
    figure, grid, every = panels(
        len(judges), 4, (2.75, 2.6), above=0.5, share="xy", h_pad=0.1, w_pad=0.1
    )
    largest = int(calibration["n"].max())
    for axes, judge in zip(every, judges, strict=True):
        _reliability_panel(axes, calibration[calibration["judge"] == judge], largest)
        axes.set_title(label(judge), loc="left")
    for axes in grid[-1]:
        axes.set_xlabel("probability of “entailed”")
    for row in grid:
        row[0].set_ylabel("share entailed")
    return figure


def _reliability_panel(axes: Axes, bins: pd.DataFrame, largest: int) -> None:
    axes.plot([0, 1], [0, 1], "-", color=GREY, linewidth=0.8)
    for mean, passed, low, high, n in rows(bins, "mean", "passed", "low", "high", "n"):
        axes.plot(
            [mean, mean], [low, high], "-", color=ACCENT, linewidth=1.6, alpha=0.45
        )
        size = 3.0 + 6.0 * math.sqrt(n / largest)
        axes.plot([mean], [passed], "o", color=ACCENT, markersize=size)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    axes.set_aspect("equal")
    axes.grid(color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
