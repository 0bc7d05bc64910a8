"""What language models were asked: numbers by hand, and how the page says them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.llm.endpoints import ModelOptions
from metassay.reporting.report import ReportInput, write_report
from metassay.reporting.responses import (
    COLUMNS,
    COUNTS,
    missing_lines,
    models_table,
)
from metassay.tables.notes import NOTES
from metassay.tables.parquet import empty
from metassay.tables.responses import RESPONSES
from tests.reporting import page_data
from tests.reporting.invented_report import SCRIPT

Row = tuple[str, str, int | None, int | None]  # model, status or code, tokens read and written
STATUSES = ("ok", "refused", "truncated")


def responses(*rows: Row) -> pd.DataFrame:
    """A table of responses as it comes out of its file."""
    frame = pd.DataFrame(
        [
            {
                "key": f"k{number}",
                "request": json.dumps({"kind": "chat", "model": model, "messages": []}),
                "status": status if status in STATUSES else "error",
                "finish_reason": "stop" if status in STATUSES else status,
                "prompt_tokens": read,
                "completion_tokens": written,
                "text": "text" if status in STATUSES else None,
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
        ("m-1", "timeout", None, None),
        ("m-1", "http_500", None, None),
        ("m-1", "http_400", None, None),
        ("m-1", "http_500", None, None),
        ("m-2", "ok", 7, 8),
    ),
    "decompose": responses(("m-1", "ok", 40, None), ("m-1", "ok", 60, 5)),
}


def test_a_row_a_stage_and_model_with_tokens_and_list_price() -> None:
    table = models_table(GIVEN, MODELS)
    assert list(table.columns) == list(COLUMNS)
    # m-1 in generate-b: 6000 read and 400 written, (6000 * 0.5 + 400 * 2) / 1e6 = 0.0038;
    # in decompose: 100 read and 5 written, (100 * 0.5 + 5 * 2) / 1e6 = 0.00006.
    counts = table[[*COLUMNS[:12]]].drop(columns="why").to_numpy().tolist()
    assert counts == [
        ["decompose", "m-1", 2, 2, 0, 0, 0, 0, 1, 100, 5],
        ["generate-b", "m-1", 8, 2, 1, 1, 3, 1, 1, 6000, 400],
        ["generate-b", "m-2", 1, 1, 0, 0, 0, 0, 0, 7, 8],
    ]
    assert (table[[*COUNTS[1:]]].sum(axis=1) == table["questions"]).all()
    assert table["why"].tolist() == ["", "http_500 2, http_400 1, timeout 1", ""]
    assert table["cost"].tolist()[:2] == pytest.approx([0.00006, 0.0038], rel=1e-12)
    assert table["currency"].tolist()[:2] == ["USD", "USD"]
    assert table["prices_of"].tolist()[:2] == ["2026-11-01", "2026-11-01"]
    assert table[["cost", "currency", "prices_of"]].iloc[2].isna().all()


def test_what_is_missing_is_said_with_its_reasons_and_nothing_where_nothing_is() -> None:
    (line, rest) = missing_lines(models_table(GIVEN, MODELS))
    assert line == (
        "Answers of m-1 (generate-b): 3 of 8 are missing, 1 of 8 failed for good"
        " (http_500 2, http_400 1, timeout 1)."
    )
    assert rest.startswith("Scores are of the rest")
    answered = responses(("m-1", "ok", 1, 1), ("m-1", "refused", 1, 1), ("m-1", "truncated", 1, 1))
    assert missing_lines(models_table({"s": answered}, MODELS)) == []


def test_rows_do_not_depend_on_the_order_of_answers() -> None:
    turned = {stage: frame.iloc[::-1] for stage, frame in reversed(GIVEN.items())}
    pd.testing.assert_frame_equal(models_table(turned, MODELS), models_table(GIVEN, MODELS))


def test_of_two_entries_for_one_model_the_first_with_prices_counts() -> None:
    models = {
        "c": model("m-1", 9, 9, currency="EUR"),
        "b": model("m-1", 1, 1, date="2026-10-01"),
        "a": model("m-1"),
    }
    (row,) = models_table({"s": responses(("m-1", "ok", 1_000_000, 0))}, models).to_dict("records")
    assert (row["cost"], row["currency"], row["prices_of"]) == (1.0, "USD", "2026-10-01")


def test_a_stage_that_only_failed_has_no_answers_and_cost_nothing_that_is_known() -> None:
    table = models_table({"s": responses(("m-1", "timeout", None, None))}, MODELS)
    (row,) = table.to_dict("records")
    assert [row[name] for name in COUNTS] == [1, 0, 0, 0, 1, 0]
    assert (row["prompt_tokens"], row["completion_tokens"], row["cost"]) == (0, 0, 0.0)


def test_nobody_asked_is_no_row() -> None:
    assert models_table({}, MODELS).empty
    assert models_table({"decompose": empty(RESPONSES)}, MODELS).empty


@pytest.mark.parametrize("request_", ["", "7", "[]", "{}", "[" * 100_000])
def test_a_request_that_is_no_question_is_named(request_: str) -> None:
    frame = responses(("m-1", "ok", 1, 1)).assign(request=request_)
    with pytest.raises(BadInput, match="responses: judge-x: a request is no question"):
        models_table({"judge-x": frame}, {})


# ---- notes of stages -------------------------------------------------------------------------


def notes(stage: str, *said: str) -> pd.DataFrame:
    rows = [(stage, position, note) for position, note in enumerate(said)]
    return pd.DataFrame(rows, columns=list(NOTES.columns))


@pytest.mark.usefixtures("no_figures")
def test_the_page_and_a_file_have_them_in_the_order_of_the_data(
    make_report: Callable[..., ReportInput], tmp_path: Path
) -> None:
    given = {"ingest": notes("ingest", f"b {SCRIPT}", "a"), "decompose": notes("decompose", "c")}
    report = make_report(notes={**given, "measure": empty(NOTES)}, responses=GIVEN, models=MODELS)
    write_report(report, tmp_path / "out")
    problems = page_data.head(tmp_path / "out")["problems"]
    assert [one["text"] for one in problems if one["kind"] == "warning"] == [
        *(f"ingest: b {SCRIPT}", "ingest: a", "decompose: c"),
    ]
    missing = [one["text"] for one in problems if one["kind"] == "missing"]
    of_judges = "lexical has no answer in 1 of 54 places: 1 refused."
    assert missing == [*missing_lines(models_table(GIVEN, MODELS)), of_judges]
    assert page_data.table(tmp_path / "out", "notes")["note"].tolist() == [f"b {SCRIPT}", "a", "c"]
    asked = page_data.table(tmp_path / "out", "language_models")
    assert asked["missing"].tolist() == [0, 3, 0]
    assert "a" in (tmp_path / "out/notes.csv").read_text(encoding="utf-8")
