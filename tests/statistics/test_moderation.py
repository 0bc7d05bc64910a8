import numpy as np
import pytest
import scipy.special

from metassay.statistics.jackknife import LeaveOneOut, Spread, between_systems, moderator


def drawn(n, freedom, prior, common, seed=0):
    """Variances as Smyth 2004 has them: 1 / sigma^2 is chi-square of the prior's degrees."""
    rng = np.random.default_rng(seed)
    true = common * prior / rng.chisquare(prior, n)
    return Spread(true * rng.chisquare(freedom, n) / freedom, np.full(n, float(freedom)))


def alike(n):
    return Spread(np.full(n, 0.1), np.full(n, 4.0))


def test_it_is_smyths_estimate():
    """800 metrics that have nothing in common: the prior is found, and pulls as it says."""
    found = drawn(800, freedom=7, prior=10, common=0.04)
    moderate = moderator(found, np.eye(800))
    small = moderate(Spread(0.0, 7.0))
    prior = small.freedom - 7
    assert prior == pytest.approx(10, rel=0.25)
    assert small.variance == pytest.approx(prior * 0.04 / (prior + 7), rel=0.1)


def test_by_hand():
    # Three metrics of equal variance: their logarithms differ less than chance makes them, so the
    # prior has all degrees of freedom that three independent metrics of 4 have, less one's own.
    found = alike(3)
    moderated = moderator(found, np.eye(3))(Spread(0.02, 4.0))
    assert moderated.freedom == pytest.approx(4 + 2 * 4)
    half, prior = 2.0, 8.0
    e = np.log(0.1) - scipy.special.digamma(half) + np.log(half)
    common = np.exp(e + scipy.special.digamma(prior / 2) - np.log(prior / 2))
    assert moderated.variance == pytest.approx((prior * common + 4 * 0.02) / 12)
    # Where an interval rests on systems alone, they keep their own degrees of freedom.
    alone = moderator(found, np.eye(3), alone=True)(Spread(0.02, 4.0))
    assert alone == Spread(moderated.variance, 4.0)
    # A variance above what all have in common stays.
    assert moderator(found, np.eye(3))(Spread(3.0, 4.0)).variance == 3.0


def test_metrics_that_move_alike_lend_each_other_nothing():
    found = drawn(20, freedom=7, prior=50, common=0.04)
    copies = np.tile(np.random.default_rng(1).normal(size=28), (20, 1))
    one = Spread(found.variance[0], found.freedom[0])
    assert moderator(found, copies)(one) == one
    assert moderator(found, -copies)(one) == one
    some = moderator(found, np.kron(np.eye(4), np.ones((5, 1))))(one)  # four groups of five
    assert some.freedom == pytest.approx(7 + 3 * 7)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_two_metrics_say_nothing_of_a_third(n):
    found, one = alike(n + 2), Spread(0.02, 4.0)
    found.variance[n:] = np.nan, 0.0
    assert moderator(found, np.eye(n + 2))(one) == one


def test_unknown_variances():
    unknown = LeaveOneOut(0.5, np.array([0.5, np.nan]), np.array([0.1, 0.2]))
    assert np.isnan(between_systems(unknown)).all()
    known = between_systems(unknown._replace(systems=np.array([0.1, 0.3, 0.2])))
    z = np.arctanh([0.1, 0.3, 0.2])
    assert known == pytest.approx((2 / 3 * np.sum((z - z.mean()) ** 2), 2))


def test_intervals_of_many_metrics_hold_at_once():
    """Where every variance has four degrees of freedom, moderated ones still are large enough."""
    rng = np.random.default_rng(3)
    misses = 0
    for _ in range(400):
        sd = np.exp(0.3 * rng.normal(size=20))
        draws = sd[:, None] * rng.normal(size=(20, 5))
        spreads = Spread(draws.var(axis=1, ddof=1) / 5, np.full(20, 4.0))
        centred = draws - draws.mean(axis=1, keepdims=True)
        moderate = moderator(spreads, np.hstack([np.eye(20), 1e-9 * centred]))
        level = 1 - 0.05 / 20
        found = moderate(spreads)
        reach = scipy.special.stdtrit(found.freedom, (1 + level) / 2)
        misses += np.sum(np.abs(draws.mean(axis=1)) > reach * np.sqrt(found.variance))
    # 5 % of studies are promised to have any; two standard errors more are luck.
    assert misses / 400 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)
