"""Where language models answer, and on what terms: the blocks `endpoints` and `models`."""

import datetime
import json
import os
import re
import socket
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from metassay.core.errors import BadInput, collect_problems, hint, raise_problems
from metassay.core.options import Block, Options, Words, parse
from metassay.core.params import ExecutorOptions
from metassay.llm.messages import Structured

PUBLIC = "public"  # the access class whose text may go to every endpoint

# What is beyond is a slip, and could not be counted when it is multiplied.
Count = Annotated[int, Field(gt=0, le=10_000_000_000)]
Length = Annotated[int, Field(gt=0, le=1_000_000)]  # tokens of one answer
Price = Annotated[float, Field(ge=0, le=1_000_000)]
Seed = Annotated[int, Field(ge=-(2**31), lt=2**31)]  # all servers hold so many
# The name of an environment variable, never the key itself.
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
HeaderValue = Annotated[str, Field(pattern=r"^[!-~]([ -~]*[!-~])?$")]

# Set by Metassay, by the client, or once for a connection.
_OWN_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "cookie", "host"}
    | {"proxy-authorization", "te", "transfer-encoding", "upgrade", "user-agent"}
)
_SECRET = re.compile(r"auth|cookie|credential|(^|-)key($|-)|passw|secret|token", re.IGNORECASE)
# What an answer's key has in fields of its own, or would make the answer another than is read.
_OWN_MEMBERS = {
    **dict.fromkeys(("model", "messages"), "Metassay sets it"),
    **dict.fromkeys(("max_tokens", "max_completion_tokens"), "set max_tokens and limit"),
    **dict.fromkeys(("temperature", "seed", "top_p", "reasoning_effort"), "set the model's own"),
    "chat_template_kwargs": "set the model's own",
    "response_format": "set structured",
    **dict.fromkeys(("logprobs", "top_logprobs"), "who asks says whether it wants them"),
    **dict.fromkeys(("stream", "n"), "one whole answer is read"),
}


def _form(value: object) -> object:
    """Older files say true or false."""
    return {True: "json_schema", False: "none"}[value] if isinstance(value, bool) else value


Form = Annotated[Structured, BeforeValidator(_form)]


def _plain(members: dict[str, Any]) -> dict[str, Any]:
    try:
        written = _json(members)
        written.encode("utf-8")
        if json.loads(written) == members:
            return members
    except (TypeError, ValueError, RecursionError):
        pass
    raise ValueError("holds what JSON cannot say; write texts, finite numbers, lists, mappings")


def _json(members: object) -> str:
    return json.dumps(
        members, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


Members = Annotated[dict[str, Any], AfterValidator(_plain)]


class EndpointOptions(Options):
    """A server that speaks the OpenAI chat protocol: OpenAI itself, Azure, vLLM, Ollama, ...

    `azure` is for Azure's dated API (`api_version`, deployments); everything else is `openai`.
    `sends` names the access classes beyond `public` whose text may go there. `structured`: how the
    server is told the form of an answer. `timeout` is for one whole answer, in seconds. `headers`
    go with every request, as do those of `header_env`, whose values are environment variables.
    `batch`: its models are asked in batches, for which a stage waits `wait_s` seconds in all.
    """

    kind: Literal["openai", "azure"]
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s/@?#]+(/[^\s?#]*)?$")]
    key_env: Variable | None = None
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict)
    header_env: dict[HeaderName, Variable] = Field(default_factory=dict)
    api_version: Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+$")] | None = None
    concurrency: Annotated[int, Field(gt=0, le=1024)] = 8
    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None
    timeout: Annotated[float, Field(gt=0, le=86_400)] = 120.0
    structured: Form = "none"
    sends: list[Literal["credentialed", "private"]] = Field(default_factory=list)
    batch: bool = False
    wait_s: Annotated[float, Field(ge=0, le=1_000_000)] = 3600.0
    # The environment's proxies are ignored: text goes where this says.
    proxy: Annotated[str, Field(pattern=r"^https?://[^\s/?#]+/?$")] | None = None


def _day(text: object) -> datetime.date:
    """The day that is written so: YAML's own dates are not the same to every reader."""
    if isinstance(text, datetime.date):
        return text
    if not isinstance(text, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        raise ValueError('write the day as "2026-11-21", in quotes')
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError("no calendar has this day; correct it") from None


class Prices(Options):
    """What a million tokens cost on `date`; in a batch less by the share `batch_discount`."""

    date: Annotated[datetime.date, BeforeValidator(_day)]
    input_per_million: Price
    output_per_million: Price
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]
    batch_discount: Annotated[float, Field(ge=0, le=1)] = 0.5

    @property
    def in_batches(self) -> "Prices":
        """What they cost in a batch."""
        names = ("input_per_million", "output_per_million")
        share = 1 - self.batch_discount
        return self.model_copy(update={name: share * getattr(self, name) for name in names})


