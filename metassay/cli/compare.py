"""The command `metassay compare`: compare two states of the numbers, print, return the exit code.

A state is the working copy, the accepted one, a folder of tables, or a revision of git.
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
from metassay.format.frames import format_csv
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
from metassay.tracking.comparison.headlines import compare_headlines
from metassay.tracking.comparison.sides import (
    FOLDER,
    HERE,
    LOCK,
    OF_ACCEPTED,
    REVISION,
    NoTables,
    State,
    state_of,
)

ROWS, LINES = 20, 8  # printed at most; files have all


def run(args: argparse.Namespace) -> int:
    """Compare, print and write what the options ask for; return the exit code."""
    files = {"--csv": args.csv, "--md": args.md, "--junit": args.junit}
    to_stdout = [option for option, file in files.items() if file and is_stdout(file)]
    if len(to_stdout) > 1:
        both = " and ".join(to_stdout)
        raise BadInput(
            f"{both}: only one output can go to stdout; name files for the others"
        )
    # Two folders of tables need no project.
    options = comparison_options(load()) if PARAMS.is_file() else ComparisonOptions()
    comparisons = (_compare_systems if args.systems else _compare_sides)(args, options)
    _write(args, comparisons)  # before printing: a reader may close the terminal's pipe
    console = Console(stderr=bool(to_stdout))  # stdout is that file's alone
    for comparison in comparisons:
        _print(comparison, console)
    return _exit_code(comparisons, args.fail_on)


def _compare_systems(
    args: argparse.Namespace, options: ComparisonOptions
) -> list[Comparison]:
    if args.before:
        raise BadInput(
            "--systems compares two systems of the state of --after; omit --before"
        )
    side = state_of(args.after)
    names = benchmarks_of([side], args.names)
    if len(names) != 1:
        raise BadInput(f"--systems: name one benchmark; there are: {', '.join(names)}")
    first, second = args.systems
    return [
        compare_systems(side.load(names[0]), first, second, options, parts=args.parts)
    ]


def _compare_sides(
    args: argparse.Namespace, options: ComparisonOptions
) -> list[Comparison]:
    before = OF_ACCEPTED if args.before is None else args.before
    sides = [state_of(before), state_of(args.after)]
    if sides[0].same_as(sides[1]):
        both = " and ".join(side.word for side in sides)
        raise BadInput(
            f"--before and --after: {both} are the same state; name two different ones"
        )
    names = benchmarks_of(sides, args.names)
    comparisons: list[Comparison] = []
    problems: list[str] = []
    for name in names:
        with collect_problems(problems):
            comparisons.append(
                _compare_benchmark(sides, name, options, args.parts, len(names))
            )
    # fewer than the user named are compared only if they say so
    if problems and comparisons:
        possible = " ".join(comparison.benchmark for comparison in comparisons)
        problems.append(
            f"`metassay compare {possible}` compares only what can be compared"
        )
    raise_problems(dict.fromkeys(problems))
    return comparisons


def _compare_benchmark(
    sides: Sequence[State],
    benchmark: str,
    options: ComparisonOptions,
    parts: bool,
    n_benchmarks: int,
) -> Comparison:
    """Compare the tables of a benchmark, or what git keeps of them where they are not there."""
    try:
        before, after = (side.load(benchmark) for side in sides)
    except NoTables:
        in_git = all(side.kind in (HERE, REVISION) for side in sides)
        before_state, after_state = sides
        comparison = None
        if in_git:
            comparison = compare_headlines(before_state, after_state, benchmark)
        if comparison is None:
            raise
        return comparison
    return compare(before, after, options, parts=parts, n_benchmarks=n_benchmarks)


def _print(comparison: Comparison, console: Console) -> None:
    changes = words.sort_changes(comparison.differences.changes)
    rows = words.rows_in_full(comparison)
    title = f"{comparison.benchmark}: {comparison.before} -> {comparison.after}"
    say(console, f"{title}: {words.verdict_counts(changes)}", wrap=False)
    if rows:
        console.print(_table(rows[:ROWS]))
    lines = _more(len(rows) - ROWS, "rows")
    lines += words.headline_lines(comparison)
    documents = words.documents_of_regressed(comparison)
    if documents:
        keys = ", ".join(
            f"{key} ({counted(count, 'row')})" for key, count in documents[:LINES]
        )
        lines += [f"documents behind regressions: {keys}"]
        lines += _more(len(documents) - LINES, "documents")
    lines += filter(None, [words.missing_answers(changes)])
    lines += [] if comparison.of_systems else words.cause_lines(comparison.causes)
    certificates = list(words.certificate_lines(comparison.certificates))
    lines += [f"certificate: {line}" for line in certificates[:LINES]]
    lines += _more(len(certificates) - LINES, "certificates", "--md FILE has")
    say(console, *lines, wrap=False)


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return a table with a row per difference, under its verdict; long names fold."""
    table = ruled(
        Column("metric", overflow="fold", ratio=1),
        Column("system", overflow="fold"),
        *map(numbers, ("before", "after", "p")),
        Column("difference", justify="right"),
    )
    for verdict, of_verdict in groupby(rows, key=itemgetter("verdict")):
        table.add_row(
            Text(verdict, style="bold red" if verdict == REGRESSED else "bold")
        )
        for row in of_verdict:
            cells = [
                words.label(row),
                row["author"],
                shown(row["before"]),
                shown(row["after"]),
            ]
            table.add_row(
                *map(
                    Text, [*cells, probability(row["p_adjusted"]), words.interval(row)]
                )
            )
        table.add_section()
    return table


