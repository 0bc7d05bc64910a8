"""Numbers, and judges beside raters, with a known truth: do the intervals hold it?

Rows of a document share half of the variance of what raters say, and 40 % of that of the
judge's errors; classes and grades are cut from such numbers. The truth of every number is
its value on 200,000 independent rows.

`python -m tests.calibration.number_kinds` prints the section of the page.
"""

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.special

from metassay.statistics.label_weights import label_weights
from metassay.statistics.number_labels import number_card
from metassay.statistics.raters import compare_with_raters
from tests.calibration.label_kinds import count_hits

STUDIES = 2000
WHOLE = 200_000
CONFIDENCE = 0.95
RATER_NOISE = 0.6  # standard deviation of raters' errors, that of the truth being 1

Scale = Callable[[np.ndarray], np.ndarray]


class World(NamedTuple):
    """How judges and raters label, and the study that is drawn."""

    what: str
    scale: Scale
    rows: int
    per: int  # rows a document
    noise: float = 0.8  # standard deviation of the judge's errors
    raters: int = 1
    rated: float = 1.0  # the share of labels that each rater gave, at random
    labelled: float = 1.0  # the share of rows labelled of the judge's commonest label


def plain(values):
    """Numbers without ends."""
    return values


def skewed(values):
    """Numbers of which a few are far above all others, such as counts of words."""
    return np.exp(0.8 * values)


def percent(values):
    """Scores from 0 to 100, of which a fifth are 100."""
    return np.clip(np.round(75 + 25 * values), 0, 100)


def graded(values):
    """Grades of 1 to 5."""
    return 1.0 + np.digitize(values, [-1.5, -0.7, 0.2, 1.0])


def classed(values):
    """Three classes, of 50, 30 and 20 % of the rows; not ordered by the values."""
    place = np.digitize(scipy.special.ndtr(values), [0.3, 0.8])
    return np.array([1.0, 0.0, 2.0])[place]


NUMBERS = (
    World("normal", plain, 60, 1),
    World("normal, 5 rows a document", plain, 100, 5),
    World("normal, 20 rows", plain, 20, 1),
    World("normal, nearly equal", plain, 60, 1, noise=0.2),
    World("0 to 100, a fifth at 100", percent, 100, 1),
    World("0 to 100, 4 rows a document", percent, 120, 4),
    World("skewed", skewed, 100, 1),
    World("skewed, 4 rows a document", skewed, 200, 4),
)
BESIDE = (
    World("classes, 3 raters", classed, 100, 1, raters=3),
    World("classes, 3 raters, 5 rows a document", classed, 100, 5, raters=3),
    World(
        "classes, a fifth labelled of the commonest",
        classed,
        400,
        1,
        raters=3,
        labelled=0.2,
    ),
    World("grades, 2 raters", graded, 60, 1, raters=2),
    World("grades, 3 raters, 5 rows a document", graded, 100, 5, raters=3),
    World("grades, 5 raters of 70 % of the rows", graded, 100, 2, raters=5, rated=0.7),
    World(
        "grades, a fifth labelled of the commonest",
        graded,
        400,
        4,
        raters=3,
        labelled=0.2,
    ),
    World("0 to 100, 3 raters", percent, 60, 1, raters=3),
    World("0 to 100, 3 raters, 5 rows a document", percent, 100, 5, raters=3),
)


def _draw(rng, world, rows):
    """Return the judge's labels (rows,), ratings (raters, rows), and documents (rows,)."""
    documents = -(-rows // world.per)
    of = np.repeat(np.arange(documents), world.per)[:rows]

    def normal(alike):
        """Normal numbers, of whose variance a document's rows share a part."""
        alone, shared = rng.normal(size=rows), rng.normal(size=documents)[of]
        return np.sqrt(alike) * shared + np.sqrt(1 - alike) * alone

    truth = normal(0.5)
    judge = truth + world.noise * normal(0.4)
    errors = RATER_NOISE * rng.normal(size=(world.raters, rows))
    return world.scale(judge), world.scale(truth + errors), of


def numbers(rng, world, rows):
    """Return the numbers of a judge of one study, by name."""
    judge, ratings, of = _draw(rng, world, rows)
    card = number_card(judge, ratings.mean(axis=0), of, confidence=CONFIDENCE)
    return card.numbers


def beside(rng, world, rows):
    """Return how near judge and raters are to the other raters in one study, by name."""
    judge, ratings, of = _draw(rng, world, rows)
    ratings[rng.random(ratings.shape) >= world.rated] = np.nan
    weight = None
    if world.labelled < 1:
        values, counts = np.unique(judge, return_counts=True)
        commonest = judge == values[np.argmax(counts)]
        hidden = commonest & (rng.random(rows) >= world.labelled)
        ratings[:, hidden] = np.nan
        weight = label_weights(~hidden, np.zeros(rows), [judge.astype(str)])
    result = compare_with_raters(
        judge,
        ratings,
        confidence=CONFIDENCE,
        cluster=of,
        weight=weight,
        nearness="equal" if world.scale is classed else "squared",
    )
    return result._asdict()


def rates(studies=STUDIES):
    """Return the coverage in each world of numbers, and of judges beside raters."""
    results = []
    for place, (study, worlds) in enumerate(((numbers, NUMBERS), (beside, BESIDE))):
        of_kind = []
        for seed, world in enumerate(worlds):
            rng = np.random.default_rng([seed, 46, place])
            alone = world._replace(per=1, labelled=1.0)
            truth = study(rng, alone, WHOLE)
            counts = count_hits(lambda: study(rng, world, world.rows), truth, studies)  # noqa: B023
            of_kind.append(
                (world, {name: hits / n for name, (hits, n) in counts.items()})
            )
        results.append(of_kind)
    return results


def section(results):
    """The section of the page, as lines."""
    of_numbers, of_raters = results
    return [
        "## Numbers checked in one command, and judges beside raters",
        "",
        "How often the 95 % intervals of `judge-check` hold the truth where labels are numbers"
        " without grades. Rows of a document share half of the variance of what raters say, and"
        f" 40 % of that of the judge's errors. {STUDIES:,} studies per row; one standard error at"
        " 95 % is 0.5 points.",
        "",
        *_table("numbers", of_numbers),
        "The same of the table `beside_raters`: how near the judge is to the other raters, how near"
        " a rater is, and the difference.",
        "",
        *_table("labels", of_raters),
    ]


def _table(kind, rows):
    names = list(rows[0][1])
    lines = [
        f"| {kind} | rows | {' | '.join(names)} |",
        f"|---|---:|{'---:|' * len(names)}",
    ]
    for world, shares in rows:
        cells = " | ".join(f"{shares[name]:.1%}" for name in names)
        lines.append(f"| {world.what} | {world.rows} | {cells} |")
    return [*lines, ""]


if __name__ == "__main__":
    print("\n".join(section(rates(int(sys.argv[1]) if sys.argv[1:] else STUDIES))))
