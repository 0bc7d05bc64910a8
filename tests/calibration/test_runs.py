"""Every simulation of tests/calibration/rates.md still runs, with a study or two; `pytest -m
calibration` and the page itself take the time that rates need.
"""

from functools import partial

import numpy as np
import pytest

from tests.calibration import (
    annotator_test,
    best,
    comparisons,
    digest,
    doubts,
    drift,
    facet_weights,
    judge_cards,
    judge_check,
    label_kinds,
    next_labels,
    number_kinds,
    preference_kinds,
    ranking_kinds,
    simulations,
    standing_out,
    weekly,
)
from tests.calibration.page import jobs
from tests.calibration.summary import RATES, Promise, _rates, summary

FIRST = {
    job.section: job.call
    for job in reversed([*jobs()])
    if isinstance(job.call, partial)
}
WATCH = next(iter(drift.WATCHES))
WORLD = judge_cards.World(0.5, 0.9, 0.8)
OTHERS = (
    partial(simulations.bootstrap_covers, "document", "pearson", runs=2),
    partial(simulations.permutation_rejects, "document", "documents", runs=2),
    partial(simulations.williams_rejects, runs=2),
    partial(simulations.judged_means_cover, runs=2),
    partial(simulations.rogan_gladen_covers, runs=2),
    partial(judge_cards.cards_cover, 20, WORLD, runs=2, seed=0),
    partial(judge_cards.pass_rates_cover, 20, 200, WORLD, runs=2, seed=0),
    partial(judge_cards.clustered_cover, 30, 4, 0.7, WORLD, runs=2, seed=0),
    partial(judge_cards.calibration_covers, 50, (2, 2), 0.1, runs=2, seed=0),
    partial(judge_cards.auroc_covers, 20, 0.5, 0.8, 2, runs=2, seed=0),
    partial(judge_cards.three_way_covers, 50, (0.7, 0.2, 0.1), 0.9, runs=2, seed=0),
    partial(judge_check.rates, studies=1),
    partial(label_kinds.coverage, label_kinds.NOMINAL[0], ordinal=False, studies=1),
    partial(label_kinds.coverage, label_kinds.ORDINAL[0], ordinal=True, studies=1),
    partial(preference_kinds.coverage, preference_kinds.WORLDS[0], studies=1),
    partial(preference_kinds.correlation_coverage, 4, 40, studies=1),
    partial(number_kinds.rates, studies=1),
    partial(ranking_kinds.rank_rates, ranking_kinds.LISTS[2], studies=1),
    partial(ranking_kinds.system_rates, ranking_kinds.BOARDS[0], studies=1),
    partial(ranking_kinds.false_rate, 5, 3, studies=1),
    partial(annotator_test.false_passes, annotator_test.drawn_worlds(1)[0], studies=2),
    partial(next_labels.rates, studies=2),
    partial(
        facet_weights.covers, "complete", 44, noise=0.07, non_negative=False, runs=1
    ),
    partial(best.rates, studies=1),
    partial(comparisons.false_alarms, studies=1),
    partial(comparisons.power, studies=1),
    partial(comparisons.words, studies=1),
    partial(comparisons.coverage, studies=1),
    partial(drift.silent, WATCH, watches=1, seed=0),
    partial(drift.power, WATCH, 0.1, one_sided=True, watches=1, seed=0),
    partial(drift.confirmed, WATCH, 0.1, watches=1, seed=0),
    partial(weekly.weeks, *weekly.WORLDS[0], seed=0, n=1),
)


@pytest.mark.parametrize("section", FIRST)
def test_a_job_of_each_section_runs(section):
    call = FIRST[section]
    assert call.func(*call.args, **{**call.keywords, "runs": 1}) is not None


@pytest.mark.parametrize("call", OTHERS, ids=lambda call: call.func.__qualname__)
def test_the_other_simulations_run(call):
    assert call() is not None


def test_raters_who_are_equal_and_one_who_is_not():
    rng = standing_out.np.random.default_rng(0)
    named = standing_out.named(
        30, (0.6, 0.6, 9.0), standing_out.CUTS["five levels"], rng
    )
    assert named == [False, False, True]


def test_the_page_for_readers_is_what_the_tables_hold():
    rates = RATES.read_text(encoding="utf-8")
    assert digest.PAGE.read_text(encoding="utf-8") == digest.page(rates)


def test_the_head_of_the_tables_is_what_they_hold():
    text = RATES.read_text(encoding="utf-8")
    head, _, sections = text.partition("\n## ")
    assert "\n".join(summary("## " + sections)) in head + "\n"


def test_rates_of_a_promise_by_hand():
    page = "## A\n\n| w | ours, global | system | x |\n|---|---|---|---|\n"
    page += "| 3 x 10 | 1.5 % (9.0 %) | 2.0 % / 4.5 % | 7 % |\n| 4 | – | 0.0 % | 8 % |\n\n## B\n"
    promise = Promise("", "", "A", ("ours, global", "..."), max)
    assert sorted(_rates(page, promise)) == [0.0, 1.5, 2.0, 4.5]
    with pytest.raises(ValueError, match="A: no column"):
        list(_rates(page, promise._replace(columns=("theirs",))))


FIRST_CELLS = {
    (cell.section, cell.doubt.name): cell
    for cell in reversed([*doubts.cells(doubts.sections())])
}


@pytest.mark.parametrize("name", FIRST_CELLS)
def test_every_doubt_is_drawn_and_judged(name) -> None:
    cell = FIRST_CELLS[name]
    rates = doubts.simulate(cell, 1)
    assert all(np.isfinite(rates[head]).all() for head in rates)


def test_every_result_is_of_a_doubt() -> None:
    keys = {cell.key for cell in doubts.cells(doubts.sections())}
    assert doubts.read_results().keys() <= keys
    assert doubts.HEADING in RATES.read_text(encoding="utf-8")
