"""`metassay meta-eval [SCORES] RATINGS`: the command line of `metassay.meta_eval`."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import get_args

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from metassay.cli.meta_eval.asked import SCALES, Wanted
from metassay.cli.meta_eval.cells import Cells
from metassay.cli.meta_eval.columns import Named
from metassay.cli.meta_eval.example import write_example
from metassay.cli.meta_eval.folder import whole
from metassay.cli.meta_eval.frames import MetaEvaluation, Told, evaluated
from metassay.cli.meta_eval.raters import show_raters
from metassay.cli.meta_eval.reading import faults_of, read_file
from metassay.cli.meta_eval.terminal import show
from metassay.errors import BadInput
from metassay.meta_evaluation.options import MetaOptions

ABOUT = """\
Say which metric to trust, for which decision, and how sure that is: correlations with people at
three levels with intervals, pairwise accuracy against chance, the raters' own agreement as the
ceiling. Needs two files and no project. With RATINGS alone: the raters' agreement, means and SDs.

SCORES   doc_id, system, and one column per metric (wide); or doc_id, system, metric, value (long).
         Also judge, part.
RATINGS  doc_id, system, perhaps rater, and one column per criterion (wide); or doc_id, system,
         criterion, value (long). Also part, study.

A file is long exactly if it has a column `metric` (RATINGS: `criterion`). `author` may stand for
`system`, and both files may lack it: then one system wrote everything. Files are CSV in UTF-8, .tsv
or .parquet; an empty cell, NaN or NA is missing, never 0. Options that take names take several with
commas, and can be given again. docs/meta-eval.md has an example and says what each number is.

metassay meta-eval --example DIR writes a pair of files to start from."""

USAGE = "metassay meta-eval [SCORES] RATINGS [options]\n       metassay meta-eval --example DIR"
Add = Callable[..., argparse.ArgumentParser]
_NOT_WRITTEN = "--out FOLDER writes a page, and every table behind this as CSV with all digits"
_CHOICES = {
    "coefficient": "what is printed and certified; the tables have all",
    "resample": "what tests of one metric against another exchange",
}
_NUMBERS: dict[str, tuple[float, str]] = {
    "resamples": (1000, "of the bootstrap; fewer where there are very many texts"),
    "permutations": (5000, "of systems and documents, and of two metrics' scores, for all tests"),
    "confidence": (0.95, "of the intervals; 1 less this is the level of the tests"),
    "useful": (0.3, "the smallest correlation that is of use"),
    "margin": (0.05, "how far below a rater a metric may lie and still be as good"),
    "seed": (0, "of all random numbers"),
}
_COLUMNS = {
    "doc": "the column with documents",
    "system": "the column with systems, if it is neither `system` nor `author`",
    "rater": "the column with raters",
}
_SEVERAL = {
    "by": ("COLUMN", "slice the texts by this column; each slice is evaluated by itself too"),
    "lower": ("NAME", "metrics and criteria of which less is better"),
    "scale": ("CRITERION=SCALE", f"{', '.join(SCALES)} (default interval)"),
    "compared": ("NAME", "metrics to compare with each other (default: all, if at most 12)"),
    "confound": ("COLUMN", "columns of SCORES that may explain a metric, and are not ranked"),
}


def add_commands(add: Add) -> None:
    """Add the command to the command line."""
    new = add("meta-eval", meta_eval, "which metric to trust, from two files, no project", ABOUT)
    new.usage = USAGE
    new.add_argument("files", metavar="[SCORES] RATINGS", type=Path, nargs="*")
    usual = " (default %(default)s)"
    for name, what in _COLUMNS.items():
        default = Named._field_defaults[name]
        new.add_argument(f"--{name}", metavar="NAME", default=default, help=what + usual)
    for name, (several, what) in _SEVERAL.items():
        new.add_argument(
            f"--{name}", metavar=f"{several},...", type=_names, action="extend", help=what
        )
    for name, what in _CHOICES.items():
        field = MetaOptions.model_fields[name]
        choices = get_args(field.annotation)
        new.add_argument(f"--{name}", choices=choices, default=field.default, help=what + usual)
    for name, (number, what) in _NUMBERS.items():
        kind = type(number)
        new.add_argument(
            f"--{name}", metavar="NUMBER", type=kind, default=number, help=what + usual
        )
    new.add_argument("--out", type=Path, metavar="FOLDER", help="write a page and all tables there")
    new.add_argument("--example", type=Path, metavar="DIR", help="write two files to start from")


def meta_eval(chosen: argparse.Namespace) -> int:
    """Read, evaluate, print, and write if asked to."""
    console = Console()
    if chosen.example:
        if chosen.files:
            raise BadInput("--example DIR: takes no files; it writes them")
        command = write_example(chosen.example)
        console.print(f"written to {chosen.example}: scores.csv, ratings.csv, README.md. Next:")
        lines = f"  cd {chosen.example}\n  {command}"
        console.print(lines, markup=False, highlight=False, soft_wrap=True)  # to be copied
        return 0
    wanted = _wanted(chosen)
    scores, ratings = _both(chosen.files, wanted.named)
    with ExitStack() as stack:
        folder = stack.enter_context(whole(chosen.out)) if chosen.out else None
        with _progress() as told:
            found = evaluated(scores, ratings, wanted, told)
        if folder is not None:
            found.write(folder)
    _print(found, console)
    names = ", ".join(f"{name}.csv" for name in found.tables)
    where = f"written to {chosen.out}: {names}" if chosen.out else _NOT_WRITTEN
    console.print(where, markup=False, highlight=False)
    if chosen.out:
        page = f"page: {chosen.out / 'index.html'}"
        console.print(page, markup=False, highlight=False, soft_wrap=True)
    return 0


def _print(found: MetaEvaluation, console: Console) -> None:
    if "certificates" in found.tables:
        show(dict(found.tables), found.options.confidence, console)
    else:
        show_raters(dict(found.tables), console)
    for line in found.warnings:
        console.print(f"WARNING: {line}", markup=False, highlight=False, style="bold yellow")
    if found.warnings:
        console.print()
    for line in found.notes:
        console.print(line, markup=False, highlight=False)


def _names(text: str) -> list[str]:
    """The names between commas."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError("a name is empty; write NAME or NAME,NAME")
    return names


