"""What `metassay meta-eval` takes. What it does is imported when it is asked to do it."""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from metassay.core.errors import BadInput, meant
from metassay.core.options import SCALES
from metassay.meta_evaluation.options import MetaOptions

ABOUT = """\
Say which metric to trust, for which decision, and how sure that is. You get each metric's
correlation with people at three levels, with intervals; its pairwise accuracy beside chance; and
the raters' own agreement as the ceiling. Two files are enough; no project is needed. With RATINGS
alone you get the raters' agreement, means and standard deviations.

SCORES   doc_id, system, and one column per metric (wide); or doc_id, system, metric, value (long).
         Also judge, part.
RATINGS  doc_id, system, perhaps rater, and one column per criterion (wide); or doc_id, system,
         criterion, value (long). Also part, study.

A file is long if it has a column `metric` (RATINGS: `criterion`). The column `system` may be called
`author`. If both files lack it, one system wrote everything. Files are CSV in UTF-8 (commas,
semicolons, tabs), XLSX, JSON or Parquet. An empty cell, NaN, NA or - is missing, never 0.
An option that takes names takes several, with commas or blanks between them, and can be given
again; the first file ends the names, and so does `--`. Several files of a kind are named by
--scores and --ratings; where no column says who rated, each file of ratings is the rater's that it
is called after. docs/meta-eval.md has an example and says what each number is.

metassay meta-eval --example DIR writes a pair of files to start from."""

USAGE = (
    "metassay meta-eval [SCORES] RATINGS [options]\n"
    "       metassay meta-eval [--scores FILE ...] --ratings FILE ... [options]\n"
    "       metassay meta-eval --example DIR"
)
# An option that takes several words, and can be given again.
SEVERAL: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
PRIMARY = "the one metric named before anybody looked, which is not adjusted for the others"
CHOICES = {
    "coefficient": "the coefficient that is printed and certified; the tables have all",
    "resample": "what the tests of metric against metric exchange",
}
NUMBERS: dict[str, tuple[float, str]] = {
    "resamples": (1000, "resamples of the bootstrap; fewer where there are very many texts"),
    "permutations": (5000, "permutations that each test draws"),
    "confidence": (0.95, "confidence of the intervals; tests have 1 less this as their level"),
    "useful": (0.3, "the smallest correlation that is of use"),
    "margin": (0.05, "how far below a rater a metric may lie and still be as good"),
    "digits": (17, "digits that scores and ratings have; 12 ties what differs by rounding alone"),
    "seed": (0, "seed of all random numbers"),
}
ROLES = ("doc", "system", "rater", "strata", "cluster", "family")  # of columns, in both files
_SEVERAL = {
    "by": ("COLUMN", "slice the texts by this column; each slice is evaluated by itself too"),
    "lower": ("NAME", "metrics and criteria of which less is better"),
    "higher": ("NAME", "metrics and criteria of which more is better"),
    "neither": ("NAME", "metrics that say what a text is like, not how good"),
    "scale": (
        "CRITERION=SCALE",
        f"{', '.join(SCALES)} (default interval); or its ends, 1..5; or its grades in words,"
        " poor<fair<good",
    ),
    "compared": ("NAME", "metrics to compare with each other (default: all, if at most 12)"),
    "confound": ("COLUMN", "columns of SCORES that may explain a metric, and are not ranked"),
}
_ENDINGS = (".csv", ".tsv", ".parquet", ".xlsx", ".json", ".jsonl")


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """What the command takes."""
    sub.set_defaults(command=_meta_eval)
    sub.usage = USAGE
    say = sub.add_argument
    say("files", metavar="[SCORES] RATINGS", type=Path, nargs="*")
    for name in ("scores", "ratings"):
        what = f"where there are several files: those of {name}"
        say(f"--{name}", metavar="FILE", type=Path, **SEVERAL, help=what)
    columns = (
        f"what columns hold, where names and cells do not say it: {', '.join(ROLES)}; of one file"
        " alone: scores.doc=id; several side by side: ratings.raters=ann,ben"
    )
    say("--columns", metavar="ROLE=COLUMN", **SEVERAL, help=columns)
    say("--primary", metavar="METRIC", help=PRIMARY)
    add_names(say, [name for name in _SEVERAL if name != "neither"])
    usual = " (default %(default)s)"
    for name, what in CHOICES.items():
        field = MetaOptions.model_fields[name]
        choices = get_args(field.annotation)
        say(f"--{name}", choices=choices, default=field.default, help=what + usual)
    for name, (number, what) in NUMBERS.items():
        kind = type(number)
        say(f"--{name}", metavar="NUMBER", type=kind, default=number, help=what + usual)
    say("--out", type=Path, metavar="DIR", help="write a page and all tables there")
    say("--example", type=Path, metavar="DIR", help="write two files to start from")


def roles_in(words: Sequence[str], roles: Sequence[str]) -> dict[str, str]:
    """What `--columns` says, by role; BadInput where a word is not ROLE=COLUMN of these roles."""
    pairs = [word.partition("=") for word in words]
    wrong = [
        word
        for word, (role, _, column) in zip(words, pairs, strict=True)
        if role not in roles or not column
    ]
    if wrong:
        raise BadInput(
            f"--columns {wrong[0]}: write ROLE=COLUMN; roles are {', '.join(roles)}"
            f"{meant(wrong[0].partition('=')[0], roles)}"
        )
    return {role: column for role, _, column in pairs}


def add_names(say: Any, options: Sequence[str]) -> None:
    """Options that take names, with commas or blanks between them; see `spread`."""
    for name in options:
        metavar, what = _SEVERAL[name]
        names: dict[str, Any] = {"type": _between_commas, "action": "extend", "default": []}
        say(f"--{name}", metavar=f"{metavar},...", **names, help=what)


def spread(words: Sequence[str]) -> list[str]:
    """The words of a command line; those that take names with each in an option of its own.

    argparse would take `--lower a b scores.csv ratings.csv` for three files. Here the names of an
    option end at the next option, at `--`, or at the first file: a word with a file's ending or,
    behind the first name, a file that is there. `--lower=NAME` takes any name. Raises BadInput
    where a file stands in the place of a name.
    """
    if words[:1] not in (["meta-eval"], ["init"], ["judge-check"]):
        return list(words)
    found: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            # As a path, a file is an option to no version of argparse.
            return [*found, *(f"./{one}" if one.startswith("-") else one for one in waiting)]
        names = _names(word, waiting) if word in {f"--{name}" for name in _SEVERAL} else []
        found += [f"{word}={name}" for name in names] or [word]
        del waiting[: len(names)]
    return found


def _names(option: str, words: Sequence[str]) -> list[str]:
    names: list[str] = []
    for word in words:
        ending = Path(word).suffix.lower() in _ENDINGS
        if ending and not names:
            raise BadInput(
                f"{option}: takes names, and {word} is a file; write {option} NAME {word}"
            )
        if word.startswith("-") or ending or (names and _is_file(word)):
            break
        names.append(word)
    return names


def _meta_eval(chosen: argparse.Namespace) -> int:
    from metassay.cli.meta_eval import meta_eval

    return meta_eval(chosen)


def _between_commas(text: str) -> list[str]:
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [""])]
    if not all(names):
        raise argparse.ArgumentTypeError("a name is empty; write NAME or NAME,NAME")
    return names


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except OSError:  # too long for a file's name
        return False
