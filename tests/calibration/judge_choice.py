"""The best of K judges: the number that chose it, the honest one, and false gains.

`python -m tests.calibration.judge_choice` prints the tables of docs/measured.md on
`judge-check --choose` and on `improve`. All judges err on the same hard rows; rows of a
document are hard together. One judge may be better by a planted gain; judge 0 is in use.
"""

from typing import NamedTuple

import numpy as np

from metassay.statistics.judge_choice import (
    AGREEMENT,
    BALANCED,
    BETTER,
    choose_judge,
    pick_judge,
    split_documents,
    tell_judge,
)

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


def choose_as_improve(right, passed, document, *, by, rng):
    """As `metassay improve`: a third of the half that chooses is shown to prompts.

    Judges but the chosen and the present one are not asked about the rows that tell.
    """
    parts = split_documents(document, rng, shows=True)
    chosen = pick_judge(right[:, parts.choosing], passed[parts.choosing], by=by)
    known = right.copy()
    for judge in range(1, len(right)):
        if judge != chosen:
            known[judge, parts.telling] = np.nan
    rows = parts.choosing | parts.telling
    return tell_judge(
        known[:, rows],
        passed[rows],
        np.unique(document[rows], return_inverse=True)[1],
        parts.choosing[rows],
        chosen,
        by=by,
        rng=rng,
    )


def study(rng, judges, labels, gain, by, *, choose=choose_judge):
    right, document, rate = verdicts(rng, judges, labels, gain)
    passed = (rng.random(labels) < 0.7).astype(float)
    choice = choose(right, passed, document, by=by, rng=rng)
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


def rates(
    judges,
    labels,
    gain,
    by=AGREEMENT,
    *,
    studies=STUDIES,
    seed=0,
    choose=choose_judge,
):
    """What is told in so many studies."""
    rng = np.random.default_rng([seed, judges, labels, round(1000 * gain)])
    rows = [study(rng, judges, labels, gain, by, choose=choose) for _ in range(studies)]
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


# Of `metassay improve`, whose candidates include prompts with labelled examples.
IMPROVED = [
    (40, 200, 0.0),
    (40, 600, 0.0),
    (40, 200, 0.08),
    (40, 600, 0.08),
    (40, 1200, 0.08),
    (40, 2400, 0.08),
]


def print_improved():
    """Print the table on `improve`."""
    heads = (
        "candidates",
        "labels",
        "planted gain",
        "number that chose: too good by",
        "intervals hold: naive",
        "of the half that tells",
        "the better one is chosen",
        "told to be better",
        "by a naive test",
    )
    print(f"\n| {' | '.join(heads)} |")
    print(f"|{'---:|' * 9}")
    for judges, labels, gain in IMPROVED:
        row = rates(judges, labels, gain, choose=choose_as_improve)
        percent = [f"{100 * number:.1f} %" for number in (row.naive_covers, row.covers)]
        planted = f"{100 * row.planted:.1f} %" if gain else ""
        percent += [
            planted,
            f"{100 * row.better:.1f} %",
            f"{100 * row.naive_better:.1f} %",
        ]
        print(
            f"| {judges} | {labels} | {gain:g} | {row.optimism:.3f}"
            f" | {' | '.join(percent)} |",
            flush=True,
        )


def main():
    """Print the tables of docs/measured.md."""
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
    print_improved()


if __name__ == "__main__":
    main()
