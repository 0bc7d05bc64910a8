"""Which end of a metric or criterion is better, and the scale of what people rated.

There is one rule for directions, by which every command goes and which it prints: what its user
says; what Metassay's list of metrics says; what the name says.
"""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from metassay.core.errors import shown
from metassay.core.options import SCALES, Criterion
from metassay.tabular.column_synonyms import pattern
from metassay.tabular.decoding import finite_number

_WORSE, _TURNED, _NEITHER = map(pattern, ("worse", "turned", "neither"))
_ENDS = re.compile(r"(?<![\d.])(\d+)\s*(?:-|–|\.\.|to|bis)\s*(\d+)(?![\d.])")
_GRADES = 10  # whole numbers up to so far apart are grades
_RANGE = re.compile(r"(-?[\d.]+)\.\.(-?[\d.]+)")
_SHOWN = 30  # names in a line
_WHICH = {
    "higher": "more is better",
    "lower": "less is better",
    "neither": "neither more nor less is better",
}
SAID, LISTED, BY_NAME = "as you say", "by Metassay's list of metrics", "by the name"


class Direction(NamedTuple):
    """`higher`, `lower` or `neither`, and what says so; `problem` where nothing does."""

    better: str
    why: str
    problem: tuple[str, str] | None = None


def direction(
    names: Sequence[str],
    said: Mapping[str, Collection[str]],
    known: Mapping[str, str],
    *,
    criterion: bool = False,
) -> Direction:
    """Of one metric or criterion, by its names, of which the first is the file's.

    `said`: the names by `higher`, `lower` and `neither`; `known`: the directions of metrics. A
    criterion is never neither.
    """
    name = names[0]
    named = [better for better, told in said.items() if {*names} & {*told}]
    if len(named) > 1:
        what = f"{shown(name)} is named by --{named[0]} and --{named[1]}"
        return Direction(named[0], SAID, (what, "name it by one of them"))
    options = f"--higher {shlex.quote(name)} or --lower {shlex.quote(name)}"
    if named:
        better, why = named[0], SAID
    elif not criterion and name in known:
        return Direction(known[name], LISTED)
    else:
        better, why = guess_direction(name), BY_NAME
    if criterion and better == "neither":
        what = f"{shown(name)} is a criterion, and nothing tells whether more of it is better"
        return Direction(
            "higher", why, (what, f"say {options}, or leave its column out of the file")
        )
    if not better:
        what = f"the name {shown(name)} does not tell whether more is better"
        fix = f"say --higher {shlex.quote(name)} if more is better, else --lower"
        return Direction("higher", why, (what, fix))
    return Direction(better, why)


def direction_lines(found: Mapping[str, Direction], what: str) -> Iterator[str]:
    """What was decided of metrics, or of criteria, and why; a line for each of both."""
    for better, words in _WHICH.items():
        for why in (SAID, LISTED, BY_NAME):
            names = [name for name, one in found.items() if (one.better, one.why) == (better, why)]
            if names:
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                yield f"{what}, {words} ({why}): {', '.join(map(shown, names[:_SHOWN]))}{more}"


class Scales(NamedTuple):
    """What `--scale` says of criteria, by name."""

    ranges: dict[str, tuple[float, float]]  # the ends
    words: dict[str, list[str]]  # the grades in words, in order
    kinds: dict[str, str]  # nominal, ordinal, interval, count


def parse_scales(said: Iterable[tuple[str, str]], problems: list[str]) -> Scales:
    """Read what `--scale` says of each criterion; faults go to `problems`."""
    found = Scales({}, {}, {})
    for name, written in said:
        ends = _RANGE.fullmatch(written)
        grades = [word.strip() for word in written.split("<")]
        low, high = (finite_number(ends[n]) for n in (1, 2)) if ends else (None, None)
        if low is not None and high is not None and low < high:
            found.ranges[name] = (low, high)
        elif len(grades) > 1 and all(grades) and len(set(grades)) == len(grades):
            found.words[name] = grades
        elif written in SCALES:
            found.kinds[name] = written
        else:
            problems.append(
                f"--scale {shown(f'{name}={written}')}: no such scale; choose from"
                f" {', '.join(SCALES)}; or write CRITERION=LOW..HIGH, such as fluency=1..5, or the"
                " grades, of which the first counts 1, such as fluency=poor<fair<good"
            )
    return found


def guess_direction(name: str) -> str:
    """Whether more is better, by the name: higher, lower, neither; "" where it may be both."""
    said = name.casefold()
    if _WORSE.search(said):
        return "" if _TURNED.search(said) else "lower"
    return "neither" if _NEITHER.search(said) else "higher"


def ends_in_name(name: str, values: Sequence[float]) -> tuple[float, float] | None:
    """The ends of a scale that the name says, as `Fluency (1-5)` does, if the values fit them."""
    found = _ENDS.search(name)
    low, high = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
    fits = low < high and all(low <= value <= high for value in values)
    return (low, high) if fits else None


def guess_scale(
    values: Sequence[float], said: tuple[float, float] | None, *, lower: bool
) -> Criterion:
    """A scale from the lowest to the highest value, if its ends are not said.

    Whole numbers are grades (ordinal) up to 10 apart, and kinds (nominal) from 0 to 1. Values that
    are all equal get the next whole number below as their other end, or 1 above 0.
    """
    low, high = said or (min(values, default=0.0), max(values, default=1.0))
    if low == high:
        low, high = (0.0, 1.0) if low in (0.0, 1.0) else (low - 1, high)
    whole = all(value.is_integer() for value in (low, high, *values))
    nominal = whole and (low, high) == (0.0, 1.0)
    ordinal = whole and high - low <= _GRADES
    return Criterion(
        low=low,
        high=high,
        better="lower" if lower else "higher",
        scale="nominal" if nominal else "ordinal" if ordinal else "interval",
    )
