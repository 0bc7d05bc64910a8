"""Correlation within groups of items (sections, facets, error categories, positions), averaged."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import Array
from metassay.statistics.correlation import EVERY_COEFFICIENT, Coefficient


class Grouped(NamedTuple):
    """The mean over groups, and each group's own coefficient."""

    value: float  # mean of the groups where the coefficient is defined; NaN if it is nowhere
    n: int  # groups with a coefficient
    n_undefined: int  # groups without: fewer than two pairs, or a constant side
    n_missing: int  # items with one of the two scores but not both, or without a group
    groups: Array  # (groups,) the groups' numbers, ascending
    values: Array  # (groups,) NaN where undefined
    sizes: Array  # (groups,) items that have both scores


def correlate_groups(
    metric: ArrayLike, human: ArrayLike, group: ArrayLike, coefficient: Coefficient
) -> Grouped:
    """Correlate metric with people within each group of items, and average over the groups.

    Items (n,); group holds a number per item, NaN where the item belongs nowhere. Groups count
    alike, however large. Raises ValueError unless the three are rows of one length.
    """
    x, y, of = (np.asarray(values, dtype=np.float64) for values in (metric, human, group))
    if x.ndim != 1 or x.shape != y.shape or x.shape != of.shape:
        raise ValueError(f"want three rows of one length, got {x.shape}, {y.shape}, {of.shape}")
    present = np.isfinite(x) & np.isfinite(y)
    missing = int(np.sum((np.isfinite(x) != np.isfinite(y)) | (present & np.isnan(of))))
    names = np.unique(of[~np.isnan(of)])
    within = [present & (of == name) for name in names]
    values = np.array([float(EVERY_COEFFICIENT[coefficient](x[w], y[w])) for w in within])
    defined = values[~np.isnan(values)]
    value = float(np.mean(defined)) if defined.size else np.nan
    sizes = np.array([np.count_nonzero(w) for w in within], dtype=np.float64)
    undefined = values.size - defined.size
    return Grouped(value, defined.size, undefined, missing, names, values, sizes)
