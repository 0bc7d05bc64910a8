"""The headline numbers of a test of judges, out of its table of cards."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.judge_tests.beside import items_of
from metassay.parquet import read
from metassay.reporting.display import NONE, ShownAs
from metassay.reporting.numbers import short, short_interval
from metassay.reporting.tables import records
from metassay.tables.judge_cards import JUDGE_CARDS
from metassay.tables.names import ALL_SUBSETS, FULL, MEAN_OF_SUBSETS

HEADS = ("judge", "items", "judged", "accuracy", "balanced", "AUROC")
STATISTICS = ("agreement", "balanced_accuracy", "auroc")
_KEY = ["study", "part", "judge", "statistic", "value", "low", "high", "n", "n_missing"]


def cards(folder: Path, shown_as: ShownAs = NONE) -> list[list[str]]:
    """A row of HEADS per judge and set of items, of all kinds: numbers with their intervals.

    Where there are several subsets, these are all of them and their mean; the page has each.
    """
    made = []
    for judge, study, of in main_cards(shown_as.frame(_cards(folder))):
        n, missing = of["agreement"]["n"], of["agreement"]["n_missing"]
        judged = f"{n:,} of {n + missing:,}" if missing else f"{n:,}"
        made.append([judge, study, judged, *(_number(of.get(name)) for name in STATISTICS)])
    return made


def main_cards(cards: pd.DataFrame) -> Iterator[tuple[str, str, dict[str, dict[str, Any]]]]:
    """Judge, set of items and rows by statistic, as `cards` has them, out of a table of cards."""
    rows = cards[cards["part"] == FULL]
    if (rows["study"] == ALL_SUBSETS).any():
        wanted = rows["study"].isin([ALL_SUBSETS, MEAN_OF_SUBSETS])
        rows = rows[wanted | rows["study"].str.startswith(items_of(""))]
    for (study, judge), card in rows.groupby(["study", "judge"]):
        yield str(judge), str(study), {str(row["statistic"]): row for row in records(card)}


def card_artifacts(folder: Path, answers: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Rows for Prefect's table artifacts: `judge_cards`, `answers`; no texts.

    `answers`, as `answers_of` has it, is an artifact where any model was asked.
    """
    found = {"judge_cards": records(_cards(folder))}
    if not answers.empty:
        found["answers"] = records(answers)
    return found


def _cards(folder: Path) -> pd.DataFrame:
    rows = read(JUDGE_CARDS, folder / "judge_cards.parquet")
    return rows[rows["statistic"].isin(STATISTICS)][_KEY].reset_index(drop=True)


def _number(row: dict[Any, Any] | None) -> str:
    if row is None or pd.isna(row["value"]):
        return "–"
    ends = "" if pd.isna(row["low"]) else short_interval(row["low"], row["high"])
    return f"{short(row['value'])} {ends}".strip()
