"""Prompts for models that write texts by instructions, and the rows of their texts.

Every document is one request, or every section if sections are written one by one.
Passages are numbered from 0, so that `[n]` cites passages[n].
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

import pandas as pd
from pydantic import Field, model_validator

from metassay import __version__
from metassay.core.errors import BadInput, collect_problems, raise_problems, shown
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
from metassay.text.citations import parse
from metassay.text.headings import SECTIONS, divide
from metassay.text.sentences import sentences
from metassay.units.alignment.rouge import mean_rouge

_FETCH = "fetch the dataset"
_TURN = re.compile(r"^\[([a-z_]+)\]", re.MULTILINE)
_LAST_MARK = re.compile(r"[.?!]+[)\"'*_]*$")


class Example(NamedTuple):
    """A source and the text that a person wrote from it; `speakers` is as long as `passages`.

    `attributes`: those of the source, as JSON; None if it has none.
    """

    name: str
    task: str
    passages: Sequence[str]
    speakers: Sequence[str]
    text: str
    attributes: str | None = None


def examples_of(style: "Style", raw: Path) -> list[Example]:
    """Read the examples that a style names, or all of the set that it chooses from."""
    if style.examples_from is None:
        return read_examples(style.examples, raw)
    dataset, split = style.examples_from.split("/")
    return list(SETS.get(dataset, _read_own_data)(raw, dataset, split))


def read_examples(names: Sequence[str], raw: Path) -> list[Example]:
    """Read the named examples, in order, from a folder per dataset; BadInput lists problems."""
    problems = [
        f"example {n!r} is named twice; once is enough" for n in _find_repeated(names)
    ]
    sets: dict[str, Mapping[str, Example]] = {}
    for name in names:
        dataset, split, doc_id = [*name.split("/", 2), "", ""][:3]
        if not (dataset and split and doc_id) or ".." in (dataset, split):
            problems.append(f"example {shown(name)}: write dataset/split/id")
            continue
        place = f"{dataset}/{split}"
        if place not in sets:
            sets[place] = {}
            with collect_problems(problems):
                read = SETS.get(dataset, _read_own_data)
                sets[place] = {e.name: e for e in read(raw, dataset, split)}
        if sets[place] and name not in sets[place]:
            problems.append(
                f"example {shown(name)}: {place} has no id {shown(doc_id)}; correct it"
            )
    raise_problems(problems)
    return [sets["/".join(name.split("/", 2)[:2])][name] for name in names]


def add_citations(example: Example) -> Example:
    """Cite after each sentence the most similar passage, if the example has no citations.

    Similarity is the mean F1 of ROUGE-1, -2 and -L, ties go to the first passage; a
    sentence that shares no word with any passage stays uncited. Some citations are
    wrong: they are not people's.
    """
    spans = sentences(example.text)
    texts = [example.text[start:end] for start, end in spans]
    if (
        not texts
        or not example.passages
        or any(parse(text).citations for text in texts)
    ):
        return example
    values = mean_rouge(example.passages, texts)
    cited, copied = "", 0
    for (start, end), sentence, row in zip(spans, texts, values, strict=True):
        best = int(row.argmax())
        mark = _LAST_MARK.search(sentence)
        place = start + (mark.start() if mark else len(sentence))
        citation = f" [{best}]" if row[best] > 0 else ""
        cited += example.text[copied:place] + citation + example.text[place:end]
        copied = end
    return example._replace(text=cited + example.text[copied:])


def _find_repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _aci_bench_train(raw: Path, dataset: str, split: str) -> list[Example]:
    """Read ACI-BENCH's training and validation notes (Yim et al. 2023), by encounter_id."""
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
        examples.append(
            Example(name, "note", passages, speakers, fields["note"].strip())
        )
    return examples


def _meqsum(raw: Path, dataset: str, split: str) -> list[Example]:
    """Read MeQSum's questions (Ben Abacha and Demner-Fushman 2019), all `train`, by File."""
    _split(dataset, split, ("train",))
    # Imported here, since openpyxl is slow and few systems show questions.
    from metassay.datasets.questions import read_questions

    return [
        Example(
            name=f"{dataset}/{split}/{question.name}",
            task="question",
            passages=question.passages,
            speakers=[""] * len(question.passages),
            text=question.summary,
        )
        for question in read_questions(raw / dataset)
    ]


