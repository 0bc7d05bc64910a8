"""`metassay`: what the command line takes; the commands are in other modules here.

What a command needs is imported when it runs: `meta-eval` must do with the core install.
"""

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from metassay import __version__
from metassay.cli import compare_arguments as comparing
from metassay.cli import figures_arguments, sharing_arguments
from metassay.cli import init_arguments as own_project
from metassay.cli import meta_eval_arguments as meta_eval
from metassay.cli import reevaluate_arguments as reevaluating
from metassay.cli import sentinel_arguments as sentinel
from metassay.cli import study_arguments as study
from metassay.core.atomic import out_file
from metassay.core.disk import told
from metassay.core.errors import BadInput
from metassay.core.strict_yaml import located
from metassay.core.work import own

FAILED = 1
BAD_USAGE = 2
LARGEST = 2**31  # of counts, such as seconds
INTERRUPTED = 130  # as a shell says it of what Ctrl-C ended
BENCHMARK = "a folder of benchmarks/"

# What the extra `pipeline` brings, by the names that are imported.
PIPELINE = (
    *("cronsim", "dvc", "dvc_data", "httpx2", "networkx", "nltk", "openai", "prefect"),
    *("psutil", "requests", "rouge_score", "sacrebleu", "shtab", "uvicorn"),
)

ABOUT = """\
Scores generated clinical and scientific text finely, then tests every score against people.

Work happens in a project: the folder with dvc.yaml and params.yaml. A benchmark is a dataset and
the metrics, judges and systems that its own params.yaml names; its tables are versioned by DVC, so
a run repeats only what changed. `metassay init` makes a project. `metassay meta-eval` alone needs
no project: it takes two files."""

ENDING = """\
exit codes:
  0  done
  1  a stage failed, or ended unfinished since answers of a language model are missing (the others
     went on; what failed is named); figures: none could be drawn
  2  bad usage or configuration (every problem is listed at once), or what was asked for cannot
     be done
  3  every report is up to date, but answers of language models are missing in it; figures: tables
     are missing for some, which are named; compare: missing answers leave a verdict open, or there
     are more of them than before, or B was not run since its settings changed; sentinel,
     reevaluate: a judge that is watched could not be checked
  4  compare, reevaluate: a metric of a system is worse than before; reevaluate, sentinel: a judge
     that is watched answers otherwise than it did, or its model is retired
  130  interrupted; the next run goes on from there

environment:
  the variable that params.yaml > endpoints > ... > key_env names holds that endpoint's key
  METASSAY_MIRROR  a folder to take datasets from instead of their URLs; see `metassay fetch --help`
"""

FETCH = """\
Bring a dataset's files to data/raw/DATASET from the URL that data/registry.yaml gives, at the
pinned commit, and check each against its sha256. With --mirror DIR (or METASSAY_MIRROR) the files
are copied from DIR/<dataset's mirror folder>/<file> instead, for a site without internet access."""

RUN = """\
Bring the reports of the named benchmarks up to date, running only the stages whose inputs, code or
parameters changed. Stages that do not need each other run side by side. With Prefect each stage is
a task that is retried as dvc.yaml's `meta` says; --no-prefect does without its server and retries.
`dvc repro benchmarks/BENCHMARK/dvc.yaml` does the same work without this command."""

REFRESH = """\
Write code.yaml again, which holds one hash of the code behind every stage and every named metric,
judge, system and so on. DVC reruns what has another hash than before. Comments, docstrings and
layout are no part of a hash; the versions of the packages that make the numbers are, and so are
templates and prompt files. `metassay run` does this by itself; plain `dvc repro` does not."""

VALIDATE = """\
Check the params files, data/registry.yaml, the raw files and every table there is; print every
problem with its file, row and remedy in one go. Raw files that are not fetched are named."""

REPORT = """\
Render reports/BENCHMARK/index.html again from the tables that are there, and print its headline.
Where a stage before it is not up to date, it says so; `metassay run BENCHMARK` is what to run."""

