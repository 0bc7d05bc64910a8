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


def test_good_blocks() -> None:
    endpoints, models = parse_models(*blocks())
    assert endpoints["cloud"].timeout == 60.0
    assert endpoints["cloud"].sends == []
    assert endpoints["ward"].key_env is None
    assert models["large"].prices is not None
    assert models["large"].prices.date == datetime.date(2026, 11, 1)
    assert (models["large"].temperature, models["large"].limit) == (0.0, "max_tokens")
    assert models["small"].seed == 3


@pytest.mark.parametrize(
    ("said", "form"),
    [(True, "json_schema"), (False, "none"), ("json_object", "json_object"), ("none", "none")],
)
def test_structured_as_older_files_and_as_newer_ones_say_it(said: bool | str, form: str) -> None:
    endpoints, models = blocks()
    endpoints["cloud"]["structured"] = said
    found, asked = parse_models(endpoints, models)
    assert found["cloud"].structured == form
    # Only json_object is in the key of what is asked: the others are as old as the ledger.
    own = form if form == "json_object" else None
    assert (asked["large"].structured, asked["small"].structured) == (own, None)
    assert sends_schemas(found["cloud"], asked["large"]) == (form == "json_schema")
    models["large"]["structured"] = "none"
    assert parse_models(endpoints, models).models["large"].structured == "none"


def test_what_else_goes_into_a_request_is_canonical() -> None:
    endpoints, models = blocks()
    models["small"] |= {
        "temperature": None,
        "top_p": 0.9,
        "reasoning_effort": "low",
        "chat_template_kwargs": {"enable_thinking": False},
        "extra_body": {
            "provider": {"require_parameters": True, "order": ["b", "a"]},
            "aa": "\u00e9",
        },
    }
    small = parse_models(endpoints, models).models["small"]
    assert small.temperature is None
    assert small.extra == (
        '{"aa":"\u00e9","chat_template_kwargs":{"enable_thinking":false},'
        '"provider":{"order":["b","a"],"require_parameters":true},'
        '"reasoning_effort":"low","top_p":0.9}'
    )
    assert parse_models(endpoints, models).models["large"].extra is None


def test_headers_hold_no_secrets_and_bodies_nothing_that_has_its_own_key() -> None:
    endpoints, models = blocks()
    endpoints["cloud"] |= {
        "headers": {"X-Title": "metassay", "Api-Key": "sk-never", "Host": "x", "X-Tenant": "a"},
        "header_env": {"x-tenant": "TENANT", "api-key": "no name"},
    }
    endpoints["ward"] |= {"headers": {"X-A": "two\nlines", "X B": "c"}}
    models["small"]["extra_body"] = {"temperature": 1, "stream": True, "top_k": 5}
    models["large"]["extra_body"] = {"day": datetime.date(2026, 1, 1), "odd": float("nan")}
    with pytest.raises(BadInput) as caught:
        parse_models(endpoints, models)
    del endpoints["cloud"]["header_env"]["api-key"], endpoints["ward"]["headers"]
    del models["large"]["extra_body"]
    with pytest.raises(BadInput) as more:
        parse_models(endpoints, models)
    text = "\n".join((*caught.value.problems, *more.value.problems))
    for expected in (
        "endpoints > cloud > header_env > api-key",
        "endpoints > ward > headers > X-A",
        "endpoints > ward > headers > X B",
        "endpoints > cloud > headers > Api-Key: reads like a secret",
        "endpoints > cloud > headers > Host: is not yours to set",
        "endpoints > cloud > headers: x-tenant is there twice",
        "models > small > extra_body > temperature: set the model's own; remove it",
        "models > small > extra_body > stream: one whole answer is read; remove it",
        "models > large > extra_body: holds what JSON cannot say",
    ):
        assert expected in text
    assert "top_k" not in text
    assert "sk-never" not in text


def test_every_problem_at_once() -> None:
    endpoints, models = blocks()
    endpoints["cloud"]["api_key"] = "sk-never"  # the key itself has no place here
    endpoints["ward"]["sends"] = ["public"]
    del endpoints["azure"]["api_version"]
    endpoints["with_key"] = {"kind": "openai", "base_url": "https://me:sk-never@api.example/v1"}
    endpoints["odd"] = {"kind": "openai", "base_url": "https://api.example:port/v1"}
    models["small"]["endpoint"] = "wards"
    models["large"]["prices"]["currency"] = "dollars"
    with pytest.raises(BadInput) as caught:
        parse_models(endpoints, models)
    text = "\n".join(caught.value.problems)
    for expected in (
        "endpoints > cloud > api_key: unknown key",
        "endpoints > ward > sends > 0",
        "endpoints > azure > api_version",
        "endpoints > with_key > base_url",
        "endpoints > odd > base_url: its host or port is none",
        "models > small > endpoint: 'wards' is not in endpoints",
        "models > large > prices > currency",
    ):
        assert expected in text
    assert len(caught.value.problems) == 7
    assert "sk-never" not in text
