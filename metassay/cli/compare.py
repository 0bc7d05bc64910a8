"""The command `metassay compare`: two states of the numbers, what is printed, the exit code.

An option names a state: here, accepted, a folder of tables, a revision of git.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from metassay.cli.terminal import numbers, ruled, say
from metassay.core.atomic import is_stdout, whole_file
from metassay.core.errors import BadInput, collect_problems, hint, raise_problems
from metassay.core.errors import shown as quoted
from metassay.core.exit_codes import DONE, INCOMPLETE, WORSE
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import load
from metassay.format.frames import records, to_csv
from metassay.format.numbers import counted, probability, shown
from metassay.tracking.comparison import words
from metassay.tracking.comparison.differences import (
    REGRESSED,
    Comparison,
    ComparisonOptions,
    compare,
    compare_systems,
    comparison_options,
)
from metassay.tracking.comparison.sides import FOLDER, LOCK, OF_ACCEPTED, State, state_of

ROWS, LINES = 20, 8  # so many are printed; files have all of them


def run(chosen: argparse.Namespace) -> int:
    """Compare, print, write what is asked for; the exit code."""
    files = {"--csv": chosen.csv, "--md": chosen.md, "--junit": chosen.junit}
    there = [option for option, file in files.items() if file and is_stdout(file)]
    if len(there) > 1:
        raise BadInput(f"{' and '.join(there)}: stdout has room for one; name files for the others")
    # Two folders of tables need no project.
    options = comparison_options(load()) if PARAMS.is_file() else ComparisonOptions()
    compared = (_of_systems if chosen.systems else _of_sides)(chosen, options)
    _write(chosen, compared)  # first: who reads on may close the terminal's pipe
    console = Console(stderr=bool(there))  # stdout is that file's alone
    for one in compared:
        _print(one, console)
    return _ended(compared, chosen.fail_on)


def _of_systems(chosen: argparse.Namespace, options: ComparisonOptions) -> list[Comparison]:
    if chosen.before:
        raise BadInput("--systems compares two systems of the state of --after; omit --before")
    side = state_of(chosen.after)
    names = benchmarks_of([side], chosen.names)
    if len(names) != 1:
        raise BadInput(f"--systems: name one benchmark; there are: {', '.join(names)}")
    first, second = chosen.systems
    return [compare_systems(side.load(names[0]), first, second, options, parts=chosen.parts)]


def _of_sides(chosen: argparse.Namespace, options: ComparisonOptions) -> list[Comparison]:
    before = OF_ACCEPTED if chosen.before is None else chosen.before
    sides = [state_of(before), state_of(chosen.after)]
    if sides[0].same_as(sides[1]):
        both = " and ".join(side.word for side in sides)
        raise BadInput(f"--before and --after: {both} are the same state; name two that differ")
    names = benchmarks_of(sides, chosen.names)
    made: list[Comparison] = []
    problems: list[str] = []
    for name in names:
        with collect_problems(problems):
            before, after = (side.load(name) for side in sides)
            made.append(compare(before, after, options, parts=chosen.parts, looked_at=len(names)))
    if problems and made:  # never fewer than were asked for, unless their user says so
        able = " ".join(one.benchmark for one in made)
        problems.append(f"`metassay compare {able}` compares only what can be compared")
    raise_problems(dict.fromkeys(problems))
    return made


def _print(one: Comparison, console: Console) -> None:
    changes = words.ordered(one.differences.changes)
    rows = [row for row in records(changes) if row["verdict"] in words.SHOWN]
    title = f"{one.benchmark}: {one.before} -> {one.after}: {words.verdict_counts(changes)}"
    say(console, title, wrap=False)
    if rows:
        console.print(_table(rows[:ROWS]))
    lines = _more(len(rows) - ROWS, "rows")
    behind = words.documents_of_regressed(one)
    if behind:
        keys = ", ".join(f"{key} ({counted(count, 'row')})" for key, count in behind[:LINES])
        lines += [f"documents behind regressions: {keys}"]
        lines += _more(len(behind) - LINES, "documents")
    lines += filter(None, [words.missing(changes)])
    lines += [] if one.of_systems else words.cause_lines(one.causes)
    certificates = list(words.certificate_lines(one.certificates))
    lines += [f"certificate: {line}" for line in certificates[:LINES]]
    lines += _more(len(certificates) - LINES, "certificates", "--md FILE has")
    say(console, *lines, wrap=False)


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    """A row per difference, under its verdict; names fold where there is no room."""
    made = ruled(
        Column("metric", overflow="fold", ratio=1),
        Column("system", overflow="fold"),
        *map(numbers, ("before", "after", "p")),
        Column("difference", justify="right"),
    )
    for verdict, some in groupby(rows, key=itemgetter("verdict")):
        made.add_row(Text(verdict, style="bold red" if verdict == REGRESSED else "bold"))
        for row in some:
            cells = [words.label(row), row["author"], shown(row["before"]), shown(row["after"])]
            made.add_row(*map(Text, [*cells, probability(row["p_adjusted"]), words.interval(row)]))
        made.add_section()
    return made


def _more(many: int, what: str, where: str = "--csv FILE has") -> list[str]:
    return [f"and {many:,} more {what}: {where} all"] if many > 0 else []


def _write(chosen: argparse.Namespace, compared: Sequence[Comparison]) -> None:
    for file, text_of in ((chosen.csv, _csv), (chosen.md, words.markdown)):
        if file:
            with whole_file(file) as out:
                out.write(text_of(compared).encode("utf-8"))
    if chosen.junit:
        words.write_junit(compared, chosen.junit)


def _csv(compared: Sequence[Comparison]) -> str:
    first, *others = [to_csv(words.table(one)) for one in compared]
    return first + "".join(text.split("\n", 1)[1] for text in others)


def _ended(compared: Sequence[Comparison], fail_on: str) -> int:
    for one in compared:
        for line in words.outdated_lines(one):
            print(line, file=sys.stderr)
    regressed = [one.benchmark for one in compared if one.differences.regressed]
    if regressed:
        print(f"regressed: {', '.join(regressed)}", file=sys.stderr)
    if regressed and fail_on == "regressed":
        return WORSE
    lacking = [one.benchmark for one in compared if one.differences.lacking]
    if lacking:
        print(f"answers are missing: {', '.join(lacking)}", file=sys.stderr)
    return INCOMPLETE if lacking or any(one.outdated[1] for one in compared) else DONE


def benchmarks_of(sides: Sequence[State], named: Sequence[str]) -> list[str]:
    """The benchmarks to compare: those named, else all that have scores on every side."""
    folders = [side for side in sides if side.of == FOLDER]
    if folders and len(set(named)) > 1:
        raise BadInput("a folder of tables is of one benchmark; name no more than one")
    for name in () if folders else named:
        if not (BENCHMARKS / name / PARAMS.name).is_file():
            known = set().union(*(side.benchmarks() for side in sides))
            if name not in known:
                state = f"; to compare with a state: metassay compare --before {name}"
                close = hint(name, known) or state
                raise BadInput(f"no benchmark is called {quoted(name)}{close}")
    if named:
        return list(dict.fromkeys(named))
    if folders:
        return [Path(folders[-1].word).resolve().name]
    found = {side.word: side.benchmarks() for side in sides}
    both = sorted(set.intersection(*found.values()))
    if not both:
        said = "; ".join(
            f"{word}: {', '.join(sorted(has)) or 'none'}" for word, has in found.items()
        )
        remedy = f"run one there and commit its {LOCK}"
        if any(side.of == OF_ACCEPTED for side in sides):
            remedy = "accept one: `metassay watch accept BENCHMARK`"
        raise BadInput(f"no benchmark has scores on every side ({said}); {remedy}")
    return both
