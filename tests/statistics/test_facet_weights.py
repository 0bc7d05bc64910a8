"""Weights of facets by least squares: by hand, against scipy, and where they cannot be told."""

import numpy as np
import pytest
from scipy.optimize import least_squares, lsq_linear

from metassay.statistics.facet_weights import fit, mean_squared_error

NONE = np.nan
WEIGHTS = np.array([0.1, 0.3, 0.3, 0.3])


def renormalised(shares, weights):
    present = np.isfinite(shares)
    return (np.nan_to_num(shares) @ weights) / (present @ weights)


def texts(seed, n=60, weights=WEIGHTS, noise=0.05):
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.25, 0.5, 0.75, 1.0], size=(n, 4))
    shares[rng.random((n, 4)) < 0.2] = NONE
    # every text has one at least
    shares[:, 2] = rng.choice([0.25, 0.5, 0.75, 1.0], size=n)
    return renormalised(shares, weights) + noise * rng.normal(size=n), shares


def once(overall):
    return np.ones((1, len(overall)))


def test_two_facets_by_hand():
    """Normal equations 1.25 a + b = 1 and a + 1.25 b = .875, so a = 2/3 and b = 1/6."""
    shares = [[1.0, 0.5], [0.5, 1.0], [0.0, 0.0]]
    overall = [0.75, 0.5, 0.3]
    assert fit(overall, shares, once(overall), "complete")[0] == pytest.approx(
        [2 / 3, 1 / 6]
    )
    assert mean_squared_error(
        overall, shares, [2 / 3, 1 / 6], "complete"
    ) == pytest.approx(0.03)
    small = np.array(shares) / 1e7  # which are no nearer to each other
    in_other_units = fit(overall, small, once(overall), "complete")[0] / 1e7
    assert in_other_units == pytest.approx([2 / 3, 1 / 6])


def test_weights_that_made_the_scores_come_back():
    overall, shares = texts(1, noise=0.0)
    for method in ("complete", "renormalised"):
        assert fit(overall, shares, once(overall), method)[0] == pytest.approx(
            WEIGHTS, abs=1e-9
        )
        assert mean_squared_error(overall, shares, WEIGHTS, method) == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_scipy(seed):
    # the latter: a bound binds
    truth = WEIGHTS if seed % 2 else np.array([-0.1, 0.5, 0.3, 0.3])
    overall, shares = texts(seed, weights=truth)
    whole = np.isfinite(shares).all(axis=1)
    for bounds in ((-np.inf, np.inf), (0, np.inf)):
        plain = lsq_linear(shares[whole], overall[whole], bounds=bounds, tol=1e-14).x
        result = fit(
            overall, shares, once(overall), "complete", non_negative=bounds[0] == 0
        )[0]
        assert result == pytest.approx(plain, abs=1e-5)
        other = least_squares(
            lambda w, o=overall, s=shares: o - renormalised(s, w),
            np.full(4, 0.25),
            bounds=bounds,
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        ).x
        result = fit(
            overall, shares, once(overall), "renormalised", non_negative=bounds[0] == 0
        )[0]
        assert result == pytest.approx(other / other.sum(), abs=1e-4)
        assert result.sum() == pytest.approx(1.0)
    assert (
        seed % 2
        or fit(overall, shares, once(overall), "complete", non_negative=True)[0, 0] == 0
    )


def test_a_text_that_counts_twice_is_there_twice():
    overall, shares = texts(3, n=20)
    counts = np.arange(20) % 3
    again = np.repeat(np.arange(20), counts)
    for method in ("complete", "renormalised"):
        counted = fit(overall, shares, counts[None], method)
        repeated = fit(overall[again], shares[again], np.ones((1, again.size)), method)
        assert counted == pytest.approx(repeated, abs=1e-9)


def test_what_cannot_be_told_is_nan():
    alike = np.array([[0.5, 0.5], [1.0, 1.0], [0.25, 0.25]])
    for method in ("complete", "renormalised"):
        assert np.isnan(fit([0.5, 1.0, 0.25], alike, np.ones((1, 3)), method)).all()
    never_together = [[0.5, NONE], [NONE, 0.25], [1.0, NONE]]
    assert np.isnan(
        fit([0.5, 0.2, 1.0], never_together, np.ones((1, 3)), "renormalised")
    ).all()
    assert np.isnan(
        fit([0.5, 0.2, 1.0], never_together, np.ones((1, 3)), "complete")
    ).all()
    assert np.isnan(
        mean_squared_error([0.5], [[0.5, NONE]], [0.0, 1.0], "renormalised")
    )
    with pytest.raises(ValueError, match="no facet"):
        fit([0.5], [[NONE, NONE]], np.ones((1, 1)), "renormalised")
    with pytest.raises(ValueError, match="expected counts of 1 texts"):
        fit([0.5], [[1.0, NONE]], np.ones((1, 2)), "renormalised")
