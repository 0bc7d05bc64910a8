"""What language models were asked, what is missing, and the cost at list price."""

import json
from collections.abc import Mapping
from functools import partial

import pandas as pd

from metassay.core.errors import BadInput
from metassay.format.frames import records, rows
from metassay.llm.endpoints import ModelOptions, Prices
from metassay.llm.messages import REST, is_retryable
from metassay.llm.messages import count_codes as counted_codes

COUNTS = ("questions", "answered", "refused", "truncated", "missing", "failed")
COLUMNS = (
    "stage",
    "model",
    *COUNTS,
    "why",
    "uncounted",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "currency",
    "prices_of",
)


def models_table(
    responses: Mapping[str, pd.DataFrame], models: Mapping[str, ModelOptions]
) -> pd.DataFrame:
    """Return a row per stage and model: questions by what came of them, tokens, cost.

    `responses` are tables RESPONSES by stage. Each of the `questions` was answered,
    refused or truncated, or has no answer: it is `missing` where asking again may get
    it, else `failed` for good; `why` counts the codes of both. `uncounted` answers came
    without tokens, which the sums lack. The cost, in `currency` at the list prices of
    the day `prices_of`, is null for a model without prices. It is of the answers used,
    whoever paid for them and however often they were tried. Of several entries for one
    model in `models`, the first by name with prices counts.
    """
    prices: dict[str, Prices] = {}
    for name in sorted(models):
        if (of_model := models[name].prices) is not None:
            prices.setdefault(models[name].model, of_model)
    lines = [
        _row(stage, str(model), replies, prices.get(str(model)))
        for stage, frame in responses.items()
        for model, replies in frame.groupby(
            frame["request"].map(partial(_model, stage=stage))
        )
    ]
    table = pd.DataFrame(lines, columns=list(COLUMNS)).sort_values(["stage", "model"])
    return table.reset_index(drop=True)


def _model(request: str, stage: str) -> str:
    try:
        return str(json.loads(request)["model"])
    except (ValueError, TypeError, LookupError, RecursionError):
        raise BadInput(
            f"responses: {stage}: a request is not a question to a model; metassay run builds a"
            " benchmark's tables again"
        ) from None


def _row(
    stage: str, model: str, replies: pd.DataFrame, prices: Prices | None
) -> list[object]:
    failed = replies["status"] == "error"
    codes = [
        str(code or "unknown") for (code,) in rows(replies[failed], "finish_reason")
    ]
    statuses = replies["status"].value_counts()
    n_missing = sum(map(is_retryable, codes))
    counts = [
        len(replies),
        *(int(statuses.get(s, 0)) for s in ("ok", "refused", "truncated")),
    ]
    tokens = replies.loc[~failed, ["prompt_tokens", "completion_tokens"]]
    read, written = map(int, tokens.sum())
    priced: list[object] = [None, None, None]
    if prices is not None:
        cost = (
            read * prices.input_per_million + written * prices.output_per_million
        ) / 1e6
        priced = [cost, prices.currency, prices.date.isoformat()]
    uncounted = int(tokens.isna().any(axis=1).sum())
    why = counted_codes(codes)
    counts += [n_missing, len(codes) - n_missing]
    return [stage, model, *counts, why, uncounted, read, written, *priced]


def missing_lines(table: pd.DataFrame) -> list[str]:
    """Say what is missing of which model at which stage, and what that means; or nothing."""
    lines = []
    for row in records(table):
        counts = [
            f"{row[name]:,} of {row['questions']:,} {words}"
            for name, words in (
                ("missing", "are missing"),
                ("failed", "failed for good"),
            )
            if row[name]
        ]
        if counts:
            answers = f"Answers of {row['model']} ({row['stage']})"
            lines.append(f"{answers}: {', '.join(counts)} ({row['why']}).")
    return [*lines, f"{REST}."] if lines else []
