"""The headline numbers of a benchmark, out of its tables: leaders, best metrics, correlations."""

from pathlib import Path
from typing import Any

import pandas as pd

from metassay.contract import read
from metassay.tables import CERTIFICATES, CORRELATIONS, FULL, LEADERBOARD, NO_JUDGE

MAIN_METRICS = (
    "claim_recall",
    "claim_precision",
    "citation_recall",
    "faithfulness",
    "rouge1_fmeasure",
    "bleu",
)


def board(folder: Path) -> tuple[list[str], list[list[str]]]:
    """Column headings and one row of text per author: macro means of the main metrics."""
    rows = _leaderboard(folder)
    rows = rows[rows["metric"].isin(MAIN_METRICS)]
    columns = {
        str(label): group.set_index("author")["macro"]
        for label, group in rows.groupby("column", sort=True)
    }
    authors = sorted(rows["author"].unique())
    cells = [[_number(column.get(author)) for column in columns.values()] for author in authors]
    return list(columns), [[author, *row] for author, row in zip(authors, cells, strict=True)]


def best_metrics(folder: Path) -> list[list[str]]:
    """Per study and criterion the metric that agrees most with people on any two whole texts."""
    rows = read(CERTIFICATES, folder / "certificates.parquet")
    rows = rows[(rows["level"] == "global") & (rows["part"] == FULL) & rows["value"].notna()]
    best = rows.sort_values(
        ["study", "criterion", "value", "metric", "judge"],
        ascending=[True, True, False, True, True],
    ).drop_duplicates(["study", "criterion"])
    return [
        [
            str(row["criterion"]),
            _label(row["metric"], row["judge"]),
            str(row["verdict"]),
            _number(row["value"]),
            f"{_number(row['low'])} to {_number(row['high'])}",
            str(row["n"]),
        ]
        for row in best.to_dict("records")
    ]


def artifacts(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Rows for Prefect's table artifacts, `leaderboard` and `correlations`: no texts."""
    against = _correlations(folder)[["criterion", "metric", "judge", "value", "low", "high", "n"]]
    leaders = _leaderboard(folder)[["metric", "judge", "author", "macro", "low", "high"]]
    return {"leaderboard": _rows(leaders), "correlations": _rows(against)}


def _leaderboard(folder: Path) -> pd.DataFrame:
    rows = read(LEADERBOARD, folder / "leaderboard.parquet")
    rows = rows[rows["part"] == FULL].reset_index(drop=True)
    labels = [_label(m, j) for m, j in zip(rows["metric"], rows["judge"], strict=True)]
    return rows.assign(column=labels)


def _correlations(folder: Path) -> pd.DataFrame:
    """Global Pearson rows of the whole texts, strongest first within each criterion."""
    rows = read(CORRELATIONS, folder / "correlations.parquet")
    chosen = (rows["level"] == "global") & (rows["coefficient"] == "pearson")
    rows = rows[chosen & (rows["part"] == FULL) & rows["value"].notna()]
    return rows.assign(strength=rows["value"].abs()).sort_values(
        ["study", "criterion", "strength", "metric", "judge"],
        ascending=[True, True, False, True, True],
        ignore_index=True,
    )


def _label(metric: object, judge: object) -> str:
    return str(metric) if judge == NO_JUDGE else f"{metric} ({judge})"


def _number(value: Any) -> str:
    return "–" if value is None or pd.isna(value) else f"{value:.3f}"


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(name): None if pd.isna(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]
