"""The lexical baseline: a judge that counts words and checks a few values.

It understands nothing: it cannot see a paraphrase, an inference, or who is spoken of. It is there
to be beaten, to run without a model, and to make the rest of a benchmark testable.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic import Field

from metassay.judges.protocol import Pair, Verdict
from metassay.judges.reading import (
    AXES,
    NEGATIONS,
    SIDES,
    SUBJECTS,
    UNITS,
    Reading,
    read,
    read_plainly,
)
from metassay.params import Options

_ASIDE = NEGATIONS | SUBJECTS

# Pairs come grouped by premise, so few premises need to be kept; a claim comes back once per
# system, hence with many other claims in between, but is short.
_read_premise = lru_cache(maxsize=64)(read)
_read_hypothesis = lru_cache(maxsize=8192)(read)


class LexicalOptions(Options):
    """threshold: share of the hypothesis's tokens needed; window: in so many premise tokens."""

    threshold: float = Field(gt=0, le=1)
    window: int = Field(ge=1)


class _Window(NamedTuple):
    """How many of the wanted tokens are between two places of the premise, ends included."""

    found: int
    first: int
    last: int


class LexicalJudge:
    """Lexical baseline: enough of the hypothesis's words in one window, and no conflict.

    Entailed if at least `threshold` of the hypothesis's distinct content tokens (all of equal
    weight; negations and "patient" aside) are among `window` consecutive content tokens of the
    premise, and in that window nothing conflicts:

    - a number of the hypothesis is not there, or only with another unit;
    - a word that both have is negated in one and nowhere negated in the other, or the reverse;
    - a word has a side (left, right, bilateral; upper, lower) in the hypothesis and only another
      side there. Bilateral stands for left and for right, and both together for bilateral.

    Of several windows with enough words one without conflict suffices. A hypothesis without content
    tokens is judged on all its tokens, without checks for conflicts; one without any token has
    status error. It gives no probability; the explanation has the share, what was missing and what
    conflicted.
    """

    def __init__(self, options: LexicalOptions) -> None:
        self._options = options

    @property
    def signature(self) -> str:
        """What makes the verdicts."""
        options = self._options
        return f"lexical baseline,threshold={options.threshold:g},window={options.window}"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict per pair."""
        return [self._one(pair) for pair in pairs]

    def _one(self, pair: Pair) -> Verdict:
        said = _read_hypothesis(pair.hypothesis)
        wanted = [token for token in said.places if token not in _ASIDE]
        if wanted:
            return self._verdict(wanted, said, _read_premise(pair.premise))
        said = read_plainly(pair.hypothesis)
        if not said.places:
            return Verdict("error", None, explanation="the hypothesis has no words")
        return self._verdict(list(said.places), Reading(), read_plainly(pair.premise))

    def _verdict(self, wanted: list[str], said: Reading, premise: Reading) -> Verdict:
        needed = math.ceil(self._options.threshold * len(wanted) - 1e-9)
        best = _Window(0, 0, -1)
        conflicts: list[str] = []
        for window in sorted(
            _windows(wanted, premise, self._options.window), key=lambda w: -w.found
        ):
            if best.found and window.found < needed:
                break
            against = _conflicts(wanted, said, premise, window)
            if not best.found or not against:
                best, conflicts = window, against
            if not against:
                break
        entailed = best.found >= needed and not conflicts
        return Verdict(
            "ok",
            "entailed" if entailed else "not_entailed",
            explanation=_explain(wanted, needed, premise, best, conflicts),
        )


def _windows(wanted: Sequence[str], premise: Reading, width: int) -> Iterator[_Window]:
    """The windows that no other one contains, in order; none if no wanted token is there."""
    events = sorted((place, token) for token in wanted for place in premise.places.get(token, ()))
    inside: Counter[str] = Counter()
    right = 0
    for place, token in events:
        grown = False
        while right < len(events) and events[right][0] < place + width:
            inside[events[right][1]] += 1
            right += 1
            grown = True
        if grown:
            yield _Window(len(inside), place, events[right - 1][0])
        inside[token] -= 1
        if not inside[token]:
            del inside[token]


def _within(places: Sequence[int], window: _Window) -> list[int]:
    return [place for place in places if window.first <= place <= window.last]


def _conflicts(
    wanted: Sequence[str], said: Reading, premise: Reading, window: _Window
) -> list[str]:
    """What speaks against the hypothesis in this window, in words."""
    found: list[str] = []
    for token in wanted:
        if token not in said.places or token in SIDES or token in UNITS:
            continue
        there = _within(premise.places.get(token, ()), window)
        if token[0].isdigit():
            found += _number_conflict(token, said, premise, there)
        elif there:
            found += _negation_conflict(token, said, premise, there)
            found += _side_conflict(token, said, premise, there, window)
    return found


def _number_conflict(
    number: str, said: Reading, premise: Reading, there: Sequence[int]
) -> list[str]:
    if not there:
        return [f"number {number} is not there"]
    units = {said.units[place] for place in said.places[number] if place in said.units}
    others = {premise.units.get(place, "") for place in there}
    if not units or "" in others or units & others:  # a number without unit may have any
        return []
    return [
        f"{number} {' and '.join(sorted(units))} is {number} {' and '.join(sorted(others))} there"
    ]


def _negation_conflict(
    token: str, said: Reading, premise: Reading, there: Sequence[int]
) -> list[str]:
    ours = {place in said.negated for place in said.places[token]}
    theirs = {place in premise.negated for place in there}
    if ours & theirs:
        return []
    return [f"{token} is negated only {'here' if True in ours else 'there'}"]


def _side_conflict(
    token: str, said: Reading, premise: Reading, there: Sequence[int], window: _Window
) -> list[str]:
    sides = {side for place in said.places[token] for side in said.sides.get(place, ())}
    found = []
    for axis in AXES if sides else ():
        ours = sides & axis
        theirs = [premise.sides.get(place, set()) & axis for place in there]
        others = set().union(*theirs)
        if not others or ours <= _stands_for(others):
            continue
        # The side may be said elsewhere of a mention that has none by itself.
        elsewhere = all(_within(premise.places.get(side, ()), window) for side in ours)
        if all(theirs) or not elsewhere:
            found.append(
                f"{token}: {' and '.join(sorted(ours))} is {' and '.join(sorted(others))} there"
            )
    return found


def _stands_for(sides: set[str]) -> set[str]:
    if "bilateral" in sides:
        return sides | {"left", "right"}
    return sides | {"bilateral"} if {"left", "right"} <= sides else sides


def _explain(
    wanted: Sequence[str], needed: int, premise: Reading, window: _Window, conflicts: Sequence[str]
) -> str:
    missing = [token for token in wanted if not _within(premise.places.get(token, ()), window)]
    said = [f"{window.found} of {len(wanted)} tokens found, {needed} needed"]
    if missing:
        said.append(f"missing: {', '.join(missing)}")
    if conflicts:
        said.append(f"conflict: {'; '.join(conflicts)}")
    return "; ".join(said)
