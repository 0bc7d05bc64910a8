"""`metassay meta-eval SCORES RATINGS`."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import get_args

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from metassay.errors import BadInput
from metassay.meta_evaluation.evaluate import Progress as Told
from metassay.meta_evaluation.evaluate import evaluate
from metassay.meta_evaluation.options import MetaOptions
from metassay.reporting.numbers import counted
from metassay.two_files.asked import SCALES, Asked, Overlap, asked, overlap
from metassay.two_files.folder import whole, write_all
from metassay.two_files.reading import Given, read_ratings, read_scores
from metassay.two_files.terminal import show

ABOUT = """\
Say which metric to trust, for which decision, and how sure that is: correlations with people at
three levels with intervals, pairwise accuracy against chance, the raters' own agreement as the
ceiling. Needs two files and no project.

SCORES   doc_id, system, and one column per metric (wide); or doc_id, system, metric, value (long).
         Also judge, part.
RATINGS  doc_id, system, perhaps rater, and one column per criterion (wide); or doc_id, system,
         criterion, value (long). Also part, study.

A file is long exactly if it has a column `metric` (RATINGS: `criterion`). `author` may stand for
`system`. Files are CSV in UTF-8, .tsv or .parquet; an empty cell, NaN or NA is missing, never 0.
docs/meta-eval.md has an example and says what each number is."""

Add = Callable[..., argparse.ArgumentParser]
_NOT_WRITTEN = "--out FOLDER writes every table behind this as CSV, with all digits"
_CHOICES = {
    "coefficient": "what is printed and certified; the tables have all",
    "resample": "what might have been others",
    "interval": "how the bootstrap makes intervals of correlations",
}
_NUMBERS: dict[str, tuple[float, str]] = {
    "resamples": (1000, "of the bootstrap; fewer where there are very many texts"),
    "permutations": (5000, "of two metrics' scores, to test them against each other"),
    "confidence": (0.95, "of the intervals"),
    "seed": (0, "of all random numbers"),
}


def add_commands(add: Add) -> None:
    """Add the command to the command line."""
    new = add("meta-eval", meta_eval, "which metric to trust, from two files, no project", ABOUT)
    new.add_argument("scores", metavar="SCORES", type=Path)
    new.add_argument("ratings", metavar="RATINGS", type=Path)
    for option, names, default, said in (
        ("--lower", "NAME", [], "metrics and criteria of which less is better"),
        ("--compared", "NAME", None, "metrics to compare with each other (default: all)"),
        ("--scale", "CRITERION=SCALE", [], f"{', '.join(SCALES)} (default interval)"),
    ):
        new.add_argument(
            option, metavar=names, nargs="+", action="extend", default=default, help=said
        )
    usual = " (default %(default)s)"
    for name, what in _CHOICES.items():
        field = MetaOptions.model_fields[name]
        choices = get_args(field.annotation)
        new.add_argument(f"--{name}", choices=choices, default=field.default, help=what + usual)
    for name, (number, what) in _NUMBERS.items():
        kind = type(number)
        new.add_argument(
            f"--{name}", metavar="NUMBER", type=kind, default=number, help=what + usual
        )
    new.add_argument("--out", type=Path, metavar="FOLDER", help="write all tables there, as CSV")


def meta_eval(chosen: argparse.Namespace) -> int:
    """Read, evaluate, print, and write if asked to."""
    scores, ratings = _both(chosen.scores, chosen.ratings)
    said = _asked(chosen, scores, ratings)
    found = overlap(scores, ratings)
    console = Console()
    with ExitStack() as stack:
        folder = stack.enter_context(whole(chosen.out)) if chosen.out else None
        with _progress() as told:
            tables = evaluate(
                scores.table, ratings.table, said.criteria, said.better, said.options, progress=told
            )
        if folder is not None:
            write_all(tables, _choices(scores, ratings, said), folder)
    show(tables, said.options.confidence, console)
    for line in _notes(scores, ratings, said, found):
        console.print(line, markup=False, highlight=False)
    names = ", ".join(f"{name}.csv" for name in tables)
    where = f"written to {chosen.out}: {names}" if chosen.out else _NOT_WRITTEN
    console.print(where, markup=False, highlight=False)
    return 0


def _both(scores: Path, ratings: Path) -> tuple[Given, Given]:
    """Both files, or the faults of both at once."""
    if scores.exists() and ratings.exists() and scores.samefile(ratings):
        raise BadInput(
            f"{scores.name}: is given as SCORES and as RATINGS; put the columns with metrics and"
            " those with ratings in two files"
        )
    problems: list[str] = []
    found = []
    for path, read in ((scores, read_scores), (ratings, read_ratings)):
        try:
            found.append(read(path))
        except BadInput as error:
            problems += error.problems
    if problems:
        raise BadInput(problems)
    return found[0], found[1]


def _asked(chosen: argparse.Namespace, scores: Given, ratings: Given) -> Asked:
    return asked(
        scores,
        ratings,
        lower=chosen.lower,
        scales=chosen.scale,
        compared=chosen.compared,
        settings={name: getattr(chosen, name) for name in (*_CHOICES, *_NUMBERS)},
    )


def _notes(scores: Given, ratings: Given, said: Asked, found: Overlap) -> Iterator[str]:
    yield (
        f"{counted(found.both, 'text')} with scores and ratings;"
        f" {found.scored_only:,} with scores only, {found.rated_only:,} with ratings only"
    )
    yield from (*scores.notes, *ratings.notes, *said.notes)


def _choices(scores: Given, ratings: Given, said: Asked) -> dict[str, object]:
    """What the numbers depend on beside the two files."""
    return {
        "scores": scores.name,
        "ratings": ratings.name,
        "better": said.better,
        "criteria": {name: one.model_dump() for name, one in said.criteria.items()},
        "options": said.options.model_dump(),
    }


@contextmanager
def _progress() -> Iterator[Callable[[str], Told]]:
    """A bar per table on stderr, gone when done; none where stderr is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bars:

        def told(table: str) -> Told:
            task = bars.add_task(table, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield told
