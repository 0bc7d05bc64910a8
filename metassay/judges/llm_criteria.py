"""Criteria of rubrics, as an LLM judge asks about them and reads what is answered.

All criteria by which one text is read, against the same, share a call. Each has answers of its own:
the levels of its scale, or its items. So each answer is read by a model of its own, and an answer
that does not fit is asked for again, that criterion alone.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, ConfigDict, Field, create_model

from metassay.judges.criteria import PENALTIES, RUBRIC, SCALE, Criterion, Scale, criterion_of
from metassay.judges.llm_calls import (
    JSON_STYLES,
    Call,
    Form,
    Style,
    found_by,
    grouped,
    in_calls_of,
    reason_of,
    reply,
)
from metassay.judges.protocol import Pair
from metassay.llm.structured import Answer, Entries
from metassay.scoring.rubrics.record import Example

_NUMBER = re.compile(r"0|-?[1-9]\d{0,8}")
_ITEMS = re.compile(r"items? (\d{1,9}(?:, \d{1,9})*)")
_NONE = "none"
_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)

# What an answer may look like, by instrument: the reply of a sample.
_SAMPLES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    SCALE: ({"quotes": ["...", "..."], "grade": 2}, {"quotes": [], "grade": 1}),
    PENALTIES: (
        {"violations": [{"item": 2, "quote": "..."}, {"item": 3, "quote": ""}]},
        {"violations": []},
        {"violations": [{"what": "...", "quote": "..."}]},
    ),
}
_LINES: Mapping[str, Sequence[str]] = {SCALE: ("2", "1"), PENALTIES: ("items 2, 3", _NONE, "1")}


class Graded(NamedTuple):
    """What an answer comes to; `quotes` are as the model gave them, none of them empty."""

    grade: float
    quotes: list[str]
    explanation: str | None


def _calls(form: Form, pairs: Sequence[Pair], most: int | None) -> Iterator[Call]:
    """All criteria by which a text is read, against the same, or `most` of them, in one call."""
    ordered = sorted(
        pairs, key=lambda p: (p.premise, p.hypothesis, criterion_of(p).criterion, p.pair_id)
    )
    for group in grouped(ordered, lambda p: (p.premise, p.hypothesis)):
        for own in in_calls_of(most, group):
            criteria = [criterion_of(pair) for pair in own]
            material = {"against": own[0].premise or None, "text": own[0].hypothesis}
            questions = [_question(criterion) for criterion in criteria]
            yield Call(form, material, questions, [[pair] for pair in own], (), criteria)


CRITERIA_FORMS = tuple(
    Form((name,), f"judge-{name}", "text", (), "grade", (), _calls, against=True) for name in RUBRIC
)


def _question(criterion: Criterion) -> dict[str, object]:
    asks: dict[str, object] = {"criterion": criterion.criterion, "asks": criterion.asks}
    if isinstance(criterion, Scale):
        return asks | {"levels": {str(n): criterion.levels[str(n)] for n in criterion.grades}}
    items = [{"item": n, "text": item} for n, item in enumerate(criterion.items or (), start=1)]
    return asks | {"items": items or None, "most": criterion.most}


def answer_model(criterion: Criterion, number: int, style: Style) -> type[Answer]:
    """What is answered of the criterion with this number: a reason if wanted, then the answer."""
    if isinstance(criterion, Scale):
        return _scale_model(number, criterion.grades, style)
    return _penalties_model(number, len(criterion.items or ()), criterion.most, style)


def entries_of(style: Style) -> Entries:
    """What finds the answers in a reply."""
    return found_by(style, _read)


def graded(criterion: Criterion, said: Mapping[str, Any]) -> Graded:
    """What the fields of an answer, or of a solved example, come to."""
    reason = said.get("reason") or ""
    if isinstance(criterion, Scale):
        return Graded(float(said["grade"]), _distinct(said.get("quotes", ())), reason or None)
    if "grade" in said:
        return Graded(float(said["grade"]), [], reason or None)
    found = said["violations"] if "violations" in said else [{"item": n} for n in said["violated"]]
    items = criterion.items or ()
    named = [items[one["item"] - 1] if items else one["what"].strip() for one in found]
    told = f"violated: {'; '.join(named)}" if named else "nothing is violated"
    quotes = _distinct(one.get("quote", "") for one in found)
    return Graded(float(len(found)), quotes, f"{reason} ({told})" if reason else told)


def sample(instrument: str, style: Style) -> str:
    """The form of a reply, with each form of answer that there can be."""
    entries = [{"reason": "...", **one} for one in _SAMPLES[instrument]]
    return reply(style, entries, _LINES[instrument])


def solved(criterion: Criterion, example: Example, style: Style) -> str:
    """The reply that grades an example by its criterion."""
    entry: dict[str, Any] = {"reason": example.reason}
    if isinstance(criterion, Scale):
        entry |= {"quotes": list(example.quotes), "grade": example.grade}
        return reply(style, [entry], [str(example.grade)])
    kept = ("item" if criterion.items else "what", "quote")
    found = [violation.model_dump(include={*kept}) for violation in example.violations]
    entry["violations"] = found
    listed = ", ".join(str(one["item"]) for one in found) if criterion.items else ""
    line = (f"items {listed}" if found else _NONE) if criterion.items else str(example.grade)
    return reply(style, [entry], [line])


@functools.lru_cache(maxsize=4096)
def _scale_model(number: int, levels: tuple[int, ...], style: Style) -> type[Answer]:
    level: Any = Literal[levels]
    quotes: dict[str, Any] = {"quotes": (list[str], ...)} if style in JSON_STYLES else {}
    return _model(number, style, {**quotes, "grade": (level, ...)})


@functools.lru_cache(maxsize=4096)
def _penalties_model(number: int, items: int, most: int | None, style: Style) -> type[Answer]:
    """Limits are checked after the schema, which not every endpoint would take with them."""
    item: Any = Literal[tuple(range(1, items + 1))] if items else None
    few = AfterValidator(functools.partial(_few, most))
    if style in JSON_STYLES:
        named: dict[str, Any] = {"item": (item, ...)} if items else {"what": (str, ...)}
        named["quote"] = (str, ...)
        violation: Any = create_model(f"Violation{number}", __config__=_STRICT, **named)
        return _model(number, style, {"violations": (Annotated[list[violation], few], ...)})
    if items:
        return _model(number, style, {"violated": (Annotated[list[item], few], ...)})
    return _model(number, style, {"grade": (Annotated[int, Field(ge=0, le=most)], ...)})


def _model(number: int, style: Style, fields: Mapping[str, Any]) -> type[Answer]:
    place: Any = Literal[number]
    fields = {"number": (place, ...), **reason_of(style), **fields}
    return create_model(f"Answered{number}", __base__=Answer, **fields)


def _few(most: int | None, found: Sequence[Any]) -> Sequence[Any]:
    """No more violations than there can be, and none of them twice or without a name."""
    if most is not None and len(found) > most:
        raise ValueError("more violations than there can be")
    named = [one if isinstance(one, int) else _name(one) for one in found]
    if "" in named or len({*named}) < len(named):
        raise ValueError("a violation is there twice, or says nothing")
    return found


def _name(violation: Any) -> int | str:
    """Which item it is of; or what it is, where quoted: two can be of one sort."""
    if hasattr(violation, "item"):
        return int(violation.item)
    what = str(violation.what).strip()
    return f"{what}\n{violation.quote}" if what else ""


def _read(said: str) -> dict[str, Any]:
    """The fields of a line; what is no answer stays a text, and so is not valid."""
    named = _ITEMS.fullmatch(said)
    if named:
        return {"violated": [int(number) for number in named[1].split(", ")]}
    if said == _NONE:
        return {"violated": []}
    return {"grade": int(said) if _NUMBER.fullmatch(said) else said}


def _distinct(quotes: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(quote.strip() for quote in quotes if quote.strip()))
