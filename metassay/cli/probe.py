"""`metassay probe`: put one question to a judge, model or endpoint; print all that is exchanged.

The question is invented, and public. It is asked as every question of a run is, so that
it fails where a run would fail.
"""

import argparse
import contextlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from metassay.core.errors import BadInput, one_line, raise_problems
from metassay.core.kinds import Chosen, choose
from metassay.core.options import PARAMS
from metassay.core.params import Params, load
from metassay.datasets.clearance import probe_session
from metassay.judges import JUDGES
from metassay.judges.make import instruments_of, make_judge
from metassay.judges.protocol import Judgment, Pair
from metassay.llm import http
from metassay.llm.endpoints import Models, find_model, variables
from metassay.llm.messages import Ask, ChatRequest, Reply
from metassay.llm.needs import Resources, list_members
from metassay.llm.server_errors import (
    WATCHED,
    Exchange,
    hide_secrets,
    refused_parameters,
)
from metassay.llm.session import Session, model_problems
from metassay.scoring.pairing.instruments import ENTAILMENT

FAILED = 1
PAIR = Pair(
    "probe",
    ENTAILMENT.name,
    "The patient is a 58-year-old woman with high blood pressure. She takes metoprolol 50 mg twice"
    " a day. Her left knee has hurt for two weeks, without a fall.",
    "She takes metoprolol twice a day.",
)
# How a model without a judge is asked.
_PLAIN = {"kind": "llm", "style": "json", "per_call": "claim", "shots": 0, "rounds": 0}
_ALTERNATIVES = 5  # to each token, with --logprobs
_LINES = 100  # printed of a body
_UNSHOWN = re.compile(r"accept.*|connection|content-length|host|set-cookie|date")


@dataclass
class _Question:
    """The question to one model, how often a run would ask it, and the answer."""

    model: str  # its name in params.yaml
    request: ChatRequest
    times: int = 0
    reply: Reply | None = None
    exchanges: list[Exchange] = field(default_factory=list)


def probe(args: argparse.Namespace) -> int:
    """Ask once and print everything; return FAILED if there is no valid answer."""
    params = load()
    with probe_session(params) as session:
        judge, where = _judge(args.name, params, session.models)
        raise_problems(model_problems(judge, session.models, where=where))
        questions: list[_Question] = []
        judgment, start = None, time.time()
        notes: list[str] = []
        problems: tuple[str, ...] = ()
        try:
            judgment = _judge_pair(
                judge, session, questions, notes, logprobs=args.logprobs
            )
        except BadInput as error:
            if not any(question.exchanges for question in questions):
                raise
            problems = error.problems
        lines = [
            line for question in questions for line in _describe(question, session)
        ]
        if judgment is not None:
            fields = ("label", "probability", "explanation")
            values = {f"{name} ": getattr(judgment, name) for name in fields}
            values["repaired "] = "yes" if judgment.repaired else None
            took = f"it took {time.time() - start:.2f} s"
            lines += ["", f"judgment: {judgment.status}{_join(values)}; {took}", *notes]
        if not questions and any(
            j.record.requests is not None for j in list_members(judge)
        ):
            lines.append(
                "no language model was asked, since another judge was sure; probe the model itself"
            )
        advice = [line for question in questions for line in _advice(question)]
        # Without secrets and control characters.
        endpoints = session.models.endpoints.values()
        names = {
            name for endpoint in endpoints for name in variables(endpoint).values()
        }
        secrets = [
            secret for name in names if (secret := os.environ.get(name, "").strip())
        ]
        for line in [*lines, *(advice or problems)]:
            print(one_line(hide_secrets(line, secrets)))
    return (
        0 if judgment is not None and judgment.status in ("ok", "abstained") else FAILED
    )


def _judge(name: str, params: Params, models: Models) -> tuple[Chosen, str]:
    """Return the judge of that name, or one that asks the model of that name; and its place."""
    blocks = {
        "judges": params.judges,
        "models": params.models,
        "endpoints": params.endpoints,
    }
    block, _, key = name.rpartition(".")
    matches = [b for b in blocks if block in ("", b) and key in blocks[b]]
    if not matches:
        known = "; ".join(
            f"{b}: {', '.join(sorted(blocks[b])) or 'none'}" for b in blocks
        )
        raise BadInput(f"{PARAMS} has no judge, model or endpoint {name!r}; {known}")
    if matches[0] == "judges":
        where, options = f"{PARAMS} > judges > {key}", params.judges[key]
        print(f"judge {key}")
        return choose(JUDGES, options, where=where), where
    if matches[0] == "endpoints":
        of_endpoint = [n for n, model in models.models.items() if model.endpoint == key]
        if not of_endpoint:
            raise BadInput(f"{PARAMS} > models: none is at endpoint {key!r}; add one")
        key = of_endpoint[0]
    print(f"model {key}, as a judge that answers in JSON")
    where = f"{PARAMS} > models > {key}"
    return choose(JUDGES, {**_PLAIN, "model": key}, where=where), where


