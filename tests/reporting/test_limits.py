"""What a study's data show of its design, and what it is too small for, against counts by hand."""

import pandas as pd
import pytest

from metassay.reporting.certificates import limits
from tests.reporting.invented_meta import FOUND, SCRIPT


@pytest.fixture
def found(frames):
    return frames["certificates"]


@pytest.fixture
def plain(nothing):
    """Designs of which nothing is known."""
    return nothing["designs"]


def _system(found: pd.DataFrame, systems: int, smallest: float) -> pd.DataFrame:
    there = found["level"] == "system"
    return found[there].assign(n_systems=9, n_families=systems, smallest_p=smallest)


def test_what_was_found_comes_first_and_once(frames, found):
    small = found.assign(n_families=4)
    assert limits(small, frames["designs"]) == [
        FOUND,
        "With 4 systems the best verdict is “promising”; trusting a metric with other systems needs"
        " at least 6.",
    ]
    one = frames["designs"].assign(suspected=["Names begin alike.", ""], found="")
    assert limits(found, one) == ["completeness: Names begin alike."]


@pytest.mark.parametrize(
    ("systems", "smallest", "confidence", "said"),
    [
        (3, 1 / 3, 0.95, "People rated 3 systems; ranking systems needs at least 5."),
        (4, 1 / 12, 0.99, "People rated 4 systems; ranking systems needs at least 6."),
        (2, 1.0, 0.8, "People rated 2 systems; ranking systems needs at least 4."),
        (1, 1.0, 0.95, "All texts are by one system, so there are no two to rank."),
    ],
)
def test_fewest_systems_by_hand(found, plain, systems, smallest, confidence, said):
    """2 / 4! = .083, 2 / 5! = .017, 2 / 6! = .003."""
    line, few = limits(_system(found, systems, smallest), plain, confidence)
    assert line == said
    assert few.startswith(f"With {systems} system{'s' if systems > 1 else ''} the best verdict")


def test_at_the_threshold_nothing_is_shown_below_it_something_may_be(found, plain):
    assert limits(_system(found, 7, 0.25), plain, 0.75)
    assert limits(_system(found, 7, 0.25), plain, 0.7) == []


def test_one_criterion_of_two_is_named(found, plain):
    some = found.copy()
    there = (some["level"] == "system") & (some["criterion"] != "completeness")
    some.loc[there, ["smallest_p", "n_families"]] = [0.0833, 4]
    (line,) = limits(some, plain)  # other levels know of eight systems
    assert line.startswith(f"odd {SCRIPT}: people rated 4 systems; ranking")


def test_studies_are_named_where_there_are_several(found, plain):
    other = found.assign(study="other")
    here = found.assign(smallest_p=found["level"].map({"system": 0.0833}).fillna(0.0004))
    (line,) = limits(pd.concat([here, other]), plain)
    assert line.startswith(
        f"completeness (study invented); odd {SCRIPT} (study invented): too few orders"
    )


def test_few_permutations_and_nested_documents_are_told_apart(found, plain):
    few = found.assign(smallest_p=found["level"].map({"global": 0.1}).fillna(0.0004))
    assert limits(few, plain) == [
        "Too few orders were drawn at random for any two texts; set more permutations."
    ]
    nested = found[found["level"] == "document"].assign(smallest_p=None, design="nested")
    assert limits(nested, plain) == [
        "Each document has one system’s text, so there are no two to compare."
    ]


def test_few_systems_and_documents_or_clusters_are_counted(found, plain):
    """2 / (3! x 3!) = .056; and of one system and three clusters 2 / (1 x 2**3) = .25."""
    small = found[found["level"] == "global"].assign(
        n_families=3, n_documents=3, n_clusters=3, smallest_p=1 / 18
    )
    assert limits(small, plain)[0] == (
        "People rated 3 systems and 3 documents, too few to test a metric on any two texts."
    )
    alone = small.assign(n_families=1, n_documents=30, design="one system", smallest_p=0.25)
    assert limits(alone, plain) == [
        "People rated 1 system and 3 clusters of documents, too few to test a metric on any two"
        " texts."
    ]


def test_nothing_tested_has_no_limits(nothing):
    assert limits(nothing["certificates"], nothing["designs"]) == []
