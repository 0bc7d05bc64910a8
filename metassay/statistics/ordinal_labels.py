"""Labels with an order, such as stars: a judge's beside people's. How near, and how biased.

People's grade of a row is the median of the raters'. Where it lies between two grades,
the row counts half for each of them: codes of people are then of pairs of grades
(`Grades.pairs`). All numbers are functions of one table (..., levels, levels) with
people in rows and the judge in columns.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.exact_sums import Array, Index, quotient
from metassay.statistics.label_rows import LabelRows, label_estimate
from metassay.statistics.shares import (
    UNDEFINED,
    Coefficient,
    Estimate,
    Tables,
    posterior_estimate,
)

# Numbers of which less is better; of a bias, 0 is best.
LOWER = ("mean_absolute_error",)
BIAS = "bias"
FEWEST = 5  # rows of a grade below which its bias is not told
# Rows that are added to the drawn rows of a grade: with a quarter, 92 % of the intervals
# of 12 rows hold the bias; with a half, 95 to 99 % of those of 6 to 50 rows.
PRIOR_OF_LEVEL = 0.5
# Labels that are added to those of a verdict, where only some rows are labelled: half of
# what classes get, as a label several grades away weighs more than one that is not equal.
# With it, the intervals of three kinds of studies hold each number of the card in 93 % or
# more (tests/calibration/label_kinds.py, where a fifth is labelled).
PRIOR_OF_VERDICT = 0.25


class MiddleGrades(NamedTuple):
    """People's grades of rows as codes, and the grades that each code stands for."""

    code: Index  # (rows,) -1 without a grade
    pairs: Index  # (codes, 2) the lower and the upper middle grade, as places of levels


def middle_grades(ratings: Array, levels: Array) -> MiddleGrades:
    """Return the median of raters' grades (raters, rows), as codes; NaN is no grade.

    >>> middle = middle_grades(np.array([[1.0, 2.0], [2.0, 2.0]]), np.array([1.0, 2.0]))
    >>> middle.code.tolist(), middle.pairs.tolist()
    ([0, 1], [[0, 1], [1, 1]])
    """
    n = np.isfinite(ratings).sum(axis=0)
    has_grade = n > 0
    ordered = np.sort(ratings, axis=0)  # NaN come last
    columns = np.arange(ratings.shape[1])
    lower = np.maximum(n - 1, 0) // 2
    upper = n // 2
    middle = np.stack(
        (
            ordered[lower, columns],
            ordered[np.minimum(upper, len(ratings) - 1), columns],
        ),
        axis=-1,
    )
    places = np.searchsorted(levels, middle[has_grade])
    pairs, code = np.unique(places, axis=0, return_inverse=True)
    codes = np.full(ratings.shape[1], -1, dtype=np.intp)
    codes[has_grade] = code.reshape(-1)
    return MiddleGrades(code=codes, pairs=pairs)


class OrdinalCard(NamedTuple):
    """What a judge's grades are worth beside people's."""

    numbers: dict[str, Estimate]  # by name
    base_rate: dict[str, float]  # of a judge that gives every row people's median grade
    levels: list[Estimate]  # the bias on rows that people give each level


