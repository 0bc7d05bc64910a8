"""Paired permutation tests and bootstraps against nlpstats, 16 systems x 100 documents.

`python speed/statistics_permutation.py` first asserts that both give the same value in
every permutation and resample, then alternates them in one process and prints the
paired ratios of their times per permutation (or resample). One thread of linear algebra
on both sides.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from nlpstats.correlations.correlations import correlate

from metassay.statistics.resampling import Draws, correlate_resamples, draw
from metassay.statistics.significance import (
    Swaps,
    Trios,
    common,
    draw_swaps,
    permuted_differences,
)

SYSTEMS, DOCUMENTS, ROUNDS, SEED = 16, 100, 7, 20261121
QUICK = {
    "SYSTEMS": 8,
    "DOCUMENTS": 12,
    "ROUNDS": 1,
    "HERE": 4,
    "THEIRS": {"system": 2, "document": 2},
}
HERE, THEIRS = 1000, {"system": 20, "document": 3}
NAMES = {"system": "system", "document": "input"}


def standard(values: np.ndarray) -> np.ndarray:
    standardised: np.ndarray = (values - np.nanmean(values)) / np.nanstd(values)
    return standardised


def permuted_by_nlpstats(
    scores: list, level: str, coefficient: str, swaps: Swaps
) -> list[float]:
    x, y, z = scores
    values = []
    for systems, documents in zip(*swaps, strict=True):
        swap = systems[:, None] ^ documents
        one, other = np.where(swap, y, x), np.where(swap, x, y)
        name = NAMES[level]
        values.append(
            correlate(one, z, name, coefficient)
            - correlate(other, z, name, coefficient)
        )
    return values


def resampled_by_nlpstats(
    scores: list, level: str, coefficient: str, draws: Draws
) -> list[float]:
    values = []
    for systems, documents in zip(draws.systems, draws.documents, strict=True):
        rows = np.repeat(np.arange(SYSTEMS), systems)
        columns = np.repeat(np.arange(DOCUMENTS), documents)
        x, z = (scores[i][np.ix_(rows, columns)] for i in (0, 2))
        values.append(correlate(x, z, NAMES[level], coefficient))
    return values


def compare(
    name: str,
    baseline: Callable[[int], list],
    candidate: Callable[[int], list],
    few: int,
) -> None:
    if not np.allclose(baseline(few), candidate(few), atol=1e-9, rtol=0):
        sys.exit(f"{name}: the values differ: no timing")
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        baseline(few)
        middle = time.perf_counter()
        candidate(HERE)
        times.append(((middle - start) / few, (time.perf_counter() - middle) / HERE))
    ratios = sorted(before / after for before, after in times)
    print(
        f"{name}: nlpstats {1e6 * statistics.median(t for t, _ in times):,.0f} us,"
        f" here {1e6 * statistics.median(t for _, t in times):,.1f} us,"
        f" ratio {statistics.median(ratios):,.0f}x ({ratios[0]:,.0f} to {ratios[-1]:,.0f})",
        flush=True,
    )


def permutations(scores: list, trios: Trios, swaps: Swaps, of: tuple) -> None:
    def first(n: int) -> Swaps:
        return Swaps(swaps.systems[:n], swaps.documents[:n])

    compare(
        f"permutation, {of[0]} level, {of[1]}",
        lambda n: permuted_by_nlpstats(scores, *of, first(n)),
        lambda n: permuted_differences(trios, *of, first(n), "both")[0],
        THEIRS[of[0]],
    )


def bootstraps(scores: list, draws: Draws, of: tuple) -> None:
    def first(n: int) -> Draws:
        return Draws("both", draws.systems[:n], draws.documents[:n])

    compare(
        f"bootstrap, {of[0]} level, {of[1]}",
        lambda n: resampled_by_nlpstats(scores, *of, first(n)),
        lambda n: correlate_resamples(scores[0], scores[2], *of, first(n)),
        THEIRS[of[0]],
    )


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(SEED)
    human = rng.normal(size=(SYSTEMS, DOCUMENTS)) + rng.normal(size=(SYSTEMS, 1))
    a, b = human + rng.normal(size=(2, SYSTEMS, DOCUMENTS))
    scores, trios = [standard(values) for values in (a, b, human)], common(a, b, human)
    print(f"{SYSTEMS} systems x {DOCUMENTS} documents, {ROUNDS} rounds, equal values")
    for level in THEIRS:
        for coefficient in ("pearson", "spearman", "kendall"):
            of = (level, coefficient)
            permutations(
                scores, trios, draw_swaps(a.shape, resample="both", n=HERE, rng=rng), of
            )
            bootstraps(scores, draw(a.shape, resample="both", n=HERE, rng=rng), of)


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
