"""The JSON value in what a model said, or nothing: never a guess."""

import json
import re
from typing import Any

_START = re.compile(r"\{|\[\s*\{")
_STARTS = 1000  # places where a value begins but is none; each costs as much as the text before it
_BRACKETS = {"]": "[", "}": "{"}
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])', re.DOTALL)  # strings are kept
_QUOTES = ('"', "'", "\u2018", "\u201c", "\u00ab")


def only_json(text: str, *, lenient: bool = False) -> Any:
    """The one JSON object, or list that begins with one, in a reply; prose may stand around it.

    `lenient`: a comma may stand before a closing bracket, and the value there more than once.

    None if there is none, if there are two, if it stands in quotation marks, or if the brackets
    before or after it do not match by themselves: so JSON that a reply quotes is not taken for its
    answer, nor the sound part of a broken answer for the whole. An object in which a key is there
    twice, NaN and infinities come as values that validate as nothing.
    """
    if lenient:
        text = _COMMA.sub(lambda match: match[1] or "", text)
    try:
        found = _first_value(text, 0)
        if found is None:
            return None
        value, start, end = found
        before, after = text[:start], text[end:]
        if before.endswith(_QUOTES) or not (_balanced(before) and _balanced(after)):
            return None
        more = _first_value(text, end)
        while lenient and more and more[0] == value:
            more = _first_value(text, more[2])
        return None if more else value
    except RecursionError:  # a thousand brackets within each other, or broken ones in a row
        return None


def _first_value(text: str, start: int) -> tuple[Any, int, int] | None:
    for tried, match in enumerate(_START.finditer(text, start)):
        if tried == _STARTS:
            raise RecursionError
        try:
            value, end = _DECODER.raw_decode(text, match.start())
        except ValueError:  # also a number of 5,000 digits
            continue
        return value, match.start(), end
    return None


def _balanced(text: str) -> bool:
    opened = []
    for character in text:
        if character in "[{":
            opened.append(character)
        elif character in _BRACKETS and (not opened or opened.pop() != _BRACKETS[character]):
            return False
    return not opened


class _Unsound:
    """A value that JSON doesn't have or gives no meaning to."""


def _object(pairs: list[tuple[str, Any]]) -> Any:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Unsound()


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda _: _Unsound())
