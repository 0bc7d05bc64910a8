"""Endpoints and models: their blocks in params.yaml, secrets, and clearance of texts."""

import datetime
import json
import os
import re
import socket
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from metassay.core.errors import BadInput, collect_problems, hint, raise_problems
from metassay.core.options import Block, Options, Words, parse
from metassay.core.params import ExecutorOptions
from metassay.llm.messages import Structured

PUBLIC = "public"  # the access class whose text may go to any endpoint

# The bounds catch typing errors and keep products within 64 bits.
Count = Annotated[int, Field(gt=0, le=10_000_000_000)]
Length = Annotated[int, Field(gt=0, le=1_000_000)]  # tokens of one answer
Price = Annotated[float, Field(ge=0, le=1_000_000)]
Seed = Annotated[int, Field(ge=-(2**31), lt=2**31)]  # the range of all servers
# The name of an environment variable, never the key itself.
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
HeaderValue = Annotated[str, Field(pattern=r"^[!-~]([ -~]*[!-~])?$")]

# Set by Metassay, by the client, or once for a connection.
_RESERVED_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "cookie",
        "host",
    }
    | {"proxy-authorization", "te", "transfer-encoding", "upgrade", "user-agent"}
)
_SECRET = re.compile(
    r"auth|cookie|credential|(^|-)key($|-)|passw|secret|token", re.IGNORECASE
)
# Members that other options set, or that change the form of the answer.
_RESERVED_MEMBERS = {
    **dict.fromkeys(("model", "messages"), "Metassay sets it"),
    **dict.fromkeys(
        ("max_tokens", "max_completion_tokens"), "set max_tokens and limit"
    ),
    **dict.fromkeys(
        ("temperature", "seed", "top_p", "reasoning_effort"), "set the model's own"
    ),
    "chat_template_kwargs": "set the model's own",
    "response_format": "set structured",
    **dict.fromkeys(("logprobs", "top_logprobs"), "the judge's probability sets them"),
    **dict.fromkeys(("stream", "n"), "one whole answer is read"),
}


def _form(value: object) -> object:
    """Convert true and false of older files."""
    return (
        {True: "json_schema", False: "none"}[value]
        if isinstance(value, bool)
        else value
    )


Form = Annotated[Structured, BeforeValidator(_form)]


def _check_json(members: dict[str, Any]) -> dict[str, Any]:
    try:
        text = _json(members)
        text.encode("utf-8")
        if json.loads(text) == members:
            return members
    except (TypeError, ValueError, RecursionError):
        pass
    raise ValueError(
        "holds a value that JSON does not have; write texts, finite numbers, lists, mappings"
    )


def _json(members: object) -> str:
    return json.dumps(
        members,
        ensure_ascii=False,
        allow_nan=False,
        sort_keys=True,
        separators=(",", ":"),
    )


Members = Annotated[dict[str, Any], AfterValidator(_check_json)]


