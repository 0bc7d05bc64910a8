"""The command `metassay sentinel`: check whether a judge still answers as before."""

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


def fix(args: argparse.Namespace) -> int:
    """Draw anchors, and measure how steady the judge's answers are."""
    params = load()
    console = Console()
    for judge in watchable_judges(params, find_folder(params, args.name), args.judge):
        options = {name: getattr(args, name) for name in ("anchors", "repeats", "seed", "replace")}
        _print_baseline(console, fix_anchors(args.name, judge, **options))
    return 0


def check(args: argparse.Namespace) -> int:
    """Ask the anchors again, and print the result of each judge."""
    results = check_judges(Path(), args.name, args.judge)
    console = Console()
    heads = ("judge", "state", "answered", "failed", "changed", "expected", "shift", "at most")
    table = folded(*heads, title=f"{args.name}: judges against their anchors")
    for result in results:
        table.add_row(*map(Text, _cells(result)))
    console.print(table)
    for result in results:
        console.print(result.sentence, markup=False, soft_wrap=True, highlight=False)
    console.print(f"every check so far: {anchors.drift_file(args.name)}", soft_wrap=True)
    if any(result.alarm for result in results):
        return DRIFTED
    return DONE if all(result.state == "no alarm" for result in results) else INCOMPLETE


def _print_baseline(console: Console, fixed: FixedAnchors) -> None:
    table = folded("stored verdict", "answers", "other than stored", title=f"judge {fixed.judge}")
    for verdict, answers, differ in fixed.baseline:
        share = f"{differ} ({100 * differ / answers:.1f} %)"
        table.add_row(*map(Text, (verdict, str(answers), share)))
    console.print(table)
    spent = fixed.spent
    paid = f"paid at most {spent.at_most:.4f} {spent.currency}" if spent.currency else "no prices"
    questions = f"{fixed.file}: {len(fixed.anchors)} questions; commit it"
    console.print(f"{questions}. {spent.calls} requests, {paid}", soft_wrap=True)


def _cells(drift: DriftResult) -> tuple[str, ...]:
    def shown(value: float | None, form: str = "d") -> str:
        return "" if value is None else format(value, form)

    bounds = f"{drift.high}; {drift.shift_low:+d} to {drift.shift_high:+d}"
    return (
        *(drift.judge, drift.state, f"{drift.answered} of {drift.anchors}", str(drift.failed)),
        *(shown(drift.changed), shown(drift.expected, ".1f"), shown(drift.shift, "+d")),
        "" if drift.high is None else bounds,
    )
