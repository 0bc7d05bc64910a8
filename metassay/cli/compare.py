"""The command `metassay compare`: two states of the numbers, what is printed, the exit code.

An option names a state: here, accepted, a folder of tables, a revision of git.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from metassay.cli.terminal import numbers, ruled, say
from metassay.core.atomic import is_stdout, whole_file
from metassay.core.errors import BadInput, collect_problems, meant, raise_problems
from metassay.core.errors import shown as quoted
from metassay.core.exit_codes import DONE, INCOMPLETE, WORSE
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import load
from metassay.format.frames import records, to_csv
from metassay.format.numbers import counted, probability, shown
from metassay.tracking.comparison.differences import REGRESSED, Comparison, compare, compare_systems
from metassay.tracking.comparison.locks import lock_text
from metassay.tracking.comparison.sides import (
    ACCEPTED,
    HERE,
    LOCK,
    TABLES,
    Side,
    commit_of,
    has_scores,
    here,
    is_repository,
    lock_at,
    locks_at,
    of_folder,
    of_lock,
    of_revision,
)
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

ROOT = Path()
ROWS, LINES = 20, 8  # so many are printed; files have all of them
OF_ACCEPTED, FOLDER, REVISION = "accepted", "folder", "revision"
FILES: Final = {HERE: LOCK, OF_ACCEPTED: ACCEPTED}  # the locks in a benchmark's folder


def run(chosen: argparse.Namespace) -> int:
    """Compare, print, write what is asked for; the exit code."""
    to_stdout = _to_stdout(chosen)
    # Two folders of tables need no project.
    options = comparison_options(load()) if PARAMS.is_file() else ComparisonOptions()
    compared = (_of_systems if chosen.systems else _of_sides)(chosen, options)
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
        words = " and ".join(side.word for side in sides)
        raise BadInput(f"--before and --after: {words} are the same state; name two that differ")
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
    changes = ordered(one.differences.changes)
    rows = [row for row in records(changes) if row["verdict"] in SHOWN]
    title = f"{one.benchmark}: {one.before} -> {one.after}: {verdict_counts(changes)}"
    say(console, title, wrap=False)
    if rows:
        console.print(_table(rows[:ROWS]))
    lines = _more(len(rows) - ROWS, "rows")
    behind = documents_of_regressed(one)
    if behind:
        keys = ", ".join(f"{key} ({counted(count, 'row')})" for key, count in behind[:LINES])
        lines += [f"documents behind regressions: {keys}"]
        lines += _more(len(behind) - LINES, "documents")
    lines += filter(None, [missing(changes)])
    lines += [] if one.of_systems else cause_lines(one.causes)
    certificates = list(certificate_lines(one.certificates))
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
            cells = [label(row), row["author"], shown(row["before"]), shown(row["after"])]
            made.add_row(*map(Text, [*cells, probability(row["p_adjusted"]), interval(row)]))
        made.add_section()
    return made


def _more(many: int, what: str, where: str = "--csv FILE has") -> list[str]:
    return [f"and {many:,} more {what}: {where} all"] if many > 0 else []


def _write(chosen: argparse.Namespace, compared: Sequence[Comparison]) -> None:
    for file, text_of in ((chosen.csv, _csv), (chosen.md, markdown)):
        if file:
            with whole_file(file) as out:
                out.write(text_of(compared).encode("utf-8"))
    if chosen.junit:
        write_junit(compared, chosen.junit)


def _csv(compared: Sequence[Comparison]) -> str:
    first, *others = [to_csv(table(one)) for one in compared]
    return first + "".join(text.split("\n", 1)[1] for text in others)


def _ended(compared: Sequence[Comparison], fail_on: str) -> int:
    for one in compared:
        for line in outdated_lines(one):
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


class State(NamedTuple):
    """A state. `of`: `here`, `accepted`, `folder` or `revision`; `commit` is that of the last."""

    word: str
    of: str
    commit: str = ""

    def load(self, benchmark: str) -> Side:
        """Its numbers of a benchmark; BadInput where there are none."""
        if self.of == HERE:
            return here(ROOT, benchmark)
        if self.of == OF_ACCEPTED:
            return of_lock(ROOT, BENCHMARKS / benchmark / ACCEPTED, benchmark, self.word)
        if self.of == FOLDER:
            return of_folder(Path(self.word))
        return of_revision(ROOT, self.word, benchmark)

    def same_as(self, other: "State") -> bool:
        """Whether both are one state."""
        if self.of == other.of == FOLDER:
            return Path(self.word).resolve() == Path(other.word).resolve()
        return (self.of, self.commit) == (other.of, other.commit)

    def benchmarks(self) -> set[str]:
        """Those that it has a lock of that names scores; not of a folder, which is of one."""
        if self.of == REVISION:
            locks = {name: lock_at(ROOT, self.word, name) for name in locks_at(ROOT, self.word)}
            said, file = f"{self.word}:", LOCK
        else:
            files = BENCHMARKS.glob(f"*/{FILES[self.of]}")
            locks = {one.parent.name: lock_text(one) for one in files}
            said, file = "", FILES[self.of]
        return {
            name
            for name, text in locks.items()
            if text and has_scores(text, name, f"{said}{BENCHMARKS / name / file}")
        }


def state_of(word: str) -> State:
    """What a word means; BadInput where that is nothing, or more than one thing."""
    commit = commit_of(ROOT, word) if is_repository(ROOT) else None
    is_folder = Path(word, "scores.parquet").is_file()
    could = [word] if word in FILES else []
    could += [FOLDER] if is_folder and word not in FILES else []
    # No revision is written with a slash at its end, or with a dot at its beginning.
    plain = not word.startswith(".") and not word.endswith("/")
    could += [REVISION] if commit and plain else []
    if len(could) > 1:
        other = "rename the branch or tag" if word in FILES else f"write ./{word}"
        raise BadInput(
            f"{quoted(word)} may be {' or '.join(could)}; write refs/heads/{word} (or"
            f" refs/tags/{word}) for the revision, or {other} for the other one"
        )
    if not could:
        raise BadInput(_nothing(word))
    return State(word, could[0], commit or "" if could[0] == REVISION else "")


def _nothing(word: str) -> str:
    if word and (BENCHMARKS / word / PARAMS.name).is_file():
        return (
            f"{quoted(word)} is a benchmark, and --before and --after name states of it: `metassay"
            f" compare {word} --before STATE`, with a git revision, a folder or `accepted`"
        )
    if word and Path(word).is_dir():
        return (
            f"{word}: the folder holds no scores.parquet; name one that does, such as"
            f" {TABLES / 'NAME'} of a checkout"
        )
    if not is_repository(ROOT):
        return (
            f"{quoted(word)} is not a folder with scores.parquet, and {Path.cwd()} is in no git"
            " repository that could have such a revision; name a folder, or run in the project"
        )
    return (
        f"{quoted(word)} is not a git revision here, and not a folder with scores.parquet; name a"
        " branch, tag or commit that `git log` knows (`git fetch` brings more, with `--unshallow`"
        " all), a folder, here or accepted"
    )


def benchmarks_of(sides: Sequence[State], named: Sequence[str]) -> list[str]:
    """The benchmarks to compare: those named, else all that have scores on every side."""
    folders = [side for side in sides if side.of == FOLDER]
    if folders and len(set(named)) > 1:
        raise BadInput("a folder of tables is of one benchmark; name no more than one")
    for name in () if folders else named:
        if (BENCHMARKS / name / PARAMS.name).is_file():
            continue
        known = set().union(*(side.benchmarks() for side in sides))
        if name not in known:
            state = f"; to compare with a state: metassay compare --before {name}"
            raise BadInput(f"no benchmark is called {quoted(name)}{meant(name, known) or state}")
    if named:
        return list(dict.fromkeys(named))
    if folders:
        return [Path(folders[-1].word).resolve().name]
    found = [side.benchmarks() for side in sides]
    both = sorted(set.intersection(*found))
    if not both:
        pairs = zip(sides, found, strict=True)
        said = "; ".join(f"{one.word}: {', '.join(sorted(has)) or 'none'}" for one, has in pairs)
        accepting = any(one.of == OF_ACCEPTED for one in sides)
        remedy = f"run one there and commit its {LOCK}"
        remedy = "accept one: `metassay watch accept BENCHMARK`" if accepting else remedy
        raise BadInput(f"no benchmark has scores on every side ({said}); {remedy}")
    return both
