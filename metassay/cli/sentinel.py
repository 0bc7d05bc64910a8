"""The command `metassay sentinel`: does a judge still answer as it did?"""

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from metassay.cli.terminal import folded
from metassay.core.exit_codes import DONE, DRIFTED, INCOMPLETE
from metassay.core.params import load
from metassay.tracking.sentinel import DriftResult, anchors
from metassay.tracking.sentinel import check as check_judges
from metassay.tracking.sentinel.checking import FixedAnchors, find_folder, watchable_judges
from metassay.tracking.sentinel.checking import fix as fix_anchors


def fix(chosen: argparse.Namespace) -> int:
    """Draw anchors, and learn how steady the judge is."""
    params = load()
    console = Console()
    for judge in watchable_judges(params, find_folder(params, chosen.name), chosen.judge):
        options = {
            name: getattr(chosen, name) for name in ("anchors", "repeats", "seed", "replace")
        }
        _say_fixed(console, fix_anchors(chosen.name, judge, **options))
    return 0


def check(chosen: argparse.Namespace) -> int:
    """Ask the anchors again, and print what came of each judge."""
    results = check_judges(Path(), chosen.name, chosen.judge)
    console = Console()
    heads = ("judge", "state", "answered", "failed", "changed", "expected", "shift", "at most")
    table = folded(*heads, title=f"{chosen.name}: judges against their anchors")
    for one in results:
        table.add_row(*map(Text, _cells(one)))
    console.print(table)
    for one in results:
        console.print(one.sentence, markup=False, soft_wrap=True, highlight=False)
    console.print(f"every check so far: {anchors.drift_file(chosen.name)}", soft_wrap=True)
    if any(one.alarm for one in results):
        return DRIFTED
    return DONE if all(one.state == "no alarm" for one in results) else INCOMPLETE


def _say_fixed(console: Console, made: FixedAnchors) -> None:
    table = folded("stored verdict", "answers", "other than stored", title=f"judge {made.judge}")
    for verdict, answers, differ in made.baseline:
        share = f"{differ} ({100 * differ / answers:.1f} %)"
        table.add_row(*map(Text, (verdict, str(answers), share)))
    console.print(table)
    spent = made.spent
    paid = f"paid at most {spent.at_most:.4f} {spent.currency}" if spent.currency else "no prices"
    line = f"{made.file}: {len(made.anchors)} questions; commit it. {spent.calls} requests, {paid}"
    console.print(line, soft_wrap=True)


def _cells(one: DriftResult) -> tuple[str, ...]:
    def shown(value: float | None, form: str = "d") -> str:
        return "" if value is None else format(value, form)

    bounds = "" if one.high is None else f"{one.high}; {one.shift_low:+d} to {one.shift_high:+d}"
    return (
        *(one.judge, one.state, f"{one.answered} of {one.anchors}", str(one.failed)),
        *(shown(one.changed), shown(one.expected, ".1f"), shown(one.shift, "+d"), bounds),
    )
