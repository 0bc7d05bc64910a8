"""Facets by a language model: one request per text, which returns for each facet the segments that
it copies out of the text (the extraction of Guo et al. 2024, with any list of facets).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from metassay.core.errors import BadInput
from metassay.core.options import Name, Options
from metassay.llm.endpoints import Length
from metassay.llm.messages import ChatRequest, Message
from metassay.llm.needs import PromptFile, Requests, Resources, Use
from metassay.llm.prompts import PROMPTS, Decoding, Kind, Prompt, file_of, load, render
from metassay.llm.structured import (
    AGAIN_FILE,
    AGAIN_FILLED,
    Again,
    Answer,
    Group,
    Item,
    RoundTally,
    ask_groups,
    first_requests,
    numbered,
    schema_of,
)
from metassay.text.citations import strip_citations
from metassay.units.found_facets import Facet, Tally, found_facets, unknown_facets
from metassay.units.locate import find, says_something
from metassay.units.record import OK, Divided, Part, Segmentation, Text

FILLED: Mapping[str, Kind] = {"facets": "text", "form": "text", "items": "data"}
ANSWER_LENGTH = 1.2  # tokens of an answer per token of the text: what it copies, and its JSON


def _named(facets: object) -> object:
    """A list of names as the mapping that says nothing more of them."""
    if not isinstance(facets, list):
        return facets
    if len(set(map(str, facets))) < len(facets):
        raise ValueError("a facet is there twice; name each once")
    return dict.fromkeys(facets, "")


class LlmFacetOptions(Options):
    """A chat model (a name in params.yaml > models) that finds the facets of texts.

    `facets`: their names, or each name with what it means, which the model is told. `shots`: so
    many of the prompt's solved examples are shown first. `rounds`: how often it is asked again.
    `max_tokens`: how long an answer may be; null for what is said of the model.
    """

    model: str
    prompt: Name = "facets"
    facets: Annotated[dict[Facet, str], BeforeValidator(_named), Field(min_length=1)]
    shots: int = Field(ge=0)
    rounds: int = Field(ge=0, le=20)
    max_tokens: Length | None = None


class _Returned(BaseModel):
    """Base of what is returned: a list of segments per facet."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Wording(NamedTuple):
    """The prompt, the answer that it asks for, and the solved examples that go before it."""

    prompt: Prompt
    answer: type[Answer]
    shown: Sequence[Message]


def divide(
    texts: Sequence[Text], options: LlmFacetOptions, resources: Resources, prompts: Path = PROMPTS
) -> Divided:
    """The facets that the model finds in each text, in the block's order.

    The model reads a text without its citations; the facets are cut out of the whole text, and have
    those of their statements. Of a text that failed nothing is asked, and it stays undivided, as
    one that says nothing does. If the model's answer failed, also when asked again, every facet has
    its status and no text. What it returned and is not in the text is in `made_up`, never in the
    facet; notes say how much that is, by author, and what asking again won. Raises BadInput if the
    prompt is not usable.
    """
    ask, decoding = resources.require_model()
    groups = _groups(texts, options, decoding, prompts)
    asked = [group for group in groups if group is not None]
    answered = ask_groups(ask, asked, rounds=options.rounds, again=Again(prompts))
    rounds = RoundTally(options.rounds)
    rounds.add(result for (result,) in answered)
    answers = iter(answered)
    tally = Tally()
    divided: list[list[Part]] = []
    for text, group in zip(texts, groups, strict=True):
        if group is None:
            divided.append([])
            continue
        (result,) = next(answers)
        if result.value is None:
            divided.append(unknown_facets(options.facets, result.status))
        else:
            returned = result.value.model_dump(by_alias=True)["facets"]
            divided.append(found_facets(text, returned, tally))
    notes = [*rounds.notes, *tally.lines("the model returned", "made up")]
    return Divided(divided, tuple(notes))


def facet_requests(
    texts: Sequence[Text], options: LlmFacetOptions, decoding: Decoding, prompts: Path = PROMPTS
) -> Requests:
    """What is asked at first: all that is asked if every answer is sound."""
    groups = _groups(texts, options, decoding, prompts)
    asked = first_requests([group for group in groups if group is not None])
    most = [1 + options.rounds] * len(asked)  # of one text each
    return Requests(asked, most, ANSWER_LENGTH, Again(prompts).longest)


def _groups(
    texts: Sequence[Text], options: LlmFacetOptions, decoding: Decoding, prompts: Path
) -> list[Group[Answer] | None]:
    """One group per text; None where there is nothing to ask about."""
    wording = _wording(options, prompts)
    schema = schema_of(wording.answer)

    def build(items: list[Item]) -> ChatRequest:
        listed = [{"number": item.number, "text": item.content} for item in items]
        system, user = _rendered(wording.prompt, options, listed)
        return decoding.request([system, *wording.shown, user], schema)

    groups: list[Group[Answer] | None] = []
    for text in texts:
        said = strip_citations(text.full.text or "").strip()
        asks = text.full.status == OK and says_something(said)
        groups.append(Group(numbered([said]), build, wording.answer) if asks else None)
    return groups


