"""Does a metric know anything about what people value? Exact tests, adjusted for all metrics.

The null is the user's doubt: a metric and people both have favourites among systems and both find
some documents easier, but the one has nothing to do with the other. Then nothing changes if the
systems and the documents of people's matrix are put in another order, whole rows and columns. The
test is exact where metric and people are independent and systems, and documents, exchangeable,
whatever their effects. One order serves all metrics, so the largest statistic of all gives each its
p adjusted for all the others. `rank_order` asks the same of two rankings of a few things.

Matrices are `prepared`: one side alone, centred, of length 1, 0 where missing, so that another
order of people's systems and documents only moves rows and columns. With complete data the sum of
products of two prepared matrices is the coefficient itself (document level: the mean over
documents, up to a factor). Pooled Kendall takes ranks: its own statistic would look at all pairs in
every order.

Sources: Mantel 1967, The detection of disease clustering (rows and columns permuted); Westfall and
Young 1993, Resampling-based multiple testing (step-down max-T); Phipson and Smyth 2010,
Permutation p-values should never be zero (the data count as one order).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.components import Relation, double_centred
from metassay.statistics.correlation import EVERY_COEFFICIENT, TIE, Coefficient, in_turn, tied
from metassay.statistics.exact_sums import (
    NOISE,
    Array,
    Index,
    Mask,
    blocks,
    mean_without_gaps,
    quotient,
    ranked,
)


class Prepared(NamedTuple):
    """One side of a relation. Rows are systems, pairs of systems (tau), or one for all."""

    values: Array  # (..., rows, columns); columns are documents, or one for all
    present: Array  # (..., rows, columns) 1 where there was a score, else 0
    of_pairs: bool = False  # whether rows are pairs of systems, as `combinations` lists them


def prepared(scores: Array, relation: Relation, coefficient: Coefficient) -> Prepared:
    """(..., systems, documents) matrices, NaN missing, made ready for one relation."""
    kendall = coefficient in ("kendall", "kendall_c")
    of_pairs = kendall and relation in ("system", "between_systems", "document")

    def of_these(a: Array, _: Array, present: Mask) -> tuple[Array, Array]:
        values, there = _prepared(a, present, relation, coefficient, of_pairs=of_pairs)
        return values, np.broadcast_to(there.astype(np.float64), values.shape)

    return Prepared(*in_turn(of_these, scores, scores), of_pairs)


def _prepared(
    scores: Array, present: Mask, relation: Relation, coefficient: Coefficient, *, of_pairs: bool
) -> tuple[Array, Mask]:
    # Of metrics that have the same cells.
    by_rank = coefficient != "pearson"
    if relation in ("system", "between_systems", "between_documents"):
        scores = _means(scores, axis=-2 if relation == "between_documents" else -1)
        present = np.isfinite(scores[0])
        coefficient = "kendall" if of_pairs else coefficient  # of one column the two taus are one
    if of_pairs:
        return _pairs(scores, present, coefficient)
    if relation == "document":
        return _by_column(scores, present, by_rank=by_rank), present
    rest = double_centred(scores) if relation == "within" else scores
    return _pooled(rest, present, by_rank=by_rank), present


def _means(scores: Array, axis: int) -> Array:
    mean = mean_without_gaps(scores, axis, keepdims=True)
    size = np.max(np.abs(scores), axis=(1, 2), initial=0.0, where=np.isfinite(scores))
    flat = tied(mean.reshape(len(mean), -1), tolerance=TIE * size[:, None])
    return flat.reshape(mean.shape)


def _pooled(scores: Array, present: Mask, *, by_rank: bool) -> Array:
    values = np.zeros(scores.shape)
    if present.any():
        known = np.ascontiguousarray(scores[:, present])  # summed in one order
        known = ranked(known, axis=1) if by_rank else known
        values[:, present] = _deviations(known, np.ones(known.shape[1], dtype=bool))
    return _unit(values)


def _by_column(scores: Array, present: Mask, *, by_rank: bool) -> Array:
    known = np.where(present, scores, np.inf if by_rank else 0.0)
    if by_rank:
        known = np.where(present, ranked(known, axis=1), 0.0)
    left = _deviations(known.mT, present.T).mT
    length = np.sqrt(np.sum(left**2, axis=1, keepdims=True))
    return _unit(quotient(left, length, length > 0, other=0.0))


def _pairs(scores: Array, present: Mask, coefficient: Coefficient) -> tuple[Array, Mask]:
    first, second = _row_pairs(scores.shape[1])
    both = present[first] & present[second]
    known = np.where(present, scores, 0.0)
    signs = np.sign(known[:, first] - known[:, second]) * both
    untied = np.count_nonzero(signs, axis=1, keepdims=True)
    length = np.sqrt(untied) if coefficient == "kendall" else (untied > 0).astype(np.float64)
    return _unit(quotient(signs, length, length > 0, other=0.0)), both


def _deviations(rows: Array, present: Mask) -> Array:
    # Each row less its mean; 0 throughout where it differs from its mean by rounding alone.
    count = np.maximum(present.sum(axis=-1, keepdims=True), 1)
    mean = np.sum(rows, axis=-1, keepdims=True, where=present) / count
    left = np.where(present, rows - mean, 0.0)
    spread = np.max(np.abs(left), axis=-1, keepdims=True, initial=0.0)
    return np.where(spread <= NOISE * np.abs(mean), 0.0, left)


def _row_pairs(systems: int) -> Index:
    return np.array(list(combinations(range(systems), 2)), dtype=np.intp).reshape(-1, 2).T


def _levels_and_rests(side: Prepared) -> tuple[Array, Array]:
    # Each row's mean as one column, whose squares sum to what levels explain; the rest of each
    # cell. What differs from 0 by rounding alone, of values whose squares sum to 1, is 0.
    count = side.present.sum(axis=-1, keepdims=True)
    total = side.values.sum(axis=-1, keepdims=True)
    levels = quotient(total, np.sqrt(count), count > 0, other=0.0)
    rests = side.values - side.present * total / np.maximum(count, 1)
    levels, rests = (np.where(np.abs(one) <= 10 * NOISE, 0.0, one) for one in (levels, rests))
    return levels, rests


def _unit(values: Array) -> Array:
    # Of each matrix.
    length = np.sqrt(np.sum(values.reshape(len(values), -1) ** 2, axis=1))
    return np.asarray(values / np.where(length > 0, length, 1.0)[:, None, None])


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
    rows = document_orders(systems, slice(0, n + 1), rng)
    return Orders(rows, 1 if alone else n + 1, alone)


def draw_orders_within(group: Index, n: int, rng: np.random.Generator) -> Orders:
    """n orders in which systems stay within their group, each with one order of documents."""
    return Orders(_orders_within(group, slice(0, n + 1), rng), n + 1, False)


def _order_blocks(n: int, width: int) -> Iterator[slice]:
    # Slices of n orders, `width` numbers each, that fit into memory.
    return (slice(some.start, min(some.stop, n)) for some in blocks(n, width, numbers=HELD))


def document_orders(size: int, some: slice, rng: np.random.Generator) -> Index:
    """Random orders for these rows; row 0 of all is the data's own."""
    rows: Index = np.tile(np.arange(size, dtype=np.intp), (some.stop - some.start, 1))
    drawn = rows[some.start == 0 :]
    rng.permuted(drawn, axis=1, out=drawn)
    return rows


