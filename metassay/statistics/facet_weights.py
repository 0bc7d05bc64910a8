"""What each facet counts in an overall score, by least squares.

Texts are rows, facets columns: `shares[i, f]` is text i's grade of facet f as a share of the best
grade, NaN where the text has no such facet; `overall[i]` is its overall score as a share. `counts`
(resamples, texts) says how often each text counts, so that all resamples are fitted at once.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.exact_sums import Array, blocks, quotient

Method = Literal["complete", "renormalised"]

_STEPS = 100
_CONVERGED = 1e-11  # the largest step of a weight at which the search ends
_SINGULAR = 1e-10  # smallest by largest eigenvalue below which no weight can be told from another
_EXACT = 1e-12  # an error no larger is one of rounding, which differs between processors
_HELD = 1 << 21  # numbers in one temporary array: 16 MB


def fit(
    overall: ArrayLike,
    shares: ArrayLike,
    counts: ArrayLike,
    method: Method,
    *,
    non_negative: bool = False,
) -> Array:
    """Weights (resamples, facets), in the order of the columns; NaN where they cannot be told.

    - `complete`: the weights w with least sum of (overall - shares w)**2 over the texts that have
      every facet, without intercept and free in their sum: the linear fit of Guo et al. 2024.
    - `renormalised`: over all texts, of (overall - (shares w) / (present w))**2, `present` being 1
      where the text has the facet. Only the ratios of such weights can be told; they are given
      with sum 1. By Gauss-Newton: multiplied out it would be linear in w, but noise in the overall
      scores would pull the weights towards facets that are often absent.

    `non_negative`: the best weights of which none is below 0 (Lawson and Hanson 1974). Weights
    cannot be told where fewer texts than facets are left, or one facet is a combination of others.
    Raises ValueError unless shapes fit.
    """
    y, s, present = _checked(overall, shares)
    times = np.asarray(counts, dtype=np.float64)
    if times.ndim != 2 or times.shape[1] != y.size:
        raise ValueError(f"want counts of {y.size} texts in each row, got {times.shape}")
    if method == "complete":
        whole = present.all(axis=1)
        used = _by_facet(s[whole])
        weighted = times[:, None, whole] * used
        left = np.einsum("rfn,gn->rfg", weighted, used)
        return _solved(left, np.einsum("rfn,n->rf", weighted, y[whole]), non_negative)
    fitted = np.empty((len(times), s.shape[1]))
    used, there = _by_facet(s), _by_facet(present)
    for rows in blocks(len(times), s.size, numbers=_HELD):
        fitted[rows] = _ratios(y, used, there, times[rows], non_negative)
    return fitted


def mean_squared_error(
    overall: ArrayLike, shares: ArrayLike, weights: ArrayLike, method: Method
) -> float:
    """Mean over the texts that `method` uses of (overall - predicted)**2.

    NaN without texts, with weights that are NaN, and where all facets of a text have weight 0.
    """
    y, s, present = _checked(overall, shares)
    w = np.asarray(weights, dtype=np.float64)
    if method == "complete":
        whole = present.all(axis=1)
        y, predicted = y[whole], np.einsum("nf,f->n", s[whole], w)
    else:
        sums = np.einsum("nf,f->n", present, w)
        predicted = quotient(np.einsum("nf,f->n", s, w), sums, sums != 0)
    error = y - predicted
    error[np.abs(error) <= _EXACT] = 0.0
    return float(np.mean(error**2)) if y.size else np.nan


def _checked(overall: ArrayLike, shares: ArrayLike) -> tuple[Array, Array, Array]:
    # Texts that have an overall score and a facet: overall, shares with 0 for NaN, present.
    y, s = np.asarray(overall, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    if y.ndim != 1 or s.ndim != 2 or len(s) != y.size:
        raise ValueError(f"want (texts,) and (texts, facets), got {y.shape}, {s.shape}")
    present = np.isfinite(s)
    if not (np.isfinite(y).all() and present.any(axis=1).all()):
        raise ValueError("a text has no overall score, or no facet")
    return y, np.where(present, s, 0.0), present


def _by_facet(values: Array) -> Array:
    # Texts last: along them einsum adds up five times as fast.
    return np.ascontiguousarray(values.T, dtype=np.float64)


def _ratios(y: Array, s: Array, present: Array, times: Array, non_negative: bool) -> Array:
    # Gauss-Newton from equal weights. The derivative J of the predictions has J w = 0, as only
    # ratios matter; the square of (sum of weights - 1) added to each step's problem fixes the sum.
    n_facets = len(s)
    w = np.full((len(times), n_facets), 1.0 / n_facets)
    step = np.full(len(times), np.inf)
    for _ in range(_STEPS):
        open_rows = np.flatnonzero(step > _CONVERGED)  # NaN is no longer open
        if not open_rows.size:
            break
        now, counted = w[open_rows], times[open_rows]
        sums = np.einsum("rf,fn->rn", now, present)
        known = sums != 0
        inverse = quotient(1.0, sums, known, other=0.0)
        predicted = np.einsum("rf,fn->rn", now, s) * inverse
        slope = present * (s - predicted[:, None]) * inverse[:, None]
        weighted = counted[:, None] * slope
        error = np.where(known, y - predicted, 0.0)
        right = np.einsum("rfn,rn->rf", weighted, error) + 1.0
        made = _solved(np.einsum("rfn,rgn->rfg", weighted, slope) + 1.0, right, non_negative)
        total = made.sum(axis=1, keepdims=True)
        made = quotient(made, total, total > 0)
        step[open_rows] = np.abs(made - now).max(axis=1)
        w[open_rows] = made
    return np.where(step[:, None] <= _CONVERGED, w, np.nan)


def _solved(left: Array, right: Array, non_negative: bool) -> Array:
    # The solution of each left w = right; the least squares of w >= 0 where that is asked.
    eigenvalues = np.linalg.eigvalsh(left) if len(left) else np.zeros((0, 1))
    good = eigenvalues[:, 0] > _SINGULAR * np.maximum(eigenvalues[:, -1], np.finfo(float).tiny)
    solved = np.full(right.shape, np.nan)
    solved[good] = _eliminated(left[good], right[good])
    if non_negative:
        from scipy.optimize import nnls  # slow to import

        for row in np.flatnonzero(good & (solved < 0).any(axis=1)):
            root = np.linalg.cholesky(left[row])
            used = np.flatnonzero(nnls(root.T, np.linalg.solve(root, right[row]))[0])
            solved[row] = 0.0
            solved[row, used] = _eliminated(
                left[row][np.ix_(used, used)][None], right[[row]][:, used]
            )
    return solved


def _eliminated(left: Array, right: Array) -> Array:
    # The solution of each positive definite left w = right, by Gauss and Jordan: LAPACK and BLAS
    # round in an order that depends on the processor.
    rows = np.concatenate([left, right[:, :, None]], axis=2)
    for pivot in range(right.shape[1]):
        rows[:, pivot] /= rows[:, pivot, pivot, None]
        factor = rows[:, :, pivot, None].copy()
        factor[:, pivot] = 0.0
        rows -= factor * rows[:, pivot, None]
    return np.asarray(rows[:, :, -1])
