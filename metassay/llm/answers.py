"""Read an answer as one JSON value or one list of lines, or not at all; nothing is guessed.

Lenient reading also accepts other markup: bullets, `1.`, `1)` or `**1**`, other case,
quotation marks, a full stop. `repair` corrects values that are almost in the right form
(`"2"` for 2, `Not entailed.` for not_entailed), if they can mean only one thing.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel

MARK = "ANSWERS"  # the line before the answers of a model that thinks aloud

_END = re.compile(r"^[ \t]*</think>[ \t]*$", re.MULTILINE)
_START = re.compile(r"\{|\[\s*\{")
# failed starts of values, after which reading stops: it takes quadratic time
_STARTS = 1000
_BRACKETS = {"]": "[", "}": "{"}
# strings are kept
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])', re.DOTALL)
_QUOTATION = ('"', "'", "\u2018", "\u201c", "\u00ab")
_LINE = re.compile(r"(0|[1-9]\d{0,8}): (.+)")
_FENCE = re.compile(r"```\w*")
_MARK = re.compile(r"(?:final )?answers?:?", re.IGNORECASE)
# Other forms of a line, without Markdown. `1.2` and `1 - 2` are numbers, and are not
# read.
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
    """Return an answer without the `<think>` block at its start; None if the block has no end.

    If the model's template has opened the block, it ends with a line that is only
    `</think>`, which valid JSON never contains. Other texts are returned unchanged.
    """
    before, end, after = text.partition("</think>")
    if before.lstrip().startswith("<think>"):
        return after.lstrip() if end else None
    alone = _END.search(text) if end else None
    if alone is None or "<think>" in text[: alone.start()]:
        return text
    return text[alone.end() :].lstrip()


def only_json(text: str, *, lenient: bool = False) -> Any:
    """Return the one JSON object, or list of objects, in a reply, which may have prose around it.

    None if there is none, if there are two, if it is in quotation marks, or if the
    brackets around it do not match. Duplicate keys, NaN and infinities make values that
    validate as nothing. `lenient`: allow commas before closing brackets, and
    repetitions of the value.
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
    except RecursionError:  # a thousand nested brackets, or _STARTS broken ones
        return None


def _first_value(text: str, start: int) -> tuple[Any, int, int]:
    """Return the first value from `start` on, with its start and end; None if there is none."""
    for failures, match in enumerate(_START.finditer(text, start)):
        if failures == _STARTS:
            raise RecursionError
        try:
            value, end = _DECODER.raw_decode(text, match.start())
        except ValueError:  # including numbers of 5,000 digits
            continue
        return value, match.start(), end
    return None, 0, 0


def _balanced(text: str) -> bool:
    opened = []
    for character in text:
        if character in "[{":
            opened.append(character)
        elif character in _BRACKETS and (
            not opened or opened.pop() != _BRACKETS[character]
        ):
            return False
    return not opened


_INVALID = object()  # a value that JSON does not have or does not define


def _object(pairs: list[tuple[str, Any]]) -> Any:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _INVALID


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=lambda _: _INVALID
)


class _Line(NamedTuple):
    number: int | None  # None: not the line of an answer
    value: str
    text: str


def last_lines(text: str, read: Read, *, lenient: bool = False) -> list[dict[str, Any]]:
    """Read the answers at the end of a reply, which may have other text before them.

    Return none if a line of their form is apart from the others, since it is not clear
    which ones count. Lenient: a reply of one line without a number is an answer without
    a number.
    """
    lines = _lines(text, lenient=lenient)
    start = len(lines)
    while start and lines[start - 1].number is not None:
        start -= 1
    if any(line.number is not None for line in lines[:start]):
        return []
    return _entries(
        lines[0 if lenient and len(lines) == 1 else start :], read, lenient=lenient
    )


def lines_below(
    text: str, read: Read, *, lenient: bool = False
) -> list[dict[str, Any]]:
    """Read the answers below the line ANSWERS, each with the `reason` above that line, or None.

    A reason is the paragraph that begins with the answer's number, `1: ...`; if there
    is only one answer, all text above. Return none if there is another such line, or
    other text below.
    """
    lines = _lines(text, lenient=lenient)
    marks = [
        place
        for place, line in enumerate(lines)
        if _is_mark(line.text, lenient=lenient)
    ]
    if len(marks) != 1:
        return []
    above, below = lines[: marks[0]], lines[marks[0] + 1 :]
    if any(line.number is None for line in below) and not (lenient and len(below) == 1):
        return []
    reasons = _reasons(above)
    if len(below) == 1:
        reasons.setdefault(
            below[0].number, "\n".join(line.text for line in above) or None
        )
    entries = _entries(below, read, lenient=lenient)
    return [entry | {"reason": reasons.get(entry.get("number"))} for entry in entries]


