"""`metassay ledger`: the costs of answers, before and after a run."""

import argparse
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Column
from rich.text import Text

from metassay.cli.project import check_project
from metassay.cli.terminal import confirm, folded, ruled
from metassay.core.atomic import is_stdout
from metassay.core.errors import BadInput
from metassay.core.params import MaxCost
from metassay.core.work import owner_alone
from metassay.datasets.clearance import dry_session
from metassay.datasets.registry import load_registry
from metassay.llm.budget import Spending, spending, spent_by_prefix
from metassay.llm.ledger import Ledger, export, import_
from metassay.llm.session import ACCOUNT, LEDGER, SENTINEL
from metassay.project import cost as plan

# Stage and model share a column, so that long names are whole on a terminal of 80 columns.
_HEADS = ("stage, model", "questions", "in ledger", "tokens read", "written", "cost")


def cost(args: argparse.Namespace) -> int:
    """Print what the next run would ask, and its cost."""
    print_cost(args.name)
    return 0


@dataclass(frozen=True)
class NextRun:
    """What the next run of `name` would ask, what was paid before it, and the cap."""

    name: str
    costs: plan.Plan
    refusals: Sequence[str]
    spent: Spending
    cap: MaxCost | None

    @property
    def open_questions(self) -> int:
        """How many questions have no answer in the ledger."""
        estimates = [row.estimate for row in self.costs.planned]
        return sum(each.calls - each.calls_in_ledger for each in estimates)

    def expected_costs(self) -> dict[str, tuple[float, float]]:
        """Return by currency the expected price and its bound."""
        prices: dict[str, tuple[float, float]] = {}
        for _, _, estimate in self.costs.planned:
            if estimate.currency is not None:
                expected, most = prices.get(estimate.currency, (0.0, 0.0))
                expected += estimate.cost or 0.0
                most += estimate.cost_at_most or 0.0
                prices[estimate.currency] = (expected, most)
        return prices


def estimate_next_run(name: str) -> NextRun:
    """Estimate all that the next run would ask; nothing is asked."""
    params, registry = check_project([name]), load_registry()
    with dry_session(params, params.data_of(name)) as session:
        if name in params.judge_tests:
            costs = plan.plan_test(params, name, registry, session)
        elif name in params.segment_tests:
            costs = plan.plan_segment_test(params, name, registry, session)
        elif name in params.tunings:
            costs = plan.Plan([], [])
        else:
            costs = plan.plan(plan.load_run(params, name, registry, session))
        spent = session.spent
    refusals: Sequence[str] = []
    if costs.planned:  # a training has no judges that could be refused
        refusals = plan.refusals(params, name, session, costs.planned)
    return NextRun(
        name=name,
        costs=costs,
        refusals=refusals,
        spent=spent,
        cap=params.max_cost,
    )


def print_cost(name: str) -> int:
    """Print what the next run would ask, and its cost; return how many questions are open."""
    next_run = estimate_next_run(name)
    print_next_run(next_run)
    return next_run.open_questions


def print_next_run(next_run: NextRun) -> None:
    """Print what the next run would ask, and its cost."""
    name, costs = next_run.name, next_run.costs
    console = Console()
    if not costs.planned:
        console.print(f"{name} asks no language model and costs nothing")
        return
    names, *others = _HEADS
    columns = [Column(head, overflow="fold") for head in others]
    # Rich takes room from columns of names last.
    by_name = Column(names, overflow="fold", no_wrap=True)
    table = ruled(by_name, *columns, title=f"{name}: questions still to ask")
    for row in costs.planned:
        table.add_row(*map(Text, _cells(row)))
    console.print(table)
    for line in _how_counted(costs.planned):
        console.print(line, soft_wrap=True)
    for note in [*costs.notes, *next_run.refusals]:
        console.print(f"note: {note}", markup=False, soft_wrap=True)
    for line in _totals(next_run):
        console.print(line, soft_wrap=True)


def confirm_price(typed: Sequence[str]) -> bool:
    """Ask once whether all of this may be asked; say so if not.

    Without a terminal, raise BadInput with the command that confirms: the words that were
    typed after `metassay`, and --yes.
    """
    refusal = [
        "the price needs a confirmation, and there is no terminal; nothing was asked."
        " To go on:",
        f"  metassay {shlex.join(typed)} --yes",
    ]
    if confirm("Ask all of this?", without_terminal=refusal):
        return True
    print("nothing was asked", file=sys.stderr)
    return False


