"""The calls of an LLM judge, by instrument, and the form of the answers in each style.

A call shows the text that its questions share once (`material`), and its questions by
number. Which pairs share a call does not depend on their order, and equal pairs are
asked once.

Styles: `plain` is a line per answer, `json` a JSON list; `cot` and `json_cot` begin
with reasons.
"""

import functools
import json
import re
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, ConfigDict, Field, create_model, model_validator

from metassay.judges.criteria import RUBRIC, Criterion, Penalties, Scale, criterion_of
from metassay.judges.lazy_citations import leaves_out
from metassay.judges.protocol import Pair
from metassay.llm.answers import json_entries
from metassay.llm.groups import Answer, Entries
from metassay.llm.lines import MARK, last_lines, lines_below
from metassay.llm.prompts import Kind
from metassay.scoring.pairing.instruments import INSTRUMENTS, Grade, Labels
from metassay.scoring.rubrics.record import Example

PerCall = Literal["part", "claim"]

TOGETHER = "attribution"
ALONE = "attribution_alone"
REST = "attribution_rest"
ENTAILED = "entailed"
NOT_ENTAILED = "not_entailed"


class Call(NamedTuple):
    """One call: the form's variables except `items`, and the question and pairs of each number."""

    form: "Form"
    material: Mapping[str, object]
    questions: Sequence[Mapping[str, object]]
    pairs: Sequence[Sequence[Pair]]
    passages: tuple[str, ...] = ()  # by number, from 1, if answers name passages
    # by number, if the questions are criteria of a rubric
    criteria: Sequence[Criterion] = ()


@dataclass(frozen=True)
class Form:
    """How an instrument (or a family of them) is asked.

    `material`: the prompt's variable for the text that all questions of a call share.
    `asks`: the texts of a question; none if it is a criterion of a rubric. `calls(form,
    pairs, most)` groups pairs into calls of at most `most` questions, or any number.
    """

    instruments: tuple[str, ...]
    material: str
    asks: tuple[str, ...]
    calls: "Callable[[Form, Sequence[Pair], int | None], Iterable[Call]]"

    @property
    def prompt(self) -> str:
        """The name of its file in prompts/."""
        return f"judge-{self.instruments[0].replace('_', '-')}"

    @property
    def filled(self) -> Mapping[str, Kind]:
        """The kinds of the prompt's variables; a criterion's text is held `against` another."""
        if self.asks:
            names = [self.material, "items"]
        else:
            names = [self.material, "against", "items"]
        return dict.fromkeys(names, "data")

    @property
    def values(self) -> tuple[str | int, ...]:
        """The possible answers; none if each criterion has its own."""
        answer = INSTRUMENTS[self.instruments[0]].answer
        if isinstance(answer, Labels):
            return answer.names
        if isinstance(answer, Grade):
            return tuple(range(int(answer.low), int(answer.high) + 1))
        return ()

    @property
    def field(self) -> Literal["label", "grade"]:
        """The answer's field with the value."""
        return (
            "label"
            if isinstance(INSTRUMENTS[self.instruments[0]].answer, Labels)
            else "grade"
        )

    @property
    def passages(self) -> bool:
        """Whether answers name passages."""
        return self.material == "passages"


