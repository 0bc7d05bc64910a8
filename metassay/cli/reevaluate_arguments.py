"""What `metassay reevaluate`, `schedule` and `accept` take; what they do is in reevaluating.py."""

import argparse
from collections.abc import Callable

REEVALUATE = """\
Bring benchmarks up to date as `metassay run` does, and compare them with their accepted numbers
(benchmarks/NAME/accepted.lock, see `metassay accept`), document by document. Writes
reports/changes/NAME/index.html and changes.md, and adds to history/NAME. With --prefect-api an
event `metassay.regressed` is sent, too, which an automation can send on.
docs/reevaluation.md says what an alarm means, how often a false one is to be expected, and what to
do.

exit codes: 0 nothing regressed, or nothing is accepted yet; 1 a stage failed; 2 bad usage or
configuration, or the accepted tables are not to be had; 3 answers are missing, texts failed so that
a verdict is open, or a judge with anchors could not be checked; 4 something regressed, or the drift
sentinel alarmed"""

SCHEDULE = """\
Start `metassay reevaluate NAME...` by the clock, for as long as this command is left running: with
Prefect's serve, on a server of its own or on the one that --prefect-api names. Cron needs no such
command (`0 6 * * 1  cd PROJECT && metassay reevaluate NAME --no-prefect`), nor does a work pool
(prefect.yaml). What falls due while a run goes on waits for it.

examples:
  metassay schedule sample --cron "0 6 * * 1" --timezone Europe/Berlin    Mondays at 6
  metassay schedule sample --interval 86400                               every day from now"""

ACCEPT = """\
Take the numbers that are there as those that later runs are compared with: copies
benchmarks/NAME/dvc.lock to benchmarks/NAME/accepted.lock, and says what the accepted numbers move
from and to. Refuses where stages are not up to date, or answers of language models are missing.
Commit accepted.lock together with dvc.lock."""

Piped = Callable[[str, str, str], Callable[[argparse.Namespace], int]]


def add_commands(
    add: Callable[..., argparse.ArgumentParser],
    piped: Piped,
    count: Callable[[str], int],
    url: Callable[[str], str],
    mirrored: Callable[[argparse.ArgumentParser], None],
) -> None:
    """Add the three; `piped` finds commands, `count` reads numbers from 1, `url` addresses, and
    `mirrored` adds the option of a local copy of datasets."""
    summaries = {
        "accept": ("take the numbers that are there as those to compare with", ACCEPT),
        "reevaluate": ("bring benchmarks up to date, and say what regressed", REEVALUATE),
        "schedule": ("re-evaluate benchmarks by the clock", SCHEDULE),
    }
    made = {}
    for name, (summary, about) in summaries.items():
        made[name] = add(name, piped(name, "reevaluating", name), summary, about)
        made[name].add_argument(
            "names", metavar="BENCHMARK", nargs="+", help="a folder of benchmarks/"
        )
    for name in ("reevaluate", "schedule"):
        say = made[name].add_argument
        say("--jobs", type=count, default=2, help="stages at a time (default 2)")
        mirrored(made[name])
    server = made["reevaluate"].add_mutually_exclusive_group()
    server.add_argument("--no-prefect", action="store_true", help="no Prefect server, no retries")
    telling = "report to this Prefect server: keys and numbers only (default: one of the run's own)"
    server.add_argument("--prefect-api", type=url, metavar="URL", help=telling)
    say = made["schedule"].add_argument
    when = made["schedule"].add_mutually_exclusive_group(required=True)
    when.add_argument("--cron", metavar="CRON", help='five fields: "0 6 * * 1" is Mondays at 6')
    when.add_argument("--interval", type=count, metavar="SECONDS", help="from now on")
    say("--timezone", default="UTC", metavar="ZONE", help="of --cron (default UTC)")
    say("--prefect-api", type=url, metavar="URL", help="serve it on this Prefect server")
    anyway = "although stages are not up to date, or answers are missing"
    made["accept"].add_argument("--anyway", action="store_true", help=anyway)