def ordinal_card(
    rows: LabelRows,
    levels: ArrayLike,
    pairs: Index,
    *,
    confidence: float,
    rng: np.random.Generator,
) -> OrdinalCard:
    """Return the numbers of a judge that gives grades, each with an interval.

    `levels` (levels,): the grades, ascending. `pairs` (codes, 2): `middle_grades`.

    exact, within_one: shares of rows on which the judge gives people's grade, or one
    that is at most 1 away. mean_absolute_error. bias: the judge's mean grade less
    people's, above 0 if it is too kind. weighted_kappa_quadratic and _linear; gwet_ac2
    and krippendorff_alpha (interval) with quadratic distances; pearson. Less is better
    for mean_absolute_error alone; NaN where undefined.

    Sources: Cohen 1968, Weighted kappa; Gwet 2014, Handbook of inter-rater reliability;
    Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    values = np.asarray(levels, dtype=np.float64)
    n_labels = int(np.count_nonzero(rows.labelled))
    table = rows.table()
    has_table = bool(n_labels) and bool(np.isfinite(table).all())
    split = _split(pairs, values.size)
    constant: Array = np.zeros(table.size)
    if has_table:
        constant = _constant_table(table, split)
    numbers, base_rate = {}, {}
    for name, number in coefficients(values, n_labels).items():
        of_rows = _take_codes(number, split)
        numbers[name] = label_estimate(
            of_rows, rows, confidence=confidence, rng=rng, prior=PRIOR_OF_VERDICT
        )
        of_constant = float(of_rows(constant)) if has_table else np.nan
        # Rounded: 0 by rounding error is 0.
        base_rate[name] = round(of_constant, 12) + 0.0
    biases = [
        _bias_on(place, rows, values, split[place], confidence=confidence, rng=rng)
        for place in range(values.size)
    ]
    return OrdinalCard(numbers=numbers, base_rate=base_rate, levels=biases)


def coefficients(levels: Array, n_labels: int) -> dict[str, Coefficient]:
    """Return the numbers of tables (..., levels, levels), by name."""
    distance = np.abs(levels[:, None] - levels)
    gap = levels[None, :] - levels[:, None]

    def mean_of(values: Array) -> Coefficient:
        return lambda table: quotient(
            (table * values).sum(axis=(-1, -2)), table.sum(axis=(-1, -2))
        )

    return {
        "exact": mean_of((distance == 0).astype(np.float64)),
        "within_one": mean_of((distance <= 1).astype(np.float64)),
        "mean_absolute_error": mean_of(distance),
        BIAS: mean_of(gap),
        "weighted_kappa_quadratic": lambda table: weighted_kappa(table, distance**2),
        "weighted_kappa_linear": lambda table: weighted_kappa(table, distance),
        "gwet_ac2": lambda table: gwet_ac2(table, distance**2),
        "krippendorff_alpha": lambda table: weighted_alpha(
            table, distance**2, n_labels
        ),
        "pearson": lambda table: pearson(table, levels),
    }


_OF_TWO: Array = np.array([0.0, 1.0])
MORE_IS_BETTER = tuple(
    name for name in coefficients(_OF_TWO, 1) if name not in (*LOWER, BIAS)
)


def weighted_kappa(table: Tables, cost: Array) -> Tables:
    """Return Cohen's weighted kappa; `cost` (levels, levels) of two grades, 0 if they are equal.

    NaN where judge and people give one and the same grade only.
    """
    total = table.sum(axis=(-1, -2))
    observed = (table * cost).sum(axis=(-1, -2)) * total
    people, judge = table.sum(axis=-1), table.sum(axis=-2)
    by_chance = _chance_cost(people, judge, cost)
    return np.asarray(1.0 - quotient(observed, by_chance))


def _chance_cost(people: Tables, judge: Tables, cost: Array) -> Tables:
    """Return the cost (...) to expect of grades with these shares (..., levels) by chance."""
    pairs = people[..., :, None] * judge[..., None, :]
    return np.asarray((pairs * cost).sum(axis=(-1, -2)))


def gwet_ac2(table: Tables, cost: Array) -> Tables:
    """Return Gwet's AC2: weighted agreement beyond chance; NaN without rows.

    Chance is the sum of p (1 - p), where p is the mean of judge's and people's shares
    of a grade, times the sum of all weights, by levels times levels less 1.
    """
    q = table.shape[-1]
    weight = 1.0 - cost / np.max(cost)
    total = table.sum(axis=(-1, -2))
    observed = quotient((table * weight).sum(axis=(-1, -2)), total)
    mean = (table.sum(axis=-1) + table.sum(axis=-2)) / 2.0
    p = quotient(mean, total[..., None])
    by_chance = (p * (1.0 - p)).sum(axis=-1) * np.sum(weight) / (q * (q - 1))
    return quotient(observed - by_chance, 1.0 - by_chance)


def weighted_alpha(table: Tables, cost: Array, n: int) -> Tables:
    """Return Krippendorff's alpha of two observers of `n` rows by the cost of two grades."""
    total = table.sum(axis=(-1, -2))
    observed = quotient((table * cost).sum(axis=(-1, -2)), total)
    mean = (table.sum(axis=-1) + table.sum(axis=-2)) / 2.0
    p = quotient(mean, total[..., None])
    by_chance = _chance_cost(p, p, cost) * (2.0 * n) / (2.0 * n - 1.0)
    return np.asarray(1.0 - quotient(observed, by_chance))


