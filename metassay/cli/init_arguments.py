"""What `metassay init` and `metassay upgrade` take; what they do is in init.py."""

import argparse
from collections.abc import Callable
from pathlib import Path

INIT = """\
Make a project for your own data in a new folder: params.yaml with comments, a benchmark, prompts, a
workflow for CI; git and DVC are set up. Without data it holds an invented example, which runs at
once. With --texts it is made from your spreadsheets (CSV, or a page of an XLSX workbook: that
called texts, ratings or scores, else the first), which stay as they are. What each column holds is
guessed, shown, and confirmed by one question, or by --yes; where it can't be told, an option is
asked for. Of each kind there may be several files; where no column says who rated, each file of
ratings is the rater's that it is called after.

  texts    one row per text: document, system, text, and perhaps source and reference; or one row
           per document and one column per system
  ratings  one row per rating: document, system, rater, criterion, value; or one column per
           criterion or per rater
  scores   what your own metrics gave: document, system, one column per metric; or metric, value

Data from spreadsheets are private: git ignores them. docs/own-project.md has an example."""

UPGRADE = """\
Bring the project in this folder up to date with the Metassay that is installed: dvc.yaml files,
prompts, rubrics, pinned packages, the workflow, .gitignore and code.yaml. params.yaml, the registry
and data stay; what you edited stays too, and the new version is written beside it (NAME.new). A
folder of benchmarks/ that has no dvc.yaml yet gets the one of its sort. A second time there is
nothing to do."""


def add_commands(
    add: Callable[..., argparse.ArgumentParser],
    piped: Callable[[str, str, str], Callable[[argparse.Namespace], int]],
) -> None:
    """Add `init` and `upgrade`; `piped` finds commands."""
    making = add("init", piped("init", "init", "init"), "make a project for your own data", INIT)
    say = making.add_argument
    say("folder", metavar="DIR", type=Path, help="a new or empty folder")
    for option, what in (
        ("--texts", "a spreadsheet of texts"),
        ("--ratings", "what people said about them"),
        ("--scores", "what your own metrics said about them"),
    ):
        more = f"{what} (several files: {option} again for each)"
        say(option, metavar="FILE", type=Path, action="append", help=more)
    say(
        "--columns",
        metavar="ROLE=COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="what columns hold: doc, system, text, source, reference, rater, criterion, metric,"
        " value; of texts, what belongs together: strata, cluster, family; of one file alone:"
        " ratings.doc=id; several side by side: systems=a,b (also criteria, raters, metrics); the"
        " form of names that say several things: ratings.wide={criterion}_{rater}",
    )
    say(
        "--reference", metavar="SYSTEM", help="who of the systems wrote the references ('': nobody)"
    )
    worse = "metrics and criteria of which less is better"
    say("--lower", metavar="NAME", nargs="+", action="extend", default=[], help=worse)
    say("--higher", metavar="NAME", nargs="+", action="extend", default=[], help="of which more is")
    neither = "metrics that say what a text is like, not how good"
    say("--neither", metavar="NAME", nargs="+", action="extend", default=[], help=neither)
    primary = "the one metric named before anybody looked, which is not adjusted for the others"
    say("--primary", metavar="METRIC", help=primary)
    scale = (
        "a criterion's scale, such as fluency=1..5 (default: lowest to highest value), or its"
        " grades in words, of which the first counts 1, such as fluency=poor<fair<good"
    )
    say("--scale", metavar="NAME=SCALE", nargs="+", action="extend", default=[], help=scale)
    say("--name", help="of the benchmark (default: after the folder)")
    say("--yes", action="store_true", help="confirm what is guessed, without a question")
    say("--run", action="store_true", help="make the report at once, and say where it is")
    add("upgrade", piped("upgrade", "init", "upgrade"), "bring a project up to date", UPGRADE)
