"""Were the texts that people rated chosen by a metric's scores?

Rated where a metric is extreme, a weak relation looks strong; rated where two metrics
disagree, one looks better than it is and the other worse. Where the scores of texts
that nobody rated are known, the ranks of both can be compared.
"""

from typing import Final, NamedTuple

import numpy as np
import scipy.special

from metassay.statistics.exact_sums import Array, Index, Mask, rankdata, sums_by

FEWEST: Final = 10  # rated texts, and others
FEWEST_DOCUMENTS: Final = 5  # that have rated texts, and that have others
# Differences in mean rank (of 0 to 1), and in its distance from the middle, that are
# worth a remark in however large a study.
_MOVED: Final = 0.05
_SPREAD: Final = 0.03


class Selection(NamedTuple):
    """How the scores of rated texts differ from those of others; p is two-sided."""

    higher: (
        float  # by how much their mean rank (0 to 1) is higher, in texts of one system
    )
    p_higher: float
    wider: float  # by how much farther their ranks lie from the middle (0 to .5)
    p_wider: float


def compare_rated(
    scores: Array, rated: Mask, system: Index, document: Index
) -> Selection | None:
    """Compare a metric's scores (texts,) of rated texts with those of others.

    Texts are compared within systems, and documents count as clusters: each is left out
    in turn. None if there are too few of either to tell.
    """
    n_rated = int(rated.sum())
    with_rated, with_others = (
        np.unique(document[side]).size for side in (rated, ~rated)
    )
    fewest = min(with_rated, with_others)
    if min(n_rated, rated.size - n_rated) < FEWEST or fewest < FEWEST_DOCUMENTS:
        return None
    rank = (rankdata(scores) - 0.5) / scores.size
    freedom = fewest - 1
    higher = _difference(rank, rated, system, document, freedom)
    wider = _difference(np.abs(rank - 0.5), rated, system, document, freedom)
    return Selection(*higher, *wider)


def is_chosen(selection: Selection, level: float) -> tuple[bool, bool]:
    """Whether rated texts have higher or lower scores, and whether more or less extreme ones."""
    moved = selection.p_higher < level and abs(selection.higher) >= _MOVED
    spread = selection.p_wider < level and abs(selection.wider) >= _SPREAD
    return moved, spread


def _difference(
    values: Array, rated: Mask, system: Index, document: Index, freedom: int
) -> tuple[float, float]:
    """Return the difference of rated and other texts within systems, and its p."""
    values = _less_means(values, system)
    chosen = _less_means(rated.astype(np.float64), system)
    n_documents = int(document.max()) + 1
    products, squares = sums_by(
        document, np.stack([chosen * values, chosen * chosen]), n_documents
    )
    total = float(squares.sum())
    left = total - squares
    if total <= 0 or np.any(left <= 0):
        return 0.0, 1.0
    difference = float(products.sum()) / total
    without = (products.sum() - products) / left
    variance = (n_documents - 1) / n_documents * np.sum((without - difference) ** 2)
    if variance <= 0:
        return difference, 1.0
    t = abs(difference) / float(np.sqrt(variance))
    return difference, 2 * float(scipy.special.stdtr(freedom, -t))


def _less_means(values: Array, label: Index) -> Array:
    n = int(label.max()) + 1
    means = sums_by(label, values, n) / np.bincount(label, minlength=n)
    return np.asarray(values - means[label])
