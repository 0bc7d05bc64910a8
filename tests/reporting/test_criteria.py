"""Metrics of rubrics on the page: where they stand, and what is said of them."""

import pandas as pd

from metassay.meta_evaluation.correlations import CORRELATIONS
from metassay.reporting.names import (
    OTHER_FAMILY,
    described,
    family,
    headline_metrics,
    sorted_metrics,
)
from metassay.reporting.rubrics import rubrics_section
from metassay.reporting.section import by_criterion
from metassay.scoring.rubrics.metrics import criteria_table
from metassay.scoring.rubrics.read import RUBRICS, load_rubric
from metassay.tables.parquet import empty

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
    assert family("bmrc_method") == OTHER_FAMILY
    with described(CRITERIA):
        assert family("bmrc_method") == "Rubrics and facets"
        assert [name for name, _ in sorted_metrics(metrics)] == [
            *("bmrc_background", "bmrc_method", "bmrc_overall", "note_respiratory_1A"),
            *("note_respiratory_penalties", "vanilla_rating", "rouge1_fmeasure", "mine"),
        ]
        assert {name for name, _ in headline_metrics(metrics)} == {
            *("bmrc_overall", "note_respiratory_penalties", "vanilla_rating", "rouge1_fmeasure"),
        }
    assert family("bmrc_method") == OTHER_FAMILY


def test_the_page_says_what_each_criterion_asks_and_each_rule_of_missing_data_once() -> None:
    section = rubrics_section({"criteria": CRITERIA, "correlations": empty(CORRELATIONS)})
    assert section is not None
    groups = {group.title: group for group in section.groups}
    grids = {name: group.grids[0] for name, group in groups.items()}
    assert grids["bmrc"].heads == ["criterion", "asks", "answers", "better", "weight"]
    assert [name for name, _ in grids["bmrc"].rows][-1] == "overall"
    cells = {
        name: [cell.text for cell in row]
        for name, row in (*grids["bmrc"].rows, *grids["note_respiratory"].rows)
    }
    assert cells["background"][1:4] == ["1 to 3", "higher ↑", "0.1"]
    assert cells["1D"][1:4] == ["0 to 3", "lower ↓", "–"]
    assert cells["1C"][1] == "0 to no end"
    assert cells["overall"][1] == "0.25 to 1"
    assert groups["vanilla"].says[0] == "Source: ScholarSum, Guo et al. 2024, section 3.3."
    _, scales, overall = groups["bmrc"].says
    names = "background, method, result, conclusion"
    assert scales.startswith(f"Missing data of {names}: null where the reference lacks the part;")
    assert overall.startswith("Missing data of overall: null where none of them was scored;")
    assert rubrics_section({}) is None


def test_what_people_rate_stands_in_the_order_of_the_benchmark_then_by_name() -> None:
    rated = ["conclusion", "background", "method", "aim"]
    frame = pd.DataFrame({"study": "s", "criterion": rated, "part": "full"})
    assert [key[1] for key, _ in by_criterion(frame)] == sorted(rated)
    with described(CRITERIA, ["method", "conclusion"]):
        found = [key[1] for key, _ in by_criterion(frame)]
    assert found == ["method", "conclusion", "aim", "background"]