def _orders_within(group: Index, some: slice, rng: np.random.Generator) -> Index:
    # The same, items staying within their group.
    place = np.argsort(group, kind="stable")
    drawn = rng.random((some.stop - some.start, group.size))
    rows: Index = np.empty(drawn.shape, dtype=np.intp)
    rows[:, place] = np.lexsort((drawn, np.broadcast_to(group, drawn.shape)))
    rows[: some.start == 0] = np.arange(group.size)
    return rows


def _cluster_signs(cluster: Index, some: slice, rng: np.random.Generator) -> Array:
    # (these, documents) 1 or -1, one for all documents of a cluster; row 0 of all is 1.
    signs = np.ones((some.stop - some.start, int(cluster.max(initial=-1)) + 1))
    drawn = signs[some.start == 0 :]
    drawn[:] = 2 * rng.integers(0, 2, drawn.shape) - 1
    return signs[:, cluster]


def _moved_rows(systems: Index, human: Prepared) -> tuple[Index, Array]:
    # What each row becomes, and its sign: a pair of systems another pair, perhaps turned.
    if not human.of_pairs:
        to = np.zeros((len(systems), 1), dtype=np.intp) if len(human.values) == 1 else systems
        return to, np.ones(to.shape)
    first, second = _row_pairs(systems.shape[1])
    number = np.zeros((systems.shape[1],) * 2, dtype=np.intp)
    number[first, second] = number[second, first] = np.arange(first.size)
    one, other = systems[:, first], systems[:, second]
    return number[one, other], np.where(one < other, 1.0, -1.0)