def stats(_: argparse.Namespace) -> int:
    """Print what the ledger holds, what was paid and what it saved."""
    console = Console()
    if not LEDGER.exists():
        console.print(f"{LEDGER} does not exist: nothing was asked or imported yet")
        return 0
    with Ledger(LEDGER) as ledger:
        holdings, attempts = ledger.holdings(), ledger.attempts()
        spent = spending(ledger, ACCOUNT)
        by_sentinels = spent_by_prefix(ledger, SENTINEL)
    table = folded(
        "model", "status", "answers", "tokens read", "written", title=str(LEDGER)
    )
    for model, status, *counts in holdings:
        table.add_row(
            *map(Text, (model, status, *(f"{number:,}" for number in counts)))
        )
    console.print(table)
    codes = ", ".join(f"{code} {count:,}" for code, count in attempts.items()) or "none"
    console.print(f"requests sent, by outcome: {codes}", soft_wrap=True)
    money = f" {spent.currency}" if spent.currency else " (no prices)"
    console.print(
        f"paid: {spent.spent:.4f}{money}; with calls whose cost is not known, at most"
        f" {spent.at_most:.4f}. The ledger saved {spent.saved:.4f}, in {spent.hits:,} answers.",
        soft_wrap=True,
    )
    for currency, amount in by_sentinels.items():
        console.print(
            f"sentinels paid beside that at most {amount:.4f} {currency}",
            soft_wrap=True,
        )
    return 0


def export_all(args: argparse.Namespace) -> int:
    """Write every answer."""
    stream = sys.stderr if is_stdout(args.file) else sys.stdout
    with Ledger(LEDGER) as ledger, owner_alone():
        print(f"{args.file}: {export(ledger, args.file):,} answers", file=stream)
    return 0


def import_all(args: argparse.Namespace) -> int:
    """Add the answers of tables of responses."""
    files: list[Path] = []
    for path in args.files:
        if not path.exists():
            raise BadInput(
                f"{path} does not exist; name a table of responses, or a folder of them"
            )
        # A folder's files one by one: two stages may have asked the same.
        files += sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    with Ledger(LEDGER) as ledger:
        result = import_(ledger, files, replace=args.replace)
    line = f"{result.rows:,} answers read, {result.added:,} new, {result.same:,} known"
    if result.different:
        outcome = (
            "replaced" if args.replace else "kept (--replace takes those of the file)"
        )
        line += f", {result.different:,} that differ {outcome}"
    print(line)
    return 0


def _cells(row: plan.Planned) -> tuple[str, ...]:
    costs = row.estimate
    written = f"about {costs.completion_tokens:,}, at most {costs.completion_tokens_at_most:,}"
    money = "no prices"
    if costs.cost is not None:
        money = (
            f"about {costs.cost:.4f} {costs.currency}, at most {costs.cost_at_most:.4f}"
        )
    counts = (
        f"{costs.calls:,}",
        f"{costs.calls_in_ledger:,}",
        f"about {costs.prompt_tokens:,}",
    )
    return (f"{row.stage}\n  {row.model}", *counts, written, money)


def _how_counted(planned: Sequence[plan.Planned]) -> Iterator[str]:
    """Yield how tokens were counted: once if all stages agree, else with the stages."""
    stages: dict[str, list[str]] = {}
    for row in planned:
        stages.setdefault(row.estimate.counted, []).append(row.stage)
    for counted, names in stages.items():
        yield counted if len(stages) == 1 else f"{', '.join(names)}: {counted}"


def _totals(next_run: NextRun) -> Iterable[str]:
    cap, spent = next_run.cap, next_run.spent
    prices = next_run.expected_costs()
    for currency, (expected, most) in prices.items():
        yield f"in total about {expected:.4f} {currency}, at most {most:.4f}"
    if prices:
        yield (
            "expect the first price; the second is a bound: every answer as long as max_tokens,"
            " and asked for again as often as may be"
        )
    paid = f"{spent.spent:.4f} {spent.currency or ''}".strip()
    if spent.at_most > spent.spent:
        paid += f" (at most {spent.at_most:.4f}, with calls whose cost is not known)"
    if cap is None:
        yield (
            f"no cap: params.yaml > max_cost is null; paid by this project so far: {paid};"
            " to set one, write max_cost: {amount: 5, currency: USD}"
        )
    else:
        left = max(cap.amount - spent.at_most, 0.0)
        yield (
            f"cap: {cap.amount:g} {cap.currency} for all runs of this project together (params.yaml"
            f" > max_cost); paid so far: {paid}; left: {left:.4f}"
        )