COMPLETION = """\
Print what makes a shell complete commands, options, files, and in a project's folder the names of
benchmarks and datasets. docs/running.md says where the script goes."""

COST = """\
Estimate what the next `metassay run BENCHMARK` would ask of language models, per stage and model,
before anything is sent and without any network: distinct questions, those that the ledger has
answered already, tokens, and money at the prices of params.yaml. Few-shot examples and raw files
must be there (metassay fetch). Every number is an expectation, but for `at most`: that is a bound,
with every byte of a prompt a token, every answer as long as max_tokens, and every list of claims
asked for as often as it may be. Attempts that are repeated after a fault are in neither, but
max_cost caps them too: it caps what all runs of the project cost together; the last line says what
is left.
"""

PROBE = """\
Ask a judge, model or endpoint of params.yaml one question, about a made-up text, and show all that
is sent (no key) and all that comes back, what it cost, and what was read. Of a parameter that the
server refuses it says what to write instead. It really asks, within max_cost; the ledger has no
answer to it. Of an endpoint the first model is asked. A name that several blocks have is a judge
before a model before an endpoint; models.NAME and endpoints.NAME mean the others. A judge on this
machine judges, and says how long it took and whether a model had to be loaded. Exit code 1: no
sound answer came."""

LEDGER_ABOUT = """\
The ledger (.work/ledger.sqlite) holds every answer ever paid for. `stats` says what is in it, and
what was paid and saved; `export` writes it as a table `responses`; `import` adds such tables, for
example data/tables/NAME/responses of a colleague's run, so that nothing is asked again."""

Command = Callable[[argparse.Namespace], int]


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        words = sys.argv[1:] if arguments is None else arguments
        chosen = parser().parse_args(meta_eval.spread(words))
        command: Command = chosen.command
        return command(chosen)
    except BadInput as error:
        for problem in located(error.problems):
            print(problem, file=sys.stderr)
        return BAD_USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # who reads has read enough, as `metassay list | head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(told(error), file=sys.stderr)
        return FAILED


