"""`metassay meta-eval [SCORES] RATINGS`: the command line of `metassay.meta_eval`."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from metassay.api.columns import Named
from metassay.api.eval_request import Wanted
from metassay.api.example import write_example
from metassay.api.meta_eval import Told, evaluated
from metassay.api.reading import faults_of, read_file
from metassay.cli.meta_eval_terminal import show, show_raters
from metassay.cli.terminal import say
from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput, raise_problems
from metassay.tabular.decoding import check_names
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet

ROLES = ("doc", "system", "rater", "strata", "cluster", "family")  # of columns, in both files
SETTINGS = (
    *("coefficient", "resample", "resamples", "permutations", "confidence", "useful", "margin"),
    *("digits", "seed", "primary"),
)


def meta_eval(chosen: argparse.Namespace) -> int:
    """Read, evaluate, print, and write if asked to."""
    console = Console()
    if chosen.example:
        if chosen.files or chosen.scores or chosen.ratings:
            raise BadInput("--example DIR: takes no files; it writes them")
        command = write_example(chosen.example)
        say(console, f"written to {chosen.example}: scores.csv, ratings.csv, README.md. Next:")
        say(console, f"  cd {chosen.example}\n  {command}", wrap=False)  # to be copied
        return 0
    wanted = _wanted(chosen)
    scores, ratings = _read(*_files(chosen), wanted.named)
    with ExitStack() as stack:
        folder = stack.enter_context(whole_folder(chosen.out, "--out")) if chosen.out else None
        with _progress() as told:
            found = evaluated(scores, ratings, wanted, told)
        if folder is not None:
            found.write(folder)
    if "certificates" in found.tables:
        show(dict(found.tables), found.options.confidence, console)
    else:
        show_raters(dict(found.tables), console)
    say(console, *(f"WARNING: {line}" for line in found.of_names), style="bold yellow")
    if found.of_names:
        console.print()
    say(console, *found.notes)
    if chosen.out:
        names = ", ".join(f"{name}.csv" for name in found.tables)
        say(console, f"written to {chosen.out}: {names}")
        say(console, f"page: {chosen.out / 'index.html'}", wrap=False)
    else:
        tables = "every table behind this as CSV with all digits"
        say(console, f"--out DIR writes a page, and {tables}")
    return 0


def _wanted(chosen: argparse.Namespace) -> Wanted:
    problems = [
        f"--scale {scale}: write CRITERION=SCALE, several with commas"
        for scale in chosen.scale
        if "=" not in scale
    ]
    if not _files(chosen)[0] and (chosen.compared or chosen.confound or chosen.primary):
        problems.append(
            "--compared, --confound, --primary: are about metrics; name SCORES before RATINGS"
        )
    raise_problems(problems)
    pairs = [word.partition("=") for word in chosen.columns]
    roles = {role: column for role, _, column in pairs if role in ROLES and column}
    others = tuple(word for word in chosen.columns if word.partition("=")[0] not in roles)
    return Wanted(
        Named(**roles, by=tuple(dict.fromkeys(chosen.by)), columns=others),
        {"lower": chosen.lower, "higher": chosen.higher},
        dict(scale.rpartition("=")[::2] for scale in chosen.scale),
        chosen.compared or None,
        chosen.confound,
        {name: getattr(chosen, name) for name in SETTINGS},
    )


def _files(chosen: argparse.Namespace) -> tuple[list[Path], list[Path]]:
    """The files of scores and those of ratings; one file alone is RATINGS."""
    scores, ratings, files = chosen.scores, chosen.ratings, chosen.files
    named = bool(scores or ratings)
    if named and files:
        raise BadInput(
            f"{', '.join(map(str, files))}: stands beside files that are named by --scores or"
            " --ratings; name all of them so"
        )
    if not named and not 1 <= len(files) <= 2:
        raise BadInput(
            f"meta-eval takes two files, SCORES RATINGS, or RATINGS alone; there are {len(files)}."
            " Name several of a kind by --scores FILE FILE and --ratings FILE FILE."
            " metassay meta-eval --example DIR writes a pair to start from"
        )
    if named and not ratings:
        raise BadInput("--ratings FILE: is missing; --scores names files of scores alone")
    return (scores, ratings) if named else (files[:-1], files[-1:])


def _read(
    scores: Sequence[Path], ratings: Sequence[Path], named: Named
) -> tuple[list[Sheet], list[Sheet]]:
    both = {one.resolve() for one in scores} & {one.resolve() for one in ratings}
    if both:
        raise BadInput(
            f"{min(both).name}: is given as SCORES and as RATINGS; put the columns with metrics and"
            " those with ratings in two files"
        )
    faults = Findings()
    for paths in (scores, ratings):
        check_names(paths, faults)
    problems = faults.lines()
    found = [[read_file(path, problems) for path in paths] for paths in (scores, ratings)]
    of_scores, of_ratings = ([one for one in cells if one is not None] for cells in found)
    if problems:
        for kind in (of_scores, of_ratings):
            for sheet in kind:
                problems += faults_of(sheet, scores=kind is of_scores, named=named)
        raise BadInput(problems)
    return of_scores, of_ratings


@contextmanager
def _progress() -> Iterator[Told]:
    """A bar per table on stderr, gone when done; none where stderr is no terminal."""
    console = Console(stderr=True)
    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bars:

        def told(table: str) -> Callable[[int, int], None]:
            task = bars.add_task(table, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield told