def _wording(options: LlmFacetOptions, prompts: Path) -> _Wording:
    """BadInput if the prompt is not usable, has too few examples, or those of other facets."""
    prompt = load(options.prompt, prompts, filled=FILLED)
    answer = _answer_model(tuple(options.facets))
    shown = prompt.examples[: options.shots]
    problems = []
    if len(shown) < options.shots:
        many = f"has {len(shown)}, but shots is {options.shots}"
        problems.append(f"{prompt.file} > examples: {many}; add some, or show fewer")
    for number, example in enumerate(shown, start=1):
        problem = _example_problem(example["items"], answer)
        if problem:
            problems.append(f"{prompt.file} > examples > {number} > items: {problem}")
    if problems:
        raise BadInput(problems)
    turns = [turn for one in shown for turn in _turns(prompt, options, one["items"])]
    return _Wording(prompt, answer, turns)


def _answer_model(facets: Sequence[str]) -> type[Answer]:
    """A list of segments per facet; by alias, since a facet may be called as a field may not."""
    fields: Any = {
        f"facet_{place}": (list[str], Field(alias=name)) for place, name in enumerate(facets)
    }
    returned: Any = create_model("Returned", __base__=_Returned, **fields)
    return create_model("Facets", __base__=Answer, facets=(returned, ...))


def _rendered(
    prompt: Prompt, options: LlmFacetOptions, listed: Sequence[object]
) -> tuple[Message, ...]:
    facets = "\n".join(
        f"- {name}: {meaning}" if meaning else f"- {name}"
        for name, meaning in options.facets.items()
    )
    form = _said([{name: ["...", "..."] for name in options.facets}])
    return render(prompt, facets=facets, form=form, items=listed)


def _said(answers: Sequence[Mapping[str, Sequence[str]]]) -> str:
    """The reply that gives these facets, by number from 1."""
    entries = [{"number": number, "facets": one} for number, one in enumerate(answers, start=1)]
    return json.dumps({"items": entries}, ensure_ascii=False)


def _turns(
    prompt: Prompt, options: LlmFacetOptions, items: Sequence[Mapping[str, Any]]
) -> list[Message]:
    listed = [{"number": n, "text": item["text"]} for n, item in enumerate(items, start=1)]
    _, user = _rendered(prompt, options, listed)
    solved = [{name: item["facets"][name] for name in options.facets} for item in items]
    return [user, Message("assistant", _said(solved))]


def _example_problem(items: Any, answer: type[Answer]) -> str:
    """What is wrong with the solved texts of one example, with the remedy; "" for nothing."""
    if not (isinstance(items, list) and items):
        return "must be a list of solved texts"
    for item in items:
        if not (isinstance(item, dict) and set(item) == {"text", "facets"}):
            return "each has a text and its facets, and nothing else"
        try:
            answer.model_validate({"number": 1, "facets": item["facets"]})
        except ValidationError:
            return (
                "each has a list of segments for every facet of the block, and for no other; show"
                " none (shots: 0), or name a prompt with examples of these facets"
            )
        segments = [one for own in item["facets"].values() for one in own]
        if not all(_copied(segment, str(item["text"])) for segment in segments):
            return "each segment must stand in its text, to the character"
    return ""


def _copied(segment: str, text: str) -> bool:
    found = find(segment, text)
    return found is not None and found.how == "exact"


def signature(options: LlmFacetOptions, decoding: Decoding | None, prompts: Path = PROMPTS) -> str:
    """The segmentation as recipes print it: everything that can change a facet."""
    if decoding is None:
        raise RuntimeError("a segmentation that asks a model is told how")
    prompt = load(options.prompt, prompts, filled=FILLED)
    facets = ",".join(
        f"{name}={means}" if means else name for name, means in options.facets.items()
    )
    return (
        f"llm_facets({decoding.signature}|prompt:{prompt.signature}"
        f"|facets:{facets}|shots:{options.shots}|{Again(prompts).signature(options.rounds)})"
    )


KIND = Segmentation(
    options=LlmFacetOptions,
    divide=divide,
    facets=lambda options: tuple(options.facets),
    requests=facet_requests,
    model=lambda options: Use(options.model, options.max_tokens),
    files=lambda options: (
        PromptFile(file_of(options.prompt), FILLED),
        PromptFile(AGAIN_FILE, AGAIN_FILLED),
    ),
    recipe=signature,
)
