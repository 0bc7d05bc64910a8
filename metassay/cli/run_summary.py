"""What a run ends with: each benchmark's numbers, notes and missing answers, and the exit code."""

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from metassay.cli.terminal import folded, page
from metassay.core.params import Params
from metassay.core.stages import files_in
from metassay.format.numbers import counted
from metassay.reporting.certificates import limits_of
from metassay.reporting.headline import (
    HEADS_OF_CARDS,
    HEADS_OF_SCORES,
    answers_of,
    best_metrics,
    board,
    cards,
    notes_of,
    score_rows,
)
from metassay.reporting.names import ShownAs
from metassay.reporting.responses import HEADS, missing_cells, missing_lines

DONE, ANSWERS_MISSING = 0, 3
NARROW = 72  # columns of a terminal in which tables are folded more
NOTES_SHOWN = 3  # the rest is on the page
_FRAME = 3  # columns around a cell
_ALWAYS = 4  # heads of the table of answers that stand there whatever came of the questions


def closing(names: Iterable[str], params: Params) -> int:
    """Print the end of a run whose reports are up to date; the exit code."""
    console = Console()
    lacking = [name for name in names if _told(name, params, console)]
    if not lacking:
        return DONE
    print(
        f"every report is up to date, but answers of models are missing: {', '.join(lacking)}",
        file=sys.stderr,
    )
    return ANSWERS_MISSING


def _told(name: str, params: Params, console: Console) -> bool:
    """What one folder of benchmarks/ came to, and what to know of it.

    Returns whether answers of language models are missing.
    """
    folder = Path("data/tables") / name
    if name in params.judge_tests:
        judges = params.judge_tests[name].judges
        _cards(name, ShownAs.of(params.shown_as, [], judges), console)
    elif name in params.segment_tests:
        _scores(name, console)
    else:
        _headline(name, params, console)
    for line in _noted(notes_of(folder, files_in(params.every[name], "notes")), name):
        _plain(console, line)
    answers = answers_of(folder, files_in(params.every[name], "responses"))
    if not answers.empty:
        console.print(_answers(answers, f"{name}: answers of language models"))
    lines = missing_lines(answers)
    for line in lines:
        _plain(console, line)
    console.print(f"report: {page(name)}", soft_wrap=True)
    return bool(lines)


def _cards(name: str, shown_as: ShownAs, console: Console) -> None:
    """A row per test set and judge."""
    table = folded(*HEADS_OF_CARDS, title=f"{name}: judges beside right answers")
    for cells in cards(Path("data/tables") / name, shown_as):
        table.add_row(*map(Text, cells))
    console.print(table)


def _scores(name: str, console: Console) -> None:
    """A row per segmentation."""
    table = folded(*HEADS_OF_SCORES, title=f"{name}: segmentations beside right labels")
    for cells in score_rows(Path("data/tables") / name):
        table.add_row(*map(Text, cells))
    console.print(table)


def _headline(name: str, params: Params, console: Console) -> None:
    """The leaderboard of one benchmark, and which metrics are closest to people."""
    folder, benchmark = Path("data/tables") / name, params.benchmarks[name]
    shown_as = ShownAs.of(params.shown_as, benchmark.writers, benchmark.judges)
    title = f"{name}: mean score of the whole texts"
    for table in _leaders(*board(folder, shown_as), title, console.width):
        console.print(table)
    for line in limits_of(folder, float(params.meta_evaluation["confidence"])):
        _plain(console, line)
    best = best_metrics(folder, shown_as)
    if best:
        console.print(_trust(best, f"{name}: closest to people", narrow=console.width < NARROW))
    elif not benchmark.criteria:
        console.print("[dim]nobody rated these texts: no metric can be tested against people here")


def _plain(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False)


def _noted(notes: list[tuple[str, str]], name: str) -> Iterator[str]:
    if not notes:
        return
    yield f"{name}: {counted(len(notes), 'note')} on the data"
    yield from (f"  {stage}: {note}" for stage, note in notes[:NOTES_SHOWN])
    if len(notes) > NOTES_SHOWN:
        yield f"  and {len(notes) - NOTES_SHOWN:,} more: {page(name)}#notes"


def _answers(answers: pd.DataFrame, title: str) -> RichTable:
    """A row per stage and model; statuses that nowhere occur have no column."""
    heads, rows = [*HEADS], missing_cells(answers)
    shown = [n for n in range(len(heads)) if n < _ALWAYS or any(row[n].strip("0") for row in rows)]
    table = folded(*(heads[n] for n in shown), title=title)
    for cells in rows:
        table.add_row(*(Text(cells[n]) for n in shown))
    return table


def _leaders(
    authors: list[str], rows: list[list[str]], title: str, width: int
) -> Iterator[RichTable]:
    """Metrics by authors, as many authors side by side as there is room for."""
    first = max((len(metric) for metric, *_ in rows), default=0) + _FRAME + 1
    each = max(map(len, authors), default=0) + _FRAME
    many = max(1, (width - first) // each)
    for start in range(0, len(authors), many):
        heads = map(escape, authors[start : start + many])
        table = folded("metric", *heads, title=title)
        for metric, *values in rows:
            table.add_row(*map(Text, [metric, *values[start : start + many]]))
        yield table


def _trust(best: list[list[str]], title: str, *, narrow: bool) -> RichTable:
    """A row per decision under each criterion; names fold where there is no room, numbers don't."""
    table = RichTable(
        Column("decision", overflow="fold", max_width=11 if narrow else 15),
        Column("metric", overflow="fold", ratio=1),
        Column("correlation,\ncorrected", justify="right", no_wrap=True),
        Column("verdict", overflow="fold", max_width=14 if narrow else 24),
        title=title,
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        expand=True,
    )
    for criterion, rows in groupby(best, key=itemgetter(0)):
        table.add_row("", Text(criterion, style="bold"))
        for row in rows:
            table.add_row(*map(Text, row[1:]))
        table.add_section()
    return table