class _Parser(argparse.ArgumentParser):
    """Files may stand before, between and after options, which argparse alone does not take."""

    def parse_known_args(  # type: ignore[override] # the namespace is always ours
        self, args: list[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; words that are left over and are no options are further files."""
        chosen, rest = super().parse_known_args(args, namespace)
        if rest and hasattr(chosen, "files") and not any(one.startswith("-") for one in rest):
            chosen.files = [*chosen.files, *map(Path, rest)]
            rest = []
        return chosen, rest


def parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    raw = argparse.RawDescriptionHelpFormatter
    whole = _Parser(prog="metassay", description=ABOUT, epilog=ENDING, formatter_class=raw)
    whole.add_argument("--version", action="version", version=f"metassay {__version__}")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Command, summary: str, about: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=about, formatter_class=raw)
        sub.set_defaults(command=command)
        return sub

    def add_piped(name: str, command: str, summary: str, about: str) -> argparse.ArgumentParser:
        return add(name, _piped(name, "project", command), summary, about)

    own_project.add_commands(add, _piped)
    add_piped("list", "list_all", "show benchmarks and datasets", "Show benchmarks and datasets.")
    fetching = add_piped("fetch", "fetch_one", "bring a dataset's files, checked by sha256", FETCH)
    fetching.add_argument("name", metavar="DATASET", help="a dataset of data/registry.yaml")
    _add_mirror(fetching)
    bringing = "bring the reports of benchmarks up to date"
    running = add("run", _piped("run", "running", "run"), bringing, RUN)
    running.add_argument("names", metavar="BENCHMARK", nargs="+", help=BENCHMARK)
    running.add_argument("--jobs", type=_count, default=2, help="stages at a time (default 2)")
    failed = "ask language models again for what failed for good, too"
    running.add_argument("--ask-again", action="store_true", help=failed)
    server = running.add_mutually_exclusive_group()
    server.add_argument("--no-prefect", action="store_true", help="no Prefect server, no retries")
    telling = "report to this Prefect server: keys and numbers only (default: one of the run's own)"
    server.add_argument("--prefect-api", type=_url, metavar="URL", help=telling)
    _add_mirror(running)
    reporting = add_piped("report", "report", "render a report again", REPORT)
    reporting.add_argument("name", metavar="BENCHMARK", help=BENCHMARK)
    add_piped("validate", "validate", "check params, registry, raw files and tables", VALIDATE)
    study.add_commands(add, _piped, _count)
    comparing.add_commands(add, _piped)
    reevaluating.add_commands(add, _piped, _count, _url, _add_mirror)
    sentinel.add_commands(add, _piped, _count)
    sharing_arguments.add_commands(add, _piped)
    figures_arguments.add_commands(add, _piped)
    predicted = "estimate what the next run would ask of language models, and its price"
    costing = add("cost", _piped("cost", "ledger_commands", "cost"), predicted, COST)
    costing.add_argument("name", metavar="BENCHMARK", help=BENCHMARK)
    asking = "ask one question, and show what is sent and what comes back"
    probing = add("probe", _piped("probe", "probe", "probe"), asking, PROBE)
    what = "a name of params.yaml"
    probing.add_argument("name", metavar="JUDGE|MODEL|ENDPOINT", help=what)
    probing.add_argument("--logprobs", action="store_true", help="ask for log-probabilities, too")
    _add_ledger(add)
    meta_eval.add_commands(add)
    refresh = _piped("refresh", "refresh", "refresh_code")
    add("refresh", refresh, "bring code.yaml up to date with the code", REFRESH)
    script = _piped("completion", "completion", "completion")
    completing = add("completion", script, "let a shell complete commands and names", COMPLETION)
    completing.add_argument("shell", choices=("bash", "zsh", "fish"))
    return whole


def _add_mirror(sub: argparse.ArgumentParser) -> None:
    mirror = os.environ.get("METASSAY_MIRROR")
    sub.add_argument(
        "--mirror",
        type=Path,
        metavar="DIR",
        default=Path(mirror) if mirror else None,
        help="a local copy of the datasets, a folder per set",
    )


def _add_ledger(add: Callable[..., argparse.ArgumentParser]) -> None:
    about = "keep, share and count answers of language models"
    ledger = add("ledger", _piped("ledger", "ledger_commands", "stats"), about, LEDGER_ABOUT)
    actions = ledger.add_subparsers(required=True, metavar="ACTION")
    counting = actions.add_parser("stats", help="what is there, what was paid and saved")
    writing = actions.add_parser("export", help="write every answer as a table `responses`")
    writing.add_argument("file", metavar="FILE", type=out_file, help="- is stdout")
    reading = actions.add_parser("import", help="add the answers of tables `responses`")
    reading.add_argument("files", metavar="FILE", type=Path, nargs="+", help="or a folder of them")
    reading.add_argument(
        "--replace", action="store_true", help="where both differ, take the file's"
    )
    for sub, command in ((counting, "stats"), (writing, "export_all"), (reading, "import_all")):
        sub.set_defaults(command=_piped("ledger", "ledger_commands", command))


def _piped(name: str, module: str, command: str) -> Command:
    """A command of metassay/cli/<module>.py that needs the extra `pipeline`."""

    def run(chosen: argparse.Namespace) -> int:
        absent = [one for one in PIPELINE if importlib.util.find_spec(one) is None]
        if absent:
            raise BadInput(
                f"metassay {name} needs the extra `pipeline`, of which {', '.join(absent)}"
                f" {'is' if len(absent) == 1 else 'are'} not installed:"
                ' pip install "metassay[pipeline]"'
            )
        if Path("benchmarks").is_dir() and Path("data/registry.yaml").is_file():
            own(Path())
        # By name, so that meta-eval does with the core install.
        found: Command = getattr(importlib.import_module(f"metassay.cli.{module}"), command)
        return found(chosen)

    return run


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise argparse.ArgumentTypeError("an address such as http://localhost:4200/api")
    return text


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) < LARGEST:
        raise argparse.ArgumentTypeError("a whole number from 1")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
