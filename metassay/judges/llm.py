"""Language models as judges (DocLens, Xie et al. 2024, section 3).

One call asks about all hypotheses of a part, one about a cited statement, whose answer
also names the supporting citations, and one about all criteria by which a text is
graded, with quotes as evidence. A question whose answer cannot be read is asked again
alone, and then has a status: it never counts as not entailed. If the options ask for
probabilities, a label's probability is that of its tokens, or its share among several
answers.
"""

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from metassay.core.errors import raise_problems
from metassay.core.options import Options
from metassay.judges.criteria import RUBRIC
from metassay.judges.llm_calls import (
    CRITERIA_FORMS,
    FORMS,
    JSON_STYLES,
    Call,
    Form,
    PerCall,
    Style,
    answer_model,
    calls_of,
    criterion_model,
    entries_of,
    grade_of,
    is_whole,
    label_citation,
    numbered_passages,
    sample,
    select_fields,
    solve_example,
    write_reply,
)
from metassay.judges.llm_probability import (
    NOT_FOUND,
    Probability,
    Samples,
    Shares,
    decide,
    label_shares,
    starts_of,
)
from metassay.judges.protocol import JudgeKind, Judgment, Pair, Status
from metassay.judges.protocol import Probability as Share
from metassay.llm import structured
from metassay.llm.endpoints import Length
from metassay.llm.groups import Answer, Group, Item, number_items
from metassay.llm.messages import Ask, ChatRequest, Message
from metassay.llm.needs import PromptFile, Requests, Use
from metassay.llm.prompts import (
    PROMPTS,
    Decoding,
    Kind,
    Prompt,
    file_of,
    join,
    load,
    render,
)
from metassay.units.locate import find

VERSION = 2  # raised by whoever changes results of this module's kinds

ALL_FORMS = (*FORMS, *CRITERIA_FORMS)
_ANSWER_FORM: Mapping[str, Kind] = {"sample": "text"}


def prompt_files(options: "LlmOptions") -> list[PromptFile]:
    """List the prompts that a judge can use, for all instruments."""
    forms = [
        PromptFile(question_file(form, options), form.filled) for form in ALL_FORMS
    ]
    answer = PromptFile(file_of(_answer_prompt(options.style)), _ANSWER_FORM)
    return [*forms, answer, PromptFile(structured.AGAIN_FILE, structured.AGAIN_FILLED)]


def question_file(form: Form, options: "LlmOptions", folder: Path = PROMPTS) -> Path:
    """Return the file of a question: the judge's own, or that of all judges in the folder."""
    name = options.prompts.get(form.instruments[0])
    return file_of(form.prompt, folder) if name is None else Path(name)


