"""Are a metric and people's ratings independent? Exact tests, adjusted for all metrics.

Under the null, a metric and people may both prefer some systems and find some documents
easier, but independently of each other. Then the rows (systems) and columns (documents)
of people's matrix can be permuted. The test is exact where metric and people are
independent and systems, and documents, exchangeable, whatever their effects. Each
permutation ("order") serves all metrics, so the largest statistic of all gives each
metric a p adjusted for all. `rank_order` tests two short rankings.

Matrices are `prepare`: each side is centred and scaled to length 1, missing scores are
0, so that a permutation of people's systems and documents only moves rows and columns.
With complete data the sum of products of two prepared matrices is the coefficient
(document level: the mean over documents, up to a factor). Pooled Kendall uses ranks:
its statistic would compare all pairs in each permutation.

Sources: Mantel 1967, The detection of disease clustering (rows and columns permuted);
Westfall and Young 1993, Resampling-based multiple testing (step-down max-T); Phipson
and Smyth 2010, Permutation p-values should never be zero (the data count as one order).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import factorial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.components import Relation, double_centre
from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    TIE,
    Coefficient,
    map_cells,
    tie_near,
)
from metassay.statistics.exact_sums import (
    NOISE,
    Array,
    Index,
    Mask,
    blocks,
    mean_without_gaps,
    quotient,
    rankdata,
)


class PreparedSide(NamedTuple):
    """A side of a relation. Rows are systems, pairs of systems (tau), or a single row."""

    values: Array  # (..., rows, columns); columns are documents, or a single column
    present: Array  # (..., rows, columns) 1 where there was a score, else 0
    # whether rows are pairs of systems, as `combinations` lists them
    of_pairs: bool = False


def prepare(
    scores: Array, relation: Relation, coefficient: Coefficient
) -> PreparedSide:
    """Prepare (..., systems, documents) matrices, NaN missing, for a relation."""
    kendall = coefficient in ("kendall", "kendall_c")
    of_pairs = kendall and relation in ("system", "between_systems", "document")

    def prepare_group(a: Array, _: Array, present: Mask) -> tuple[Array, Array]:
        values, occurs = _prepare(a, present, relation, coefficient, of_pairs=of_pairs)
        return values, np.broadcast_to(occurs.astype(np.float64), values.shape)

    return PreparedSide(*map_cells(prepare_group, scores, scores), of_pairs)


def _prepare(
    scores: Array,
    present: Mask,
    relation: Relation,
    coefficient: Coefficient,
    *,
    of_pairs: bool,
) -> tuple[Array, Mask]:
    # Takes metrics that have the same cells.
    by_rank = coefficient != "pearson"
    if relation in ("system", "between_systems", "between_documents"):
        axis = -2 if relation == "between_documents" else -1
        mean = mean_without_gaps(scores, axis, keepdims=True)
        size = np.max(
            np.abs(scores), axis=(1, 2), initial=0.0, where=np.isfinite(scores)
        )
        scores = tie_near(mean.reshape(len(mean), -1), tolerance=TIE * size[:, None])
        scores = scores.reshape(mean.shape)
        present = np.isfinite(scores[0])
        # tau-b and tau-c are equal
        coefficient = "kendall" if of_pairs else coefficient
    if of_pairs:
        return _pairs(scores, present, coefficient)
    if relation == "document":
        return _standardise_columns(scores, present, by_rank=by_rank), present
    rest = double_centre(scores) if relation == "within" else scores
    return _pooled(rest, present, by_rank=by_rank), present


def _pooled(scores: Array, present: Mask, *, by_rank: bool) -> Array:
    values = np.zeros(scores.shape)
    if present.any():
        scored = np.ascontiguousarray(scores[:, present])  # summed in one order
        scored = rankdata(scored, axis=1) if by_rank else scored
        values[:, present] = _deviations(scored, np.ones(scored.shape[1], dtype=bool))
    return _unit(values)


def _standardise_columns(scores: Array, present: Mask, *, by_rank: bool) -> Array:
    scored = np.where(present, scores, np.inf if by_rank else 0.0)
    if by_rank:
        scored = np.where(present, rankdata(scored, axis=1), 0.0)
    deviations = _deviations(scored.mT, present.T).mT
    length = np.sqrt(np.sum(deviations**2, axis=1, keepdims=True))
    return _unit(quotient(deviations, length, length > 0, other=0.0))


def _pairs(
    scores: Array, present: Mask, coefficient: Coefficient
) -> tuple[Array, Mask]:
    first, second = _row_pairs(scores.shape[1])
    both = present[first] & present[second]
    scored = np.where(present, scores, 0.0)
    signs = np.sign(scored[:, first] - scored[:, second]) * both
    untied = np.count_nonzero(signs, axis=1, keepdims=True)
    length = (
        np.sqrt(untied) if coefficient == "kendall" else (untied > 0).astype(np.float64)
    )
    return _unit(quotient(signs, length, length > 0, other=0.0)), both


def _deviations(rows: Array, present: Mask) -> Array:
    # Each row less its mean; a row that is constant up to rounding becomes 0.
    count = np.maximum(present.sum(axis=-1, keepdims=True), 1)
    mean = np.sum(rows, axis=-1, keepdims=True, where=present) / count
    deviations = np.where(present, rows - mean, 0.0)
    spread = np.max(np.abs(deviations), axis=-1, keepdims=True, initial=0.0)
    return np.where(spread <= NOISE * np.abs(mean), 0.0, deviations)


def _row_pairs(systems: int) -> Index:
    return (
        np.array(list(combinations(range(systems), 2)), dtype=np.intp).reshape(-1, 2).T
    )


def _levels_and_rests(side: PreparedSide) -> tuple[Array, Array]:
    # Each row's mean, scaled so that squares sum to what levels explain, and each
    # cell's rest. Rounding errors are set to 0: the squares of all values sum to 1.
    count = side.present.sum(axis=-1, keepdims=True)
    total = side.values.sum(axis=-1, keepdims=True)
    levels = quotient(total, np.sqrt(count), count > 0, other=0.0)
    rests = side.values - side.present * total / np.maximum(count, 1)
    levels, rests = (np.where(np.abs(x) <= 10 * NOISE, 0.0, x) for x in (levels, rests))
    return levels, rests


def _unit(values: Array) -> Array:
    # Scale each matrix to length 1.
    length = np.sqrt(np.sum(values.reshape(len(values), -1) ** 2, axis=1))
    return np.asarray(values / np.where(length > 0, length, 1.0)[:, None, None])


# most orders of systems that are all tried, crossed with those of documents
EVERY_ORDER = 24
EVERY_ALONE = 5040  # the same where documents are not permuted
FEWEST = 500  # orders of the documents at least
CHUNK = 1 << 21  # numbers in memory at a time: 16 MB


class Orders(NamedTuple):
    """Orders of systems, the original first, and how many orders of documents go with them."""

    systems: Index  # (orders, systems)
    documents: int  # orders of the documents, the original included
    grid: bool  # orders of systems and of documents are crossed; else they are paired

    @property
    def n(self) -> int:
        """How many orders the test draws."""
        return len(self.systems) * (self.documents if self.grid else 1)


Exchange = Literal["both", "systems", "documents"]  # what a test puts in other orders


def draw_orders(
    shape: tuple[int, int],
    n: int,
    rng: np.random.Generator,
    exchange: Exchange = "both",
) -> Orders:
    """Draw about n orders for (systems, documents), of which one may keep its own order."""
    systems = shape[0]
    if exchange == "documents":
        return Orders(np.arange(systems, dtype=np.intp)[None], n + 1, True)
    alone = exchange == "systems"
    n_all = factorial(min(systems, 20))
    if n_all <= (EVERY_ALONE if alone else EVERY_ORDER):
        listed = list(permutations(range(systems)))
        rows: Index = np.array(listed, dtype=np.intp).reshape(n_all, systems)
        return Orders(rows, 1 if alone else 1 + min(n, max(FEWEST, n // n_all)), True)
    rows = document_orders(systems, slice(0, n + 1), rng)
    return Orders(rows, 1 if alone else n + 1, alone)


def draw_orders_within(group: Index, n: int, rng: np.random.Generator) -> Orders:
    """Draw n orders that permute systems within groups, each paired with an order of documents."""
    return Orders(_orders_within(group, slice(0, n + 1), rng), n + 1, False)


def _order_blocks(n: int, width: int) -> Iterator[slice]:
    # Slices of n orders of `width` numbers each that fit into memory.
    return (
        slice(some.start, min(some.stop, n)) for some in blocks(n, width, numbers=CHUNK)
    )


def document_orders(size: int, some: slice, rng: np.random.Generator) -> Index:
    """Draw random orders for a slice of rows; row 0 of all is the original order."""
    rows: Index = np.tile(np.arange(size, dtype=np.intp), (some.stop - some.start, 1))
    random = rows[some.start == 0 :]
    rng.permuted(random, axis=1, out=random)
    return rows


def _orders_within(group: Index, some: slice, rng: np.random.Generator) -> Index:
    # The same, within groups.
    place = np.argsort(group, kind="stable")
    keys = rng.random((some.stop - some.start, group.size))
    rows: Index = np.empty(keys.shape, dtype=np.intp)
    rows[:, place] = np.lexsort((keys, np.broadcast_to(group, keys.shape)))
    rows[: some.start == 0] = np.arange(group.size)
    return rows


def _cluster_signs(cluster: Index, some: slice, rng: np.random.Generator) -> Array:
    # (rows, documents) 1 or -1, equal for all documents of a cluster; row 0 of all is
    # 1.
    signs = np.ones((some.stop - some.start, int(cluster.max(initial=-1)) + 1))
    random = signs[some.start == 0 :]
    random[:] = 2 * rng.integers(0, 2, random.shape) - 1
    return signs[:, cluster]


def _moved_rows(systems: Index, human: PreparedSide) -> tuple[Index, Array]:
    # The new row of each row, and its sign: -1 where a pair of systems is reversed.
    if not human.of_pairs:
        to = (
            np.zeros((len(systems), 1), dtype=np.intp)
            if len(human.values) == 1
            else systems
        )
        return to, np.ones(to.shape)
    first, second = _row_pairs(systems.shape[1])
    number = np.zeros((systems.shape[1],) * 2, dtype=np.intp)
    number[first, second] = number[second, first] = np.arange(first.size)
    new_first, new_second = systems[:, first], systems[:, second]
    return number[new_first, new_second], np.where(new_first < new_second, 1.0, -1.0)


Side = Mapping[Relation, PreparedSide]

SAME = 1e-7  # statistics closer than this, in standard deviations, are equal
STILL = 1e-10  # a statistic whose spread over the orders is smaller is undefined


class Independence(NamedTuple):
    """Tests of each metric and relation."""

    statistics: Array  # (metrics, relations, orders), the original order first
    exact: bool  # whether these are all possible orders
    shrink: float = (
        1.0  # by which the data's own statistic is divided, in units of its spread
    )

    @property
    def p(self) -> Array:
        """(metrics, relations) two-sided p, not adjusted; NaN where a side is constant."""
        rows = self.statistics.reshape(-1, self.n_orders)
        p = np.full(len(rows), np.nan)
        for some in blocks(len(rows), self.n_orders):
            varying, scaled = _z_scores(rows[some])
            observed = scaled[:, :1] / self.shrink
            up = np.mean(scaled >= observed - SAME, axis=1)
            down = np.mean(scaled <= observed + SAME, axis=1)
            p[some][varying] = _two_sided(up, down)
        return p.reshape(self.statistics.shape[:2])

    @property
    def signs(self) -> Array:
        """(metrics, relations) sign of the statistic less its mean over the orders."""
        off = self.statistics[..., 0] - self.statistics.mean(axis=-1)
        return np.asarray(np.sign(np.where(np.abs(off) <= STILL, 0.0, off)))

    @property
    def unbeaten(self) -> Mask:
        """(metrics, relations) whether no order fits better than the original one, either way."""
        first = self.statistics[..., 0]
        slack = SAME * self.statistics.std(axis=-1)
        largest = self.statistics.max(axis=-1) <= first + slack
        smallest = self.statistics.min(axis=-1) >= first - slack
        return np.asarray(largest | smallest)

    @property
    def n_orders(self) -> int:
        """Number of orders tried, the original included."""
        return int(self.statistics.shape[-1])

    def select(self, places: Sequence[int]) -> "Independence":
        """Select the relations at these places; -1 is an unknown relation."""
        if list(places) == list(range(self.statistics.shape[1])):
            return self
        statistics = np.zeros((len(self.statistics), len(places), self.n_orders))
        for new, old in enumerate(places):
            if old >= 0:
                statistics[:, new] = self.statistics[:, old]
        return self._replace(statistics=statistics)

    def adjusted(self, family: Mask) -> Array:
        """Return (metrics of the family, relations) p adjusted for all these (step-down max-T)."""
        statistics = self.statistics[family]
        rows = statistics.reshape(-1, self.n_orders)
        return step_down(rows, self.shrink).reshape(statistics.shape[:2])


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
    """Test metrics, prepared together, against people, for all relations in `human`.

    `shape`: (systems, documents). All orders of few systems are tried (up to 4 systems;
    up to 7 where documents are not permuted), else random ones. Documents are permuted
    at random: `n` orders in all, at least 500 of the documents. `orders`: those to try
    instead (`draw_orders`).

    With orders of systems alone, the test is exact whatever belongs together among
    documents (topics, an order in time), if systems are exchangeable. With orders of
    documents alone, it is exact whatever belongs together among systems (versions of
    one system), if documents are exchangeable.

    The statistic is the sum of products. For texts or documents, it is divided by the
    root of the sum of squared products (and of the number of texts that both sides
    have). This is exact where the two sides are independent, and asymptotically valid
    where only their noise depends on the same systems or documents (DiCiccio and Romano
    2017, Robust permutation tests for correlation and regression coefficients).

    `cluster` (documents,): documents of a cluster are correlated and cannot be permuted
    singly, nor can clusters of unequal size. Then differences between systems are
    tested by permuting systems, and the rest by giving each cluster's contribution a
    random sign: under the null it is symmetric around 0 (in large samples;
    tests/calibration/rates.md shows the error rate with few clusters).
    """
    systems, documents = shape
    systems_only = all(side.values.shape[1] == 1 for side in human.values())
    exchange: Exchange = "systems" if systems_only else "both"
    orders = orders or draw_orders(shape, n, rng, exchange)
    k = len(next(iter(metrics.values())).values)
    size = (k, len(orders.systems) if orders.grid else 1, orders.documents)
    by_relation = {relation: np.zeros(size) for relation in human}
    n_rows = max(1, *(side.values.shape[0] for side in human.values()))
    for some in _order_blocks(orders.documents, documents * n_rows):
        block = _Permutations(orders, some)
        if cluster is None:
            block = block._replace(documents=document_orders(documents, some, rng))
        else:
            block = block._replace(signs=_cluster_signs(cluster, some, rng))
        for relation, people in human.items():
            by_relation[relation][:, :, some] = _statistics(
                metrics[relation], people, block
            )
    exact = systems_only and len(orders.systems) == factorial(min(systems, 20))
    statistics = [values.reshape(k, -1) for values in by_relation.values()]
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
    """Test independence where each document has the text of a single system (a nested design).

    `system` (documents,): the text's system. Documents are permuted within their
    system, or signs of clusters drawn, and the systems' levels permuted among the
    systems. Relations: `between_systems` (or `system`), `within`, and `global`, their
    sum.
    """
    orders = orders or draw_orders((systems, system.size), n, rng)
    k = len(next(iter(metrics.values())).values)
    shape = (k, len(orders.systems) if orders.grid else 1, orders.documents)
    values: dict[Relation, Array] = {}
    rests: dict[Relation, tuple[Array, Array]] = {}
    squares: dict[Relation, Array] = {}
    for relation, people in human.items():
        if relation in ("system", "between_systems"):
            block = _Permutations(orders, slice(0, orders.documents))
            values[relation] = np.broadcast_to(
                _statistics(metrics[relation], people, block), shape
            )
            continue
        scores, rated = metrics[relation].values.sum(axis=1), people.values.sum(axis=0)
        count = np.maximum(np.bincount(system, minlength=systems), 1)
        level = np.bincount(system, rated, systems) / count
        of_system = np.stack([np.bincount(system, row, systems) for row in scores])
        if cluster is not None:
            scores = scores - (of_system / count)[:, system]
        rests[relation] = scores, rated - level[system]
        by_order = of_system @ level[orders.systems].T
        by_order = by_order[:, :, None] if orders.grid else by_order[:, None]
        values[relation] = np.broadcast_to(by_order, shape).copy()
        squares[relation] = np.ones(shape)
    for some in _order_blocks(orders.documents, system.size):
        if cluster is None:
            ordered, signs = _orders_within(system, some, rng), None
        else:
            ordered, signs = (
                np.arange(system.size)[None],
                _cluster_signs(cluster, some, rng),
            )
        for relation, (scores, rest) in rests.items():
            permuted = rest[ordered] if signs is None else rest * signs
            values[relation][:, :, some] += (scores @ permuted.T)[:, None]
            if relation == "within" and signs is None:
                squares[relation][:, :, some] = (scores**2 @ (permuted**2).T)[:, None]
    for relation, size in squares.items():
        values[relation] = _divide_by_root(values[relation], size)
    statistics = [values[relation].reshape(k, -1) for relation in human]
    return Independence(np.stack(statistics, axis=1), exact=False)


def combine_strata(tests: Sequence[Independence], weights: Array) -> Independence:
    """Combine the tests of strata, whose orders are paired with each other.

    `weights` (strata, relations): the weight of each stratum; each statistic enters in
    units of its standard deviation over the orders, times the root of its weight.
    """
    total: Array = np.zeros_like(tests[0].statistics)
    for test, weight in zip(tests, weights, strict=True):
        deviation = test.statistics - test.statistics.mean(axis=-1, keepdims=True)
        spread = test.statistics.std(axis=-1, keepdims=True)
        scaled = quotient(deviation, spread, spread > STILL, other=0.0)
        total += np.sqrt(weight)[None, :, None] * scaled
    return Independence(total, exact=False)


def step_down(statistics: Array, shrink: float = 1.0) -> Array:
    """Return two-sided p of each row, adjusted for all rows (step-down max-T); NaN if constant.

    `statistics` (rows, orders): each statistic in each order, the original first. p is
    twice the share of orders at least as extreme in the data's direction: three systems
    in perfect order have 2/6, not 1/6. `shrink`: what the data's own statistic, in
    units of its spread over the orders, is divided by; with the root of 2, twice as
    many systems are needed for the same p.
    """
    adjusted = np.full(len(statistics), np.nan)
    varying, scaled = _z_scores(statistics)
    if varying.size:
        adjusted[varying] = _two_sided(
            _one_sided(scaled, shrink), _one_sided(-scaled, shrink)
        )
    return adjusted


def _z_scores(statistics: Array) -> tuple[Index, Array]:
    """Return the rows that vary over the orders, and their z scores."""
    deviations = statistics - statistics.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.mean(deviations * deviations, axis=1))
    varying = np.flatnonzero(spread > STILL)
    return varying, deviations[varying] / spread[varying, None]


def _two_sided(up: Array, down: Array) -> Array:
    return np.minimum(1.0, 2.0 * np.minimum(up, down))


def _one_sided(scaled: Array, shrink: float) -> Array:
    observed = scaled[:, :1] / shrink - SAME
    order = np.argsort(observed[:, 0], kind="stable")  # the smallest first
    largest = scaled[order]
    np.maximum.accumulate(largest, axis=0, out=largest)
    shares = np.mean(largest >= observed[order], axis=1)
    adjusted = np.empty(len(scaled))
    # From the largest statistic down, p never decreases.
    adjusted[order] = np.maximum.accumulate(shares[::-1])[::-1]
    return adjusted


class _Permutations(NamedTuple):
    """Orders of systems with, for each, an order or the signs of documents; None: unchanged."""

    orders: Orders
    some: slice  # which orders (of the documents, in a grid)
    documents: Index | None = None  # (orders, documents) permutations
    signs: Array | None = None  # (orders, documents) 1 or -1


def _statistics(
    metrics: PreparedSide, human: PreparedSide, block: _Permutations
) -> Array:
    # (metrics, orders of systems, orders of documents); where paired: (metrics, 1,
    # orders).
    if not human.values.size:
        return np.zeros((len(metrics.values), 1, 1))
    in_place = len(block.orders.systems) == 1  # documents alone are reordered
    grid = block.orders.grid and not in_place
    to, sign = _moved_rows(block.orders.systems, human)
    if not block.orders.grid:
        to, sign = to[block.some], sign[block.some]
    if human.values.shape[1] == 1:
        return _sum_rows(metrics.values, human.values, to, sign, grid=grid)
    if block.signs is not None:
        return _sum_with_signs(metrics, human, block.signs, to, sign, grid=grid)
    ordered = _permute_documents(human.values, block.documents)
    unsigned = np.abs(sign)
    paired = not grid and not in_place
    if paired:  # once, for the numbers and their squares
        ordered = _reorder(ordered, to, sign)
        sign = unsigned
    products = _products(metrics.values, ordered, to, sign, grid=grid)
    # Divided by the spread: systems or documents that are noisy on both sides show no
    # relation.
    np.multiply(ordered, ordered, out=ordered)
    squares = _products(metrics.values**2, ordered, to, unsigned, grid=grid)
    if not human.present.all() and not metrics.present.all():
        occurs = _permute_documents(human.present, block.documents)
        occurs = _reorder(occurs, to, unsigned) if paired else occurs
        squares *= _products(metrics.present, occurs, to, unsigned, grid=grid)
    return _divide_by_root(products, squares)


def _permute_documents(values: Array, documents: Index | None) -> Array:
    # (rows, orders, documents).
    if documents is None:
        return values[:, None].copy()
    ordered = np.empty((len(values), *documents.shape))
    return np.take(values, documents, axis=1, out=ordered, mode="clip")


def _sum_with_signs(
    metrics: PreparedSide,
    human: PreparedSide,
    signs: Array,
    to: Index,
    sign: Array,
    *,
    grid: bool,
) -> Array:
    # Differences between rows by the orders of rows, and the clusters' rests by their
    # signs.
    (levels, rests), (their_levels, their_rests) = map(
        _levels_and_rests, (metrics, human)
    )
    between = _sum_rows(levels, their_levels, to, sign, grid=grid)
    signed = their_rests[:, None] * signs
    in_place = len(to) == 1
    if not grid and not in_place:
        signed = _reorder(signed, to, sign)
    sums = between + _products(rests, signed, to, sign, grid=grid)
    squared, unsigned = human.values[:, None] ** 2, np.abs(sign)
    if not grid and not in_place:
        rows, _, columns = squared.shape
        squared = np.broadcast_to(squared, (rows, len(to), columns))
        squared = _reorder(squared, to, unsigned)
    squares = _products(metrics.values**2, squared, to, unsigned, grid=grid)
    return _divide_by_root(sums, np.broadcast_to(squares, sums.shape))


def _divide_by_root(sums: Array, squares: Array) -> Array:
    sizes = np.sqrt(np.maximum(squares, 0.0))
    return quotient(sums, sizes, sizes > STILL, other=0.0)


def _sum_rows(
    scores: Array, human: Array, to: Index, sign: Array, *, grid: bool
) -> Array:
    by_order: Array = np.einsum("kr,or->ko", scores[:, :, 0], sign * human[to, 0])
    return by_order[:, :, None] if grid else by_order[:, None]


def _reorder(values: Array, to: Index, sign: Array) -> Array:
    # Each order's rows moved, `values` (rows, orders, documents).
    if len(values) == 1:
        return values * sign.T[:, :, None]
    moved = np.take_along_axis(values, to.T[:, :, None], axis=0)
    moved *= sign.T[:, :, None]
    return moved


def _products(
    scores: Array, ordered: Array, to: Index, sign: Array, *, grid: bool
) -> Array:
    # `ordered` (rows, orders, documents): people's matrix with its documents permuted,
    # and its rows too (`_reorder`) where orders are paired.
    rows, columns = scores.shape[1:]
    n_orders = ordered.shape[1]
    if not grid:
        paired = np.zeros((len(scores), n_orders))
        for row in range(rows):
            paired += scores[:, row] @ ordered[row].T
        return paired[:, None]
    # Products of every row with every row of people's: any order of rows is a sum of
    # these.
    people = ordered.reshape(-1, columns)
    table = (scores.reshape(-1, columns) @ people.T).reshape(
        len(scores), rows, rows, n_orders
    )
    sums = np.zeros((len(scores), len(to), n_orders))
    for row in range(rows):
        sums += sign[:, row, None] * table[:, row, to[:, row]]
    return sums


class RankOrder(NamedTuple):
    """A rank correlation and its permutation p; NaN if undefined."""

    value: float  # true sign, -1 to 1
    p: float  # two-sided, of independent rankings
    smallest_p: float  # smallest possible p with these items and ties: 2 / n! or more
    n: int  # items that both rank
    exact: bool  # whether all orders were tried


def rank_order(
    x: ArrayLike,
    y: ArrayLike,
    coefficient: Coefficient,
    *,
    n_orders: int,
    rng: np.random.Generator,
) -> RankOrder:
    """Return the rank correlation of two rankings, shapes (n,), with its permutation test.

    Items with NaN on either side are left out. Undefined below 3 items or with a
    constant side. All orders are tried for up to 7 items, else `n_orders` random ones,
    the original among them.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    present = np.isfinite(a) & np.isfinite(b)
    a, b = a[present], b[present]
    if a.size < 3:  # two items always correlate 1 or -1
        return RankOrder(np.nan, np.nan, np.nan, a.size, True)
    orders = draw_orders((a.size, 1), n_orders, rng, "systems")
    values = EVERY_COEFFICIENT[coefficient](a[orders.systems], b)
    value, sizes = float(values[0]), np.abs(values)  # the original order is the first
    if np.isnan(value):
        return RankOrder(value, value, value, a.size, True)
    return RankOrder(
        value,
        float(np.mean(sizes >= abs(value) - SAME)),
        float(np.mean(sizes >= sizes.max() - SAME)),
        a.size,
        factorial(min(a.size, 20)) <= len(orders.systems),
    )