class EndpointOptions(Options):
    """A server with the OpenAI chat protocol: OpenAI itself, Azure, vLLM, Ollama, ...

    Kind `azure` is Azure's dated API (`api_version`, deployments); all others are
    `openai`. `sends` names the access classes besides `public` whose text may go there.
    `structured`: how the server is told the form of an answer. `timeout` is for one
    whole answer, in seconds. `headers` go with every request, as do those of
    `header_env`, whose values are in environment variables. `batch`: its models are
    asked in batches, for which a stage waits `wait_s` seconds in total.
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
    # Proxies of the environment are ignored.
    proxy: Annotated[str, Field(pattern=r"^https?://[^\s/?#]+/?$")] | None = None


def _day(text: object) -> datetime.date:
    """Read a day as text, since YAML readers disagree about dates."""
    if isinstance(text, datetime.date):
        return text
    if not isinstance(text, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        raise ValueError('write the day as "2026-11-21", in quotes')
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError("this day does not exist; correct it") from None


class Prices(Options):
    """Prices per million tokens on `date`; batches cost less by the share `batch_discount`."""

    date: Annotated[datetime.date, BeforeValidator(_day)]
    input_per_million: Price
    output_per_million: Price
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]
    batch_discount: Annotated[float, Field(ge=0, le=1)] = 0.5

    @property
    def batch_prices(self) -> "Prices":
        """The prices in batches."""
        names = ("input_per_million", "output_per_million")
        share = 1 - self.batch_discount
        return self.model_copy(
            update={name: share * getattr(self, name) for name in names}
        )


class ModelOptions(Options):
    """A model at an endpoint, and its settings.

    `model` is the provider's identifier (on Azure the deployment). `tokenizer` is a
    local folder with the model's tokenizer.json, for exact estimates. `temperature:
    null` is not sent, for models that reject it; OpenAI's reasoning models also need
    `limit: max_completion_tokens`. `structured` and `mode` override the endpoint's.
    `extra_body` has further members of a request.
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
        """Canonical JSON of a request's members outside of ChatRequest; None if empty."""
        members = {
            "top_p": self.top_p,
            "reasoning_effort": self.reasoning_effort,
            "chat_template_kwargs": self.chat_template_kwargs or None,
        }
        members = {name: value for name, value in members.items() if value is not None}
        members |= self.extra_body
        return _json(members) if members else None

    def asked_in_batches(self, endpoint: EndpointOptions) -> bool:
        """Return whether a run asks the model in batches."""
        return endpoint.batch if self.mode is None else self.mode == "batch"


class Models(NamedTuple):
    """Endpoints and models by their names in params.yaml."""

    endpoints: dict[str, EndpointOptions]
    models: dict[str, ModelOptions]


def parse_models(
    endpoints: Mapping[str, Block],
    models: Mapping[str, Block],
    *,
    where: str = "params.yaml",
) -> Models:
    """Parse and check both blocks; BadInput lists all problems."""
    parsed = Models({}, {})
    problems: list[str] = []
    for name, block in endpoints.items():
        path = f"{where} > endpoints > {name}"
        with collect_problems(problems):
            parsed.endpoints[name] = parse(EndpointOptions, block, where=path)
            problems += _problems(parsed.endpoints[name], path)
    for name, block in models.items():
        path = f"{where} > models > {name}"
        model = None
        with collect_problems(problems):
            model = parse(ModelOptions, block, where=path)
        if model is None:
            continue
        endpoint = parsed.endpoints.get(model.endpoint)
        if (
            endpoint
            and endpoint.structured == "json_object"
            and model.structured is None
        ):
            # Unlike the two older forms, it is part of the question's key.
            model = model.model_copy(update={"structured": "json_object"})
        parsed.models[name] = model
        problems += [
            f"{path} > extra_body > {member}: {_RESERVED_MEMBERS[member]}; remove it"
            for member in model.extra_body
            if member in _RESERVED_MEMBERS
        ]
        if endpoint and endpoint.kind == "azure" and model.asked_in_batches(endpoint):
            remedy = "write single, or take kind openai and the resource's /openai/v1 as base_url"
            problems.append(f"{path} > mode: kind azure takes no batches; {remedy}")
        if model.endpoint not in endpoints:
            names = sorted(endpoints)
            problems.append(
                f"{path} > endpoint: {model.endpoint!r} is not in endpoints; known: {names}"
                f"{hint(model.endpoint, names)}"
            )
    raise_problems(problems)
    return parsed


def find_model(models: Models, name: str) -> ModelOptions:
    """Return the model of that name; BadInput lists the known names."""
    if name not in models.models:
        names = ", ".join(sorted(models.models)) or "none"
        close = hint(name, models.models)
        raise BadInput(
            f"model {name!r} is not in params.yaml > models; known: {names}{close}"
        )
    return models.models[name]


def sends_schemas(endpoint: EndpointOptions, model: ModelOptions) -> bool:
    """Return whether the JSON schemas of questions are sent."""
    return (model.structured or endpoint.structured) == "json_schema"


def variables(endpoint: EndpointOptions) -> dict[str, str]:
    """Return the environment variables with an endpoint's secrets, by the option of each."""
    key = {} if endpoint.key_env is None else {"key_env": endpoint.key_env}
    return key | {
        f"header_env > {name}": var for name, var in endpoint.header_env.items()
    }


def _problems(endpoint: EndpointOptions, where: str) -> Iterator[str]:
    for key, headers in (
        ("headers", endpoint.headers),
        ("header_env", endpoint.header_env),
    ):
        for header in headers:
            path = f"{where} > {key} > {header}"
            if header.lower() in _RESERVED_HEADERS:
                yield f"{path}: is not yours to set; remove it"
            elif key == "headers" and _SECRET.search(header):
                remedy = "name the environment variable that holds it under header_env instead"
                yield f"{path}: reads like a secret, which no file may hold; {remedy}"
    names = Counter(name.lower() for name in (*endpoint.headers, *endpoint.header_env))
    for name in sorted(name for name, count in names.items() if count > 1):
        yield f"{where} > headers: {name} occurs twice; remove one"
    if (endpoint.kind == "azure") != (endpoint.api_version is not None):
        remedy = "kind azure needs it, openai does not know it; change one of them"
        yield f"{where} > api_version: {remedy}"
    for key, url in (("base_url", endpoint.base_url), ("proxy", endpoint.proxy)):
        try:
            valid = url is None or bool(
                urlsplit(url).hostname and urlsplit(url).port != 0
            )
        except ValueError:
            valid = False
        if not valid:
            yield f"{where} > {key}: its host or port is none; correct it"


# Clearance and secrets, before the first request.

REACH_SECONDS = 2.0


class Cleared(NamedTuple):
    """An endpoint to which the text of some datasets may go; only `clear` makes it."""

    name: str
    options: EndpointOptions

    def __str__(self) -> str:
        return f"endpoint {self.name!r} ({self.options.base_url})"


class Secrets(NamedTuple):
    """Credentials: the key, if any, and headers; only ever in memory."""

    key: str | None
    headers: dict[str, str]


def secrets_of(endpoint: Cleared) -> Secrets:
    """Read the endpoint's secrets from the environment; BadInput lists missing variables."""
    problems: list[str] = []
    secrets: dict[str, str] = {}
    for key, name in variables(endpoint.options).items():
        secrets[key] = secret = os.environ.get(name, "").strip()
        place = f"params.yaml > endpoints > {endpoint.name} > {key}"
        if not secret:
            remedy = "is not set; set it, or import the responses of a finished run"
        elif not (secret.isascii() and secret.isprintable()):
            remedy = "holds no key; set it again"
        else:
            continue
        problems.append(f"the environment variable {name} ({place}) {remedy}")
    raise_problems(problems)
    headers = {
        name: secrets[f"header_env > {name}"] for name in endpoint.options.header_env
    }
    return Secrets(secrets.get("key_env"), headers)


def clear(
    access: Mapping[str, str],
    datasets: Iterable[str],
    name: str,
    endpoint: EndpointOptions,
) -> Cleared:
    """Clear an endpoint for text of all these datasets; BadInput lists those that forbid it.

    Text may go there if its access class is public or in `sends`. Endpoints on this
    machine are no exception, since they may pass text on.
    """
    cleared = Cleared(name, endpoint)
    remedy = f"params.yaml > endpoints > {name} > sends; else choose a model at another endpoint"
    _check(access, datasets, endpoint.sends, str(cleared), remedy)
    return cleared


def clear_workers(
    access: Mapping[str, str], datasets: Iterable[str], executor: ExecutorOptions
) -> None:
    """Clear a cluster's workers for text of these datasets, by the rule of endpoints."""
    where = f"the workers of {executor.address}"
    remedy = (
        "params.yaml > executor > sends; else run on this machine alone (--dask local)"
    )
    _check(access, datasets, executor.sends, where, remedy)


def _check(
    access: Mapping[str, str],
    datasets: Iterable[str],
    sends: Collection[str],
    where: str,
    remedy: str,
) -> None:
    """Raise BadInput unless all datasets are public or of a class that is sent."""
    problems: list[str] = []
    for dataset in dict.fromkeys(datasets):
        if dataset not in access:
            names = ", ".join(sorted(access))
            problems.append(
                f"dataset {dataset!r} is not in data/registry.yaml, so nothing says where its text"
                f" may go; known: {names}; add its entry, correct the name, or remove the"
                " system whose texts repeat its examples, and run the benchmark again"
            )
        elif access[dataset] != PUBLIC and access[dataset] not in sends:
            problems.append(
                f"dataset {dataset!r} is {access[dataset]}: its text does not go to {where}. If it"
                f" may, add {access[dataset]!r} to {remedy}"
            )
    raise_problems(problems)


def can_ask(endpoint: EndpointOptions) -> bool:
    """Return whether an endpoint can be asked: its keys are set; without keys, it is reachable."""
    names = variables(endpoint)
    if names:
        return all(os.environ.get(name, "").strip() for name in names.values())
    address = urlsplit(endpoint.proxy or endpoint.base_url)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        socket.create_connection(
            (address.hostname or "", port), timeout=REACH_SECONDS
        ).close()
    except OSError:
        return False
    return True
