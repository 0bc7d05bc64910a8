"""Claims by a language model: one request per part, as DocLens takes texts apart (Xie et al. 2024,
section 3.1; its released reference claims were held to between 1 and 30 for each section).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

import pandas as pd
from pydantic import AfterValidator, Field, create_model, model_validator

from metassay.core.options import Name
from metassay.llm.messages import Ask, ChatRequest
from metassay.llm.needs import Requests, Resources
from metassay.llm.prompts import Decoding, Kind, load, render
from metassay.llm.structured import Again, Answer, Group, Item, ItemResult, numbered, schema_of
from metassay.tables.names import FULL
from metassay.text.citations import strip_citations
from metassay.units.llm_answers import LlmOptions, answers, files, requests, use
from metassay.units.record import Decomposed, Decomposition
from metassay.units.statements import Place, leaves, plain_lines, tasks_of, unit_rows, units_of

FILLED: Mapping[str, Kind] = {"items": "data", "least": "text", "most": "text"}
ANSWER_LENGTH = 1.3  # tokens of a list of claims per token of the text that they are from


class LlmClaimOptions(LlmOptions):
    """`least`, `most`: how many claims a part may give; another number counts as no answer."""

    prompt: Name = "claims"
    least: int = Field(ge=0)
    most: int = Field(ge=1, le=1000)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.least > self.most:
            raise ValueError("least is more than most; exchange them")
        return self


def llm_claims(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: LlmClaimOptions,
    ask: Ask,
    decoding: Decoding,
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
    places, groups = _groups(parts, sources, options, decoding)
    results, notes = answers(ask, list(groups.values()), options.rounds)
    answered = dict(zip(groups, results, strict=True))
    rows: list[tuple[object, ...]] = []
    for place, claims in places.items():
        result = answered.get(place)
        texts, status = (claims, "ok") if result is None else _claims_of(result)
        rows += [
            (*place, "claim", position, claim, status, [], None, None, None)
            for position, claim in enumerate(texts)
        ]
    return Decomposed(unit_rows(rows), tuple(notes))


def claim_requests(
    parts: pd.DataFrame, sources: pd.DataFrame, options: LlmClaimOptions, decoding: Decoding
) -> Requests:
    """What `llm_claims` asks at first: all it asks if every answer is sound."""
    _, groups = _groups(parts, sources, options, decoding)
    return requests(list(groups.values()), options.rounds, ANSWER_LENGTH)


def signature(options: LlmClaimOptions, decoding: Decoding) -> str:
    """The decomposition as recipes print it: everything that can change a claim."""
    return (
        f"llm_claims({decoding.signature}|prompt:{load(options.prompt).signature}"
        f"|claims:{options.least}-{options.most}|{Again().signature(options.rounds)})"
    )


def _groups(
    parts: pd.DataFrame, sources: pd.DataFrame, options: LlmClaimOptions, decoding: Decoding
) -> tuple[dict[Place, list[str | None]], dict[Place, Group[Answer]]]:
    """The claims of each leaf part that no model is asked about, and what is asked of others."""
    tasks, prompt = tasks_of(parts, sources), load(options.prompt)
    within = Field(min_length=options.least, max_length=options.most)
    claims: Any = (Annotated[list[Annotated[str, AfterValidator(_claim)]], within], ...)
    answer: type[Answer] = create_model("Claims", __base__=Answer, claims=claims)
    schema = schema_of(answer)

    def build(items: list[Item]) -> ChatRequest:
        listed = [{"number": item.number, **item.content} for item in items]
        messages = render(prompt, items=listed, least=options.least, most=options.most)
        return decoding.request(messages, schema)

    places: dict[Place, list[str | None]] = {}
    groups: dict[Place, Group[Answer]] = {}
    for *place, text in sorted(leaves(parts)):
        doc_id, author, part = place
        said = strip_citations(plain_lines(text)).strip()
        said = said if any(map(str.isalnum, said)) else ""
        asks = said and tasks[doc_id] != "question"
        places[doc_id, author, part] = [said] if said and not asks else []
        if asks:
            content = {"text": said} if part == FULL else {"section": part, "text": said}
            groups[doc_id, author, part] = Group(numbered([content]), build, answer)
    return places, groups


def _claim(text: str) -> str:
    claim = " ".join(strip_citations(text).split())
    if not any(map(str.isalnum, claim)):
        raise ValueError("states nothing")
    return claim


def _claims_of(result: ItemResult[Answer]) -> tuple[list[str | None], str]:
    if result.value is None:
        return [None], result.status
    return result.value.model_dump()["claims"], "ok"


def _take_apart(
    parts: pd.DataFrame, sources: pd.DataFrame, options: LlmClaimOptions, resources: Resources
) -> Decomposed:
    said = units_of(parts, sources, None)
    claims = llm_claims(parts, sources, options, *resources.require_model())
    return Decomposed(pd.concat([said, claims.units], ignore_index=True), claims.warnings)


KIND = Decomposition(
    options=LlmClaimOptions,
    take_apart=_take_apart,
    requests=claim_requests,
    recipe=signature,
    model=use,
    files=lambda options: files(options.prompt, FILLED),
)
