"""Labels that were chosen: how many rows each stands for, and whether they were chosen.

People rarely label at random: they label what a judge fails, what one system wrote, or
what a judge is unsure of. Then the labelled rows are not like the others, and a judge's
sensitivity on them is not its sensitivity on all. Where the choice depends only on what
is known of every row (the judge's verdict, the system, a slice), weights undo it: each
label counts for the rows of its kind.

A factor is an array (rows,) of anything that tells rows apart. All rows have a verdict.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics.exact_sums import Array, Index, Mask, quotient
from metassay.statistics.multiple_tests import holm
from metassay.statistics.shares import Clusters

# Labels below which a cell of verdict and factor is joined with others: a single label
# would speak for all rows of its cell. With 5, as is usual, the cells that are joined
# are those that people labelled least, and intervals of shares cover 70 to 90 %.
LEAST = 2
ROUNDS = 100  # of raking, at most; one is enough for a single factor
STEADY = 1e-9  # change of any weight, relative to the largest, at which raking stops
LEVEL = 0.05  # chance of a false `find_chosen`

Factors = Mapping[str, ArrayLike]


def label_weights(
    labelled: Mask, verdict: Array, factors: Sequence[ArrayLike] = ()
) -> Array:
    """Return the number of rows that each label stands for, (rows,); 0 without a label.

    `verdict` is 1 or 0. The labels of a verdict, and of each verdict with each value of
    each factor, stand for all its rows: with one factor the weight is rows / labels of
    the cell (post-stratification), with several it is raked until all of these sums
    hold, those of the last factor exactly. Cells with fewer than LEAST labels are joined
    with the smallest others of their verdict. A verdict without any label has weight 0.

    Sources: Holt and Smith 1979, Post stratification; Deming and Stephan 1940, On a least
    squares adjustment of a sampled frequency table when the expected marginal totals are
    known.

    Examples
    --------
    Six rows that a judge passes, two of them labelled, and two that it fails:

    >>> import numpy as np
    >>> verdict = np.array([1, 1, 1, 1, 1, 1, 0, 0])
    >>> labelled = np.array([1, 1, 0, 0, 0, 0, 1, 1], dtype=bool)
    >>> label_weights(labelled, verdict).tolist()
    [3.0, 3.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    """
    weight = labelled.astype(np.float64)
    cells = [_cells(labelled, verdict, factor) for factor in factors or (verdict,)]
    for _ in range(ROUNDS):
        before = weight
        for cell in cells:
            rows, labels = np.bincount(cell), np.bincount(cell, weights=weight)
            weight = weight * quotient(rows, labels, other=0.0)[cell]
        change = np.max(np.abs(weight - before), initial=0.0)
        if len(cells) == 1 or change <= STEADY * np.max(weight, initial=0.0):
            break
    return weight


def _cells(labelled: Mask, verdict: Array, factor: ArrayLike) -> Index:
    """Number the cells of verdict and factor, small ones joined within their verdict."""
    _, code = np.unique(np.asarray(factor), return_inverse=True)
    cell: Index = np.asarray(2 * code + (verdict == 1), dtype=np.intp)
    n_labels = np.bincount(cell, weights=labelled)
    for side in (False, True):
        cells = np.unique(cell[(verdict == 1) == side])
        smallest_first = cells[np.argsort(n_labels[cells], kind="stable")]
        labels = n_labels[smallest_first]
        n_small = int(np.searchsorted(labels, LEAST))
        if n_small:
            # As many others as it takes to have LEAST labels in all.
            enough = int(np.searchsorted(np.cumsum(labels), LEAST)) + 1
            joined = smallest_first[: max(n_small, enough)]
            cell[np.isin(cell, joined)] = joined[0]
    return cell


class Chosen(NamedTuple):
    """A value of a factor whose rows were labelled more, or less, often than others."""

    factor: str
    value: str
    labelled: int
    rows: int
    other_labelled: int
    other_rows: int
    p: float  # adjusted for all values of all factors

    @property
    def share(self) -> float:
        """Return the share of the value's rows that are labelled."""
        return self.labelled / self.rows

    @property
    def other_share(self) -> float:
        """Return the share of all other rows that are labelled."""
        return self.other_labelled / self.other_rows


def find_chosen(
    labelled: Mask, factors: Factors, cluster: Clusters, *, level: float = LEVEL
) -> list[Chosen]:
    """Return the values whose rows were labelled more or less often, surest first.

    Tests each value of each factor against all other values: by how far labels and value
    occur together, summed by cluster, as rows of a document are labelled together. The
    variance is that of the sums over clusters, or that of independent rows if it is
    larger (with few labels the first is far too small by chance); p is by Student's t,
    with Holm's adjustment for all tests. False findings: tests/calibration/rates.md.
    """
    tests = []
    for factor, values in factors.items():
        names, code = np.unique(np.asarray(values).astype(str), return_inverse=True)
        # One test is enough for two values.
        for number in range(names.size - (names.size <= 2)):
            has_value = code == number
            test = Chosen(
                factor=factor,
                value=str(names[number]),
                labelled=int(np.count_nonzero(labelled & has_value)),
                rows=int(np.count_nonzero(has_value)),
                other_labelled=int(np.count_nonzero(labelled & ~has_value)),
                other_rows=int(np.count_nonzero(~has_value)),
                p=_p_together(labelled, has_value, cluster),
            )
            tests.append(test)
    adjusted = holm([test.p for test in tests]).tolist()
    tests = [test._replace(p=p) for test, p in zip(tests, adjusted, strict=True)]
    return sorted((test for test in tests if test.p < level), key=lambda test: test.p)


def _p_together(labelled: Mask, has_value: Mask, cluster: Clusters) -> float:
    """Return the chance that labels and value occur together so often, or so seldom."""
    x = labelled - np.mean(labelled)
    y = has_value - np.mean(has_value)
    n, sums = labelled.size, np.bincount(cluster, weights=x * y)
    sums = sums[np.bincount(cluster) > 0]
    k = sums.size
    if k < 2:
        return 1.0
    by_cluster = float(np.sum(sums**2)) * k / (k - 1)
    independent = float(np.sum(x**2) * np.sum(y**2)) / (n - 1)
    variance = max(by_cluster, independent)
    if variance <= 0:
        return 1.0
    t = float(np.sum(sums)) / np.sqrt(variance)
    return float(2.0 * scipy.special.stdtr(k - 1, -abs(t)))