Side = Mapping[Relation, Prepared]

SAME = 1e-7  # statistics closer than this, in standard deviations, are equal
STILL = 1e-10  # a statistic that no order moves by more than this is not a statistic


class Independence(NamedTuple):
    """A test of each metric and relation."""

    statistics: Array  # (metrics, relations, orders), the data's own order first
    exact: bool  # whether these are all the orders there are

    @property
    def p(self) -> Array:
        """(metrics, relations) two-sided, of this one alone; NaN where one side is constant."""
        rows = self.statistics.reshape(-1, self.n_orders)
        p = np.full(len(rows), np.nan)
        for some in blocks(len(rows), self.n_orders):
            moved, scaled = _scaled(rows[some])
            sides = (np.mean(one >= one[:, :1] - SAME, axis=1) for one in (scaled, -scaled))
            p[some][moved] = _two_sided(*sides)
        return p.reshape(self.statistics.shape[:2])

    @property
    def signs(self) -> Array:
        """(metrics, relations) on which side of their mean over the orders the data lie."""
        off = self.statistics[..., 0] - self.statistics.mean(axis=-1)
        return np.asarray(np.sign(np.where(np.abs(off) <= STILL, 0.0, off)))

    @property
    def n_orders(self) -> int:
        """Orders tried, the data's own included."""
        return int(self.statistics.shape[-1])

    def of_relations(self, places: Sequence[int]) -> "Independence":
        """The same with the relations at these places; -1 is one that nothing is known of."""
        if list(places) == list(range(self.statistics.shape[1])):
            return self
        statistics = np.zeros((len(self.statistics), len(places), self.n_orders))
        for new, old in enumerate(places):
            if old >= 0:
                statistics[:, new] = self.statistics[:, old]
        return Independence(statistics, self.exact)

    def adjusted(self, family: Mask) -> Array:
        """(metrics in the family, relations): p adjusted for all of these (step-down max-T)."""
        some = self.statistics[family]
        return step_down(some.reshape(-1, self.n_orders)).reshape(some.shape[:2])


