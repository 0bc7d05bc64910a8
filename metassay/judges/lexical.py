"""The lexical baseline: a judge that counts words and checks a few values.

It does not understand text: it sees no paraphrase, no inference, and not who is meant.
It is a baseline to beat, runs without a model, and makes the rest of a benchmark
testable.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic import Field

from metassay.core.options import Options
from metassay.judges.assertion import (
    Manner,
    Sentence,
    claims_of,
    is_disordered,
    select_alike,
)
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

VERSION = 4  # raised by whoever changes results of this module's kinds

_IGNORED = NEGATIONS | SUBJECTS

# Pairs are grouped by premise, so few premises need caching. A claim, which is short,
# comes back once per system, with many other claims in between.
_read_premise = lru_cache(maxsize=64)(read)
_read_hypothesis = lru_cache(maxsize=8192)(read)


class LexicalOptions(Options):
    """threshold: needed share of the hypothesis's tokens; window: its width in premise tokens."""

    threshold: float = Field(gt=0, le=1)
    window: int = Field(ge=1)


class _Window(NamedTuple):
    """Places `first` to `last` of the premise, with its number of the hypothesis's tokens."""

    matches: int
    first: int
    last: int


class _SentenceAnswer(NamedTuple):
    """The judgment of a sentence, and how many of its tokens the premise has.

    `has_conflict`: the fullest part of the premise that has enough, or has most, says
    something else.
    """

    judgment: Judgment
    matches: int
    tokens: int
    has_conflict: bool


class LexicalJudge:
    """Lexical baseline: entailed if a window has enough of the hypothesis's words, no conflict.

    A pair is entailed if at least `threshold` of the hypothesis's distinct content
    tokens (of equal weight; negations and "patient" ignored) are among `window`
    consecutive content tokens of the premise, and that window has no conflict. These
    are conflicts:

    - the window lacks a number of the hypothesis, or has it only with another unit;
    - a shared word is always negated in one text and never in the other;
    - the premise has nearly all words, but those that are neighbours in the hypothesis
      are nowhere near each other (`assertion.is_disordered`);
    - a word has a side (left, right, bilateral, unilateral; upper, lower; medial,
      lateral; anterior, posterior; proximal, distal) in the hypothesis and only another
      side in the window. Bilateral includes left and right, both together are
      bilateral, and either is unilateral.

    Each sentence of the hypothesis is read by itself, against what the premise says in
    the same manner (`assertion.select_alike`). Of several sentences, none may have a
    conflict, and all together need the threshold: of a short sentence in other words
    the premise may have no token.

    One window with enough words and no conflict suffices. A hypothesis without content
    tokens is judged on all its tokens, without checks for conflicts; one without any
    token has status error. There is no probability; the explanation has the share, the
    missing words and the conflicts.

    A grade of support, 0 to 3, needs no threshold: it is 3 times the share of tokens in
    the fullest window without conflict, rounded down, or 0 if there is none. For
    rubrics see `_level`.
    """

    def __init__(self, options: LexicalOptions) -> None:
        self._options = options
        self.counts = Counter[str]()  # none: the judge has no notes

    @property
    def signature(self) -> str:
        """All that can change a judgment."""
        options = self._options
        return f"lexical baseline,threshold={options.threshold:.15g},window={options.window}"

    notes: Sequence[str] = ()

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """Return one judgment per pair; None for a citation that makes no difference."""
        return judge_as_needed(
            pairs, lambda needed: [self._answer(pair) for pair in needed]
        )

    def _answer(self, pair: Pair) -> Judgment:
        if pair.instrument in RUBRIC:
            return _level(pair)
        claims = claims_of(pair.hypothesis)
        if not claims:
            return Judgment("error", explanation="the hypothesis has no words")
        answers = [self._answer_claim(pair, claim) for claim in claims]
        return _combine(answers, self._options.threshold)

    def _answer_claim(self, pair: Pair, claim: Sentence) -> _SentenceAnswer:
        if claim.manner is Manner.ASSERTED and not claim.is_rewritten:
            whole = self._compare(pair.instrument, pair.premise, claim.text)
            answer = whole.judgment
            is_supported = answer.label == "entailed" or bool(answer.grade)
            # What the premise does not have at all, it does not assert; only a denial
            # ("It is wrong that ...") becomes a negation when its frame is read.
            if not is_supported and not _read_hypothesis(claim.text).negated:
                return whole
            asserted = select_alike(pair.premise, claim)
            if asserted == pair.premise:
                return whole
            return self._compare(pair.instrument, asserted, claim.text)
        alike = select_alike(pair.premise, claim)
        return self._compare(pair.instrument, alike, claim.text)

    def _compare(self, instrument: str, source: str, claim: str) -> _SentenceAnswer:
        hypothesis = _read_hypothesis(claim)
        premise = _read_premise(source)
        tokens = [token for token in hypothesis.places if token not in _IGNORED]
        if not tokens:
            tokens = list(read_plainly(claim).places)
            hypothesis = Reading()
            premise = read_plainly(source)
        if not tokens:
            error = Judgment("error", explanation="the hypothesis has no words")
            return _SentenceAnswer(
                judgment=error, matches=0, tokens=0, has_conflict=False
            )
        is_grade = instrument == SUPPORT_GRADE.name
        needed = 1 if is_grade else _least_matches(self._options.threshold, len(tokens))
        window, conflicts = _best(
            tokens, hypothesis, premise, self._options.window, needed
        )
        is_found = not conflicts and window.matches >= needed
        if is_found and is_disordered(hypothesis, premise):
            conflicts = ["the words are in no order there"]
        note = "" if is_grade else f", {needed} needed"
        explanation = _explain(tokens, note, premise, window, conflicts)
        if is_grade:
            grade = (
                0 if conflicts else int(SUPPORT.high) * window.matches // len(tokens)
            )
            judgment = Judgment("ok", grade=float(grade), explanation=explanation)
        else:
            is_entailed = window.matches >= needed and not conflicts
            label = "entailed" if is_entailed else "not_entailed"
            judgment = Judgment("ok", label, explanation=explanation)
        return _SentenceAnswer(
            judgment=judgment,
            matches=window.matches,
            tokens=len(tokens),
            has_conflict=bool(conflicts),
        )


