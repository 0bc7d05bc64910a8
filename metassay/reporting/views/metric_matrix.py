"""Metrics beside each other: which of them say the same, and which say what people say."""

import pandas as pd

from metassay.reporting.figures.metric_matrix import COEFFICIENT
from metassay.reporting.numbers import shown
from metassay.reporting.tables import records
from metassay.reporting.views.section import Row, Section
from metassay.reporting.words import COEFFICIENT_NAMES
from metassay.tables.names import FULL

_ALIKE = 3  # pairs of metrics that are named


def metric_matrix_section(metric_correlations: pd.DataFrame) -> Section | None:
    """The figure and what stands out in it; None without a row."""
    if metric_correlations.empty:
        return None
    mine = [
        row
        for row in records(metric_correlations)
        if (row["coefficient"], row["part"]) == (COEFFICIENT, FULL) and row["value"] is not None
    ]
    return Section(
        "matrix",
        "Metrics beside each other",
        [
            f"{COEFFICIENT_NAMES[COEFFICIENT]} correlation of every two metrics, and of every"
            " metric with every human criterion, over all texts that the study rated. Signs are"
            " turned so that more is better. The file has the other coefficients, and the number"
            " of texts behind each value.",
            *_alike(mine),
        ],
        ["metric_correlations"],
        figure="metric_matrix",
    )


def _alike(mine: list[Row]) -> list[str]:
    pairs = [row for row in mine if row["first_is"] == row["second_is"] == "metric"]
    pairs = [row for row in pairs if row["value"] > 0]
    best = sorted(pairs, key=lambda row: (-row["value"], row["first"], row["second"]))[:_ALIKE]
    if not best:
        return []
    said = [f"{row['first']} and {row['second']} ({shown(row['value'])})" for row in best]
    return [f"Most alike are {'; '.join(said)}."]
