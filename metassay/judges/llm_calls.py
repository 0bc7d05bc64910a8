"""The calls of an LLM judge, by instrument, and the form of the answers in each style.

A call shows the text that its questions share once (`material`), and its questions by number. Which
pairs share a call does not depend on their order, and equal pairs are asked once.

Styles: `plain` is a line per answer, `json` a JSON list; `cot` and `json_cot` begin with reasons.
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
    """One call: the form's variables except `items`, and the question and pairs of each number."""

    form: "Form"
    material: Mapping[str, object]
    questions: Sequence[Mapping[str, object]]
    pairs: Sequence[Sequence[Pair]]
    passages: tuple[str, ...] = ()  # by number, from 1, if answers name passages
    criteria: Sequence[Criterion] = ()  # by number, if the questions are criteria of a rubric


@dataclass(frozen=True)
class Form:
    """How an instrument (or a family of them) is asked, and the possible answers.

    `prompt` is its file in prompts/, with a variable `material` (and maybe `against`) for the text
    that all questions of a call share, and `items` for the questions, which have the texts `asks`.
    `field` is the answer's field, `values` its possible values. `calls(form, pairs, most)` groups
    pairs into calls of at most `most` questions, or any number. `passages`: answers name passages.
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
        """The kinds of the prompt's variables."""
        names = [self.material, *(["against"] if self.against else []), "items"]
        return dict.fromkeys(names, "data")


def calls_of(forms: Iterable[Form], pairs: Iterable[Pair], most: int | None) -> list[Call]:
    """Return the calls that ask about every pair once, in the order of forms and of material."""
    distinct = sorted(
        {pair.pair_id: pair for pair in pairs}.values(),
        key=lambda p: (p.context or "", p.premise, p.author, p.part, p.hypothesis, p.pair_id),
    )
    calls: list[Call] = []
    for form in forms:
        of_form = [pair for pair in distinct if pair.instrument in form.instruments]
        calls += form.calls(form, of_form, most)
    return calls


def numbered_passages(passages: Sequence[str]) -> list[dict[str, object]]:
    """Return passages with their numbers, as a prompt shows them."""
    return [{"number": n, "text": text} for n, text in enumerate(passages, start=1)]


def label_citation(call: Call, pair: Pair, label: str, named: Collection[int]) -> str:
    """Return the label of one citation question, from the answer about all cited passages.

    If all together entail, a single passage does if it is named, the others if it is not.
    """
    if is_whole(call, pair):
        return label
    # If passages contain line breaks, the same text can lack one passage or another.
    is_named = all(place in named for place in _about(pair, call.passages))
    holds = label == ENTAILED and is_named == (pair.instrument == ALONE)
    return ENTAILED if holds else NOT_ENTAILED


def is_whole(call: Call, pair: Pair) -> bool:
    """Return whether a pair asks about all passages that its statement cites."""
    return pair.instrument == TOGETHER or call.passages == (pair.premise,)


def group_by(pairs: Sequence[Pair], key: Callable[[Pair], Hashable]) -> Iterable[list[Pair]]:
    """Group pairs by key, in the order of the first pair of each."""
    groups: dict[Hashable, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(key(pair), []).append(pair)
    return groups.values()


def in_calls_of(most: int | None, group: list[Pair]) -> Iterator[list[Pair]]:
    """Yield the group in pieces of at most `most` pairs; whole if None."""
    size = most or len(group)
    for start in range(0, len(group), size):
        yield group[start : start + size]


def _against_a_premise(form: Form, pairs: Sequence[Pair], most: int | None) -> Iterator[Call]:
    """Ask about the hypotheses of an author's part and one premise in calls of at most `most`."""
    for group in group_by(pairs, lambda p: (p.instrument, p.premise, p.author, p.part)):
        for piece in in_calls_of(most, group):
            questions = [{"hypothesis": pair.hypothesis} for pair in piece]
            material = {form.material: piece[0].premise}
            yield Call(form, material, questions, [[pair] for pair in piece])


def _of_statements(form: Form, pairs: Sequence[Pair], _: int | None) -> Iterator[Call]:
    """Ask about a statement's citations in one call; alone if the pairs lack some passages."""
    for group in group_by(pairs, lambda p: (p.context or p.premise, p.hypothesis)):
        whole = group[0].context or group[0].premise
        passages = _split_cited(whole, {pair.premise for pair in group if pair.instrument == ALONE})
        shared = [p for p in group if p.instrument == TOGETHER or _about(p, passages)]
        calls = [(passages or (whole,), shared)] if shared else []
        calls += [((pair.premise,), [pair]) for pair in group if pair not in shared]
        for texts, of_call in calls:
            material = {form.material: numbered_passages(texts)}
            yield Call(form, material, [{"statement": of_call[0].hypothesis}], [of_call], texts)


def _of_two_texts(form: Form, pairs: Sequence[Pair], _: int | None) -> Iterator[Call]:
    for pair in pairs:
        question = {"first": pair.premise, "second": pair.hypothesis}
        yield Call(form, {form.material: pair.context}, [question], [[pair]])


def _split_cited(whole: str, alone: Collection[str]) -> tuple[str, ...]:
    """Split passages that newlines join into those of `alone`, in order; () if it lacks some."""
    passages, left = [], f"{whole}\n"
    longest_first = sorted(alone, key=len, reverse=True)
    while left:
        passage = next((p for p in longest_first if left.startswith(f"{p}\n")), None)
        if passage is None:
            return ()
        passages.append(passage)
        left = left[len(passage) + 1 :]
    return tuple(dict.fromkeys([*passages, *sorted(alone)]))


def _about(pair: Pair, passages: Sequence[str]) -> list[int]:
    """Return the numbers of the passages that a citation question asks about or leaves out."""
    alone = pair.instrument == ALONE
    return [
        number
        for number, passage in enumerate(passages, start=1)
        if (pair.premise == passage if alone else leaves_out(pair, passage))
    ]


_YES_OR_NO = (ENTAILED, NOT_ENTAILED)


def _premise_form(instrument: str, field: Literal["label", "grade"], *values: str | int) -> Form:
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
    _premise_form("entailment", "label", *_YES_OR_NO),
    _premise_form("same_question", "label", "same", "different"),
    _premise_form("support_grade", "grade", 0, 1, 2, 3),
    _premise_form("three_way", "label", "entailed", "neutral", "contradicted"),
)


