"""Claims and facets by a language model: one request per part, or per text.

Claims follow DocLens (Xie et al. 2024, section 3.1; its released reference claims are
between 1 and 30 for each section). For a facet the model copies segments out of the
text (the extraction of Guo et al. 2024, with any list of facets).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Self

import pandas as pd
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from metassay.core.errors import raise_problems
from metassay.core.options import Name, Options
from metassay.llm.endpoints import Length
from metassay.llm.groups import Answer, Group, Item, number_items
from metassay.llm.messages import Ask, ChatRequest, Message
from metassay.llm.needs import PromptFile, Requests, Resources, Use
from metassay.llm.prompts import Decoding, Kind, Prompt, file_of, load, render
from metassay.llm.structured import (
    AGAIN_FILE,
    AGAIN_FILLED,
    Again,
    ItemResult,
    RoundTally,
    ask_groups,
    first_requests,
    schema_of,
)
from metassay.tables.names import FULL
from metassay.text.citations import strip_citations
from metassay.units.facets import Facet, check_unique, facets_of
from metassay.units.locate import find, says_something
from metassay.units.record import (
    OK,
    Decomposed,
    Decomposition,
    Divided,
    Segmentation,
    Text,
)
from metassay.units.statements import (
    Place,
    leaves,
    plain_lines,
    tasks_of,
    unit_rows,
    units_of,
)

VERSION = 2  # raised by whoever changes results of this module's kinds

Groups = Sequence[Group[Answer] | None]  # of one item each; None: nothing to ask


class LlmOptions(Options):
    """A chat model (a name in params.yaml > models) that reads texts.

    `rounds`: how often it is asked again. `max_tokens`: the longest answer; null for
    the model's setting.
    """

    model: str
    rounds: int = Field(ge=0, le=20)
    max_tokens: Length | None = None


def answers(
    ask: Ask, groups: Groups, rounds: int
) -> tuple[list[ItemResult[Answer] | None], list[str]]:
    """Return a result per group, None for no group, and notes about the rounds."""
    pending = [group for group in groups if group is not None]
    results = [
        result for (result,) in ask_groups(ask, pending, rounds=rounds, again=Again())
    ]
    tally = RoundTally(rounds)
    tally.add(results)
    remaining = iter(results)
    return [None if group is None else next(remaining) for group in groups], tally.notes


def requests(groups: Groups, rounds: int, length: float) -> Requests:
    """Return the first requests; `length`: tokens of an answer per token of the text."""
    first = first_requests([group for group in groups if group is not None])
    return Requests(
        requests=first,
        most=[1 + rounds] * len(first),
        answer_length=length,
        longer=Again().longest,
    )


def use(options: LlmOptions) -> Use:
    """Return the model of the options."""
    return Use(options.model, options.max_tokens)


def files(prompt: str, filled: Mapping[str, Kind]) -> tuple[PromptFile, ...]:
    """Return the prompts to read: the block's, and that for asking again."""
    return PromptFile(file_of(prompt), filled), PromptFile(AGAIN_FILE, AGAIN_FILLED)


# ---- claims

_CLAIMS_FILLED: Mapping[str, Kind] = {"items": "data", "least": "text", "most": "text"}
# tokens of a list of claims per token of the text that they are from
_CLAIMS_LENGTH = 1.3


class LlmClaimOptions(LlmOptions):
    """`least`, `most`: the number of claims of a part; an answer outside this range fails.

    `shots`: so many of the prompt's solved examples come first: those of the part's own
    section, or, if the prompt has none of it, those without a section.
    """

    prompt: Name = "claims"
    least: int = Field(ge=0)
    most: int = Field(ge=1, le=1000)
    shots: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.least > self.most:
            raise ValueError("least is larger than most; swap them")
        return self


