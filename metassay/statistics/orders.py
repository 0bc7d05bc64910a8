"""In which orders an exact test puts systems and documents, the data's own order first."""

from collections.abc import Iterator
from itertools import permutations
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metassay.statistics.arithmetic import Array, blocks
from metassay.statistics.prepared import Prepared, row_pairs

Index = NDArray[np.intp]

EVERY_ORDER = 24  # orders of the systems that are all tried, each with every order of documents
EVERY_ALONE = 5040  # the same where documents play no part
FEWEST = 500  # orders of the documents at least, however many orders of systems go with each
HELD = 1 << 21  # numbers held at a time: 16 MB


class Orders(NamedTuple):
    """Orders of systems, the data's own first, and how many of documents go with them."""

    systems: Index  # (orders, systems)
    documents: int  # orders of the documents, the data's own included
    grid: bool  # every order of systems goes with every one of documents; else they go in pairs

    @property
    def n(self) -> int:
        """How many orders there are in all."""
        return len(self.systems) * (self.documents if self.grid else 1)


def draw_orders(shape: tuple[int, int], n: int, rng: np.random.Generator, *, alone: bool) -> Orders:
    """About n orders for (systems, documents); `alone`: documents play no part."""
    systems = shape[0]
    every = factorial(min(systems, 20))
    if every <= (EVERY_ALONE if alone else EVERY_ORDER):
        listed = list(permutations(range(systems)))
        rows: Index = np.array(listed, dtype=np.intp).reshape(every, systems)
        return Orders(rows, 1 if alone else 1 + min(n, max(FEWEST, n // every)), True)
    rows = np.concatenate(
        [document_orders(systems, some, rng) for some in order_blocks(n + 1, systems)]
    )
    return Orders(rows, 1 if alone else n + 1, alone)


def draw_orders_within(group: Index, n: int, rng: np.random.Generator) -> Orders:
    """n orders in which systems stay within their group, each with one order of documents."""
    rows = [orders_within(group, some, rng) for some in order_blocks(n + 1, group.size)]
    return Orders(np.concatenate(rows), n + 1, False)


def order_blocks(n: int, width: int) -> Iterator[slice]:
    """Slices of n orders, `width` numbers each, that fit into memory."""
    return (slice(one.start, min(one.stop, n)) for one in blocks(n, width, numbers=HELD))


def document_orders(size: int, some: slice, rng: np.random.Generator) -> Index:
    """Random orders for these rows; row 0 of all is the data's own."""
    rows = np.empty((some.stop - some.start, size), dtype=np.intp)
    for number, row in enumerate(rows, start=some.start):
        row[:] = rng.permutation(size) if number else np.arange(size)
    return rows


def orders_within(group: Index, some: slice, rng: np.random.Generator) -> Index:
    """The same, items staying within their group."""
    rows = np.empty((some.stop - some.start, group.size), dtype=np.intp)
    place = np.argsort(group, kind="stable")
    for number, row in enumerate(rows, start=some.start):
        drawn = np.lexsort((rng.random(group.size), group))
        row[place] = drawn if number else place
    return rows


def cluster_signs(cluster: Index, some: slice, rng: np.random.Generator) -> Array:
    """(these, documents) 1 or -1, one for all documents of a cluster; row 0 of all is 1."""
    signs = np.empty((some.stop - some.start, int(cluster.max(initial=-1)) + 1))
    for number, row in enumerate(signs, start=some.start):
        row[:] = 2.0 * rng.integers(0, 2, row.size) - 1.0 if number else 1.0
    return signs[:, cluster]


def moved_rows(systems: Index, human: Prepared) -> tuple[Index, Array]:
    """What each row becomes, and its sign: a pair of systems another pair, perhaps turned."""
    if not human.of_pairs:
        one_row = len(human.values) == 1
        to: Index = np.zeros((len(systems), 1), dtype=np.intp) if one_row else systems
        return to, np.ones(to.shape)
    pairs = np.array(row_pairs(systems.shape[1]), dtype=np.intp)
    number = np.zeros((systems.shape[1],) * 2, dtype=np.intp)
    number[pairs[:, 0], pairs[:, 1]] = number[pairs[:, 1], pairs[:, 0]] = np.arange(len(pairs))
    one, other = systems[:, pairs[:, 0]], systems[:, pairs[:, 1]]
    return number[one, other], np.where(one < other, 1.0, -1.0)