def _read_own_data(raw: Path, dataset: str, split: str) -> list[Example]:
    """Read data in the format of docs/data-files.md."""
    rows, place = own_data.read(raw / dataset / split), f"{dataset}/{split}"
    raise_problems(f"example set {place}: {line}" for line in rows.problems.lines())
    references = [
        (row.doc_id, row.text)
        for row in rows.texts
        if row.author == REFERENCE and row.part == FULL and row.text is not None
    ]
    twice = _find_repeated(row.doc_id for row in rows.sources)
    twice += _find_repeated(doc_id for doc_id, _ in references)
    remedy = "keep one source and one reference of it"
    raise_problems(
        f"example set {place}: doc_id {shown(doc_id)} occurs twice; {remedy}"
        for doc_id in sorted(set(twice))
    )
    texts = dict(references)
    return [
        Example(
            f"{place}/{row.doc_id}",
            row.task,
            row.passages,
            row.speaker,
            texts[row.doc_id],
            row.attributes,
        )
        for row in rows.sources
        if row.doc_id in texts
    ]


def _split(dataset: str, split: str, splits: tuple[str, ...]) -> str:
    if split not in splits:
        raise BadInput(
            f"example set {dataset!r} has no split {shown(split)}; it has {splits}"
        )
    return split


SETS: Mapping[str, Callable[[Path, str, str], list[Example]]] = {
    "aci_bench_train": _aci_bench_train,
    "meqsum": _meqsum,
}


Task = Literal["note", "impression", "question", "abstract"]
Status = Literal["ok", "unparsed", "refused", "truncated", "error"]
Written = tuple[Status, str | None]  # for a request; no text unless status is ok

NOTHING = "NONE"  # the answer that the prompts ask for if a section is empty
_NOTHING = re.compile(r"[\W\d]*none[\W\d]*", re.IGNORECASE)  # "NONE.", "None [3]"


class Style(Options):
    """How a prompt asks for a text.

    `unit`: a note is written whole or section by section; the other tasks have no
    sections. `prompts` replaces the prompt `write-<task>-cited|uncited`
    (`write-section-...` for a note's sections) for some tasks. `examples` are named
    `dataset/split/id`; every task that is written must have `shots` of them.
    `example_citations`: if citations are requested and an example has none, `none`
    shows it unchanged, `overlap` cites the most similar passage of each sentence.

    In place of `examples`, `examples_from` names a set, `dataset/split`: each text that
    is written gets the first `shots` of the same task; those that have the section, if
    one section is written; and with `alike`, those whose source has the same value of
    that attribute, such as the modality.
    """

    unit: Literal["full", "section"]
    citations: bool
    shots: int = Field(ge=0)
    examples: list[str]
    example_citations: Literal["none", "overlap"]
    prompts: dict[Task, Name] = Field(default_factory=dict)
    examples_from: Annotated[str, Field(pattern=r"^[^/.]+/[^/.]+$")] | None = None
    alike: str | None = None

    @model_validator(mode="after")
    def _check_shots(self) -> Self:
        if self.examples_from is not None:
            if self.examples or not self.shots:
                raise ValueError(
                    "examples_from chooses the examples; leave examples empty, and let"
                    " shots say how many"
                )
            return self
        if self.alike is not None:
            raise ValueError("alike chooses from a set; name it under examples_from")
        if self.shots > len(self.examples) or (self.examples and not self.shots):
            count = len(self.examples)
            raise ValueError(
                f"shots is {self.shots}, but examples has {count}; correct either"
            )
        return self


def prompt_files(style: Style) -> list[PromptFile]:
    """List the prompts that a style can use, for all tasks."""
    files = []
    for task in get_args(Task):
        section: dict[str, Kind] = (
            {"section": "text"} if _writes_sections(task, style) else {}
        )
        files.append(
            PromptFile(
                file_of(_prompt_of(task, style)), {"passages": "data", **section}
            )
        )
    return sorted(files, key=lambda file: file.path)


