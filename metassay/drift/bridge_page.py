"""A bridge between two judges in words: lines for the terminal, a page in Markdown, a table."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from metassay.atomic import whole_file
from metassay.drift.bridge import Agreeing, Bridge
from metassay.parquet import write as write_table
from metassay.reporting.tables import records, to_markdown
from metassay.tables.sentinel import BRIDGES

_HEADS = ("author", "metric", "items", "documents", "before", "after", "difference")


def write(made: Bridge, folder: Path) -> Path:
    """Write FOLDER/BENCHMARK/OLD-NEW.parquet (table `bridges`) and the page, which is returned."""
    file = folder / made.benchmark / f"{made.old}-{made.new}.md"
    write_table(BRIDGES, made.shifts, file.with_suffix(".parquet"))
    with whole_file(file) as out:
        out.write(_page(made).encode())
    return file


def lines(made: Bridge) -> Iterator[str]:
    """What changes, in sentences."""
    found = made.found
    yield (
        f"{made.new} gives another verdict than {made.old} had stored on {found.changed.total} of"
        f" {found.answered} anchors; {made.old} itself, asked again, does so on"
        f" {np.mean([1 - one.share for one in made.own]) * found.answered:.1f} on average"
    )
    yield f"agreement with the stored verdicts: {_agreeing(made.agreeing)}"
    own = Agreeing(*(float(np.mean(numbers)) for numbers in zip(*made.own, strict=True)))
    yield f"{made.old} with its own, on average of its repetitions: {_agreeing(own)}"
    for name, (stored, moved) in made.labels.items():
        yield f"{name}: {stored} of {found.answered} before, {stored + moved} now ({moved:+d})"
    for (before, after), number in sorted(found.flips.items()):
        yield f"{before} to {after}: {number}"
    if found.failed:
        yield f"{found.failed} anchors have no answer by {made.new}: unknown, and in no number"
    if made.left_out:
        yield (
            f"{made.left_out} items are in no metric's shift: their texts were edited since, or an"
            " answer is missing"
        )


def summary(shifts: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """Rows of table `bridges` as they are shown, the greatest differences first."""
    order = shifts["difference"].abs().sort_values(ascending=False, kind="stable").index
    for row in records(shifts.loc[order]):
        ends = "" if row["low"] is None else f" [{row['low']:+.3f}, {row['high']:+.3f}]"
        yield (
            *(str(row[name]) for name in ("author", "metric", "items", "documents")),
            *(f"{row[name]:.3f}" for name in ("before", "after")),
            f"{row['difference']:+.3f}{ends}",
        )


def _agreeing(one: Agreeing) -> str:
    kappa = "undefined" if np.isnan(one.kappa) else f"{one.kappa:.2f}"
    return f"{100 * one.share:.1f} %, Cohen's kappa {kappa}"


def _page(made: Bridge) -> str:
    rows = list(summary(made.shifts))
    table = [
        to_markdown(pd.DataFrame(rows, columns=list(_HEADS))),
        "Means over the drawn items, weighted so that they stand for all of an author's items that"
        " a judge answers; 95 % intervals over documents. What is settled without a judge does not"
        " move. Before: the mean over the stored verdicts and the repetitions.",
    ]
    return "\n".join(
        [
            f"# {made.benchmark}: from judge {made.old} to judge {made.new}",
            "",
            *(f"- {line}" for line in lines(made)),
            "",
            "## What each system's metrics would shift",
            "",
            *(table if rows else ["No metric of a system rests on these anchors."]),
            "",
            "Scores by the two judges do not belong into one column.",
            "",
        ]
    )
