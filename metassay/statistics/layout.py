"""Which systems and documents of a matrix belong together, so that they do not count one by one.

Documents of one cluster (a patient, a topic) and systems of one family (two versions of one system)
move together. Strata (two data sets with systems of their own) are never compared with each other:
correlations are of what varies within each. What numbers cannot show (topics, patients, versions of
a system) has to be given; what they show is found by `doubles`, `near_copies`, `order_shows` and
`clumps`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.exact_sums import Array, Mask, mean_without_gaps, quotient, ranked

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
            inside = self.stratum == number
            known = left[:, inside][np.isfinite(left[:, inside])]
            left[:, inside] -= known.mean() if known.size else 0.0
        return left

    def parts(self, present: Mask) -> list["Part"]:
        """Each stratum's rows and columns; one part with all of them where there is one stratum.

        `present` (systems, documents): the cells that have what is needed. A stratum without any
        is left out, and so is a system without any in a stratum.
        """
        if self.n_strata == 1:
            systems, documents = np.arange(self.family.size), np.arange(self.cluster.size)
            return [Part(0, systems, documents, np.arange(self.n_families), self)]
        found = []
        for number in range(self.n_strata):
            columns = np.flatnonzero(self.stratum == number)
            rows = np.flatnonzero(present[:, columns].any(axis=1))
            if rows.size:
                together = numbered(self.cluster[columns]), numbered(self.family[rows])
                inner = Layout(np.zeros(columns.size, dtype=np.intp), *together)
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
        return np.ascontiguousarray(values[..., self.rows[:, None], self.columns])


def plain(shape: tuple[int, ...]) -> Layout:
    """The layout of a (systems, documents) matrix in which each counts by itself."""
    systems, documents = shape[-2:]
    return Layout(np.zeros(documents, dtype=np.intp), np.arange(documents), np.arange(systems))


def numbered(labels: ArrayLike) -> Index:
    """Whole numbers for labels, in the order of their first appearance."""
    _, first, number = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number.ravel()])


def numbered_by(names: Iterable[str], labels: Mapping[str, str]) -> Index:
    """A whole number for each name, equal for those with the same label; others stand alone."""
    return numbered([labels.get(name) or f"\0{name}" for name in names])


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
    return quotient(total, count, count > 0)


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


BY_CHANCE = 0.1  # so many equal ones may be expected by chance of what is called a double
# Two systems' scores, documents' levels apart, that correlate so much are copies.
ALIKE = 0.5
FALSE = 0.01  # false near-copies, or orders, per study
AXES = 6  # principal components in which documents may clump
CLUMPS = (2, 3, 4, 5, 6, 8, 10)  # numbers of clumps that are looked for
DRAWS = 50  # of documents without clumps
BLOCKS = 10  # of documents whose order says something; at least 4 documents each


def doubles(scores: Array) -> Index:
    """(items,) numbers, equal for items whose scores are all the same, beyond chance.

    `scores` (metrics, others, items): items are documents and others the systems, or the other way
    round. Missing scores have to be missing in both. Two items with the same scores are no doubles
    where scores are so coarse, or so often the best or the worst, that `BY_CHANCE` such items or
    more are to be expected.
    """
    n = scores.shape[2]
    profiles = np.ascontiguousarray(scores.reshape(-1, n).T)
    number = numbered(
        [row.tobytes() for row in np.where(np.isnan(profiles), np.nan, profiles + 0.0)]
    )
    _, first, count = np.unique(number, return_index=True, return_counts=True)
    again = first[count > 1]
    if not again.size:
        return np.arange(n)
    chance = _chance_of_equal(scores, first, again)
    found = np.arange(n) + n
    for item in again[chance * first.size < BY_CHANCE]:
        found[number == number[item]] = item
    return numbered(found)


def _chance_of_equal(scores: Array, distinct: Index, again: Index) -> Array:
    # How likely another item has the scores of these: by the most telling metric of each row.
    likely = np.ones((len(scores), scores.shape[1], again.size))
    for metric, values in enumerate(scores):
        known = values[:, distinct][np.isfinite(values[:, distinct])]
        pairs = known.size * (known.size - 1.0)
        if pairs <= 0:
            continue
        _, count = np.unique(known, return_counts=True)
        equal = max(float(np.sum(count * (count - 1.0))), 2.0) / pairs
        # A missing score is no sign of anything, nor is the best one or the worst.
        inside = (values[:, again] > known.min()) & (values[:, again] < known.max())
        likely[metric] = np.where(inside & np.isfinite(values[:, again]), equal, 1.0)
    return np.asarray(likely.min(axis=0).prod(axis=0))


def near_copies(sides: Sequence[Array]) -> Index:
    """(systems,) numbers, equal for systems that go up and down with the same documents.

    `sides`: (systems, documents) of people and of each metric. Two systems are near-copies if the
    median over the sides of the correlation of their scores, less what all systems have in common
    for a document, is `ALIKE` or more, and more than chance gives any two. Needs three systems.
    """
    systems, documents = sides[0].shape
    found = np.arange(systems)
    pairs = systems * (systems - 1) / 2
    if systems < 3 or documents < 5:
        return found
    reach = scipy.special.ndtri(1 - FALSE / pairs) / np.sqrt(documents - 3)
    enough = max(ALIKE, float(np.tanh(reach)))
    each = np.stack([_between_rows(side) for side in sides])
    known = np.isfinite(each).sum(axis=0)
    alike = np.where(known > 0, np.nanmedian(np.where(known > 0, each, 0.0), axis=0), 0.0)
    for one, other in zip(*np.nonzero(np.triu(alike >= enough, 1)), strict=True):
        found[found == found[other]] = found[one]
    return numbered(found)


def _between_rows(side: Array) -> Array:
    # Correlations of the rows, each less the column's mean; NaN where two share too little.
    present = np.isfinite(side)
    count = np.maximum(present.sum(axis=0), 1)
    known = np.where(present, side, 0.0)
    centred = np.where(present, known - known.sum(axis=0) / count, 0.0)
    there = present.astype(np.float64)
    n = there @ there.T
    sums = centred @ there.T
    squares = (centred**2) @ there.T - sums**2 / np.maximum(n, 1)
    products = centred @ centred.T - sums * sums.T / np.maximum(n, 1)
    size = np.sqrt(np.maximum(squares, 0.0) * np.maximum(squares.T, 0.0))
    # Half of the documents, as two systems that share few say little of each other.
    enough = (size > 1e-12) & (n >= max(5, side.shape[1] / 2))
    return quotient(products, size, enough)


def order_shows(people: Array, metrics: Sequence[Array]) -> Mask:
    """(metrics,) whether a metric and people both drift with the order of the documents.

    Each matrix (systems, documents), documents in the order in which they came. Lag-1 rank
    autocorrelation of the documents' means, z above that of `FALSE`, one-sided.
    """
    reach = scipy.special.ndtri(1 - FALSE)
    drifts = _drift(people) > reach
    return np.array([drifts and _drift(metric) > reach for metric in metrics], dtype=bool)


def document_means(side: Array) -> Array:
    """(documents,) means of (systems, documents) less each system's level; NaN without a score.

    Where not all systems wrote on all documents, a system's level is no document's.
    """
    return mean_without_gaps(side - mean_without_gaps(side, axis=1, keepdims=True))


def _drift(side: Array) -> float:
    means = document_means(side)
    means = means[~np.isnan(means)]
    n = means.size
    if n < 8 or np.ptp(means) == 0:
        return 0.0
    ranks = ranked(means)
    left = ranks - ranks.mean()
    lag = float(np.sum(left[1:] * left[:-1]) / np.sum(left**2))
    return float((lag + 1.0 / n) * np.sqrt(n))


class Clumps(NamedTuple):
    """Groups of documents with like scores."""

    beyond: float  # standard deviations by which they are closer than chance makes them
    number: Index  # (documents,) each one's group


def clumps(sides: Sequence[Array], rng: np.random.Generator) -> Clumps:
    """The groups into which documents fall most, and how far beyond chance.

    `sides`: (systems, documents) of people and of each metric; those that give documents few
    different means take no part, and with fewer than three of them nothing is found. The
    documents' means, in normal scores, are brought to `AXES` principal components; Ward's clusters
    of them leave less variance within than those of normal numbers with the same components.
    Source: Liu et al. 2008, Statistical significance of clustering for high-dimension, low-sample
    size data.
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # slow to import, as above

    means = [_normal_scores(side) for side in sides]
    used = [one for one in means if one is not None]
    if len(used) < 3 or used[0].size < 12:
        return Clumps(0.0, np.arange(sides[0].shape[1]))
    n = used[0].size
    some = np.linspace(0, n - 1, min(n, 400)).astype(np.intp)
    points = np.stack(used, axis=1)
    points = points - points[some].mean(axis=0)
    axes, size, turn = np.linalg.svd(points[some], full_matrices=False)
    axes, size = axes[:, :AXES], size[:AXES]
    numbers = [k for k in CLUMPS if k <= some.size / 4]

    def within(these: Array) -> Array:
        left = np.cumsum(linkage(these, "ward")[:, 2] ** 2)[[some.size - k - 1 for k in numbers]]
        return np.asarray(np.log(np.maximum(left, 1e-300)))

    by_chance = []
    for _ in range(DRAWS):
        drawn = rng.normal(size=axes.shape)
        by_chance.append(within(np.linalg.qr(drawn - drawn.mean(axis=0))[0] * size))
    mean, spread = np.mean(by_chance, axis=0), np.std(by_chance, axis=0)
    beyond = (mean - within(axes * size)) / spread
    best = int(np.argmax(beyond))
    group = fcluster(linkage(axes * size, "ward"), numbers[best], "maxclust")
    middle = np.stack([(axes * size)[group == one].mean(axis=0) for one in np.unique(group)])
    everywhere = points @ turn[:AXES].T
    nearest = np.argmin(((everywhere[:, None] - middle) ** 2).sum(axis=2), axis=1)
    return Clumps(float(beyond[best]), numbered(nearest))


def _normal_scores(side: Array) -> Array | None:
    # Of the documents' means; a document without any has the middle. None where few differ.
    means = document_means(side)
    known = ~np.isnan(means)
    if known.sum() < 4 or np.unique(means[known]).size < known.sum() / 2:
        return None
    found = np.zeros(means.size)
    found[known] = scipy.special.ndtri((ranked(means[known]) - 0.5) / known.sum())
    return found


def differ_by_group(side: Array, group: Index) -> float:
    """p of documents' means being alike whatever their group (Kruskal and Wallis); 1 if untold."""
    from scipy.stats import kruskal  # slow to import, as in exact_sums.ranked

    means = document_means(side)
    known = ~np.isnan(means)
    each = [means[known & (group == one)] for one in np.unique(group[known])]
    each = [one for one in each if one.size > 1]
    if len(each) < 2 or np.ptp(np.concatenate(each)) == 0:
        return 1.0
    return float(kruskal(*each).pvalue)


def in_blocks(documents: int) -> Index:
    """(documents,) numbers of contiguous blocks: `BLOCKS`, or fewer of at least 4 documents."""
    blocks = max(1, min(BLOCKS, documents // 4))
    return np.arange(documents) * blocks // max(1, documents)
