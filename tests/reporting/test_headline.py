"""Numbers that git keeps, and what language models were asked: by hand, and as the page says it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.format.numbers import rounded, shown
from metassay.llm.endpoints import ModelOptions
from metassay.llm.messages import REST
from metassay.reporting import headline
from metassay.reporting.report import ReportInput, write_report
from metassay.reporting.responses import COLUMNS, COUNTS, missing_lines, models_table
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.criteria import CRITERIA
from metassay.tables.judge_cards import JUDGE_CARDS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.notes import NOTES
from metassay.tables.parquet import Table, empty
from metassay.tables.responses import RESPONSES
from metassay.tables.segment_scores import SEGMENT_SCORES
from tests.reporting import page_data
from tests.reporting.invented_report import DOUBLES, SCRIPT, lines

NOBODY = models_table({}, {})


def frame(table: Table, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows of a table; what they lack is null, or 0 where it may not be."""
    blank = {name: None if c.null else 0 for name, c in table.columns.items()}
    return pd.DataFrame([blank | row for row in rows], columns=list(table.columns))


CERTIFIED = frame(
    CERTIFICATES,
    lines(
        "metric level verdict trusted advice value corrected corrected_high",
        ("bleu", "document", "cannot tell", False, "do not", 0.71251, 0.9, None),
        ("rouge1_fmeasure", "document", "use", True, "use it", 0.71251, 0.61234, 1.0),
        ("bleu", "system", "explained by length", False, "do not", None, None, None),
        study="pilot",
        criterion="completeness",
        part="full",
        judge="none",
    ),
)
LEADERS = frame(
    LEADERBOARD,
    lines(
        "author metric macro",
        ("b", "rouge1_fmeasure", 12.3456),
        ("a", "rouge1_fmeasure", -0.00004),
        ("reference", "rouge1_fmeasure", None),
        ("a", "rouge1_precision", 0.5),
        part="full",
        judge="none",
        better="higher",
    ),
)


def numbers_of(
    certified: pd.DataFrame = CERTIFIED, answers: pd.DataFrame = NOBODY
) -> Any:
    return headline.evaluation_numbers(LEADERS, certified, empty(CRITERIA), answers)


def test_of_an_evaluation_it_has_verdicts_best_metrics_and_means() -> None:
    numbers = numbers_of()
    assert numbers["certificates"]["use"] == 1
    assert numbers["certificates"]["explained by a confound"] == 1
    assert sum(numbers["certificates"].values()) == len(CERTIFIED)
    assert numbers["best"]["completeness"] == {
        "document": {
            "metric": "rouge1_fmeasure",
            "verdict": "use",
            "advice": "use it",
            "trusted": True,
            "value": 0.713,
            "corrected": 0.612,
            "corrected_low": None,
            "corrected_high": 1.0,
        },
        "system": {
            "metric": "bleu",
            "verdict": "explained by length",
            "advice": "do not",
            "trusted": False,
            **dict.fromkeys(("value", "corrected", "corrected_low", "corrected_high")),
        },
    }
    assert numbers["leaderboard"] == {
        "rouge1_fmeasure": {"a": 0.0, "b": 12.35, "reference": None}
    }
    assert numbers["answers"] == dict.fromkeys(COUNTS, 0)
    both = numbers_of(pd.concat([CERTIFIED, CERTIFIED.assign(study="second")]))
    assert list(both["best"]) == ["completeness (pilot)", "completeness (second)"]
    without = numbers_of(empty(CERTIFICATES))
    assert without["best"] == {}
    assert set(without["certificates"].values()) == {0}


