"""`metassay check`: find out what files hold, say so, and answer."""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from metassay.api.labels import RANKINGS, SYSTEMS
from metassay.cli.judge_check import (
    check_file,
    is_of_games,
    name_columns,
    show_check,
)
from metassay.cli.tool_files import propose_import
from metassay.core.errors import BadInput
from metassay.imports.annotations import annotation_sheet, read_annotations
from metassay.imports.preference_table import preference_sheet
from metassay.tabular.files import read_sheet
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet

# Options that `meta-eval` takes too, by their names in the namespace.
_SHARED = ("by", "rows", "missing", "columns", "lower", "higher")
_OF_TABLES = {
    RANKINGS: "rankings of the texts of each document",
    SYSTEMS: "a leaderboard: one row per system",
}
_OF_JUDGES = ("judge", "human", "passes", "pass_from", "classes", "require", "choose")


def check(args: argparse.Namespace) -> int:
    """Answer whether scores or verdicts in files agree with people."""
    faults = Findings()
    sheet, what = _labels_of_tools(args.files, faults)
    if what:
        name_columns(args, sheet)
        results = check_file(args, sheet, faults)
        print(f"understood: {what}: {results.choices['kind']}")
        return show_check(args, results)
    if len(args.files) == 1:
        named = bool(args.columns or args.judge or args.human)
        with propose_import(args.files, named=named):
            sheet = read_sheet(args.files[0], faults)
            results = check_file(args, sheet, faults)
        kind = str(results.choices["kind"])
        what = f"a table of a judge's verdicts and people's labels: {kind}"
        print(f"understood: {_OF_TABLES.get(kind, what)}")
        return show_check(args, results)
    return _meta_eval(args)


def _labels_of_tools(
    files: Sequence[Path], faults: Findings
) -> tuple[Sheet | None, str]:
    """Read files that need no columns to be named; and say what they are, or ""."""
    annotations = [read_annotations(path) for path in files if path.stem != "prompts"]
    by_annotator = [file for file in annotations if file is not None]
    if by_annotator and len(by_annotator) == len(annotations):
        sheet = annotation_sheet(by_annotator, faults)
        return sheet, "labels by annotator and item, of people and of language models"
    if all(is_of_games(path) for path in files):
        return preference_sheet(files, faults), "preferences between two texts"
    return None, ""


def _meta_eval(args: argparse.Namespace) -> int:
    """Test scores against ratings, as `meta-eval` does with the same options."""
    from metassay.cli.main import (
        parser,
    )  # not at the top: it imports this module's table
    from metassay.cli.parsing import spread

    odd = [name for name in _OF_JUDGES if getattr(args, name)]
    if odd or len(args.files) > 2:
        names = ", ".join(map(str, args.files))
        raise BadInput(
            f"{names}: several tables are scores and ratings, as meta-eval reads them; name"
            " one table to check a judge's verdicts, or two, SCORES RATINGS, and no options"
            " of judges"
        )
    words = ["meta-eval"]
    for name in _SHARED:
        values = getattr(args, name)
        if values:
            words += [f"--{name}", *map(str, values)]
    if args.out:
        words += ["--out", str(args.out)]
    words += ["--", *map(str, args.files)]
    print(f"understood: scores and ratings: metassay {shlex.join(words)}")
    evaluated = parser().parse_args(spread(words))
    code: int = evaluated.command(evaluated)
    return code