def _judge_pair(
    judge: Chosen,
    session: Session,
    questions: list[_Question],
    notes: list[str],
    *,
    logprobs: bool,
) -> Judgment:
    """Return the judgment of PAIR.

    Adds the questions to language models to `questions`, and what the judge says of
    their answers to `notes`, such as why one could not be read.
    """
    if ENTAILMENT.name not in instruments_of(judge):
        raise BadInput(
            f"a judge of kind {judge.kind!r} cannot be asked about entailment"
        )
    print(f'question: does "{PAIR.premise}" entail "{PAIR.hypothesis}"?')

    def provide(judge: Chosen) -> Resources:
        resources = session.provide(judge)
        if resources.model is None:
            return resources
        name = judge.record.model(judge.options).model
        ask = _ask_once(resources.model.ask, name, questions, logprobs=logprobs)
        return resources._replace(model=resources.model._replace(ask=ask))

    judging = make_judge(judge, provide)
    (judgment,) = judging.judge([PAIR])
    notes.extend(judging.notes)
    assert judgment is not None  # only questions about citations may need no judgment
    return judgment


def _ask_once(
    ask: Ask, model: str, questions: list[_Question], *, logprobs: bool
) -> Ask:
    """Ask the first question alone, past the ledger; its answer stands for those of all others."""
    question: _Question | None = None

    def first(requests: Sequence[ChatRequest]) -> list[Reply]:
        nonlocal question
        if question is None:
            alternatives = _ALTERNATIVES if logprobs else requests[0].logprobs
            # A number that no question had before, so that the ledger has no answer.
            request = replace(requests[0], repeat=time.time_ns(), logprobs=alternatives)
            question = _Question(model, request)
            questions.append(question)
            token = WATCHED.set(question.exchanges)
            try:
                (question.reply,) = ask([request])
            finally:
                WATCHED.reset(token)
        question.times += len(requests)
        assert question.reply is not None
        return [question.reply._replace(key=request.key) for request in requests]

    return first


def _describe(question: _Question, session: Session) -> Iterator[str]:
    """Yield what was sent to a model and what came back, in lines."""
    model = find_model(session.models, question.model)
    endpoint = session.models.endpoints[model.endpoint]
    reply, url, sent = question.reply, endpoint.base_url, dict[str, str]()
    for exchange in question.exchanges[:1]:
        url, sent = str(exchange.request.url), dict(exchange.request.headers)
    sent |= dict.fromkeys({"authorization", "api-key"} & sent.keys(), "(not shown)")
    yield from (
        "",
        f"sent to model {question.model} at endpoint {model.endpoint}: POST {url}",
    )
    yield from _message(
        sent, http.request_body(question.request, endpoint, model.limit)
    )
    for exchange in question.exchanges[:1]:
        code = exchange.response.status_code
        yield from ("", f"came back after {exchange.seconds:.2f} s: HTTP {code}")
        yield from _message(exchange.response.headers, exchange.body)
    if not question.exchanges:
        yield from ("", "nothing came back")
    if reply:
        counts = {
            "tokens read ": reply.prompt_tokens,
            "written ": reply.completion_tokens,
        }
        values = {"": reply.error, "finish_reason ": reply.finish_reason, **counts}
        yield from ("", f"status of the answer: {reply.status}{_join(values)}")
    cost, prices = session.booked(question.request.key), model.prices
    yield f"price: {f'{cost:.6f} {prices.currency}, booked' if prices else 'the model has none'}"
    logprobs = "not asked for; --logprobs asks for them"
    if question.request.logprobs is not None:
        tokens = reply.logprobs if reply else None
        logprobs = f"of {len(tokens)} tokens" if tokens else "asked for; none came"
    yield f"log-probabilities: {logprobs}"
    if question.times > 1:
        yield f"a run would ask {question.times} times; this answer stood for all of them"


def _join(values: Mapping[str, object]) -> str:
    return "".join(
        f", {name}{value}" for name, value in values.items() if value is not None
    )


def _advice(question: _Question) -> Iterator[str]:
    for exchange in question.exchanges[:1]:
        where = f"{PARAMS} > models > {question.model}"
        for name, remedy in refused_parameters(exchange, where).items():
            yield f"refused: {name}; {remedy}"


def _message(headers: Mapping[str, str], body: bytes) -> Iterator[str]:
    """Yield the headers of interest and a body, JSON on several lines."""
    shown = {
        name: value
        for name, value in headers.items()
        if not _UNSHOWN.fullmatch(name.lower())
    }
    yield from (f"  {name}: {value}" for name, value in shown.items())
    text = body.decode("utf-8", "replace")
    with contextlib.suppress(ValueError, RecursionError):
        text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    lines = text.splitlines()
    yield from (f"  {line}" for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"  ... {len(lines) - _LINES} more lines"
