"""Find ratings that cannot be grades: far from all others, or what stands for "not rated".

One 30 among 144 grades of 1 to 5 hides the agreement of a good metric. A scale that the
user declares is believed; where none is, such a rating is a question.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate, pairwise, product
from typing import NamedTuple

import numpy as np

from metassay.core.errors import quoted
from metassay.format.numbers import counted
from metassay.tabular.option_words import Caller
from metassay.tabular.rows import Findings, Place

# What studies write where nobody rated, beside grades that are few and far below or
# above.
CODES = frozenset(
    (-1.0, -8.0, -9.0, -88.0, -99.0, -999.0, 77.0, 88.0, 99.0, 999.0, 9999.0)
)
# Grades that are further apart, or so near to a code, are of one scale with it.
_GRADES = 10
_RARE = 0.1  # share of the ratings that may lie apart from the others
_SINGLE = 0.02  # share that a level has at most that stands above all others
_LEVELS = 3  # of the others, at least
_SCALE = 11  # levels of grades at most; with more, ratings are continuous
_MOST = 40  # levels on one side that are looked at as far ones
# Distance to the others, as a multiple of their range.
_DOUBTED = 1.0
_DOUBTED_CONTINUOUS = 2.0
_IMPOSSIBLE = 2.0
_IMPOSSIBLE_CONTINUOUS = 5.0
_LISTED = 12  # levels that a line lists


class FarRating(NamedTuple):
    """A rating that lies far from all others."""

    place: int  # among the ratings
    value: float
    impossible: bool  # whether to refuse it; else it is doubted
    others: tuple[float, float]  # the ends of the other ratings


def find_far_ratings(values: Sequence[float]) -> list[FarRating]:
    """Return the ratings of a criterion that lie beyond a large gap, farthest first.

    At most a tenth of the ratings may lie there, and the others need three levels. A
    rating is doubted if its distance to the others is more than their range, and
    impossible beyond twice their range; where the others have more than eleven levels,
    beyond twice and five times. A rare level that stands above whole numbers in a row
    is doubted, too. Counts, which most often are 0, are only
    doubted: a text with many errors is rare.

    >>> find_far_ratings([1, 2, 3, 4, 5, 4, 3, 2, 1, 30])
    [FarRating(place=9, value=30, impossible=True, others=(1, 5))]
    >>> [far.impossible for far in find_far_ratings([1, 2, 3, 4, 5, 4, 3, 2, 1, 11])]
    [False]
    >>> find_far_ratings([0, 0, 0, 1, 2, 0, 1, 0, 0, 9])[0].impossible
    False
    """
    count = Counter(values)
    levels = sorted(count)
    if len(levels) <= _LEVELS:
        return []
    first, last = _core(levels, count)
    low, high = levels[first], levels[last]
    counts = _are_counts(levels[first : last + 1], count)
    few = last - first < _SCALE
    limit = (_IMPOSSIBLE if few else _IMPOSSIBLE_CONTINUOUS) * (high - low)
    if not counts and _stands_above(levels[first : last + 1], count):
        high = levels[last - 1]
    far_ratings = []
    for place, value in enumerate(values):
        beyond = max(low - value, value - high)
        if beyond > 0:
            impossible = beyond > limit and not counts
            far_ratings.append(FarRating(place, value, impossible, (low, high)))
    return sorted(far_ratings, key=lambda far: -max(low - far.value, far.value - high))


def _are_counts(levels: Sequence[float], count: Counter[float]) -> bool:
    """Whether these are whole numbers from 0, of which 0 is the most frequent by far."""
    whole = all(float(level).is_integer() for level in levels)
    most = max(count[level] for level in levels)
    return whole and levels[0] == 0 and most == count[0] >= 2 * count[levels[-1]]


def _stands_above(levels: Sequence[float], count: Counter[float]) -> bool:
    """Whether the highest level is rare and apart, as a 9 above grades of 1 to 5.

    The others are four whole numbers or more in a row. Below them a rare level is
    usual: most texts are good.
    """
    *grades, highest = levels
    steps = {after - before for before, after in pairwise(grades)}
    if steps != {1.0} or grades[0] == 0 or not _LEVELS < len(grades) < _SCALE:
        return False
    n = sum(count[level] for level in levels)
    apart = highest - grades[-1] >= max(2.0, (grades[-1] - grades[0]) / 2)
    return apart and count[highest] <= max(1.0, _SINGLE * n)


def _core(levels: Sequence[float], count: Counter[float]) -> tuple[int, int]:
    """Return the places of the lowest and the highest level that are not far from others.

    Of all levels in a row that hold nine tenths of the ratings and are further from the
    levels below and above than their own range: those with the smallest range.
    """
    at_most = _RARE * sum(count.values())
    last = len(levels) - 1
    n_below = [0, *accumulate(count[level] for level in levels[:_MOST])]
    n_above = [0, *accumulate(count[level] for level in levels[: -_MOST - 1 : -1])]
    best = 0, last
    for below, above in product(range(len(n_below)), range(len(n_above))):
        if n_below[below] + n_above[above] > at_most:
            continue
        if last - above - below + 1 < _LEVELS:
            continue
        low, high = levels[below], levels[last - above]
        few = last - above - below < _SCALE
        least = (_DOUBTED if few else _DOUBTED_CONTINUOUS) * (high - low)
        apart_below = below == 0 or low - levels[below - 1] > least
        apart_above = above == 0 or levels[last - above + 1] - high > least
        if (
            apart_below
            and apart_above
            and high - low < levels[best[1]] - levels[best[0]]
        ):
            best = below, last - above
    return best


def find_codes(values: Collection[float]) -> Iterator[float]:
    """Yield values that seem to stand for none: far from the grades, or where there are none.

    >>> list(find_codes({1.0, 2.0, 3.0, -1.0}))
    [-1.0]
    """
    grades = [value for value in values if value not in CODES]
    if not grades:
        yield from values
    elif max(grades) - min(grades) <= _GRADES:
        low, high = min(grades) - 1, max(grades) + _GRADES
        codes = (value for value in values if value in CODES)
        yield from (value for value in codes if not low <= value <= high)


def check_ratings(
    criterion: str,
    values: Sequence[float],
    place_of: Callable[[int], Place],
    problems: Findings,
    doubts: Findings,
    caller: Caller = Caller.TERMINAL,
) -> None:
    """Add impossible ratings of a criterion to the problems, and doubted ones to the doubts.

    `place_of`: the place in the file of each of the `values`. Only for criteria whose
    scale nobody declared.
    """
    name = quoted(criterion)
    codes = set(find_codes(set(values)))
    none_rated = set(values) <= CODES
    for code in codes:
        where = "as where nobody rated" if none_rated else "far from all others"
        what = f"{name} has the value {code:g}, {where}"
        fix = (
            "leave the cell empty if nobody rated, or say"
            f" {caller.option('missing', f'{code:g}')};"
            f" if it is a grade, say {caller.option('scale')}"
        )
        problems.add(place_of(list(values).index(code)), what, fix)
    places = [place for place, value in enumerate(values) if value not in codes]
    for far in find_far_ratings([values[place] for place in places]):
        low, high = far.others
        ends = f"{_exact(min(low, far.value))}..{_exact(max(high, far.value))}"
        scale = caller.option("scale", ends, key=criterion)
        what = f"{name} has the value {far.value:g}, far from the others, {low:g} to {high:g}"
        fix = f"correct it, or leave the cell empty; if it is a grade, say {scale}"
        findings = problems if far.impossible else doubts
        findings.add(place_of(places[far.place]), what, fix)


def _exact(value: float) -> str:
    """Write a number with all of its digits, as the option `scale` reads it."""
    return np.format_float_positional(value, trim="-")


def describe_levels(criterion: str, values: Sequence[float]) -> str:
    """Return the range and the levels of a criterion, with those that stand there only once.

    >>> describe_levels("grade", [1.0, 2.0, 2.0, 5.0, 1.0, 5.0, 3.0])
    "'grade': 7 ratings from 1 to 5, 4 levels: 1, 2, 3 (once), 5"
    """
    ends = f"from {min(values):g} to {max(values):g}"
    ratings = counted(len(values), "rating")
    return f"{quoted(criterion)}: {ratings} {ends}, {list_levels(values)}"


def list_levels(values: Sequence[float]) -> str:
    """Return how many levels a criterion has, and which.

    >>> list_levels([1.0, 2.0, 2.0, 1.0, 3.0])
    '3 levels: 1, 2, 3 (once)'
    """
    count = Counter(values)
    if len(count) > _LISTED:
        return f"{len(count):,} different values"
    named = [
        f"{level:g}{' (once)' if count[level] == 1 else ''}" for level in sorted(count)
    ]
    return f"{counted(len(count), 'level')}: {', '.join(named)}"