Style = Literal["plain", "json", "cot", "json_cot"]
JSON_STYLES: tuple[Style, ...] = ("json", "json_cot")

_BY = re.compile(rf"{ENTAILED} by (\d{{1,9}}(?:, \d{{1,9}})*)")
_SAMPLE_PASSAGES = 3  # that the sample of a reply mentions


class _Naming(Answer):
    """An answer that names the passages that support it: at least one if it is entailed."""

    @model_validator(mode="after")
    def _check_passages(self) -> Self:
        fields = self.model_dump()
        if fields["label"] == ENTAILED and not fields["passages"]:
            raise ValueError("rests on no passage")
        return self


@functools.lru_cache(maxsize=1024)
def answer_model(form: Form, style: Style, passages: int = 0) -> type[Answer]:
    """Return the model of an answer: number, the reason if the style has reasons, and the value.

    An answer `not_entailed` may name some of the `passages`, which are then ignored.
    """
    value: Any = Literal[form.values]
    fields: dict[str, Any] = {form.field: (value, ...)}
    if form.passages:
        place: Any = Literal[tuple(range(1, passages + 1))]
        fields["passages"] = (list[place], ...)
    base = _Naming if form.passages else Answer
    return create_model("Answered", __base__=base, **reason_of(style), **fields)


def reason_of(style: Style) -> dict[str, Any]:
    """Return the field of an answer's reason, if the style has one; it may be None in `cot`."""
    if style == "json_cot":
        return {"reason": (str, ...)}
    return {"reason": (str | None, ...)} if style == "cot" else {}


def entries_of(form: Form, style: Style) -> Entries:
    """Return the function that reads the answers in a reply."""
    return make_reader(style, functools.partial(_read, form))


def make_reader(style: Style, read: Read) -> Entries:
    """Return the function that reads the answers in a reply; `read` reads the value of a line."""
    if style in JSON_STYLES:
        return json_entries
    return functools.partial(lines_below if style == "cot" else last_lines, read=read)


def write_reply(form: Form, style: Style, answers: Sequence[Mapping[str, Any]]) -> str:
    """Return the reply with these answers, numbered from 1, with reasons if the style has them."""
    names = ["reason", form.field, *(["passages"] if form.passages else [])]
    entries = [{name: answer[name] for name in names} for answer in answers]
    return reply(style, entries, [_line(form, answer) for answer in answers])


def reply(style: Style, entries: Sequence[Mapping[str, Any]], lines: Sequence[str]) -> str:
    """Return a reply in a style; the answers are JSON entries, each with a reason, and lines."""
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
    """Return a reply that shows its form, with each possible answer."""
    answers = [
        {
            "reason": "...",
            form.field: value,
            "passages": [1, _SAMPLE_PASSAGES] if value == ENTAILED else [],
        }
        for value in form.values
    ]
    return write_reply(form, style, answers)


def _read(form: Form, line: str) -> dict[str, Any]:
    """Read the fields of a line; other values than the form's stay text, which is not valid."""
    if form.field == "grade":
        return {"grade": int(line) if line in map(str, form.values) else line}
    if not form.passages:
        return {"label": line}
    named = _BY.fullmatch(line)
    if named is None:
        return {"label": line, "passages": []}
    return {"label": ENTAILED, "passages": [int(number) for number in named[1].split(", ")]}


def _line(form: Form, answer: Mapping[str, Any]) -> str:
    if form.passages and answer["passages"]:
        return f"{answer['label']} by {', '.join(map(str, answer['passages']))}"
    return str(answer[form.field])


_NUMBER = re.compile(r"0|-?[1-9]\d{0,8}")
_ITEMS = re.compile(r"items? (\d{1,9}(?:, \d{1,9})*)")
_NONE = "none"
_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)