def example_datasets(style: Style) -> list[str]:
    """List the datasets of a style's examples."""
    chosen_from = [] if style.examples_from is None else [style.examples_from]
    return datasets_of([*style.examples, *chosen_from])


class TextRequest(NamedTuple):
    """A text to be written: its row, the style's part of its recipe, and the messages.

    There are no messages if the source has no text.
    """

    doc_id: str
    part: str
    messages: tuple[Message, ...]
    recipe: str


class _Form(NamedTuple):
    prompt: Prompt
    examples: Sequence[Example]
    parts: tuple[str, ...]
    recipe: str


def text_requests(
    sources: pd.DataFrame,
    style: Style,
    examples: Sequence[Example] = (),
    *,
    prompts: Path = PROMPTS,
) -> list[TextRequest]:
    """Return the requests for texts of SOURCES, by doc_id and part.

    Examples are earlier turns of the same conversation. BadInput: they are not those of
    style.examples or not style.shots of each task, one is a source, a text has too few
    in style.examples_from, or a prompt is not usable.
    """
    forms = _forms(sources, style, examples, prompts)
    requests = []
    problems: dict[str, None] = {}
    ordered = sources.sort_values("doc_id")
    columns: Any = (ordered[name] for name in ("doc_id", "task", "passages", "speaker"))
    attributes = ordered["attributes"] if style.alike else [None] * len(ordered)
    for doc_id, task, passages, speakers, about in zip(
        *columns, attributes, strict=True
    ):
        form = forms[task]
        if not any(passage.strip() for passage in passages):
            requests.append(TextRequest(doc_id, FULL, (), form.recipe))
            continue
        for part in form.parts:
            of_part = form
            if style.examples_from is not None:
                shown_first = _choose(form.examples, style, part, passages, about)
                if len(shown_first) < style.shots:
                    problems[_too_few(shown_first, style, task, part, about)] = None
                of_part = _add_examples(form, shown_first)
            messages = _conversation(of_part, part, passages, speakers, style.citations)
            requests.append(TextRequest(doc_id, part, messages, of_part.recipe))
    raise_problems(problems)
    return requests


def _choose(
    examples: Sequence[Example],
    style: Style,
    part: str,
    passages: Sequence[str],
    attributes: str | None,
) -> list[Example]:
    """Return the first examples that suit a text; a document is no example of itself."""
    suitable = [
        example
        for example in examples
        if tuple(example.passages) != tuple(passages)
        and _part_of(example.text, part) != NOTHING
        and (
            style.alike is None
            or _attribute(example.attributes, style.alike)
            == _attribute(attributes, style.alike)
        )
    ]
    return suitable[: style.shots]


def _attribute(attributes: str | None, name: str) -> object:
    return json.loads(attributes).get(name) if attributes else None


def _add_examples(form: "_Form", examples: Sequence[Example]) -> "_Form":
    names = examples_field([example.name for example in examples])
    return form._replace(examples=examples, recipe=f"{form.recipe}|{names}")


def _too_few(
    examples: Sequence[Example],
    style: Style,
    task: str,
    part: str,
    attributes: str | None,
) -> str:
    wanted = f"task {task!r}"
    if part != FULL:
        wanted += f" with section {part}"
    if style.alike is not None:
        wanted += f" with {style.alike} {shown(_attribute(attributes, style.alike))}"
    return (
        f"examples_from: {style.examples_from} has {len(examples)} of {wanted}, but shots"
        f" is {style.shots}; add some there, or show fewer"
    )


def texts_of(
    requests: Sequence[TextRequest], written: Sequence[Written], name: str, recipe: str
) -> pd.DataFrame:
    """Return rows of TEXTS for requests and their texts, in order; `recipe` begins their recipes.

    A section that the model answers with NONE has no row; a note with only such
    sections is one row `full`, unparsed. A source without text has status error.
    """
    rows: dict[str, list[tuple[object, ...]]] = {}
    for request, (status, text) in zip(requests, written, strict=True):
        of_document = rows.setdefault(request.doc_id, [])
        full = f"{recipe}|{request.recipe}|metassay:{__version__}"
        if request.part != FULL and text is not None and _NOTHING.fullmatch(text):
            if request.part == SECTIONS[-1] and not of_document:
                of_document.append((request.doc_id, name, FULL, None, "unparsed", full))
            continue
        of_document.append((request.doc_id, name, request.part, text, status, full))
    flat = [row for of_document in rows.values() for row in of_document]
    return pd.DataFrame(flat, columns=list(TEXTS.columns))


