"""Facets by a language model: one request per text, which returns for each facet the segments that
it copies out of the text (the extraction of Guo et al. 2024, with any list of facets).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from metassay.core.errors import raise_problems
from metassay.core.options import Name
from metassay.llm.messages import ChatRequest, Message
from metassay.llm.needs import Requests, Resources
from metassay.llm.prompts import Decoding, Kind, Prompt, load, render
from metassay.llm.structured import Again, Answer, Group, Item, ItemResult, numbered, schema_of
from metassay.text.citations import strip_citations
from metassay.units.facets import Facet, each_once, facets_of
from metassay.units.llm_answers import Groups, LlmOptions, answers, files, requests, use
from metassay.units.locate import find, says_something
from metassay.units.record import OK, Divided, Segmentation, Text

FILLED: Mapping[str, Kind] = {"facets": "text", "form": "text", "items": "data"}
ANSWER_LENGTH = 1.2  # tokens of an answer per token of the text: what it copies, and its JSON


def _named(facets: object) -> object:
    """A list of names as the mapping that says nothing more of them."""
    return dict.fromkeys(each_once(facets), "") if isinstance(facets, list) else facets


class LlmFacetOptions(LlmOptions):
    """`facets`: their names, or each name with what it means, which the model is told.

    `shots`: so many of the prompt's solved examples are shown first.
    """

    prompt: Name = "facets"
    facets: Annotated[dict[Facet, str], BeforeValidator(_named), Field(min_length=1)]
    shots: int = Field(ge=0)


class _Returned(BaseModel):
    """Base of what is returned: a list of segments per facet."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def divide(texts: Sequence[Text], options: LlmFacetOptions, resources: Resources) -> Divided:
    """The facets that the model finds in each text, in the block's order.

    The model reads a text without its citations; the facets are cut out of the whole text, and have
    those of their statements. Of a text that failed nothing is asked, and it stays undivided, as
    one that says nothing does. If the model's answer failed, also when asked again, every facet has
    its status and no text. What it returned and is not in the text is in `made_up`, never in the
    facet; notes say how much that is, by author, and what asking again won. Raises BadInput if the
    prompt is not usable.
    """
    ask, decoding = resources.require_model()
    results, notes = answers(ask, _groups(texts, options, decoding), options.rounds)
    returned = [None if one is None else _segments(one) for one in results]
    found = facets_of(texts, returned, options.facets, "the model returned", "made up")
    return Divided(found.parts, (*notes, *found.notes))


def _segments(result: ItemResult[Answer]) -> dict[str, list[str]] | str:
    if result.value is None:
        return result.status
    segments: dict[str, list[str]] = result.value.model_dump(by_alias=True)["facets"]
    return segments


def facet_requests(texts: Sequence[Text], options: LlmFacetOptions, decoding: Decoding) -> Requests:
    """What is asked at first: all that is asked if every answer is sound."""
    return requests(_groups(texts, options, decoding), options.rounds, ANSWER_LENGTH)


def _groups(texts: Sequence[Text], options: LlmFacetOptions, decoding: Decoding) -> Groups:
    prompt = load(options.prompt, filled=FILLED)
    answer = _answer_model(tuple(options.facets))
    schema, shown = schema_of(answer), _examples(prompt, options, answer)

    def build(items: list[Item]) -> ChatRequest:
        listed = [{"number": item.number, "text": item.content} for item in items]
        system, user = _rendered(prompt, options, listed)
        return decoding.request([system, *shown, user], schema)

    groups: list[Group[Answer] | None] = []
    for text in texts:
        said = strip_citations(text.full.text or "").strip()
        asks = text.full.status == OK and says_something(said)
        groups.append(Group(numbered([said]), build, answer) if asks else None)
    return groups


def _examples(prompt: Prompt, options: LlmFacetOptions, answer: type[Answer]) -> list[Message]:
    """The solved examples to show; BadInput if there are too few, or of other facets."""
    shown = prompt.examples[: options.shots]
    problems = []
    if len(shown) < options.shots:
        many = f"has {len(shown)}, but shots is {options.shots}"
        problems.append(f"{prompt.file} > examples: {many}; add some, or show fewer")
    for number, example in enumerate(shown, start=1):
        if problem := _example_problem(example["items"], answer):
            problems.append(f"{prompt.file} > examples > {number} > items: {problem}")
    raise_problems(problems)
    return [turn for one in shown for turn in _turns(prompt, options, one["items"])]


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
        places = [find(s, str(item["text"])) for own in item["facets"].values() for s in own]
        if not all(place and place.how == "exact" for place in places):
            return "each segment must stand in its text, to the character"
    return ""


def signature(options: LlmFacetOptions, decoding: Decoding | None) -> str:
    """The segmentation as recipes print it: everything that can change a facet."""
    assert decoding is not None  # of a kind that asks a model
    prompt = load(options.prompt, filled=FILLED)
    facets = ",".join(
        f"{name}={means}" if means else name for name, means in options.facets.items()
    )
    return (
        f"llm_facets({decoding.signature}|prompt:{prompt.signature}"
        f"|facets:{facets}|shots:{options.shots}|{Again().signature(options.rounds)})"
    )


KIND = Segmentation(
    options=LlmFacetOptions,
    divide=divide,
    requests=facet_requests,
    model=use,
    files=lambda options: files(options.prompt, FILLED),
    recipe=signature,
)
