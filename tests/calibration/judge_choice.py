"""The best of K judges: the number that chose it, the honest one, and false gains.

`python -m tests.calibration.judge_choice` prints the tables of docs/judge-check.md. All
judges err on the same hard rows; rows of a document are hard together. One judge may
be better by a planted gain; judge 0 is in use.
"""

from typing import NamedTuple

import numpy as np

from metassay.statistics.judge_choice import AGREEMENT, BALANCED, BETTER, choose_judge

STUDIES = 400
RATE = 0.8  # right, of each judge's verdicts
SHARED = 0.5  # of rows on which all judges are right or wrong together
ROWS = 3  # of a document


class Rates(NamedTuple):
    """Shares of studies, and mean errors, of one kind of study."""

    optimism: float  # mean of the number that chose, less the truth
    honest: float  # the same of the number that tells
    naive_covers: float  # of intervals around the agreement on all rows, one by one
    covers: float
    better: float  # the chosen judge is told to be better
    naive_better: float  # the same by a test on the rows that chose
    planted: float  # the better judge is chosen


def verdicts(rng, judges, labels, gain):
    """Whether each judge is right on each row, (judges, labels), and the documents."""
    document = np.arange(labels) // ROWS
    easy = rng.random(document[-1] + 1)[document]
    hard = np.where(rng.random(labels) < 0.5, easy, rng.random(labels))
    rate = np.full(judges, RATE)
    rate[-1] += gain
    draws = np.where(rng.random(labels) < SHARED, hard, rng.random((judges, labels)))
    return (draws < rate[:, None]).astype(float), document, rate


def study(rng, judges, labels, gain, by):
    right, document, rate = verdicts(rng, judges, labels, gain)
    passed = (rng.random(labels) < 0.7).astype(float)
    choice = choose_judge(right, passed, document, by=by, rng=rng)
    truth = rate[choice.chosen]
    everything = right.mean(axis=1)
    naive = int(np.argmax(everything))
    error = 1.96 * np.sqrt(everything[naive] * (1 - everything[naive]) / labels)
    difference = right[naive] - right[0]
    spread = difference.std(ddof=1) / np.sqrt(labels)
    return (
        choice.choosing.values[choice.chosen] - truth,
        choice.value - truth,
        abs(everything[naive] - rate[naive]) <= error,
        choice.value_low <= truth <= choice.value_high,
        choice.outcome == BETTER,
        spread > 0 and difference.mean() > 1.96 * spread,
        choice.chosen == judges - 1,
    )


def rates(judges, labels, gain, by=AGREEMENT, *, studies=STUDIES, seed=0):
    """What is told in so many studies."""
    rng = np.random.default_rng([seed, judges, labels, round(1000 * gain)])
    rows = [study(rng, judges, labels, gain, by) for _ in range(studies)]
    return Rates(*np.mean(np.array(rows, dtype=float), axis=0))


CASES = [
    (5, 60, 0.0, AGREEMENT),
    (20, 60, 0.0, AGREEMENT),
    (20, 200, 0.0, AGREEMENT),
    (20, 200, 0.0, BALANCED),
    (40, 400, 0.0, AGREEMENT),
    (40, 200, 0.08, AGREEMENT),
    (40, 400, 0.08, AGREEMENT),
    (40, 400, 0.08, BALANCED),
    (40, 1200, 0.08, AGREEMENT),
    (2, 400, 0.08, AGREEMENT),
]


def main():
    """Print the table of docs/judge-check.md."""
    heads = (
        "judges",
        "labels",
        "by",
        "planted gain",
        "number that chose: too good by",
        "intervals hold: naive",
        "of the other half",
        "a gain shown: naive test",
        "by the other half",
    )
    print(f"| {' | '.join(heads)} |")
    print(f"|{'---:|' * 9}")
    for judges, labels, gain, by in CASES:
        row = rates(judges, labels, gain, by)
        percent = [
            f"{100 * number:.1f} %"
            for number in (row.naive_covers, row.covers, row.naive_better, row.better)
        ]
        print(
            f"| {judges} | {labels} | {by.replace('_', ' ')} | {gain:g}"
            f" | {row.optimism:.3f} | {' | '.join(percent)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
