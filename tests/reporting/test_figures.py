import io
import xml.etree.ElementTree as ET
from functools import partial

import matplotlib.style
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from metassay.reporting import figures as drawing
from metassay.reporting.figures import draw_forest, draw_leaderboard
from metassay.reporting.names import headline_metrics, sorted_metrics, sorted_parts
from metassay.tables.names import sorted_authors
from tests.reporting.invented_meta import SCRIPT

SVG = "{http://www.w3.org/2000/svg}"


def _texts(svg):
    return ["".join(t.itertext()).strip() for t in ET.fromstring(svg).iter(f"{SVG}text")]


def test_a_figure_has_metrics_in_the_order_of_pages(frames):
    some = frames["certificates"]
    best = some["value"].where(some["metric"] != "bleu", 0.9)  # would come first by value
    forest = draw_forest(some.assign(value=best), useful=0.3)
    assert [t.get_text() for t in forest.axes[0].get_yticklabels()] == [
        "claim_recall (lexical)",
        "bleu",
    ]


def test_notes_are_no_wider_than_their_figure():
    figure = Figure(figsize=(4, 2))
    drawing.note_below(figure, "mean rating of " * 30)
    FigureCanvasAgg(figure)
    assert figure.texts[0].get_window_extent().x1 <= figure.bbox.width


def test_leaderboard_draws_one_panel_per_metric(frames):
    drawn = drawing.draw(draw_leaderboard, frames["leaderboard"])
    texts = _texts(drawn.svg)
    assert "claim_recall (lexical) ↑" in texts
    assert "rouge1_fmeasure ↑" in texts
    assert not [t for t in texts if t.startswith("house_metric")]
    assert Image.open(io.BytesIO(drawn.png)).info.keys() <= {"dpi"}


def test_leaderboard_without_main_metrics_shows_what_there_is(frames):
    some = frames["leaderboard"]
    house = some[some["metric"] == "house_metric"]
    assert "house_metric" in _texts(drawing.draw(draw_leaderboard, house).svg)


def test_leaderboard_counts_metrics_that_have_no_value(frames):
    some = frames["leaderboard"]
    gone = some.assign(macro=some["macro"].where(some["metric"] != "rouge1_fmeasure"))
    texts = _texts(drawing.draw(draw_leaderboard, gone).svg)
    assert "rouge1_fmeasure ↑" not in texts
    assert "left out because undefined: 1 metric" in " ".join(texts)
    assert draw_leaderboard(some.assign(macro=None)) is None


def test_nothing_to_draw(nothing):
    assert drawing.draw(draw_leaderboard, nothing["leaderboard"]) is None
    assert drawing.draw(partial(draw_forest, useful=0.3), nothing["certificates"]) is None


def test_labels_are_short_and_hold_no_control_characters():
    assert drawing.label("a\x00b\tc") == "a b c"
    assert len(drawing.label("x" * 500)) == drawing.LONGEST_LABEL
    ET.fromstring(drawing.draw(draw_leaderboard, _one_author("bad \x0b name")).svg)


def _one_author(name):
    return pd.DataFrame(
        [["full", "bleu", "none", name, 20.0, None, None, "higher"]],
        columns=["part", "metric", "judge", "author", "macro", "low", "high", "better"],
    )


def test_orders():
    metrics = [("zeta", "none"), ("rouge1_recall", "none"), ("claim_recall", "b"), ("bleu", "none")]
    assert [m for m, _ in sorted_metrics([*metrics, ("claim_recall", "a")])] == [
        "claim_recall",
        "claim_recall",
        "bleu",
        "rouge1_recall",
        "zeta",
    ]
    assert headline_metrics(metrics) == [("claim_recall", "b")]
    assert sorted_parts(["plan", "assessment_and_plan", "full", "subjective"]) == [
        "full",
        "subjective",
        "assessment_and_plan",
        "plan",
    ]
    assert sorted_authors(["b", "reference", "a"]) == ["reference", "a", "b"]


@pytest.fixture(scope="module")
def forest_figure(frames):
    with matplotlib.style.context("default"):
        return draw_forest(frames["certificates"], useful=0.3)


def test_forest_fills_what_is_to_be_used_and_draws_both_intervals_and_the_rater(forest_figure):
    axes = forest_figure.axes[0]
    labels = [t.get_text() for t in axes.get_yticklabels()]
    assert labels == ["claim_recall (lexical)", "bleu"]
    assert "left out because undefined: 1 metric" in " ".join(forest_figure.get_supxlabel().split())
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
    assert fills == {(0.52, 0): drawing.ACCENT, (0.13, 1): "white"}  # one to use; `cannot tell`
    assert not [line for line in axes.lines if line.get_marker() == "x"]
    upright = [line.get_xdata()[0] for line in axes.lines if list(line.get_ydata()) == [0, 1]]
    assert sorted(upright) == [0, 0.3, 0.5596]
    assert axes.get_xlim() == pytest.approx((-1.03, 1.03))


def test_forest_has_a_panel_per_criterion_up_to_six(frames, forest_figure):
    assert [a.get_title(loc="left") for a in forest_figure.axes if a.get_visible()] == [
        "completeness",
        f"odd {SCRIPT}",
    ]
    some = frames["certificates"]
    many = pd.concat([some.assign(criterion=f"c{number}") for number in range(8)])
    svg = drawing.draw(partial(draw_forest, useful=0.3), many).svg
    assert [t for t in _texts(svg) if t in {f"c{n}" for n in range(8)}] == [
        f"c{n}" for n in range(6)
    ]
    assert "the first 6 of 8 criteria" in svg


def test_forest_without_a_global_level_or_a_second_rater(frames):
    some = frames["certificates"]
    assert draw_forest(some[some["level"] == "system"], useful=0.3) is None
    figure = draw_forest(some.assign(rater=None), useful=0.3)
    upright = [l.get_xdata()[0] for l in figure.axes[0].lines if list(l.get_ydata()) == [0, 1]]  # noqa: E741
    assert upright == [0, 0.3]
    assert "rater" not in figure.get_supxlabel()
