"""Labels of each kind with a known truth: do the intervals of `judge-check` hold it?

Worlds are populations of rows from which studies are drawn: a document has a level of
its own that shifts what people say of all its rows, and a mood of the judge's that
shifts its errors. The truth of every number is its value on 200,000 independent rows.

`python -m tests.calibration.label_kinds` prints the section of the page.
"""

import re
import sys
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from metassay.statistics.label_rows import LabelRows
from metassay.statistics.label_weights import label_weights
from metassay.statistics.nominal_labels import nominal_card
from metassay.statistics.ordinal_labels import middle_grades, ordinal_card

STUDIES = 200
WHOLE = 200_000  # rows of a population from which its truth is computed
CONFIDENCE = 0.95
OF_EACH = " of each"


class World(NamedTuple):
    """A population of labels, and the study that is drawn from it."""

    what: str
    shares: tuple[float, ...]  # of the classes or grades, as people give them
    right: float  # the share of rows on which the judge is not mistaken
    rows: int
    per: int  # rows a document
    labelled: float = 1.0  # the share of rows labelled of the commonest verdict
    raters: int = 1
    lean: float = 0.0  # of mistaken grades: the share that are too high, less .5


NOMINAL = (
    World("three classes", (0.5, 0.3, 0.2), 0.8, 120, 1),
    World("three classes, 3 rows a document", (0.5, 0.3, 0.2), 0.8, 120, 3),
    World("a rare class", (0.75, 0.2, 0.05), 0.9, 200, 1),
    World("a rare class, 5 rows a document", (0.75, 0.2, 0.05), 0.9, 200, 5),
    World("five classes, 3 rows a document", (0.4, 0.25, 0.2, 0.1, 0.05), 0.7, 150, 3),
    World("commonest verdict labelled by a fifth", (0.6, 0.3, 0.1), 0.85, 400, 1, 0.2),
    World("the same, 4 rows a document", (0.6, 0.3, 0.1), 0.85, 400, 4, 0.2),
    World(
        "five classes, nearly always right, a fifth labelled",
        (0.4, 0.25, 0.2, 0.1, 0.05),
        0.93,
        300,
        1,
        0.2,
    ),
)
ORDINAL = (
    World("grades 1 to 5", (0.1, 0.2, 0.3, 0.25, 0.15), 0.6, 120, 1),
    World("grades 1 to 5, 3 rows a document", (0.1, 0.2, 0.3, 0.25, 0.15), 0.6, 120, 3),
    World(
        "most grades 5, judge kind", (0.02, 0.05, 0.1, 0.23, 0.6), 0.7, 150, 1, lean=0.3
    ),
    World(
        "two raters, 3 rows a document",
        (0.1, 0.2, 0.3, 0.25, 0.15),
        0.6,
        120,
        3,
        raters=2,
    ),
    World("three grades, 5 rows a document", (0.2, 0.3, 0.5), 0.8, 150, 5),
    World("nearly always right", (0.1, 0.2, 0.3, 0.25, 0.15), 0.93, 80, 1),
    World(
        "commonest verdict labelled by a fifth",
        (0.1, 0.2, 0.3, 0.25, 0.15),
        0.6,
        400,
        1,
        0.2,
    ),
    World(
        "the same, nearly always right",
        (0.1, 0.2, 0.3, 0.25, 0.15),
        0.93,
        400,
        1,
        0.2,
    ),
    World(
        "most grades 5, judge kind, a fifth labelled, 4 rows a document",
        (0.02, 0.05, 0.1, 0.23, 0.6),
        0.7,
        400,
        4,
        0.2,
        lean=0.3,
    ),
)