class Wording:
    """The prompts of all forms in one style, with solved examples, also those of criteria."""

    def __init__(self, options: "LlmOptions", prompts: Path) -> None:
        """Raise BadInput if a prompt or an example is not usable."""
        self._style = options.style
        self._shots = options.shots
        answers = load(_answer_prompt(options.style), prompts, filled=_ANSWER_FORM)
        self._prompts = {}
        for form in ALL_FORMS:
            file = question_file(form, options, prompts)
            question = load(file.stem, file.parent, filled=form.filled)
            self._prompts[form] = join(question, answers)
        problems: list[str] = []
        for form in FORMS:
            problems += _example_problems(form, self._prompts[form], options.shots)
        raise_problems(problems)
        # then only the first question of an example is shown
        single = options.per_call == "claim"
        self._examples = {
            form: list(self._solved_examples(form, single)) for form in FORMS
        }

    @property
    def hash(self) -> str:
        """8 hex digits of a SHA-256 of all texts that can change an answer."""
        texts: list[list[object]] = []
        for form, prompt in self._prompts.items():
            texts.append([prompt.signature, sample(form, self._style)])
            if form in self._examples:
                texts[-1].append([message.content for message in self._examples[form]])
        canonical = json.dumps(texts, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()[:8]

    def messages(self, call: Call, items: Sequence[Item]) -> tuple[Message, ...]:
        """Return the messages of a call about some of its questions, with examples."""
        shots = [*self._examples.get(call.form, ())]
        for number, content in items if call.criteria else ():
            criterion = call.criteria[number - 1]
            for example in criterion.examples[: self._shots]:
                texts = {"against": example.against or None, "text": example.text}
                shots.append(self._render(call.form, texts, [Item(1, content)])[-1])
                shots.append(
                    Message("assistant", solve_example(criterion, example, self._style))
                )
        system, user = self._render(call.form, call.material, items)
        return (system, *shots, user)

    def _render(
        self,
        form: Form,
        material: Mapping[str, object],
        items: Sequence[Item],
    ) -> tuple[Message, ...]:
        listed = [{"number": item.number, **item.content} for item in items]
        return render(
            self._prompts[form],
            **material,
            items=listed,
            sample=sample(form, self._style),
        )

    def _solved_examples(self, form: Form, single: bool) -> Iterator[Message]:
        for example in self._prompts[form].examples[: self._shots]:
            items = example["items"][: 1 if single else None]
            asked_fields = [select_fields(item, form.asks) for item in items]
            questions = number_items(asked_fields)
            material = example[form.material]
            if form.passages:
                material = numbered_passages(material)
            yield self._render(form, {form.material: material}, questions)[-1]
            yield Message("assistant", write_reply(form, self._style, items))


def _answer_prompt(style: Style) -> str:
    return f"answer-{style.replace('_', '-')}"


def _example_problems(form: Form, prompt: Prompt, shots: int) -> Iterator[str]:
    if len(prompt.examples) < shots:
        count = len(prompt.examples)
        yield f"{prompt.file} > examples: has {count}, but shots is {shots}; add some or lower it"
    for number, example in enumerate(prompt.examples, start=1):
        where = f"{prompt.file} > examples > {number}"
        material = example[form.material]
        items = example["items"]
        shared = material if form.passages else [material]
        if not (
            isinstance(shared, list) and all(isinstance(text, str) for text in shared)
        ):
            yield f"{where} > {form.material}: must be {'texts' if form.passages else 'a text'}"
        elif not (isinstance(items, list) and items):
            yield f"{where} > items: must be a list of solved questions"
        else:
            texts: Any = dict.fromkeys(form.asks, (str, ...))
            model = create_model(
                "Solved",
                __base__=answer_model(form, "json_cot", len(material)),
                **texts,
            )
            rule = f"must have {', '.join(form.asks)}, reason, and a valid {form.field}"
            yield from (
                f"{where} > items > {place}: {rule}"
                for place, item in enumerate(items, start=1)
                if not _is_valid(item, model)
            )


def _is_valid(item: Any, model: type[Answer]) -> bool:
    try:
        model.model_validate({"number": 1, **item})
    except (ValidationError, TypeError):
        return False
    return True


_QUESTIONS = [form.instruments[0] for form in ALL_FORMS]


def _check_prompts(prompts: dict[str, str]) -> dict[str, str]:
    """Refuse questions that no judge is asked, and files outside of the project."""
    for question, file in prompts.items():
        if question not in _QUESTIONS:
            raise ValueError(
                f"{question}: is not a question; write one of {', '.join(_QUESTIONS)}"
            )
        path = Path(file)
        if path.is_absolute() or ".." in path.parts or path.suffix != ".yaml":
            raise ValueError(
                f"{question}: must be a file of the project, such as prompts/strict.yaml"
            )
    return prompts


# pairs at once: requests of one batch run concurrently, batches one by one
BATCH = 16_384

# Tokens of an answer, as in the solved examples of prompts/, until the ledger has
# measured some.
ANSWER_LENGTH: Mapping[Style, float] = {
    "plain": 5,
    "json": 14,
    "cot": 24,
    "json_cot": 31,
}
# And of an answer to a criterion, with a quote or two; the prompts have no such
# examples.
GRADE_LENGTH: Mapping[Style, float] = {
    "plain": 5,
    "json": 26,
    "cot": 34,
    "json_cot": 51,
}


class LlmOptions(Options):
    """A chat model (a name in params.yaml > models) that judges.

    `style`: `plain` (a line each), `json`, `cot` (thinking aloud, then lines) or
    `json_cot` (JSON with reasons). `per_call`: all hypotheses of a `part` in one call,
    at most `most` if it is a number; or each `claim` by itself. `shots`: the number of
    solved examples shown first, from the prompt or from each criterion of a rubric.
    `rounds`: how often unreadable answers are asked for again. `max_tokens`: the limit
    of an answer; null: that of the model. `prompts`: the file of a question that is
    worded otherwise for this judge, such as `entailment: prompts/strict.yaml`.

    `probability` of labels: `none`; `logprobs`, of their tokens, if the endpoint
    returns these with `top_logprobs` alternatives; or `samples`, the share of answers
    with the label. `threshold`: the probability from which the first of two labels is
    the answer. `abstain`: [low, high], the band without an answer.
    """

    model: str
    style: Style
    per_call: PerCall
    most: int | None = Field(default=None, ge=1)
    shots: int = Field(ge=0)
    rounds: int = Field(ge=0, le=20)
    max_tokens: Length | None = None
    prompts: Annotated[dict[str, str], AfterValidator(_check_prompts)] = Field(
        default_factory=dict
    )
    probability: Probability = "none"
    top_logprobs: int = Field(default=20, ge=1, le=20)
    samples: Samples = Samples()
    threshold: Share = 0.5
    abstain: Annotated[list[Share], Field(min_length=2, max_length=2)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.per_call == "claim" and self.most is not None:
            raise ValueError(
                "most is for calls per part; remove it, or set per_call to part"
            )
        for name, needed in (("top_logprobs", "logprobs"), ("samples", "samples")):
            if name in self.model_fields_set and self.probability != needed:
                raise ValueError(
                    f"{name} is for probability: {needed}; remove it, or set that"
                )
        if (
            self.probability == "none"
            and {"threshold", "abstain"} & self.model_fields_set
        ):
            raise ValueError(
                "threshold and abstain need probabilities; set probability to logprobs or samples"
            )
        if (
            self.abstain is not None
            and not self.abstain[0] <= self.threshold <= self.abstain[1]
        ):
            raise ValueError("abstain must be [low, high] around the threshold")
        return self


class LlmJudge:
    """A language model that judges; see the module."""

    def __init__(
        self,
        options: LlmOptions,
        ask: Ask,
        decoding: Decoding,
        *,
        prompts: Path = PROMPTS,
    ) -> None:
        """Raise BadInput if a prompt or an example is not usable."""
        self._options = options
        self._ask = ask
        self._decoding = decoding
        self._wording = Wording(options, prompts)
        self._again = structured.Again(prompts)
        self._tally = structured.RoundTally(options.rounds)
        self._labelled = self._quotes = self._made_up = 0
        # labels without a probability, by reason
        self._without: Counter[str] = Counter()

    @property
    def signature(self) -> str:
        """All settings that can change an answer."""
        options = self._options
        most = "" if options.most is None else f"|most:{options.most}"
        return (
            f"llm({self._decoding.signature}|style:{options.style}|prompts:{self._wording.hash}"
            f"|per_call:{options.per_call}{most}|shots:{options.shots}"
            f"|{self._again.signature(options.rounds)}{_probability_signature(options)})"
        )

    @property
    def notes(self) -> Sequence[str]:
        """Counts of repeated questions, repairs, missing probabilities and made-up quotes."""
        samples = self._options.samples
        notes = self._tally.notes
        if self._labelled and self._options.probability == "samples":
            notes.append(
                f"probabilities are the shares of {samples.k} answers to each question"
                f" ({_temperature(samples)})"
            )
        notes += [
            f"{count:,} of {self._labelled:,} labels have no probability: {why}"
            for why, count in sorted(self._without.items())
        ]
        if self._quotes:
            count = f"{self._made_up:,} of {self._quotes:,} quotes"
            share = self._made_up / self._quotes
            notes.append(f"{count} ({share:.1%}) are not in the text that they quote")
        return notes

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """Return one judgment per pair; all calls go out at once."""
        calls, groups = _groups(pairs, self._options, self._decoding, self._wording)
        flat = list(chain.from_iterable(groups))
        rounds = self._options.rounds
        answered = structured.ask_groups(
            self._ask, flat, rounds=rounds, again=self._again
        )
        for results in answered:
            self._tally.add(results)
        answers = iter(answered)
        judgments = dict[str, Judgment]()
        for call, of_call in zip(calls, groups, strict=True):
            samples = [next(answers) for _ in of_call]
            for number, of_question in enumerate(call.pairs, start=1):
                results = [sample[number - 1] for sample in samples]
                judgments.update(
                    _spread(call, of_question, *self._decide(call, number, results))
                )
        return [judgments[pair.pair_id] for pair in pairs]

    def _decide(
        self,
        call: Call,
        number: int,
        results: Sequence[structured.ItemResult[Answer]],
    ) -> tuple[Judgment, Sequence[int]]:
        """Return the result of all answers to a question, and the passages that they name."""
        options = self._options
        labels = [str(value) for value in call.form.values]
        tokens = [result.tokens for result in results if result.tokens is not None]
        counts: dict[str, Any] = {
            "tokens": sum(tokens) if tokens else None,
            "attempts": sum(result.attempts for result in results),
            "repaired": any(result.repaired for result in results),
        }
        answers = [
            result.value.model_dump() for result in results if result.value is not None
        ]
        # shares of few answers mean little
        if len(answers) < len(results) / 2 or not answers:
            failed = next(result.status for result in results if result.value is None)
            return Judgment(failed, **counts), ()
        first = answers[0]
        if call.criteria:
            grade, quotes, counts["explanation"] = grade_of(
                call.criteria[number - 1], first
            )
            counts |= self._locate(quotes, str(call.material["text"]))
            return Judgment("ok", grade=grade, **counts), ()
        if call.form.field == "grade":
            counts["explanation"] = first.get("reason")
            return Judgment("ok", grade=float(first["grade"]), **counts), ()
        shares: Shares | None = None
        if options.probability != "none":
            self._labelled += 1
        if options.probability == "samples":
            chosen = [answer["label"] for answer in answers]
            shares = {label: chosen.count(label) / len(chosen) for label in labels}
        elif options.probability == "logprobs":
            shares = self._token_shares(results[0], number, labels)
        status: Status = "ok"
        label = first["label"]
        p = None
        if shares is not None:
            label = label if len(results) == 1 else max(labels, key=shares.__getitem__)
            status, label, p = decide(shares, label, options.threshold, options.abstain)
        # If the threshold decides against all answers, none has named passages for the
        # label.
        answer = next(
            (a for a in answers if a["label"] == label), first | {"passages": ()}
        )
        judgment = Judgment(
            status, label, p, explanation=answer.get("reason"), **counts
        )
        return judgment, answer.get("passages", ())

    def _token_shares(
        self,
        result: structured.ItemResult[Answer],
        number: int,
        labels: Sequence[str],
    ) -> Shares | None:
        """Return each label's probability by the answer's tokens; if None, count the reason."""
        reply = result.reply
        answer = result.value
        shares: Shares | str = "the endpoint gave no log-probabilities"
        if answer is not None and reply is not None and reply.logprobs is not None:
            starts = starts_of(reply, self._options.style)
            start = starts.get(number, starts.get(None))
            label = answer.model_dump()["label"]
            shares = (
                NOT_FOUND
                if start is None
                else label_shares(reply.logprobs, start, labels, label)
            )
        if isinstance(shares, str):
            self._without[shares] += 1
            return None
        return shares

    def _locate(self, quotes: Sequence[str], text: str) -> dict[str, Any]:
        """Return each quote in the words of the text, and its offset; -1 if it is not there.

        Case, white space and punctuation are ignored. All words must match.
        """
        places: list[tuple[str, int]] = []
        for quote in quotes:
            match = find(quote, text)
            exact = match is not None and match.how != "fuzzy"
            places.append(
                (text[slice(*match.span)], match.span.start)
                if match and exact
                else (quote, -1)
            )
        starts = tuple(start for _, start in places)
        self._quotes += len(starts)
        self._made_up += starts.count(-1)
        return {"quotes": tuple(quote for quote, _ in places), "quote_starts": starts}


def requests(
    pairs: Sequence[Pair],
    options: LlmOptions,
    decoding: Decoding,
    *,
    prompts: Path = PROMPTS,
) -> Requests:
    """Return the judge's first questions about the pairs, and the expected length of answers."""
    calls, nested = _groups(pairs, options, decoding, Wording(options, prompts))
    groups = list(chain.from_iterable(nested))
    most = structured.most_requests(groups, options.rounds)
    of_criteria = sum(len(call.criteria) for call in calls)
    questions = sum(len(of_call[0].items) for of_call in nested)
    share = of_criteria / questions if questions else 0.0
    length = (1 - share) * ANSWER_LENGTH[options.style] + share * GRADE_LENGTH[
        options.style
    ]
    samples = (
        sum(len(group.items) for group in groups) / questions if questions else 1.0
    )
    return Requests(
        requests=structured.first_requests(groups),
        most=most,
        answer_length=length * samples,
        longer=structured.Again(prompts).longest,
    )


def _groups(
    pairs: Sequence[Pair], options: LlmOptions, decoding: Decoding, wording: Wording
) -> tuple[list[Call], list[list[Group[Answer]]]]:
    """Return the calls, and for each call its groups: one, or one per sample."""
    most = 1 if options.per_call == "claim" else options.most
    calls = calls_of((*FORMS, *reversed(CRITERIA_FORMS)), pairs, most)
    groups = []
    for call in calls:
        samples = _decodings(call, options, decoding)
        groups.append([_group(call, options, sample, wording) for sample in samples])
    return calls, groups


def _decodings(call: Call, options: LlmOptions, decoding: Decoding) -> list[Decoding]:
    if call.form.field == "grade" or options.probability != "samples":
        return [decoding]
    sample = decoding._replace(temperature=options.samples.temperature)
    return [
        sample._replace(seed=(decoding.seed or 0) + n) for n in range(options.samples.k)
    ]


def _group(
    call: Call, options: LlmOptions, decoding: Decoding, wording: Wording
) -> Group[Answer]:
    """Return a call as a group of items; each criterion has an answer model of its own."""
    style = options.style
    models = {
        number: criterion_model(criterion, number, style)
        for number, criterion in enumerate(call.criteria, start=1)
    }
    answer = Answer if models else answer_model(call.form, style, len(call.passages))
    logprobs = call.form.field == "label" and options.probability == "logprobs"

    def build(items: list[Item]) -> ChatRequest:
        kinds = dict.fromkeys(models.get(item.number, answer) for item in items)
        schema = structured.schema_of(*kinds) if style in JSON_STYLES else None
        request = decoding.request(wording.messages(call, items), schema)
        if logprobs:
            return dataclasses.replace(request, logprobs=options.top_logprobs)
        return request

    items = number_items(call.questions)
    entries = entries_of(call.form, style)
    return Group(items, build, answer, entries, models)


def _spread(
    call: Call, pairs: Sequence[Pair], answer: Judgment, passages: Sequence[int]
) -> Iterator[tuple[str, Judgment]]:
    """Yield the judgments of all pairs of a question, by pair_id; its tokens are divided."""
    share, more = divmod(answer.tokens or 0, len(pairs))
    for place, pair in enumerate(pairs):
        tokens = None if answer.tokens is None else share + (place < more)
        judgment = dataclasses.replace(answer, tokens=tokens)
        # The labels of single citations follow from the answer's, but have no
        # probability.
        if call.form.passages and not is_whole(call, pair):
            label = answer.label and label_citation(call, pair, answer.label, passages)
            judgment = dataclasses.replace(judgment, label=label, probability=None)
        yield pair.pair_id, judgment


def _probability_signature(options: LlmOptions) -> str:
    if options.probability == "none":
        return ""
    method = f"logprobs:{options.top_logprobs}"
    if options.probability == "samples":
        method = f"samples:{options.samples.k},{_temperature(options.samples)}"
    band = (
        "never"
        if options.abstain is None
        else "-".join(f"{v:g}" for v in options.abstain)
    )
    return f"|{method}|threshold:{options.threshold:g}|abstain:{band}"


def _temperature(samples: Samples) -> str:
    t = samples.temperature
    return "the model's temperature" if t is None else f"temperature {t:g}"


def _probability_instruments(options: LlmOptions) -> list[str]:
    """List the instruments whose answers have a probability."""
    if options.probability == "none":
        return []
    names: list[str] = []
    for form in FORMS:
        if form.field == "label":
            names += form.instruments
    return names


KIND = JudgeKind(
    options=LlmOptions,
    make=lambda options, resources, _: LlmJudge(options, *resources.require_model()),
    instruments=(*chain.from_iterable(form.instruments for form in FORMS), *RUBRIC),
    batch=BATCH,
    likely=_probability_instruments,
    abstains=lambda options: (
        () if options.abstain is None else _probability_instruments(options)
    ),
    requests=requests,
    model=lambda options: Use(options.model, options.max_tokens),
    files=prompt_files,
)
