"""The command `metassay compare`: which states are meant, what is printed, the exit code."""

import argparse
import sys
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from metassay.cli.state_spec import Meant, benchmarks_of, meant
from metassay.core.atomic import is_stdout, whole_file
from metassay.core.errors import BadInput
from metassay.core.options import PARAMS
from metassay.core.params import load
from metassay.format.frames import records, to_csv
from metassay.format.numbers import counted, probability, shown
from metassay.tracking.comparison.differences import REGRESSED, Comparison, compare, compare_systems
from metassay.tracking.comparison.sides import HERE
from metassay.tracking.comparison.words import (
    SHOWN,
    cause_lines,
    certificate_lines,
    documents_of_regressed,
    interval,
    label,
    markdown,
    missing,
    ordered,
    outdated_lines,
    table,
    verdict_counts,
    write_junit,
)
from metassay.tracking.options import ComparisonOptions, comparison_options

DONE, UNFINISHED, REGRESSION = 0, 3, 4
ROWS, LINES = 20, 8  # so many are printed; files have all of them


def run(chosen: argparse.Namespace) -> int:
    """Compare, print, write what is asked for; the exit code."""
    to_stdout = _to_stdout(chosen)
    options = _options()
    compared = (_of_systems if chosen.systems else _of_sides)(chosen, Path(), options)
    _write(chosen, compared)  # first: who reads on may close the terminal's pipe
    console = Console(stderr=to_stdout)
    for one in compared:
        _print(one, console)
    return _ended(compared, chosen.fail_on)


def _to_stdout(chosen: argparse.Namespace) -> bool:
    """Whether stdout is where one of the files goes, which then has it alone."""
    files = {"--csv": chosen.csv, "--md": chosen.md, "--junit": chosen.junit}
    there = [option for option, file in files.items() if file and is_stdout(file)]
    if len(there) > 1:
        raise BadInput(f"{' and '.join(there)}: stdout has room for one; name files for the others")
    return bool(there)


def _options() -> ComparisonOptions:
    if not PARAMS.is_file():  # two folders of tables need no project
        return ComparisonOptions()
    return comparison_options(load())


def _of_systems(
    chosen: argparse.Namespace, root: Path, options: ComparisonOptions
) -> list[Comparison]:
    if len(chosen.sides) > 1:
        raise BadInput("--systems compares two systems of one state; name one, or none for here")
    side = meant(root, chosen.sides[0]) if chosen.sides else Meant(HERE, HERE)
    names = benchmarks_of(root, [side], chosen.benchmark)
    if len(names) != 1:
        raise BadInput(
            f"--systems: name its benchmark with --benchmark; there are: {', '.join(names)}"
        )
    one, other = chosen.systems
    return [compare_systems(side.load(root, names[0]), one, other, options, parts=chosen.parts)]


def _of_sides(
    chosen: argparse.Namespace, root: Path, options: ComparisonOptions
) -> list[Comparison]:
    if len(chosen.sides) not in (1, 2):
        raise BadInput(
            f"compare: {len(chosen.sides)} states are named; name two, or one to compare with what"
            " is here; or --systems ONE OTHER"
        )
    sides = [*(meant(root, word) for word in chosen.sides), Meant(HERE, HERE)][:2]
    if sides[0].same_as(sides[1]):
        words = " and ".join(side.word for side in sides)
        raise BadInput(f"{words} are the same state; name two that differ")
    names = benchmarks_of(root, sides, chosen.benchmark)
    made: list[Comparison] = []
    problems: list[str] = []
    for name in names:
        try:
            before, after = (side.load(root, name) for side in sides)
            made.append(compare(before, after, options, parts=chosen.parts, looked_at=len(names)))
        except BadInput as error:
            problems += error.problems
    if problems and made:  # never fewer than were asked for, unless their user says so
        able = " ".join(f"--benchmark {one.benchmark}" for one in made)
        problems.append(f"`{able}` compares only what can be compared")
    if problems:
        raise BadInput(dict.fromkeys(problems))
    return made


def _print(one: Comparison, console: Console) -> None:
    changes = ordered(one.differences.changes)
    rows = [row for row in records(changes) if row["verdict"] in SHOWN]
    _plain(console, f"{one.benchmark}: {one.before} -> {one.after}: {verdict_counts(changes)}")
    if rows:
        console.print(_table(rows[:ROWS]))
    _more(console, len(rows) - ROWS, "rows")
    behind = documents_of_regressed(one)
    if behind:
        keys = ", ".join(f"{key} ({counted(count, 'row')})" for key, count in behind[:LINES])
        _plain(console, f"documents behind what regressed: {keys}")
        _more(console, len(behind) - LINES, "documents")
    for line in filter(None, (missing(changes), *cause_lines(one))):
        _plain(console, line)
    certificates = list(certificate_lines(one.certificates))
    for line in certificates[:LINES]:
        _plain(console, f"certificate: {line}")
    _more(console, len(certificates) - LINES, "certificates", "--md FILE has")


def _table(rows: Sequence[dict[str, Any]]) -> RichTable:
    """A row per difference, under its verdict; names fold where there is no room."""
    made = RichTable(
        Column("metric", overflow="fold", ratio=1),
        Column("system", overflow="fold"),
        *(Column(head, justify="right", no_wrap=True) for head in ("before", "after", "p")),
        Column("difference", justify="right"),
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for verdict, some in groupby(rows, key=itemgetter("verdict")):
        made.add_row(Text(verdict, style="bold red" if verdict == REGRESSED else "bold"))
        for row in some:
            cells = [label(row), row["author"], shown(row["before"]), shown(row["after"])]
            made.add_row(*map(Text, [*cells, probability(row["p_adjusted"]), interval(row)]))
        made.add_section()
    return made


def _more(console: Console, many: int, what: str, where: str = "--csv FILE has") -> None:
    if many > 0:
        _plain(console, f"and {many:,} more {what}: {where} all")


def _plain(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _write(chosen: argparse.Namespace, compared: Sequence[Comparison]) -> None:
    if chosen.csv:
        texts = [to_csv(table(one)) for one in compared]
        _put(chosen.csv, texts[0] + "".join(text.split("\n", 1)[1] for text in texts[1:]))
    if chosen.md:
        _put(chosen.md, markdown(compared))
    if chosen.junit:
        write_junit(compared, chosen.junit)


def _put(file: Path, text: str) -> None:
    with whole_file(file) as made:
        made.write(text.encode("utf-8"))


def _ended(compared: Sequence[Comparison], fail_on: str) -> int:
    for line in (line for one in compared for line in outdated_lines(one)):
        print(line, file=sys.stderr)
    regressed = [one.benchmark for one in compared if one.differences.regressed]
    if regressed:
        print(f"regressed: {', '.join(regressed)}", file=sys.stderr)
    if regressed and fail_on == "regressed":
        return REGRESSION
    lacking = [one.benchmark for one in compared if one.differences.lacking]
    if lacking:
        print(f"answers are missing: {', '.join(lacking)}", file=sys.stderr)
    return UNFINISHED if lacking or any(one.outdated[1] for one in compared) else DONE