def llm_claims(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: LlmClaimOptions,
    ask: Ask,
    decoding: Decoding,
) -> Decomposed:
    """Extract claims from the leaf parts with status ok: PARTS, SOURCES to rows of UNITS.

    Only claims, without statements; `statement`, `start` and `end` are null, and
    citations are removed from texts and answers. If the answer for a part is not a
    valid list (no JSON, too few or too many claims, a blank claim), also when asked
    again, the part has a row at position 0 with null text and the status that says why:
    its claims are unknown. A text of task `question` is a single claim, and a blank
    part has none; the model reads neither. Warnings say what asking again gained.

    Raises BadInput if a part's doc_id is not in sources, or the prompt is not usable.
    """
    places, groups = _claim_groups(parts, sources, options, decoding)
    results, notes = answers(ask, list(groups.values()), options.rounds)
    answered = dict(zip(groups, results, strict=True))
    rows: list[tuple[object, ...]] = []
    for place, claims in places.items():
        texts = claims
        status = "ok"
        result = answered.get(place)
        if result is not None:
            texts = result.value.model_dump()["claims"] if result.value else [None]
            status = result.status
        rows += [
            (*place, "claim", position, claim, status, [], None, None, None)
            for position, claim in enumerate(texts)
        ]
    return Decomposed(unit_rows(rows), tuple(notes))


def claim_requests(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: LlmClaimOptions,
    decoding: Decoding,
) -> Requests:
    """Return the first requests of `llm_claims`: all of them if every answer is valid."""
    _, groups = _claim_groups(parts, sources, options, decoding)
    return requests(list(groups.values()), options.rounds, _CLAIMS_LENGTH)


def claims_signature(options: LlmClaimOptions, decoding: Decoding) -> str:
    """Return the recipe of the decomposition: everything that can change a claim."""
    prompt = load(options.prompt)
    examples = (
        f"|shots:{options.shots}#{_hash_examples(prompt)}" if options.shots else ""
    )
    return (
        f"llm_claims({decoding.signature}|prompt:{prompt.signature}{examples}"
        f"|claims:{options.least}-{options.most}|{Again().signature(options.rounds)})"
    )


