"""Claims by a language model: one request per part, as DocLens takes texts apart (Xie et al. 2024,
section 3.1; its released reference claims were held to between 1 and 30 for each section).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import pandas as pd
from pydantic import AfterValidator, Field, create_model, model_validator

from metassay.core.options import Name, Options
from metassay.llm.endpoints import Length
from metassay.llm.messages import Ask, ChatRequest
from metassay.llm.needs import PromptFile, Requests, Resources, Use
from metassay.llm.prompts import PROMPTS, Decoding, Kind, Prompt, file_of, load, render
from metassay.llm.structured import (
    AGAIN_FILE,
    AGAIN_FILLED,
    Again,
    Answer,
    Group,
    Item,
    ItemResult,
    RoundTally,
    ask_groups,
    first_requests,
    numbered,
    schema_of,
)
from metassay.tables.names import FULL
from metassay.text.citations import strip_citations
from metassay.units.record import Decomposed, Decomposition
from metassay.units.statements import EMPTY_SECTION, LINE_BREAK, leaves, tasks_of, units_of

FILLED: Mapping[str, Kind] = {"items": "data", "least": "text", "most": "text"}
ANSWER_LENGTH = 1.3  # tokens of a list of claims per token of the text that they are from

# Those of UNITS, with the status that says why a part's claims are unknown.
_COLUMNS = (
    *("doc_id", "author", "part", "kind", "position"),
    *("text", "status", "citations", "statement", "start", "end"),
)


class LlmClaimOptions(Options):
    """A chat model (a name in params.yaml > models) that takes parts apart.

    `least`, `most`: how many claims a part may give; another number counts as no answer. `rounds`:
    how often it is asked again. `max_tokens`: how long an answer may be; null for what is said of
    the model.
    """

    model: str
    prompt: Name = "claims"
    least: int = Field(ge=0)
    most: int = Field(ge=1, le=1000)
    rounds: int = Field(ge=0, le=20)
    max_tokens: Length | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.least > self.most:
            raise ValueError("least is more than most; exchange them")
        return self


class _Part(NamedTuple):
    """One leaf part; `group` is None where no model is asked."""

    doc_id: str
    author: str
    part: str
    claims: tuple[str, ...]
    group: Group[Answer] | None


def llm_claims(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: LlmClaimOptions,
    ask: Ask,
    decoding: Decoding,
    *,
    prompts: Path = PROMPTS,
) -> Decomposed:
    """Claims of the leaf parts with status ok: PARTS, SOURCES to rows of UNITS.

    Only claims, without statements; `statement`, `start` and `end` are null, and citations are
    stripped before the model reads a text and from what it answers. A part of which it gave no
    sound list (no JSON, too few or too many claims, a blank claim), also when asked again, is one
    row at position 0 with null text and the status that says why: its claims are unknown, which is
    not the same as none. Of a text of task `question` the whole text is the one claim, and a blank
    part has none; neither is put to the model. Warnings say what asking again won.

    Raises BadInput if a part's doc_id is not in sources, or the prompt is not usable.
    """
    found = _parts(parts, sources, options, decoding, load(options.prompt, prompts))
    groups = [part.group for part in found if part.group is not None]
    answered = ask_groups(ask, groups, rounds=options.rounds, again=Again(prompts))
    tally = RoundTally(options.rounds)
    tally.add(result for (result,) in answered)
    results = iter(answered)
    rows: list[tuple[object, ...]] = []
    for part in found:
        own = part.claims if part.group is None else next(results)[0]
        rows += _rows(part, own)
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    typed = frame.astype({"statement": "Int64", "start": "Int64", "end": "Int64"})
    return Decomposed(typed, tuple(tally.notes))


def claim_requests(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: LlmClaimOptions,
    decoding: Decoding,
    *,
    prompts: Path = PROMPTS,
) -> list[ChatRequest]:
    """What `llm_claims` asks at first: all it asks if every answer is sound."""
    found = _parts(parts, sources, options, decoding, load(options.prompt, prompts))
    return first_requests([part.group for part in found if part.group is not None])


def signature(options: LlmClaimOptions, decoding: Decoding, *, prompts: Path = PROMPTS) -> str:
    """The decomposition as recipes print it: everything that can change a claim."""
    prompt = load(options.prompt, prompts)
    return (
        f"llm_claims({decoding.signature}|prompt:{prompt.signature}"
        f"|claims:{options.least}-{options.most}|{Again(prompts).signature(options.rounds)})"
    )


def _parts(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: LlmClaimOptions,
    decoding: Decoding,
    prompt: Prompt,
) -> list[_Part]:
    tasks = tasks_of(parts, sources)
    answer = _claims_model(options)
    schema = schema_of(answer)

    def build(items: list[Item]) -> ChatRequest:
        listed = [{"number": item.number, **item.content} for item in items]
        messages = render(prompt, items=listed, least=options.least, most=options.most)
        return decoding.request(messages, schema)

    found = []
    for doc_id, author, part, text in sorted(leaves(parts)):
        said = _said(text)
        claims = (said,) if tasks[doc_id] == "question" and said else ()
        group = None
        if said and not claims:
            content = {"text": said} if part == FULL else {"section": part, "text": said}
            group = Group(numbered([content]), build, answer)
        found.append(_Part(doc_id, author, part, claims, group))
    return found


def _said(text: str) -> str:
    """The text without citations and without DocLens's marks; empty if nothing is stated."""
    text = text.replace(EMPTY_SECTION, "").replace(LINE_BREAK, "\n")
    said = strip_citations(text).strip()
    return said if any(map(str.isalnum, said)) else ""


