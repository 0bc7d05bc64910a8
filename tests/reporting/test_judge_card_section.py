"""A judge's card on the page and on a terminal, against hand-made rows."""

import pytest

from metassay.core.errors import BadInput
from metassay.reporting.judge_cards import judge_cards_section
from tests.reporting.html_tree import section, tree_of
from tests.reporting.invented_meta import SCRIPT
from tests.reporting.test_meta_sections import cell, heads, lines


@pytest.fixture(scope="module")
def made(page):
    return section(tree_of(page), "judge_cards")


def test_judgments_are_counted(made):
    judgments = made.all("table")[0]
    assert heads(judgments) == ["people", "judge passes", "judge fails"]
    assert lines(judgments) == {"pass": [["109"], ["11"]], "fail": [["8"], ["32"]]}
    summary = " ".join(made.all("summary")[0].text().split())
    assert summary.startswith(f"right (gpt {SCRIPT}), completeness study invented, 160 texts rated")
    assert summary.endswith(
        "900 judged, the rated ones worth 120 independent ones, 5 rated without a judgment,"
        " 2 left out where raters are split"
    )


def test_every_number_says_what_it_means(made):
    found = lines(made.all("table")[1])
    assert found["sensitivity"] == [
        ["91 %", "[85, 95]", "n = 120"],
        ["Of 120 texts that people passed, the judge passes 91 % [85, 95]."],
    ]
    # Less than everything is not shown as everything.
    assert found["specificity"][0] == ["80 %", "[66, > 99.9]", "n = 40"]
    assert found["precision of a pass"] == [
        ["undefined", "n = 0"],
        ["The judge passes no text that people rated."],
    ]
    assert found["Cohen’s kappa"][0] == ["0.691", "[0.550, 0.800]", "n = 160"]
    assert found["Matthews correlation"][0] == ["undefined", "n = 160"]
    assert found["agreement"][0] == ["88 %", "[82, 93]", "n = 160"]
    assert found["agreement by chance"][0] == ["62 %", "[55, 68]", "n = 160"]
    assert found["ratings for the pass rate"] == [
        ["1,200"],
        [
            "For an interval of the prediction-powered pass rate 10 points wide: 1,200 rated texts"
            " in all, 160 so far; only 900 have a judgment, so more texts are needed."
        ],
    ]
    assert found["ratings for specificity"][0][0] == "undefined"
    assert all(says for _, (says,) in found.values())


def test_probabilities_stand_beside_what_people_said(made):
    bins = made.all("table")[2]
    assert lines(bins) == {
        "0.000 to 0.450": [["0.200"], ["0.250", "[0.150, 0.400]"], ["80"]],
        "0.500 to 1.000": [["0.900"], ["0.900", "[0.800, 0.950]"], ["80"]],
    }
    assert [cell(td)[0] for td in bins.all("td")][:3] == ["0.200", "0.250", "80"]


def test_nothing_is_said_without_a_card(frames, nothing):
    assert judge_cards_section(nothing["judge_cards"], nothing["calibration"]) is None
    cards = frames["judge_cards"]
    empty = cards.assign(value=float("nan"), low=float("nan"), high=float("nan"), n=0)
    counts = cards["statistic"].str.startswith(("true", "false"))
    empty.loc[counts, "value"] = 0.0
    assert judge_cards_section(empty, nothing["calibration"]).files == ["judge_cards"]


def test_a_card_without_its_counts_is_named(frames, nothing):
    cards = frames["judge_cards"]
    gone = cards[cards["statistic"] != "agreement"]
    no_number = cards.assign(value=cards["value"].where(cards["statistic"] != "true_fail"))
    for damaged, name in ((gone, "agreement"), (no_number, "true_fail")):
        with pytest.raises(BadInput, match=rf"judge_cards: .* has no {name}; metassay run builds"):
            judge_cards_section(damaged, nothing["calibration"])
