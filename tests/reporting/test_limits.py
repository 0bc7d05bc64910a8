"""What a study's data show of its design, and what it is too small for, against counts by hand."""

import pandas as pd
import pytest

from metassay.reporting.certificates import limits
from tests.reporting.invented_meta import FOUND, SCRIPT

CANNOT = "level no metric can be shown to follow people:"


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
        "4 systems say too little of other systems, for which it takes 6 or more: the best verdict"
        " is “promising”.",
    ]
    one = frames["designs"].assign(suspected=["Names begin alike.", ""], found="")
    assert limits(found, one) == ["completeness: Names begin alike."]


@pytest.mark.parametrize(
    ("systems", "smallest", "confidence", "said"),
    [
        (3, 1 / 3, 0.95, "with 3 systems no p can be below .333. It takes at least 5."),
        (4, 1 / 12, 0.99, "with 4 systems no p can be below .083. It takes at least 6."),
        (2, 1.0, 0.8, "with 2 systems no p can be below 1.000. It takes at least 4."),
        (1, 1.0, 0.95, "all texts are by one system."),
    ],
)
def test_fewest_systems_by_hand(found, plain, systems, smallest, confidence, said):
    """2 / 4! = .083, 2 / 5! = .017, 2 / 6! = .003."""
    line, few = limits(_system(found, systems, smallest), plain, confidence)
    assert line == f"At system {CANNOT} {said}"
    assert few.startswith(f"{systems} system{'s' if systems > 1 else ''} say too little")


def test_at_the_threshold_nothing_is_shown_below_it_something_may_be(found, plain):
    assert limits(_system(found, 7, 0.25), plain, 0.75)
    assert limits(_system(found, 7, 0.25), plain, 0.7) == []


def test_one_criterion_of_two_is_named(found, plain):
    some = found.copy()
    there = (some["level"] == "system") & (some["criterion"] != "completeness")
    some.loc[there, ["smallest_p", "n_families"]] = [0.0833, 4]
    (line,) = limits(some, plain)  # other levels know of eight systems
    assert line.startswith(f"odd {SCRIPT}: at system {CANNOT} with 4 systems")


def test_studies_are_named_where_there_are_several(found, plain):
    other = found.assign(study="other")
    here = found.assign(smallest_p=found["level"].map({"system": 0.0833}).fillna(0.0004))
    (line,) = limits(pd.concat([here, other]), plain)
    assert line.startswith(
        f"completeness (study invented); odd {SCRIPT} (study invented): at system level"
    )


def test_few_permutations_and_nested_documents_are_told_apart(found, plain):
    few = found.assign(smallest_p=found["level"].map({"global": 0.1}).fillna(0.0004))
    assert limits(few, plain) == [
        f"At global {CANNOT} with so few orders drawn at random no p can be below .100. Set more"
        " permutations."
    ]
    nested = found[found["level"] == "document"].assign(smallest_p=None, design="nested")
    assert limits(nested, plain) == [
        f"At document {CANNOT} each document has one system’s text, so there are no two to compare."
    ]


def test_few_systems_and_documents_or_clusters_are_counted(found, plain):
    """2 / (3! x 3!) = .056; and of one system and three clusters 2 / (1 x 2**3) = .25."""
    small = found[found["level"] == "global"].assign(
        n_families=3, n_documents=3, n_clusters=3, smallest_p=1 / 18
    )
    assert limits(small, plain)[0] == (
        f"At global {CANNOT} with 3 systems and 3 documents no p can be below .056."
    )
    alone = small.assign(n_families=1, n_documents=30, design="one system", smallest_p=0.25)
    assert limits(alone, plain) == [
        f"At global {CANNOT} with 1 system and 3 clusters of documents no p can be below .250."
    ]


def test_nothing_tested_has_no_limits(nothing):
    assert limits(nothing["certificates"], nothing["designs"]) == []
