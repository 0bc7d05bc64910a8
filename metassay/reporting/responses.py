"""What language models were asked, what is missing, the cost at list price; and the notes."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import BadInput
from metassay.format.frames import records, rows
from metassay.llm.endpoints import ModelOptions, Prices
from metassay.llm.messages import REST, is_retryable
from metassay.llm.messages import count_codes as counted_codes
from metassay.tables.notes import NOTES
from metassay.tables.parquet import empty

COUNTS = ("questions", "answered", "refused", "truncated", "missing", "failed")
COLUMNS = (
    *("stage", "model", *COUNTS, "why", "uncounted"),
    *("prompt_tokens", "completion_tokens", "cost", "currency", "prices_of"),
)


class _Reply(NamedTuple):
    status: str
    why: str
    read: int | None
    written: int | None


def asked_table(
    responses: Mapping[str, pd.DataFrame], models: Mapping[str, ModelOptions]
) -> pd.DataFrame:
    """One row per stage and model: questions by what came of them, tokens, cost at list price.

    `responses` are tables RESPONSES by stage. Each of the `questions` was answered, refused or
    truncated, or has no answer: it is `missing` where asking again may get it, else `failed` for
    good; `why` counts the codes of both. `uncounted` answers came without tokens, which the sums
    lack. The cost, in `currency` at the prices of the day `prices_of`, is null for a model without
    prices. It is of the answers used, whoever paid for them and however often they were tried.
    """
    prices = _prices(models)
    made = []
    for stage in sorted(responses):
        by_model: dict[str, list[_Reply]] = {}
        columns = ("status", "finish_reason", "prompt_tokens", "completion_tokens")
        for request, *reply in rows(responses[stage], "request", *columns):
            by_model.setdefault(_model(request, stage), []).append(_Reply(*reply))
        made += [_row(stage, model, by_model[model], prices.get(model)) for model in by_model]
    frame = pd.DataFrame(made, columns=list(COLUMNS)).sort_values(["stage", "model"])
    return frame.reset_index(drop=True)


def _model(request: str, stage: str) -> str:
    try:
        return str(json.loads(request)["model"])
    except (ValueError, TypeError, LookupError, RecursionError):
        raise BadInput(
            f"responses: {stage}: a request is no question to a model; metassay run builds a"
            " benchmark's tables again"
        ) from None


def missing_lines(table: pd.DataFrame) -> list[str]:
    """What is missing of which model at which stage, and what that means; empty if nothing is."""
    lines = []
    for row in records(table):
        said = [
            f"{row[name]:,} of {row['questions']:,} {words}"
            for name, words in (("missing", "are missing"), ("failed", "failed for good"))
            if row[name]
        ]
        if said:
            of = f"Answers of {row['model']} ({row['stage']})"
            lines.append(f"{of}: {', '.join(said)} ({row['why']}).")
    return [*lines, f"{REST}."] if lines else []


def _prices(models: Mapping[str, ModelOptions]) -> dict[str, Prices]:
    """By the provider's identifier; of several entries for one, the first with prices."""
    found: dict[str, Prices] = {}
    for name in sorted(models):
        prices = models[name].prices
        if prices is not None:
            found.setdefault(models[name].model, prices)
    return found


def _row(
    stage: str, model: str, replies: Sequence[_Reply], prices: Prices | None
) -> tuple[object, ...]:
    codes = [str(reply.why or "unknown") for reply in replies if reply.status == "error"]
    answers = [reply for reply in replies if reply.status != "error"]
    statuses = [reply.status for reply in answers]
    missing = sum(map(is_retryable, codes))
    counts = (
        *(len(replies), *(statuses.count(status) for status in ("ok", "refused", "truncated"))),
        *(missing, len(codes) - missing),
    )
    read = sum(reply.read or 0 for reply in answers)
    written = sum(reply.written or 0 for reply in answers)
    uncounted = sum(reply.read is None or reply.written is None for reply in answers)
    priced: tuple[object, ...] = (None, None, None)
    if prices is not None:
        cost = (read * prices.input_per_million + written * prices.output_per_million) / 1e6
        priced = (cost, prices.currency, prices.date.isoformat())
    return (stage, model, *counts, counted_codes(codes), uncounted, read, written, *priced)


# What stages did about the data that its owner should know: the notes, by stage.


def notes_table(notes: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tables NOTES by stage as one, in that order."""
    return pd.concat([empty(NOTES), *notes.values()], ignore_index=True)
