"""`pytest -m calibration`: the promises of the verdicts, in some of the designs of the page."""

import numpy as np
import pytest

from tests.calibration import alike, shapes
from tests.calibration.verdicts import (
    below_a_rater,
    below_useful,
    best_of_many,
    coverage,
    false_claims,
    nested_claims,
    power,
    rare_flag,
)
from tests.calibration.worlds import COPIES, PLAIN, WORLDS

pytestmark = pytest.mark.calibration


def above(share, runs):
    """Two standard errors above a promised share."""
    return share + 2 * np.sqrt(share * (1 - share) / runs)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_nothing_is_claimed_that_is_not_there(world):
    for shape in ((4, 30), (8, 30)):
        claims = false_claims(shape, world, runs=100, seed=8)
        assert max(shares.promising for shares in claims.values()) <= above(0.05, 100)


@pytest.mark.parametrize("sizes", [(30, 30, 30), (15, 30, 45, 20), (10,) * 8])
def test_nothing_is_claimed_where_nothing_is_crossed(sizes):
    claims = nested_claims(sizes, runs=100, seed=8)
    assert max(shares.promising for shares in claims.values()) <= above(0.05, 100)


@pytest.mark.parametrize(
    "kind", [*alike.DECLARED, *alike.DETECTED], ids=lambda kind: kind.name
)
def test_nothing_is_claimed_where_documents_or_systems_are_alike(kind):
    claims, _ = alike.claims(kind, runs=80, seed=8)
    assert max(shares.promising for shares in claims.values()) <= above(0.05, 80)


@pytest.mark.parametrize("level", ["global", "document", "system"])
@pytest.mark.parametrize("world", [PLAIN, COPIES], ids=lambda world: world.name)
def test_use_is_useful(level, world):
    assert below_useful((8, 40), level, world, runs=100, seed=8) <= above(0.025, 100)


@pytest.mark.parametrize("level", ["global", "document", "system"])
def test_intervals_hold_what_they_are_for(level):
    for shape in ((4, 10), (16, 50)):
        shares = coverage(shape, level, WORLDS[0], runs=300, seed=8)
        assert shares.crossed >= 0.92
        assert shares.these >= 0.91


@pytest.mark.parametrize("name", shapes.SHAPES)
def test_a_confound_is_caught_whatever_its_shape(name):
    explained = shapes.caught((8, 40), name, runs=30, seed=8)
    wrongly = shapes.wrongly_explained((8, 40), name, runs=30, seed=8)
    for level in ("global", "document"):
        assert explained[level] >= 0.9
        assert wrongly[level] <= above(0.05, 30)


def test_good_metrics_are_used_and_errors_keep_their_bounds():
    used, promising = power((8, 40), "global", 0.6, runs=40, seed=8)
    assert used > 0.4
    assert used + promising > 0.95
    assert below_a_rater((8, 30), level="document", by=0.05, runs=30, seed=8) <= above(
        0.05, 30
    )
    assert max(rare_flag((8, 40), runs=30, seed=8)) <= above(0.025, 30)
    best = best_of_many((8, 30), level="global", runs=30, seed=8)
    assert best["covers"] >= 0.9
    assert abs(best["corrected"]) < best["plain"]
