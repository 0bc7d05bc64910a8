"""Williams' test, the paired bootstrap, and corrections for many tests.

All three-way comparisons use only cells that have both metrics and people, and count signs: negate
a metric of which less is better. NaN is undefined.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from metassay.statistics import weighted
from metassay.statistics.arithmetic import Array
from metassay.statistics.components import correlate_at
from metassay.statistics.correlation import Coefficient, Level, correlate
from metassay.statistics.layout import Layout
from metassay.statistics.permutation import EQUAL, Alternative, Trio, common, paired_differences
from metassay.statistics.resampling import Draws, resampled, varied


class Williams(NamedTuple):
    """The test of two correlations that share people."""

    difference: float  # r12 - r13
    t: float  # n - 3 degrees of freedom; NaN if undefined
    p: float  # of r12 = r13; NaN if undefined
    n: int  # what the correlations rest on: items, systems, or systems per document
    n_missing: int  # cells with some of the three scores but not all


class PairedBootstrap(NamedTuple):
    """The difference of two metrics' correlations over shared resamples."""

    difference: float  # correlation of a less that of b; NaN if undefined
    low: float
    high: float
    p: float  # two-sided, of no difference
    n: int  # cells that have all three scores
    n_undefined: int  # resamples without a difference
    n_missing: int  # cells with some of the three scores but not all


def williams_test(
    r12: float, r13: float, r23: float, n: int, *, alternative: Alternative = "two-sided"
) -> tuple[float, float]:
    """t and p of Williams' test that correlations r12 and r13 are equal, r23 between 2 and 3.

    `greater`: that r12 is larger. NaN with n < 4, an undefined correlation, or 2 and 3 the same
    but for their sign. Source: Steiger 1980, Tests for comparing elements of a correlation matrix,
    eq. 7 (Williams' T2).
    """
    if n < 4 or not np.isfinite(r12 + r13 + r23) or abs(r23) >= 1.0 - 1e-12:
        return np.nan, np.nan
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    size = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    if size <= 0:
        return np.nan, np.nan
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / size)
    tail = {"two-sided": -abs(t), "greater": -t, "less": t}[alternative]
    p = (2 if alternative == "two-sided" else 1) * scipy.special.stdtr(n - 3, tail)
    return float(t), float(p)


def williams(
    a: ArrayLike,
    b: ArrayLike,
    human: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    *,
    alternative: Alternative = "two-sided",
) -> Williams:
    """Williams' test that metrics a and b correlate equally with people at a level.

    It takes items for independent and scores for normal: sound at system level; at global level
    too sure, since items share documents; at document level (n is the largest number of systems
    in a document, as in the nlpstats package) too unsure, since documents are averaged. Prefer
    `permutation_test` at both. (nlpstats drops all signs, also that of the correlation of a and
    b; then three correlations may be taken for ones that no data can have.)
    """
    trio = common(a, b, human)
    r12 = correlate(trio.a, trio.human, level, coefficient)
    r13 = correlate(trio.b, trio.human, level, coefficient).value
    r23 = correlate(trio.a, trio.b, level, coefficient).value
    n = r12.n
    if level == "document":
        n = int(np.max(np.sum(trio.present, axis=0), initial=0))
    t, p = williams_test(r12.value, r13, r23, n, alternative=alternative)
    return Williams(r12.value - r13, t, p, n, trio.n_missing)


class Sampled(NamedTuple):
    """A correlation, or a difference of two, in the data and in each resample."""

    value: float
    samples: Array  # (resamples,), NaN where undefined
    told: bool  # whether the resamples differ in anything that could be correlated

    def less(self, other: "Sampled") -> "Sampled":
        """The difference of two metrics' correlations, resampled by the same draws."""
        told = self.told and other.told
        return Sampled(self.value - other.value, self.samples - other.samples, told)


def sampled(
    metric: Array,
    human: Array,
    level: Level,
    coefficient: Coefficient,
    draws: Draws,
    layout: Layout | None = None,
) -> Sampled:
    """One metric's correlation; metrics with the same missing cells can share theirs."""
    return Sampled(
        correlate_at(metric, human, level, coefficient, layout).value,
        resampled(metric, human, level, coefficient, draws, layout),
        varied(metric, human, level, coefficient, draws),
    )