def independence_test(
    metrics: Side,
    human: Side,
    shape: tuple[int, int],
    *,
    n: int,
    rng: np.random.Generator,
    cluster: Index | None = None,
    orders: Orders | None = None,
) -> Independence:
    """Test metrics, prepared at once, against people, for all relations that `human` has.

    `shape`: (systems, documents). All orders of the systems are tried where they are few (up to 4
    systems; up to 7 where documents play no part), else random ones; documents are put in random
    orders, `n` orders in all, of which at least 500 of the documents. `orders`: those to try
    instead (each with one of documents).

    The statistic is the sum of products; where it is of texts or documents, it is divided by the
    root of the sum of squared products (and of the number of texts that both sides have): exact
    where the two sides are independent, and right in large samples where they share no more than
    which systems or documents are noisy (DiCiccio and Romano 2017, Robust permutation tests for
    correlation and regression coefficients).

    `cluster` (documents,): documents of one cluster are alike, and cannot be put in other orders
    one by one; nor can clusters of unequal size. Then what lies between systems is tested by
    orders of the systems, and what is left by giving each cluster's contribution a random sign:
    under the null it is as likely below 0 as above (in large samples; docs/calibration.md has how
    often few clusters mislead).
    """
    systems, documents = shape
    alone = all(side.values.shape[1] == 1 for side in human.values())
    orders = orders or draw_orders(shape, n, rng, alone=alone)
    k = len(next(iter(metrics.values())).values)
    size = (k, len(orders.systems) if orders.grid else 1, orders.documents)
    found = {relation: np.zeros(size) for relation in human}
    widest = max(1, *(side.values.shape[0] for side in human.values()))
    for some in _order_blocks(orders.documents, documents * widest):
        moved = _Moved(orders, some)
        if cluster is None:
            moved = moved._replace(documents=document_orders(documents, some, rng))
        else:
            moved = moved._replace(signs=_cluster_signs(cluster, some, rng))
        for relation, people in human.items():
            found[relation][:, :, some] = _statistics(metrics[relation], people, moved)
    exact = alone and len(orders.systems) == factorial(min(systems, 20))
    statistics = [one.reshape(k, -1) for one in found.values()]
    return Independence(np.stack(statistics, axis=1), exact)


def nested_test(  # noqa: PLR0913 - two sides, the design, what is put in other orders
    metrics: Side,
    human: Side,
    system: Index,
    systems: int,
    *,
    n: int,
    rng: np.random.Generator,
    cluster: Index | None = None,
    orders: Orders | None = None,
) -> Independence:
    """The same where each document has one system's text only, so that nothing is crossed.

    `system` (documents,): whose text it is. Documents are exchanged within their system, or the
    signs of clusters drawn, and the systems' levels exchanged among the systems. Relations:
    `between_systems` (or `system`), `within`, and `global`, which is the two together.
    """
    orders = orders or draw_orders((systems, system.size), n, rng, alone=False)
    k = len(next(iter(metrics.values())).values)
    shape = (k, len(orders.systems) if orders.grid else 1, orders.documents)
    found: dict[Relation, Array] = {}
    rests: dict[Relation, tuple[Array, Array]] = {}
    squares: dict[Relation, Array] = {}
    for relation, people in human.items():
        if relation in ("system", "between_systems"):
            moved = _Moved(orders, slice(0, orders.documents))
            found[relation] = np.broadcast_to(_statistics(metrics[relation], people, moved), shape)
            continue
        scores, rated = metrics[relation].values.sum(axis=1), people.values.sum(axis=0)
        count = np.maximum(np.bincount(system, minlength=systems), 1)
        level = np.bincount(system, rated, systems) / count
        of_system = np.stack([np.bincount(system, one, systems) for one in scores])
        if cluster is not None:
            scores = scores - (of_system / count)[:, system]
        rests[relation] = scores, rated - level[system]
        by_order = of_system @ level[orders.systems].T
        by_order = by_order[:, :, None] if orders.grid else by_order[:, None]
        found[relation] = np.broadcast_to(by_order, shape).copy()
        squares[relation] = np.ones(shape)
    for some in _order_blocks(orders.documents, system.size):
        if cluster is None:
            ordered, signs = _orders_within(system, some, rng), None
        else:
            ordered, signs = np.arange(system.size)[None], _cluster_signs(cluster, some, rng)
        for relation, (scores, rest) in rests.items():
            drawn = rest[ordered] if signs is None else rest * signs
            found[relation][:, :, some] += (scores @ drawn.T)[:, None]
            if relation == "within" and signs is None:
                squares[relation][:, :, some] = (scores**2 @ (drawn**2).T)[:, None]
    for relation, size in squares.items():
        found[relation] = _over_root(found[relation], size)
    statistics = [found[one].reshape(k, -1) for one in human]
    return Independence(np.stack(statistics, axis=1), exact=False)