def _claims_model(options: LlmClaimOptions) -> type[Answer]:
    claim = Annotated[str, AfterValidator(_claim)]
    within = Field(min_length=options.least, max_length=options.most)
    claims: Any = (Annotated[list[claim], within], ...)
    return create_model("Claims", __base__=Answer, claims=claims)


def _claim(text: str) -> str:
    claim = " ".join(strip_citations(text).split())
    if not any(map(str.isalnum, claim)):
        raise ValueError("states nothing")
    return claim


def _rows(part: _Part, own: Sequence[str] | ItemResult[Answer]) -> list[tuple[object, ...]]:
    place = (part.doc_id, part.author, part.part, "claim")
    status = "ok"
    claims: Sequence[str | None]
    if not isinstance(own, ItemResult):
        claims = own
    elif own.value is not None:
        claims = own.value.model_dump()["claims"]
    else:
        claims, status = [None], own.status
    return [
        (*place, position, claim, status, [], None, None, None)
        for position, claim in enumerate(claims)
    ]


def _take_apart(
    parts: pd.DataFrame, sources: pd.DataFrame, options: LlmClaimOptions, resources: Resources
) -> Decomposed:
    said = units_of(parts, sources, None)
    claims = llm_claims(parts, sources, options, *resources.require_model())
    units = pd.concat([said, claims.units], ignore_index=True)
    return Decomposed(units, claims.warnings)


def _requests(
    parts: pd.DataFrame, sources: pd.DataFrame, options: LlmClaimOptions, decoding: Decoding
) -> Requests:
    asked = claim_requests(parts, sources, options, decoding)
    most = [1 + options.rounds] * len(asked)  # of one item each
    return Requests(asked, most, ANSWER_LENGTH, Again().longest)


KIND = Decomposition(
    options=LlmClaimOptions,
    take_apart=_take_apart,
    requests=_requests,
    recipe=signature,
    model=lambda options: Use(options.model, options.max_tokens),
    files=lambda options: (
        PromptFile(file_of(options.prompt), FILLED),
        PromptFile(AGAIN_FILE, AGAIN_FILLED),
    ),
)
