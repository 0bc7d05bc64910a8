"""Labels chosen by verdict or system: do the intervals of `judge-check` hold the truth?

A section of `python -m tests.calibration.doubts labels`. Each study is a table that
`judge_check` reads: documents of 1 to 5 rows, whose labels and errors go together.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.api.judge_check import judge_check
from metassay.api.label_columns import find_columns
from metassay.api.labels import Choices
from metassay.api.pass_check import find_warnings
from metassay.api.pass_tables import make_card
from metassay.api.verdict_table import read_verdicts
from metassay.statistics.classification import COEFFICIENTS, gwet_ac1_of_cells
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import frame_sheet
from tests.calibration import annotator_test
from tests.calibration.doubts import Doubt, Section

PASSING = (0.5, 0.7, 0.85, 0.95)
JUDGES = ((0.9, 0.8), (0.95, 0.6), (0.8, 0.9))  # sensitivity, specificity
ALIKE = 0.7  # share of a document's draws that its rows have in common
APART = 0.15  # the second system's sensitivity and specificity are so much lower
FOUR = ("sensitivity", "specificity", "precision", "negative_predictive_value")
THREE = ("agreement", "f1", "balanced_accuracy")
OTHERS = ("cohen_kappa", "gwet_ac1", "mcc")
RATE = "corrected"
WARNED = "warned"
DOCUMENTS = ((2, 60),)


class Rows(NamedTuple):
    """Rows of documents by two systems, as arrays (rows,), and the numbers of all rows."""

    document: np.ndarray
    system: np.ndarray
    judge: np.ndarray  # whether each passes the row
    people: np.ndarray
    truth: dict[str, float]


def numbers_of(cells):
    """Every number of a card, of a table of four cells."""
    a, b, c, d = cells
    sensitivity, specificity = a / (a + c), d / (b + d)
    return {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "precision": a / (a + b),
        "negative_predictive_value": d / (c + d),
        "agreement": a + d,
        "balanced_accuracy": (sensitivity + specificity) / 2,
        "gwet_ac1": float(gwet_ac1_of_cells(cells)),
        RATE: a + c,
        **{name: float(of(cells)) for name, of in COEFFICIENTS.items()},
    }


def drawn(rng, passing, documents):
    """Rows with a judge drawn by chance; people pass a share `passing` of all rows."""
    of = np.repeat(np.arange(documents), rng.integers(1, 6, documents))
    system = rng.integers(0, 2, of.size)

    def uniform():
        alike = rng.random(of.size) < ALIKE
        return np.where(alike, rng.random(documents)[of], rng.random(of.size))

    of_judge = np.array(JUDGES[rng.integers(len(JUDGES))])
    people, luck = uniform() < passing, uniform()
    right = luck < np.where(people, *(share - APART * system for share in of_judge))
    tables = []
    for by in (0.0, APART):
        sensitivity, specificity = of_judge - by
        a, d = passing * sensitivity, (1 - passing) * specificity
        tables.append([a, 1 - passing - d, passing - a, d])
    truth = numbers_of(np.mean(tables, axis=0))
    return Rows(of, system, people == right, people, truth)


def at_random(rng, rows):
    return rng.random(rows.judge.size) < 0.3


def all_fails(rng, rows):
    return ~rows.judge | (rng.random(rows.judge.size) < 0.15)


def half_of_fails(rng, rows):
    return rng.random(rows.judge.size) < np.where(rows.judge, 0.1, 0.5)


def by_system(rng, rows):
    return rng.random(rows.judge.size) < np.where(rows.system == 0, 0.6, 0.15)


def by_both(rng, rows):
    of_verdict = np.where(rows.judge, 0.15, 1.0)
    return (
        rng.random(rows.judge.size) < np.where(rows.system == 0, 1.0, 0.5) * of_verdict
    )


def few_of(verdict, rng, rows):
    """5 to 9 labels of what the judge passes, or fails, and 60 of the other rows."""
    labelled = np.zeros(rows.judge.size, dtype=bool)
    for side, n in ((verdict, rng.integers(5, 10)), (not verdict, 60)):
        of_side = np.flatnonzero(rows.judge == side)
        labelled[rng.permutation(of_side)[:n]] = True
    return labelled


def one_system(rng, rows):
    return rows.system == 0


DESIGNS = {
    "all fails, 15 % of passes": all_fails,
    "half of fails, 10 % of passes": half_of_fails,
    "60 % of one system, 15 % of the other": by_system,
    "all fails and 15 % of passes of one system, half as many of the other": by_both,
    "5 to 9 fails, 60 passes": partial(few_of, False),
    "5 to 9 passes, 60 fails": partial(few_of, True),
}


def checked(rng, rows, choose):
    """The intervals that `judge-check` prints, by name, and whether it warns."""
    human = rows.people.astype(float)
    human[~choose(rng, rows)] = np.nan
    frame = pd.DataFrame(
        {
            "judge": rows.judge.astype(float),
            "human": human,
            "doc": rows.document.astype(str),
            "system": rows.system.astype(str),
        }
    )
    roles = {"doc": "doc", "system": "system"}
    choices = Choices(judge=("judge",), human=("human",), **roles)
    sheet = frame_sheet(frame, "table", Findings())
    verdicts = read_verdicts(find_columns(sheet, choices))
    # Of all rows alone: slices and raters would take most of the time.
    card = make_card("judge", "all", verdicts, np.ones(len(frame), dtype=bool))
    intervals = {name: number[1:3] for name, number in card.numbers.items()}
    there = not card.why_uncorrected
    rate = card.rates["prediction_powered_pass_rate"]
    intervals[RATE] = rate[1:3] if there else (np.nan, np.nan)
    chosen = any("were chosen" in w.finding for w in find_warnings(verdicts))
    return intervals, chosen


def missed(intervals, truth, names):
    """Whether intervals are there, and do not hold the truth."""
    return [
        bool(np.isfinite(low) and not low <= truth[name] <= high)
        for name, (low, high) in ((name, intervals[name]) for name in names)
    ]


def outcome(rng, shape, _, *, passing, choose):
    rows = drawn(rng, passing, shape[1])
    intervals, chosen = checked(rng, rows, choose)
    return {
        " / ".join(("sensitivity", "specificity", "precision", "NPV")): missed(
            intervals, rows.truth, FOUR
        ),
        "accuracy / F1 / balanced": missed(intervals, rows.truth, THREE),
        "kappa / AC1 / MCC": missed(intervals, rows.truth, OTHERS),
        "pass rate": missed(intervals, rows.truth, [RATE]),
        WARNED: [chosen],
    }


def honest(rng, shape, _, *, passing):
    rows = drawn(rng, passing, shape[1])
    intervals, chosen = checked(rng, rows, at_random)
    width = {name: high - low for name, (low, high) in intervals.items()}
    return {
        **outcome_of_random(intervals, rows.truth),
        WARNED: [chosen],
        "mean width: sensitivity / specificity / kappa / pass rate": [
            float(np.nan_to_num(width[name])) for name in ("sensitivity", "specificity",
                                                           "cohen_kappa", RATE)
        ],
    }  # fmt: skip


def outcome_of_random(intervals, truth):
    return {
        "sensitivity / specificity": missed(intervals, truth, FOUR[:2]),
        "kappa / pass rate": missed(intervals, truth, ["cohen_kappa", RATE]),
    }


def elsewhere(rng, shape, _):
    """One system is labelled, and the other only judged."""
    rows = drawn(rng, 0.7, shape[1])
    intervals, _ = checked(rng, rows, one_system)
    is_there = bool(np.isfinite(intervals[RATE][0]))
    return {
        "a corrected rate of all": [is_there],
        "which misses the truth": missed(intervals, rows.truth, [RATE]),
    }


def replaced(rng, shape, _, *, choose):
    """A judge whose gap to the rater that decides is exactly epsilon."""
    world = annotator_test.World("chosen", items=400, per_document=5)
    right = annotator_test.right_of_judge(world)
    judge, ratings, of = annotator_test.study(rng, world, right)
    rows = Rows(of, of, judge == 1, judge == 1, {})
    labelled = choose(rng, rows)
    frame = pd.DataFrame({"judge": judge, "doc": of.astype(str)})
    people = [f"human_{n}" for n in range(len(ratings))]
    for name, labels in zip(people, ratings, strict=True):
        frame[name] = np.where(labelled, labels, np.nan)
    result = judge_check(frame, judge="judge", human=people, doc="doc")
    return {"passes as a rater": [bool(result.replacement["passes"][0])]}


def few_passes(rng, rows):
    return rows.judge | (rng.random(rows.judge.size) < 0.15)


SECTION = Section(
    "labels",
    "Labels that were chosen",
    """