def stratified(found: Sequence[Independence], weights: Array) -> Independence:
    """The test of all strata together, from tests whose orders go together one by one.

    `weights` (strata, relations): what each stratum counts; each statistic enters in units of its
    standard deviation over the orders, times the root of its weight.
    """
    total: Array = np.zeros_like(found[0].statistics)
    for one, weight in zip(found, weights, strict=True):
        off = one.statistics - one.statistics.mean(axis=-1, keepdims=True)
        spread = one.statistics.std(axis=-1, keepdims=True)
        scaled = quotient(off, spread, spread > STILL, other=0.0)
        total += np.sqrt(weight)[None, :, None] * scaled
    return Independence(total, exact=False)


def step_down(statistics: Array) -> Array:
    """Two-sided p of each row, adjusted for all rows (step-down max-T); NaN if no order moves it.

    `statistics` (rows, orders): each statistic in each order, the data's own first. p is twice the
    share of orders at least as extreme in the data's direction: three systems in perfect order have
    2/6, not 1/6.
    """
    adjusted = np.full(len(statistics), np.nan)
    moved, scaled = _scaled(statistics)
    if moved.size:
        adjusted[moved] = _two_sided(_one_sided(scaled), _one_sided(-scaled))
    return adjusted


def _scaled(statistics: Array) -> tuple[Index, Array]:
    """The rows that some order moves, and these in standard deviations from their mean."""
    off = statistics - statistics.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.mean(off * off, axis=1))
    moved = np.flatnonzero(spread > STILL)
    return moved, off[moved] / spread[moved, None]


def _two_sided(up: Array, down: Array) -> Array:
    return np.minimum(1.0, 2.0 * np.minimum(up, down))


def _one_sided(scaled: Array) -> Array:
    observed = scaled[:, :1] - SAME
    order = np.argsort(observed[:, 0], kind="stable")  # the smallest first
    largest = scaled[order]
    np.maximum.accumulate(largest, axis=0, out=largest)
    shares = np.mean(largest >= observed[order], axis=1)
    adjusted = np.empty(len(scaled))
    # From the largest statistic on, no p may be smaller than one before it.
    adjusted[order] = np.maximum.accumulate(shares[::-1])[::-1]
    return adjusted


class _Moved(NamedTuple):
    """Orders of systems, and for each what happens to the documents; None: nothing."""

    orders: Orders
    some: slice  # which orders (of the documents, where they go in a grid)
    documents: Index | None = None  # (these, documents) another order
    signs: Array | None = None  # (these, documents) 1 or -1


def _statistics(metrics: Prepared, human: Prepared, moved: _Moved) -> Array:
    # (metrics, orders of systems, these orders of documents); pairs: (metrics, 1, these).
    if not human.values.size:
        return np.zeros((len(metrics.values), 1, 1))
    grid = moved.orders.grid
    to, sign = _moved_rows(moved.orders.systems, human)
    if not grid:
        to, sign = to[moved.some], sign[moved.some]
    if human.values.shape[1] == 1:
        return _by_row(metrics.values, human.values, to, sign, grid=grid)
    if moved.signs is not None:
        return _by_signs(metrics, human, moved.signs, to, sign, grid=grid)
    drawn = np.ascontiguousarray(human.values.T)[moved.documents]
    turned = np.abs(sign)
    if not grid:  # once, for the numbers and their squares
        drawn, sign = _in_order(drawn, to, sign), turned
    found = _products(metrics.values, drawn, to, sign, grid=grid)
    # Divided by its own spread: systems or documents that are noisy for both sides say nothing.
    squares = _products(metrics.values**2, drawn**2, to, turned, grid=grid)
    if not human.present.all() and not metrics.present.all():
        there = np.ascontiguousarray(human.present.T)[moved.documents]
        there = there if grid else _in_order(there, to, turned)
        squares *= _products(metrics.present, there, to, turned, grid=grid)
    return _over_root(found, squares)


