"""What an LLM judge puts into one call, by instrument, and how it is answered in each style.

A call shows what its questions rest on once (`material`) and its questions by number. Which pairs
share a call does not depend on the order in which they come, and equal pairs are asked once.

Styles: `plain` is a line per answer, `json` a JSON list; `cot` and `json_cot` are the same with the
reasons first.
"""

import functools
import json
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, ConfigDict, Field, create_model, model_validator

from metassay.judges.criteria import PENALTIES, RUBRIC, SCALE, Criterion, Scale, criterion_of
from metassay.judges.lazy_citations import leaves_out
from metassay.judges.protocol import Pair
from metassay.llm.answers import MARK, Read, last_lines, lines_below
from metassay.llm.prompts import Kind
from metassay.llm.structured import Answer, Entries, json_entries
from metassay.scoring.rubrics.record import Example

PerCall = Literal["part", "claim"]

TOGETHER, ALONE, REST = "attribution", "attribution_alone", "attribution_rest"
ENTAILED, NOT_ENTAILED = "entailed", "not_entailed"


class Call(NamedTuple):
    """One call: the form's variables but `items`, and for each number its question and pairs."""

    form: "Form"
    material: Mapping[str, object]
    questions: Sequence[Mapping[str, object]]
    pairs: Sequence[Sequence[Pair]]
    passages: tuple[str, ...] = ()  # by number, from 1, where an answer names some
    criteria: Sequence[Criterion] = ()  # by number, where each question is a rubric's criterion


@dataclass(frozen=True)
class Form:
    """How an instrument (or a family of them) is asked, and what may be answered.

    `prompt` is its file in prompts/, with a variable `material` (and maybe `against`) for what all
    questions of a call share, and `items` for the questions, which have the texts `asks`. `field`
    is the answer's, `values` what it may be. `calls(form, pairs, most)` puts pairs into calls, of
    at most `most` questions if it is a number. `passages`: an answer also names those it rests on.
    """

    instruments: tuple[str, ...]
    prompt: str
    material: str
    asks: tuple[str, ...]
    field: Literal["label", "grade"]
    values: tuple[str | int, ...]
    calls: "Callable[[Form, Sequence[Pair], int | None], Iterable[Call]]"
    passages: bool = False
    against: bool = False

    @property
    def filled(self) -> Mapping[str, Kind]:
        """The kinds of the variables that are filled in."""
        names = [self.material, *(["against"] if self.against else []), "items"]
        return dict.fromkeys(names, "data")


def calls_of(forms: Iterable[Form], pairs: Iterable[Pair], most: int | None) -> list[Call]:
    """The calls that ask every pair once, in order of forms and of what they rest on."""
    distinct = sorted(
        {pair.pair_id: pair for pair in pairs}.values(),
        key=lambda p: (p.context or "", p.premise, p.author, p.part, p.hypothesis, p.pair_id),
    )
    calls: list[Call] = []
    for form in forms:
        own = [pair for pair in distinct if pair.instrument in form.instruments]
        calls += form.calls(form, own, most)
    return calls


def numbered_passages(passages: Sequence[str]) -> list[dict[str, object]]:
    """Passages as a prompt shows them."""
    return [{"number": n, "text": text} for n, text in enumerate(passages, start=1)]


def attributed(call: Call, pair: Pair, label: str, named: Collection[int]) -> str:
    """What an answer about the passages that a statement cites says of one question about it.

    A passage alone entails if all together do and it is named; the others without it, if all
    together do and it is not named.
    """
    if is_whole(call, pair):
        return label
    # Where passages hold line breaks, one text can lack this passage or that one.
    is_named = all(place in named for place in _about(pair, call.passages))
    holds = label == ENTAILED and is_named == (pair.instrument == ALONE)
    return ENTAILED if holds else NOT_ENTAILED


def is_whole(call: Call, pair: Pair) -> bool:
    """Whether a pair asks about all passages that its statement cites."""
    return pair.instrument == TOGETHER or call.passages == (pair.premise,)


