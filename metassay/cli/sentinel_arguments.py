"""What `metassay sentinel` takes; what it does is in sentinel.py."""

import argparse
from collections.abc import Callable

ABOUT = """\
Watch whether an LLM judge still answers as it did. `fix` draws questions that it has answered and
asks it again, to learn how steady it is; `check` asks the same once more, past the ledger, and
raises the alarm where the answers stand out.
docs/sentinel.md explains the numbers.

Each has a small budget of its own (params.yaml > sentinel > max_cost). Texts go only where a run
may send them. Every answer is kept in the ledger."""

FIX = """\
Draw anchors of a judge's stored verdicts, equally many of each verdict, and ask each again so many
times. Keys and verdicts go to benchmarks/NAME/sentinel/, to be committed; texts stay in .work/,
which git ignores."""

CHECK = """\
Ask the anchors again and hold the answers against those of before. Adds a row per judge to
benchmarks/NAME/sentinel/drift.parquet. Exit codes: 0 no alarm, 4 alarm or a retired model, 3 where
nothing can be told (answers are missing, or params.yaml asks by another model, prompt or setting
than the anchors were answered by)."""


def add_commands(
    add: Callable[..., argparse.ArgumentParser],
    piped: Callable[[str, str, str], Callable[[argparse.Namespace], int]],
    count: Callable[[str], int],
) -> None:
    """Add `sentinel` with its actions; `piped` finds commands, `count` reads numbers from 1."""
    summary = "watch whether an LLM judge still answers as it did"
    sentinel = add("sentinel", piped("sentinel", "sentinel", "check"), summary, ABOUT)
    actions = sentinel.add_subparsers(required=True, metavar="ACTION")
    raw = argparse.RawDescriptionHelpFormatter
    fixing = actions.add_parser(
        "fix", help="draw anchors, and ask them again", description=FIX, formatter_class=raw
    )
    checking = actions.add_parser(
        "check", help="ask the anchors once more", description=CHECK, formatter_class=raw
    )
    for sub, command in ((fixing, "fix"), (checking, "check")):
        sub.add_argument("name", metavar="BENCHMARK", help="a benchmark, or a test of judges")
        sub.set_defaults(command=piped("sentinel", "sentinel", command))
    for sub, which in ((fixing, "ask a model"), (checking, "have anchors")):
        sub.add_argument("--judge", metavar="J", help=f"one judge (default: all that {which})")
    say = fixing.add_argument
    say("--anchors", type=count, default=100, metavar="N", help="questions (default 100)")
    say("--repeats", type=_few(count), default=3, metavar="R", help="times more (default 3)")
    say("--seed", type=int, default=1, metavar="S", help="draws the same anchors (default 1)")
    say("--again", action="store_true", help="draw others in place of those that are there")


def _few(count: Callable[[str], int]) -> Callable[[str], int]:
    def few(text: str) -> int:
        if count(text) > 20:
            raise argparse.ArgumentTypeError("20 at most")
        return int(text)

    return few
