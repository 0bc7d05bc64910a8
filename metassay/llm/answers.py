"""Find the answers in a reply, and the words around them.

A reply in the requested form is the answers alone, or one Markdown fence around them.
Models also write greetings, notes and other markup, so there is a lenient reading, too.
Whether the words around an answer let it stand is up to module `quoting`.

This module reads JSON; module `lines` reads answers of a line each.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Reading(NamedTuple):
    """The answers in a reply.

    `entries` are mappings with the number of an item and the fields of its answer;
    other entries are ignored. `before` and `after` are the words of the reply around
    them, without fences, and `among` the words beside them in the same JSON value.
    `same_line`: words stand in the line in which the answers begin or end. `reasoned`:
    the form asks for the words `before`.
    """

    entries: Sequence[Any]
    before: str = ""
    after: str = ""
    among: tuple[str, ...] = ()
    same_line: bool = False
    reasoned: bool = False
    problem: str = ""

    @property
    def is_alone(self) -> bool:
        """Whether the reply is the answers alone, or in the form that asks for words before."""
        words = self.after if self.reasoned else self.before + self.after
        return not words.strip()


# Marks of the templates of chats, and tags around answers, which are no words.
_TEMPLATE = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>"
    r"|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|im_start\|>assistant"
    r"|<\|[\w ]{1,40}\|>|</?s>|<(?:start|end)_of_turn>(?:model)?"
    r"|</?(?:answers?|final_answer|output|response|result|json)>",
    re.IGNORECASE,
)
FENCE = re.compile(r"```[\w+-]*")
_FENCE_BEFORE = re.compile(r"```[\w+-]*[ \t]*\n?\s*\Z")
_FENCE_AFTER = re.compile(r"\A\s*```[ \t]*(?=\n|\Z)")


def remove_template(text: str) -> str:
    """Return a reply without the marks of a chat's template and tags around answers."""
    return _TEMPLATE.sub("", text)


# ---- JSON

_START = re.compile(r"\{|\[\s*\{")
# failed starts of values, after which reading stops: it takes quadratic time
_STARTS = 1000
_BRACKETS = {"]": "[", "}": "{"}
_QUOTATION = ('"', "'", "\u2018", "\u201c", "\u00ab")
_COMMA = re.compile(
    r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])', re.DOTALL
)  # strings are kept
_STRAIGHT = str.maketrans({"“": '"', "”": '"'})
# Limits of a value that is read as Python's, which takes a step in Python per
# character.
_LONGEST_PYTHON = 20_000
_DEEPEST_PYTHON = 20

_ReadValue = Callable[
    [str, int], tuple[Any, int]
]  # of a text and a start, to value and end

# Members that models put around the list of answers.
_WRAPPERS = frozenset(
    {
        "items",
        "answer",
        "answers",
        "final_answer",
        "final_answers",
        "response",
        "responses",
        "result",
        "results",
        "output",
        "outputs",
        "data",
        "json",
        "list",
        "content",
        "judgment",
        "judgments",
        "judgement",
        "judgements",
        "verdict",
        "verdicts",
        "evaluation",
        "evaluations",
        "assessment",
        "assessments",
        "classifications",
        "labels",
        "grades",
        "ratings",
        "scores",
        "hypotheses",
        "statements",
        "criteria",
    }
)


def json_entries(text: str, *, lenient: bool = False) -> Reading:
    """Find the entries of `{"items": [...]}`, or of the list; none in other replies.

    Lenient: allow other names than `items`, members beside it, a single entry without a
    list, commas before closing brackets, Python's quotation marks, and repetitions of
    the value.

    >>> json_entries('Sure!\\n{"items": [{"number": 1, "label": "entailed"}]}').before
    'Sure!\\n'
    """
    parts = _one_value(text, lenient=lenient)
    if isinstance(parts, str):
        return Reading([], problem=parts)
    value, before, after = parts
    entries, among = _unwrap(value) if lenient else (_requested(value), [])
    fence_before = _FENCE_BEFORE.search(before)
    fence_after = _FENCE_AFTER.search(after)
    before = before[: fence_before.start()] if fence_before else before
    after = after[fence_after.end() :] if fence_after else after
    line_before = "" if fence_before else before.rpartition("\n")[2]
    line_after = "" if fence_after else after.partition("\n")[0]
    lacks_items = isinstance(value, dict) and list(entries) in ([], [value])
    return Reading(
        entries,
        before,
        after,
        tuple(among),
        same_line=bool(line_before.strip() or line_after.strip()),
        problem="`items` is missing" if lacks_items else "",
    )


def _requested(value: Any) -> Sequence[Any]:
    """Return the list in `{"items": [...]}`, or the list itself; none of other values."""
    if isinstance(value, dict) and list(value) == ["items"]:
        value = value["items"]
    return value if isinstance(value, list) else []