`judge-check` of tables in which only some rows are labelled: how many of its 95 % intervals
miss the truth, per cent (at most 7 is promised), and in how many tables it warns that labels
were chosen (at most 7 is promised where they were not). Documents have 1 to 5 rows, whose
labels and errors have 70 % of their draws in common; of two systems one is judged worse by
.15; judges have sensitivity and specificity .9 and .8, .95 and .6, or .8 and .9. Rows name
the share that people pass. A number that is undefined, or blank as a verdict has fewer than
5 labels, misses nothing. Widths are of 1 = 100. “Elsewhere”: one system is labelled, the
other is not. “As a rater”: by the alternative annotator test of 400 items, a judge passes
that is exactly epsilon worse.
""",
    [
        *(
            Doubt(
                f"{name}; {passing:.0%} pass",
                partial(outcome, passing=passing, choose=choose),
                shapes=DOCUMENTS,
                metrics=(1,),
                studies=200,
            )
            for name, choose in DESIGNS.items()
            for passing in PASSING
        ),
        Doubt("elsewhere", elsewhere, shapes=DOCUMENTS, metrics=(1,), studies=200),
        *(
            Doubt(
                f"as a rater; {name}",
                partial(replaced, choose=choose),
                shapes=((1, 80),),
                metrics=(1,),
                studies=200,
            )
            for name, choose in {
                "all fails, 15 % of passes": all_fails,
                "all passes, 15 % of fails": few_passes,
            }.items()
        ),
        *(
            Doubt(
                f"30 % at random; {passing:.0%} pass",
                partial(honest, passing=passing),
                honest=True,
                shapes=((2, 60), (2, 120)),
                metrics=(1,),
                studies=200,
            )
            for passing in PASSING
        ),
    ],
)
