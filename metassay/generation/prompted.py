"""Texts asked for in words: what a model that follows instructions is told, and what it wrote.

Every document (and, where sections are written one by one, every section) is one order. Passages
are numbered from 0, so that `[n]` cites passages[n].
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, get_args

import pandas as pd
from pydantic import Field, model_validator

from metassay import __version__
from metassay.core.errors import raise_problems, shown
from metassay.core.options import Name, Options
from metassay.generation.few_shot import Example, with_citations
from metassay.llm.messages import Message
from metassay.llm.needs import PromptFile
from metassay.llm.prompts import (
    PROMPTS,
    Kind,
    Prompt,
    datasets_of,
    examples_field,
    file_of,
    load,
    render,
)
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL
from metassay.text.headings import SECTIONS, divide

Task = Literal["note", "impression", "question", "abstract"]
Status = Literal["ok", "unparsed", "refused", "truncated", "error"]

NOTHING = "NONE"  # what the prompts ask for where a section has nothing to say
_NOTHING = re.compile(r"[\W\d]*none[\W\d]*", re.IGNORECASE)  # "NONE.", "None [3]"


class Style(Options):
    """What a text is asked for with.

    `unit`: a note is written whole or section by section; the other tasks have no sections.
    `prompts` names another prompt than `write-<task>-cited|uncited` (`write-section-...` for a
    note's sections) for some tasks. `examples` are named `dataset/split/id`; every task that is
    written must have `shots` of them. `example_citations`: where citations are asked for and an
    example has none, `none` shows it as it is, `overlap` cites what is most like each sentence.
    """

    unit: Literal["full", "section"]
    citations: bool
    shots: int = Field(ge=0)
    examples: list[str]
    example_citations: Literal["none", "overlap"]
    prompts: dict[Task, Name] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_its_shots(self) -> Self:
        if self.shots > len(self.examples) or (self.examples and not self.shots):
            many = len(self.examples)
            raise ValueError(f"shots is {self.shots}, but examples has {many}; correct one of them")
        return self


def prompt_files(style: Style) -> list[PromptFile]:
    """The prompts that a style can use, whichever tasks its sources have."""
    found = []
    for task in get_args(Task):
        section: dict[str, Kind] = {"section": "text"} if _by_section(task, style) else {}
        found.append(PromptFile(file_of(_prompt_of(task, style)), {"passages": "data", **section}))
    return sorted(found, key=lambda one: one.path)


def example_datasets(style: Style) -> list[str]:
    """The datasets that a style's examples are from."""
    return datasets_of(style.examples)


class Order(NamedTuple):
    """One text to be written: its row, the style's part of its recipe, and the messages that ask.

    There are no messages where the source has no passage to write from.
    """

    doc_id: str
    part: str
    messages: tuple[Message, ...]
    recipe: str


class Written(NamedTuple):
    """What came of an order; text is None unless status is ok."""

    status: Status
    text: str | None


class _Way(NamedTuple):
    prompt: Prompt
    examples: Sequence[Example]
    parts: tuple[str, ...]
    recipe: str


def orders(
    sources: pd.DataFrame,
    style: Style,
    examples: Sequence[Example] = (),
    *,
    prompts: Path = PROMPTS,
) -> list[Order]:
    """What is to be written for SOURCES, and with which messages, by doc_id and part.

    Examples come as earlier turns of the same conversation. Raises BadInput if they are not those
    that style.examples names, or not style.shots of each task, if one of them is a document that is
    to be written, or if a prompt is not usable.
    """
    ways = _ways(sources, style, examples, prompts)
    found = []
    ordered = sources.sort_values("doc_id")
    columns: Any = (ordered[name] for name in ("doc_id", "task", "passages", "speaker"))
    for doc_id, task, passages, speakers in zip(*columns, strict=True):
        way = ways[task]
        if not any(passage.strip() for passage in passages):
            found.append(Order(doc_id, FULL, (), way.recipe))
            continue
        for part in way.parts:
            messages = _conversation(way, part, passages, speakers, style.citations)
            found.append(Order(doc_id, part, messages, way.recipe))
    return found


def texts_of(
    ordered: Sequence[Order], written: Sequence[Written], name: str, recipe: str
) -> pd.DataFrame:
    """Rows of TEXTS for orders and what came of them, in their order; `recipe` leads theirs.

    A section of which the model says that there is nothing (NONE) has no row; a note of which it
    says so for every section is one row `full`, unparsed. No passage: status error.
    """
    rows: dict[str, list[tuple[object, ...]]] = {}
    for order, (status, text) in zip(ordered, written, strict=True):
        own = rows.setdefault(order.doc_id, [])
        full = f"{recipe}|{order.recipe}|metassay:{__version__}"
        if order.part != FULL and text is not None and _NOTHING.fullmatch(text):
            if order.part == SECTIONS[-1] and not own:
                own.append((order.doc_id, name, FULL, None, "unparsed", full))
            continue
        own.append((order.doc_id, name, order.part, text, status, full))
    flat = [row for own in rows.values() for row in own]
    return pd.DataFrame(flat, columns=list(TEXTS.columns))


def _ways(
    sources: pd.DataFrame, style: Style, examples: Sequence[Example], folder: Path
) -> Mapping[str, _Way]:
    raise_problems(list(_example_problems(sources, style, examples)))
    shown = examples
    if style.citations and style.example_citations == "overlap":
        shown = [with_citations(example) for example in examples]
    return {
        task: _way(task, style, [e for e in shown if e.task == task], folder)
        for task in sorted(sources["task"].unique())
    }


def _by_section(task: Task, style: Style) -> bool:
    return task == "note" and style.unit == "section"


def _prompt_of(task: Task, style: Style) -> str:
    kind = "section" if _by_section(task, style) else task
    default = f"write-{kind}-{'cited' if style.citations else 'uncited'}"
    return style.prompts.get(task, default)


def _way(task: Task, style: Style, examples: Sequence[Example], folder: Path) -> _Way:
    by_section = _by_section(task, style)
    prompt = load(_prompt_of(task, style), folder)
    settings = [f"prompt:{prompt.signature}", f"unit:{'section' if by_section else 'full'}"]
    settings += [f"citations:{'yes' if style.citations else 'no'}", f"shots:{style.shots}"]
    if examples:
        settings.append(examples_field([example.name for example in examples]))
    if examples and style.citations:
        settings.append(f"example_citations:{style.example_citations}")
    return _Way(prompt, examples, SECTIONS if by_section else (FULL,), "|".join(settings))


def _example_problems(
    sources: pd.DataFrame, style: Style, examples: Sequence[Example]
) -> Iterator[str]:
    if [example.name for example in examples] != style.examples:
        yield f"examples: {len(examples)} are given, {len(style.examples)} named; give those named"
    for task in sorted(sources["task"].unique()):
        count = sum(example.task == task for example in examples)
        if count != style.shots:
            yield (
                f"examples: {count} of task {task!r}, but shots is {style.shots}; name as many, or"
                " correct shots"
            )
    known = {tuple(example.passages): example.name for example in examples}
    for doc_id, passages in zip(sources["doc_id"], sources["passages"], strict=True):
        if tuple(passages) in known:
            name = known[tuple(passages)]
            yield (
                f"example {shown(name)} is document {shown(doc_id)}, which is to be written; take"
                " another"
            )


def _conversation(
    way: _Way, part: str, passages: Sequence[str], speakers: Sequence[str], numbered: bool
) -> tuple[Message, ...]:
    section = {} if part == FULL else {"section": part}

    def asked(passages: Sequence[str], speakers: Sequence[str]) -> tuple[Message, ...]:
        return render(way.prompt, passages=_listed(passages, speakers, numbered), **section)

    system, question = asked(passages, speakers)
    earlier: list[Message] = []
    for example in way.examples:
        _, shown = asked(example.passages, example.speakers)
        earlier += [shown, Message("assistant", _part_of(example.text, part))]
    return (system, *earlier, question)


def _listed(
    passages: Sequence[str], speakers: Sequence[str], numbered: bool
) -> list[dict[str, object]]:
    listed: list[dict[str, object]] = []
    for number, (passage, speaker) in enumerate(zip(passages, speakers, strict=True)):
        said = {"speaker": speaker, "text": passage} if speaker else {"text": passage}
        listed.append({"n": number, **said} if numbered else {**said})
    return listed


def _part_of(note: str, part: str) -> str:
    if part == FULL:
        return note
    pieces = divide(note, compat="none").get(part, [])
    return "\n\n".join(note[start:end] for start, end in pieces) or NOTHING
