"""What `metassay push` takes; what it does is in sharing.py."""

import argparse
from collections.abc import Callable

ABOUT = """\
Push the tables, used answers and page of benchmarks to a DVC remote, so that others `dvc pull`
them. They hold texts: of a dataset that is credentialed or private they go only to a remote that
params.yaml > remotes allows that class. Each benchmark must be up to date: what is pushed is what
its dvc.lock names. Raw data stays here. If one may not go, nothing is pushed.
`dvc push` itself asks nobody; give DVC no default remote, and it stops without a name."""


def add_commands(
    add: Callable[..., argparse.ArgumentParser], piped: Callable[[str, str, str], object]
) -> None:
    """Add the command."""
    summary = "push tables to a DVC remote, private ones only where they may go"
    pushing = add("push", piped("push", "sharing", "push"), summary, ABOUT)
    pushing.add_argument("names", metavar="BENCHMARK", nargs="+", help="a folder of benchmarks/")
    remote = "a remote, as `dvc remote list` has it"
    pushing.add_argument("--to", metavar="REMOTE", required=True, help=remote)