def _least_matches(threshold: float, n_tokens: int) -> int:
    return math.ceil(threshold * n_tokens - 1e-9)


def _combine(answers: Sequence[_SentenceAnswer], threshold: float) -> Judgment:
    """Return the judgment of a hypothesis of these sentences.

    No sentence may have a conflict, and all together need the threshold. A grade is the
    mean of the sentences' grades, rounded down.
    """
    judgments = [each.judgment for each in answers]
    readable = [judgment for judgment in judgments if judgment.status == "ok"]
    if len(judgments) == 1 or not readable:
        return judgments[0]
    grades = [judgment.grade for judgment in readable if judgment.grade is not None]
    matches = sum(each.matches for each in answers)
    n_tokens = sum(each.tokens for each in answers)
    share = f"{matches} of {n_tokens} tokens of {len(answers)} sentences found"
    if grades:
        grade = float(sum(grades) // len(grades))
        return Judgment("ok", grade=grade, explanation=share)
    for number, each in enumerate(answers, start=1):
        if each.has_conflict:
            where = f"sentence {number} of {len(answers)}"
            explanation = f"{where}: {each.judgment.explanation}"
            return Judgment("ok", "not_entailed", explanation=explanation)
    needed = _least_matches(threshold, n_tokens)
    label = "entailed" if matches >= needed else "not_entailed"
    return Judgment("ok", label, explanation=f"{share}, {needed} needed")


def _level(pair: Pair) -> Judgment:
    """Return the level of a scale by the share of the premise's words that the hypothesis has.

    It sees missing words but no errors: it is a baseline for judges of rubrics, and
    lets a rubric run without a model. The share is of the premise's distinct content
    tokens (of equal weight; negations and "patient" ignored). The scale's levels are
    equal bands of the share (`Scale.level`); a text without words has the worst. It
    abstains from penalties, and if the premise has no words.
    """
    criterion = criterion_of(pair)
    if not isinstance(criterion, Scale):
        return Judgment("abstained", explanation="violations cannot be told by words")
    tokens = _read_premise(content(pair.premise)).places.keys() - _IGNORED
    if not tokens:
        return Judgment(
            "abstained", explanation="there are no words to hold the text against"
        )
    matches = len(tokens & _read_hypothesis(pair.hypothesis).places.keys())
    explanation = f"{matches} of {len(tokens)} tokens found"
    grade = float(criterion.level(matches, len(tokens)))
    return Judgment("ok", grade=grade, explanation=explanation)


def _best(
    tokens: Sequence[str],
    hypothesis: Reading,
    premise: Reading,
    width: int,
    needed: int,
) -> tuple[_Window, list[str]]:
    """Return the fullest window with the `needed` tokens and no conflict, else the fullest."""
    best = _Window(0, 0, -1)
    best_conflicts: list[str] = []
    for window in sorted(_windows(tokens, premise, width), key=lambda w: -w.matches):
        if best.matches and window.matches < needed:
            break
        conflicts: list[str] = []
        for token in tokens:
            if token not in hypothesis.places or token in SIDES or token in UNITS:
                continue
            places = _select_within(premise.places.get(token, ()), window)
            if token[0].isdigit():
                conflicts += _number_conflict(token, hypothesis, premise, places)
            elif places:
                conflicts += _negation_conflict(token, hypothesis, premise, places)
                conflicts += _side_conflict(token, hypothesis, premise, places, window)
        if not best.matches or not conflicts:
            best = window
            best_conflicts = conflicts
        if not conflicts:
            break
    return best, best_conflicts


def _windows(tokens: Sequence[str], premise: Reading, width: int) -> Iterator[_Window]:
    """Yield the windows that no other contains, in order; none if the premise has no token."""
    events: list[tuple[int, str]] = []
    for token in tokens:
        events += [(place, token) for place in premise.places.get(token, ())]
    events.sort()
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


def _select_within(places: Sequence[int], window: _Window) -> list[int]:
    return [place for place in places if window.first <= place <= window.last]


def _number_conflict(
    number: str, hypothesis: Reading, premise: Reading, places: Sequence[int]
) -> list[str]:
    if not places:
        return [f"number {number} is not there"]
    units = {
        hypothesis.units[i] for i in hypothesis.places[number] if i in hypothesis.units
    }
    others = {premise.units.get(i, "") for i in places}
    if not units or "" in others or units & others:  # a number without a unit fits any
        return []
    ours, theirs = (" and ".join(sorted(names)) for names in (units, others))
    return [f"{number} {ours} is {number} {theirs} there"]


def _negation_conflict(
    token: str, hypothesis: Reading, premise: Reading, places: Sequence[int]
) -> list[str]:
    ours = {i in hypothesis.negated for i in hypothesis.places[token]}
    theirs = {i in premise.negated for i in places}
    if ours & theirs:
        return []
    return [f"{token} is negated only {'here' if True in ours else 'there'}"]


def _side_conflict(
    token: str,
    hypothesis: Reading,
    premise: Reading,
    places: Sequence[int],
    window: _Window,
) -> list[str]:
    sides: set[str] = set()
    for place in hypothesis.places[token]:
        sides.update(hypothesis.sides.get(place, ()))
    conflicts = []
    for axis in AXES if sides else ():
        ours = sides & axis
        theirs = [premise.sides.get(i, set()) & axis for i in places]
        others = set().union(*theirs)
        if not others or ours <= _implied_sides(others):
            continue
        # A mention without a side may get it from elsewhere in the window.
        elsewhere = all(
            _select_within(premise.places.get(side, ()), window) for side in ours
        )
        if all(theirs) or not elsewhere:
            side, instead = (" and ".join(sorted(names)) for names in (ours, others))
            conflicts.append(f"{token}: {side} is {instead} there")
    return conflicts


def _implied_sides(sides: set[str]) -> set[str]:
    if "bilateral" in sides:
        return sides | {"left", "right"}
    if {"left", "right"} <= sides:
        return sides | {"bilateral"}
    return sides | {"unilateral"} if sides & {"left", "right"} else sides


def _explain(
    tokens: Sequence[str],
    note: str,
    premise: Reading,
    window: _Window,
    conflicts: Sequence[str],
) -> str:
    missing = [
        token
        for token in tokens
        if not _select_within(premise.places.get(token, ()), window)
    ]
    parts = [f"{window.matches} of {len(tokens)} tokens found{note}"]
    if missing:
        parts.append(f"missing: {', '.join(missing)}")
    if conflicts:
        parts.append(f"conflict: {'; '.join(conflicts)}")
    return "; ".join(parts)


KIND = JudgeKind(
    options=LexicalOptions,
    make=lambda options, _resources, _members: LexicalJudge(options),
    instruments=(*TWO_WAY, SUPPORT_GRADE.name, *RUBRIC),
    likely=lambda _: (),
    abstains=lambda _: RUBRIC,
)
