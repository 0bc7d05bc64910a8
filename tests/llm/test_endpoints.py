"""Blocks of endpoints and models: taken as they stand, or refused with every problem."""

import datetime
from typing import Any

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.llm.endpoints import parse_models, sends_schemas

GOOD = """
endpoints:
  cloud:
    {kind: openai, base_url: "https://api.example/v1", key_env: CLOUD_KEY, concurrency: 64,
     requests_per_minute: 500, tokens_per_minute: 200000, timeout: 60, structured: true}
  ward: {kind: openai, base_url: "http://127.0.0.1:8000/v1", sends: [credentialed, private]}
  azure: {kind: azure, base_url: "https://x.openai.azure.example", key_env: K, api_version: v}
models:
  large:
    endpoint: cloud
    model: large-2026-01-01
    max_tokens: 800
    prices: {date: "2026-11-01", input_per_million: 2.5, output_per_million: 10, currency: USD}
  small: {endpoint: ward, model: small, temperature: 0.7, seed: 3, max_tokens: 100}
"""


def blocks(text: str = GOOD) -> tuple[Any, Any]:
    loaded = yaml.safe_load(text)
    return loaded["endpoints"], loaded["models"]


def problems(endpoints: Any, models: Any) -> str:
    with pytest.raises(BadInput) as caught:
        parse_models(endpoints, models)
    text = "\n".join(caught.value.problems)
    assert "sk-never" not in text
    return text


def test_good_blocks() -> None:
    endpoints, models = parse_models(*blocks())
    assert (endpoints["cloud"].timeout, endpoints["cloud"].sends) == (60.0, [])
    assert endpoints["ward"].key_env is None
    assert models["large"].prices is not None
    assert models["large"].prices.date == datetime.date(2026, 11, 1)
    assert (models["large"].temperature, models["large"].limit) == (0.0, "max_tokens")
    assert (models["small"].seed, models["large"].extra) == (3, None)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (True, "json_schema"),
        (False, "none"),
        ("json_object", "json_object"),
        ("none", "none"),
    ],
)
def test_structured_as_older_files_and_as_newer_write_it(
    value: bool | str, form: str
) -> None:
    endpoints, models = blocks()
    endpoints["cloud"]["structured"] = value
    parsed, of_models = parse_models(endpoints, models)
    assert parsed["cloud"].structured == form
    # Only json_object is in the key of a question: the others are as old as the ledger.
    in_key = form if form == "json_object" else None
    assert (of_models["large"].structured, of_models["small"].structured) == (
        in_key,
        None,
    )
    assert sends_schemas(parsed["cloud"], of_models["large"]) == (form == "json_schema")
    models["large"]["structured"] = "none"
    assert parse_models(endpoints, models).models["large"].structured == "none"


def test_what_else_goes_into_a_request_is_canonical() -> None:
    endpoints, models = blocks()
    provider = {"require_parameters": True, "order": ["b", "a"]}
    models["small"] |= {"temperature": None, "top_p": 0.9, "reasoning_effort": "low"}
    models["small"] |= {"chat_template_kwargs": {"enable_thinking": False}}
    models["small"] |= {"extra_body": {"provider": provider, "aa": "\u00e9"}}
    small = parse_models(endpoints, models).models["small"]
    assert small.temperature is None
    assert small.extra == (
        '{"aa":"\u00e9","chat_template_kwargs":{"enable_thinking":false},'
        '"provider":{"order":["b","a"],"require_parameters":true},'
        '"reasoning_effort":"low","top_p":0.9}'
    )


def test_headers_hold_no_secrets_and_bodies_nothing_that_has_a_key_of_its_own() -> None:
    endpoints, models = blocks()
    headers = {
        "X-Title": "metassay",
        "Api-Key": "sk-never",
        "Host": "x",
        "X-Tenant": "a",
    }
    variables = {"x-tenant": "TENANT", "api-key": "no name"}
    endpoints["cloud"] |= {"headers": headers, "header_env": variables}
    endpoints["ward"] |= {"headers": {"X-A": "two\nlines", "X B": "c"}}
    models["small"]["extra_body"] = {"temperature": 1, "stream": True, "top_k": 5}
    models["large"]["extra_body"] = {
        "day": datetime.date(2026, 1, 1),
        "odd": float("nan"),
    }
    text = problems(endpoints, models)
    del (
        variables["api-key"],
        endpoints["ward"]["headers"],
        models["large"]["extra_body"],
    )
    text += problems(endpoints, models)
    for expected in (
        "endpoints > cloud > header_env > api-key",
        "endpoints > ward > headers > X-A",
        "endpoints > ward > headers > X B",
        "endpoints > cloud > headers > Api-Key: reads like a secret",
        "endpoints > cloud > headers > Host: is not yours to set",
        "endpoints > cloud > headers: x-tenant occurs twice",
        "models > small > extra_body > temperature: set the model's own; remove it",
        "models > small > extra_body > stream: one whole answer is read; remove it",
        "models > large > extra_body: holds a value that JSON does not have",
    ):
        assert expected in text
    assert "top_k" not in text


def test_every_problem_in_one_go() -> None:
    endpoints, models = blocks()
    # the key has no place here
    endpoints["cloud"] |= {"api_key": "sk-never", "batch": "yes"}
    endpoints["ward"] |= {"sends": ["public"], "wait_s": -1.0}
    del endpoints["azure"]["api_version"]
    endpoints["with_key"] = {
        "kind": "openai",
        "base_url": "https://me:sk-never@api.example/v1",
    }
    endpoints["odd"] = {"kind": "openai", "base_url": "https://api.example:port/v1"}
    models["small"] |= {"endpoint": "wards"}
    models["large"]["prices"] |= {"currency": "dollars", "batch_discount": 2.0}
    models["bulk"] = models["small"] | {"mode": "bulk"}
    # Azure's dated API takes no batches.
    endpoints["dated"] = blocks()[0]["azure"]
    endpoints["in_batches"] = endpoints["dated"] | {"batch": True}
    models["a"] = {"endpoint": "dated", "model": "m", "max_tokens": 9, "mode": "batch"}
    models["b"] = {"endpoint": "in_batches", "model": "m", "max_tokens": 9}
    expected = [
        "endpoints > cloud > api_key: unknown key",
        "endpoints > cloud > batch",
        "endpoints > ward > sends > 0",
        "endpoints > ward > wait_s",
        "endpoints > azure > api_version",
        "endpoints > with_key > base_url",
        "endpoints > odd > base_url: its host or port is none",
        "models > small > endpoint: 'wards' is not in endpoints",
        "models > large > prices > currency",
        "models > large > prices > batch_discount",
        "models > bulk > mode",
        "models > a > mode: kind azure",
        "models > b > mode: kind azure",
    ]
    text = problems(endpoints, models)
    assert [part for part in expected if part not in text] == []
    assert len(text.splitlines()) == len(expected)
