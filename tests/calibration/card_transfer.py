"""A card on new texts whose judge is as good, worse by the margin, or much worse: what is told?

`python -m tests.calibration.card_transfer` prints the tables of docs/judge-check.md. A
card is made on labels of one class and compared with new labels of that class; rows of
a document err together. At the margin `holds` and `worse` are wrong in turn: each is to
be told in at most 5 %.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from metassay.statistics.card_transfer import HOLDS, WORSE, labels_to_hold, transfer
from metassay.statistics.shares import Estimate, share

STUDIES = 1000
CONFIDENCE = 0.95
LIKE = 0.3  # the share of a document's rows that have the document's own draw


class World(NamedTuple):
    """The judge's rate on the card, its loss on new texts, labels, rows of a document."""

    rate: float
    loss: float
    on_card: int
    new: int
    rows: int
    systems: int = 1


def rates(rng, rate, n, rows):
    """Whether the judge is right on n labels, and their documents, (n,) each."""
    document = np.arange(n) // rows
    of_documents = rng.random(document[-1] + 1) < rate
    alike = rng.random(n) < (LIKE if rows > 1 else 0.0)
    right = np.where(alike, of_documents[document], rng.random(n) < rate)
    return share(right.astype(float), document, confidence=CONFIDENCE)


def shares_told(world, margin, *, studies=STUDIES, seed=0):
    """Shares of studies in which any system's rate is told to hold, or to be worse."""
    rng = np.random.default_rng([seed, *map(int, np.array(world) * 1000)])
    counts = Counter()
    for _ in range(studies):
        card = rates(rng, world.rate, world.on_card, world.rows)
        outcomes = set()
        for _ in range(world.systems):
            new = rates(rng, world.rate - world.loss, world.new, world.rows)
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
    World(rate=0.9, loss=0.0, on_card=200, new=100, rows=1),
    World(rate=0.9, loss=0.0, on_card=200, new=200, rows=5),
    World(rate=0.9, loss=0.25, on_card=200, new=100, rows=1),
]


def main():
    """Print what is told in each world; then how many labels it takes."""
    print(
        "| rate | on new texts | labels: card, new | rows a document | systems | holds | worse |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for world in WORLDS:
        holds, worse = shares_told(world, 0.1)
        print(
            f"| {world.rate:g} | {world.rate - world.loss:g} | {world.on_card}, {world.new}"
            f" | {world.rows} | {world.systems} | {100 * holds:.1f} % | {100 * worse:.1f} % |",
            flush=True,
        )
    print()
    print("| rate on the card | labels on the card | margin .05 | .10 | .15 |")
    print("| ---: | ---: | ---: | ---: | ---: |")
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
