"""Metrics of rubrics on the page: where they stand, and what is said of them."""

import pandas as pd

from metassay.reporting.names import (
    by_criterion,
    headline_metrics,
    known_names,
    sorted_metrics,
)
from metassay.scoring.rubrics.ask import criteria_table
from metassay.scoring.rubrics.record import RUBRICS, load_rubric

CRITERIA = pd.concat(
    criteria_table(load_rubric(RUBRICS / f"{name}.yaml"))
    for name in ("vanilla", "note_respiratory", "bmrc")
)


def test_metrics_of_rubrics_stand_in_the_order_of_their_criteria() -> None:
    names = (
        "vanilla_rating",
        "bmrc_overall",
        "bmrc_method",
        "bmrc_background",
        "note_respiratory_1A",
    )
    metrics = [
        (name, "m") for name in (*names, "note_respiratory_penalties", "rouge1_fmeasure", "mine")
    ]
    with known_names(CRITERIA):
        assert [name for name, _ in sorted_metrics(metrics)] == [
            *("bmrc_background", "bmrc_method", "bmrc_overall", "note_respiratory_1A"),
            *("note_respiratory_penalties", "vanilla_rating", "rouge1_fmeasure", "mine"),
        ]
        assert {name for name, _ in headline_metrics(metrics)} == {
            *("bmrc_overall", "note_respiratory_penalties", "vanilla_rating", "rouge1_fmeasure"),
        }


def test_what_people_rate_stands_in_the_order_of_the_benchmark_then_by_name() -> None:
    rated = ["conclusion", "background", "method", "aim"]
    frame = pd.DataFrame({"study": "s", "criterion": rated, "part": "full"})
    assert [key[1] for key, _ in by_criterion(frame)] == sorted(rated)
    with known_names(CRITERIA, ["method", "conclusion"]):
        found = [key[1] for key, _ in by_criterion(frame)]
    assert found == ["method", "conclusion", "aim", "background"]
