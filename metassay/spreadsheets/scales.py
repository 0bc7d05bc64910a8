"""The scale of what people rated, and which end is better, guessed; `metassay init` shows both."""

import re
from collections.abc import Sequence

from metassay.options import Criterion

# Words in the names of what is worse the more there is of it; of ranks the first is the best.
_WORSE = re.compile(
    r"(^|[^a-z])(ter|wer|cer|mer|ppl|perplexity|loss|nll|divergence|distance|levenshtein|latency"
    r"|cost|bias|harms?|harmful|unsafe|rank|ranks|ranking|rang|platz|fp|fn|fpr|fnr|mae|mse|rmse"
    r"|eer|edits?|corrections?|issues?|problems?|flaws?|defects?|faults?|redundan\w*|repetiti\w*"
    r"|severity|confusion|effort|workload|noise|risk|delay)([^a-z]|$)"
    r"|error|fehler|hallu|omission|omitted|missing|contradict|incorrect|penalt|mistake|inaccura"
    r"|inconsisten|unsupported|unfaithful|irrelevan|fabricat|misleading|inappropriate|unnecessary"
    r"|(?<!\d)1\s*[=:]\s*(best|excellent|perfect|very good|good|high|strongly agree|sehr gut)"
    r"|toxic|m[aä]ngel|falsch"
)
# With one of these, too little is known: "free of errors", "errors corrected".
_TURNED = re.compile(
    r"(^|[^a-z])(no|not|non|without|lack\w*|absence|absent|avoid\w*|zero|low|fewest|least|reciprocal"
    r"|correct|corrected|found|detected|detection|accuracy|robust\w*|ohne|keine?|nicht|wenige?)"
    r"([^a-z]|$)|free|frei"
)
# What a text is like, and not how good it is.
_NEITHER = re.compile(
    r"(^|[^a-z])(len|length|lengths|words?|tokens?|chars?|characters?|sentences?|seconds?|duration"
    r"|time|year|count|fkgl|fkg|flesch|kincaid|gunning|fog|smog|ari|compression|novelty|density|l[aä]nge|w[oö]rter|anzahl|zeit|dauer)"
    r"([^a-z]|$)"
)
_ENDS = re.compile(r"(?<![\d.])(\d+)\s*(?:-|–|\.\.|to|bis)\s*(\d+)(?![\d.])")
_GRADES = 10  # whole numbers up to so far apart are grades


def guessed_direction(name: str) -> str:
    """Whether more is better, by the name: higher, lower, neither; "" where it may be both."""
    said = name.casefold()
    if _WORSE.search(said):
        return "" if _TURNED.search(said) else "lower"
    return "neither" if _NEITHER.search(said) else "higher"


def ends_in(name: str, values: Sequence[float]) -> tuple[float, float] | None:
    """The ends of a scale that the name says, as `Fluency (1-5)` does, if the values fit them."""
    found = _ENDS.search(name)
    low, high = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
    fits = low < high and all(low <= value <= high for value in values)
    return (low, high) if fits else None


def guessed_scale(
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
