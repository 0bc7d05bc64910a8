"""What `metassay compare` takes; what it does is in compare.py."""

import argparse
from collections.abc import Callable

from metassay.core.atomic import out_file

ABOUT = """\
Hold two states of a benchmark's numbers side by side, on the documents that both have: what
regressed, what improved, the documents behind it, why, and which certificates changed.

A and B are each one of
  here       the tables in data/tables, as the last run left them (B, if it isn't given)
  accepted   what `metassay accept` accepted: benchmarks/NAME/accepted.lock
  a folder   that holds scores.parquet: data/tables/NAME of any checkout, written with a slash
  a revision of git (branch, tag, commit): its dvc.lock names the tables, which DVC's cache or
             remote has
and with --systems two systems of one state (A, or here) are compared.

  metassay compare main
  metassay compare v1 v2 --benchmark sample
  metassay compare ../base/data/tables/sample data/tables/sample
  metassay compare --benchmark sample --systems lead longest_turn

A difference is called one where a paired test on the documents shows it, adjusted for all metrics,
systems and benchmarks that are compared: docs/compare.md. The exit code is 4 if anything regressed
(never for what improved), and 3 if nothing did, but missing answers leave a verdict open, or B was
not run since its settings, code or data changed."""


def add_commands(
    add: Callable[..., argparse.ArgumentParser],
    piped: Callable[[str, str, str], Callable[[argparse.Namespace], int]],
) -> None:
    """Add `compare`; `piped` finds its command."""
    summary = "what differs between two states, or two systems, and why"
    sub = add("compare", piped("compare", "compare", "run"), summary, ABOUT)
    say = sub.add_argument
    say("sides", metavar="A B", nargs="*", help="two states; see above")
    say(
        "--benchmark",
        metavar="BENCHMARK",
        action="append",
        default=[],
        help="only this one; may be given several times (default: all that both sides have)",
    )
    say("--systems", metavar=("ONE", "OTHER"), nargs=2, help="two systems of one state")
    say("--parts", action="store_true", help="every section and facet, too (default: whole texts)")
    say("--csv", type=out_file, metavar="FILE", help="write every row as CSV; - is stdout")
    say("--md", type=out_file, metavar="FILE", help="write the comparison as Markdown")
    say(
        "--junit",
        type=out_file,
        metavar="FILE",
        help="write JUnit XML: a test per metric and system",
    )
    say(
        "--fail-on",
        choices=["regressed", "nothing"],
        default="regressed",
        help="what ends with exit code 4 (default regressed)",
    )
