"""Shares of texts with an interval that holds in small samples, and what alike texts are worth.

Texts of one document are alike. `effective_size` says how many independent texts they are worth;
every interval of a judge's card starts from that number. The interval of a number that is no share
is of tables of counts drawn from their posterior (`drawn`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.exact_sums import Array

Clusters = NDArray[np.intp]


class Estimate(NamedTuple):
    """One number of a card, its interval, and what both rest on; NaN where undefined."""

    value: float
    low: float
    high: float
    n: int  # texts that it rests on
    n_effective: float  # independent texts that they are worth: n unless texts share documents


UNDEFINED = (np.nan, np.nan, np.nan)


def jeffreys(hits: float, n: float, *, confidence: float) -> tuple[float, float]:
    """Interval of a share of `hits` among n, both of which may be fractions; NaN for n of 0.

    Equal tails of Beta(hits + 1/2, n - hits + 1/2); an end is 0 or 1 where no text, or every text,
    is a hit. Its coverage in small samples and near 0 and 1 stays closer to what is asked than
    Wilson's. Source: Brown, Cai and DasGupta 2001, Interval estimation for a binomial proportion.
    """
    if not n > 0:
        return np.nan, np.nan
    a, b, tail = hits + 0.5, n - hits + 0.5, (1.0 - confidence) / 2.0
    low = 0.0 if hits <= 0 else float(scipy.special.betaincinv(a, b, tail))
    high = 1.0 if hits >= n else float(scipy.special.betaincinv(a, b, 1.0 - tail))
    return low, high


def share(hits: ArrayLike, cluster: Clusters, *, confidence: float) -> Estimate:
    """The share of ones among 0/1 values (n,), with Jeffreys' interval; NaN without values."""
    values = np.asarray(hits, dtype=np.float64)
    if not values.size:
        return Estimate(*UNDEFINED, 0, 0.0)
    value = float(np.mean(values))
    worth = effective_size(values - value, cluster, confidence=confidence)
    ends = jeffreys(value * worth, worth, confidence=confidence)
    return Estimate(value, *ends, values.size, worth)


def effective_size(influence: Array, cluster: Clusters, *, confidence: float) -> float:
    """How many independent texts n texts of `cluster` (n,) are worth, 1 to n.

    `influence` (n,): by how much each text moves the number asked about; its mean is taken off.
    n / design effect, which is the variance of sums over clusters by that of texts taken alone and
    never below 1; times (normal quantile / t quantile) ** 2, as few clusters, or those few that
    most of the variance comes from (Satterthwaite's degrees of freedom), tell little of it. With
    one text a cluster it is n. Where no text moves the number, nothing tells how alike texts are:
    then each cluster counts once. Sources: Rao and Scott 1992, A simple method for the analysis of
    clustered binary data; Korn and Graubard 1998, Confidence intervals for proportions with small
    expected number of positive counts.
    """
    n = influence.size
    _, of = np.unique(cluster, return_inverse=True)
    k = int(of.max()) + 1 if n else 0
    if k == n:
        return float(n)
    centred = influence - np.mean(influence)
    alone = float(np.sum(centred**2)) / (n - 1)
    if k < 2 or alone <= 1e-24:
        return float(k)
    squares: Array = np.bincount(of, weights=centred).astype(np.float64) ** 2
    together = float(np.sum(squares)) * k / (k - 1) / n
    ratio = quantile_ratio(_freedom(squares), confidence=confidence)
    return n / max(1.0, together / alone) * ratio


def quantile_ratio(freedom: float, *, confidence: float) -> float:
    """(normal quantile / t quantile) ** 2: what a variance of so much freedom costs; 0 of none."""
    if freedom <= 0:
        return 0.0
    upper = (1.0 + confidence) / 2.0
    normal, t = scipy.special.ndtri(upper), scipy.special.stdtrit(freedom, upper)
    return float((normal / t) ** 2)


def _freedom(squares: Array) -> float:
    # Satterthwaite's: where a few clusters make the variance (a judge errs in four documents of
    # sixty), it is known no better than from a few.
    k, size = squares.size, float(np.sum(squares))
    if not size > 0:
        return k - 1.0
    kurtosis = k * float(np.sum(squares**2)) / size**2
    return k - 1.0 if kurtosis <= 1.0 else min(k - 1.0, 2.0 * k / (kurtosis - 1.0))


def own_clusters(cluster: ArrayLike | None, n: int) -> Clusters:
    """The cluster of each text as whole numbers; each text its own where none is given.

    Raises ValueError unless there are n of them.
    """
    if cluster is None:
        return np.arange(n, dtype=np.intp)
    _, of = np.unique(np.asarray(cluster), return_inverse=True)
    if of.shape != (n,):
        raise ValueError(f"want a cluster for each of {n} texts, got {of.shape}")
    made: Clusters = of.astype(np.intp)
    return made


Tables = NDArray[Any]  # (..., cells), counts or shares, maybe complex
Coefficient = Callable[[Tables], Tables]  # tables (..., cells) -> numbers (...), NaN if undefined

DRAWS = 10_000


def drawn(
    coefficient: Coefficient,
    cell: NDArray[np.intp],
    cluster: Clusters,
    *,
    cells: int,
    prior: float,
    confidence: float,
    rng: np.random.Generator,
) -> Estimate:
    """The coefficient of the table of `cell` (n,), each 0 to `cells` - 1, with its interval.

    Equal tails of DRAWS tables from a Dirichlet with `prior` texts added to each cell, of as many
    texts as these are worth (`cluster`, n). The ends are let out to hold the value. NaN where the
    coefficient is undefined for the table.
    """
    n = cell.size
    table = np.bincount(cell, minlength=cells).astype(np.float64)
    value = float(coefficient(table)) if n else np.nan
    if np.isnan(value):
        return Estimate(*UNDEFINED, n, float(n))
    worth = effective_size(_gradient(coefficient, table / n)[cell], cluster, confidence=confidence)
    # With clusters, their t quantile is in `worth` already.
    certain = worth * (quantile_ratio(n - 1, confidence=confidence) if worth == n else 1.0)
    tables = rng.standard_gamma(table * (certain / n) + prior, size=(DRAWS, cells))
    return Estimate(value, *ends(coefficient(tables), value, confidence=confidence), n, worth)


def ends(values: Array, value: float, *, confidence: float) -> tuple[float, float]:
    """Equal tails of drawn values (n,), let out to hold `value`; NaN where it or all are."""
    known = values[np.isfinite(values)]
    if np.isnan(value) or not known.size:
        return np.nan, np.nan
    low, high = np.quantile(known, ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0))
    return min(float(low), value), max(float(high), value)


def _gradient(coefficient: Coefficient, at: Array) -> Array:
    # By a complex step: exact to rounding, without a formula per coefficient.
    made: Array = np.imag(coefficient(at + 1e-30j * np.eye(at.size))) / 1e-30
    return made