def _forms(
    sources: pd.DataFrame, style: Style, examples: Sequence[Example], folder: Path
) -> Mapping[str, _Form]:
    raise_problems(list(_example_problems(sources, style, examples)))
    if style.citations and style.example_citations == "overlap":
        examples = [add_citations(example) for example in examples]
    return {
        task: _form(task, style, [e for e in examples if e.task == task], folder)
        for task in sorted(sources["task"].unique())
    }


def _writes_sections(task: Task, style: Style) -> bool:
    return task == "note" and style.unit == "section"


def _prompt_of(task: Task, style: Style) -> str:
    kind = "section" if _writes_sections(task, style) else task
    default = f"write-{kind}-{'cited' if style.citations else 'uncited'}"
    return style.prompts.get(task, default)


def _form(task: Task, style: Style, examples: Sequence[Example], folder: Path) -> _Form:
    by_section = _writes_sections(task, style)
    prompt = load(_prompt_of(task, style), folder)
    settings = [
        f"prompt:{prompt.signature}",
        f"unit:{'section' if by_section else 'full'}",
    ]
    settings += [
        f"citations:{'yes' if style.citations else 'no'}",
        f"shots:{style.shots}",
    ]
    if style.examples_from is not None:
        settings.append(f"examples_from:{style.examples_from}")
        settings.append(f"alike:{style.alike or 'none'}")
    elif examples:
        settings.append(examples_field([example.name for example in examples]))
    if examples and style.citations:
        settings.append(f"example_citations:{style.example_citations}")
    return _Form(
        prompt, examples, SECTIONS if by_section else (FULL,), "|".join(settings)
    )


def _example_problems(
    sources: pd.DataFrame, style: Style, examples: Sequence[Example]
) -> Iterator[str]:
    if style.examples_from is not None:
        return
    if [example.name for example in examples] != style.examples:
        yield f"examples: {len(examples)} are given, {len(style.examples)} named; give those named"
    for task in sorted(sources["task"].unique()):
        count = sum(example.task == task for example in examples)
        if count != style.shots:
            yield (
                f"examples: {count} of task {task!r}, but shots is {style.shots}; name as many, or"
                " correct shots"
            )
    names = {tuple(example.passages): example.name for example in examples}
    for doc_id, passages in zip(sources["doc_id"], sources["passages"], strict=True):
        if (name := names.get(tuple(passages))) is not None:
            yield (
                f"example {shown(name)} is document {shown(doc_id)}, which is to be written; take"
                " another"
            )


def _conversation(
    form: _Form,
    part: str,
    passages: Sequence[str],
    speakers: Sequence[str],
    numbered: bool,
) -> tuple[Message, ...]:
    section = {} if part == FULL else {"section": part}

    def ask(passages: Sequence[str], speakers: Sequence[str]) -> tuple[Message, ...]:
        return render(
            form.prompt, passages=_turns(passages, speakers, numbered), **section
        )

    system, question = ask(passages, speakers)
    earlier: list[Message] = []
    for example in form.examples:
        _, shot = ask(example.passages, example.speakers)
        earlier += [shot, Message("assistant", _part_of(example.text, part))]
    return (system, *earlier, question)


def _turns(
    passages: Sequence[str], speakers: Sequence[str], numbered: bool
) -> list[dict[str, object]]:
    listed: list[dict[str, object]] = []
    for number, (passage, speaker) in enumerate(zip(passages, speakers, strict=True)):
        turn = {"speaker": speaker, "text": passage} if speaker else {"text": passage}
        listed.append({"n": number, **turn} if numbered else {**turn})
    return listed


def _part_of(note: str, part: str) -> str:
    if part == FULL:
        return note
    pieces = divide(note, compat="none").get(part, [])
    return "\n\n".join(note[start:end] for start, end in pieces) or NOTHING