def _more(n: int, what: str, where: str = "--csv FILE has") -> list[str]:
    return [f"and {n:,} more {what}: {where} all"] if n > 0 else []


def _write(args: argparse.Namespace, comparisons: Sequence[Comparison]) -> None:
    for file, text_of in ((args.csv, _csv), (args.md, words.markdown)):
        if file:
            with whole_file(file) as out:
                out.write(text_of(comparisons).encode("utf-8"))
    if args.junit:
        words.write_junit(comparisons, args.junit)


def _csv(comparisons: Sequence[Comparison]) -> str:
    first, *others = [format_csv(words.table(comparison)) for comparison in comparisons]
    return first + "".join(text.split("\n", 1)[1] for text in others)


def _exit_code(comparisons: Sequence[Comparison], fail_on: str) -> int:
    for comparison in comparisons:
        for line in words.outdated_lines(comparison):
            print(line, file=sys.stderr)
    regressed = [c.benchmark for c in comparisons if c.differences.regressed]
    if regressed:
        print(f"regressed: {', '.join(regressed)}", file=sys.stderr)
    if regressed and fail_on == "regressed":
        return WORSE
    lacking = [c.benchmark for c in comparisons if c.differences.lacking]
    if lacking:
        print(f"answers are missing: {', '.join(lacking)}", file=sys.stderr)
    untested = [c.benchmark for c in comparisons if c.untested]
    if untested:
        print(f"tables are missing: {', '.join(untested)}", file=sys.stderr)
    lacking += untested
    return INCOMPLETE if lacking or any(c.outdated[1] for c in comparisons) else DONE


def benchmarks_of(sides: Sequence[State], named: Sequence[str]) -> list[str]:
    """Return the benchmarks to compare: those named, or all with scores on every side."""
    folders = [side for side in sides if side.kind == FOLDER]
    if folders and len(set(named)) > 1:
        raise BadInput("a folder of tables has one benchmark; name only one")
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
    of_sides = {side.word: side.benchmarks() for side in sides}
    both = sorted(set.intersection(*of_sides.values()))
    if not both:
        by_side = "; ".join(
            f"{w}: {', '.join(sorted(n)) or 'none'}" for w, n in of_sides.items()
        )
        remedy = f"run one there and commit its {LOCK}"
        if any(side.kind == OF_ACCEPTED for side in sides):
            remedy = "accept one: `metassay watch accept BENCHMARK`"
        raise BadInput(f"no benchmark has scores on every side ({by_side}); {remedy}")
    return both