def _hash_examples(prompt: Prompt) -> str:
    """Return 8 hex digits of a SHA-256 of the prompt's solved examples."""
    canonical = json.dumps(prompt.examples, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()[:8]


def _claim_groups(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: LlmClaimOptions,
    decoding: Decoding,
) -> tuple[dict[Place, list[str | None]], dict[Place, Group[Answer]]]:
    """Return the claims of each leaf part without question, and the questions about others."""
    tasks = tasks_of(parts, sources)
    prompt = load(options.prompt)
    within = Field(min_length=options.least, max_length=options.most)
    claims: Any = (Annotated[list[Annotated[str, AfterValidator(_claim)]], within], ...)
    answer: type[Answer] = create_model("Claims", __base__=Answer, claims=claims)
    schema = schema_of(answer)
    examples = _claim_examples(prompt, options, answer)

    def build(items: list[Item]) -> ChatRequest:
        listed = [{"number": item.number, **item.content} for item in items]
        system, user = _rendered_claims(prompt, options, listed)
        part = items[0].content.get("section", FULL)
        solved = examples.get(part, examples[FULL])
        return decoding.request([system, *solved, user], schema)

    places: dict[Place, list[str | None]] = {}
    groups: dict[Place, Group[Answer]] = {}
    for *place, text in sorted(leaves(parts)):
        doc_id, author, part = place
        plain = strip_citations(plain_lines(text)).strip()
        plain = plain if any(map(str.isalnum, plain)) else ""
        needs_model = plain and tasks[doc_id] != "question"
        places[doc_id, author, part] = [plain] if plain and not needs_model else []
        if needs_model:
            content = (
                {"text": plain} if part == FULL else {"section": part, "text": plain}
            )
            groups[doc_id, author, part] = Group(number_items([content]), build, answer)
    return places, groups


def _rendered_claims(
    prompt: Prompt, options: LlmClaimOptions, listed: Sequence[object]
) -> tuple[Message, ...]:
    return render(prompt, items=listed, least=options.least, most=options.most)


def _claim_examples(
    prompt: Prompt, options: LlmClaimOptions, answer: type[Answer]
) -> dict[str, list[Message]]:
    """Return the turns of the solved examples by section, FULL for those without one.

    BadInput if an example is not of this form, or if there are fewer than `shots` of a
    section that has any, or of texts without a section.
    """
    examples: dict[str, list[Any]] = {FULL: []}
    problems: list[str] = []
    for number, example in enumerate(prompt.examples if options.shots else (), start=1):
        items = example["items"]
        if problem := _claim_example_problem(items, answer):
            where = f"{prompt.file} > examples > {number} > items"
            problems.append(f"{where}: {problem}")
        else:
            examples.setdefault(items[0].get("section", FULL), []).append(items[0])
    raise_problems(problems)
    for section, items in examples.items():
        if len(items) < options.shots:
            of_section = "without a section" if section == FULL else f"of {section}"
            problems.append(
                f"{prompt.file} > examples: has {len(items)} {of_section}, but shots is"
                f" {options.shots}; add some, or show fewer"
            )
    raise_problems(problems)
    turns: dict[str, list[Message]] = {}
    for section, items in examples.items():
        turns[section] = []
        for item in items[: options.shots]:
            question = {key: item[key] for key in ("section", "text") if key in item}
            solved = {"items": [{"number": 1, "claims": item["claims"]}]}
            _, user = _rendered_claims(prompt, options, [{"number": 1, **question}])
            reply = json.dumps(solved, ensure_ascii=False)
            turns[section] += [user, Message("assistant", reply)]
    return turns


def _claim_example_problem(items: Any, answer: type[Answer]) -> str:
    """Return the problem of an example with the remedy; "" if there is none."""
    if not (isinstance(items, list) and len(items) == 1 and isinstance(items[0], dict)):
        return "must be a list of one solved text"
    (item,) = items
    if not {"text", "claims"} <= set(item) <= {"section", "text", "claims"}:
        return "has a text, its claims, perhaps its section, and nothing else"
    if not all(isinstance(item.get(key, ""), str) for key in ("text", "section")):
        return "text and section must be texts"
    try:
        answer.model_validate({"number": 1, "claims": item["claims"]})
    except ValidationError:
        return "claims must be a list of claims, as many as least and most allow"
    return ""


def _claim(text: str) -> str:
    claim = " ".join(strip_citations(text).split())
    if not any(map(str.isalnum, claim)):
        raise ValueError("states nothing")
    return claim


def _take_apart(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: LlmClaimOptions,
    resources: Resources,
) -> Decomposed:
    statements = units_of(parts, sources, None)
    claims = llm_claims(parts, sources, options, *resources.require_model())
    return Decomposed(
        pd.concat([statements, claims.units], ignore_index=True), claims.warnings
    )


CLAIMS = Decomposition(
    options=LlmClaimOptions,
    take_apart=_take_apart,
    requests=claim_requests,
    recipe=claims_signature,
    model=use,
    files=lambda options: files(options.prompt, _CLAIMS_FILLED),
)


# ---- facets

_FACETS_FILLED: Mapping[str, Kind] = {"facets": "text", "form": "text", "items": "data"}
# tokens of an answer per token of the text: what it copies, and its JSON
_FACETS_LENGTH = 1.2


def _add_meanings(facets: object) -> object:
    """Return a list of names as a mapping to empty meanings."""
    return (
        dict.fromkeys(check_unique(facets), "") if isinstance(facets, list) else facets
    )


class LlmFacetOptions(LlmOptions):
    """`facets`: their names, or each name with its meaning, which the prompt has.

    `shots`: the number of the prompt's solved examples that come first.
    """

    prompt: Name = "facets"
    facets: Annotated[
        dict[Facet, str], BeforeValidator(_add_meanings), Field(min_length=1)
    ]
    shots: int = Field(ge=0)


class _Returned(BaseModel):
    """Base of answers: a list of segments per facet."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def divide(
    texts: Sequence[Text], options: LlmFacetOptions, resources: Resources
) -> Divided:
    """Divide each text into the facets that the model finds, in the block's order.

    The model reads a text without its citations; facets are pieces of the whole text,
    with the citations of their statements. A text that failed or has no words is not
    asked about and stays undivided. If the model's answer failed, also when asked
    again, every facet has its status and no text. Segments that are not in the text are
    in `made_up`, never in the facet; notes count them by author, and say what asking
    again gained. Raises BadInput if the prompt is not usable.
    """
    ask, decoding = resources.require_model()
    results, notes = answers(
        ask, _facet_groups(texts, options, decoding), options.rounds
    )
    returned = [None if result is None else _segments(result) for result in results]
    divided = facets_of(
        texts, returned, options.facets, "the model returned", "made up"
    )
    return Divided(divided.parts, (*notes, *divided.notes))


def _segments(result: ItemResult[Answer]) -> dict[str, list[str]] | str:
    if result.value is None:
        return result.status
    segments: dict[str, list[str]] = result.value.model_dump(by_alias=True)["facets"]
    return segments


def facet_requests(
    texts: Sequence[Text], options: LlmFacetOptions, decoding: Decoding
) -> Requests:
    """Return the first requests of `divide`: all of them if every answer is valid."""
    return requests(
        _facet_groups(texts, options, decoding), options.rounds, _FACETS_LENGTH
    )


def _facet_groups(
    texts: Sequence[Text], options: LlmFacetOptions, decoding: Decoding
) -> Groups:
    prompt = load(options.prompt, filled=_FACETS_FILLED)
    # A list of segments per facet; by alias, since a facet's name may not be valid for
    # a field.
    facets = tuple(options.facets)
    fields: Any = {
        f"facet_{place}": (list[str], Field(alias=name))
        for place, name in enumerate(facets)
    }
    returned: Any = create_model("Returned", __base__=_Returned, **fields)
    answer = create_model("Facets", __base__=Answer, facets=(returned, ...))
    schema = schema_of(answer)
    shown = _examples(prompt, options, answer)

    def build(items: list[Item]) -> ChatRequest:
        listed = [{"number": item.number, "text": item.content} for item in items]
        system, user = _rendered(prompt, options, listed)
        return decoding.request([system, *shown, user], schema)

    groups: list[Group[Answer] | None] = []
    for text in texts:
        plain = strip_citations(text.full.text or "").strip()
        needs_model = text.full.status == OK and says_something(plain)
        groups.append(
            Group(number_items([plain]), build, answer) if needs_model else None
        )
    return groups


def _examples(
    prompt: Prompt, options: LlmFacetOptions, answer: type[Answer]
) -> list[Message]:
    """Return the solved examples; BadInput if there are too few, or if they have other facets."""
    examples = prompt.examples[: options.shots]
    problems = []
    if len(examples) < options.shots:
        count = f"has {len(examples)}, but shots is {options.shots}"
        problems.append(f"{prompt.file} > examples: {count}; add some, or show fewer")
    for number, example in enumerate(examples, start=1):
        if problem := _example_problem(example["items"], answer):
            problems.append(f"{prompt.file} > examples > {number} > items: {problem}")
    raise_problems(problems)
    turns: list[Message] = []
    for example in examples:
        turns += _turns(prompt, options, example["items"])
    return turns


def _rendered(
    prompt: Prompt, options: LlmFacetOptions, listed: Sequence[object]
) -> tuple[Message, ...]:
    facets = "\n".join(
        f"- {name}: {meaning}" if meaning else f"- {name}"
        for name, meaning in options.facets.items()
    )
    form = _reply([{name: ["...", "..."] for name in options.facets}])
    return render(prompt, facets=facets, form=form, items=listed)


def _reply(answers: Sequence[Mapping[str, Sequence[str]]]) -> str:
    """Return the reply with these facets, by number from 1."""
    entries = [
        {"number": n, "facets": facets} for n, facets in enumerate(answers, start=1)
    ]
    return json.dumps({"items": entries}, ensure_ascii=False)


def _turns(
    prompt: Prompt, options: LlmFacetOptions, items: Sequence[Mapping[str, Any]]
) -> list[Message]:
    listed = [
        {"number": n, "text": item["text"]} for n, item in enumerate(items, start=1)
    ]
    _, user = _rendered(prompt, options, listed)
    solved = []
    for item in items:
        solved.append({name: item["facets"][name] for name in options.facets})
    return [user, Message("assistant", _reply(solved))]


def _example_problem(items: Any, answer: type[Answer]) -> str:
    """Return the problem of an example's solved texts, with the remedy; "" if there is none."""
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
        segments = chain.from_iterable(item["facets"].values())
        places = [find(segment, str(item["text"])) for segment in segments]
        if not all(place and place.how == "exact" for place in places):
            return "each segment must be in its text, character by character"
    return ""


def facets_signature(options: LlmFacetOptions, decoding: Decoding | None) -> str:
    """Return the recipe of the segmentation: everything that can change a facet."""
    assert decoding is not None  # of a kind that asks a model
    prompt = load(options.prompt, filled=_FACETS_FILLED)
    facets = ",".join(
        f"{name}={means}" if means else name for name, means in options.facets.items()
    )
    return (
        f"llm_facets({decoding.signature}|prompt:{prompt.signature}"
        f"|facets:{facets}|shots:{options.shots}|{Again().signature(options.rounds)})"
    )


FACETS = Segmentation(
    options=LlmFacetOptions,
    divide=divide,
    requests=facet_requests,
    model=use,
    files=lambda options: files(options.prompt, _FACETS_FILLED),
    recipe=facets_signature,
)
