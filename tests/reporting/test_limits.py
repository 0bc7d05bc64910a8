"""What a study is too small to show, against counts of orders made by hand."""

import pandas as pd
import pytest

from metassay.reporting.limits import limits
from tests.reporting.invented_meta import SCRIPT


@pytest.fixture
def found(frames):
    return frames["certificates"]


def _system(found: pd.DataFrame, systems: int, smallest: float) -> pd.DataFrame:
    there = found["level"] == "system"
    return found[there].assign(n_systems=systems, smallest_p=smallest)


def test_equal_sentences_of_all_criteria_are_said_once(found):
    assert limits(found) == [
        "At system level no metric can hold: with 4 systems no p can be below .083."
        " It takes at least 5."
    ]


@pytest.mark.parametrize(
    ("systems", "smallest", "confidence", "said"),
    [
        (3, 1 / 3, 0.95, "with 3 systems no p can be below .333. It takes at least 5."),
        (4, 1 / 12, 0.99, "with 4 systems no p can be below .083. It takes at least 6."),
        (2, 1.0, 0.8, "with 2 systems no p can be below 1.000. It takes at least 4."),
        (1, 1.0, 0.95, "all texts are by one system."),
    ],
)
def test_fewest_systems_by_hand(found, systems, smallest, confidence, said):
    """2 / 4! = .083, 2 / 5! = .017, 2 / 6! = .003."""
    (line,) = limits(_system(found, systems, smallest), confidence)
    assert line == f"At system level no metric can hold: {said}"


def test_at_the_threshold_nothing_holds_below_it_something_may(found):
    assert limits(_system(found, 3, 0.25), 0.75)
    assert limits(_system(found, 3, 0.25), 0.7) == []


def test_one_criterion_of_two_is_named(found):
    some = found.assign(smallest_p=0.0004)
    there = (some["level"] == "system") & (some["criterion"] != "completeness")
    some.loc[there, "smallest_p"] = 0.0833
    (line,) = limits(some)
    assert line.startswith(f"odd {SCRIPT}: at system level no metric can hold: with 4 systems")


def test_studies_are_named_where_there_are_several(found):
    other = found.assign(study="other", smallest_p=0.0004)
    (line,) = limits(pd.concat([found, other]))
    assert line.startswith(
        f"completeness (study invented); odd {SCRIPT} (study invented): at system level"
    )


def test_few_permutations_and_nested_documents_are_told_apart(found):
    few = found.assign(smallest_p=found["level"].map({"global": 0.1}).fillna(0.0004))
    assert limits(few) == [
        "At global level no metric can hold: with so few orders drawn at random no p can be below"
        " .100. Set more permutations."
    ]
    nested = found[found["level"] == "document"].assign(smallest_p=None, design="nested")
    assert limits(nested) == [
        "At document level no metric can hold: each document has one system’s text, so there are"
        " no two to compare."
    ]


def test_few_systems_and_documents_are_counted(found):
    """2 / (3! x 3!) = .056."""
    small = found[found["level"] == "global"].assign(n_systems=3, n_documents=3, smallest_p=1 / 18)
    assert limits(small) == [
        "At global level no metric can hold: with 3 systems and 3 documents no p can be below .056."
    ]


def test_nothing_tested_has_no_limits(nothing):
    assert limits(nothing["certificates"]) == []