class ModelOptions(Options):
    """A model at an endpoint, and how it is asked.

    `model` is the provider's identifier (on Azure the deployment). `tokenizer` is a local folder
    with the model's tokenizer.json, for exact estimates. `temperature: null` leaves it out, for
    models that refuse it; OpenAI's reasoning models want `limit: max_completion_tokens`, too.
    `structured` and `mode` are said here where the model is unlike its endpoint. `extra_body` has
    what else goes into a request.
    """

    endpoint: str
    model: Words
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Seed | None = None
    reasoning_effort: Words | None = None
    max_tokens: Length
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    structured: Form | None = None
    mode: Literal["single", "batch"] | None = None
    chat_template_kwargs: Members = Field(default_factory=dict)
    extra_body: Members = Field(default_factory=dict)
    prices: Prices | None = None
    tokenizer: str | None = None

    @property
    def extra(self) -> str | None:
        """Canonical JSON of what a request has besides the fields of ChatRequest; None if empty."""
        own = {
            "top_p": self.top_p,
            "reasoning_effort": self.reasoning_effort,
            "chat_template_kwargs": self.chat_template_kwargs or None,
        }
        said = {name: value for name, value in own.items() if value is not None} | self.extra_body
        return _json(said) if said else None

    def asked_in_batches(self, endpoint: EndpointOptions) -> bool:
        """Whether a run asks the model in batches."""
        return endpoint.batch if self.mode is None else self.mode == "batch"


class Models(NamedTuple):
    """Everything that can be asked, by its name in params.yaml."""

    endpoints: dict[str, EndpointOptions]
    models: dict[str, ModelOptions]


def parse_models(
    endpoints: Mapping[str, Block], models: Mapping[str, Block], *, where: str = "params.yaml"
) -> Models:
    """Check both blocks; BadInput lists every problem at once."""
    found = Models({}, {})
    problems: list[str] = []
    for name, block in endpoints.items():
        at = f"{where} > endpoints > {name}"
        with collect_problems(problems):
            found.endpoints[name] = parse(EndpointOptions, block, where=at)
            problems += _problems(found.endpoints[name], at)
    for name, block in models.items():
        at = f"{where} > models > {name}"
        try:
            model = parse(ModelOptions, block, where=at)
        except BadInput as error:
            problems += error.problems
            continue
        endpoint = found.endpoints.get(model.endpoint)
        if endpoint and endpoint.structured == "json_object" and model.structured is None:
            # Other than the two forms that are as old as the ledger, it is part of a question.
            model = model.model_copy(update={"structured": "json_object"})
        found.models[name] = model
        problems += [
            f"{at} > extra_body > {member}: {_OWN_MEMBERS[member]}; remove it"
            for member in model.extra_body
            if member in _OWN_MEMBERS
        ]
        if endpoint and endpoint.kind == "azure" and model.asked_in_batches(endpoint):
            remedy = "write single, or take kind openai and the resource's /openai/v1 as base_url"
            problems.append(f"{at} > mode: kind azure takes no batches; {remedy}")
        if model.endpoint not in endpoints:
            known = sorted(endpoints)
            problems.append(
                f"{at} > endpoint: {model.endpoint!r} is not in endpoints; known: {known}"
                f"{hint(model.endpoint, known)}"
            )
    raise_problems(problems)
    return found


def find_model(models: Models, name: str) -> ModelOptions:
    """The model of that name; BadInput names the known ones."""
    if name not in models.models:
        known = ", ".join(sorted(models.models)) or "none"
        close = hint(name, models.models)
        raise BadInput(f"model {name!r} is not in params.yaml > models; known: {known}{close}")
    return models.models[name]


def sends_schemas(endpoint: EndpointOptions, model: ModelOptions) -> bool:
    """Whether the answer's JSON schema goes along with a question that has one."""
    return (model.structured or endpoint.structured) == "json_schema"


def variables(endpoint: EndpointOptions) -> dict[str, str]:
    """The environment variables that hold an endpoint's secrets, by the key that names each."""
    found = {} if endpoint.key_env is None else {"key_env": endpoint.key_env}
    return found | {f"header_env > {name}": of for name, of in endpoint.header_env.items()}


