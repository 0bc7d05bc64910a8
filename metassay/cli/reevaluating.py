"""The commands `watch check`, `watch schedule` and `watch accept`; flows/ does their work."""

import argparse
import os
import sys
from pathlib import Path

from metassay.cli.project import check_project
from metassay.cli.running import refresh_code_yaml, run_flows, words_of
from metassay.core.errors import collect_problems, raise_problems
from metassay.core.exit_codes import DRIFTED, INCOMPLETE, WORSE
from metassay.core.params import Params
from metassay.tracking.comparison.sides import has_scores, lock_text
from metassay.tracking.reevaluation import outcome
from metassay.tracking.reevaluation.outcome import accepted_file


def reevaluate(args: argparse.Namespace) -> int:
    """Bring benchmarks up to date and compare them with their accepted numbers."""
    _with_scores(args.names, check_project(args.names))
    # Raise BadInput before hours of work whose numbers could not be compared or stored, as after a
    # merge, or where a benchmark was renamed.
    problems: list[str] = []
    for name in args.names:
        file = accepted_file(name)
        with collect_problems(problems):
            if file.exists() and not has_scores(lock_text(file), name, str(file)):
                problems.append(
                    f"{file}: has no scores of {name}; if the benchmark was renamed,"
                    f" delete the file, `metassay run {name}` and `metassay watch accept {name}`"
                )
            outcome.load(Path(), name)
    raise_problems(problems)
    refresh_code_yaml()
    words, environment = words_of(args)
    passed_on = (INCOMPLETE, WORSE, DRIFTED)
    return run_flows(words, environment, module="flows.reevaluate", passed_on=passed_on)


def accept(args: argparse.Namespace) -> int:
    """Accept the present numbers: later ones are compared with them."""
    _with_scores(args.names, check_project(args.names))
    words = [*args.names, *(["--anyway"] if args.anyway else [])]
    return run_flows(words, dict(os.environ), module="flows.accept")


def schedule(args: argparse.Namespace) -> int:
    """Serve a schedule in place of this process: Ctrl-C must reach Prefect's runner itself."""
    _with_scores(args.names, check_project(args.names))
    when = ["--interval", str(args.interval)] if args.cron is None else ["--cron", args.cron]
    words, environment = words_of(args)
    words += [*when, "--timezone", args.timezone]
    sys.stdout.flush()
    command = [sys.executable, "-m", "flows.schedule", *words]
    os.execve(sys.executable, command, environment)


def _with_scores(names: list[str], params: Params) -> None:
    raise_problems(
        f"{Path('benchmarks', name)}: is a test, whose items have right answers; its numbers are"
        " compared with those; run it with `metassay run`"
        for name in names
        if name not in params.benchmarks
    )
