"""What language models were asked: numbers by hand, and how the page says them."""

import json
from typing import Any

import pandas as pd
import pytest

from metassay.llm.endpoints import ModelOptions
from metassay.parquet import empty
from metassay.reporting.views.asked import COLUMNS, Asked, asked_table, asked_view
from metassay.tables import RESPONSES

Row = tuple[str, str, int | None, int | None]  # model, status, tokens read and written


def responses(*rows: Row) -> pd.DataFrame:
    """A table of responses as it comes out of its file."""
    frame = pd.DataFrame(
        [
            {
                "key": f"k{number}",
                "request": json.dumps({"kind": "chat", "model": model, "messages": []}),
                "status": status,
                "finish_reason": "http_500" if status == "error" else "stop",
                "prompt_tokens": read,
                "completion_tokens": written,
                "text": None if status == "error" else "text",
            }
            for number, (model, status, read, written) in enumerate(rows)
        ],
        columns=list(RESPONSES.columns),
    )
    return frame.astype({"prompt_tokens": "Int64", "completion_tokens": "Int64"})


def model(name: str, read: float | None = None, written: float = 0, **changes: Any) -> ModelOptions:
    prices = {
        **{"date": "2026-11-01", "currency": "USD"},
        **{"input_per_million": read, "output_per_million": written},
    }
    block = {"endpoint": "here", "model": name, "max_tokens": 9}
    block |= {} if read is None else {"prices": prices | changes}
    return ModelOptions.model_validate(block)


MODELS = {"small": model("m-1", 0.5, 2), "free": model("m-2")}
GIVEN = {
    "generate-b": responses(
        ("m-1", "ok", 1000, 100),
        ("m-1", "refused", 2000, 50),
        ("m-1", "truncated", 3000, 250),
        ("m-1", "ok", None, None),
        ("m-1", "error", None, None),
        ("m-1", "error", None, None),
        ("m-2", "ok", 7, 8),
    ),
    "decompose": responses(("m-1", "ok", 40, None), ("m-1", "ok", 60, 5)),
}


def test_a_row_a_stage_and_model_with_tokens_and_list_price() -> None:
    table = asked_table(GIVEN, MODELS)
    assert list(table.columns) == list(COLUMNS)
    # m-1 in generate-b: 6000 read and 400 written, (6000 * 0.5 + 400 * 2) / 1e6 = 0.0038;
    # in decompose: 100 read and 5 written, (100 * 0.5 + 5 * 2) / 1e6 = 0.00006.
    counts = table[[*COLUMNS[:9]]].to_numpy().tolist()
    assert counts == [
        ["decompose", "m-1", 2, 0, 0, 0, 1, 100, 5],
        ["generate-b", "m-1", 4, 1, 1, 2, 1, 6000, 400],
        ["generate-b", "m-2", 1, 0, 0, 0, 0, 7, 8],
    ]
    assert table["cost"].tolist()[:2] == pytest.approx([0.00006, 0.0038], rel=1e-12)
    assert table["currency"].tolist()[:2] == ["USD", "USD"]
    assert table["prices_of"].tolist()[:2] == ["2026-11-01", "2026-11-01"]
    assert table[["cost", "currency", "prices_of"]].iloc[2].isna().all()


def test_the_page_says_the_same_in_words() -> None:
    assert asked_view(asked_table(GIVEN, MODELS)) == [
        Asked(
            "decompose",
            "m-1",
            "2 (1 uncounted)",
            "100 read, 5 written",
            "0.0001 USD, prices of 2026-11-01",
        ),
        Asked(
            "generate-b",
            "m-1",
            "4 (1 refused, 1 truncated, 1 uncounted), and 2 failed",
            "6,000 read, 400 written",
            "0.0038 USD, prices of 2026-11-01",
        ),
        Asked("generate-b", "m-2", "1", "7 read, 8 written", "no prices"),
    ]


def test_rows_do_not_depend_on_the_order_of_answers() -> None:
    turned = {stage: frame.iloc[::-1] for stage, frame in reversed(GIVEN.items())}
    pd.testing.assert_frame_equal(asked_table(turned, MODELS), asked_table(GIVEN, MODELS))


def test_of_two_entries_for_one_model_the_first_with_prices_counts() -> None:
    models = {
        "c": model("m-1", 9, 9, currency="EUR"),
        "b": model("m-1", 1, 1, date="2026-10-01"),
        "a": model("m-1"),
    }
    (row,) = asked_table({"s": responses(("m-1", "ok", 1_000_000, 0))}, models).to_dict("records")
    assert (row["cost"], row["currency"], row["prices_of"]) == (1.0, "USD", "2026-10-01")


def test_a_stage_that_only_failed_has_no_calls_and_cost_nothing_that_is_known() -> None:
    table = asked_table({"s": responses(("m-1", "error", None, None))}, MODELS)
    (row,) = asked_view(table)
    assert (row.calls, row.tokens) == ("0, and 1 failed", "0 read, 0 written")
    assert row.cost == "0.0000 USD, prices of 2026-11-01"


def test_nobody_asked_is_no_row() -> None:
    assert asked_table({}, MODELS).empty
    assert asked_table({"decompose": empty(RESPONSES)}, MODELS).empty
