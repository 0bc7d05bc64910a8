"""Texts asked for in words: what a model that follows instructions is told, and what it wrote.

Every document (and, where sections are written one by one, every section) is one order. Passages
are numbered from 0, so that `[n]` cites passages[n].
"""

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, get_args

import pandas as pd
from pydantic import Field, model_validator

from metassay import __version__
from metassay.core.errors import BadInput, raise_problems, shown
from metassay.core.options import Name, Options
from metassay.datasets import own_data
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
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import csv_records
from metassay.tabular.rows import Findings
from metassay.text.boundaries import boundaries
from metassay.text.citations import parse
from metassay.text.headings import SECTIONS, divide
from metassay.text.sentences import sentences
from metassay.units.alignment.rouge import mean_rouge

_FETCH = "fetch the dataset"
_TURN = re.compile(r"^\[([a-z_]+)\]", re.MULTILINE)
_LAST_MARK = re.compile(r"[.?!]+[)\"'*_]*$")


class Example(NamedTuple):
    """A source and the text that a person wrote from it; speakers is as long as passages."""

    name: str
    task: str
    passages: Sequence[str]
    speakers: Sequence[str]
    text: str


def read_examples(names: Sequence[str], raw: Path) -> list[Example]:
    """The examples of these names, in order, from a folder per dataset; BadInput lists faults."""
    problems = [f"example {n!r} is named twice; once is enough" for n in _repeated(names)]
    found: dict[str, Mapping[str, Example]] = {}
    for name in names:
        dataset, split, doc_id = [*name.split("/", 2), "", ""][:3]
        if not (dataset and split and doc_id) or ".." in (dataset, split):
            problems.append(f"example {shown(name)}: write dataset/split/id")
            continue
        place = f"{dataset}/{split}"
        if place not in found:
            try:
                found[place] = {e.name: e for e in SETS.get(dataset, _own)(raw, dataset, split)}
            except BadInput as error:
                problems += error.problems
                found[place] = {}
                continue
        if found[place] and name not in found[place]:
            problems.append(f"example {shown(name)}: {place} has no id {shown(doc_id)}; correct it")
    raise_problems(problems)
    return [found["/".join(name.split("/", 2)[:2])][name] for name in names]


def with_citations(example: Example) -> Example:
    """The example, its sentences followed by the passage most like each, if it cites nothing.

    Most like is by the mean F1 of ROUGE-1, -2 and -L, the first of equals; a sentence that shares
    no word with any passage stays uncited. Some citations are wrong: people cited nothing there.
    """
    spans = sentences(example.text)
    said = [example.text[start:end] for start, end in spans]
    if not said or not example.passages or any(parse(sentence).citations for sentence in said):
        return example
    values = mean_rouge(example.passages, said)
    text, done = "", 0
    for (start, end), sentence, row in zip(spans, said, values, strict=True):
        best = int(row.argmax())
        mark = _LAST_MARK.search(sentence)
        at = start + (mark.start() if mark else len(sentence))
        cited = f" [{best}]" if row[best] > 0 else ""
        text += example.text[done:at] + cited + example.text[at:end]
        done = end
    return example._replace(text=text + example.text[done:])


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _aci_bench_train(raw: Path, dataset: str, split: str) -> list[Example]:
    """ACI-BENCH's training and validation notes (Yim et al. 2023), by encounter_id."""
    path = raw / dataset / f"{_split(dataset, split, ('train', 'valid'))}.csv"
    problems = Findings()
    required = ("encounter_id", "dialogue", "note")
    records = csv_records(path, problems, required=required, remedy=_FETCH)
    raise_problems(problems.lines())
    examples = []
    for record in records:
        fields = record.fields
        _, *turns = _TURN.split(fields["dialogue"])
        speakers, passages = turns[0::2], [turn.strip() for turn in turns[1::2]]
        name = f"{dataset}/{split}/{fields['encounter_id']}"
        examples.append(Example(name, "note", passages, speakers, fields["note"].strip()))
    return examples


def _meqsum(raw: Path, dataset: str, split: str) -> list[Example]:
    """MeQSum's questions (Ben Abacha and Demner-Fushman 2019), all of them `train`, by File."""
    _split(dataset, split, ("train",))
    path = raw / dataset / "MeQSum_ACL2019_BenAbacha_Demner-Fushman.xlsx"
    if not path.exists():
        raise BadInput(f"{path.name}: is not in {path.parent}; {_FETCH}")
    # Here, because few systems are shown questions, and it takes a while to import.
    import openpyxl

    with contextlib.closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
        header, *rows = book.worksheets[0].iter_rows(max_col=3, values_only=True)
    if header != ("File", "CHQ", "Summary"):
        raise BadInput(f"{path.name}: line 1 must name the columns File, CHQ, Summary; {_FETCH}")
    examples = []
    for doc_id, question, summary in rows:
        text = str(question)
        found: list[str] = []
        for line in text.splitlines():
            ends = [0, *boundaries(line), len(line)]
            found += [line[a:b].strip() for a, b in itertools.pairwise(ends)]
        passages = [*filter(None, found)]
        speakers = [""] * len(passages)
        name = f"{dataset}/{split}/{doc_id}"
        examples.append(Example(name, "question", passages, speakers, str(summary).strip()))
    return examples


def _own(raw: Path, dataset: str, split: str) -> list[Example]:
    """Anybody's own data, as in docs/own-data.md."""
    rows, place = own_data.read(raw / dataset / split), f"{dataset}/{split}"
    raise_problems(f"example set {place}: {line}" for line in rows.problems.lines())
    written = [
        (row.doc_id, row.text)
        for row in rows.texts
        if row.author == REFERENCE and row.part == FULL and row.text is not None
    ]
    twice = _repeated(row.doc_id for row in rows.sources)
    twice += _repeated(doc_id for doc_id, _ in written)
    fix = "keep one source and one reference of it"
    raise_problems(
        f"example set {place}: doc_id {shown(doc_id)} is there twice; {fix}"
        for doc_id in sorted(set(twice))
    )
    texts = dict(written)
    return [
        Example(f"{place}/{row.doc_id}", row.task, row.passages, row.speaker, texts[row.doc_id])
        for row in rows.sources
        if row.doc_id in texts
    ]


def _split(dataset: str, split: str, known: tuple[str, ...]) -> str:
    if split not in known:
        raise BadInput(f"example set {dataset!r} has no split {shown(split)}; it has {known}")
    return split


SETS: Mapping[str, Callable[[Path, str, str], list[Example]]] = {
    "aci_bench_train": _aci_bench_train,
    "meqsum": _meqsum,
}


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
