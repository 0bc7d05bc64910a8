"""Which systems and documents of a matrix belong together and are not independent.

Documents of a cluster (a patient, a topic) and systems of a family (two versions of a
system) are dependent. Strata (data sets with different systems) are never compared with
each other: correlations are of what varies within each. Topics, patients and versions
of a system must be passed in; `duplicate_items`, `find_near_copies`, `drift_with_order` and
`clumps` find others in scores.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.exact_sums import (
    Array,
    Mask,
    mean_without_gaps,
    quotient,
    rankdata,
)

Index = NDArray[np.intp]
Number = TypeVar("Number", bound=np.generic)

# systems (or documents) for an interval of a correlation between their means
FEWEST = 4


class Layout(NamedTuple):
    """Whole numbers from 0, in the order of first appearance; equal numbers belong together."""

    stratum: Index  # (documents,)
    # (documents,) a separate number for each document that belongs to no other
    cluster: Index
    family: Index  # (systems,)

    @property
    def clustered(self) -> bool:
        """Whether any two documents belong together."""
        return self.n_clusters < self.cluster.size

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return int(self.stratum.max(initial=0)) + 1

    @property
    def n_families(self) -> int:
        """Number of families, which are independent of each other."""
        return int(self.family.max(initial=-1)) + 1

    @property
    def n_clusters(self) -> int:
        """Number of clusters, which are independent of each other."""
        return int(self.cluster.max(initial=-1)) + 1

    def less_strata(self, values: Array) -> Array:
        """Subtract each stratum's mean from (systems, documents) scores, if there are several."""
        if self.n_strata == 1:
            return values
        centred = np.array(values, dtype=np.float64)
        for number in range(self.n_strata):
            columns = self.stratum == number
            scores = centred[:, columns][np.isfinite(centred[:, columns])]
            centred[:, columns] -= scores.mean() if scores.size else 0.0
        return centred

    def parts(self, present: Mask) -> list["Part"]:
        """Return each stratum's rows and columns; with one stratum, a part with all of them.

        `present` (systems, documents): the cells with all scores. A stratum without
        such cells is left out, and so is a system without any in a stratum.
        """
        if self.n_strata == 1:
            systems, documents = (
                np.arange(self.family.size),
                np.arange(self.cluster.size),
            )
            return [Part(0, systems, documents, np.arange(self.n_families), self)]
        parts = []
        for number in range(self.n_strata):
            columns = np.flatnonzero(self.stratum == number)
            rows = np.flatnonzero(present[:, columns].any(axis=1))
            if rows.size:
                groups = factorize(self.cluster[columns]), factorize(self.family[rows])
                layout = Layout(np.zeros(columns.size, dtype=np.intp), *groups)
                _, first = np.unique(layout.family, return_index=True)
                parts.append(
                    Part(number, rows, columns, self.family[rows][first], layout)
                )
        return parts


class Part(NamedTuple):
    """A stratum: its rows and columns in the whole matrix, and their layout."""

    number: int  # in Layout.stratum
    rows: Index
    columns: Index
    families: Index  # the number of each of its families in the whole layout
    layout: Layout  # within the stratum, numbered anew

    def select(self, values: NDArray[Number]) -> NDArray[Number]:
        """Select this part of a (..., systems, documents) array."""
        return np.ascontiguousarray(values[..., self.rows[:, None], self.columns])


def default_layout(shape: tuple[int, ...]) -> Layout:
    """Return the layout of a (systems, documents) matrix whose rows and columns are independent."""
    systems, documents = shape[-2:]
    return Layout(
        np.zeros(documents, dtype=np.intp), np.arange(documents), np.arange(systems)
    )


def factorize(labels: ArrayLike) -> Index:
    """Return integer codes of labels, in the order of first appearance."""
    _, first, number = np.unique(
        np.asarray(labels), return_index=True, return_inverse=True
    )
    return np.asarray(np.argsort(np.argsort(first))[number.ravel()])


def factorize_by(names: Iterable[str], labels: Mapping[str, str]) -> Index:
    """Return integer codes of names: equal for names with equal labels, else unique."""
    return factorize([labels.get(name) or f"\0{name}" for name in names])


def join_partitions(a: Index, b: Index) -> Index:
    """Return the finest partition that joins what either partition joins."""
    return _components(a, b)[a]


def family_means(scores: Array, family: Index) -> Array:
    """Return (families, documents) means over a family's systems with a score; NaN without any."""
    n = int(family.max(initial=-1)) + 1
    if n == len(scores):
        return scores
    present = np.isfinite(scores)
    count, total = np.zeros((2, n, scores.shape[1]))
    np.add.at(count, family, present)
    np.add.at(total, family, np.where(present, scores, 0.0))
    return quotient(total, count, count > 0)


