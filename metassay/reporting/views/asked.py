"""What language models were asked for a benchmark, and what that costs at list price."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from metassay.llm.endpoints import ModelOptions, Prices
from metassay.reporting.tables import rows

COLUMNS = (
    *("stage", "model", "calls", "refused", "truncated", "failed", "uncounted"),
    *("prompt_tokens", "completion_tokens", "cost", "currency", "prices_of"),
)


class Asked(NamedTuple):
    """One stage and model, as the page prints it."""

    stage: str
    model: str
    calls: str
    tokens: str
    cost: str


def asked_table(
    responses: Mapping[str, pd.DataFrame], models: Mapping[str, ModelOptions]
) -> pd.DataFrame:
    """One row per stage and model: answers by status, tokens, cost at the list price.

    `responses` are tables RESPONSES by stage. `calls` were answered; `failed` ones never were, so
    they are not among the calls, and what they may have cost is not known. `uncounted` answers came
    without tokens, which the sums lack. The cost, in `currency` at the prices of the day
    `prices_of`, is null for a model without prices. It is of the answers used, whoever paid for
    them and however often they were tried.
    """
    prices = _prices(models)
    made = []
    for stage in sorted(responses):
        by_model: dict[str, list[tuple[str, int | None, int | None]]] = {}
        columns = ("request", "status", "prompt_tokens", "completion_tokens")
        for request, *answer in rows(responses[stage], *columns):
            model = str(json.loads(request)["model"])
            by_model.setdefault(model, []).append((answer[0], answer[1], answer[2]))
        made += [_row(stage, model, by_model[model], prices.get(model)) for model in by_model]
    frame = pd.DataFrame(made, columns=list(COLUMNS)).sort_values(["stage", "model"])
    return frame.reset_index(drop=True)


def asked_view(table: pd.DataFrame) -> list[Asked]:
    """The table's rows in words."""
    return [
        Asked(
            row["stage"],
            row["model"],
            _calls(row),
            f"{row['prompt_tokens']:,} read, {row['completion_tokens']:,} written",
            "no prices"
            if row["currency"] is None
            else f"{row['cost']:,.4f} {row['currency']}, prices of {row['prices_of']}",
        )
        for row in table.astype(object).where(table.notna(), None).to_dict("records")
    ]


def _prices(models: Mapping[str, ModelOptions]) -> dict[str, Prices]:
    """By the provider's identifier; of several entries for one, the first with prices."""
    found: dict[str, Prices] = {}
    for name in sorted(models):
        prices = models[name].prices
        if prices is not None:
            found.setdefault(models[name].model, prices)
    return found


def _row(
    stage: str,
    model: str,
    answers: list[tuple[str, int | None, int | None]],
    prices: Prices | None,
) -> tuple[object, ...]:
    failed = sum(status == "error" for status, _, _ in answers)
    answers = [answer for answer in answers if answer[0] != "error"]
    statuses = [status for status, _, _ in answers]
    read = sum(prompt or 0 for _, prompt, _ in answers)
    written = sum(completion or 0 for _, _, completion in answers)
    uncounted = sum(prompt is None or completion is None for _, prompt, completion in answers)
    declined, cut = statuses.count("refused"), statuses.count("truncated")
    counts = (len(answers), declined, cut, failed, uncounted)
    priced: tuple[object, ...] = (None, None, None)
    if prices is not None:
        cost = (read * prices.input_per_million + written * prices.output_per_million) / 1e6
        priced = (cost, prices.currency, prices.date.isoformat())
    return (stage, model, *counts, read, written, *priced)


def _calls(row: Mapping[Any, Any]) -> str:
    names = ("refused", "truncated", "uncounted")
    others = [f"{row[name]:,} {name}" for name in names if row[name]]
    calls = f"{row['calls']:,}" + (f" ({', '.join(others)})" if others else "")
    return calls + (f", and {row['failed']:,} failed" if row["failed"] else "")