def value_starts(text: str) -> dict[int | None, int]:
    """Return the offset after each line's number in a reply, in characters; the last of each.

    The key None has the start of the last line without a number.
    """
    starts: dict[int | None, int] = {}
    start = 0
    for line in text.split("\n"):
        if line.strip() and not _FENCE.fullmatch(line.strip()):
            number = _LEADING.match(line)
            starts[int(number[1]) if number else None] = start + (
                number.end() if number else 0
            )
        start += len(line) + 1
    return starts


def _is_mark(line: str, *, lenient: bool) -> bool:
    if not lenient:
        return line == MARK
    return _MARK.fullmatch(_MARKUP.sub("", line).strip(" _")) is not None


def _lines(text: str, *, lenient: bool) -> list[_Line]:
    """Split at line feeds only: other breaks can be part of quotes."""
    lines = []
    for line in map(str.strip, text.split("\n")):
        if line and not _FENCE.fullmatch(line):
            value, form = line, _LINE
            if lenient:
                bullet = _BULLET.match(line)
                value = _MARKUP.sub(
                    "", line[bullet.end() :] if bullet else line
                ).strip()
                form = _LENIENT
            match = form.fullmatch(value)
            number, value = (int(match[1]), match[2]) if match else (None, value)
            lines.append(_Line(number, value, line))
    return lines


def _entries(
    lines: Iterable[_Line], read: Read, *, lenient: bool
) -> list[dict[str, Any]]:
    entries = []
    for number, value, _ in lines:
        value = _tidy(value) if lenient else value  # noqa: PLW2901
        if number is not None:
            entries.append(read(value) | {"number": number})
        elif any(
            map(str.isalpha, value)
        ):  # a bare number may be a question's or a value
            entries.append(read(value))
    return entries


def _tidy(value: str) -> str:
    """Return a value in lower case without quotation marks and full stop; `1 and [2]` is `1, 2`."""
    value = value.lstrip(_AROUND_VALUE).rstrip(_AROUND_VALUE + ".,;").lower()
    return _PASSAGES.sub("", _AND.sub(", ", _LISTED.sub(r"\1", value)))


def _reasons(lines: Iterable[_Line]) -> dict[int | None, str | None]:
    """Return the paragraph of each number; None for a number with two paragraphs."""
    reasons: dict[int | None, str | None] = {}
    number = None
    for line in lines:
        if line.number is not None:
            number = line.number
            reasons[number] = None if number in reasons else line.value
        elif number is not None and reasons[number] is not None:
            reasons[number] = f"{reasons[number]}\n{line.text}"
    return reasons


def _fold(label: str) -> str:
    """Return a label without case and surrounding marks, its words joined by `_`."""
    return re.sub(r"[\s_-]+", "_", label.strip(_AROUND).casefold())


def whole(value: object) -> int | None:
    """Return a text or number as an int; None if it is not a whole number."""
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    if match:
        return int(match[1])
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e9:
        return int(value)
    return value if type(value) is int else None


def repair(entry: Any, model: type[BaseModel]) -> Any:
    """Return the entry with values in the form of the model's fields, where they can mean only one.

    The model then validates it. An unknown key stays, and so makes the answer invalid,
    if it may be a part of the answer: another of the labels, or a list beside other
    lists.
    """
    if not isinstance(entry, Mapping):
        return entry
    kinds = {
        field.alias or name: field.annotation
        for name, field in model.model_fields.items()
    }
    fields = {
        name: _convert(entry[name], kind)
        for name, kind in kinds.items()
        if name in entry
    }
    labels = {label for kind in kinds.values() for label in _labels(kind)}
    chosen = {_fold(value) for value in fields.values() if isinstance(value, str)}
    for name in entry.keys() - kinds.keys():
        other = _fold(entry[name]) if isinstance(entry[name], str) else ""
        listed = entry[name] and isinstance(entry[name], list)
        if (other in labels and other not in chosen) or (
            listed and any(isinstance(value, list) for value in fields.values())
        ):
            fields[name] = entry[name]
    return fields


def _labels(kind: Any) -> dict[str, str]:
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    return {_fold(label): label for label in choices if isinstance(label, str)}


def _convert(value: Any, kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        return _convert(value, get_args(kind)[0])
    if get_origin(kind) is list and isinstance(value, list):
        return [_convert(member, get_args(kind)[0]) for member in value]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return repair(value, kind)
    if isinstance(value, str) and (labels := _labels(kind)):
        return labels.get(_fold(value), value)
    if kind is int or get_origin(kind) is Literal:
        number = whole(value)
        return value if number is None else number
    return value
