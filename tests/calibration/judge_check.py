"""`judge_check` on tables with a known truth: do the intervals that it prints cover?

`python -m tests.calibration.judge_check` prints the section of the page.
"""

from collections import defaultdict
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.api.judge_check import judge_check
from metassay.statistics.classification import gwet_ac1_of_cells
from metassay.statistics.raters import accuracy_by_agreement, latent_classes
from tests.calibration.judge_cards import World, alike

STUDIES = 200
JUDGES = ((0.9, 0.8), (0.97, 0.95), (0.7, 0.6))  # sensitivity, specificity
NAMES = (
    "sensitivity",
    "specificity",
    "cohen_kappa",
    "gwet_ac1",
    "corrected",
    "people alone",
)


class Table(NamedTuple):
    """Rows, rows a document, how many are labelled, and the share that passes."""

    rows: int
    per: int
    labelled: int
    passing: float


TABLES = (
    *(Table(60, per, 60, passing) for per, passing in product((1, 3), (0.7, 0.95))),
    *(Table(300, per, 60, passing) for per, passing in product((1, 3), (0.7, 0.95))),
    Table(200, 10, 200, 0.95),
)
LATENT = ((60, 0.7, 1), (60, 0.95, 1), (200, 0.7, 1), (200, 0.7, 5), (200, 0.95, 5))


def covered(table, judge, *, studies=STUDIES, seed=0):
    """Of each number the intervals that hold the truth, and those that there are."""
    rng = np.random.default_rng([seed, 41])
    world = World(table.passing, *judge)
    a, d = world.passing * world.sensitivity, (1 - world.passing) * world.specificity
    cells = np.array([a, 1 - world.passing - d, world.passing - a, d])
    truth = {**world.truth, "gwet_ac1": float(gwet_ac1_of_cells(cells)), "corrected": world.passing,
             "people alone": world.passing}  # fmt: skip
    hits, defined = defaultdict(int), defaultdict(int)
    for run in range(studies):
        verdict, people, of = alike(rng, world, table.rows // table.per, table.per, 0.7)
        people[table.labelled :] = np.nan
        frame = pd.DataFrame({"judge": verdict, "human": people, "doc": of.astype(str)})
        result = judge_check(frame, judge="judge", human="human", doc="doc", seed=run)
        intervals = pd.concat(
            (result.card.set_index("statistic"), result.pass_rates.set_index("method"))
        )[["low", "high"]]
        for name in NAMES:
            low, high = intervals.loc[name]
            if np.isfinite(low):
                defined[name] += 1
                hits[name] += low <= truth[name] <= high
    return {name: (hits[name], defined[name]) for name in NAMES}


def raters_covered(rows, passing, per, *, studies=STUDIES, seed=0):
    """The latent classes' sensitivity and specificity of a judge, of three raters as
    good as it, and the difference of judge and rater, which is 0.
    """
    rng = np.random.default_rng([seed, 42])
    of = np.repeat(np.arange(rows // per), per)
    hits = np.zeros(3)
    for _ in range(studies):
        truth = np.repeat(rng.random(rows // per) < passing, per)
        verdicts = np.array(
            [truth == (rng.random(rows) < 0.88) for _ in range(4)]
        ).astype(float)
        latent = latent_classes(
            verdicts[0], verdicts[1:], confidence=0.95, rng=rng, cluster=of
        )
        apart = accuracy_by_agreement(
            verdicts[0], verdicts[1:], confidence=0.95, cluster=of
        )["all", "difference"]
        hits += (
            latent.sensitivity[0].low <= 0.88 <= latent.sensitivity[0].high,
            latent.specificity[0].low <= 0.88 <= latent.specificity[0].high,
            apart.low <= 0 <= apart.high,
        )
    return hits / studies


def rates(studies=STUDIES):
    """By table the coverage of each number over all judges, and that of raters' numbers."""
    cards = []
    for number, table in enumerate(TABLES):
        total = np.zeros((len(NAMES), 2))
        for seed, judge in enumerate(JUDGES):
            counts = covered(table, judge, studies=studies, seed=10 * number + seed)
            total += [counts[name] for name in NAMES]
        cards.append((table, total[:, 0] / total[:, 1]))
    return cards, [
        (case, raters_covered(*case, studies=2 * studies)) for case in LATENT
    ]


def section(results):
    """The section of the page, as lines."""
    cards, raters = results
    heads = ["rows", "rows a document", "labelled", "pass", *NAMES]
    return [
        "## A judge checked in one command",
        "",
        "How often the 95 % intervals of `judge-check` hold the truth, over judges of sensitivity"
        " and specificity .9 and .8, .97 and .95, .7 and .6. A document's rows have 70 % of their"
        f" draws in common. {STUDIES} tables per judge, so that one standard error at 95 % is"
        " 0.9 points; numbers that are undefined, such as the"
        " specificity of a table without a fail, are left out. In the last row about one of 20"
        " documents fails as a whole, and studies without that one cannot show how alike rows are:"
        " where fewer than 5 documents have a fail, each document counts once, and `judge-check`"
        " says so.",
        "",
        f"| {' | '.join(heads)} |",
        f"|{'---:|' * len(heads)}",
        *(
            f"| {t.rows} | {t.per} | {t.labelled} | {t.passing:.0%} |"
            f" {' | '.join(f'{share:.1%}' for share in shares)} |"
            for t, shares in cards
        ),
        "",
        "The same of a judge beside three raters who are all right in 88 %, rows of a document"
        " having one truth: sensitivity and specificity by latent classes, and how much more often"
        " the judge agrees with the other raters than a rater does, which is 0."
        f" {2 * STUDIES} tables.",
        "",
        "| rows | pass | rows a document | sensitivity | specificity | difference to a rater |",
        "|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {rows} | {passing:.0%} | {per} | {' | '.join(f'{share:.1%}' for share in shares)} |"
            for (rows, passing, per), shares in raters
        ),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(section(rates())))
