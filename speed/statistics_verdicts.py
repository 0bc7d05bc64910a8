"""The exact test against a plain loop over the same orders, leave-outs against one at a time.

`python speed/statistics_verdicts.py` first asserts equal values, then alternates both
in one process and prints the paired ratios of their times. `--large` times the
certificates of 100,000 documents by 4 systems with 3 metrics, 1,000 orders and
resamples, and its memory.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.correlations import components, correlations
from metassay.meta_evaluation.evidence import evidence
from metassay.meta_evaluation.exact_tests import run_tests
from metassay.statistics.components import Relation, value_at
from metassay.statistics.independence import (
    document_orders,
    draw_orders,
    independence_test,
    prepare,
)
from metassay.statistics.jackknife import leave_out, units_of
from metassay.statistics.layout import default_layout
from tests.calibration.verdicts import options, study_of

ROUNDS, SEED, DOCUMENTS, ORDERS, LEFT_OUT = 7, 20261121, 100, 500, 500
QUICK = {"DOCUMENTS": 10, "ORDERS": 20, "LEFT_OUT": 20, "ROUNDS": 1}
RELATIONS: tuple[Relation, ...] = ("global", "document", "within")


def loop(metrics: Sequence[np.ndarray], human: np.ndarray, n: int) -> np.ndarray:
    """The statistics of the exact test, every order of systems with each of documents, by hand."""
    rng = np.random.default_rng(SEED)
    orders = draw_orders(human.shape, n, rng)
    documents = document_orders(human.shape[1], slice(0, orders.documents), rng)
    found = np.empty((len(metrics), len(RELATIONS), orders.n))
    for place, relation in enumerate(RELATIONS):
        theirs = prepare(human, relation, "pearson").values
        mine = [prepare(one, relation, "pearson").values for one in metrics]
        number = 0
        for rows in orders.systems:
            for columns in documents:
                moved = theirs[rows][:, columns]
                for metric, one in enumerate(mine):
                    products = one * moved
                    size = np.sqrt(np.sum(products**2))
                    found[metric, place, number] = np.sum(products) / size
                number += 1
    return found


def test(metrics: Sequence[np.ndarray], human: np.ndarray, n: int) -> np.ndarray:
    sides, people = (
        {r: prepare(side, r, "pearson") for r in RELATIONS}
        for side in (np.stack(metrics), human)
    )
    rng = np.random.default_rng(SEED)
    found: np.ndarray = independence_test(
        sides, people, human.shape, n=n, rng=rng
    ).statistics
    return found


def one_by_one(metric: np.ndarray, human: np.ndarray, coefficient: str) -> np.ndarray:
    """The same leave-outs, each computed anew."""
    group = units_of(default_layout(human.shape)).document
    each = np.arange(len(human))
    rows = [
        value_at(metric[each != i], human[each != i], "global", coefficient)
        for i in each
    ]
    columns = [
        value_at(metric[:, group != i], human[:, group != i], "global", coefficient)
        for i in range(int(group.max()) + 1)
    ]
    return np.array(rows + columns)


def at_once(metric: np.ndarray, human: np.ndarray, coefficient: str) -> np.ndarray:
    found = leave_out(metric, human, "global", coefficient)
    return np.concatenate((found.systems, found.documents))


def compare(
    name: str, baseline: Callable[[], np.ndarray], here: Callable[[], np.ndarray]
) -> None:
    if not np.allclose(baseline(), here(), atol=1e-9, rtol=0):
        sys.exit(f"{name}: the values differ: no timing")
    ratios = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        baseline()
        middle = time.perf_counter()
        here()
        ratios.append((middle - start) / (time.perf_counter() - middle))
    ratios.sort()
    print(
        f"{name}: {statistics.median(ratios):,.1f}x ({ratios[0]:,.1f} to {ratios[-1]:,.1f})"
    )


def large(documents: int = 100_000) -> None:
    rng = np.random.default_rng(SEED)
    shape = (4, documents)
    quality = rng.normal(size=shape) + 0.3 * rng.normal(size=(4, 1))
    ratings = np.clip(np.rint(quality + rng.normal(size=shape)), -2, 2)[None]
    study = study_of([quality + k * rng.normal(size=shape) for k in (1, 2, 4)], ratings)
    chosen = options(resamples=1000)
    start = time.perf_counter()
    gathered = run_tests([study], chosen)
    correlations(gathered, chosen)
    components(gathered, chosen)
    evidence(gathered, confounds(gathered, chosen), chosen)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"certificates of 4 x {documents:,}, 3 metrics: {seconds:,.0f} s, {memory:,.0f} MB"
    )


def main() -> None:
    if "--large" in sys.argv:
        large()
        return
    rng = np.random.default_rng(SEED)
    human, *metrics = rng.normal(size=(6, 4, DOCUMENTS)) + rng.normal(size=(6, 4, 1))
    compare(
        f"exact test, 5 metrics, 4 x {DOCUMENTS}",
        lambda: loop(metrics, human, ORDERS),
        lambda: test(metrics, human, ORDERS),
    )
    human, metric = rng.normal(size=(2, 4, LEFT_OUT)).round(1)
    for coefficient in ("pearson", "kendall"):
        compare(
            f"leave-outs, 4 x {LEFT_OUT}, {coefficient}",
            lambda of=coefficient: one_by_one(metric, human, of),
            lambda of=coefficient: at_once(metric, human, of),
        )


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
