"""Figures of reports: what is drawn where, by hand."""

import io
import xml.etree.ElementTree as ET
from functools import partial

import matplotlib.style
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from metassay.core.options import Criterion
from metassay.meta_evaluation.summaries import violins
from metassay.reporting import figures as drawing
from metassay.reporting.figures import (
    AT_MOST,
    draw,
    draw_forest,
    draw_leaderboard,
    draw_violins,
)
from metassay.statistics.document_means import Resampling
from tests.reporting.invented_report import SCRIPT, lines

SVG = "{http://www.w3.org/2000/svg}"


def texts_in(svg):
    return [
        "".join(t.itertext()).strip() for t in ET.fromstring(svg).iter(f"{SVG}text")
    ]


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]


def note(figure):
    return " ".join(figure.get_supxlabel().split())


def upright(axes):
    return sorted(
        of.get_xdata()[0] for of in axes.lines if list(of.get_ydata()) == [0, 1]
    )


def test_notes_are_no_wider_than_their_figure_and_labels_are_short_without_control_characters():
    figure = Figure(figsize=(4, 2))
    drawing.note_below(figure, "mean rating of " * 30)
    FigureCanvasAgg(figure)
    assert figure.texts[0].get_window_extent().x1 <= figure.bbox.width
    assert drawing.label("a\x00b\tc") == "a b c"
    assert len(drawing.label("x" * 500)) == drawing.LONGEST_LABEL
    names = ["part", "metric", "judge", "author", "macro", "low", "high", "better"]
    row = ["full", "bleu", "none", "bad \x0b name", 20.0, None, None, "higher"]
    ET.fromstring(draw(draw_leaderboard, pd.DataFrame([row], columns=names)).svg)


def test_leaderboard_draws_one_panel_per_main_metric_with_a_value(frames):
    board = frames["leaderboard"]
    drawn = draw(draw_leaderboard, board)
    texts = texts_in(drawn.svg)
    assert {"claim_recall (lexical) ↑", "rouge1_fmeasure ↑"} <= set(texts)
    assert not [text for text in texts if text.startswith("house_metric")]
    assert Image.open(io.BytesIO(drawn.png)).info.keys() <= {"dpi"}
    # without main metrics what there is
    house = board[board["metric"] == "house_metric"]
    assert "house_metric" in texts_in(draw(draw_leaderboard, house).svg)
    rouge = board["metric"] == "rouge1_fmeasure"
    texts = texts_in(
        draw(draw_leaderboard, board.assign(macro=board["macro"].mask(rouge))).svg
    )
    assert "rouge1_fmeasure ↑" not in texts
    assert "left out because undefined: 1 metric" in " ".join(texts)
    assert draw_leaderboard(board.assign(macro=None)) is None


def test_nothing_to_draw(nothing, frames):
    assert draw(draw_leaderboard, nothing["leaderboard"]) is None
    forest = partial(draw_forest, useful=0.3)
    assert draw(forest, nothing["certificates"]) is None
    certificates = frames["certificates"]
    assert draw(forest, certificates[certificates["level"] == "system"]) is None


def test_forest_fills_what_is_to_be_used_and_draws_both_intervals_and_the_rater(frames):
    certificates = frames["certificates"]
    with matplotlib.style.context("default"):
        figure = draw_forest(certificates, useful=0.3)
    axes = figure.axes[0]
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["claim_recall (lexical)", "bleu"]
    assert "left out because undefined: 1 metric" in note(figure)
    widths = {
        tuple(ends[:, 0]): bars.get_linewidth()[0]
        for bars in axes.collections
        for ends in bars.get_segments()
    }
    assert widths[0.31, 0.69] > widths[0.41, 0.62]  # for others, and for these systems
    assert (-0.08, 0.33) in widths
    fills = {
        (x, y): line.get_markerfacecolor()
        for line in axes.lines
        if line.get_marker() == "o"
        for x, y in zip(*line.get_data(), strict=True)
    }
    # one to use; `cannot tell`
    assert fills == {(0.52, 0): drawing.ACCENT, (0.13, 1): "white"}
    assert upright(axes) == [0, 0.3, 0.5596]
    assert axes.get_xlim() == pytest.approx((-1.03, 1.03))
    # without a second rater
    figure = draw_forest(certificates.assign(rater=None), useful=0.3)
    assert upright(figure.axes[0]) == [0, 0.3]
    assert "rater" not in figure.get_supxlabel()
    best = certificates["value"].where(certificates["metric"] != "bleu", 0.9)
    figure = draw_forest(certificates.assign(value=best), useful=0.3)
    # as on pages
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == names


