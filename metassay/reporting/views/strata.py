"""Each stratum by itself, where a study has several."""

import pandas as pd

from metassay.reporting.names import sorted_metrics
from metassay.reporting.numbers import counted, denominators
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Grid,
    Group,
    Row,
    Section,
    by_criterion,
    number,
    titled,
)
from metassay.reporting.words import DECISIONS
from metassay.tables.names import metric_label

_SAYS = (
    "The texts fall into strata: sets with systems or documents of their own. Each column is what a"
    " study of one stratum alone shows, with its interval for other systems and documents. A metric"
    " that differs much between strata is not the same help in each."
)


def strata_section(strata: pd.DataFrame) -> Section | None:
    """Per criterion and level a table, metrics by stratum; None where no study has several."""
    if strata.empty:
        return None
    groups = [
        Group(
            titled(key),
            f"study {key[0]}, {counted(len({row['stratum'] for row in mine}), 'stratum')}".replace(
                "stratums", "strata"
            ),
            [],
            [
                Group(
                    DECISIONS[level].capitalize(),
                    f"{level} level",
                    [_grid(mine, level)],
                    open=level == "global",
                )
                for level in DECISIONS
            ],
            open=place == 0,
        )
        for place, (key, mine) in enumerate(by_criterion(strata))
    ]
    return Section("strata", "Each stratum by itself", [_SAYS], ["strata"], groups=groups)


def _grid(mine: list[Row], level: str) -> Grid:
    rows = [row for row in mine if row["level"] == level]
    names = sorted({row["stratum"] for row in rows})
    found = {(row["metric"], row["judge"], row["stratum"]): row for row in rows}
    lines = []
    for metric in sorted_metrics({(row["metric"], row["judge"]) for row in rows}):
        cells = []
        for name in names:
            row = found.get((*metric, name))
            cells.append(
                NOT_COMPUTED
                if row is None
                else number(
                    row["value"],
                    denominators(row["n"], row["n_undefined"], row["n_missing"]),
                    low=row["low"],
                    high=row["high"],
                )
            )
        lines.append((metric_label(*metric), cells))
    return Grid("", ["metric", *names], lines)
