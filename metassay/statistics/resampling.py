"""Bootstrap of correlations over documents, systems or both, with ties and undefined resamples.

Resampling documents shows how a value varies with other documents for the same systems;
systems, with other systems; both, with both. Source: Deutsch et al. 2021, A Statistical
Analysis of Summarization Evaluation Metrics Using Resampling Methods.

A resample is a count of how often each document and system was drawn. The coefficients
take these counts as weights, all resamples at once. The result is that of `correlate`
for the matrix with its rows and columns repeated.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtrit

from metassay.statistics.components import mean_over_strata
from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    WEIGHTED,
    Coefficient,
    Level,
    matrices,
    system_means,
)
from metassay.statistics.exact_sums import Array, Mask, blocks, quotient
from metassay.statistics.layout import Layout, Part, default_layout, factorize

Counts = NDArray[np.uint8]  # enough: no unit is ever drawn 256 times
Resample = Literal["documents", "systems", "both"]

CHUNK = 1 << 22  # weights in memory at a time: 32 MB


class Draws(NamedTuple):
    """How often each resample drew each system and each document; 1 if not resampled."""

    resample: Resample
    systems: Counts  # (resamples, systems)
    documents: Counts  # (resamples, documents)

    def select(self, part: Part) -> "Draws":
        """Select the draws of a stratum."""
        return Draws(
            self.resample, self.systems[:, part.rows], self.documents[:, part.columns]
        )


def draw(
    shape: tuple[int, int],
    *,
    resample: Resample,
    n: int,
    rng: np.random.Generator,
    layout: Layout | None = None,
) -> Draws:
    """Draw n resamples, with replacement, of a (systems, documents) matrix.

    With a `layout`, whole families of systems and whole clusters of documents are
    drawn, documents within their stratum. Metrics of the same matrix can share the
    draws, so that chance does not add to the differences of their intervals.
    """
    layout = layout or default_layout(shape)
    ones = np.ones((n, 1), dtype=np.uint8)
    systems = np.broadcast_to(ones, (n, layout.family.size))
    documents = np.broadcast_to(ones, (n, layout.cluster.size))
    if resample != "documents":
        systems = _draw_units(n, layout.n_families, rng)
        if layout.n_families < layout.family.size:
            systems = systems[:, layout.family]
    if resample != "systems":
        documents = _draw_documents(layout, n, rng)
    return Draws(resample, systems, documents)


def _draw_documents(layout: Layout, n: int, rng: np.random.Generator) -> Counts:
    if layout.n_strata == 1:
        counts = _draw_units(n, layout.n_clusters, rng)
        return counts[:, layout.cluster] if layout.clustered else counts
    counts = np.empty((n, layout.cluster.size), dtype=np.uint8)
    for number in range(layout.n_strata):
        columns = np.flatnonzero(layout.stratum == number)
        cluster = factorize(layout.cluster[columns])
        counts[:, columns] = _draw_units(n, int(cluster.max(initial=-1)) + 1, rng)[
            :, cluster
        ]
    return counts


def correlate_resamples(
    metric: ArrayLike,
    human: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    draws: Draws,
    layout: Layout | None = None,
) -> Array:
    """Compute the coefficient in each resample: (resamples,), NaN where undefined.

    With strata, their mean as in `correlate_at`.
    """
    a, b, present = matrices(metric, human)
    if layout is not None and layout.n_strata > 1 and level != "document":

        def correlate_part(part: Part) -> Array:
            return correlate_resamples(
                part.select(a), part.select(b), level, coefficient, draws.select(part)
            )

        return mean_over_strata(
            correlate_part, len(draws.systems), present, layout, level
        )
    if level == "global":
        return _pooled(a, b, present, coefficient, draws)
    if level == "document":
        return _correlate_within_documents(a, b, present, coefficient, draws)
    return _correlate_system_means(a, b, coefficient, draws)


def varies(
    metric: ArrayLike,
    human: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    draws: Draws,
) -> bool:
    """Return whether more than one of the resampled units has scores to correlate.

    If not, all resamples are equal, and their spread means nothing.
    """
    a, b, present = matrices(metric, human)
    if level == "document":
        present = present[:, ~np.isnan(EVERY_COEFFICIENT[coefficient](a.T, b.T))]
    axes = {"documents": (0,), "systems": (1,), "both": (0, 1)}[draws.resample]
    return all(np.count_nonzero(present.any(axis=axis)) > 1 for axis in axes)


def _pooled(
    metric: Array, human: Array, present: Mask, coefficient: Coefficient, draws: Draws
) -> Array:
    system, document = np.nonzero(present)
    # Items that are always drawn together share a weight, which makes Kendall much
    # faster.
    item = np.arange(system.size)
    unit = {"documents": document, "systems": system, "both": item}[draws.resample]
    width = {
        "documents": present.shape[1],
        "systems": present.shape[0],
        "both": item.size,
    }
    of = WEIGHTED[coefficient]
    values = np.empty(len(draws.systems))
    for rows in blocks(values.size, width[draws.resample], numbers=CHUNK):
        weights = (
            draws.documents[rows]
            if draws.resample == "documents"
            else draws.systems[rows]
        )
        if draws.resample == "both":
            weights = weights[:, system] * draws.documents[rows][:, document].astype(
                np.float64
            )
        values[rows] = of(
            metric[present], human[present], unit, weights.astype(np.float64)
        )
    return values


def _correlate_within_documents(
    metric: Array, human: Array, present: Mask, coefficient: Coefficient, draws: Draws
) -> Array:
    if draws.resample == "documents":
        fixed = EVERY_COEFFICIENT[coefficient](metric.T, human.T)
        columns: Iterator[Array] = (
            np.full(len(draws.systems), value) for value in fixed
        )
    else:
        of, weights = WEIGHTED[coefficient], draws.systems.astype(np.float64)
        texts = zip(metric.T, human.T, present.T, strict=True)
        columns = (
            of(x[both], y[both], np.flatnonzero(both), weights) for x, y, both in texts
        )
    total, defined = np.zeros((2, len(draws.systems)))
    for column, times in zip(columns, draws.documents.T, strict=True):
        has_value = ~np.isnan(column)
        total += np.where(has_value, column, 0.0) * times
        defined += has_value * times
    return quotient(total, defined, defined > 0)


def _correlate_system_means(
    metric: Array, human: Array, coefficient: Coefficient, draws: Draws
) -> Array:
    if draws.resample == "systems":
        x, y = system_means(metric, human, np.ones((1, metric.shape[1])))
    else:
        x, y = np.empty((2, len(draws.documents), len(metric)))
        for chunk in blocks(len(x), metric.shape[1], numbers=CHUNK):
            weights = draws.documents[chunk].astype(np.float64)
            x[chunk], y[chunk] = system_means(metric, human, weights)
    if draws.resample != "documents":
        # Families of unequal size: shorter rows are filled up with NaN.
        size = draws.systems.sum(axis=1)
        index = np.tile(np.arange(len(metric)), len(size))
        places = np.full((len(size), size.max(initial=0)), len(metric))
        places[np.arange(places.shape[1]) < size[:, None]] = np.repeat(
            index, draws.systems.ravel()
        )
        # one row, or all
        rows, gap = np.arange(len(x))[:, None], np.full((len(x), 1), np.nan)
        x, y = (np.hstack((side, gap))[rows, places] for side in (x, y))
    return EVERY_COEFFICIENT[coefficient](x, y)


def _draw_units(n: int, size: int, rng: np.random.Generator) -> Counts:
    counts = np.zeros((n, size), dtype=np.uint8)
    for rows in blocks(n, size, numbers=CHUNK):
        counts[rows] = tallies(rng.integers(size, size=counts[rows].shape), size)
    return counts


def tallies(draws: NDArray[np.intp], size: int) -> Array:
    """Count how often each row (resamples, draws) drew each of `size` items: (resamples, size)."""
    places = draws + size * np.arange(len(draws))[:, None]
    counts = np.bincount(places.ravel(), minlength=len(draws) * size)
    return counts.reshape(len(draws), size).astype(np.float64)


def percentiles(draws: Array, confidence: float) -> tuple[Array, Array]:
    """Return percentile ends (columns,) of (resamples, columns); NaN if under half are defined."""
    low, high = np.full((2, draws.shape[1]), np.nan)
    tails = ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0)
    undefined = np.isnan(draws)
    complete = ~np.any(undefined, axis=0) & (len(draws) > 0)
    if np.any(complete):
        low[complete], high[complete] = np.quantile(draws[:, complete], tails, axis=0)
    for column in np.flatnonzero(
        ~complete & (2 * np.sum(undefined, axis=0) <= len(draws))
    ):
        defined = draws[~undefined[:, column], column]
        if defined.size:
            low[column], high[column] = np.quantile(defined, tails)
    return low, high


def expanded_percentiles(
    draws: Array, n: float, confidence: float
) -> tuple[Array, Array]:
    """Return ends (columns,) as `percentiles`, further out the fewer units were resampled.

    Percentiles of resamples of n units undercover for small n, as a normal interval
    does compared with Student's t. NaN where n is below 2. Source: Hesterberg 2015,
    What teachers should know about the bootstrap.
    """
    if n < 2:
        undefined = np.full(draws.shape[1], np.nan)
        return undefined, undefined
    return percentiles(draws, 1.0 - 2.0 * expanded_tail((1.0 - confidence) / 2.0, n))


def expanded_tail(tail: float, n: float) -> float:
    """Return the share of resamples beyond an end for `tail` of Student's t; 0 if n < 2."""
    if n < 2:
        return 0.0
    return float(ndtr(-np.sqrt(n / (n - 1)) * stdtrit(n - 1, 1.0 - tail)))
