"""Language models as judges (DocLens, Xie et al. 2024, section 3): one call for all hypotheses of a
part, one for a cited statement, which also says which of its citations it rests on, and one for all
criteria by which a text is graded, with quotes as evidence.

What cannot be read is asked again, that question alone, and then has a status: it never counts as
not entailed. A model gives no probability.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from metassay.judges import llm_criteria
from metassay.judges.criteria import RUBRIC
from metassay.judges.evidence import Found
from metassay.judges.llm_answers import JSON_STYLES, Style, answer_model, entries_of
from metassay.judges.llm_calls import FORMS, Call, PerCall, attributed, calls_of
from metassay.judges.llm_criteria import CriteriaCall, criteria_calls
from metassay.judges.llm_wording import Wording, prompt_files
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.record import JudgeKind
from metassay.llm.again import Again, Tally
from metassay.llm.endpoints import Count
from metassay.llm.messages import Ask, ChatRequest
from metassay.llm.prompts import PROMPTS, Decoding
from metassay.llm.structured import (
    Answer,
    Group,
    Item,
    ItemResult,
    ask_groups,
    first_requests,
    most_requests,
    numbered,
    schema_of,
)
from metassay.needs import Requests, Use
from metassay.options import Options

BATCH = 16_384  # pairs at once: a call of judge() is as concurrent as its endpoint, and no more

# Tokens of an answer to one question, as in the solved examples of prompts/: an expectation, until
# the ledger knows how long answers are.
ANSWER_LENGTH: Mapping[Style, float] = {"plain": 5, "json": 14, "cot": 24, "json_cot": 31}
# And of one to a criterion, with a quote or two: no prompt has examples of these.
GRADE_LENGTH: Mapping[Style, float] = {"plain": 5, "json": 26, "cot": 34, "json_cot": 51}


class LlmOptions(Options):
    """A chat model (a name in params.yaml > models) that judges.

    `style`: `plain` (a line each), `json`, `cot` (thinking aloud, then lines) or `json_cot` (JSON
    with reasons). `per_call`: all hypotheses of a `part` in one call, `most` of them if it is a
    number; or each `claim` by itself. `shots`: so many of the prompt's solved examples are shown
    first, or of each criterion of a rubric. `rounds`: how often it is asked again for what cannot
    be read. `max_tokens`: how long an answer may be; null for what is said of the model.
    """

    model: str
    style: Style
    per_call: PerCall
    most: int | None = Field(default=None, ge=1)
    shots: int = Field(ge=0)
    rounds: int = Field(ge=0, le=20)
    max_tokens: Count | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if self.per_call == "claim" and self.most is not None:
            raise ValueError("most is for calls per part; remove it, or set per_call to part")
        return self


class LlmJudge:
    """A language model that judges; see the module."""

    def __init__(
        self, options: LlmOptions, ask: Ask, decoding: Decoding, *, prompts: Path = PROMPTS
    ) -> None:
        """BadInput if a prompt or one of its examples is not usable."""
        self._options = options
        self._ask = ask
        self._decoding = decoding
        self._wording = _wording(options, prompts)
        self._found = Found()
        self._again = Again(prompts)
        self._tally = Tally(options.rounds)

    @property
    def signature(self) -> str:
        """Everything that can change an answer."""
        options = self._options
        most = "" if options.most is None else f"|most:{options.most}"
        return (
            f"llm({self._decoding.signature}|style:{options.style}|prompts:{self._wording.hash}"
            f"|per_call:{options.per_call}{most}|shots:{options.shots}"
            f"|{self._again.signature(options.rounds)})"
        )

    @property
    def notes(self) -> Sequence[str]:
        """What asking again won, what was repaired, and how many quotes were made up.

        What is missing or failed is counted by who asks.
        """
        return [*self._tally.notes, *self._found.notes]

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """One judgment per pair; all calls go out at once."""
        calls, groups = _groups(pairs, self._options, self._decoding, self._wording)
        rounds = self._options.rounds
        answered = ask_groups(self._ask, groups, rounds=rounds, again=self._again)
        found: dict[str, Judgment] = {}
        for call, results in zip(calls, answered, strict=True):
            self._tally.add(results)
            for place, (own, result) in enumerate(zip(call.pairs, results, strict=True)):
                if isinstance(call, CriteriaCall):
                    found[own[0].pair_id] = self._graded(call, place, result)
                else:
                    found.update(_judgments(call, own, result))
        return [found[pair.pair_id] for pair in pairs]

    def _graded(self, call: CriteriaCall, place: int, result: ItemResult[Answer]) -> Judgment:
        """The grade of one criterion, and where its evidence is in the text."""
        counts = _counts(result)
        if result.value is None:
            return Judgment(result.status, **counts)
        said = llm_criteria.graded(call.criteria[place], result.value.model_dump())
        quotes, starts = self._found.located(said.quotes, call.text)
        counts |= {"quotes": quotes, "quote_starts": starts}
        return Judgment("ok", grade=said.grade, explanation=said.explanation, **counts)


def requests(
    pairs: Sequence[Pair], options: LlmOptions, decoding: Decoding, *, prompts: Path = PROMPTS
) -> Requests:
    """What the judge asks of these pairs at first: all that it asks if every answer is sound.

    `answer_length` is per question.
    """
    calls, groups = _groups(pairs, options, decoding, _wording(options, prompts))
    most = most_requests(groups, options.rounds)
    of_criteria = sum(len(call.criteria) for call in calls if isinstance(call, CriteriaCall))
    questions = sum(len(group.items) for group in groups)
    share = of_criteria / questions if questions else 0.0
    length = (1 - share) * ANSWER_LENGTH[options.style] + share * GRADE_LENGTH[options.style]
    return Requests(first_requests(groups), most, length, Again(prompts).longest)


def _wording(options: LlmOptions, prompts: Path) -> Wording:
    single = options.per_call == "claim"
    return Wording(options.style, options.shots, single=single, prompts=prompts)


def _groups(
    pairs: Sequence[Pair], options: LlmOptions, decoding: Decoding, wording: Wording
) -> tuple[list[Call | CriteriaCall], list[Group[Answer]]]:
    most = 1 if options.per_call == "claim" else options.most
    calls: list[Call | CriteriaCall] = [*calls_of(pairs, most), *criteria_calls(pairs, most)]
    return calls, [
        _group_of_criteria(call, options.style, decoding, wording)
        if isinstance(call, CriteriaCall)
        else _group(call, options.style, decoding, wording)
        for call in calls
    ]


def _group(call: Call, style: Style, decoding: Decoding, wording: Wording) -> Group[Answer]:
    answer = answer_model(call.form, style, len(call.passages))
    schema = schema_of(answer) if style in JSON_STYLES else None

    def build(items: list[Item]) -> ChatRequest:
        return decoding.request(wording.messages(call, items), schema)

    return Group(numbered(call.questions), build, answer, entries_of(call.form, style))


def _group_of_criteria(
    call: CriteriaCall, style: Style, decoding: Decoding, wording: Wording
) -> Group[Answer]:
    """The criteria of a call: each has a model of its answer, and the schema allows no other."""
    models = {
        number: llm_criteria.answer_model(criterion, number, style)
        for number, criterion in enumerate(call.criteria, start=1)
    }

    def build(items: list[Item]) -> ChatRequest:
        in_json = style in JSON_STYLES
        schema = schema_of(*(models[item.number] for item in items)) if in_json else None
        return decoding.request(wording.of_criteria(call, items), schema)

    asked = numbered([llm_criteria.question(criterion) for criterion in call.criteria])
    return Group(asked, build, Answer, llm_criteria.entries_of(style), models)


def _judgments(
    call: Call, pairs: Sequence[Pair], result: ItemResult[Answer]
) -> Iterator[tuple[str, Judgment]]:
    """What one answer says of the pairs that it is about; its tokens are shared among them."""
    share, more = divmod(result.tokens or 0, len(pairs))
    for place, pair in enumerate(pairs):
        tokens = None if result.tokens is None else share + (place < more)
        counts = _counts(result) | {"tokens": tokens}
        if result.value is None:
            yield pair.pair_id, Judgment(result.status, **counts)
            continue
        said = result.value.model_dump()
        counts["explanation"] = said.get("reason")
        if call.form.field == "grade":
            yield pair.pair_id, Judgment("ok", grade=float(said["grade"]), **counts)
            continue
        label = said["label"]
        if call.form.passages:
            label = attributed(call, pair, label, said["passages"])
        yield pair.pair_id, Judgment("ok", label, **counts)


def _counts(result: ItemResult[Answer]) -> dict[str, Any]:
    return {"tokens": result.tokens, "attempts": result.attempts, "repaired": result.repaired}


KIND = JudgeKind(
    options=LlmOptions,
    make=lambda options, resources, _: LlmJudge(options, *resources.asked()),
    instruments=(*(name for form in FORMS for name in form.instruments), *RUBRIC),
    batch=BATCH,
    requests=requests,
    model=lambda options: Use(options.model, options.max_tokens),
    files=lambda options: prompt_files(options.style),
)
