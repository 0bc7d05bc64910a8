"""`metassay probe`: one question to a judge, a model or an endpoint, with all that goes and comes.

The question is made up here, and public. It goes the way of every question of a run, so that what
would stop a run stops it.
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
from metassay.llm.needs import Resources, with_members
from metassay.llm.server_errors import WATCHED, Exchange, refused_parameters
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
# How a model is asked that is named without a judge.
_PLAIN = {"kind": "llm", "style": "json", "per_call": "claim", "shots": 0, "rounds": 0}
_ALTERNATIVES = 5  # to each token, where log-probabilities are asked for
_LINES = 100  # of a body that are shown
_UNSHOWN = re.compile(r"accept.*|connection|content-length|host|set-cookie|date")


@dataclass
class _Asked:
    """What was put to one model, how often a run would ask it, and what came."""

    model: str  # its name in params.yaml
    request: ChatRequest
    wanted: int = 0
    reply: Reply | None = None
    exchanges: list[Exchange] = field(default_factory=list)


def probe(chosen: argparse.Namespace) -> int:
    """Ask once and print everything; FAILED if no sound answer came."""
    params = load()
    with probe_session(params) as session:
        judge, where = _judge(chosen.name, params, session.models)
        raise_problems(model_problems(judge, session.models, where=where))
        asked: list[_Asked] = []
        judgment, start = None, time.time()
        problems: tuple[str, ...] = ()
        try:
            judgment = _judged(judge, session, asked, logprobs=chosen.logprobs)
        except BadInput as error:
            if not any(question.exchanges for question in asked):
                raise
            problems = error.problems
        lines = [line for question in asked for line in _told(question, session)]
        if judgment is not None:
            known = {f"{n} ": getattr(judgment, n) for n in ("label", "probability", "explanation")}
            known["repaired "] = "yes" if judgment.repaired else None
            took = f"it took {time.time() - start:.2f} s"
            lines += ["", f"judgment: {judgment.status}{_listed(known)}; {took}"]
        if not asked and any(one.record.requests is not None for one in with_members(judge)):
            lines.append(
                "no language model was asked, since another judge was sure; probe it itself"
            )
        advice = [line for question in asked for line in _advice(question)]
        # Without secrets, and without anything that controls a terminal.
        endpoints = session.models.endpoints.values()
        names = {name for endpoint in endpoints for name in variables(endpoint).values()}
        secrets = [secret for name in names if (secret := os.environ.get(name, "").strip())]
        for line in [*lines, *(advice or problems)]:
            for secret in secrets:
                line = line.replace(secret, "(not shown)")  # noqa: PLW2901
            print(one_line(line))
    return 0 if judgment is not None and judgment.status in ("ok", "abstained") else FAILED


def _judge(name: str, params: Params, models: Models) -> tuple[Chosen, str]:
    """The judge that a name means, or one that asks the model that it means, and where it is."""
    blocks = {"judges": params.judges, "models": params.models, "endpoints": params.endpoints}
    of, _, own = name.rpartition(".")
    found = [one for one in blocks if of in ("", one) and own in blocks[one]]
    if not found:
        known = "; ".join(f"{one}: {', '.join(sorted(blocks[one])) or 'none'}" for one in blocks)
        raise BadInput(f"{PARAMS} has no judge, model or endpoint {name!r}; {known}")
    if found[0] == "judges":
        where, block = f"{PARAMS} > judges > {own}", params.judges[own]
        print(f"judge {own}")
        return choose(JUDGES, block, where=where), where
    if found[0] == "endpoints":
        there = [one for one, model in models.models.items() if model.endpoint == own]
        if not there:
            raise BadInput(f"{PARAMS} > models: none is at endpoint {own!r}; add one to be asked")
        own = there[0]
    print(f"model {own}, as a judge that answers in JSON")
    where = f"{PARAMS} > models > {own}"
    return choose(JUDGES, {**_PLAIN, "model": own}, where=where), where


def _judged(judge: Chosen, session: Session, asked: list[_Asked], *, logprobs: bool) -> Judgment:
    """The judgment of PAIR; what is put to language models is added to `asked`."""
    if ENTAILMENT.name not in instruments_of(judge):
        raise BadInput(f"a judge of kind {judge.kind!r} is not asked what a text entails")
    print(f'question: does "{PAIR.premise}" entail "{PAIR.hypothesis}"?')

    def provide(one: Chosen) -> Resources:
        given = session.provide(one)
        if given.model is None:
            return given
        name = one.record.model(one.options).model
        ask = _once(given.model.ask, name, asked, logprobs=logprobs)
        return given._replace(model=given.model._replace(ask=ask))

    (judgment,) = make_judge(judge, provide).judge([PAIR])
    assert judgment is not None  # only questions about citations can be of no need
    return judgment


def _once(ask: Ask, model: str, asked: list[_Asked], *, logprobs: bool) -> Ask:
    """Ask the first question alone, past the ledger; its answer stands for those of all others."""
    mine: list[_Asked] = []

    def first(requests: Sequence[ChatRequest]) -> list[Reply]:
        if not mine:
            wanted = _ALTERNATIVES if logprobs else requests[0].logprobs
            # A number that no question had before, so that the ledger has no answer.
            request = replace(requests[0], repeat=time.time_ns(), logprobs=wanted)
            mine.append(_Asked(model, request))
            asked.append(mine[0])
            token = WATCHED.set(mine[0].exchanges)
            try:
                (mine[0].reply,) = ask([request])
            finally:
                WATCHED.reset(token)
        mine[0].wanted += len(requests)
        assert mine[0].reply is not None
        return [mine[0].reply._replace(key=one.key) for one in requests]

    return first


def _told(asked: _Asked, session: Session) -> Iterator[str]:
    model = find_model(session.models, asked.model)
    endpoint = session.models.endpoints[model.endpoint]
    reply, url, sent = asked.reply, endpoint.base_url, dict[str, str]()
    for exchange in asked.exchanges[:1]:
        url, sent = str(exchange.request.url), dict(exchange.request.headers)
    sent |= dict.fromkeys({"authorization", "api-key"} & sent.keys(), "(not shown)")
    yield from ("", f"sent to model {asked.model} at endpoint {model.endpoint}: POST {url}")
    yield from _shown(sent, http.request_body(asked.request, endpoint, model.limit))
    for exchange in asked.exchanges[:1]:
        code = exchange.response.status_code
        yield from ("", f"came back after {exchange.seconds:.2f} s: HTTP {code}")
        yield from _shown(exchange.response.headers, exchange.body)
    if not asked.exchanges:
        yield from ("", "nothing came back")
    if reply:
        counts = {"tokens read ": reply.prompt_tokens, "written ": reply.completion_tokens}
        named = {"": reply.error, "finish_reason ": reply.finish_reason, **counts}
        yield from ("", f"status of the answer: {reply.status}{_listed(named)}")
    cost, prices = session.booked(asked.request.key), model.prices
    yield f"price: {f'{cost:.6f} {prices.currency}, booked' if prices else 'the model has none'}"
    came = "not asked for; --logprobs asks for them"
    if asked.request.logprobs is not None:
        found = reply.logprobs if reply else None
        came = f"of {len(found)} tokens" if found else "asked for; none came"
    yield f"log-probabilities: {came}"
    if asked.wanted > 1:
        yield f"a run would ask {asked.wanted} times; this answer stood for all of them"


def _listed(named: Mapping[str, object]) -> str:
    return "".join(f", {name}{value}" for name, value in named.items() if value is not None)


def _advice(asked: _Asked) -> Iterator[str]:
    for exchange in asked.exchanges[:1]:
        where = f"{PARAMS} > models > {asked.model}"
        for name, remedy in refused_parameters(exchange, where).items():
            yield f"refused: {name}; {remedy}"


def _shown(headers: Mapping[str, str], body: bytes) -> Iterator[str]:
    """Headers but those that say nothing, and a body, JSON in lines."""
    shown = {name: value for name, value in headers.items() if not _UNSHOWN.fullmatch(name.lower())}
    yield from (f"  {name}: {value}" for name, value in shown.items())
    said = body.decode("utf-8", "replace")
    with contextlib.suppress(ValueError, RecursionError):
        said = json.dumps(json.loads(said), indent=2, ensure_ascii=False)
    lines = said.splitlines()
    yield from (f"  {line}" for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"  ... {len(lines) - _LINES} more lines"