def _draw(rng, world, rows, *, ordinal):
    """Return judge (rows,), ratings (raters, rows) as codes, and documents (rows,)."""
    documents = -(-rows // world.per)
    of = np.repeat(np.arange(documents), world.per)[:rows]
    edges = np.cumsum(world.shares)[:-1]
    n = len(world.shares)

    def uniform(alike):
        """Uniform numbers, of which a document's rows share one in `alike` of the cases."""
        alone, shared = rng.random(rows), rng.random(documents)[of]
        return np.where(rng.random(rows) < alike, shared, alone)

    truth = np.searchsorted(edges, uniform(0.5))
    mistaken = uniform(0.4) > world.right
    if not ordinal:
        other = (truth + 1 + (rng.random(rows) < 0.3)) % n
        return np.where(mistaken, other, truth), truth[None].astype(float), of
    up = rng.random(rows) < 0.5 + world.lean
    size = 1 + (rng.random(rows) < 0.2)
    judge = np.clip(truth + np.where(mistaken, np.where(up, size, -size), 0), 0, n - 1)
    ratings = []
    for _ in range(world.raters):
        step = rng.choice([-1, 0, 1], rows, p=[0.15, 0.7, 0.15])
        shaken = np.clip(truth + step, 0, n - 1) if world.raters > 1 else truth
        ratings.append(shaken.astype(float))
    return judge, np.array(ratings), of


def _rows(judge, people, of, n_judge, n_people):
    has_label = people >= 0
    weight = has_label.astype(float)
    if not has_label.all():
        weight = label_weights(has_label, np.zeros(judge.size), [judge])
    return LabelRows(
        judge=judge,
        people=people,
        weight=weight,
        cluster=of,
        n_judge=n_judge,
        n_people=n_people,
    )


def _hide(rng, judge, people, world):
    """Take labels of the judge's commonest verdict away, all but a share."""
    if world.labelled == 1:
        return people
    commonest = np.argmax(np.bincount(judge))
    hidden = (judge == commonest) & (rng.random(judge.size) >= world.labelled)
    return np.where(hidden, -1, people)


def numbers(rng, world, rows, *, ordinal, hide=True):
    """Return all numbers with intervals of one study, by name."""
    judge, ratings, of = _draw(rng, world, rows, ordinal=ordinal)
    n = len(world.shares)
    options = {"confidence": CONFIDENCE, "rng": rng}
    if ordinal:
        levels = np.arange(1.0, n + 1)
        middle = middle_grades(ratings + 1, levels)
        people = _hide(rng, judge, middle.code, world) if hide else middle.code
        rows_ = _rows(judge, people, of, n, len(middle.pairs))
        card = ordinal_card(rows_, levels, middle.pairs, **options)
        of_levels = {f"bias on {k + 1}": value for k, value in enumerate(card.levels)}
        return {**card.numbers, **of_levels}
    people = ratings[0].astype(np.intp)
    people = _hide(rng, judge, people, world) if hide else people
    card = nominal_card(_rows(judge, people, of, n, n), **options)
    result = dict(card.numbers)
    for code, of_class in enumerate(card.classes):
        result |= {f"{name} {code}": value for name, value in of_class.items()}
    if world.labelled < 1:  # labels were chosen: not told
        result = {k: v for k, v in result.items() if not k.startswith("people_alone")}
    return result


def count_hits(study, truth, studies):
    """Return how often the intervals of a study held the truth, and how many there were.

    By name. `study()` draws a study and returns its estimates, `truth` has the true ones.
    """
    counts = defaultdict(lambda: np.zeros(2))
    for _ in range(studies):
        for name, result in study().items():
            if np.isfinite(result.low):
                counts[name] += result.low <= truth[name].value <= result.high, 1
    return counts


def coverage(world, *, ordinal, studies=STUDIES, seed=0):
    """Return the coverage of each number's interval, and how many there were, by name."""
    rng = np.random.default_rng([seed, 43, int(ordinal)])
    alone = world._replace(per=1, labelled=1.0)
    truth = numbers(rng, alone, WHOLE, ordinal=ordinal, hide=False)

    def study():
        return numbers(rng, world, world.rows, ordinal=ordinal)

    return count_hits(study, truth, studies)


def rates(studies=STUDIES):
    """Return each world, and of each number the share of intervals that hold the truth."""
    results = []
    for ordinal, worlds in ((False, NOMINAL), (True, ORDINAL)):
        for seed, world in enumerate(worlds):
            result = coverage(world, ordinal=ordinal, studies=studies, seed=seed)
            total = defaultdict(lambda: np.zeros(2))
            for name, counts in result.items():
                # Of all classes, and of all grades.
                total[re.sub(r"( on)? \d+$", OF_EACH, name)] += counts
            shares = {name: hits / n for name, (hits, n) in total.items()}
            results.append((ordinal, world, shares))
    return results


def section(results):
    """The section of the page, as lines."""
    lines = [
        "## Classes and grades checked in one command",
        "",
        "How often the 95 % intervals of `judge-check` hold the truth where labels are classes or"
        " grades. A document's rows share half of their labels' draws and 40 % of the judge's"
        f" mistakes. {STUDIES} studies per row, so that one standard error at 95 % is 1.5"
        " points; of each class, and of each grade, there are several times as many.",
        "",
    ]
    for ordinal in (False, True):
        rows = [(world, shares) for kind, world, shares in results if kind == ordinal]
        names = list(rows[0][1])
        lines += [
            f"| {'grades' if ordinal else 'classes'} | rows | {' | '.join(names)} |",
            f"|---|---:|{'---:|' * len(names)}",
        ]
        for world, shares in rows:
            cells = [f"{shares[name]:.1%}" if name in shares else "–" for name in names]
            lines.append(f"| {world.what} | {world.rows} | {' | '.join(cells)} |")
        lines.append("")
    return lines


if __name__ == "__main__":
    print("\n".join(section(rates(int(sys.argv[1]) if sys.argv[1:] else STUDIES))))
