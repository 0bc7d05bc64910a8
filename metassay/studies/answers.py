"""What a person wrote into a cell, as the value of an answer."""

import re
import unicodedata

from metassay.core.csv_injection import restored
from metassay.studies.record import Question
from metassay.tabular.decoding import finite_number

_NOT_SEEN = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad"))
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)", re.ASCII)


class NotAllowedError(Exception):
    """An answer that the question does not allow; it says why, without what was written."""


def filled(written: str) -> str:
    """What was written, without blanks around it and characters that nobody sees."""
    return restored(unicodedata.normalize("NFKC", written).translate(_NOT_SEEN).strip())


def value_of(question: Question, written: str) -> float | None:
    """The value of an answer; None where nothing is written.

    A choice is known by its word in any case, or by its number; `3`, `3.0` and `3,0` are one
    number. Raises NotAllowedError for anything else.
    """
    said = filled(written)
    if not said:
        return None
    number = finite_number(_DECIMAL_COMMA.sub(r"\1.\2", said))
    if question.kind == "choice":
        for choice in question.choices:
            word = finite_number(choice.word)
            if said.casefold() == choice.word.casefold() or (number is not None and number == word):
                return choice.value
        raise NotAllowedError("is none of the answers that are allowed")
    if number is None:
        raise NotAllowedError("is no number")
    if question.whole and number != int(number):
        raise NotAllowedError("is no whole number")
    if number > question.high and question.capped:
        raise NotAllowedError(f"is over the cap of {question.high:g}")
    if not question.low <= number <= question.high:
        raise NotAllowedError("is off the scale")
    return number
