"""What an LLM judge says to its model: the prompt of an instrument, the form of its answers, and
solved examples as earlier turns of the conversation.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from metassay.errors import BadInput
from metassay.judges import llm_criteria
from metassay.judges.llm_answers import Style, answer_model, sample, written
from metassay.judges.llm_calls import FORMS, Call, Form, numbered_passages
from metassay.judges.llm_criteria import CriteriaCall
from metassay.llm import again
from metassay.llm.messages import Message
from metassay.llm.prompts import PROMPTS, Kind, Prompt, file_of, join, load, render
from metassay.llm.structured import Answer, Item
from metassay.needs import PromptFile

_ANSWER_FORM: Mapping[str, Kind] = {"sample": "text"}
_OF_CRITERIA: Mapping[str, Kind] = {"against": "data", "text": "data", "items": "data"}


def prompt_files(style: Style) -> list[PromptFile]:
    """The prompts that a judge of this style can use, whatever it is asked."""
    found = [PromptFile(file_of(form.prompt), _filled(form)) for form in FORMS]
    found += [PromptFile(file_of(name), _OF_CRITERIA) for name in llm_criteria.PROMPTS.values()]
    found += [PromptFile(file_of(_answer_prompt(style)), _ANSWER_FORM)]
    return [*found, PromptFile(again.FILE, again.FILLED)]


class Wording:
    """Every form's prompt in one style, with the examples that are shown."""

    def __init__(self, style: Style, shots: int, *, single: bool, prompts: Path = PROMPTS) -> None:
        """BadInput if a prompt or one of its examples is not usable.

        `shots`: how many examples are shown; `single`: of each only the first question. Of a
        criterion they are its own, as far as it has so many.
        """
        self._style, self._shots = style, shots
        answers = load(_answer_prompt(style), prompts, filled=_ANSWER_FORM)
        self._prompts = {
            form: join(load(form.prompt, prompts, filled=_filled(form)), answers) for form in FORMS
        }
        self._of_criteria = {
            asks: join(load(name, prompts, filled=_OF_CRITERIA), answers)
            for asks, name in llm_criteria.PROMPTS.items()
        }
        problems = [
            problem
            for form, prompt in self._prompts.items()
            for problem in _example_problems(form, prompt, shots)
        ]
        if problems:
            raise BadInput(problems)
        self._shown = {form: list(self._examples(form, shots, single)) for form in FORMS}

    @property
    def hash(self) -> str:
        """Of all that can change an answer: 8 hex digits of a SHA-256."""
        said = [
            [prompt.signature, sample(form, self._style), [m.content for m in self._shown[form]]]
            for form, prompt in self._prompts.items()
        ]
        said += [
            [prompt.signature, llm_criteria.sample(asks, self._style)]
            for asks, prompt in self._of_criteria.items()
        ]
        canonical = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()[:8]

    def messages(self, call: Call, items: Sequence[Item]) -> tuple[Message, ...]:
        """What is said in a call about some of its questions."""
        listed = [{"number": item.number, **item.content} for item in items]
        system, user = self._render(call.form, call.material, listed)
        return (system, *self._shown[call.form], user)

    def of_criteria(self, call: CriteriaCall, items: Sequence[Item]) -> tuple[Message, ...]:
        """What is said in a call about some of its criteria, with the first examples of each."""
        shown: list[Message] = []
        for item in items:
            criterion = call.criteria[item.number - 1]
            for example in criterion.examples[: self._shots]:
                asked = [Item(1, item.content)]
                texts = (example.against or None, example.text)
                shown.append(self._render_criteria(call.instrument, texts, asked)[-1])
                answer = llm_criteria.solved(criterion, example, self._style)
                shown.append(Message("assistant", answer))
        texts = (call.against or None, call.text)
        system, user = self._render_criteria(call.instrument, texts, items)
        return (system, *shown, user)

    def _render_criteria(
        self, instrument: str, texts: tuple[str | None, str], items: Sequence[Item]
    ) -> tuple[Message, ...]:
        return render(
            self._of_criteria[instrument],
            **dict(zip(("against", "text"), texts, strict=True)),
            items=[{"number": item.number, **item.content} for item in items],
            sample=llm_criteria.sample(instrument, self._style),
        )

    def _render(
        self, form: Form, material: Mapping[str, object], listed: Sequence[object]
    ) -> tuple[Message, ...]:
        form_of_answers = sample(form, self._style)
        return render(self._prompts[form], **material, items=listed, sample=form_of_answers)

    def _examples(self, form: Form, shots: int, single: bool) -> Iterator[Message]:
        for example in self._prompts[form].examples[:shots]:
            items = example["items"][: 1 if single else None]
            questions = [
                {"number": number, **{name: item[name] for name in form.asks}}
                for number, item in enumerate(items, start=1)
            ]
            material = example[form.material]
            if form.passages:
                material = numbered_passages(material)
            _, user = self._render(form, {form.material: material}, questions)
            yield user
            yield Message("assistant", written(form, self._style, items))


def _answer_prompt(style: Style) -> str:
    return f"answer-{style.replace('_', '-')}"


def _filled(form: Form) -> Mapping[str, Kind]:
    return {form.material: "data", "items": "data"}


def _example_problems(form: Form, prompt: Prompt, shots: int) -> Iterator[str]:
    if len(prompt.examples) < shots:
        many = len(prompt.examples)
        yield f"{prompt.file} > examples: has {many}, but shots is {shots}; add some, or show fewer"
    for number, example in enumerate(prompt.examples, start=1):
        where = f"{prompt.file} > examples > {number}"
        material, items = example[form.material], example["items"]
        if not (_texts(material) if form.passages else isinstance(material, str)):
            yield f"{where} > {form.material}: must be {'texts' if form.passages else 'a text'}"
        elif not (isinstance(items, list) and items):
            yield f"{where} > items: must be a list of solved questions"
        else:
            model = answer_model(form, "json_cot", len(material))
            wanted = f"must have {', '.join(form.asks)}, reason, and a sound {form.field}"
            yield from (
                f"{where} > items > {place}: {wanted}"
                for place, item in enumerate(items, start=1)
                if not _solved(item, form, model)
            )


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _solved(item: Any, form: Form, model: type[Answer]) -> bool:
    if not isinstance(item, dict) or not _texts([item.get(name) for name in form.asks]):
        return False
    answer = {name: value for name, value in item.items() if name not in form.asks}
    try:
        model.model_validate({"number": 1, **answer})
    except ValidationError:
        return False
    return True
