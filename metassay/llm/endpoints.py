"""Where language models answer, and on what terms: the blocks `endpoints` and `models`."""

import datetime
import re
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field

from metassay.errors import BadInput
from metassay.options import Block, Options, Words, parse

# What is beyond is a slip, and would not stay finite when it is multiplied.
Count = Annotated[int, Field(gt=0, le=10_000_000_000)]
Price = Annotated[float, Field(ge=0, le=1_000_000)]
Seed = Annotated[int, Field(ge=-(2**31), lt=2**31)]  # all servers hold so many


class EndpointOptions(Options):
    """A server that speaks the OpenAI chat protocol: OpenAI itself, Azure, vLLM, Ollama, ...

    `azure` is for Azure's dated API (`api_version`, deployments); everything else is `openai`.
    `sends` names the access classes beyond `public` whose text may go there. `structured`: the
    server understands JSON schemas. `timeout` is for one whole answer, in seconds.
    """

    kind: Literal["openai", "azure"]
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s/@?#]+(/[^\s?#]*)?$")]
    # The name of an environment variable, never the key itself.
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    api_version: Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+$")] | None = None
    concurrency: Annotated[int, Field(gt=0, le=1024)] = 8
    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None
    timeout: Annotated[float, Field(gt=0, le=86_400)] = 120.0
    structured: bool = False
    sends: list[Literal["credentialed", "private"]] = Field(default_factory=list)
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
    """What a million tokens cost on `date`."""

    date: Annotated[datetime.date, BeforeValidator(_day)]
    input_per_million: Price
    output_per_million: Price
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]


class ModelOptions(Options):
    """A model at an endpoint, and how it is asked.

    `model` is the provider's identifier (on Azure the deployment). `tokenizer` is a local folder
    with the model's tokenizer.json, for exact estimates. OpenAI's reasoning models want
    `limit: max_completion_tokens` and `temperature: 1`; everybody else knows `max_tokens`.
    """

    endpoint: str
    model: Words
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    seed: Seed | None = None
    max_tokens: Count
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    prices: Prices | None = None
    tokenizer: str | None = None


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
        try:
            options = parse(EndpointOptions, block, where=f"{where} > endpoints > {name}")
        except BadInput as error:
            problems += error.problems
            continue
        found.endpoints[name] = options
        problems += _problems(options, f"{where} > endpoints > {name}")
    for name, block in models.items():
        try:
            model = parse(ModelOptions, block, where=f"{where} > models > {name}")
        except BadInput as error:
            problems += error.problems
            continue
        found.models[name] = model
        if model.endpoint not in endpoints:
            problems.append(
                f"{where} > models > {name} > endpoint: {model.endpoint!r} is not in endpoints;"
                f" known: {sorted(endpoints)}"
            )
    if problems:
        raise BadInput(problems)
    return found


def find_model(models: Models, name: str) -> ModelOptions:
    """The model of that name; BadInput names the known ones."""
    if name not in models.models:
        known = ", ".join(sorted(models.models)) or "none"
        raise BadInput(f"model {name!r} is not in params.yaml > models; known: {known}")
    return models.models[name]


def _problems(endpoint: EndpointOptions, where: str) -> list[str]:
    problems = []
    if (endpoint.kind == "azure") != (endpoint.api_version is not None):
        remedy = "kind azure needs it, openai does not know it; change one of them"
        problems.append(f"{where} > api_version: {remedy}")
    for key, url in (("base_url", endpoint.base_url), ("proxy", endpoint.proxy)):
        try:
            named = url is None or bool(urlsplit(url).hostname and urlsplit(url).port != 0)
        except ValueError:
            named = False
        if not named:
            problems.append(f"{where} > {key}: its host or port is none; correct it")
    return problems
