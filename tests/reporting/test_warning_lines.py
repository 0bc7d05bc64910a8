"""The table `warnings` in words: each sentence once, the most serious first."""

import pytest

from metassay.reporting.contract import Problem
from metassay.reporting.warning_lines import problems_of, warning_lines
from metassay.tables.data_warnings import DataWarning, warnings_table
from tests.reporting.invented_report import DOUBLES, KEY, ODD, SCRIPT

FEW = DataWarning(
    kind="size", finding="Four systems are few.", remedy="Rate more.", **KEY
)


@pytest.fixture
def designs(frames):
    return frames["designs"]


def sentences(warnings, designs):
    return [line.sentence for line in warning_lines(warnings_table(warnings), designs)]


def test_a_sentence_about_all_criteria_stands_once_and_names_none(frames, designs):
    assert [line.sentence for line in warning_lines(frames["warnings"], designs)] == [
        DOUBLES
    ]
    about_all = DataWarning(kind="input", finding="Two files have the same columns.")
    assert sentences([about_all], designs) == ["Two files have the same columns."]


def test_a_sentence_about_some_criteria_names_them(designs):
    assert sentences([FEW], designs) == [
        "completeness: Four systems are few. Rate more."
    ]
    odd = DataWarning(
        kind="raters", finding="Ann differs.", study="invented", **_criterion(ODD)
    )
    (line,) = sentences([odd], designs)
    assert line == f"odd {SCRIPT}: Ann differs."


def test_studies_are_named_where_there_are_several(designs):
    both = designs.assign(study=["invented", "other"])
    assert sentences([FEW], both) == [
        "completeness (study invented): Four systems are few. Rate more."
    ]


def test_the_most_serious_kind_comes_first_and_sizes_are_limits_of_the_page(designs):
    groups = DataWarning(kind="groups", finding="Documents are alike.")
    lines = warning_lines(warnings_table([FEW, groups]), designs)
    assert problems_of(lines) == [
        Problem("warning", "Documents are alike."),
        Problem("limit", "completeness: Four systems are few. Rate more."),
    ]


def _criterion(key):
    return {"criterion": key["criterion"]}