def pearson(table: Tables, levels: Array) -> Tables:
    """Return Pearson's correlation of judge's and people's grades; NaN where one is constant."""
    total = table.sum(axis=(-1, -2))
    shares = quotient(table, total[..., None, None])
    people, judge = shares.sum(axis=-1), shares.sum(axis=-2)
    of_people = (people * levels).sum(axis=-1)
    of_judge = (judge * levels).sum(axis=-1)
    products = np.outer(levels, levels)
    together = (shares * products).sum(axis=(-1, -2)) - of_people * of_judge
    spread_of_people = (people * levels**2).sum(axis=-1) - of_people**2
    spread_of_judge = (judge * levels**2).sum(axis=-1) - of_judge**2
    product = spread_of_people * spread_of_judge
    # A spread this small is rounding error.
    least = 1e-9 * (levels[-1] - levels[0]) ** 2
    varied = (np.real(spread_of_people) > least) & (np.real(spread_of_judge) > least)
    return quotient(together, np.sqrt(np.where(varied, product, 1.0)), varied)


def _bias_on(
    place: int,
    rows: LabelRows,
    levels: Array,
    share: Array,
    *,
    confidence: float,
    rng: np.random.Generator,
) -> Estimate:
    """Return the judge's mean less a grade, on the rows that people give this grade.

    `share` (codes,): how much of a row with each code counts for the grade. The interval
    is of these rows alone: how sure it is depends on their number. NaN below FEWEST.
    """
    of_rows = np.where(rows.labelled, share[np.maximum(rows.people, 0)], 0.0)
    chosen = of_rows > 0
    n = int(np.count_nonzero(chosen))
    if n < FEWEST or rows.lacking():
        return Estimate(*UNDEFINED, n, float(n))
    weight = (of_rows * rows.weight)[chosen]
    is_equal = bool(np.all(weight == weight[0]))
    gap = levels - levels[place]

    def mean_gap(table: Tables) -> Tables:
        return quotient((table * gap).sum(axis=-1), table.sum(axis=-1))

    return posterior_estimate(
        mean_gap,
        rows.judge[chosen],
        rows.cluster[chosen],
        cells=levels.size,
        prior=PRIOR_OF_LEVEL / levels.size,
        confidence=confidence,
        rng=rng,
        weight=None if is_equal else weight,
    )


def _split(pairs: Index, n: int) -> Array:
    """Return the share of each code's rows that count for each level, (levels, codes)."""
    shares = np.zeros((n, len(pairs)))
    for side in range(2):
        np.add.at(shares, (pairs[:, side], np.arange(len(pairs))), 0.5)
    return shares


def _take_codes(number: Coefficient, split: Array) -> Coefficient:
    """Return the number as a function of tables (..., codes * levels)."""
    n_levels, n_codes = split.shape
    is_plain = n_codes == n_levels and bool(np.all(np.diag(split) == 1))

    def sum_codes(table: Tables) -> Tables:
        square = table.reshape(*table.shape[:-1], n_codes, n_levels)
        if is_plain:  # no row lies between two grades
            return number(square)
        # Not by `@`, whose order of summation depends on the processor.
        return number((split[:, :, None] * square[..., None, :, :]).sum(axis=-2))

    return sum_codes


def _constant_table(table: Array, split: Array) -> Array:
    """Return the table (codes * levels,) of a judge that always gives people's median grade."""
    by_code = table.sum(axis=1)
    by_level = (split * by_code).sum(axis=1)
    median = int(np.searchsorted(np.cumsum(by_level), by_level.sum() / 2.0))
    constant = np.zeros_like(table)
    constant[:, median] = by_code
    return constant.reshape(-1)