def _problems(endpoint: EndpointOptions, where: str) -> Iterator[str]:
    for key, headers in (("headers", endpoint.headers), ("header_env", endpoint.header_env)):
        for header in headers:
            at = f"{where} > {key} > {header}"
            if header.lower() in _OWN_HEADERS:
                yield f"{at}: is not yours to set; remove it"
            elif key == "headers" and _SECRET.search(header):
                remedy = "name the environment variable that holds it under header_env instead"
                yield f"{at}: reads like a secret, which no file may hold; {remedy}"
    names = Counter(name.lower() for name in (*endpoint.headers, *endpoint.header_env))
    for name in sorted(name for name, count in names.items() if count > 1):
        yield f"{where} > headers: {name} is there twice; remove one"
    if (endpoint.kind == "azure") != (endpoint.api_version is not None):
        remedy = "kind azure needs it, openai does not know it; change one of them"
        yield f"{where} > api_version: {remedy}"
    for key, url in (("base_url", endpoint.base_url), ("proxy", endpoint.proxy)):
        try:
            named = url is None or bool(urlsplit(url).hostname and urlsplit(url).port != 0)
        except ValueError:
            named = False
        if not named:
            yield f"{where} > {key}: its host or port is none; correct it"


# Whose text may go where, and with which keys: it is decided before the first request.


REACH_SECONDS = 2.0


@dataclass(frozen=True)
class Cleared:
    """An endpoint that one dataset's text may go to. Made by `check` and by nothing else."""

    name: str
    options: EndpointOptions
    dataset: str


class Secrets(NamedTuple):
    """What says who asks: the key, if one is wanted, and headers. Kept nowhere but in memory."""

    key: str | None
    headers: dict[str, str]


def secrets_of(endpoint: Cleared) -> Secrets:
    """Read the endpoint's secrets now; BadInput names each variable without one."""
    problems: list[str] = []
    found: dict[str, str] = {}
    for key, name in variables(endpoint.options).items():
        found[key] = secret = os.environ.get(name, "").strip()
        place = f"params.yaml > endpoints > {endpoint.name} > {key}"
        if not secret:
            remedy = "is not set; set it, or import the responses of a finished run"
        elif not (secret.isascii() and secret.isprintable()):
            remedy = "holds no key; set it again"
        else:
            continue
        problems.append(f"the environment variable {name} ({place}) {remedy}")
    raise_problems(problems)
    headers = {name: found[f"header_env > {name}"] for name in endpoint.options.header_env}
    return Secrets(found.get("key_env"), headers)


def check(access: str, dataset: str, name: str, endpoint: EndpointOptions) -> Cleared:
    """Clear an endpoint for a dataset of this access class; BadInput unless it is public or sent.

    An endpoint on this machine is no exception: what it passes on is not ours to know.
    """
    return check_all({dataset: access}, [dataset], name, endpoint)


def check_all(
    access: Mapping[str, str], datasets: Iterable[str], name: str, endpoint: EndpointOptions
) -> Cleared:
    """Clear an endpoint for text of all these datasets; BadInput lists those that forbid it."""
    where = f"endpoint {name!r} ({endpoint.base_url})"
    remedy = f"params.yaml > endpoints > {name} > sends; else choose a model at another endpoint"
    first = _check(access, datasets, endpoint.sends, where, remedy)
    return Cleared(name, endpoint, first)


def check_workers(
    access: Mapping[str, str], datasets: Iterable[str], executor: ExecutorOptions
) -> None:
    """Clear a cluster's workers for text of these datasets, by the rule that endpoints have."""
    where = f"the workers of {executor.address}"
    remedy = "params.yaml > executor > sends; else run on this machine alone (--dask local)"
    _check(access, datasets, executor.sends, where, remedy)


def _check(
    access: Mapping[str, str],
    datasets: Iterable[str],
    sends: Collection[str],
    where: str,
    remedy: str,
) -> str:
    """The first of the datasets, if all are public or of a class that is sent."""
    problems: list[str] = []
    every = list(dict.fromkeys(datasets))
    for dataset in every:
        if dataset not in access:
            known = ", ".join(sorted(access))
            problems.append(
                f"dataset {dataset!r} is not in data/registry.yaml, so nothing says where its text"
                f" may go; known: {known}; add its entry, correct the name, or strike off the"
                " system whose texts repeat its examples, and run the benchmark again"
            )
        elif access[dataset] != PUBLIC and access[dataset] not in sends:
            problems.append(
                f"dataset {dataset!r} is {access[dataset]}: its text does not go to {where}. If it"
                f" may, add {access[dataset]!r} to {remedy}"
            )
    raise_problems(problems)
    return every[0]


def can_ask(endpoint: EndpointOptions) -> bool:
    """Whether an endpoint could be asked now: its keys are set, or it wants none and is there."""
    names = variables(endpoint)
    if names:
        return all(os.environ.get(name, "").strip() for name in names.values())
    address = urlsplit(endpoint.proxy or endpoint.base_url)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        socket.create_connection((address.hostname or "", port), timeout=REACH_SECONDS).close()
    except OSError:
        return False
    return True
