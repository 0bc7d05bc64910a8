"""255 ensembles x 245 items x 1,000 bootstraps by Pearson, against a loop over scipy.

`python speed/statistics_ensembles.py` first asserts equal values in some resamples,
then alternates in one process: the scipy loop does few of the 1,000 resamples and is
scaled up.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import sys
import time

import numpy as np
import scipy.stats

from metassay.statistics.ensembles import moment_correlations, standardise, subsets

METRICS, ITEMS, RESAMPLES, FEW, ROUNDS, SEED = 8, 245, 1000, 4, 7, 20261121
QUICK = {"METRICS": 3, "ITEMS": 40, "RESAMPLES": 8, "FEW": 2, "ROUNDS": 1}


def by_scipy(means: np.ndarray, human: np.ndarray, weights: np.ndarray) -> np.ndarray:
    values = np.empty((len(weights), len(means)))
    for row, weight in zip(values, weights, strict=True):
        items = np.repeat(np.arange(ITEMS), weight.astype(int))
        for subset, mean in enumerate(means):
            row[subset] = scipy.stats.pearsonr(mean[items], human[items])[0]
    return values


def main() -> None:
    rng = np.random.default_rng(SEED)
    human = rng.normal(size=ITEMS)
    z = standardise(0.5 * human + rng.normal(size=(METRICS, ITEMS)))
    members = subsets(METRICS)
    means = np.stack([z[member].mean(axis=0) for member in members])
    weights = rng.multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), size=RESAMPLES).astype(
        float
    )
    found = moment_correlations(z, human, members, weights)
    if not np.allclose(
        found[:FEW], by_scipy(means, human, weights[:FEW]), atol=1e-12, rtol=0
    ):
        sys.exit("the values differ: no timing")
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        by_scipy(means, human, weights[:FEW])
        middle = time.perf_counter()
        moment_correlations(z, human, members, weights)
        times.append(((middle - start) * RESAMPLES / FEW, time.perf_counter() - middle))
    ratios = sorted(before / after for before, after in times)
    print(
        f"{len(members)} ensembles x {ITEMS} items x {RESAMPLES:,} bootstraps, {ROUNDS} rounds,"
        f" equal values: scipy {statistics.median(t for t, _ in times):.0f} s (from {FEW}),"
        f" here {1e3 * statistics.median(t for _, t in times):.1f} ms,"
        f" ratio {statistics.median(ratios):,.0f}x ({ratios[0]:,.0f} to {ratios[-1]:,.0f})"
    )


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
