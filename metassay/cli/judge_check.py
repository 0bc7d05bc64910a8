"""The command line of `metassay.judge_check`."""

import argparse
import textwrap
from pathlib import Path

from metassay.api.card_transfer import is_untold
from metassay.api.judge_check import JudgeCheck, check_sheet
from metassay.api.labels import Choices
from metassay.cli.parsing import roles_in
from metassay.cli.tool_files import propose_import
from metassay.core.atomic import whole_folder
from metassay.core.exit_codes import DONE, INCOMPLETE, WORSE
from metassay.imports.preference_table import preference_sheet
from metassay.imports.records import header_of
from metassay.imports.tools import tool_of
from metassay.tabular.column_synonyms import fold_name
from metassay.tabular.files import read_sheet
from metassay.tabular.option_words import Caller
from metassay.tabular.row_choice import parse_rows
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet


def judge_check(args: argparse.Namespace) -> int:
    """Print what a file shows of a judge; with --out, write the page and all tables."""
    named = bool(args.columns or args.judge or args.human)
    faults = Findings()
    if is_of_games(args.file):
        sheet = preference_sheet([args.file], faults)
        name_columns(args, sheet)
        return show_check(args, check_file(args, sheet, faults))
    with propose_import([args.file], named=named):
        results = check_file(args, read_sheet(args.file, faults), faults)
    return show_check(args, results)


def check_file(
    args: argparse.Namespace, sheet: Sheet | None, faults: Findings
) -> JudgeCheck:
    """Check a sheet by the options of the command; raises BadInput with all faults."""
    choices = {
        name: value for name, value in vars(args).items() if name in Choices._fields
    }
    choices |= {
        name: tuple(value) for name, value in choices.items() if isinstance(value, list)
    }
    choices |= roles_in(args.columns, ("doc", "system", "rater", "claim"))
    choices |= {"caller": Caller.TERMINAL, "require": dict(args.require)}
    choices["rows"] = parse_rows(args.rows, sheet.columns if sheet else ())
    return check_sheet(sheet, Choices(**choices), faults)


def name_columns(args: argparse.Namespace, sheet: Sheet | None) -> None:
    """Name the columns of judges and people, unless the user did."""
    columns = sheet.columns if sheet else ()
    for side in ("judge", "human"):
        if not getattr(args, side):
            names = [name for name in columns if name.split("_")[0] == side]
            setattr(args, side, names)


def is_of_games(path: Path) -> bool:
    """Whether a file has a preference per row, of a judge or person that a field names.

    A table with a column of people's preferences is read as it is.
    """
    tool, _ = tool_of(path)
    if tool is None or tool.name != "preferences":
        return False
    names, _ = header_of(path)
    return not any(fold_name(name).startswith("human") for name in names)


def show_check(args: argparse.Namespace, results: JudgeCheck) -> int:
    """Print the first screen, write what --out asks for, and return the exit code."""
    print("\n".join(results.screen))
    for note in results.further_notes:
        print(textwrap.fill(f"note: {note}", 80, subsequent_indent="  "))
    if args.out:
        with whole_folder(args.out, "--out") as folder:
            results.write(folder)
        print(
            f"written to {args.out}: {', '.join(f'{name}.csv' for name in results.tables)}"
        )
    if results.unmet:
        return WORSE
    if "transfer" in results.tables and is_untold(results.table("transfer")):
        return INCOMPLETE
    return DONE