_Value = tuple[Any, str, str]  # with the text before and after it
_NO_JSON = "the reply is not JSON"


def _one_value(text: str, *, lenient: bool) -> _Value | str:
    """Return the one JSON object, or list of objects, in a reply, with the text around it.

    Or the reason why there is none: no value, two values, quotation marks around it, or
    brackets that do not match. Duplicate keys, NaN and infinities make values that
    validate as nothing.
    """
    try:
        if not lenient:
            return _find(text, _json_value, lenient=False)
        text = _COMMA.sub(lambda match: match[1] or "", remove_template(text))
        straight = text.translate(_STRAIGHT)
        ways = ((text, _json_value), (text, _python_value), (straight, _json_value))
        for written, read in ways:
            if _next(written, 0, read) is not None:
                return _find(written, read, lenient=True)
    except RecursionError:  # a thousand nested brackets, or _STARTS broken ones
        pass
    return _NO_JSON


def _find(text: str, read: _ReadValue, *, lenient: bool) -> _Value | str:
    first = _next(text, 0, read)
    if first is None:
        return _NO_JSON
    value, start, end = first
    more = _next(text, end, read)
    while lenient and more is not None and more[0] == value:
        if text[end : more[1]].strip(" \n\t`") not in ("", "json"):
            break  # words between
        end = more[2]
        more = _next(text, end, read)
    before = text[:start]
    after = text[end:]
    if more is not None:
        return "the reply has several JSON values"
    if before.endswith(_QUOTATION):
        return "the reply's JSON is in quotation marks"
    if not (_balanced(before) and _balanced(after)):
        return "the reply's JSON is a part of something broken"
    return value, before, after


def _next(text: str, start: int, read: _ReadValue) -> tuple[Any, int, int] | None:
    """Return the first value from `start` on, with its start and end; None if there is none."""
    for failures, match in enumerate(_START.finditer(text, start)):
        if failures == _STARTS:
            raise RecursionError
        try:
            value, end = read(text, match.start())
        except ValueError:  # including numbers of 5,000 digits
            continue
        return value, match.start(), end
    return None


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


def _json_value(text: str, start: int) -> tuple[Any, int]:
    return _DECODER.raw_decode(text, start)


def _python_value(text: str, start: int) -> tuple[Any, int]:
    """Read a value as Python writes it: `{'label': 'entailed'}`; ValueError if there is none."""
    end = _bracket_end(text, start)
    try:
        tree = ast.parse(text[start:end], mode="eval")
        return _literal(tree.body), end
    except (SyntaxError, MemoryError):
        raise ValueError("no value of Python") from None


def _bracket_end(text: str, start: int) -> int:
    """Return the end of the brackets that open at `start`; ValueError if they do not end."""
    depth = 0
    quote = ""
    for place in range(start, min(len(text), start + _LONGEST_PYTHON)):
        character = text[place]
        if quote:
            escaped = text[place - 1] == "\\"
            quote = "" if character == quote and not escaped else quote
        elif character in "'\"":
            quote = character
        elif character in "[{":
            depth += 1
            if depth > _DEEPEST_PYTHON:
                break
        elif character in "]}":
            depth -= 1
            if not depth:
                return place + 1
    raise ValueError("brackets without an end")


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Dict):
        members: list[tuple[str, Any]] = []
        for key, member in zip(node.keys, node.values, strict=True):
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                return _INVALID
            members.append((key.value, _literal(member)))
        return _object(members)
    if isinstance(node, ast.List):
        return [_literal(element) for element in node.elts]
    if isinstance(node, ast.Constant) and isinstance(
        node.value, str | int | float | None
    ):
        return node.value
    words = {"true": True, "false": False, "null": None}
    if isinstance(node, ast.Name) and node.id in words:
        return words[node.id]
    return _INVALID


def _unwrap(value: Any) -> tuple[Sequence[Any], list[str]]:
    """Return the entries inside the members that models wrap around them, and all other words."""
    words: list[str] = []
    while isinstance(value, dict) and "number" not in value:
        inside = [
            name
            for name, member in value.items()
            if name.casefold() in _WRAPPERS and isinstance(member, dict | list)
        ]
        if len(inside) != 1:
            break
        for name, member in value.items():
            if name != inside[0]:
                words += strings({name: member})
        value = value[inside[0]]
    if isinstance(value, list):
        return value, words
    if isinstance(value, dict):
        numbered = [m for m in value.values() if isinstance(m, dict) and "number" in m]
        if numbered and len(numbered) == len(value):
            return numbered, words
        return [value], words
    return [], words


def strings(value: Any) -> Iterator[str]:
    """Yield all names and texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield name
            yield from strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)
