"""`metassay`: find and run a command; commands.py has the arguments of each.

A command's imports are delayed until it runs: `meta-eval` must work with the core
install.
"""

import argparse
import contextlib
import gc
import importlib
import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

# Before numpy is imported: small matrices gain nothing from threads, which wait for
# each other in a loop.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from metassay import __version__
from metassay.cli.arguments import Command
from metassay.cli.commands import COMMANDS
from metassay.cli.parsing import Parser, add_arguments, spread
from metassay.core.errors import BadInput, disk_problem
from metassay.core.exit_codes import FAILED, INTERRUPTED, MEANINGS, REFUSED
from metassay.core.strict_yaml import add_lines
from metassay.core.work import restrict_work

# The packages of the extra `pipeline`, by the names that are imported.
PIPELINE = (
    "cronsim",
    "dvc",
    "dvc_data",
    "httpx2",
    "jinja2",
    "matplotlib",
    "networkx",
    "nltk",
    "openai",
    "prefect",
    "psutil",
    "requests",
    "rouge_score",
    "sacrebleu",
    "shtab",
    "uvicorn",
)

ABOUT = """\
Find out which metric or judge you can trust, for which decision: Metassay scores generated clinical
and scientific text, and tests every score against human ratings.

Without a project:
  metassay meta-eval scores.csv ratings.csv    which of my metrics can I use?
  metassay judge-check verdicts.csv            is my judge any good?
  metassay check FILE...                       one of these, whichever the files fit

With a project, a folder with params.yaml, benchmarks and reports:
  metassay init study --texts texts.csv --ratings ratings.csv
  metassay run study

A benchmark is a dataset with the metrics, judges and systems that its params.yaml names. DVC
versions its tables, so a run repeats only what changed."""

_CODES = "\n".join(f"  {code:<4} {meaning}" for code, meaning in MEANINGS.items())
ENDING = f"""\
exit codes, the same in every command:
{_CODES}

environment:
  METASSAY_MIRROR  a folder to take datasets from, as run --mirror does
  an endpoint's key is in the variable that params.yaml > endpoints > ... > key_env names"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    return end_in_order(partial(_run_command, words))


def _run_command(words: list[str]) -> int:
    if words[:1] == ["import"]:
        from metassay.cli.tool_files import check_kind  # slow

        check_kind(words)
    args = parser().parse_args(spread(words))
    args.typed = words
    code: int = args.command(args)
    return code


def end_in_order(command: Callable[[], int]) -> int:
    """Return the exit code of a command; refusals and ends before its time have one, too."""
    try:
        with _orderly_ends():
            return command()
    except BadInput as error:
        for problem in add_lines(error.problems):
            print(problem, file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader has stopped, as in `metassay list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(disk_problem(error), file=sys.stderr)
        return FAILED


@contextlib.contextmanager
def _orderly_ends() -> Iterator[None]:
    """Have signals to end do what Ctrl-C does, so that nothing half-written is left.

    `metassay run` and its like have handlers of their own, which replace these.
    """
    in_main = threading.current_thread() is threading.main_thread()
    numbers = [signal.SIGTERM, signal.SIGHUP] if in_main else []
    # not under nohup, which ignores one
    changed = [n for n in numbers if signal.getsignal(n) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    raw = argparse.RawDescriptionHelpFormatter
    root = Parser(
        prog="metassay", description=ABOUT, epilog=ENDING, formatter_class=raw
    )
    root.add_argument("--version", action="version", version=f"metassay {__version__}")
    groups = {"": root.add_subparsers(required=True, metavar="COMMAND")}
    mirror = os.environ.get("METASSAY_MIRROR")
    for words, command in COMMANDS.items():
        group, _, name = words.rpartition(" ")
        sub = groups[group].add_parser(name, help=command.summary, usage=command.usage)
        sub.description = command.about
        sub.formatter_class = raw
        add_arguments(sub, command.arguments)
        sub.set_defaults(command=partial(_run, words, command))
        if "--mirror" in command.arguments:
            sub.set_defaults(mirror=Path(mirror) if mirror else None)
        if not command.run:
            groups[words] = sub.add_subparsers(required=True, metavar="ACTION")
    return root


def _run(words: str, command: Command, args: argparse.Namespace) -> int:
    """Run `module.function` of this folder, if the packages that it needs are installed."""
    missing = [
        package for package in PIPELINE if importlib.util.find_spec(package) is None
    ]
    if missing and not command.core:
        raise BadInput(
            f"metassay {words.split(maxsplit=1)[0]} needs the extra `pipeline`, of which"
            f" {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed:"
            ' pip install "metassay[pipeline]"'
        )
    if Path("benchmarks").is_dir() and Path("data/registry.yaml").is_file():
        restrict_work(Path())
    module, _, function = command.run.partition(".")
    imported = _import_command(f"metassay.cli.{module}")
    code: int = getattr(imported, function)(args)
    return code


def _import_command(name: str) -> ModuleType:
    """Import a module without looking for garbage meanwhile.

    Imports leave none, and looking for it takes a tenth of a short command. Later, it
    is looked for less often.
    """
    if name in sys.modules:
        return sys.modules[name]
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)
        gc.enable()
