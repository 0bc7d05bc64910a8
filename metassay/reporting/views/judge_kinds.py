"""By kind of item: which share of what doesn't follow a judge detects, and its false alarms."""

import pandas as pd

from metassay.judge_tests.beside import ALL_KINDS
from metassay.reporting.judge_test_cards import Card, Cards
from metassay.reporting.numbers import exact, short, short_interval
from metassay.reporting.tables import records
from metassay.reporting.views.judge_numbers import judge_title
from metassay.reporting.views.section import NOT_COMPUTED, Cell, Grid, Group, Row, Section

DETECTED, FALSE_ALARMS = "detected", "false alarms"
COLUMNS = (
    *("study", "kind", "judge", "measure", "value", "low", "high"),
    *("n", "n_abstained", "n_failed"),
)
_SAYS = (
    "Items of some kinds must not be found entailed, such as a sentence after an edit that changes"
    " what it says: the first table has the share that a judge detects, of its verdicts on them."
    " Others must be, such as paraphrases: the second table has the share that it takes for not"
    " entailed, its false alarms. In brackets stand intervals. What a judge abstained of or failed"
    " is in neither share, and counted below it."
)
_FIGURE = "kinds"


def kinds_table(test: Cards) -> pd.DataFrame:
    """One row per study, kind, judge and measure.

    `detected`: of the verdicts on items that are not entailed, the share that says so; higher is
    better. `false alarms`: of those on entailed items, the share that says they are not; lower is
    better. `n`: these verdicts. n_abstained, n_failed: items of the kind, of either label, without
    one. Kind ALL_KINDS is all of them. Empty where items have no kinds.
    """
    made: list[list[object]] = []
    for (study, kind, judge), card in test.of_kind.items():
        missing = [round(card[name]["value"] * card[name]["n"]) for name in ("abstained", "failed")]
        made += [[study, kind, judge, *row, *missing] for row in _shares(card)]
    frame = pd.DataFrame(made, columns=list(COLUMNS))
    totals: list[list[object]] = []
    for study, judge in dict.fromkeys(zip(frame["study"], frame["judge"], strict=True)):
        mine = frame[(frame["study"] == study) & (frame["judge"] == judge)]
        for row in _shares(test.whole[study, judge]):
            of = mine[mine["measure"] == row[0]]
            missing = [of["n_abstained"].sum(), of["n_failed"].sum()]
            totals.append([study, ALL_KINDS, judge, *row, *missing])
    frame = frame.sort_values(["study", "measure", "kind", "judge"])
    every = pd.DataFrame(totals, columns=list(COLUMNS))
    return pd.concat([frame, every], ignore_index=True) if totals else frame


def _shares(card: Card) -> list[list[object]]:
    """Measure, value, low, high and n, of the measures that the items have."""
    made: list[list[object]] = []
    found, kept = card["specificity"], card["sensitivity"]
    if found["n"]:
        made.append([DETECTED, found["value"], found["low"], found["high"], found["n"]])
    if kept["n"]:
        ends = [None if kept[name] is None else 1 - kept[name] for name in ("value", "high", "low")]
        made.append([FALSE_ALARMS, *ends, kept["n"]])
    return made


def kinds_section(test: Cards, table: pd.DataFrame) -> Section | None:
    """The kinds of all items and of each study, and how they look; None where there are none."""
    rows = records(table)
    studies = sorted({row["study"] for row in rows}, key=lambda one: (one != test.pooled, one))
    groups = [
        Group(title if whole else f"{title}: {study}", "", [_grid(test, found)], open=whole)
        for study in studies
        for measure, title in (
            (DETECTED, "Share detected of what is not entailed"),
            (FALSE_ALARMS, "Share of false alarms on what is entailed"),
        )
        if (found := [r for r in rows if (r["study"], r["measure"]) == (study, measure)])
        for whole in [study == test.pooled]
    ]
    if not groups:
        return None
    return Section("kinds", "Kind by kind", [_SAYS], ["kinds"], groups=groups, figure=_FIGURE)


def _grid(test: Cards, mine: list[Row]) -> Grid:
    judges = sorted({row["judge"] for row in mine}, key=lambda j: (j in test.raters, j))
    by_kind: dict[str, dict[str, Cell]] = {}
    for row in mine:
        by_kind.setdefault(row["kind"], {})[row["judge"]] = _cell(row)
    lines = [
        (kind.replace("_", " "), [cells.get(judge, NOT_COMPUTED) for judge in judges])
        for kind, cells in by_kind.items()
    ]
    return Grid("", ["kind", *(judge_title(test, judge) for judge in judges)], lines, sort=False)


def _cell(row: Row) -> Cell:
    missing = [
        f"{row[f'n_{name}']:,} {name}" for name in ("abstained", "failed") if row[f"n_{name}"]
    ]
    notes = (short_interval(row["low"], row["high"]), f"n = {row['n']:,}", *missing)
    text = short(row["value"]) or "undefined"
    return Cell(text, tuple(note for note in notes if note), exact(row["value"]))
