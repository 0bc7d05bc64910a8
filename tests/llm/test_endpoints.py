import datetime
from typing import Any

import pytest
import yaml

from metassay.errors import BadInput
from metassay.llm.endpoints import parse_models

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
