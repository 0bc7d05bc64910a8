"""Grades by words: how much of what a text is held against is found in it.

It is the floor for judges of rubrics, and lets a rubric run without a model. It sees that words are
missing, and no error, so it abstains from whatever asks for more than that.
"""

from functools import lru_cache

from metassay.judges.criteria import Scale, content, criterion_of
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.reading import NEGATIONS, SUBJECTS, read

_ASIDE = NEGATIONS | SUBJECTS


def lexical_grade(pair: Pair) -> Judgment:
    """The level of a scale, by the share of the premise's words that the hypothesis has.

    The share is of the premise's distinct content tokens (as the lexical judge reads them: numbers
    in digits, each token of equal weight; negations and "patient" aside). The scale's levels are
    equal bands of it (`Scale.level`). So a text without words has the worst level.

    Abstained where nobody can say so by words: from penalties, and where the premise has no content
    tokens, as where a text is held against nothing. The explanation has the share.
    """
    criterion = criterion_of(pair)
    if not isinstance(criterion, Scale):
        return Judgment("abstained", explanation="violations cannot be told by words")
    wanted = _words(content(pair.premise))
    if not wanted:
        return Judgment("abstained", explanation="there are no words to hold the text against")
    found = len(wanted & _words(pair.hypothesis))
    said = f"{found} of {len(wanted)} tokens found"
    return Judgment("ok", grade=float(criterion.level(found, len(wanted))), explanation=said)


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(read(text).places) - _ASIDE