def test_of_tests_it_has_what_was_not_judged_and_what_got_no_label() -> None:
    rows = lines(
        "statistic value low high n n_missing",
        ("agreement", 0.9, 0.8, 1.0, 9, 1),
        ("auroc", None, None, None, 0, 0),
        ("mcc", None, None, None, 0, 0),
        study="dev",
        part="full",
        judge="lexical",
    )
    ends = {"low": 0.8, "high": 1.0}
    assert headline.judge_numbers(frame(JUDGE_CARDS, rows), NOBODY)["judges"][
        "lexical"
    ]["dev"] == {
        "agreement": {"value": 0.9, **ends},
        "auroc": {"value": None},
        "n": 9,
        "n_missing": 1,
    }
    shared = {"segmentation": "words", "statistic": "accuracy", "n": 8, "n_failed": 2}
    rows = lines(
        "of name value", ("all", "all", 0.5), ("label", "method", 0.1), **ends, **shared
    )
    numbers = headline.segmentation_numbers(frame(SEGMENT_SCORES, rows), NOBODY)[
        "segmentations"
    ]
    assert numbers == {
        "words": {"accuracy": {"value": 0.5, **ends}, "n": 8, "n_failed": 2}
    }


def test_order_of_rows_does_not_move_the_file(tmp_path: Path) -> None:
    for name, step in (("one", 1), ("two", -1)):
        turned = LEADERS.iloc[::step], CERTIFIED.iloc[::step], empty(CRITERIA)
        headline.write_numbers(
            headline.evaluation_numbers(*turned, NOBODY),
            headline.evaluation_plots(*turned),
            (tmp_path / name).joinpath,
        )
    written, again = (
        {file.name: file.read_bytes() for file in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert written == again
    assert written["headline.json"].startswith(b'{\n "certificates": {\n  "use"')
    assert written["headline.json"].endswith(b"}\n")
    assert set(written) == {
        "headline.json",
        "metrics.json",
        "leaderboard.csv",
        "forest.csv",
    }


@pytest.mark.parametrize(
    "value", [0.12345, -0.5, 10.004, 99.9999, 123.456, None, float("nan")]
)
def test_numbers_are_those_of_the_page(value: float | None) -> None:
    text = shown(value).replace("−", "-")
    assert rounded(value) == (float(text) if text else None)


# ---- what language models were asked ---------------------------------------------------------

STATUSES = ("ok", "refused", "truncated")


def responses(*rows: tuple[str, str, int | None, int | None]) -> pd.DataFrame:
    """A table of responses: model, status or code, tokens read and written."""
    table = pd.DataFrame(
        [
            {
                "key": f"k{number}",
                "request": json.dumps({"kind": "chat", "model": model}),
                "status": status if status in STATUSES else "error",
                "finish_reason": status,
                "prompt_tokens": read,
                "completion_tokens": written,
                "text": "text",
            }
            for number, (model, status, read, written) in enumerate(rows)
        ],
        columns=list(RESPONSES.columns),
    )
    return table.astype({"prompt_tokens": "Int64", "completion_tokens": "Int64"})


def model(
    name: str, read: float | None = None, written: float = 0, **changes: Any
) -> ModelOptions:
    prices = {"date": "2026-11-01", "currency": "USD", "input_per_million": read}
    prices |= {"output_per_million": written, **changes}
    block = {"endpoint": "here", "model": name, "max_tokens": 9}
    return ModelOptions.model_validate(
        block if read is None else {**block, "prices": prices}
    )


MODELS = {"small": model("m-1", 0.5, 2), "free": model("m-2")}
ANSWERED = {
    "generate-b": responses(
        ("m-1", "ok", 1000, 100),
        ("m-1", "refused", 2000, 50),
        ("m-1", "truncated", 3000, 250),
        *(
            ("m-1", code, None, None)
            for code in ("ok", "timeout", "http_500", "http_400", "http_500")
        ),
        ("m-2", "ok", 7, 8),
    ),
    "decompose": responses(("m-1", "ok", 40, None), ("m-1", "ok", 60, 5)),
}


def test_a_row_a_stage_and_model_with_tokens_and_list_price() -> None:
    table = models_table(ANSWERED, MODELS)
    assert list(table.columns) == list(COLUMNS)
    # m-1 in generate-b: 6000 read and 400 written, (6000 * 0.5 + 400 * 2) / 1e6 =
    # 0.0038; in decompose: 100 read and 5 written, (100 * 0.5 + 5 * 2) / 1e6 = 0.00006.
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
    turned = {stage: of.iloc[::-1] for stage, of in reversed(ANSWERED.items())}
    pd.testing.assert_frame_equal(models_table(turned, MODELS), table)
    (line, rest) = missing_lines(table)
    assert line == (
        "Answers of m-1 (generate-b): 3 of 8 are missing, 1 of 8 failed for good"
        " (http_500 2, http_400 1, timeout 1)."
    )
    assert rest == f"{REST}."
    answered = responses(*(("m-1", status, 1, 1) for status in STATUSES))
    assert missing_lines(models_table({"s": answered}, MODELS)) == []
    assert numbers_of(answers=table)["answers"] == {
        "questions": 11,
        "answered": 5,
        "refused": 1,
        "truncated": 1,
        "missing": 3,
        "failed": 1,
    }
    assert models_table({}, MODELS).empty
    assert models_table({"decompose": empty(RESPONSES)}, MODELS).empty


def test_of_two_entries_for_one_model_the_first_with_prices_counts() -> None:
    models = {"c": model("m-1", 9, 9, currency="EUR"), "a": model("m-1")}
    models["b"] = model("m-1", 1, 1, date="2026-10-01")
    (row,) = models_table(
        {"s": responses(("m-1", "ok", 1_000_000, 0))}, models
    ).to_dict("records")
    assert (row["cost"], row["currency"], row["prices_of"]) == (
        1.0,
        "USD",
        "2026-10-01",
    )


def test_a_stage_that_only_failed_has_no_answers_and_cost_nothing_that_is_known() -> (
    None
):
    table = models_table({"s": responses(("m-1", "timeout", None, None))}, MODELS)
    (row,) = table.to_dict("records")
    assert [row[name] for name in COUNTS] == [1, 0, 0, 0, 1, 0]
    assert (row["prompt_tokens"], row["completion_tokens"], row["cost"]) == (0, 0, 0.0)


@pytest.mark.parametrize("request_", ["", "7", "[]", "{}", "[" * 100_000])
def test_a_request_that_is_no_question_is_named(request_: str) -> None:
    table = responses(("m-1", "ok", 1, 1)).assign(request=request_)
    with pytest.raises(
        BadInput, match="responses: judge-x: a request is not a question"
    ):
        models_table({"judge-x": table}, {})


@pytest.mark.usefixtures("no_figures")
def test_notes_of_stages_and_what_is_missing_are_on_the_page_in_the_order_of_the_data(
    make_report: Callable[..., ReportInput], tmp_path: Path
) -> None:
    notes = {
        stage: pd.DataFrame(
            [(stage, *note) for note in enumerate(of_stage)],
            columns=list(NOTES.columns),
        )
        for stage, of_stage in (("ingest", [f"b {SCRIPT}", "a"]), ("decompose", ["c"]))
    }
    notes["measure"] = empty(NOTES)
    out = tmp_path / "out"
    write_report(make_report(notes=notes, responses=ANSWERED, models=MODELS), out)
    problems = page_data.head(out)["problems"]
    by_kind = {
        kind: [p["text"] for p in problems if p["kind"] == kind]
        for kind in ("warning", "missing")
    }
    assert by_kind["warning"] == [
        f"ingest: b {SCRIPT}",
        "ingest: a",
        "decompose: c",
        DOUBLES,
    ]
    of_judges = "lexical has no answer in 1 of 54 places: 1 refused."
    of_models = missing_lines(models_table(ANSWERED, MODELS))
    assert by_kind["missing"] == [*of_models, of_judges]
    assert page_data.table(out, "notes")["note"].tolist() == [f"b {SCRIPT}", "a", "c"]
    assert page_data.table(out, "language_models")["missing"].tolist() == [0, 3, 0]
    assert "a" in (out / "notes.csv").read_text(encoding="utf-8")
