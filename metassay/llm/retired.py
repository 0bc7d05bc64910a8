"""A model that its endpoint has no more: how that is recognised, and what to do about it.

Providers say it with 404, 410 or 400 and an error body of their own: OpenAI and vLLM
`model_not_found` or "The model `x` does not exist", Azure `DeploymentNotFound`, Groq
`model_decommissioned`, Mistral `invalid_model`, Gemini, Anthropic and Ollama a sentence that names
the model, `transformers serve` that it "is pinned to" another one. A wrong URL has no such body:
there nobody knows what a model is.
"""

import datetime
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from metassay.errors import BadInput
from metassay.llm.ledger import Ledger

_GONE, _NOT_FOUND = 410, 404
_CODES = frozenset(
    {
        *("model_not_found", "model_decommissioned", "model_deprecated", "model_retired"),
        *("modelnotfound", "modeldeprecated", "deploymentnotfound", "invalid_model"),
    }
)
_MODEL = re.compile(r"\bmodels?\b", re.IGNORECASE)
_ENDS = r"(?:decommissioned|deprecated|retired|shut ?down|no longer|pinned to)"
_ENDED = re.compile(_ENDS, re.IGNORECASE)
_UNKNOWN = re.compile(r"not found|not exist|unknown|no such", re.IGNORECASE)
_DEEPEST = 5


class Retired(BadInput):
    """The endpoint answers, and says that it does not have (any more) the model that was asked."""


class Before(NamedTuple):
    """What the ledger has of a model: answers, and when the last one came (None: not known)."""

    answers: int
    last: datetime.date | None


def is_retired(status: int, body: object, model: str) -> bool:
    """Whether a failed request (its HTTP status and parsed error body) says that of a model."""
    if not isinstance(body, Mapping | list) or status not in (400, _NOT_FOUND, _GONE):
        return status == _GONE
    said = list(_strings(body))
    if status == _GONE or any(word.lower() in _CODES for word in said):
        return True
    # Close together: an error may quote a prompt, in which a short name occurs by itself.
    name = rf"(?<![\w.-]){re.escape(model)}(?![\w-])"
    ended = re.compile(f"{name}.{{0,60}}{_ENDS}|{_ENDS}.{{0,60}}{name}", re.IGNORECASE | re.DOTALL)
    if any(ended.search(one) for one in said):
        return True
    about = [one for one in said if _MODEL.search(one)]
    # A message of another status may quote the prompt, whose words say nothing.
    said_here = _UNKNOWN.search, _ENDED.search, lambda one: model in one
    return status == _NOT_FOUND and any(says(one) for one in about for says in said_here)


def before(ledger: Ledger, model: str) -> Before:
    """Whether the model (its provider's identifier) ever answered here."""
    with ledger.database.reading() as connection:
        query = "SELECT count(*), max(answered) FROM answers WHERE model = ?"
        answers, last = connection.execute(query, (model,)).fetchone()
    day = None if last is None else datetime.datetime.fromtimestamp(last, datetime.UTC).date()
    return Before(answers, day)


def explained(name: str, url: str, model: str, known: Before) -> str:
    """What is retired, and what to do; `name` is the endpoint's in params.yaml."""
    here = f"endpoint {name!r} ({url}) answers, but says that it has no model {model!r}"
    if not known.answers:
        return (
            f"{here}, of which the ledger has no answer: correct params.yaml > models > ... >"
            " model; if the name is right, the model was retired or the key may not use it"
        )
    until = "" if known.last is None else f", the last of {known.last}"
    return (
        f"{here} any more: it is retired, or the key may not use it now. Its {known.answers:,}"
        f" answers in the ledger{until}, and all tables made of them, stay as they are. To go on,"
        " add its successor under params.yaml > models and a judge that asks it, and see what"
        " changes with `metassay sentinel bridge NAME OLD NEW` before numbers of both are compared"
    )


def _strings(body: object, depth: int = 0) -> Iterator[str]:
    if isinstance(body, str):
        yield body
    elif depth < _DEEPEST:
        inside = body.values() if isinstance(body, Mapping) else body
        if isinstance(body, Mapping | list):
            for one in inside:  # type: ignore[attr-defined]
                yield from _strings(one, depth + 1)