def family_sets(parts: Sequence[Part], families: int) -> Index:
    """Return (families,) sets of exchangeable families: those in the same strata."""
    member = np.zeros((families, len(parts)), dtype=bool)
    for place, part in enumerate(parts):
        member[part.families, place] = True
    return factorize([row.tobytes() for row in member])


def blocks_of(present: Mask) -> tuple[Index, Index]:
    """Number systems and documents by connected component: texts connect them.

    `present` (systems, documents): the cells with a text.
    """
    systems, documents = np.nonzero(present)
    component = _components(systems, documents, (len(present), present.shape[1]))
    return component[: len(present)], component[len(present) :]


def _components(x: Index, y: Index, shape: tuple[int, int] | None = None) -> Index:
    # The component of each number of `x`, then of each of `y`; (x, y) are the edges.
    a, b = shape or (int(x.max(initial=-1)) + 1, int(y.max(initial=-1)) + 1)
    lowest = np.arange(a + b)  # a member of its component, lower in each round
    y = y + a
    while True:
        before = lowest.copy()
        of_edge = np.minimum(lowest[x], lowest[y])
        # the member that stands for either end takes the lower one, too
        for ends in (lowest[x], lowest[y], x, y):
            np.minimum.at(lowest, ends, of_edge)
        lowest = lowest[lowest]
        if np.array_equal(lowest, before):
            return factorize(lowest)


# expected number of equal items by chance, below which equals are doubles
BY_CHANCE = 0.1
# correlation of two systems' scores, less the documents' levels, of near-copies
ALIKE = 0.5
FALSE = 0.01  # false near-copies, or orders, per study
AXES = 6  # principal components used to find clumps of documents
CLUMPS = (2, 3, 4, 5, 6, 8, 10)  # numbers of clumps that are tried
DRAWS = 50  # simulations of documents without clumps
FEWEST_IN_CLUMPS = 6  # systems
TINY = 1e-300  # smaller variances have no logarithm
BLOCKS = 10  # blocks of documents whose order matters; at least 4 documents each


def duplicate_items(scores: Array) -> Index:
    """Return (items,) numbers, equal for items whose scores are all equal, beyond chance.

    `scores` (metrics, others, items): items are documents and others systems, or the
    reverse. Scores must be missing in both items or in neither. Items with equal scores
    are not doubles where scores are so coarse, or so often the best or worst, that at
    least `BY_CHANCE` equal items are expected by chance.
    """
    n = scores.shape[2]
    if not scores.size:
        return np.arange(n)  # nothing says that any two are equal
    profiles = np.ascontiguousarray(scores.reshape(-1, n).T)
    profiles = np.where(np.isnan(profiles), np.nan, profiles + 0.0)  # one NaN, no -0
    number = factorize([row.tobytes() for row in profiles])
    _, first, count = np.unique(number, return_index=True, return_counts=True)
    repeated = first[count > 1]
    if not repeated.size:
        return np.arange(n)
    expected = _chance_of_equal(scores, first, repeated)
    item_number = np.arange(n) + n
    for item in repeated[expected * first.size < BY_CHANCE]:
        item_number[number == number[item]] = item
    return factorize(item_number)


def _chance_of_equal(scores: Array, distinct: Index, repeated: Index) -> Array:
    # The probability that another item has the same scores; per row, the rarest
    # metric's.
    probability = np.ones((len(scores), scores.shape[1], repeated.size))
    for metric, values in enumerate(scores):
        finite = values[:, distinct][np.isfinite(values[:, distinct])]
        pairs = finite.size * (finite.size - 1.0)
        if pairs <= 0:
            continue
        _, count = np.unique(finite, return_counts=True)
        equal = max(float(np.sum(count * (count - 1.0))), 2.0) / pairs
        # A missing score, the best and the worst one are not evidence.
        between = (values[:, repeated] > finite.min()) & (
            values[:, repeated] < finite.max()
        )
        probability[metric] = np.where(
            between & np.isfinite(values[:, repeated]), equal, 1.0
        )
    return np.asarray(probability.min(axis=0).prod(axis=0))


