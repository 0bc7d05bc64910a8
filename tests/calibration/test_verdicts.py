"""`pytest -m calibration`: the promises of the verdicts, in some of the designs of the page."""

import numpy as np
import pytest

from tests.calibration.verdicts import (
    WORLDS,
    at_the_margin,
    at_the_threshold,
    best_of_many,
    coverage,
    false_findings,
    nested_findings,
    power,
)

pytestmark = pytest.mark.calibration


def above(share, runs):
    """Two standard errors above a promised share."""
    return share + 2 * np.sqrt(share * (1 - share) / runs)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_nothing_is_certified_that_is_not_there(world):
    for shape in ((4, 30), (8, 30)):
        shares = false_findings(shape, world, runs=150, seed=8)
        assert max(shares.values()) <= above(0.05, 150)


@pytest.mark.parametrize("sizes", [(30, 30, 30), (15, 30, 45, 20), (10,) * 8])
def test_nothing_is_certified_where_nothing_is_crossed(sizes):
    shares = nested_findings(sizes, runs=150, seed=8)
    assert max(shares.values()) <= above(0.05, 150)


@pytest.mark.parametrize("level", ["global", "document", "system"])
def test_intervals_hold_what_they_are_for(level):
    for shape in ((4, 10), (16, 50)):
        found = coverage(shape, level, WORLDS[0], runs=300, seed=8)
        assert found.crossed >= 0.92
        assert found.these >= 0.91


def test_a_good_metric_holds_and_errors_keep_their_bounds():
    found = power(runs=30, seed=8)
    assert found["document"] >= 0.9
    assert found["system"] == 0
    assert at_the_margin((8, 30), level="document", runs=30, seed=8) <= above(0.05, 30)
    said = at_the_threshold((8, 30), level="global", runs=60, seed=8)
    assert said.get("no use", 0) + said.get("weak", 0) <= above(0.05, 60)
    best = best_of_many((8, 30), level="global", runs=30, seed=8)
    assert best["covers"] >= 0.9
    assert abs(best["corrected"]) < best["plain"]
