"""Grades by the semantic judge: how much of what a text is held against it supports."""

from collections.abc import Callable, Sequence
from statistics import fmean

from metassay.judges.criteria import Scale, content, criterion_of
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.semantic.texts import sentences
from metassay.models.words import words

Probabilities = Callable[[Sequence[tuple[str, str]]], Sequence[float]]


def semantic_grades(pairs: Sequence[Pair], probabilities: Probabilities) -> list[Judgment]:
    """The level of each scale, by the mean probability that the text supports a sentence.

    The sentences are those of the pair's premise that have words, each of equal weight; the text is
    its hypothesis. `probabilities` are those of (premise, hypothesis), 0 to 1. The scale's levels
    are equal bands of the mean (`Scale.level`). Abstained from penalties, and where the premise has
    no words, as where a text is held against nothing.
    """
    said = [_sentences(pair) for pair in pairs]
    asked = [
        (pair.hypothesis, sentence)
        for pair, own in zip(pairs, said, strict=True)
        for sentence in own
    ]
    found = iter(probabilities(asked))
    return [_grade(pair, [next(found) for _ in own]) for pair, own in zip(pairs, said, strict=True)]


def _sentences(pair: Pair) -> list[str]:
    if not isinstance(criterion_of(pair), Scale):
        return []
    return [sentence for sentence in sentences(content(pair.premise)) if words(sentence)]


def _grade(pair: Pair, supported: Sequence[float]) -> Judgment:
    criterion = criterion_of(pair)
    if not isinstance(criterion, Scale):
        return Judgment("abstained", explanation="violations cannot be told by support")
    if not supported:
        return Judgment("abstained", explanation="there are no words to hold the text against")
    mean = fmean(supported)
    told = f"support {mean:.2f} on average of {len(supported)} sentences"
    return Judgment("ok", grade=float(criterion.level(mean)), explanation=told)
