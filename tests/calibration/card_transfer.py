"""A card on new texts whose judge is as good, worse by the margin, or much worse: what is told?

`python -m tests.calibration.card_transfer` prints the tables of docs/measured.md. A
card is made on labels of one class and compared with new labels of that class; rows of
a document err together. At the margin `holds` and `worse` are wrong in turn: each is to
be told in at most 5 %.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from metassay.statistics.card_transfer import (
    HOLDS,
    WORSE,
    labels_to_hold,
    size_of_interval,
    transfer,
)
from metassay.statistics.label_weights import label_weights
from metassay.statistics.shares import Estimate, share
from metassay.statistics.weighted_cards import weighted_card

STUDIES = 1000
CONFIDENCE = 0.95
PASSING, SENSITIVITY = 0.6, 0.9  # where only some rows are labelled
LIKE = 0.3  # the share of a document's rows that have the document's own draw


class World(NamedTuple):
    """The judge's rate on the card, its loss on new texts, labels, rows of a document."""

    rate: float
    loss: float
    on_card: int
    new: int
    rows: int
    systems: int = 1
    labelled: float = 1.0  # of the judge's passes; all of its fails are


def rates(rng, rate, n, rows):
    """Whether the judge is right on n labels, and their documents, (n,) each."""
    document = np.arange(n) // rows
    of_documents = rng.random(document[-1] + 1) < rate
    alike = rng.random(n) < (LIKE if rows > 1 else 0.0)
    right = np.where(alike, of_documents[document], rng.random(n) < rate)
    return share(right.astype(float), document, confidence=CONFIDENCE)


def weighted_rates(rng, rate, world, n):
    """The specificity of n rows, of which all fails of the judge and some passes are labelled."""
    document = np.arange(n) // world.rows
    easy = rng.random(document[-1] + 1)[document]
    luck = np.where(rng.random(n) < LIKE, easy, rng.random(n))
    passed = rng.random(n) < PASSING
    right = luck < np.where(passed, SENSITIVITY, rate)
    verdict = (passed == right).astype(float)
    labelled = (verdict == 0.0) | (rng.random(n) < world.labelled)
    people = np.where(labelled, passed.astype(float), np.nan)
    card = weighted_card(
        verdict,
        people,
        label_weights(labelled, verdict),
        document,
        confidence=CONFIDENCE,
    )
    specificity = card["specificity"]
    size = size_of_interval(specificity, confidence=CONFIDENCE)
    return specificity._replace(n_effective=size)


def drawn(rng, rate, world, n):
    """A rate of n labels, or of n rows of which some are labelled."""
    if world.labelled < 1.0:
        return weighted_rates(rng, rate, world, n)
    return rates(rng, rate, n, world.rows)


def shares_told(world, margin, *, studies=STUDIES, seed=0):
    """Shares of studies in which any system's rate is told to hold, or to be worse."""
    rng = np.random.default_rng([seed, *map(int, np.array(world) * 1000)])
    counts = Counter()
    for _ in range(studies):
        card = drawn(rng, world.rate, world, world.on_card)
        outcomes = set()
        for _ in range(world.systems):
            new = drawn(rng, world.rate - world.loss, world, world.new)
            moved = transfer(card, new, margin=margin, n_tests=world.systems)
            outcomes.add(moved.outcome)
        counts.update(outcomes)
    return counts[HOLDS] / studies, counts[WORSE] / studies


WORLDS = [
    World(rate=0.9, loss=0.1, on_card=200, new=100, rows=1),
    World(rate=0.8, loss=0.1, on_card=100, new=400, rows=1),
    World(rate=0.97, loss=0.1, on_card=60, new=40, rows=1),
    World(rate=0.9, loss=0.1, on_card=200, new=100, rows=5),
    World(rate=0.9, loss=0.1, on_card=200, new=40, rows=5),
    World(rate=0.9, loss=0.1, on_card=200, new=100, rows=1, systems=4),
    World(rate=0.9, loss=0.1, on_card=1500, new=1500, rows=3, labelled=0.2),
    World(rate=0.9, loss=0.0, on_card=1500, new=1500, rows=3, labelled=0.2),
    World(rate=0.9, loss=0.0, on_card=200, new=100, rows=1),
    World(rate=0.9, loss=0.0, on_card=200, new=200, rows=5),
    World(rate=0.9, loss=0.25, on_card=200, new=100, rows=1),
]


def main():
    """Print the tables of docs/measured.md: what is told, and how many labels it takes."""
    print("| on the card | here | labels: card, here | rows a document | systems"
          " | told to hold | told to be worse |")  # fmt: skip
    print(f"|{'---:|' * 7}")
    for world in WORLDS:
        holds, worse = shares_told(world, 0.1)
        sizes = f"{world.on_card:,}, {world.new:,}"
        if world.labelled < 1.0:
            sizes += f" rows, {100 * world.labelled:g} % of the judge's passes labelled"
        print(
            f"| {world.rate:g} | {world.rate - world.loss:g} | {sizes} | {world.rows}"
            f" | {world.systems} | {100 * holds:.1f} % | {100 * worse:.1f} % |",
            flush=True,
        )
    print()
    print("| rate on the card | labels on the card | margin .05 | .10 | .15 |")
    print(f"|{'---:|' * 5}")
    for rate in (0.8, 0.9, 0.95):
        for n in (100, 200, 400):
            card = Estimate(rate, np.nan, np.nan, n, n)
            needed = [
                labels_to_hold(card, margin=margin, level=0.05)
                for margin in (0.05, 0.1, 0.15)
            ]
            cells = ["none" if np.isnan(k) else f"{k:,.0f}" for k in needed]
            print(f"| {rate:g} | {n} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
