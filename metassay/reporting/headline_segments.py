"""The headline numbers of a test of segmentations, out of its table of scores."""

from pathlib import Path
from typing import Any

import pandas as pd

from metassay.parquet import read
from metassay.reporting.numbers import short, short_interval
from metassay.reporting.tables import records
from metassay.reporting.views.section import best_first
from metassay.tables.segment_scores import SEGMENT_SCORES

HEADS = ("segmentation", "sentences", "accuracy", "macro-F1", "majority guess")
STATISTICS = ("accuracy", "macro_f1", "majority_guess")
_KEY = ["segmentation", "statistic", "value", "low", "high", "n", "n_failed"]


def score_rows(folder: Path) -> list[list[str]]:
    """A row of HEADS per segmentation, the most accurate first: numbers with their intervals."""
    found: dict[str, dict[str, Any]] = {}
    for row in records(_scores(folder)):
        found.setdefault(row["segmentation"], {})[row["statistic"]] = row
    made = []
    for name in sorted(found, key=lambda one: best_first(found[one]["accuracy"]["value"])):
        of = found[name]
        n, failed = of["accuracy"]["n"], of["accuracy"]["n_failed"]
        labelled = f"{n:,} of {n + failed:,}" if failed else f"{n:,}"
        accuracy, macro = (_number(of[one]) for one in STATISTICS[:2])
        made.append([name, labelled, accuracy, macro, short(of["majority_guess"]["value"]) or "–"])
    return made


def score_artifacts(folder: Path, answers: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Rows for Prefect's table artifacts: `segment_scores`, `answers`; no texts.

    `answers`, as `answers_of` has it, is an artifact where any model was asked.
    """
    found = {"segment_scores": records(_scores(folder))}
    if not answers.empty:
        found["answers"] = records(answers)
    return found


def _scores(folder: Path) -> pd.DataFrame:
    rows = read(SEGMENT_SCORES, folder / "segment_scores.parquet")
    wanted = (rows["of"] == "all") & rows["statistic"].isin(STATISTICS)
    return rows[wanted][_KEY].reset_index(drop=True)


def _number(row: dict[str, Any]) -> str:
    return f"{short(row['value']) or '–'} {short_interval(row['low'], row['high'])}".strip()
