"""What a run ends with: each benchmark's numbers, notes and missing answers, and the exit code."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from metassay.cli.terminal import folded, numbers, page, ruled, say
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
    lacking = [name for name in names if _summarise(name, params, console)]
    if not lacking:
        return DONE
    print(
        f"every report is up to date, but answers of models are missing: {', '.join(lacking)}",
        file=sys.stderr,
    )
    return ANSWERS_MISSING


def _summarise(name: str, params: Params, console: Console) -> bool:
    """Print one folder's numbers and notes; returns whether answers of models are missing."""
    folder = Path("data/tables") / name
    if name in params.judge_tests:
        judges = params.judge_tests[name].judges
        rows = cards(folder, ShownAs.of(params.shown_as, [], judges))
        console.print(_filled(HEADS_OF_CARDS, rows, f"{name}: judges beside right answers"))
    elif name in params.segment_tests:
        title = f"{name}: segmentations beside right labels"
        console.print(_filled(HEADS_OF_SCORES, score_rows(folder), title))
    elif name in params.tunings:
        models = (f"data/models/{one}" for one in params.tunings[name].models)
        say(console, f"{name}: {', '.join(models)}")
    else:
        _headline(name, params, console)
    say(console, *_noted(notes_of(folder, files_in(params.every[name], "notes")), name))
    answers = answers_of(folder, files_in(params.every[name], "responses"))
    if not answers.empty:
        heads, cells = [*HEADS], missing_cells(answers)
        # A status that nowhere occurs has no column.
        used = [n for n in range(len(heads)) if n < _ALWAYS or any(c[n].strip("0") for c in cells)]
        rows = [[row[n] for n in used] for row in cells]
        title = f"{name}: answers of language models"
        console.print(_filled([heads[n] for n in used], rows, title))
    lines = missing_lines(answers)
    say(console, *lines)
    if name not in params.tunings:  # they have no page
        console.print(f"report: {page(name)}", soft_wrap=True)
    return bool(lines)


def _filled(heads: Sequence[str], rows: Iterable[Sequence[str]], title: str) -> Table:
    table = folded(*heads, title=title)
    for cells in rows:
        table.add_row(*map(Text, cells))
    return table


def _headline(name: str, params: Params, console: Console) -> None:
    folder, benchmark = Path("data/tables") / name, params.benchmarks[name]
    shown_as = ShownAs.of(params.shown_as, benchmark.writers, benchmark.judges)
    title = f"{name}: mean score of the whole texts"
    for table in _leaders(*board(folder, shown_as), title, console.width):
        console.print(table)
    say(console, *limits_of(folder, float(params.meta_evaluation["confidence"])))
    best = best_metrics(folder, shown_as)
    if best:
        console.print(_trust(best, f"{name}: closest to people", narrow=console.width < NARROW))
    elif not benchmark.criteria:
        console.print("[dim]nobody rated these texts: no metric can be tested against people here")


def _noted(notes: list[tuple[str, str]], name: str) -> Iterator[str]:
    if not notes:
        return
    yield f"{name}: {counted(len(notes), 'note')} on the data"
    yield from (f"  {stage}: {note}" for stage, note in notes[:NOTES_SHOWN])
    if len(notes) > NOTES_SHOWN:
        yield f"  and {len(notes) - NOTES_SHOWN:,} more: {page(name)}#notes"


def _leaders(authors: list[str], rows: list[list[str]], title: str, width: int) -> Iterator[Table]:
    first = max((len(metric) for metric, *_ in rows), default=0) + _FRAME + 1
    each = max(map(len, authors), default=0) + _FRAME
    many = max(1, (width - first) // each)
    for start in range(0, len(authors), many):
        heads = map(escape, authors[start : start + many])
        cells = [[metric, *values[start : start + many]] for metric, *values in rows]
        yield _filled(["metric", *heads], cells, title)


def _trust(best: list[list[str]], title: str, *, narrow: bool) -> Table:
    """A row per decision under each criterion; names fold where there is no room, numbers don't."""
    table = ruled(
        Column("decision", overflow="fold", max_width=11 if narrow else 15),
        Column("metric", overflow="fold", ratio=1),
        numbers("correlation,\ncorrected"),
        Column("verdict", overflow="fold", max_width=14 if narrow else 24),
        title=title,
        expand=True,
    )
    for criterion, rows in groupby(best, key=itemgetter(0)):
        table.add_row("", Text(criterion, style="bold"))
        for row in rows:
            table.add_row(*map(Text, row[1:]))
        table.add_section()
    return table
