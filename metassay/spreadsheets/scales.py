"""The scale of what people rated, and which end is better, guessed; `metassay init` shows both."""

import re
from collections.abc import Sequence

from metassay.options import Criterion

# Words in the names of what is worse the more there is of it.
_WORSE = re.compile(
    r"(^|[^a-z])(ter|wer|cer|ppl|perplexity|loss|distance|latency|cost|bias|harms?|toxicity|unsafe)"
    r"([^a-z]|$)|error|fehler|hallu|omission|omitted|missing|contradict|incorrect|penalt|mistake"
)
_GRADES = 10  # whole numbers up to so far apart are grades


def worse_is_more(name: str) -> bool:
    """Whether the name says that less is better."""
    return bool(_WORSE.search(name.casefold()))


def guessed_scale(
    values: Sequence[float], said: tuple[float, float] | None, lower: bool
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