def calls_of(
    forms: Iterable[Form], pairs: Iterable[Pair], most: int | None
) -> list[Call]:
    """Return the calls that ask about every pair once, in the order of forms and of material."""
    distinct = sorted(
        {pair.pair_id: pair for pair in pairs}.values(),
        key=lambda p: (
            p.context or "",
            p.premise,
            p.author,
            p.part,
            p.hypothesis,
            p.pair_id,
        ),
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
    """Return the label of a question about some of the passages, from the answer about all.

    If all together entail, a single passage does if it is named, the others if it is
    not.
    """
    # If passages contain line breaks, the same text can lack one passage or another.
    is_named = all(
        place in named for place in _find_asked_passages(pair, call.passages)
    )
    holds = label == ENTAILED and is_named == (pair.instrument == ALONE)
    return ENTAILED if holds else NOT_ENTAILED


def is_whole(call: Call, pair: Pair) -> bool:
    """Return whether a pair asks about all passages that its statement cites."""
    return pair.instrument == TOGETHER or call.passages == (pair.premise,)


def _groups(
    pairs: Iterable[Pair], key: Callable[[Pair], Hashable], most: int | None = None
) -> Iterator[list[Pair]]:
    """Group pairs by key, in the order of the first pair of each, in pieces of at most `most`."""
    groups: dict[Hashable, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(key(pair), []).append(pair)
    for group in groups.values():
        size = most or len(group)
        yield from (group[start : start + size] for start in range(0, len(group), size))


def _ask_against_premise(
    form: Form, pairs: Sequence[Pair], most: int | None
) -> Iterator[Call]:
    """Ask about the hypotheses of an author's part and one premise in calls of at most `most`."""
    for group in _groups(
        pairs, lambda p: (p.instrument, p.premise, p.author, p.part), most
    ):
        questions = [{"hypothesis": pair.hypothesis} for pair in group]
        material = {form.material: group[0].premise}
        yield Call(
            form=form,
            material=material,
            questions=questions,
            pairs=[[pair] for pair in group],
        )


def _ask_about_citations(
    form: Form, pairs: Sequence[Pair], _: int | None
) -> Iterator[Call]:
    """Ask about a statement's citations in one call; alone if the pairs lack some passages."""
    for group in _groups(pairs, lambda p: (p.context or p.premise, p.hypothesis)):
        whole = group[0].context or group[0].premise
        passages = _split_cited(
            whole, {pair.premise for pair in group if pair.instrument == ALONE}
        )
        shared = [
            p
            for p in group
            if p.instrument == TOGETHER or _find_asked_passages(p, passages)
        ]
        calls = [(passages or (whole,), shared)] if shared else []
        calls += [((pair.premise,), [pair]) for pair in group if pair not in shared]
        for texts, of_call in calls:
            material = {form.material: numbered_passages(texts)}
            yield Call(
                form=form,
                material=material,
                questions=[{"statement": of_call[0].hypothesis}],
                pairs=[of_call],
                passages=texts,
            )


def _ask_about_two_texts(
    form: Form, pairs: Sequence[Pair], _: int | None
) -> Iterator[Call]:
    for pair in pairs:
        question = {"first": pair.premise, "second": pair.hypothesis}
        yield Call(
            form=form,
            material={form.material: pair.context},
            questions=[question],
            pairs=[[pair]],
        )


def _split_cited(whole: str, alone: Collection[str]) -> tuple[str, ...]:
    """Split passages that newlines join into those of `alone`, in order; () if it lacks some."""
    passages = []
    left = f"{whole}\n"
    longest_first = sorted(alone, key=len, reverse=True)
    while left:
        passage = next((p for p in longest_first if left.startswith(f"{p}\n")), None)
        if passage is None:
            return ()
        passages.append(passage)
        left = left[len(passage) + 1 :]
    return tuple(dict.fromkeys([*passages, *sorted(alone)]))


def _find_asked_passages(pair: Pair, passages: Sequence[str]) -> list[int]:
    """Return the numbers of the passages that a citation question asks about or leaves out."""
    alone = pair.instrument == ALONE
    return [
        number
        for number, passage in enumerate(passages, start=1)
        if (pair.premise == passage if alone else leaves_out(pair, passage))
    ]


def _ask_about_criteria(
    form: Form, pairs: Sequence[Pair], most: int | None
) -> Iterator[Call]:
    """Ask about the criteria of a text and what it is held against in calls of at most `most`."""
    ordered = sorted(
        pairs,
        key=lambda p: (p.premise, p.hypothesis, criterion_of(p).criterion, p.pair_id),
    )
    for group in _groups(ordered, lambda p: (p.premise, p.hypothesis), most):
        criteria = [criterion_of(pair) for pair in group]
        material = {"against": group[0].premise or None, "text": group[0].hypothesis}
        questions = [_question(criterion) for criterion in criteria]
        yield Call(
            form=form,
            material=material,
            questions=questions,
            pairs=[[pair] for pair in group],
            passages=(),
            criteria=criteria,
        )


def _question(criterion: Criterion) -> dict[str, object]:
    asks: dict[str, object] = {"criterion": criterion.criterion, "asks": criterion.asks}
    if isinstance(criterion, Scale):
        return asks | {
            "levels": {str(n): criterion.levels[str(n)] for n in criterion.grades}
        }
    items = [
        {"item": n, "text": item}
        for n, item in enumerate(criterion.items or (), start=1)
    ]
    return asks | {"items": items or None, "most": criterion.most}


FORMS = (
    Form((TOGETHER, ALONE, REST), "passages", ("statement",), _ask_about_citations),
    Form(("preference",), "context", ("first", "second"), _ask_about_two_texts),
    *(
        Form((name,), "premise", ("hypothesis",), _ask_against_premise)
        for name in ("entailment", "same_question", "support_grade", "three_way")
    ),
)
CRITERIA_FORMS = tuple(
    Form((name,), "text", (), _ask_about_criteria) for name in RUBRIC
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
    if style in JSON_STYLES:
        return json_entries
    read = functools.partial(_read, form)
    return functools.partial(lines_below if style == "cot" else last_lines, read=read)


def select_fields(entry: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return these fields of an entry, in this order."""
    return {name: entry[name] for name in names}


def write_reply(form: Form, style: Style, answers: Sequence[Mapping[str, Any]]) -> str:
    """Return the reply with these answers, numbered from 1, with reasons if the style has them."""
    names = ["reason", form.field]
    if form.passages:
        names.append("passages")
    entries = [select_fields(answer, names) for answer in answers]
    return reply(style, entries, [_line(form, answer) for answer in answers])


def reply(
    style: Style, entries: Sequence[Mapping[str, Any]], lines: Sequence[str]
) -> str:
    """Return a reply in a style; the answers are JSON entries, each with a reason, and lines."""
    if style in JSON_STYLES:
        items = []
        for number, entry in enumerate(entries, start=1):
            item = {"number": number, **entry}
            if style != "json_cot":
                item.pop("reason", None)
            items.append(item)
        return json.dumps({"items": items}, ensure_ascii=False)
    numbered = [f"{number}: {line}" for number, line in enumerate(lines, start=1)]
    if style == "plain":
        return "\n".join(numbered)
    reasons = [
        (number, entry["reason"]) for number, entry in enumerate(entries, start=1)
    ]
    thoughts = [f"{number}: {reason}" for number, reason in reasons if reason]
    return "\n".join([*thoughts, "", MARK, *numbered])


def sample(form: Form, style: Style) -> str:
    """Return a reply that shows its form, with each kind of answer."""
    if not form.asks:
        entries, lines = _SAMPLES[form.instruments[0]]
        return reply(style, [{"reason": "...", **entry} for entry in entries], lines)
    passages = [1, _SAMPLE_PASSAGES]
    answers = [
        {"reason": "...", form.field: v, "passages": passages if v == ENTAILED else []}
        for v in form.values
    ]
    return write_reply(form, style, answers)


def _read(form: Form, line: str) -> dict[str, Any]:
    """Read the fields of a line; values of another form stay text, or are not valid."""
    if form.field == "grade":
        if items := _ITEMS.fullmatch(line):
            return {"violated": _numbers(items[1])}
        if line == _NONE:
            return {"violated": []}
        return {"grade": int(line) if _NUMBER.fullmatch(line) else line}
    if not form.passages:
        return {"label": line}
    if named := _BY.fullmatch(line):
        return {"label": ENTAILED, "passages": _numbers(named[1])}
    return {"label": line, "passages": []}


def _numbers(listed: str) -> list[int]:
    return [int(number) for number in listed.split(", ")]


def _line(form: Form, answer: Mapping[str, Any]) -> str:
    if form.passages and answer["passages"]:
        return f"{answer['label']} by {', '.join(map(str, answer['passages']))}"
    return str(answer[form.field])


_NUMBER = re.compile(r"0|-?[1-9]\d{0,8}")
_ITEMS = re.compile(r"items? (\d{1,9}(?:, \d{1,9})*)")
_NONE = "none"
_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)

# Possible answers by instrument, and their lines, for the sample of a reply.
_SAMPLES: Mapping[str, tuple[Sequence[Mapping[str, Any]], Sequence[str]]] = {
    "scale": (
        ({"quotes": ["...", "..."], "grade": 2}, {"quotes": [], "grade": 1}),
        ("2", "1"),
    ),
    "penalties": (
        (
            {"violations": [{"item": 2, "quote": "..."}, {"item": 3, "quote": ""}]},
            {"violations": []},
            {"violations": [{"what": "...", "quote": "..."}]},
        ),
        ("items 2, 3", _NONE, "1"),
    ),
}


def criterion_model(criterion: Criterion, number: int, style: Style) -> type[Answer]:
    """Return the model of an answer to a criterion: number, reason if any, and the value."""
    if isinstance(criterion, Scale):
        return _criterion_model(number, style, criterion.grades)
    return _criterion_model(
        number, style, (), len(criterion.items or ()), criterion.most
    )


def grade_of(
    criterion: Criterion, fields: Mapping[str, Any]
) -> tuple[float, list[str], str | None]:
    """Return the grade, quotes and explanation that the fields of an answer stand for."""
    reason = fields.get("reason") or ""
    if "grade" in fields:
        return (
            float(fields["grade"]),
            _distinct(fields.get("quotes", ())),
            reason or None,
        )
    violations = fields.get("violations") or [
        {"item": n} for n in fields.get("violated", ())
    ]
    items = criterion.items if isinstance(criterion, Penalties) else ()
    names = [items[v["item"] - 1] if items else v["what"].strip() for v in violations]
    listed = f"violated: {'; '.join(names)}" if names else "nothing is violated"
    quotes = _distinct(v.get("quote", "") for v in violations)
    return float(len(violations)), quotes, f"{reason} ({listed})" if reason else listed


def solve_example(criterion: Criterion, example: Example, style: Style) -> str:
    """Return the reply that grades an example by its criterion."""
    entry: dict[str, Any] = {"reason": example.reason}
    line = str(example.grade)
    if isinstance(criterion, Scale):
        entry |= {"quotes": list(example.quotes), "grade": example.grade}
    else:
        fields = {"item" if criterion.items else "what", "quote"}
        entry["violations"] = [v.model_dump(include=fields) for v in example.violations]
        if criterion.items:
            listed = ", ".join(str(violation.item) for violation in example.violations)
            line = f"items {listed}" if listed else _NONE
    return reply(style, [entry], [line])


@functools.lru_cache(maxsize=4096)
def _criterion_model(
    number: int,
    style: Style,
    grades: tuple[int, ...],
    items: int = 0,
    most: int | None = None,
) -> type[Answer]:
    """Check limits by validators: some endpoints do not accept them in a schema."""
    place: Any = Literal[number]
    fields: dict[str, Any] = {"number": (place, ...), **reason_of(style)}
    item: Any = Literal[tuple(range(1, items + 1))] if items else None
    few = AfterValidator(functools.partial(_check_violations, most))
    if grades:
        level: Any = Literal[grades]
        quotes = {"quotes": (list[str], ...)} if style in JSON_STYLES else {}
        fields |= {**quotes, "grade": (level, ...)}
    elif style in JSON_STYLES:
        named: dict[str, Any] = {"item": (item, ...)} if items else {"what": (str, ...)}
        named["quote"] = (str, ...)
        violation: Any = create_model(f"Violation{number}", __config__=_STRICT, **named)
        fields["violations"] = (Annotated[list[violation], few], ...)
    elif items:
        fields["violated"] = (Annotated[list[item], few], ...)
    else:
        fields["grade"] = (Annotated[int, Field(ge=0, le=most)], ...)
    return create_model(f"Answered{number}", __base__=Answer, **fields)


def _check_violations(most: int | None, violations: Sequence[Any]) -> Sequence[Any]:
    if most is not None and len(violations) > most:
        raise ValueError("more violations than there can be")
    names = [v if isinstance(v, int) else _name(v) for v in violations]
    if "" in names or len({*names}) < len(names):
        raise ValueError("a violation occurs twice, or is empty")
    return violations


def _name(violation: Any) -> int | str:
    """Return the violation's item; or what it is and its quote, since two can be of one sort."""
    if hasattr(violation, "item"):
        return int(violation.item)
    name = str(violation.what).strip()
    return f"{name}\n{violation.quote}" if name else ""


def _distinct(quotes: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(quote.strip() for quote in quotes if quote.strip()))