def find_near_copies(sides: Sequence[Array]) -> Index:
    """Return (systems,) numbers, equal for systems whose scores vary alike over documents.

    `sides`: (systems, documents) of people and of each metric. Two systems are
    near-copies if their scores, less each document's mean, correlate at least `ALIKE`
    (median over the sides), and more than chance explains. Needs three systems.
    """
    systems, documents = sides[0].shape
    family = np.arange(systems)
    pairs = systems * (systems - 1) / 2
    if systems < 3 or documents < 5:
        return family
    reach = scipy.special.ndtri(1 - FALSE / pairs) / np.sqrt(documents - 3)
    threshold = max(ALIKE, float(np.tanh(reach)))
    correlations = np.stack([_correlate_rows(side) for side in sides])
    n_sides = np.isfinite(correlations).sum(axis=0)
    medians = np.nanmedian(np.where(n_sides > 0, correlations, 0.0), axis=0)
    for i, j in zip(*np.nonzero(np.triu(medians >= threshold, 1)), strict=True):
        family[family == family[j]] = family[i]
    return factorize(family)


def _correlate_rows(side: Array) -> Array:
    # Correlations of the rows less the columns' means; NaN where two rows share too
    # little.
    present = np.isfinite(side)
    count = np.maximum(present.sum(axis=0), 1)
    scores = np.where(present, side, 0.0)
    centred = np.where(present, scores - scores.sum(axis=0) / count, 0.0)
    weights = present.astype(np.float64)
    n = weights @ weights.T
    sums = centred @ weights.T
    squares = (centred**2) @ weights.T - sums**2 / np.maximum(n, 1)
    products = centred @ centred.T - sums * sums.T / np.maximum(n, 1)
    size = np.sqrt(np.maximum(squares, 0.0) * np.maximum(squares.T, 0.0))
    # Two systems must share half of the documents to be compared.
    defined = (size > 1e-12) & (n >= max(5, side.shape[1] / 2))
    return quotient(products, size, defined)


def drift_with_order(people: Array, metrics: Sequence[Array]) -> Mask:
    """Return (metrics,) whether a metric and people both drift with the order of the documents.

    Matrices are (systems, documents), documents in their original order. Tests the
    lag-1 rank autocorrelation of the documents' means, one-sided at `FALSE`.
    """
    reach = scipy.special.ndtri(1 - FALSE)
    drifts = _drift(people) > reach
    return np.array(
        [drifts and _drift(metric) > reach for metric in metrics], dtype=bool
    )


def document_means(side: Array) -> Array:
    """Return (documents,) means of scores less each system's mean; NaN without scores.

    Otherwise documents that only some systems wrote on would get these systems' level.
    """
    return mean_without_gaps(side - mean_without_gaps(side, axis=1, keepdims=True))


def _drift(side: Array) -> float:
    means = document_means(side)
    means = means[~np.isnan(means)]
    n = means.size
    if n < 8 or np.ptp(means) == 0:
        return 0.0
    ranks = rankdata(means)
    deviations = ranks - ranks.mean()
    lag = float(np.sum(deviations[1:] * deviations[:-1]) / np.sum(deviations**2))
    return float((lag + 1.0 / n) * np.sqrt(n))


class Clumps(NamedTuple):
    """Groups of documents with similar scores."""

    beyond: float  # standard deviations by which groups are tighter than by chance
    number: Index  # (documents,) each document's group


def clumps(sides: Sequence[Array], rng: np.random.Generator) -> Clumps:
    """Find the clearest groups of documents, and how far they exceed chance.

    `sides`: (systems, documents) of people and of each metric. Sides with few distinct
    document means are left out; below three sides no groups are found. The documents'
    means, as normal scores, are reduced to `AXES` principal components. The variance
    within Ward's clusters is compared with that of normal random numbers with the same
    components. Source: Liu et al. 2008, Statistical significance of clustering for
    high-dimension, low-sample size data.
    """
    means = [_normal_scores(side) for side in sides]
    informative = [scores for scores in means if scores is not None]
    if len(informative) < 3 or informative[0].size < 12:
        return Clumps(0.0, np.arange(sides[0].shape[1]))
    # slow to import, and many studies end above
    from scipy.cluster.hierarchy import fcluster, linkage

    n = informative[0].size
    rows = np.linspace(0, n - 1, min(n, 400)).astype(np.intp)
    points = np.stack(informative, axis=1)
    points = points - points[rows].mean(axis=0)
    axes, size, rotation = np.linalg.svd(points[rows], full_matrices=False)
    axes, size = axes[:, :AXES], size[:AXES]
    numbers = [k for k in CLUMPS if k <= rows.size / 4]
    beyond = _tighter_than_chance(axes, size, numbers, rng)
    best = int(np.argmax(beyond))
    group = fcluster(linkage(axes * size, "ward"), numbers[best], "maxclust")
    middle = np.stack(
        [(axes * size)[group == number].mean(axis=0) for number in np.unique(group)]
    )
    projected = points @ rotation[:AXES].T
    nearest = np.argmin(((projected[:, None] - middle) ** 2).sum(axis=2), axis=1)
    return Clumps(float(beyond[best]), factorize(nearest))


