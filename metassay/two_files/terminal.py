"""What `metassay meta-eval` prints: which metric to trust by each criterion, and why."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from metassay.reporting.numbers import MINUS, counted, missing
from metassay.tables import FULL, NO_JUDGE

SHOWN = 12  # metrics of one level that are printed

_STUDIED = ["study", "criterion", "part"]
_LEVELS = ("global", "document", "system")
_COEFFICIENTS = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall's tau-b",
    "kendall_c": "Stuart's tau-c",
}


def show(tables: dict[str, pd.DataFrame], confidence: float, console: Console) -> None:
    """Print each criterion's certificates, best metric first, in words for the best."""
    found = tables["certificates"]
    if found.empty:
        console.print("no metric here says which of two texts is better: nothing to certify")
        return
    alpha = _alphas(tables["agreement"])
    for key, rows in found.groupby(_STUDIED, sort=True):
        study, criterion, part = (str(name) for name in key)
        console.print(_board(rows, _title(found, study, criterion, part), confidence))
        console.print(Padding(_words(rows), (0, 0, 1, 1)))
        console.print(Padding(Text(alpha.get((study, criterion), _ONE_RATER)), (0, 0, 1, 1)))


_ONE_RATER = "One rater, or none twice on one text: no agreement, no ceiling."


def _title(found: pd.DataFrame, study: str, criterion: str, part: str) -> Text:
    named = [criterion]
    if found["part"].nunique() > 1 or part != FULL:
        named.append(f"part {part}")
    if found["study"].nunique() > 1:
        named.append(f"study {study}")
    return Text(", ".join(named), style="bold")


def _board(rows: pd.DataFrame, title: Text, confidence: float) -> RenderableType:
    coefficient = _COEFFICIENTS[str(rows["coefficient"].iloc[0])]
    table = RichTable(
        Column("metric", overflow="fold", ratio=1, min_width=8),
        Column(f"{coefficient} [{confidence:.0%}]", justify="right", no_wrap=True),
        Column("accuracy\n(chance)", justify="right", no_wrap=True),
        Column("ceiling", justify="right", no_wrap=True),
        Column("verdict", no_wrap=True),
        box=SIMPLE_HEAD,
        pad_edge=False,
        expand=True,
        title=title,
        title_justify="left",
    )
    cut = 0
    for level in _LEVELS:
        of_level = _best_first(rows[rows["level"] == level])
        if not of_level:
            continue
        table.add_row(Text(level, style="italic"))
        for row in of_level[:SHOWN]:
            table.add_row(*_cells(row))
        table.add_section()
        cut = max(cut, len(of_level) - SHOWN)
    if cut <= 0:
        return table
    return Group(table, Text(f"and {counted(cut, 'more metric')} per level: --out writes all"))


def _best_first(rows: pd.DataFrame) -> list[dict[str, Any]]:
    ordered = rows.sort_values(["value", "metric", "judge"], ascending=[False, True, True])
    return [{str(k): v for k, v in row.items()} for row in ordered.to_dict("records")]


def _cells(row: dict[str, Any]) -> Iterator[Text]:
    judge = "" if row["judge"] == NO_JUDGE else f" ({row['judge']})"
    yield Text(f" {row['metric']}{judge}")
    ends = (
        f"[{_two(row['low'])}, {_two(row['high'])}]" if not missing(row["low"]) else "[no interval]"
    )
    yield Text("" if missing(row["value"]) else f"{_two(row['value'])} {ends}")
    share = "" if missing(row["accuracy"]) else f"{row['accuracy']:.0%} ({row['chance']:.0%})"
    yield Text(share)
    yield Text(_two(row["ceiling"]))
    yield Text(str(row["verdict"]), style="bold" if row["verdict"] == "like a rater" else "")


def _words(rows: pd.DataFrame) -> Text:
    said = []
    for level in _LEVELS:
        of_level = _best_first(rows[rows["level"] == level])
        if of_level:
            said.append(str(of_level[0]["sentence"]))
    return Text("\n".join(said))


def _alphas(agreement: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Krippendorff's alpha of all raters in words, by study and criterion."""
    said = {}
    for row in agreement.to_dict("records"):
        name = str(row["coefficient"])
        if not name.startswith("krippendorff_alpha"):
            continue
        ends = ""
        if not missing(row["low"]):
            ends = f" [{_two(row['low'])}, {_two(row['high'])}]"
        value = "undefined" if missing(row["value"]) else f"{_two(row['value'])}{ends}"
        said[str(row["study"]), str(row["criterion"])] = (
            f"Raters among themselves: Krippendorff's alpha ({name.rpartition('_')[2]}) {value},"
            f" {counted(int(row['n']), 'text')} with two raters or more."
        )
    return said


def _two(value: Any) -> str:
    """Two decimals without the zero before the point; empty where missing."""
    if missing(value):
        return ""
    text = f"{value:.2f}"
    return "0" if float(text) == 0 else text.replace("0.", ".", 1).replace("-", MINUS)
