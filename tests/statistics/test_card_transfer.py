"""Whether a card's rate holds on new texts: by hand, and with scipy's beta distribution."""

import math

import pytest
from scipy.stats import beta

from metassay.statistics.card_transfer import labels_to_hold, size_of_interval, transfer
from metassay.statistics.shares import Estimate


def rate(value, n, n_effective=None):
    """A rate without its interval: the test makes its own."""
    return Estimate(
        value, math.nan, math.nan, n, n if n_effective is None else n_effective
    )


def ends(value, n, tail):
    hits = value * n
    return beta.ppf(tail, hits + 0.5, n - hits + 0.5), beta.ppf(
        1 - tail, hits + 0.5, n - hits + 0.5
    )


def test_the_interval_is_newcombes_with_jeffreys_ends():
    moved = transfer(rate(0.9, 200), rate(0.8, 100), margin=0.1)
    old_low, old_high = ends(0.9, 200, 0.025)
    new_low, new_high = ends(0.8, 100, 0.025)
    assert moved.difference == pytest.approx(-0.1)
    assert moved.low == pytest.approx(
        -0.1 - math.sqrt((0.8 - new_low) ** 2 + (old_high - 0.9) ** 2)
    )
    assert moved.high == pytest.approx(
        -0.1 + math.sqrt((new_high - 0.8) ** 2 + (0.9 - old_low) ** 2)
    )
    assert moved.outcome == "cannot tell"


def test_rows_of_a_document_count_as_what_they_are_worth():
    alone = transfer(rate(0.9, 200), rate(0.9, 100), margin=0.1)
    together = transfer(rate(0.9, 200), rate(0.9, 100, 25.0), margin=0.1)
    assert alone.outcome == "holds"
    assert together.outcome == "cannot tell"
    assert together.labels == pytest.approx(4 * alone.labels, abs=3)


@pytest.mark.parametrize(
    ("value", "n", "outcome"),
    [
        (0.92, 200, "holds"),
        (0.6, 200, "worse"),
        (0.82, 100, "cannot tell"),
        (1.0, 4, "cannot tell"),
        (0.0, 4, "cannot tell"),
        (math.nan, 0, "not checked"),
        (math.nan, 3, "cannot tell"),  # a weighted rate with too few labels is blank
    ],
)
def test_each_outcome(value, n, outcome):
    assert transfer(rate(0.9, 300), rate(value, n), margin=0.1).outcome == outcome


def test_more_looks_need_more_labels():
    card, new = rate(0.9, 200), rate(0.9, 100)
    assert transfer(card, new, margin=0.1).outcome == "holds"
    assert transfer(card, new, margin=0.1, n_tests=10).outcome == "cannot tell"


def test_so_many_labels_hold_and_one_fewer_do_not():
    """At the rate that one of five samples is below."""
    card, margin = rate(0.9, 400), 0.1
    n = labels_to_hold(card, margin=margin, level=0.05)

    def outcome(n):
        unlucky = 0.9 - 0.8416212335729143 * math.sqrt(0.9 * 0.1 / n)
        return transfer(card, rate(unlucky, n), margin=margin).outcome

    assert outcome(n) == "holds"
    assert outcome(n - 1) == "cannot tell"


def test_a_card_on_few_labels_cannot_travel_within_a_small_margin():
    moved = transfer(rate(0.8, 50), rate(0.8, 30), margin=0.05)
    assert moved.outcome == "cannot tell"
    assert math.isnan(moved.labels)


def test_the_size_behind_an_interval_is_the_number_of_labels_that_gave_it():
    for value, n in ((0.9, 200), (0.5, 12), (1.0, 30), (0.0, 30)):
        low, high = ends(value, n, 0.025)
        low, high = (low if value else 0.0), (high if value < 1 else 1.0)
        whole = Estimate(value, low, high, n, math.nan)
        assert size_of_interval(whole, confidence=0.95) == pytest.approx(n, rel=1e-6)


def test_the_wider_side_of_an_interval_decides_its_size():
    low, high = ends(0.9, 100, 0.025)
    wider_below = Estimate(0.9, low - 0.05, high, 100, math.nan)
    size = size_of_interval(wider_below, confidence=0.95)
    assert size < 100
    assert ends(0.9, size, 0.025)[0] == pytest.approx(low - 0.05)


def test_an_end_that_was_cut_off_does_not_decide():
    low, _ = ends(0.95, 40, 0.025)
    cut = Estimate(0.95, low, 1.0, 40, math.nan)
    assert size_of_interval(cut, confidence=0.95) == pytest.approx(40, rel=1e-6)
    assert math.isnan(
        size_of_interval(rate(math.nan, 3)._replace(low=math.nan), confidence=0.95)
    )