def _tighter_than_chance(
    axes: Array, size: Array, numbers: Sequence[int], rng: np.random.Generator
) -> Array:
    """Return (numbers,) standard deviations by which so many groups are tighter than by chance.

    `axes` (items, components), orthogonal, and their lengths `size` (components,).
    """
    from scipy.cluster.hierarchy import linkage  # slow to import, as above

    def variance_within(coordinates: Array) -> Array:
        merges = np.cumsum(linkage(coordinates, "ward")[:, 2] ** 2)
        variances = merges[[len(axes) - k - 1 for k in numbers]]
        return np.asarray(np.log(np.maximum(variances, TINY)))

    by_chance = []
    for _ in range(DRAWS):
        noise = rng.normal(size=axes.shape)
        by_chance.append(
            variance_within(np.linalg.qr(noise - noise.mean(axis=0))[0] * size)
        )
    mean, spread = np.mean(by_chance, axis=0), np.std(by_chance, axis=0)
    return np.asarray((mean - variance_within(axes * size)) / spread)


def clumps_of_systems(sides: Sequence[Array], rng: np.random.Generator) -> float:
    """Return by how many standard deviations systems' means fall into groups beyond chance.

    `sides`: (systems, documents) of people and of each metric. Versions of a system
    have similar means for people and metrics alike, even where their texts differ. The
    means are compared with normal random numbers as in `clumps`, but not as ranks,
    which hide gaps. 0 below `FEWEST_IN_CLUMPS` systems.
    """
    n = len(sides[0])
    if n < FEWEST_IN_CLUMPS:
        return 0.0
    means = np.stack(
        [document_means(side.T) for side in sides], axis=1
    )  # (systems, sides)
    means = means[:, ~np.isnan(means).any(axis=0)]
    points = means - means.mean(axis=0)
    length = np.sqrt(np.sum(points**2, axis=0))
    if not (length > 0).any():
        return 0.0
    scaled = points[:, length > 0] / length[length > 0]
    axes, size, _ = np.linalg.svd(scaled, full_matrices=False)
    numbers = range(2, n)
    return float(
        np.max(_tighter_than_chance(axes[:, :AXES], size[:AXES], numbers, rng))
    )


def _normal_scores(side: Array) -> Array | None:
    # Normal scores of the documents' means, 0 without a mean; None with few distinct
    # means.
    means = document_means(side)
    defined = ~np.isnan(means)
    if defined.sum() < 4 or np.unique(means[defined]).size < defined.sum() / 2:
        return None
    scores = np.zeros(means.size)
    scores[defined] = scipy.special.ndtri(
        (rankdata(means[defined]) - 0.5) / defined.sum()
    )
    return scores


def differ_by_group(side: Array, group: Index) -> float:
    """Return p that documents' means differ by group (Kruskal and Wallis); 1 if undefined."""
    means = document_means(side)
    defined = ~np.isnan(means)
    samples = [
        means[defined & (group == number)] for number in np.unique(group[defined])
    ]
    samples = [sample for sample in samples if sample.size > 1]
    if len(samples) < 2 or np.ptp(np.concatenate(samples)) == 0:
        return 1.0
    return _kruskal(samples)


def _kruskal(samples: Sequence[Array]) -> float:
    # p of scipy.stats.kruskal, to the last bit; scipy.stats takes most of a second to
    # import. H is corrected for ties, and p is that of chi squared.
    values = np.concatenate(samples)
    n = values.size
    ties = np.unique(values, return_counts=True)[1].astype(np.float64)
    ends = np.cumsum([sample.size for sample in samples])[:-1]
    by_sample = np.split(rankdata(values), ends)
    between = sum(float(np.sum(ranks)) ** 2 / ranks.size for ranks in by_sample)
    h = 12.0 / (n * (n + 1)) * between - 3 * (n + 1)
    h /= 1 - float(np.sum(ties**3 - ties)) / (n**3 - n)
    return float(scipy.special.chdtrc(len(samples) - 1, h))


def make_blocks(documents: int) -> Index:
    """Return (documents,) contiguous blocks: `BLOCKS`, or fewer of at least 4 documents."""
    blocks = max(1, min(BLOCKS, documents // 4))
    return np.arange(documents) * blocks // max(1, documents)
