"""`metassay judge-check FILE`: the command line of `metassay.judge_check`."""

import argparse

from metassay.api.judge_check import check_sheet
from metassay.api.verdict_table import Choices
from metassay.cli.parsing import roles_in
from metassay.core.atomic import whole_folder
from metassay.core.exit_codes import DONE, WORSE
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import read_sheet


def judge_check(chosen: argparse.Namespace) -> int:
    """Print what one file says of a judge; with --out, write the page and all tables."""
    faults = Findings()
    sheet = read_sheet(chosen.file, faults)
    said = {name: value for name, value in vars(chosen).items() if name in Choices._fields}
    said |= {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
    said |= roles_in(chosen.columns, ("doc", "system", "rater"))
    said |= {"mark": "--", "require": dict(chosen.require)}
    found = check_sheet(sheet, Choices(**said), faults)
    print("\n".join(found.screen))
    if chosen.out:
        with whole_folder(chosen.out, "--out") as folder:
            found.write(folder)
        print(f"written to {chosen.out}: {', '.join(f'{name}.csv' for name in found.tables)}")
    return WORSE if found.unmet else DONE