def test_forest_has_a_panel_per_criterion_up_to_six(frames):
    certificates = frames["certificates"]
    figure = draw_forest(certificates, useful=0.3)
    assert titles(figure) == ["completeness", f"odd {SCRIPT}"]
    many = pd.concat(
        [certificates.assign(criterion=f"c{number}") for number in range(8)]
    )
    figure = draw_forest(many, useful=0.3)
    assert titles(figure) == [f"c{n}" for n in range(6)]
    assert "the first 6 of 8 criteria" in note(figure)


# ---- violins ---------------------------------------------------------------------------------


def many_violins(n, criteria=("overall",)):
    rows = lines(
        "doc_id author criterion value",
        *(
            (f"d{d}", f"system of a long name {SCRIPT} {k}", name, 1 + (d * 7 + k) % 5)
            for name in criteria
            for k in range(n)
            for d in range(6)
        ),
        study="s",
        part="full",
        unit="text",
        rater="r",
    )
    scale = Criterion(low=1, high=5, better="higher")
    how = Resampling(resamples=200, confidence=0.9, seed=7)
    return violins(pd.DataFrame(rows), dict.fromkeys(criteria, scale), how)


@pytest.mark.parametrize("n", [1, 16])
def test_violins_are_as_wide_as_values_are_frequent_and_apart_from_means(n):
    table = many_violins(n)
    axes = draw_violins(table).axes[0]
    bodies, tops = {}, {}
    for bar in axes.patches:
        x, y = (
            bar.get_x() + bar.get_width() / 2,
            round(bar.get_y() + bar.get_height() / 2),
        )
        bodies.setdefault(y, {})[round(x, 9)] = bar.get_height()
        tops[y] = max(tops.get(y, -1.0), bar.get_y() + bar.get_height())
    for y, ratings in enumerate(table["all_ratings"]):
        values, counts = np.unique(ratings, return_counts=True)
        assert sorted(bodies[y]) == list(values)  # nothing where nothing was rated
        shares = [bodies[y][value] / max(bodies[y].values()) for value in values]
        assert shares == pytest.approx(counts / counts.max())
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    ends = [tuple(line.get_xdata()) for line in axes.lines if line not in dots]
    assert ends == list(zip(table["low"], table["high"], strict=True))
    assert [line.get_xdata()[0] for line in dots] == list(table["mean"])
    assert all(line.get_ydata()[0] > tops[y] for y, line in enumerate(dots))
    assert draw(draw_violins, table) == draw(draw_violins, many_violins(n))


def test_violins_of_a_fine_scale_have_every_rating_at_its_nearest_twentieth():
    table = many_violins(1)
    table["all_ratings"] = [[number / 100 for number in range(101)]]
    bars = draw_violins(table).axes[0].patches
    assert len(bars) == 21
    heights = [bar.get_height() for bar in bars]
    assert heights[0] / heights[10] == pytest.approx(3 / 5)  # .00 to .02; .48 to .52
    assert max(bar.get_width() for bar in bars) < 0.05


def test_violins_name_studies_and_leave_out_what_is_too_much():
    table = many_violins(2, [f"c{n:02}" for n in range(13)])
    figure = draw_violins(pd.concat([table, table.assign(study="t")]))
    assert titles(figure) == [f"c{n:02}" for n in range(AT_MOST)]
    assert "the first 12 of 26 criteria" in note(figure)
    few = table[table["criterion"] == "c00"]
    assert titles(draw_violins(pd.concat([few, few.assign(study="t")]))) == [
        "s: c00",
        "t: c00",
    ]
    assert draw_violins(table.iloc[:0]) is None
