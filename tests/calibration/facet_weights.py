"""Intervals of fitted facet weights in a world whose weights are known: how often they cover.

`python -m tests.calibration.facet_weights` prints the table.
"""

from itertools import product

import numpy as np

from metassay.statistics.facet_weights import fit
from metassay.statistics.resampling import expanded_percentiles
from tests.calibration.simulations import Rate, rates_table

WEIGHTS = np.array([0.1, 0.3, 0.3, 0.3])
LEVELS = (3, 4, 4, 3)  # grades of each facet: 1 to 3, or 1 to 4
SYSTEMS = 4
ABSENT = 0.1  # chance that a document lacks a facet; no document lacks the third
RUNS, RESAMPLES = 300, 400


def drawn(rng, documents, noise):
    """Overall scores, shares, and each text's document; half of the noise is the document's."""
    shape = (documents, SYSTEMS)
    grades = [
        np.rint(
            n * (rng.normal(0.65, 0.12, (documents, 1)) + rng.normal(0, 0.2, shape))
        )
        for n in LEVELS
    ]
    shares = np.stack(
        [np.clip(g, 1, n) / n for g, n in zip(grades, LEVELS, strict=True)], axis=-1
    )
    absent = rng.random((documents, 1, len(LEVELS))) < ABSENT
    absent[..., 2] = False
    shares = np.where(absent, np.nan, shares)
    mean = np.nansum(shares * WEIGHTS, axis=-1) / np.sum(
        np.isfinite(shares) * WEIGHTS, axis=-1
    )
    error = np.sqrt(0.5) * (rng.normal(size=(documents, 1)) + rng.normal(size=shape))
    overall = mean + noise * error
    document = np.repeat(np.arange(documents), SYSTEMS)
    return overall.ravel(), shares.reshape(-1, len(LEVELS)), document


def covers(method, documents, *, noise, non_negative, runs=RUNS, seed=0):
    """Share of runs in which the 95 % interval of each weight holds it: (facets,)."""
    rng = np.random.default_rng([seed, documents])
    hits = np.zeros(len(WEIGHTS))
    for _ in range(runs):
        overall, shares, document = drawn(rng, documents, noise)
        if method == "complete":
            whole = np.isfinite(shares).all(axis=1)
            overall, shares = overall[whole], shares[whole]
            document = np.unique(document[whole], return_inverse=True)[1]
        n = int(document.max()) + 1
        counts = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)[:, document]
        again = fit(overall, shares, counts, method, non_negative=non_negative)
        low, high = expanded_percentiles(again, n, 0.95)
        hits += (low <= WEIGHTS) & (high >= WEIGHTS)
    return hits / runs


def rates():
    """Mean coverage over the four weights, by way of fitting, documents and noise."""
    rows = []
    for method, (documents, noise, non_negative) in product(
        ("complete", "renormalised"),
        ((20, 0.07, False), (44, 0.07, False), (50, 0.07, False), (44, 0.2, True)),
    ):
        each = covers(method, documents, noise=noise, non_negative=non_negative)
        bounded = ", none below 0" if non_negative else ""
        what = f"{method}{bounded}, {documents} documents, noise {noise}: covers"
        # Four weights of one study are no four studies: the error is that of one of
        # them.
        rows.append(
            Rate(
                f"{what} (lowest {100 * each.min():.1f} %)",
                each.mean(),
                RUNS,
                0.92,
                0.98,
            )
        )
    return rows


def section(rows):
    """This part of tests/calibration/rates.md."""
    return [
        "## Weights of facets",
        "",
        f"Overall scores are the renormalised mean by weights {', '.join(map(str, WEIGHTS))} of"
        f" {SYSTEMS} systems' grades, plus noise of that standard deviation, half of it common to"
        f" all texts of a document; a document lacks a facet with a chance of {ABSENT}. 95 % is"
        f" asked for, {RUNS} runs each.",
        "",
        *rates_table(rows),
    ]


if __name__ == "__main__":
    print("\n".join(section(rates())))
