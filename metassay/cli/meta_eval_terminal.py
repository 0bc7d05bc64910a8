"""What `metassay meta-eval` prints: which metric to trust by each criterion, and why."""

from collections.abc import Iterator

import pandas as pd
from rich.console import Console
from rich.padding import Padding
from rich.table import Column
from rich.text import Text

from metassay.api.reading import EVERYBODY
from metassay.cli.terminal import numbers, ruled
from metassay.format.frames import records
from metassay.format.numbers import (
    counted,
    missing,
    probability,
    short,
    short_interval,
    shown,
    shown_interval,
)
from metassay.format.terms import COEFFICIENT_NAMES, DECISIONS
from metassay.meta_evaluation.agreement import ALL
from metassay.reporting.certificates import best, limits, ranked
from metassay.reporting.section import Row
from metassay.tables.names import FULL, metric_label

SHOWN = 12  # metrics of one level that are printed
NARROW = 72  # columns of a terminal below which there is no comparison with a rater

_STUDIED = ["study", "criterion", "part"]
_ONE_RATER = "No text has two raters, so there is no agreement, and no rater to compare with."


def show(tables: dict[str, pd.DataFrame], confidence: float, console: Console) -> None:
    """Print each criterion's limits, its certificates, best verdict first, and the best in words.

    Names and verdicts are folded where the terminal is narrow, never cut.
    """
    found = tables["certificates"]
    if found.empty:
        nothing = "no metric here says which of two texts is better: there is nothing to certify"
        console.print(nothing)
        return
    alpha = _alphas(tables["agreement"])
    for key, mine in found.groupby(_STUDIED, sort=True):
        study, criterion, part = (str(name) for name in key)
        console.print(Text(_title(found, study, criterion, part), style="bold", overflow="fold"))
        designs = tables["designs"]
        here = designs[(designs[_STUDIED] == list(key)).all(axis=1)]
        for line in limits(mine, here, confidence):
            console.print(_indented(line))
        by_level = {level: ranked(records(mine[mine["level"] == level])) for level in DECISIONS}
        for level, rows in by_level.items():
            if rows:
                _print_level(rows, level, confidence, console)
        for level, rows in by_level.items():
            if rows:
                console.print(_indented(_headline(rows, level)))
        console.print(_indented(alpha.get((study, criterion), _ONE_RATER)))
        console.print()


def _indented(line: str) -> Padding:
    return Padding(Text(line, overflow="fold"), (0, 0, 0, 1))


def _title(found: pd.DataFrame, study: str, criterion: str, part: str) -> str:
    named = [criterion]
    if found["part"].nunique() > 1 or part != FULL:
        named.append(f"part {part}")
    if found["study"].nunique() > 1:
        named.append(f"study {study}")
    return ", ".join(named)


def _print_level(rows: list[Row], level: str, confidence: float, console: Console) -> None:
    narrow = console.width < NARROW
    compared = not narrow and any(row["rater"] is not None for row in rows)
    coefficient = COEFFICIENT_NAMES[rows[0]["coefficient"]]
    table = ruled(
        Column("metric", overflow="fold", ratio=1, min_width=8),
        numbers(f"{coefficient}\n[{confidence:.0%}]"),
        numbers("p"),
        *([numbers("metric / rater")] if compared else []),
        Column("verdict", overflow="fold", max_width=14 if narrow else 21),
        expand=True,
        title=Text(f"{DECISIONS[level]} ({level} level)", style="italic"),
        title_justify="left",
    )
    for row in rows[:SHOWN]:
        table.add_row(*_cells(row, compared=compared))
    console.print(table)
    if len(rows) > SHOWN:
        more = counted(len(rows) - SHOWN, "more metric")
        console.print(_indented(f"and {more}: --out writes all"))


def _cells(row: Row, *, compared: bool) -> Iterator[Text]:
    yield Text(metric_label(row["metric"], row["judge"]))
    ends = short_interval(row["low"], row["high"]) or "[no interval]"
    yield Text("" if row["value"] is None else f"{short(row['value'])} {ends}")
    yield Text(probability(row["p"]))
    if compared:
        known = row["rater"] is not None
        yield Text(f"{short(row['with_raters'])} / {short(row['rater'])}" if known else "")
    yield Text(row["verdict"], style="bold" if row["trusted"] else "")


def _headline(rows: list[Row], level: str) -> str:
    """The best metric's sentence with its corrected value, or that there is none to use."""
    chosen = best(rows)
    if chosen is None:
        return ""
    row = chosen.row
    ends = short_interval(row["corrected_low"], row["corrected_high"])
    corrected = f"{short(row['corrected'])} {ends}".strip()
    if row["trusted"]:
        many = f" Corrected as {chosen.of}: {corrected}." if len(rows) > 1 else ""
        return f"{row['sentence']}{many}"
    none = f"For {DECISIONS[level]} there is no metric to use yet: {chosen.verdicts}."
    if row["corrected"] is None:
        return none
    first = f"First is {chosen.metric} ({row['verdict']}: {row['advice']})"
    return f"{none} {first}, corrected as {chosen.of}: {corrected}."


def _alphas(agreement: pd.DataFrame) -> dict[tuple[str, str], str]:
    said = {}
    for row in agreement.to_dict("records"):
        name = str(row["coefficient"])
        together = row["rater_a"] == row["rater_b"] == ALL
        if not name.startswith("krippendorff_alpha") or not together:
            continue
        ends = short_interval(row["low"], row["high"])
        value = "undefined" if missing(row["value"]) else f"{short(row['value'])} {ends}".strip()
        said[str(row["study"]), str(row["criterion"])] = (
            f"Raters among themselves: Krippendorff's alpha ({name.rpartition('_')[2]}) {value},"
            f" {counted(int(row['n']), 'text')} with two raters or more."
        )
    return said


def show_raters(tables: dict[str, pd.DataFrame], console: Console) -> None:
    """Print the raters' means and their agreement, a board per criterion."""
    agreement = tables["agreement"]
    for key, rows in tables["raters"].groupby(_STUDIED, sort=True):
        study, criterion, part = (str(name) for name in key)
        board = ruled(
            Column("rater", overflow="fold"),
            *map(numbers, ("n", "mean", "SD (n − 1)")),
            title=Text(f"{criterion}, {part}, {study}"),
            title_justify="left",
        )
        for row in records(rows[rows["author"] == EVERYBODY]):
            cells = (row["rater"], f"{row['n']:,}", shown(row["mean"]), shown(row["sd"]))
            board.add_row(*map(Text, cells))
        console.print(board)
        mine = agreement[(agreement["study"] == study) & (agreement["criterion"] == criterion)]
        for line in _agreement_lines(mine):
            console.print(line, markup=False, highlight=False)


def _agreement_lines(agreement: pd.DataFrame) -> Iterator[str]:
    together = agreement[(agreement["rater_a"] == ALL) & (agreement["rater_b"] == ALL)]
    if together.empty:
        yield "No text has two raters, so there is no agreement.\n"
        return
    yield "All raters together [interval]:"
    for row in records(together):
        ends = shown_interval(row["low"], row["high"])
        value = shown(row["value"]) or "undefined"
        yield f"  {row['coefficient']} {value} {ends}, n = {row['n']:,}".replace(" ,", ",")
    yield ""