def sampled_by_document(
    trios: Sequence[Trio], coefficient: Coefficient, draws: Draws
) -> list[Sampled]:
    """Of each two metrics the mean difference over the documents in which both have a coefficient.

    The trios are of one study, so that a metric that several have is computed once per document.
    """
    n, n_documents = draws.documents.shape
    fixed = [paired_differences(trio, coefficient) for trio in trios]
    totals, counts = np.zeros((2, len(trios), n))
    for place in range(n_documents):
        drawn = draws.documents[:, place]
        columns: dict[bytes, Array] = {}
        for number, trio in enumerate(trios):
            if draws.resample == "documents":
                difference = np.broadcast_to(fixed[number][place], n)
            else:
                difference = _drawn_difference(trio, place, coefficient, draws, columns)
            known = ~np.isnan(difference)
            totals[number] += np.where(known, difference, 0.0) * drawn
            counts[number] += known * drawn
    means = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    found = []
    for trio, differences, samples in zip(trios, fixed, means, strict=True):
        there = ~np.isnan(differences)
        value = float(np.mean(differences[there])) if there.any() else np.nan
        systems = trio.present[:, there].any(axis=1).sum() > 1
        told = bool(systems if draws.resample == "systems" else there.sum() > 1)
        found.append(Sampled(value, samples, told and (draws.resample != "both" or bool(systems))))
    return found


def _drawn_difference(
    trio: Trio, place: int, coefficient: Coefficient, draws: Draws, columns: dict[bytes, Array]
) -> Array:
    there = np.flatnonzero(trio.present[:, place])
    human = trio.human[there, place]
    both = []
    for metric in (trio.a, trio.b):
        scores = metric[there, place]
        key = there.tobytes() + scores.tobytes()
        if key not in columns:
            weights = draws.systems.astype(np.float64)
            columns[key] = weighted.COEFFICIENTS[coefficient](scores, human, there, weights)
        both.append(columns[key])
    difference: Array = both[0] - both[1]
    return difference


def paired(found: Sampled, trio: Trio, *, confidence: float) -> PairedBootstrap:
    """Percentile interval of how much more a correlates with people than b, and its p.

    p is twice the smaller share of resamples on either side of 0 (0 itself counts on both), the
    data counted as one resample more. All NaN but the difference if fewer than half of the
    resamples have one, or if only one of the documents (or systems) that are drawn has anything to
    correlate.
    """
    difference, values = found.value, found.samples
    defined = values[~np.isnan(values)]
    n_cells, undefined = int(np.count_nonzero(trio.present)), values.size - defined.size
    if np.isnan(difference) or 2 * defined.size < values.size or not found.told:
        nothing = (np.nan, np.nan, np.nan, n_cells, undefined, trio.n_missing)
        return PairedBootstrap(difference, *nothing)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(defined, (tail, 1.0 - tail))
    side = min(np.count_nonzero(defined <= EQUAL), np.count_nonzero(defined >= -EQUAL))
    p = min(1.0, 2.0 * (1 + side) / (1 + defined.size))
    ends = (float(low), float(high), p, n_cells, undefined, trio.n_missing)
    return PairedBootstrap(difference, *ends)


def holm(p: ArrayLike) -> Array:
    """Holm's adjusted p values (n,): the chance of any false finding in the family is bounded.

    NaN (a test without a value) is no member of the family and stays NaN. Source: Holm 1979, A
    simple sequentially rejective multiple test procedure.
    """
    values, order, adjusted = _family(p)
    factor = np.arange(values.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(values * factor), 1.0)
    return adjusted


def benjamini_hochberg(p: ArrayLike) -> Array:
    """Benjamini and Hochberg's adjusted p values (n,): bounds the share of findings that are false.

    NaN as for `holm`. Source: Benjamini and Hochberg 1995, Controlling the false discovery rate.
    """
    values, order, adjusted = _family(p)
    raised = values * values.size / np.arange(1, values.size + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return adjusted


def _family(p: ArrayLike) -> tuple[Array, NDArray[np.intp], Array]:
    # The values that are there, ascending, where they came from, and room for the adjusted.
    given = np.asarray(p, dtype=np.float64)
    if given.ndim != 1 or np.any((given < 0) | (given > 1)):
        raise ValueError("want a row of p values between 0 and 1")
    there = np.flatnonzero(~np.isnan(given))
    order = there[np.argsort(given[there], kind="stable")]
    return given[order], order, np.full(given.shape, np.nan)
