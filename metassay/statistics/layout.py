"""Which systems and documents of a matrix belong together, so that they do not count one by one.

Documents of one cluster (a patient, a topic) and systems of one family (two versions of one system)
move together. Strata (two data sets with systems of their own) are never compared with each other:
correlations are of what varies within each.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.arithmetic import Array, Mask

Index = NDArray[np.intp]
Number = TypeVar("Number", bound=np.generic)

FEWEST = 4  # systems (or documents) for an interval of a correlation between their means


class Layout(NamedTuple):
    """Whole numbers from 0, in the order of first appearance; equal numbers belong together."""

    stratum: Index  # (documents,)
    cluster: Index  # (documents,) a number of its own where a document belongs to no other
    family: Index  # (systems,)

    @property
    def clustered(self) -> bool:
        """Whether any two documents belong together."""
        return self.n_clusters < self.cluster.size

    @property
    def n_strata(self) -> int:
        """How many strata there are."""
        return int(self.stratum.max(initial=0)) + 1

    @property
    def n_families(self) -> int:
        """How many families there are: systems that count by themselves."""
        return int(self.family.max(initial=-1)) + 1

    @property
    def n_clusters(self) -> int:
        """How many clusters there are: documents that count by themselves."""
        return int(self.cluster.max(initial=-1)) + 1

    def less_strata(self, values: Array) -> Array:
        """(systems, documents) scores less their stratum's mean; as they are with one stratum."""
        if self.n_strata == 1:
            return values
        left = np.array(values, dtype=np.float64)
        for number in range(self.n_strata):
            mine = left[:, self.stratum == number]
            known = mine[np.isfinite(mine)]
            left[:, self.stratum == number] = mine - (known.mean() if known.size else 0.0)
        return left

    def parts(self, present: Mask) -> list["Part"]:
        """Each stratum's rows and columns; one part with all of them where there is one stratum.

        `present` (systems, documents): the cells that have what is needed. A stratum without any
        is left out, and so is a system without any in a stratum.
        """
        if self.n_strata == 1:
            rows: Index = np.arange(self.family.size, dtype=np.intp)
            columns: Index = np.arange(self.cluster.size, dtype=np.intp)
            return [Part(0, rows, columns, np.arange(self.n_families, dtype=np.intp), self)]
        found = []
        for number in range(self.n_strata):
            columns = np.flatnonzero(self.stratum == number)
            rows = np.flatnonzero(present[:, columns].any(axis=1))
            if rows.size:
                one = np.zeros(columns.size, dtype=np.intp)
                inner = Layout(one, numbered(self.cluster[columns]), numbered(self.family[rows]))
                _, first = np.unique(inner.family, return_index=True)
                found.append(Part(number, rows, columns, self.family[rows][first], inner))
        return found


class Part(NamedTuple):
    """One stratum: the rows and columns of the whole matrix that it has, and their layout."""

    number: int  # in Layout.stratum
    rows: Index
    columns: Index
    families: Index  # the number in the whole of each of its own families
    layout: Layout  # within the stratum, numbered anew

    def of(self, values: NDArray[Number]) -> NDArray[Number]:
        """Its own part of a (..., systems, documents) array."""
        return values[..., self.rows[:, None], self.columns]


def plain(shape: tuple[int, ...]) -> Layout:
    """The layout of a (systems, documents) matrix in which each counts by itself."""
    systems, documents = shape[-2:]
    one = np.zeros(documents, dtype=np.intp)
    return Layout(one, np.arange(documents), np.arange(systems))


def numbered(labels: ArrayLike) -> Index:
    """Whole numbers for labels, in the order of their first appearance."""
    _, first, number = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    found: Index = rank[number.ravel()]
    return found


def joined(one: Index, other: Index) -> Index:
    """The finest partition in which belongs together what does so in either."""
    return _connected(one, other)[one]


def family_means(scores: Array, family: Index) -> Array:
    """(families, documents): each family's mean over its systems that have a score; NaN without."""
    n = int(family.max(initial=-1)) + 1
    if n == len(scores):
        return scores
    present = np.isfinite(scores)
    count, total = np.zeros((2, n, scores.shape[1]))
    np.add.at(count, family, present)
    np.add.at(total, family, np.where(present, scores, 0.0))
    means: Array = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return means


def exchangeable(parts: Sequence[Part], families: int) -> Index:
    """(families,) sets of families that may take each other's place: those of the same strata."""
    member = np.zeros((families, len(parts)), dtype=bool)
    for place, part in enumerate(parts):
        member[part.families, place] = True
    return numbered([row.tobytes() for row in member])


def blocks_of(present: Mask) -> tuple[Index, Index]:
    """Numbers for systems and for documents: equal where texts connect them, directly or not.

    `present` (systems, documents): the cells that have a text.
    """
    systems, documents = np.nonzero(present)
    found = _connected(systems, documents, (len(present), present.shape[1]))
    return found[: len(present)], found[len(present) :]


def _connected(one: Index, other: Index, shape: tuple[int, int] | None = None) -> Index:
    # The component of each number of `one`, then of each of `other`, that edges connect.
    from scipy.sparse import coo_array  # slow to import, and few studies have anything to join
    from scipy.sparse.csgraph import connected_components

    a, b = shape or (int(one.max(initial=-1)) + 1, int(other.max(initial=-1)) + 1)
    edges = coo_array((np.ones(one.size), (one, other + a)), shape=(a + b, a + b))
    return numbered(connected_components(edges, directed=False)[1])
