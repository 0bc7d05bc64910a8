"""A hundred weeks in which nothing changed but the judge's mind: how often is there an alarm?

`python -m tests.calibration.weekly` prints the table of weekly.md here. Every week
every question is put anew to a judge that changes its mind on 3 % of repeats, the
scores are made of its verdicts, and the code of `metassay watch check` compares them
with the accepted ones of week 0. Without such a judge there is nothing to simulate:
what did not change is not run again.
"""

import numpy as np
import pandas as pd

from metassay.tables.certificates import CERTIFICATES
from metassay.tables.parquet import empty
from metassay.tracking.comparison.differences import (
    IMPROVED,
    REGRESSED,
    ComparisonOptions,
    differences,
)
from metassay.tracking.comparison.sides import Side

WEEKS, SYSTEMS, METRICS, CLAIMS = 100, 4, 6, 8
REPEATS = 0.03  # share of questions that get another verdict when they are asked again
PERMUTATIONS = 1000

# A verdict's chance of being yes, per question; two answers to it differ with 2 p (1 -
# p). every question now and then: p is e or 1 - e, with 2 e (1 - e) = REPEATS
SLIPS = "slips"
DOUBTS = "doubts"  # a few questions are coin tosses, all others certain
# Not a repeat of the same kind: the accepted verdicts are the certain ones, later ones
# slip.
TIDIED = "accepted verdicts made certain"
WORLDS = ((20, SLIPS), (50, SLIPS), (20, DOUBTS), (50, DOUBTS), (20, TIDIED))


def chances(rng, documents, kind):
    """(documents, SYSTEMS, METRICS, CLAIMS): what the judge would say yes to, and how surely."""
    shape = (documents, SYSTEMS, METRICS, CLAIMS)
    entailed = rng.random(shape) < rng.beta(6, 2, (documents, SYSTEMS, METRICS, 1))
    if kind == DOUBTS:
        return np.where(rng.random(shape) < 2 * REPEATS, 0.5, entailed)
    slip = REPEATS if kind == TIDIED else (1 - np.sqrt(1 - 2 * REPEATS)) / 2
    return np.where(entailed, 1 - slip, slip)


def side(name, scores):
    """A side whose table SCORES has these, (documents, SYSTEMS, METRICS)."""
    documents, systems, metrics = map(np.ravel, np.indices(scores.shape))
    frame = pd.DataFrame(
        {
            "doc_id": np.char.add("d", documents.astype(str)),
            "author": np.char.add("s", systems.astype(str)),
            "part": "full",
            "metric": np.char.add("m", metrics.astype(str)),
            "judge": "j",
            "value": scores.ravel(),
            "n_expected": CLAIMS,
            "n_judged": CLAIMS,
            "n_failed": 0,
            "low": scores.ravel(),
            "high": scores.ravel(),
            "statistics": None,
            "recipe": "r",
        }
    )
    leaders = (
        frame[["part", "metric", "judge", "author"]]
        .drop_duplicates()
        .assign(better="higher")
    )
    return Side(name, "b", frame, leaders, empty(CERTIFICATES), {}, None)


def weeks(documents, kind, *, seed, n=WEEKS, options=None):
    """Of each week whether anything was called regressed, and improved: (n, 2)."""
    rng = np.random.default_rng([seed, documents])
    chance = chances(rng, documents, kind)

    def judged(name, p):
        return side(name, (rng.random(p.shape) < p).mean(axis=-1))

    accepted = judged("accepted", np.rint(chance) if kind == TIDIED else chance)
    alarms = []
    for week in range(n):
        chosen = options or ComparisonOptions(permutations=PERMUTATIONS, seed=week)
        verdicts = set(
            differences(accepted, judged("here", chance), chosen).changes["verdict"]
        )
        alarms.append((REGRESSED in verdicts, IMPROVED in verdicts))
    return np.array(alarms)


def table(worlds, *, seeds, n):
    """Per world: share of weeks with a false alarm, and how they lie in `n` weeks of one seed."""
    heads = (
        "documents",
        "the judge",
        "accepted x weeks",
        "regressed",
        "anything",
        f"most in {n}",
    )
    print(f"| {' | '.join(heads)} |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    for documents, kind in worlds:
        runs = np.stack(
            [weeks(documents, kind, seed=seed, n=n) for seed in range(seeds)]
        )
        alarm, anything = runs[..., 0], runs.any(axis=-1)
        print(
            f"| {documents} | {kind} | {seeds} x {n} | {100 * alarm.mean():.1f} % |"
            f" {100 * anything.mean():.1f} % | {alarm.sum(axis=1).max()} |",
            flush=True,
        )
    print()


def main():
    """How alarms lie in a hundred weeks; then the rate, over many accepted numbers."""
    table(WORLDS, seeds=4, n=WEEKS)
    table(WORLDS[:4], seeds=400, n=1)


if __name__ == "__main__":
    main()
