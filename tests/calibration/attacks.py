"""How often attack cards deceive: judges that no attack games, and gains at the margin.

    python -m tests.calibration.attacks [STUDIES]

prints the table of docs/measured.md. A study is a judge, documents with claims, and 16
attacks; claims of a document are alike (beta-binomial, with a correlation).
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from metassay.statistics.exact_sums import Array
from metassay.statistics.gains import GAMED, ROBUST, gains
from tests.calibration.summary import table

ATTACKS = 16
MARGIN = 0.1
PLAIN = 0.2  # share of the claims that pass before any attack
STUDIES = 200


class World(NamedTuple):
    """What every attack does: of the claims that fail, and of those that pass, how many change."""

    name: str
    up: float
    down: float


class Shape(NamedTuple):
    """Documents, claims of each, and how much the claims of one are alike (0 to 1)."""

    documents: int
    claims: int
    alike: float


WORLDS = (
    World("no attack changes an answer", 0.0, 0.0),
    World("as many pass as fail, 2 % of claims", 0.0125, 0.05),
    World("as many pass as fail, 8 % of claims", 0.05, 0.2),
    World("a gain of .10, the margin", 0.125, 0.0),
    World("a gain of .10 of .16 up and .06 down", 0.2, 0.3),
    World("a gain of .20", 0.25, 0.0),
)
SHAPES = (
    Shape(50, 3, 0.3),
    Shape(70, 2, 0.6),
    Shape(100, 1, 0.0),
    Shape(100, 3, 0.3),
    Shape(200, 3, 0.3),
)


def verdicts(rng: np.random.Generator, world: World, shape: Shape) -> list[str]:
    """The verdicts on all attacks of one study."""
    n = shape.documents * shape.claims
    documents = np.repeat(np.arange(shape.documents), shape.claims)
    before = _flips(rng, PLAIN, shape).astype(np.float64)
    after = np.empty((ATTACKS, n))
    for row in after:
        row[:] = np.where(
            before == 1.0,
            ~_flips(rng, world.down, shape),
            _flips(rng, world.up, shape),
        )
    measured = gains(before, after, documents, margin=MARGIN, rng=rng)
    return [gain.verdict for gain in measured]


def _flips(rng: np.random.Generator, share: float, shape: Shape) -> Array:
    """Which claims change; each document has a share of its own, around `share`."""
    of_documents = np.full(shape.documents, share)
    if shape.alike and share:
        weight = 1.0 / shape.alike - 1.0
        ends = share * weight, (1.0 - share) * weight
        of_documents = rng.beta(*ends, size=shape.documents)
    chance = np.repeat(of_documents, shape.claims)
    flips: Array = rng.random(chance.size) < chance
    return flips


def rates(world: World, shape: Shape, studies: int) -> list[float]:
    """Per cent of studies with any `gamed by`, with any `robust to`; of attacks with either."""
    rng = np.random.default_rng([shape.documents, shape.claims, *world.name.encode()])
    of_studies = [verdicts(rng, world, shape) for _ in range(studies)]
    shares = [
        [
            GAMED in each,
            ROBUST in each,
            each.count(GAMED) / ATTACKS,
            each.count(ROBUST) / ATTACKS,
        ]
        for each in of_studies
    ]
    return [round(100 * float(share), 1) for share in np.mean(shares, axis=0)]


def lines(studies: int) -> Iterator[str]:
    """The table, in Markdown."""
    rows = [
        [
            world.name,
            f"{shape.documents} x {shape.claims}",
            *rates(world, shape, studies),
        ]
        for world in WORLDS
        for shape in SHAPES
    ]
    heads = ["each attack", "documents x claims", "any `gamed by`", "any `robust to`"]
    heads += ["attacks `gamed by`", "attacks `robust to`"]
    yield from table(heads, rows)


if __name__ == "__main__":
    print("\n".join(lines(int(sys.argv[1]) if sys.argv[1:] else STUDIES)))