# Possible answers by instrument, for the sample of a reply.
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
    """The grade of an answer; `quotes` are those of the model, none of them empty."""

    grade: float
    quotes: list[str]
    explanation: str | None


def _of_criteria(form: Form, pairs: Sequence[Pair], most: int | None) -> Iterator[Call]:
    """Ask about the criteria of a text and what it is held against in calls of at most `most`."""
    by_name = sorted(pairs, key=lambda p: (criterion_of(p).criterion, p.pair_id))
    ordered = sorted(by_name, key=lambda p: (p.premise, p.hypothesis))
    for group in group_by(ordered, lambda p: (p.premise, p.hypothesis)):
        for piece in in_calls_of(most, group):
            criteria = [criterion_of(pair) for pair in piece]
            material = {"against": piece[0].premise or None, "text": piece[0].hypothesis}
            questions = [_question(criterion) for criterion in criteria]
            yield Call(form, material, questions, [[pair] for pair in piece], (), criteria)


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
    """Return the model of an answer to a criterion: number, reason if any, and the value."""
    if isinstance(criterion, Scale):
        return _scale_model(number, criterion.grades, style)
    return _penalties_model(number, len(criterion.items or ()), criterion.most, style)


def criterion_entries(style: Style) -> Entries:
    """Return the function that reads the answers in a reply."""
    return make_reader(style, _read_grade)


def grade_of(criterion: Criterion, fields: Mapping[str, Any]) -> Graded:
    """Return the grade that the fields of an answer, or of a solved example, stand for."""
    reason = fields.get("reason") or ""
    if isinstance(criterion, Scale):
        return Graded(float(fields["grade"]), _distinct(fields.get("quotes", ())), reason or None)
    if "grade" in fields:
        return Graded(float(fields["grade"]), [], reason or None)
    violations = fields.get("violations") or [{"item": n} for n in fields.get("violated", ())]
    items = criterion.items or ()
    names = [items[v["item"] - 1] if items else v["what"].strip() for v in violations]
    listed = f"violated: {'; '.join(names)}" if names else "nothing is violated"
    quotes = _distinct(v.get("quote", "") for v in violations)
    return Graded(float(len(violations)), quotes, f"{reason} ({listed})" if reason else listed)


def criterion_sample(instrument: str, style: Style) -> str:
    """Return a reply that shows its form, with each kind of answer."""
    entries = [{"reason": "...", **entry} for entry in _SAMPLES[instrument]]
    return reply(style, entries, _LINES[instrument])


def solve_example(criterion: Criterion, example: Example, style: Style) -> str:
    """Return the reply that grades an example by its criterion."""
    entry: dict[str, Any] = {"reason": example.reason}
    if isinstance(criterion, Scale):
        entry |= {"quotes": list(example.quotes), "grade": example.grade}
        return reply(style, [entry], [str(example.grade)])
    fields = {"item" if criterion.items else "what", "quote"}
    violations = [violation.model_dump(include=fields) for violation in example.violations]
    entry["violations"] = violations
    listed = ", ".join(str(v["item"]) for v in violations) if criterion.items else ""
    line = (f"items {listed}" if violations else _NONE) if criterion.items else str(example.grade)
    return reply(style, [entry], [line])


@functools.lru_cache(maxsize=4096)
def _scale_model(number: int, levels: tuple[int, ...], style: Style) -> type[Answer]:
    level: Any = Literal[levels]
    quotes: dict[str, Any] = {"quotes": (list[str], ...)} if style in JSON_STYLES else {}
    return _model(number, style, {**quotes, "grade": (level, ...)})


@functools.lru_cache(maxsize=4096)
def _penalties_model(number: int, items: int, most: int | None, style: Style) -> type[Answer]:
    """Check limits by validators: some endpoints do not accept them in a schema."""
    item: Any = Literal[tuple(range(1, items + 1))] if items else None
    few = AfterValidator(functools.partial(_check_violations, most))
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


def _check_violations(most: int | None, violations: Sequence[Any]) -> Sequence[Any]:
    if most is not None and len(violations) > most:
        raise ValueError("more violations than there can be")
    names = [v if isinstance(v, int) else _name(v) for v in violations]
    if "" in names or len({*names}) < len(names):
        raise ValueError("a violation is there twice, or says nothing")
    return violations


def _name(violation: Any) -> int | str:
    """Return the violation's item; or what it is and its quote, since two can be of one sort."""
    if hasattr(violation, "item"):
        return int(violation.item)
    name = str(violation.what).strip()
    return f"{name}\n{violation.quote}" if name else ""


def _read_grade(line: str) -> dict[str, Any]:
    """Read the fields of a line; other text stays text, which is not valid."""
    named = _ITEMS.fullmatch(line)
    if named:
        return {"violated": [int(number) for number in named[1].split(", ")]}
    if line == _NONE:
        return {"violated": []}
    return {"grade": int(line) if _NUMBER.fullmatch(line) else line}


def _distinct(quotes: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(quote.strip() for quote in quotes if quote.strip()))
