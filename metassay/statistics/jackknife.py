"""Intervals of correlations for new systems and new documents, by leaving each out in turn.

Systems and documents are both drawn from more of their kind: the variance is that of leaving out
one system plus that of leaving out one document (or one of 20 groups of them). What belongs to the
one text counts in both, so that the interval errs to the wide side. Sources: Efron and Stein 1981,
The jackknife estimate of variance; Owen 2007, The pigeonhole bootstrap (crossed random effects);
degrees of freedom by Satterthwaite 1946. Coverage is simulated in docs/calibration.md.

A bootstrap of so few systems fails: four systems drawn again are often two, whose correlation is 1
or -1, and means over documents drawn again carry the documents' noise twice.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.arithmetic import Array, Mask, ratio
from metassay.statistics.components import Relation, value_at
from metassay.statistics.concordance import concordance, taus_without
from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    Coefficient,
    Level,
    matrices,
    system_means,
)
from metassay.statistics.weighted import CANCELS

Index = NDArray[np.intp]
Over = Literal["both", "documents", "systems"]

FEWEST = 4  # systems (or documents) for an interval of a correlation between their means
Without = tuple[Array, Array]  # (systems,) and (groups,): the statistic without each

GROUPS = 20  # of documents, one left out in turn
NEAR_ONE = 0.9999  # correlations nearer to 1 are taken for this, so that Fisher's z is finite


class LeftOut(NamedTuple):
    """A statistic of all data, and without each system and each group of documents in turn."""

    value: float
    systems: Array  # (systems,) without each; NaN where that is undefined
    documents: Array  # (groups,) without each group of documents


class Ends(NamedTuple):
    """An interval, and the variance that it was made of; NaN where there is none."""

    low: float
    high: float
    of_systems: float  # variance from new systems, on the scale of the interval
    of_documents: float  # variance from new documents
    freedom: float  # degrees of freedom


NONE = Ends(np.nan, np.nan, np.nan, np.nan, np.nan)


def left_out(
    metric: ArrayLike, human: ArrayLike, relation: Relation, coefficient: Coefficient
) -> LeftOut:
    """A correlation (see `components.correlate_at`) of all data and of each leave-one-out.

    NaN for a system, and a group of documents, without any text that has both scores.
    """
    a, b = _present(metric, human)
    without = _WITHOUT.get(relation, _one_by_one)
    if relation == "global" and coefficient != "spearman":
        without = _pooled_pearson if coefficient == "pearson" else _pooled_kendall
    value = value_at(a, b, relation, coefficient)
    found = without(a, b, groups(a.shape[1]), relation, coefficient)
    return _checked(value, found, np.isfinite(a), relation)


def left_out_all(metric: ArrayLike, human: ArrayLike, level: Level) -> dict[Coefficient, LeftOut]:
    """`left_out` by every coefficient; the two taus share what they count."""
    a, b = _present(metric, human)
    found: dict[Coefficient, LeftOut] = {}
    for coefficient in get_args(Coefficient):
        if level == "global" and coefficient in ("kendall", "kendall_c"):
            continue
        found[coefficient] = left_out(a, b, level, coefficient)
    if level == "global":
        for tau, without in zip(
            ("kendall", "kendall_c"), _pooled_taus(a, b, groups(a.shape[1])), strict=True
        ):
            value = value_at(a, b, level, tau)  # type: ignore[arg-type] # two of the coefficients
            found[tau] = _checked(value, without, np.isfinite(a), level)  # type: ignore[index]
    return found


def _present(metric: ArrayLike, human: ArrayLike) -> tuple[Array, Array]:
    a, b, present = matrices(metric, human)
    return np.where(present, a, np.nan), np.where(present, b, np.nan)


def _checked(value: float, without: Without, present: Mask, relation: Relation) -> LeftOut:
    """NaN where nothing is left out, and where what is left cannot tell anything."""
    of_systems, of_documents = without
    n = min(present.shape[1], GROUPS)
    there = np.bincount(groups(present.shape[1]), present.any(axis=0), minlength=n) > 0
    there_systems = present.any(axis=1)
    # What is undefined without a system rests on that system: how much is not known.
    if np.isnan(of_systems[there_systems]).any():
        of_systems = np.full(len(of_systems), np.nan)
    if relation != "document" and np.isnan(of_documents[there]).any():
        of_documents = np.full(n, np.nan)
    of_systems = np.where(there_systems, of_systems, np.nan)
    # Two means always correlate 1 or -1: leaving one out of three says nothing.
    if relation in ("system", "between_systems") and present.any(axis=1).sum() < FEWEST:
        of_systems[:] = np.nan
    if relation == "between_documents" and present.any(axis=0).sum() < FEWEST:
        of_documents[:] = np.nan
    return LeftOut(value, of_systems, np.where(there, of_documents, np.nan))


def groups(documents: int) -> Index:
    """The group of each document: one of its own, or one of `GROUPS` where there are more."""
    return np.arange(documents) * min(documents, GROUPS) // max(1, documents)


def _one_by_one(
    a: Array, b: Array, group: Index, relation: Relation, coefficient: Coefficient
) -> Without:
    each = np.arange(len(a))
    systems = [value_at(a[each != i], b[each != i], relation, coefficient) for i in each]
    documents = [
        value_at(a[:, group != i], b[:, group != i], relation, coefficient)
        for i in range(int(group.max(initial=-1)) + 1)
    ]
    return np.array(systems), np.array(documents)


def _of_documents(
    a: Array, b: Array, group: Index, relation: Relation, coefficient: Coefficient
) -> Without:
    # A document's coefficient is the same whichever other document is left out.
    each = np.arange(len(a))
    systems = [value_at(a[each != i], b[each != i], relation, coefficient) for i in each]
    values = EVERY_COEFFICIENT[coefficient](a.T, b.T)
    known = ~np.isnan(values)
    n = int(group.max(initial=-1)) + 1
    count = np.bincount(group[known], minlength=n)
    total = np.bincount(group[known], values[known], minlength=n)
    rest = count.sum() - count
    # A group without a coefficient moves nothing when it goes: that is no replicate.
    telling = (rest > 0) & (count > 0)
    documents = np.divide(total.sum() - total, rest, out=np.full(n, np.nan), where=telling)
    return np.array(systems), documents


def _of_means(a: Array, b: Array, group: Index, _: Relation, coefficient: Coefficient) -> Without:
    # All leave-outs at a time: documents by weights of 0, systems as gaps.
    of = EVERY_COEFFICIENT[coefficient]
    weights = (group != np.arange(int(group.max(initial=-1)) + 1)[:, None]).astype(np.float64)
    documents = of(*system_means(a, b, weights))
    x, y = (np.repeat(m, len(a), axis=0) for m in system_means(a, b, np.ones((1, a.shape[1]))))
    np.fill_diagonal(x, np.nan)
    return of(x, y), documents


def _of_means_by_document(
    a: Array, b: Array, group: Index, _: Relation, coefficient: Coefficient
) -> Without:
    of = EVERY_COEFFICIENT[coefficient]
    systems = of(*system_means(a.T, b.T, 1.0 - np.eye(len(a))))
    x, y = system_means(a.T, b.T, np.ones((1, len(a))))
    gone = group == np.arange(int(group.max(initial=-1)) + 1)[:, None]
    return systems, of(np.where(gone, np.nan, x), np.where(gone, np.nan, y))


def _pooled_pearson(
    a: Array, b: Array, group: Index, relation: Relation, coefficient: Coefficient
) -> Without:
    # From sums per system and group; texts are taken from their mean first, so little is lost.
    present = np.isfinite(a)
    n = int(group.max(initial=-1)) + 1
    if not present.any():
        return np.full(len(a), np.nan), np.full(n, np.nan)
    x = np.where(present, a - np.mean(a[present]), 0.0)
    y = np.where(present, b - np.mean(b[present]), 0.0)
    parts = [present.astype(np.float64), x, y, x * x, y * y, x * y]
    whole = [float(part.sum()) for part in parts]
    by_system: list[Array] = [part.sum(axis=1) for part in parts]
    by_group = [_sums(group, part.sum(axis=0), n) for part in parts]
    systems, poor_systems = _without_each(whole, by_system)
    documents, poor_documents = _without_each(whole, by_group)
    each = np.arange(len(a))
    for i in poor_systems:
        systems[i] = value_at(a[each != i], b[each != i], relation, coefficient)
    for i in poor_documents:
        rest = group != i
        documents[i] = value_at(a[:, rest], b[:, rest], relation, coefficient)
    return systems, documents


def _sums(group: Index, values: Array, n: int) -> Array:
    return np.bincount(group, values, minlength=n).astype(np.float64)


def _pooled_kendall(
    a: Array, b: Array, group: Index, _: Relation, coefficient: Coefficient
) -> Without:
    return _pooled_taus(a, b, group)[0 if coefficient == "kendall" else 1]


def _pooled_taus(a: Array, b: Array, group: Index) -> tuple[Without, Without]:
    # tau-b and tau-c, which rest on the same counts.
    system, document = np.nonzero(np.isfinite(a))
    x, y = a[system, document], b[system, document]
    whole = concordance(x, y)
    systems = taus_without(x, y, whole, system, len(a))
    documents = taus_without(x, y, whole, group[document], int(group.max(initial=-1)) + 1)
    return (systems[0], documents[0]), (systems[1], documents[1])


def _without_each(whole: list[float], each: list[Array]) -> tuple[Array, Index]:
    # Of n, x, y, xx, yy, xy; and where so little spread is left that sums cannot tell it from none.
    n, x, y, xx, yy, xy = (total - part for total, part in zip(whole, each, strict=True))
    n = np.maximum(n, 1.0)
    spread = xx - x * x / n, yy - y * y / n
    size_x, size_y = (np.sqrt(np.maximum(one, 0.0)) for one in spread)
    poor = (spread[0] < CANCELS * whole[3]) | (spread[1] < CANCELS * whole[4])
    return ratio(xy - x * y / n, size_x, size_y), np.flatnonzero(poor)


_WITHOUT: dict[Relation, Callable[[Array, Array, Index, Relation, Coefficient], Without]] = {
    "document": _of_documents,
    "system": _of_means,
    "between_systems": _of_means,
    "between_documents": _of_means_by_document,
}


def interval(
    left: LeftOut,
    *,
    confidence: float,
    over: Over = "both",
    fisher: bool = True,
) -> Ends:
    """Interval of the mean value that studies of this size show, with other systems, documents.

    `over`: what may be others; `documents` speaks for these systems alone. `fisher`: on Fisher's
    z scale, as correlations are; differences of correlations are taken as they are.
    Both ends are NaN if the value is undefined, or with fewer than two of what may be others.
    """
    if np.isnan(left.value):
        return NONE
    moved = fisher_z if fisher else np.asarray
    variances, freedoms = [], []
    for values, wanted in (
        (left.systems, over != "documents"),
        (left.documents, over != "systems"),
    ):
        known = moved(values[~np.isnan(values)])
        if not wanted:
            variances.append(0.0)
            freedoms.append(1.0)
            continue
        if known.size < 2:
            return NONE
        variances.append(float((known.size - 1) * np.mean((known - known.mean()) ** 2)))
        freedoms.append(float(known.size - 1))
    total = sum(variances)
    if total == 0:
        return Ends(left.value, left.value, 0.0, 0.0, sum(freedoms))
    freedom = total**2 / sum(v**2 / f for v, f in zip(variances, freedoms, strict=True))
    critical = float(scipy.special.stdtrit(freedom, (1.0 + confidence) / 2.0))
    centre, reach = float(moved(np.array(left.value))), critical * np.sqrt(total)
    low, high = centre - reach, centre + reach
    if fisher:
        low, high = np.tanh(low), np.tanh(high)
    # A value of 1 is taken for less (NEAR_ONE), yet lies in its own interval.
    low, high = min(float(low), left.value), max(float(high), left.value)
    return Ends(low, high, variances[0], variances[1], freedom)


def fisher_z(values: Array) -> Array:
    """Fisher's transform; what is nearer to 1 or -1 than .9999 is taken for that."""
    moved: Array = np.arctanh(np.clip(values, -NEAR_ONE, NEAR_ONE))
    return moved
