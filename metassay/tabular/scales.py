"""Find the direction of a metric or criterion, and the scale of ratings.

Every command finds directions by the same rule, and prints it: first by the user's
options, then by a column `better` of the file, by its cells (a pass is better than a fail,
the first rank than the second), by Metassay's list of metrics, and by the name.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from metassay.core.errors import quoted, shown
from metassay.tabular.decoding import finite_number
from metassay.tabular.name_patterns import NEITHER, TURNED, WORSE
from metassay.tabular.option_words import Caller

if TYPE_CHECKING:
    from metassay.core.options import Criterion

_ENDS = re.compile(r"(?<![\d.])(\d+)\s*(?:-|–|\.\.|to|bis)\s*(\d+)(?![\d.])")
_GRADES = 10  # the longest range of whole numbers that are grades
_RANGE = re.compile(r"(-?[\d.]+)\.\.(-?[\d.]+)")
_SHOWN = 30  # names in a line
_WHICH = {
    "higher": "more is better",
    "lower": "less is better",
    "neither": "neither more nor less is better",
}
BY_USER, BY_FILE = "as you say", "as the file says"
BY_WORDS, BY_RANKS = "a pass is better than a fail", "ranks, of which 1 is the best"
LISTED, BY_NAME = "by Metassay's list of metrics", "by the name"


class Direction(NamedTuple):
    """`higher`, `lower` or `neither`, and the reason; `problem` (what, fix) if it is unclear."""

    better: str
    why: str
    problem: tuple[str, str] | None = None


def direction(
    names: Sequence[str],
    by_user: Mapping[str, Collection[str]],
    known: Mapping[str, str],
    *,
    by_file: Mapping[str, str] | None = None,
    by_cells: Mapping[str, Direction] | None = None,
    criterion: bool = False,
    caller: Caller = Caller.TERMINAL,
) -> Direction:
    """Find the direction of a metric or criterion by its names, the file's first.

    `by_user`: the names that the user gives to `higher`, `lower` and `neither`;
    `by_file`: what the file's column `better` says of a metric; `by_cells`: what
    `directions_of_cells` returns; `known`: the directions of Metassay's metrics. A
    criterion is never neither.
    """
    name = names[0]
    directions = [
        better for better, metrics in by_user.items() if {*names} & {*metrics}
    ]
    if len(directions) > 1:
        first, second = (caller.option(better) for better in directions[:2])
        what = f"{quoted(name)} is named by {first} and {second}"
        return Direction(directions[0], BY_USER, (what, "name it by one of them"))
    if directions:
        better, why = directions[0], BY_USER
    elif by_file and name in by_file:
        better, why = by_file[name], BY_FILE
    elif by_cells and name in by_cells:
        return by_cells[name]
    elif not criterion and name in known:
        better, why = known[name], LISTED
    else:
        better, why = guess_direction(name), BY_NAME
    higher = caller.option("higher", name)
    if criterion and better == "neither":
        what = (
            f"{quoted(name)} is a criterion, and its name does not say whether more of it"
            " is better"
        )
        options = f"{higher} or {caller.option('lower', name)}"
        fix = f"say {options}, or leave its column out of the file"
        return Direction("higher", why, (what, fix))
    if not better:
        what = f"the name {quoted(name)} does not tell whether more is better"
        fix = f"say {higher} if more is better, else {caller.option('lower')}"
        return Direction("higher", why, (what, fix))
    return Direction(better, why)


def directions_of_cells(
    verdicts: Collection[str],
    rankings: Collection[str],
    unnamed: Collection[str],
    likely: Collection[str] = (),
    caller: Caller = Caller.TERMINAL,
) -> dict[str, Direction]:
    """Return the directions that cells tell, whatever metrics and criteria are called.

    `verdicts`: those whose cells are pass and fail or the like. `rankings`: those whose
    values rank the systems of each document from 1 on; the first rank is the best if the
    criterion has no name (`unnamed`), and a question if its name says nothing of ranks.
    `likely` may be rankings with ties, which is a question where no name answers it.
    """
    directions = {name: Direction("higher", BY_WORDS) for name in verdicts}
    for name in rankings:
        if name in unnamed:
            directions[name] = Direction("lower", BY_RANKS)
        elif guess_direction(name) != "lower":
            what = f"{quoted(name)} has each of 1, 2, 3 ... once per document, as ranks have"
            directions[name] = Direction(
                "higher", BY_RANKS, (what, _which_end(name, caller))
            )
    for name in likely:
        if name in unnamed:
            what = (
                f"{quoted(name)} has each of 1, 2, 3 ... once in most documents, as ranks"
                " with ties have"
            )
            directions[name] = Direction(
                "higher", BY_RANKS, (what, _which_end(name, caller))
            )
    return directions


def _which_end(name: str, caller: Caller) -> str:
    return (
        f"say {caller.option('lower', name)} if 1 is the best, or"
        f" {caller.option('higher', name)} if it is the worst"
    )


def direction_lines(directions: Mapping[str, Direction], what: str) -> Iterator[str]:
    """Yield a line for each direction and reason, with the names of metrics or criteria."""
    for better, words in _WHICH.items():
        for why in (BY_USER, BY_FILE, BY_WORDS, BY_RANKS, LISTED, BY_NAME):
            if names := [
                name for name, end in directions.items() if end[:2] == (better, why)
            ]:
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                yield f"{what}, {words} ({why}): {', '.join(map(quoted, names[:_SHOWN]))}{more}"


class Scales(NamedTuple):
    """The scales of criteria by `--scale`, by name."""

    ranges: dict[str, tuple[float, float]]  # the ends
    words: dict[str, list[str]]  # the grades in words, in order
    kinds: dict[str, str]  # nominal, ordinal, interval, count


UNDECLARED = Scales({}, {}, {})


def parse_scales(
    options: Iterable[tuple[str, str]],
    problems: list[str],
    caller: Caller = Caller.TERMINAL,
) -> Scales:
    """Read the values of `--scale` for each criterion; faults are added to `problems`."""
    from metassay.core.options import SCALES  # slow; who wants a direction needs none

    scales = Scales({}, {}, {})
    for name, value in options:
        ends = _RANGE.fullmatch(value)
        grades = [word.strip() for word in value.split("<")]
        low, high = (finite_number(ends[n]) for n in (1, 2)) if ends else (None, None)
        if low is not None and high is not None and low < high:
            scales.ranges[name] = (low, high)
        elif len(grades) > 1 and all(grades) and len(set(grades)) == len(grades):
            scales.words[name] = grades
        elif value in SCALES:
            scales.kinds[name] = value
        else:
            typed = caller.option("scale", blank=shown(f"{name}={value}"))
            ends_of = caller.option("scale", "1..5", key="fluency")
            grades_of = caller.option("scale", "poor<fair<good", key="fluency")
            problems.append(
                f"{typed}: no such scale; choose from {', '.join(SCALES)}; or write its"
                f" ends, such as {ends_of}, or the grades, of which the first counts 1,"
                f" such as {grades_of}"
            )
    return scales


def guess_direction(name: str) -> str:
    """Guess from the name whether more is better: higher, lower, neither; "" if unclear."""
    folded = name.casefold()
    if WORSE.search(folded):
        return "" if TURNED.search(folded) else "lower"
    return "neither" if NEITHER.search(folded) else "higher"


def ends_in_name(name: str, values: Sequence[float]) -> tuple[float, float] | None:
    """Return the ends of a scale in a name such as `Fluency (1-5)`, if all values lie within."""
    match = _ENDS.search(name)
    low, high = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    fits = low < high and all(low <= value <= high for value in values)
    return (low, high) if fits else None


def guess_scale(
    values: Sequence[float], ends: tuple[float, float] | None, *, lower: bool
) -> "Criterion":
    """Return a scale with these ends, or else from the lowest to the highest value.

    Whole numbers are grades (ordinal) up to 10 apart, and kinds (nominal) from 0 to 1.
    If all values are equal, the other end is the next whole number below, or 1 above 0.
    """
    from metassay.core.options import Criterion

    low, high = ends or (min(values, default=0.0), max(values, default=1.0))
    if low == high:
        low, high = (0.0, 1.0) if low in (0.0, 1.0) else (low - 1, high)
    whole = all(value.is_integer() for value in (low, high, *values))
    nominal = whole and (low, high) == (0.0, 1.0)
    scale: Literal["nominal", "ordinal", "interval"] = "interval"
    if nominal:
        scale = "nominal"
    elif whole and high - low <= _GRADES:
        scale = "ordinal"
    return Criterion(
        low=low,
        high=high,
        better="lower" if lower else "higher",
        scale=scale,
    )
