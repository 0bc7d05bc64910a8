"""Which words of a sentence are negated, as the lexical judge's reading has it."""

from functools import lru_cache
from typing import Any

import numpy as np

from metassay.judges.reading import (
    BACKWARD,
    BACKWARD_REACH,
    CLAUSE_END,
    NEGATION_REACH,
    NEGATIONS,
    RESTARTS,
)
from metassay.models.words import words
from metassay.text.tokens import content_tokens

_CONTRACTED = ("n't", "n\u2019t")


@lru_cache(maxsize=16384)
def negated(text: str) -> Any:
    """For each word whether a negation of its clause reaches it: n times true or false."""
    spans = words(text)
    low = text.lower()
    ends = np.array([match.start() for match in CLAUSE_END.finditer(low)], int)
    clauses = [int((ends <= span.start).sum()) for span in spans]
    tokens = [_token(low[span.start : span.end]) for span in spans]
    found = np.zeros(len(spans), bool)
    for place, token in enumerate(tokens):
        if token not in NEGATIONS:
            continue
        back = token in BACKWARD
        step, reach = (-1, BACKWARD_REACH) if back else (1, NEGATION_REACH)
        at = place + step
        while 0 <= at < len(spans) and clauses[at] == clauses[place] and reach:
            if tokens[at] in RESTARTS and not back:
                break
            if tokens[at] is not None:
                found[at] = True
                reach -= 1
            at += step
    found.setflags(write=False)
    return found


def _token(word: str) -> str | None:
    """The content token of a word; None of a word that carries no fact."""
    if word.endswith(_CONTRACTED):
        return "not"
    return next(iter(content_tokens(word)), None)
