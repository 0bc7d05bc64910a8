"""How an LLM judge's answers look in each style: their models, how they are read and written.

Styles: `plain` is a line per answer, `json` a JSON list; `cot` and `json_cot` are the same with the
reasons first.
"""

import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import create_model, model_validator

from metassay.judges.llm_calls import ENTAILED, Form
from metassay.llm.lines import MARK, Read, last_lines, lines_below
from metassay.llm.structured import Answer, Entries, json_entries

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

    `passages`: how many there are to name, where the form names them. Of a statement that is not
    entailed, passages may be named, too; they mean nothing.
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
        {
            "reason": "...",
            form.field: value,
            "passages": [1, _SEEN] if value == ENTAILED else [],
        }
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
