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

from metassay.core.options import Options
from metassay.judges.criteria import RUBRIC, Scale, content, criterion_of
from metassay.judges.lazy_citations import judge_as_needed
from metassay.judges.protocol import TWO_WAY, JudgeKind, Judgment, Pair
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
from metassay.scoring.pairing.instruments import SUPPORT, SUPPORT_GRADE

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
    - a word has a side (left, right, bilateral, unilateral; upper, lower; medial, lateral;
      anterior, posterior; proximal, distal) in the hypothesis and only another one there.
      Bilateral stands for left and for right, both together for bilateral, and one of them for
      unilateral.

    Of several windows with enough words one without conflict suffices. A hypothesis without content
    tokens is judged on all its tokens, without checks for conflicts; one without any token has
    status error. It gives no probability; the explanation has the share, what was missing and what
    conflicted.

    A grade of support, 0 to 3, is 3 times the share of the tokens that the fullest window without
    conflict has, rounded down: 3 is all of them, 2 two thirds, 1 one third. It is 0 if every window
    has a conflict. The threshold has no part in it. Of rubrics see `_level`.
    """

    def __init__(self, options: LexicalOptions) -> None:
        self._options = options
        self.counts = Counter[str]()  # there is nothing to note

    @property
    def signature(self) -> str:
        """What makes the judgments."""
        options = self._options
        return f"lexical baseline,threshold={options.threshold:.15g},window={options.window}"

    notes: Sequence[str] = ()

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """One judgment per pair that matters."""
        return judge_as_needed(pairs, lambda asked: [self._one(pair) for pair in asked])

    def _one(self, pair: Pair) -> Judgment:
        if pair.instrument in RUBRIC:
            return _level(pair)
        answer = _ANSWERS[pair.instrument]
        said = _read_hypothesis(pair.hypothesis)
        wanted = [token for token in said.places if token not in _ASIDE]
        if wanted:
            return answer(wanted, said, _read_premise(pair.premise), self._options)
        said = read_plainly(pair.hypothesis)
        if not said.places:
            return Judgment("error", explanation="the hypothesis has no words")
        plainly = read_plainly(pair.premise)
        return answer(list(said.places), Reading(), plainly, self._options)


def _level(pair: Pair) -> Judgment:
    """The level of a scale, by the share of the premise's words that the hypothesis has.

    It sees that words are missing, and no error: it is the floor for judges of rubrics, and lets a
    rubric run without a model. The share is of the premise's distinct content tokens (of equal
    weight; negations and "patient" aside). The scale's levels are equal bands of it
    (`Scale.level`). So a text without words has the worst level. Abstained where nobody can say so
    by words: from penalties, and where a text is held against nothing.
    """
    criterion = criterion_of(pair)
    if not isinstance(criterion, Scale):
        return Judgment("abstained", explanation="violations cannot be told by words")
    wanted = _read_premise(content(pair.premise)).places.keys() - _ASIDE
    if not wanted:
        return Judgment("abstained", explanation="there are no words to hold the text against")
    found = len(wanted & _read_hypothesis(pair.hypothesis).places.keys())
    said = f"{found} of {len(wanted)} tokens found"
    return Judgment("ok", grade=float(criterion.level(found, len(wanted))), explanation=said)


def _label(
    wanted: Sequence[str], said: Reading, premise: Reading, options: LexicalOptions
) -> Judgment:
    needed = math.ceil(options.threshold * len(wanted) - 1e-9)
    window, conflicts = _best(wanted, said, premise, options.window, needed)
    label = "entailed" if window.found >= needed and not conflicts else "not_entailed"
    told = _explain(wanted, f", {needed} needed", premise, window, conflicts)
    return Judgment("ok", label, explanation=told)


def _grade(
    wanted: Sequence[str], said: Reading, premise: Reading, options: LexicalOptions
) -> Judgment:
    window, conflicts = _best(wanted, said, premise, options.window, 1)
    grade = 0 if conflicts else int(SUPPORT.high) * window.found // len(wanted)
    told = _explain(wanted, "", premise, window, conflicts)
    return Judgment("ok", grade=float(grade), explanation=told)


_ANSWERS = {**dict.fromkeys(TWO_WAY, _label), SUPPORT_GRADE.name: _grade}


def _best(
    wanted: Sequence[str], said: Reading, premise: Reading, width: int, needed: int
) -> tuple[_Window, list[str]]:
    """The fullest window without conflict that has the `needed` tokens, else the fullest one."""
    best = _Window(0, 0, -1)
    conflicts: list[str] = []
    for window in sorted(_windows(wanted, premise, width), key=lambda w: -w.found):
        if best.found and window.found < needed:
            break
        # What speaks against the hypothesis in this window, in words.
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
        against = found
        if not best.found or not against:
            best, conflicts = window, against
        if not against:
            break
    return best, conflicts


def _windows(wanted: Sequence[str], premise: Reading, width: int) -> Iterator[_Window]:
    """The windows that no other one contains, in order; none if no wanted token is there."""
    events = sorted((place, token) for token in wanted for place in premise.places.get(token, ()))
    inside: Counter[str] = Counter()
    right = 0
    for place, token in events:
        before = right
        while right < len(events) and events[right][0] < place + width:
            inside[events[right][1]] += 1
            right += 1
        if right > before:
            yield _Window(len(inside), place, events[right - 1][0])
        inside[token] -= 1
        if not inside[token]:
            del inside[token]


def _within(places: Sequence[int], window: _Window) -> list[int]:
    return [place for place in places if window.first <= place <= window.last]


def _number_conflict(
    number: str, said: Reading, premise: Reading, there: Sequence[int]
) -> list[str]:
    if not there:
        return [f"number {number} is not there"]
    units = {said.units[place] for place in said.places[number] if place in said.units}
    others = {premise.units.get(place, "") for place in there}
    if not units or "" in others or units & others:  # a number without unit may have any
        return []
    ours, theirs = (" and ".join(sorted(names)) for names in (units, others))
    return [f"{number} {ours} is {number} {theirs} there"]


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
            here, instead = (" and ".join(sorted(names)) for names in (ours, others))
            found.append(f"{token}: {here} is {instead} there")
    return found


def _stands_for(sides: set[str]) -> set[str]:
    if "bilateral" in sides:
        return sides | {"left", "right"}
    if {"left", "right"} <= sides:
        return sides | {"bilateral"}
    return sides | {"unilateral"} if sides & {"left", "right"} else sides


def _explain(
    wanted: Sequence[str], needed: str, premise: Reading, window: _Window, conflicts: Sequence[str]
) -> str:
    missing = [token for token in wanted if not _within(premise.places.get(token, ()), window)]
    said = [f"{window.found} of {len(wanted)} tokens found{needed}"]
    if missing:
        said.append(f"missing: {', '.join(missing)}")
    if conflicts:
        said.append(f"conflict: {'; '.join(conflicts)}")
    return "; ".join(said)


KIND = JudgeKind(
    options=LexicalOptions,
    make=lambda options, _resources, _members: LexicalJudge(options),
    instruments=(*_ANSWERS, *RUBRIC),
    likely=lambda _: (),
    abstains=lambda _: RUBRIC,
)