def _by_signs(
    metrics: Prepared, human: Prepared, signs: Array, to: Index, sign: Array, *, grid: bool
) -> Array:
    # What lies between rows in the orders of rows, and the clusters' rests by their signs.
    (levels, rests), (their_levels, their_rests) = map(_levels_and_rests, (metrics, human))
    between = _by_row(levels, their_levels, to, sign, grid=grid)
    drawn = their_rests.T * signs[:, :, None]
    if not grid:
        drawn = _in_order(drawn, to, sign)
    found = between + _products(rests, drawn, to, sign, grid=grid)
    still = human.values.T[None] ** 2
    if not grid:
        still = _in_order(np.broadcast_to(still, (len(to), *still.shape[1:])), to, np.abs(sign))
    squares = _products(metrics.values**2, still, to, np.abs(sign), grid=grid)
    return _over_root(found, np.broadcast_to(squares, found.shape))


def _over_root(found: Array, squares: Array) -> Array:
    sizes = np.sqrt(np.maximum(squares, 0.0))
    return quotient(found, sizes, sizes > STILL, other=0.0)


def _by_row(scores: Array, human: Array, to: Index, sign: Array, *, grid: bool) -> Array:
    by_order: Array = np.einsum("kr,or->ko", scores[:, :, 0], sign * human[to, 0])
    return by_order[:, :, None] if grid else by_order[:, None]


def _in_order(drawn: Array, to: Index, sign: Array) -> Array:
    if drawn.shape[2] == 1:
        return drawn * sign[:, None]
    return np.take_along_axis(drawn, to[:, None], axis=2) * sign[:, None]


def _products(scores: Array, drawn: Array, to: Index, sign: Array, *, grid: bool) -> Array:
    # `drawn` (these, documents, rows): people's matrix with its documents moved, and its rows too
    # (`_in_order`) where orders go in pairs.
    rows, columns = scores.shape[1:]
    if rows == 1:
        found = (scores[:, 0] @ drawn[:, :, 0].T)[:, None]
        return found * sign[None] if grid else found  # (orders, 1): each with all of these
    if not grid:
        by_document = np.ascontiguousarray(scores.transpose(0, 2, 1)).reshape(len(scores), -1)
        return (by_document @ drawn.reshape(len(drawn), -1).T)[:, None]
    # Every row of the one against every row of the other: any order of rows is a sum of these.
    theirs = drawn.transpose(1, 2, 0).reshape(columns, -1)
    each = (scores.reshape(-1, columns) @ theirs).reshape(len(scores), rows, rows, len(drawn))
    found = np.zeros((len(scores), len(to), len(drawn)))
    for row in range(rows):
        found += sign[:, row, None] * each[:, row, to[:, row]]
    return found


class RankOrder(NamedTuple):
    """One rank correlation, and how often chance makes one as far from 0; NaN if undefined."""

    value: float  # true sign, -1 to 1
    p: float  # two-sided, of rankings that have nothing to do with each other
    smallest_p: float  # no p can be smaller with so many things and ties: 2 / n! or more
    n: int  # things that both rank
    exact: bool  # whether all orders were tried


def rank_order(
    x: ArrayLike, y: ArrayLike, coefficient: Coefficient, *, n_orders: int, rng: np.random.Generator
) -> RankOrder:
    """Rank correlation of two rankings, shapes (n,), with its permutation test.

    Things that either side lacks (NaN) are left out. Undefined below 3 things or with a constant
    side. All orders are tried for up to 7 things, else `n_orders` random ones, the data's own among
    them.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    present = np.isfinite(a) & np.isfinite(b)
    a, b = a[present], b[present]
    if a.size < 3:  # two are ranked alike or the other way round, which says nothing
        return RankOrder(np.nan, np.nan, np.nan, a.size, True)
    orders = draw_orders((a.size, 1), n_orders, rng, alone=True)
    values = EVERY_COEFFICIENT[coefficient](a[orders.systems], b)
    value, sizes = float(values[0]), np.abs(values)  # the data's own order is the first
    if np.isnan(value):
        return RankOrder(value, value, value, a.size, True)
    return RankOrder(
        value,
        float(np.mean(sizes >= abs(value) - SAME)),
        float(np.mean(sizes >= sizes.max() - SAME)),
        a.size,
        factorial(min(a.size, 20)) <= len(orders.systems),
    )
