"""How time and memory grow: of `metassay.meta_eval`, and of verdicts to scores.

`python speed/curves.py [CURVE...]` runs each size in a process of its own, with one
thread of linear algebra, and prints processor seconds and the memory at its peak, less
what the input took, with the exponent from each size to the next: 1 is linear. Of
speed/README.md.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import math
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import pandas as pd

import metassay
from metassay.core.errors import BadInput
from speed.judging_memory import (
    CLAIMS,
    SETUP,
    from_claims,
    judged_scores,
    peak,
    settled,
    tables,
)

SEED = 20261126


class Study(NamedTuple):
    """The size of what `meta_eval` is given: one of these grows at a time."""

    systems: int = 8
    documents: int = 20
    metrics: int = 3
    raters: int = 1


CURVES: dict[str, list[Study | int]] = {
    "documents": [Study(4, n) for n in (100, 1_000, 10_000, 100_000)],
    "systems": [Study(systems=n) for n in (4, 16, 64, 200)],
    "systems on one document": [Study(n, 1) for n in (100, 1_000)],
    "metrics": [Study(metrics=n) for n in (10, 50, 200)],
    "raters": [Study(raters=n) for n in (3, 12, 50)],
    "claims": [1_000, 10_000, 100_000, 1_000_000],
}
QUICK = {
    "CURVES": {"documents": [Study(3, 10), Study(3, 20)], "claims": [80]},
}


def invented(size: Study) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores that follow people more or less, and whole-number ratings."""
    rng = np.random.default_rng(SEED)
    shape = size[:2]
    quality = rng.normal(size=shape) + 0.3 * rng.normal(size=(size.systems, 1))
    keys = pd.DataFrame(
        {
            "doc_id": np.tile([f"d{n}" for n in range(size.documents)], size.systems),
            "system": np.repeat([f"s{n}" for n in range(size.systems)], size.documents),
        }
    )

    def near() -> np.ndarray:
        return (quality + rng.normal(size=shape)).ravel()

    scores = keys.assign(**{f"m{n}": near() for n in range(size.metrics)})
    rated = [
        keys.assign(rater=f"r{n}", quality=np.clip(np.rint(near()), -2, 2))
        for n in range(size.raters)
    ]
    return scores, pd.concat(rated, ignore_index=True)


def one(curve: str, place: int) -> None:
    """Print what one size takes; the first use of all is warm by then."""
    size = CURVES[curve][place]
    if isinstance(size, int):
        documents = tables(max(1, size // (2 * CLAIMS)))
        _, pairs, judgments, _ = from_claims(documents)
        before, start = settled(), time.process_time()
        judged_scores(documents[1], documents[2], pairs, judgments, SETUP)
    else:
        metassay.meta_eval(*invented(Study(3, 8)), higher=("m0", "m1", "m2"))
        study = invented(size)
        before, start = settled(), time.process_time()
        metassay.meta_eval(*study, higher=[f"m{n}" for n in range(size.metrics)])
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "bytes": peak() - before}))


def main() -> None:
    if "--one" in sys.argv:
        try:
            one(sys.argv[-2], int(sys.argv[-1]))
        except BadInput as error:
            sys.exit("\n".join(error.problems))
        return
    chosen = [word for word in sys.argv[1:] if word in CURVES] or list(CURVES)
    for curve in chosen:
        before = None
        for place, size in enumerate(CURVES[curve]):
            shown = (
                f"{size:,}"
                if isinstance(size, int)
                else " x ".join(f"{n:,}" for n in size)
            )
            more = ["--quick"] if "--quick" in sys.argv else []
            command = [
                sys.executable,
                "-m",
                "speed.curves",
                *more,
                "--one",
                curve,
                str(place),
            ]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                print(f"{curve} {shown}: {run.stderr.splitlines()[-1]}", flush=True)
                continue
            found = json.loads(run.stdout.splitlines()[-1])
            number = size if isinstance(size, int) else math.prod(size)
            now = number, found["seconds"], found["bytes"]
            grown = "" if before is None else exponents(before, now)
            print(
                f"{curve} {shown}: {now[1]:.1f} s, {now[2] / 1e6:,.0f} MB{grown}",
                flush=True,
            )
            before = now


def exponents(before: tuple[float, ...], now: tuple[float, ...]) -> str:
    step = math.log(now[0] / before[0])
    time_of, memory = (
        math.log(max(b, 1e-9) / max(a, 1e-9)) / step
        for a, b in zip(before[1:], now[1:], strict=True)
    )
    return f", exponents {time_of:.2f} and {memory:.2f}"


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
