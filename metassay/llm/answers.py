"""Reading an answer: as one JSON value or one list of lines, or not at all. Nothing is guessed.

Lenient reading takes for the same what is marked up otherwise: bullets, `1.`, `1)` or `**1**`,
other case, quotation marks, a full stop. `repair` puts nearly the right form into the right one
(`"2"` for 2, `Not entailed.` for not_entailed) where it can mean one thing only.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel

MARK = "ANSWERS"  # the line below which the answers of a model that thinks aloud stand

_END = re.compile(r"^[ \t]*</think>[ \t]*$", re.MULTILINE)
_START = re.compile(r"\{|\[\s*\{")
_STARTS = 1000  # places where a value begins but is none; each costs as much as the text before it
_BRACKETS = {"]": "[", "}": "{"}
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])', re.DOTALL)  # strings are kept
_QUOTATION = ('"', "'", "\u2018", "\u201c", "\u00ab")
_LINE = re.compile(r"(0|[1-9]\d{0,8}): (.+)")
_FENCE = re.compile(r"```\w*")
_MARK = re.compile(r"(?:final )?answers?:?", re.IGNORECASE)
# As some write it, without what Markdown adds. `1.2` and `1 - 2` are numbers, and not read.
_LENIENT = re.compile(
    r"[(\[]?([0-9]{1,9})[)\]]?(?:\s*:\s*|[.)]\s+|\s+[-–—]\s+(?=[A-Za-z])|\s+(?=[A-Za-z]))(.+)"
)
_LEADING = re.compile(r"[\W_]*([0-9]{1,9})")
_BULLET = re.compile(r"(?:[-*+•]|#+)\s+")
_MARKUP = re.compile(r"[*`#]|__|\\(?=_)")
_AROUND_VALUE = " \t\"'“”‘’"
_LISTED = re.compile(r"[\[(]([0-9]+(?:\s*,\s*[0-9]+)*)[\])]")
_AND = re.compile(r",?\s+and\s+|\s*[,;&]\s*")
_PASSAGES = re.compile(r"\bpassages?\s+(?=[0-9])")
_WHOLE = re.compile(r"\s*(-?[0-9]{1,9})(?:\.0*)?\s*")
_AROUND = " \t\n\"'“”‘’*`."

Read = Callable[[str], dict[str, Any]]


def without_thoughts(text: str) -> str | None:
    """What follows the `<think>` block that an answer begins with; None if the block has no end.

    Some models' templates have opened the block already: then it is all before a line that is
    nothing but `</think>`, which no line of sound JSON is. Any other text stays as it is.
    """
    before, end, after = text.partition("</think>")
    if before.lstrip().startswith("<think>"):
        return after.lstrip() if end else None
    alone = _END.search(text) if end else None
    if alone is None or "<think>" in text[: alone.start()]:
        return text
    return text[alone.end() :].lstrip()


def only_json(text: str, *, lenient: bool = False) -> Any:
    """The one JSON object, or list that begins with one, in a reply; prose may stand around it.

    None if there is none, if there are two, if it stands in quotation marks, or if the brackets
    around it do not match by themselves. Double keys, NaN and infinities validate as nothing.
    `lenient`: a comma may stand before a closing bracket, and the value there more than once.
    """
    if lenient:
        text = _COMMA.sub(lambda match: match[1] or "", text)
    try:
        value, start, end = _first_value(text, 0)
        before, after = text[:start], text[end:]
        if before.endswith(_QUOTATION) or not (_balanced(before) and _balanced(after)):
            return None
        more, _, place = _first_value(text, end)
        while lenient and more is not None and more == value:
            more, _, place = _first_value(text, place)
        return value if more is None else None
    except RecursionError:  # a thousand brackets within each other, or broken ones in a row
        return None


def _first_value(text: str, start: int) -> tuple[Any, int, int]:
    """The first value from `start` on, and where it begins and ends; None if there is none."""
    for tried, match in enumerate(_START.finditer(text, start)):
        if tried == _STARTS:
            raise RecursionError
        try:
            value, end = _DECODER.raw_decode(text, match.start())
        except ValueError:  # also a number of 5,000 digits
            continue
        return value, match.start(), end
    return None, 0, 0


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


class _Line(NamedTuple):
    number: int | None  # None: it is no answer's line
    value: str
    said: str


def last_lines(text: str, read: Read, *, lenient: bool = False) -> list[dict[str, Any]]:
    """The answers of a reply that ends with them; words may stand before.

    None if a line of their form stands apart from the others: nobody knows which list counts.
    Lenient: a reply of one line without a number is an answer without a number.
    """
    lines = _lines(text, lenient=lenient)
    start = len(lines)
    while start and lines[start - 1].number is not None:
        start -= 1
    if any(line.number is not None for line in lines[:start]):
        return []
    return _entries(lines[0 if lenient and len(lines) == 1 else start :], read, lenient=lenient)


def lines_below(text: str, read: Read, *, lenient: bool = False) -> list[dict[str, Any]]:
    """The answers below the one line ANSWERS, each with the `reason` that stands above it, or None.

    A reason is the paragraph that begins with the answer's number, `1: ...`; of one answer alone,
    all that was thought. None if there is another such line, or anything else stands below.
    """
    lines = _lines(text, lenient=lenient)
    marks = [place for place, line in enumerate(lines) if _is_mark(line.said, lenient=lenient)]
    if len(marks) != 1:
        return []
    above, below = lines[: marks[0]], lines[marks[0] + 1 :]
    if any(line.number is None for line in below) and not (lenient and len(below) == 1):
        return []
    reasons = _reasons(above)
    if len(below) == 1:
        reasons.setdefault(below[0].number, "\n".join(line.said for line in above) or None)
    found = _entries(below, read, lenient=lenient)
    return [entry | {"reason": reasons.get(entry.get("number"))} for entry in found]


def value_starts(text: str) -> dict[int | None, int]:
    """Where what follows the number of a line starts in a reply, in characters: the last of each.

    Under None it is where the last line without a number starts.
    """
    found: dict[int | None, int] = {}
    start = 0
    for line in text.split("\n"):
        if line.strip() and not _FENCE.fullmatch(line.strip()):
            number = _LEADING.match(line)
            found[int(number[1]) if number else None] = start + (number.end() if number else 0)
        start += len(line) + 1
    return found


def _is_mark(line: str, *, lenient: bool) -> bool:
    if not lenient:
        return line == MARK
    return _MARK.fullmatch(_MARKUP.sub("", line).strip(" _")) is not None


def _lines(text: str, *, lenient: bool) -> list[_Line]:
    """Only a line feed ends a line: other breaks can be part of what is quoted."""
    found = []
    for line in map(str.strip, text.split("\n")):
        if line and not _FENCE.fullmatch(line):
            value, form = line, _LINE
            if lenient:
                bullet = _BULLET.match(line)
                value = _MARKUP.sub("", line[bullet.end() :] if bullet else line).strip()
                form = _LENIENT
            match = form.fullmatch(value)
            number, value = (int(match[1]), match[2]) if match else (None, value)
            found.append(_Line(number, value, line))
    return found


def _entries(lines: Iterable[_Line], read: Read, *, lenient: bool) -> list[dict[str, Any]]:
    entries = []
    for number, value, _ in lines:
        said = _tidy(value) if lenient else value
        if number is not None:
            entries.append(read(said) | {"number": number})
        elif any(map(str.isalpha, said)):  # a number alone: which one is it?
            entries.append(read(said))
    return entries


def _tidy(value: str) -> str:
    """A value in small letters, without quotation marks and full stop; `1 and [2]` as `1, 2`."""
    value = value.lstrip(_AROUND_VALUE).rstrip(_AROUND_VALUE + ".,;").lower()
    return _PASSAGES.sub("", _AND.sub(", ", _LISTED.sub(r"\1", value)))


def _reasons(lines: Iterable[_Line]) -> dict[int | None, str | None]:
    """What was thought of each number; None of one that was taken up twice."""
    found: dict[int | None, str | None] = {}
    number = None
    for line in lines:
        if line.number is not None:
            number = line.number
            found[number] = None if number in found else line.value
        elif number is not None and found[number] is not None:
            found[number] = f"{found[number]}\n{line.said}"
    return found


def _folded(label: str) -> str:
    """A label without case and the marks around it, its words joined by `_`."""
    return re.sub(r"[\s_-]+", "_", label.strip(_AROUND).casefold())


def whole(value: object) -> int | None:
    """The whole number that a text or a real is; None if it is none."""
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    if match:
        return int(match[1])
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e9:
        return int(value)
    return value if type(value) is int else None


def repair(said: Any, model: type[BaseModel]) -> Any:
    """What was said as the fields of the model, as far as it can be; the model then validates it.

    A key that the model doesn't have stays, and so makes the answer invalid, if it may be a part of
    the answer: another one of the labels to choose from, or a list beside other lists.
    """
    if not isinstance(said, Mapping):
        return said
    kinds = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    found = {name: _fitted(said[name], kind) for name, kind in kinds.items() if name in said}
    labels = {label for kind in kinds.values() for label in _labels(kind)}
    chosen = {_folded(value) for value in found.values() if isinstance(value, str)}
    for name in said.keys() - kinds.keys():
        other = _folded(said[name]) if isinstance(said[name], str) else ""
        listed = said[name] and isinstance(said[name], list)
        if (other in labels and other not in chosen) or (
            listed and any(isinstance(value, list) for value in found.values())
        ):
            found[name] = said[name]
    return found


def _labels(kind: Any) -> dict[str, str]:
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    return {_folded(label): label for label in choices if isinstance(label, str)}


def _fitted(value: Any, kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        return _fitted(value, get_args(kind)[0])
    if get_origin(kind) is list and isinstance(value, list):
        return [_fitted(member, get_args(kind)[0]) for member in value]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return repair(value, kind)
    if isinstance(value, str) and (labels := _labels(kind)):
        return labels.get(_folded(value), value)
    if kind is int or get_origin(kind) is Literal:
        number = whole(value)
        return value if number is None else number
    return value