def grouped(pairs: Sequence[Pair], key: Callable[[Pair], Hashable]) -> Iterable[list[Pair]]:
    """Pairs of equal keys, in the order in which the keys come."""
    groups: dict[Hashable, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(key(pair), []).append(pair)
    return groups.values()


def in_calls_of(most: int | None, group: list[Pair]) -> Iterator[list[Pair]]:
    """The group in pieces of at most `most` pairs, if it is a number."""
    size = most or len(group)
    for start in range(0, len(group), size):
        yield group[start : start + size]


def _against_a_premise(form: Form, pairs: Sequence[Pair], most: int | None) -> Iterator[Call]:
    """All hypotheses of one author's part against one premise, or `most` of them, in one call."""
    for group in grouped(pairs, lambda p: (p.instrument, p.premise, p.author, p.part)):
        for own in in_calls_of(most, group):
            questions = [{"hypothesis": pair.hypothesis} for pair in own]
            yield Call(form, {form.material: own[0].premise}, questions, [[pair] for pair in own])


def _of_statements(form: Form, pairs: Sequence[Pair], _: int | None) -> Iterator[Call]:
    """One call per cited statement; each question alone where not all of its passages are there."""
    for group in grouped(pairs, lambda p: (p.context or p.premise, p.hypothesis)):
        whole = group[0].context or group[0].premise
        passages = _cited(whole, {pair.premise for pair in group if pair.instrument == ALONE})
        shared = [p for p in group if p.instrument == TOGETHER or _about(p, passages)]
        calls = [(passages or (whole,), shared)] if shared else []
        calls += [((pair.premise,), [pair]) for pair in group if pair not in shared]
        for texts, asked in calls:
            material = {form.material: numbered_passages(texts)}
            yield Call(form, material, [{"statement": asked[0].hypothesis}], [asked], texts)


def _of_two_texts(form: Form, pairs: Sequence[Pair], _: int | None) -> Iterator[Call]:
    for pair in pairs:
        question = {"first": pair.premise, "second": pair.hypothesis}
        yield Call(form, {form.material: pair.context}, [question], [[pair]])


def _cited(whole: str, alone: Collection[str]) -> tuple[str, ...]:
    """The passages that newlines join, in their order; none if not all of them are known."""
    found, left = [], f"{whole}\n"
    longest_first = sorted(alone, key=len, reverse=True)
    while left:
        passage = next((p for p in longest_first if left.startswith(f"{p}\n")), None)
        if passage is None:
            return ()
        found.append(passage)
        left = left[len(passage) + 1 :]
    return tuple(dict.fromkeys([*found, *sorted(alone)]))


def _about(pair: Pair, passages: Sequence[str]) -> list[int]:
    """The passages, by number, that a question about one citation asks about or leaves out."""
    alone = pair.instrument == ALONE
    return [
        number
        for number, passage in enumerate(passages, start=1)
        if (pair.premise == passage if alone else leaves_out(pair, passage))
    ]


_YES_OR_NO = (ENTAILED, NOT_ENTAILED)


def _listed(instrument: str, field: Literal["label", "grade"], *values: str | int) -> Form:
    prompt = f"judge-{instrument.replace('_', '-')}"
    return Form(
        (instrument,), prompt, "premise", ("hypothesis",), field, values, _against_a_premise
    )


FORMS = (
    Form(
        *((TOGETHER, ALONE, REST), "judge-attribution", "passages", ("statement",), "label"),
        *(_YES_OR_NO, _of_statements),
        passages=True,
    ),
    Form(
        *(("preference",), "judge-preference", "context", ("first", "second"), "label"),
        *(("first", "second", "neither"), _of_two_texts),
    ),
    _listed("entailment", "label", *_YES_OR_NO),
    _listed("same_question", "label", "same", "different"),
    _listed("support_grade", "grade", 0, 1, 2, 3),
    _listed("three_way", "label", "entailed", "neutral", "contradicted"),
)


Style = Literal["plain", "json", "cot", "json_cot"]
JSON_STYLES: tuple[Style, ...] = ("json", "json_cot")

_BY = re.compile(rf"{ENTAILED} by (\d{{1,9}}(?:, \d{{1,9}})*)")
_SEEN = 3  # passages that the form's sample speaks of


class _Naming(Answer):
    """An answer that names the passages that it rests on: some exactly where they entail."""

    @model_validator(mode="after")
    def _names(self) -> Self:
        said = self.model_dump()
        if said["label"] == ENTAILED and not said["passages"]:
            raise ValueError("rests on no passage")
        return self


@functools.lru_cache(maxsize=1024)
def answer_model(form: Form, style: Style, passages: int = 0) -> type[Answer]:
    """What is answered of one question: number, the reason before it if wanted, and the answer.

    Of a statement that is not entailed, some of the `passages` may be named; they mean nothing.
    """
    value: Any = Literal[form.values]
    fields: dict[str, Any] = {form.field: (value, ...)}
    if form.passages:
        place: Any = Literal[tuple(range(1, passages + 1))]
        fields["passages"] = (list[place], ...)
    base = _Naming if form.passages else Answer
    return create_model("Answered", __base__=base, **reason_of(style), **fields)


def reason_of(style: Style) -> dict[str, Any]:
    """The field of an answer's reason, if the style has one; of lines it may be missing."""
    if style == "json_cot":
        return {"reason": (str, ...)}
    return {"reason": (str | None, ...)} if style == "cot" else {}


def entries_of(form: Form, style: Style) -> Entries:
    """What finds the answers in a reply."""
    return found_by(style, functools.partial(_read, form))


def found_by(style: Style, read: Read) -> Entries:
    """What finds the answers in a reply of a style; `read` reads what a line says."""
    if style in JSON_STYLES:
        return json_entries
    return functools.partial(lines_below if style == "cot" else last_lines, read=read)


def written(form: Form, style: Style, answers: Sequence[Mapping[str, Any]]) -> str:
    """The reply that gives these answers, by number from 1; with reasons if the style does."""
    names = ["reason", form.field, *(["passages"] if form.passages else [])]
    entries = [{name: answer[name] for name in names} for answer in answers]
    return reply(style, entries, [_line(form, answer) for answer in answers])


def reply(style: Style, entries: Sequence[Mapping[str, Any]], lines: Sequence[str]) -> str:
    """The reply in a style: answers as the entries of JSON, each with a reason, and as lines."""
    if style in JSON_STYLES:
        leave = () if style == "json_cot" else ("reason",)
        items = [
            {"number": number, **{name: v for name, v in entry.items() if name not in leave}}
            for number, entry in enumerate(entries, start=1)
        ]
        return json.dumps({"items": items}, ensure_ascii=False)
    numbered = [f"{number}: {line}" for number, line in enumerate(lines, start=1)]
    if style == "plain":
        return "\n".join(numbered)
    reasons = [(number, entry["reason"]) for number, entry in enumerate(entries, start=1)]
    thoughts = [f"{number}: {reason}" for number, reason in reasons if reason]
    return "\n".join([*thoughts, "", MARK, *numbered])


def sample(form: Form, style: Style) -> str:
    """The form of a reply, with each answer that there can be."""
    answers = [
        {"reason": "...", form.field: value, "passages": [1, _SEEN] if value == ENTAILED else []}
        for value in form.values
    ]
    return written(form, style, answers)


def _read(form: Form, said: str) -> dict[str, Any]:
    """The fields of a line; what is none of the form's values stays a text, and so is not valid."""
    if form.field == "grade":
        return {"grade": int(said) if said in map(str, form.values) else said}
    if not form.passages:
        return {"label": said}
    named = _BY.fullmatch(said)
    if named is None:
        return {"label": said, "passages": []}
    return {"label": ENTAILED, "passages": [int(number) for number in named[1].split(", ")]}


def _line(form: Form, answer: Mapping[str, Any]) -> str:
    if form.passages and answer["passages"]:
        return f"{answer['label']} by {', '.join(map(str, answer['passages']))}"
    return str(answer[form.field])


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


def _of_criteria(form: Form, pairs: Sequence[Pair], most: int | None) -> Iterator[Call]:
    """All criteria by which a text is read, against the same, or `most` of them, in one call."""
    named = sorted(pairs, key=lambda p: (criterion_of(p).criterion, p.pair_id))
    ordered = sorted(named, key=lambda p: (p.premise, p.hypothesis))
    for group in grouped(ordered, lambda p: (p.premise, p.hypothesis)):
        for own in in_calls_of(most, group):
            criteria = [criterion_of(pair) for pair in own]
            material = {"against": own[0].premise or None, "text": own[0].hypothesis}
            questions = [_question(criterion) for criterion in criteria]
            yield Call(form, material, questions, [[pair] for pair in own], (), criteria)


CRITERIA_FORMS = tuple(
    Form((name,), f"judge-{name}", "text", (), "grade", (), _of_criteria, against=True)
    for name in RUBRIC
)


def _question(criterion: Criterion) -> dict[str, object]:
    asks: dict[str, object] = {"criterion": criterion.criterion, "asks": criterion.asks}
    if isinstance(criterion, Scale):
        return asks | {"levels": {str(n): criterion.levels[str(n)] for n in criterion.grades}}
    items = [{"item": n, "text": item} for n, item in enumerate(criterion.items or (), start=1)]
    return asks | {"items": items or None, "most": criterion.most}


def criterion_model(criterion: Criterion, number: int, style: Style) -> type[Answer]:
    """What is answered of the criterion with this number: a reason if wanted, then the answer."""
    if isinstance(criterion, Scale):
        return _scale_model(number, criterion.grades, style)
    return _penalties_model(number, len(criterion.items or ()), criterion.most, style)


def criterion_entries(style: Style) -> Entries:
    """What finds the answers in a reply."""
    return found_by(style, _read_grade)


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


def criterion_sample(instrument: str, style: Style) -> str:
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


def _read_grade(said: str) -> dict[str, Any]:
    """The fields of a line; what is no answer stays a text, and so is not valid."""
    named = _ITEMS.fullmatch(said)
    if named:
        return {"violated": [int(number) for number in named[1].split(", ")]}
    if said == _NONE:
        return {"violated": []}
    return {"grade": int(said) if _NUMBER.fullmatch(said) else said}


def _distinct(quotes: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(quote.strip() for quote in quotes if quote.strip()))