def _wanted(chosen: argparse.Namespace) -> Wanted:
    scales = chosen.scale or []
    problems = [
        f"--scale {one}: write CRITERION=SCALE, several with commas"
        for one in scales
        if "=" not in one
    ]
    if len(chosen.files) == 1 and (chosen.compared or chosen.confound):
        problems.append("--compared, --confound: are about metrics; name SCORES before RATINGS")
    if problems:
        raise BadInput(problems)
    return Wanted(
        Named(chosen.doc, chosen.system, chosen.rater, tuple(dict.fromkeys(chosen.by or []))),
        chosen.lower or [],
        dict(one.rpartition("=")[::2] for one in scales),
        chosen.compared,
        chosen.confound or [],
        {name: getattr(chosen, name) for name in (*_CHOICES, *_NUMBERS)},
        "--",
    )


def _both(files: Sequence[Path], named: Named) -> tuple[Cells | None, Cells]:
    """The cells of both files, or the faults of both at once; one file is RATINGS."""
    if not 1 <= len(files) <= 2:
        raise BadInput(
            f"meta-eval takes two files, SCORES RATINGS, or RATINGS alone; there are {len(files)}."
            " metassay meta-eval --example DIR writes a pair to start from"
        )
    if len(files) == 2 and all(file.exists() for file in files) and files[0].samefile(files[1]):
        raise BadInput(
            f"{files[0].name}: is given as SCORES and as RATINGS; put the columns with metrics and"
            " those with ratings in two files"
        )
    problems: list[str] = []
    found = [read_file(path, problems) for path in files]
    ratings = found[-1]
    if problems or ratings is None:
        for cells in found:
            if cells is not None:
                scores = cells is not ratings
                problems += faults_of(cells, scores=scores, named=named)
        raise BadInput(problems)
    return (found[0] if len(found) == 2 else None), ratings


@contextmanager
def _progress() -> Iterator[Told]:
    """A bar per table on stderr, gone when done; none where stderr is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bars:

        def told(table: str) -> Callable[[int, int], None]:
            task = bars.add_task(table, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield told
