"""`metassay`: what the command line takes; what commands do is in other modules here.

What a command needs is imported when it runs: `meta-eval` must do with the core install.
"""

import argparse
import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from metassay import __version__
from metassay.cli import importing, judge_check
from metassay.cli import meta_eval_arguments as meta_eval
from metassay.cli.parsing import Parser, count, few, formats, renamed, seed, url
from metassay.core.atomic import out_file
from metassay.core.disk import told
from metassay.core.errors import BadInput
from metassay.core.exit_codes import FAILED, INTERRUPTED, MEANINGS, REFUSED
from metassay.core.strict_yaml import located
from metassay.core.work import own
from metassay.paper_figures import FORMATS, NAMES
from metassay.studies import FORM_NAMES
from metassay.studies import FORMATS as SHEET_FORMATS

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

ENDING = "\n".join(
    [
        "exit codes, the same in every command:",
        *(f"  {code:<4} {meaning}" for code, meaning in MEANINGS.items()),
        "",
        "environment:",
        "  METASSAY_MIRROR  a folder to take datasets from, as run --mirror does",
        "  an endpoint's key is in the variable that params.yaml > endpoints > ... > key_env names",
    ]
)

# The description of each command, and of its actions.
ABOUT_COMMANDS = {
    "init": """\
Make a project for your own data in a new folder: params.yaml with comments, a benchmark, prompts, a
workflow for CI; git and DVC are set up. Without data it holds an invented example, which runs at
once. With --texts it is made from your spreadsheets (CSV, or a page of an XLSX workbook: that
called texts, ratings or scores, else the first), which stay as they are. What each column holds is
guessed, shown, and confirmed by one question, or by --yes; where it can't be told, an option is
asked for. Of each kind there may be several files; where no column says who rated, each file of
ratings is the rater's that it is called after.

  texts    one row per text: document, system, text, and perhaps source and reference; or one row
           per document and one column per system
  ratings  one row per rating: document, system, rater, criterion, value; or one column per
           criterion or per rater
  scores   what your own metrics gave: document, system, one column per metric; or metric, value

Data from spreadsheets are private: git ignores them. docs/own-data.md has an example.""",
    "update": """\
Bring the files in this folder that Metassay writes up to date with the Metassay that is installed:
dvc.yaml files, prompts, rubrics, pinned packages, the workflow, .gitignore and code.yaml.
params.yaml, the registry and data stay. What you edited stays too, and the new version is written
beside it (NAME.new). A folder of benchmarks/ that has no dvc.yaml yet gets the one of its sort. A
second time there is nothing to do.

code.yaml holds one hash of the code behind every stage and every named metric, judge, system and
so on; DVC reruns what has another hash than before. Comments, docstrings and layout are no part of
a hash; the versions of the packages that make the numbers are, and so are templates and prompt
files. `metassay run` brings it up to date by itself; plain `dvc repro` does not.""",
    "list": "Show benchmarks and datasets.",
    "run": """\
Bring the reports of the named benchmarks up to date, running only the stages whose inputs, code or
parameters changed. Stages that do not need each other run side by side. With Prefect each stage is
a task that is retried as dvc.yaml's `meta` says; --no-prefect does without its server and retries.
`dvc repro benchmarks/BENCHMARK/dvc.yaml` does the same work without this command.

--only fetch brings the files of their datasets, or of a dataset that is named instead of a
benchmark, to data/raw/DATASET and does nothing else: from the URL that data/registry.yaml gives, at
the pinned commit, each checked against its sha256. With --mirror DIR (or METASSAY_MIRROR) they are
copied from DIR/<dataset's mirror folder>/<file> instead, for a site without internet access.
--only report renders reports/BENCHMARK/index.html again from the tables that are there. It refuses
where a stage before the report is not up to date.

--dask ADDRESS has the workers of a Dask cluster do the work of stages whose pieces do not need each
other, with the same bytes (docs/integrations.md); it goes before params.yaml > executor.""",
    "show": """\
List the tables of a benchmark, of a test of judges or of segmentations, or print one of them:
`trust` has the metric closest to people by each criterion and for each decision, `means` the
systems' mean scores, `notes` what stages noted of the data, `answers` what language models were
asked; all others are those of docs/tables.md. Columns that may hold texts are left out.""",
    "validate": """\
Check the params files, data/registry.yaml, the raw files and every table there is; print every
problem with its file, row and remedy in one go. Raw files that are not fetched are named.""",
    "study": """\
A study with people: `export` writes a sheet for each rater, `import` reads the sheets back and
writes studies/BENCHMARK/NAME/ratings.csv, which the benchmark's params.yaml then names.
docs/studies.md goes through one from sheet to certificate.""",
    "study export": """\
Write blinded sheets to studies/BENCHMARK/NAME/sheets, one per rater, each in an order of its own,
and what unblinds them to key.json beside that folder. Never send key.json to a rater, nor the seed.
The same seed and the same tables give the same sheets. Texts come from data/tables/BENCHMARK, as
the last run left them; git ignores the whole folder but ratings.csv.

forms:
  claims    is each claim of the reference covered by the text? (--claims output: the reverse)
  pairs     which of two texts of one document is better? (--shares: and how much does each cover?)
  rubric    the criteria of rubrics/NAME.yaml, one column each (--rubric NAME)
  elements  each element of each sentence: correct, incorrect, missing, not in the notes
  facets    each facet against the reference's, whether it was found rightly, the text as a whole
  facts     each fact of a text: correct, incorrect, hallucinated; how many does the text leave out?

formats: xlsx and csv are sheets; label_studio is a project per rater (its tasks and interface)""",
    "study import": """\
Read sheets that came back (rows in any order), or exports of Label Studio (JSON), hold them against
what was sent out, and write ratings.csv and comments.csv beside the key. Every problem is named at
once with file, row, column and remedy, and then nothing is written. Empty cells are missing
ratings, which is allowed; a row that is not there is a problem, unless --partial is given. A later
import replaces an earlier one: name all sheets each time.""",
    "compare": """\
Compare two states of the named benchmarks (default: of all that both states have), on the documents
that both have: what regressed, what improved, the documents behind it, why, and which certificates
changed. --before and --after name a state each:

  here       the tables in data/tables, as the last run left them (the default of --after)
  accepted   what `metassay watch accept` accepted: benchmarks/NAME/accepted.lock (the default of
             --before)
  a folder   that holds scores.parquet: data/tables/NAME of any checkout, written with a slash
  a revision of git (branch, tag, commit): its dvc.lock names the tables, which DVC's cache or
             remote has

--systems compares two systems of the state that --after names instead.

  metassay compare --before main
  metassay compare sample --before v1 --after v2
  metassay compare --before ../base/data/tables/sample --after data/tables/sample
  metassay compare sample --systems lead longest_turn

A difference is called one where a paired test on the documents shows it, adjusted for all metrics,
systems and benchmarks that are compared: docs/weekly.md. The exit code is 4 if anything regressed
(never for what improved), and 3 if nothing did, but missing answers leave a verdict open, or the
state of --after was not run since its settings, code or data changed.""",
    "watch": """\
Watch the numbers of benchmarks over time: accept those that are there, check later ones against
them, by hand or by the clock.""",
    "watch accept": """\
Accept the numbers that are there: later checks compare with them. Copies benchmarks/NAME/dvc.lock
to benchmarks/NAME/accepted.lock, and says what the accepted numbers move from and to. Refuses where
stages are not up to date, or answers of language models are missing. Commit accepted.lock together
with dvc.lock.""",
    "watch check": """\
Bring benchmarks up to date as `metassay run` does, and compare them with their accepted numbers
(benchmarks/NAME/accepted.lock, see `metassay watch accept`), document by document. Writes
reports/changes/NAME/index.html and changes.md, and adds to history/NAME. With --prefect-api an
event `metassay.regressed` is sent, too, which an automation can send on. Exits with 0, too, where
nothing is accepted yet. docs/weekly.md says what an alarm means, how often a false one is to
be expected, and what to do.""",
    "watch schedule": """\
Start `metassay watch check NAME...` by the clock, for as long as this command is left running: with
Prefect's serve, on a server of its own or on the one that --prefect-api names. Cron needs no such
command (`0 6 * * 1  cd PROJECT && metassay watch check NAME --no-prefect`), nor does a work pool
(prefect.yaml). What falls due while a run goes on waits for it.

examples:
  metassay watch schedule sample --cron "0 6 * * 1" --timezone Europe/Berlin  Mondays at 6
  metassay watch schedule sample --interval 86400        every day from now""",
    "sentinel": """\
Watch whether an LLM judge still answers as it did. `fix` draws questions that it has answered and
asks it again, to learn how steady it is; `check` asks the same once more, past the ledger, and
raises the alarm where the answers stand out.
docs/weekly.md explains the numbers.

Each has a small budget of its own (params.yaml > sentinel > max_cost). Texts go only where a run
may send them. Every answer is kept in the ledger.""",
    "sentinel fix": """\
Draw anchors of a judge's stored verdicts, equally many of each verdict, and ask each again so many
times. Keys and verdicts go to benchmarks/NAME/sentinel/, to be committed; texts stay in .work/,
which git ignores.""",
    "sentinel check": """\
Ask the anchors again and hold the answers against those of before. Adds a row per judge to
benchmarks/NAME/sentinel/drift.parquet. Exits with 5 where a judge answers differently or its model
is retired, with 3 where nothing can be told: answers are missing, or params.yaml asks by another
model, prompt or setting than the anchors were answered by.""",
    "push": """\
Push the tables, used answers and page of benchmarks to a DVC remote, so that others `dvc pull`
them. They hold texts: of a dataset that is credentialed or private they go only to a remote that
params.yaml > remotes allows that class. Each benchmark must be up to date: what is pushed is what
its dvc.lock names. Raw data stays here. If one may not go, nothing is pushed.
`dvc push` itself asks nobody; give DVC no default remote, and it stops without a name.

--to mlflow:URL and --to wandb:PROJECT send no tables, but the names and numbers of headline.json
alone: no text, whatever the dataset's class. docs/integrations.md says which.""",
    "figures": """\
Draw tables and figures of papers from the tables of benchmarks, ours beside what was printed, into
reports/figures/PAPER/. Only those are drawn whose numbers, record or code changed; nothing else is
run. What can be drawn is; what lacks a table is named with the command that makes it, what reads a
damaged one with what is wrong, and the exit code is 3 then (1 if nothing at all could be drawn).
docs/figures.md lists all of them, those that are open too. A paper all of whose tables are there is
drawn by its stage of dvc.yaml, so that dvc.lock says from which tables. With --format the folder
has files of these formats alone, and dvc.lock stays as it is.""",
    "ledger cost": """\
Estimate what the next `metassay run BENCHMARK` would ask of language models, per stage and model,
before anything is sent and without any network: distinct questions, those that the ledger has
answered already, tokens, and money at the prices of params.yaml. Few-shot examples and raw files
must be there (metassay run BENCHMARK --only fetch). Every number is an expectation, but for `at
most`: that is a bound, with every byte of a prompt a token, every answer as long as max_tokens, and
every list of claims asked for as often as it may be. Attempts that are repeated after a fault are
in neither, but max_cost caps them too: it caps what all runs of the project cost together; the last
line says what is left.
""",
    "probe": """\
Ask a judge, model or endpoint of params.yaml one question, about a made-up text, and show all that
is sent (no key) and all that comes back, what it cost, and what was read. Of a parameter that the
server refuses it says what to write instead. It really asks, within max_cost; the ledger has no
answer to it. Of an endpoint the first model is asked. A name that several blocks have is a judge
before a model before an endpoint; models.NAME and endpoints.NAME mean the others. A judge on this
machine judges, and says how long it took and whether a model had to be loaded. Exit code 1: no
sound answer came.""",
    "ledger": """\
The ledger (.work/ledger.sqlite) holds every answer ever paid for. `cost` estimates what the next
run would ask, and its price; `stats` says what is in the ledger, what was paid and saved; `export`
writes it as a table `responses`; `import` adds such tables, for example
data/tables/NAME/responses of a colleague's run, so that nothing is asked again.""",
    "completion": """\
Print what makes a shell complete commands, options, files, and in a project's folder the names of
benchmarks and datasets. docs/index.md says where the script goes.""",
}

# Arguments that several commands take.
BENCHMARK: dict[str, Any] = {"metavar": "BENCHMARK", "help": "a folder of benchmarks/"}
FLAG: dict[str, Any] = {"action": "store_true"}
CSV: dict[str, Any] = {"type": out_file, "metavar": "FILE"}
CSV["help"] = "write every row as CSV; - is stdout"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        words = sys.argv[1:] if arguments is None else arguments
        if line := renamed(words):
            raise BadInput(line)
        chosen = parser().parse_args(meta_eval.spread(words))
        code: int = chosen.command(chosen)
        return code
    except BadInput as error:
        for problem in located(error.problems):
            print(problem, file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # who reads has read enough, as `metassay list | head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(told(error), file=sys.stderr)
        return FAILED


def parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    raw = argparse.RawDescriptionHelpFormatter
    whole = Parser(prog="metassay", description=ABOUT, epilog=ENDING, formatter_class=raw)
    whole.add_argument("--version", action="version", version=f"metassay {__version__}")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    _add_project(commands)
    _add_study(commands)
    _add_compare(commands)
    _add_watch(commands)
    _add_sentinel(commands)
    summary = "push tables to a DVC remote, or headline numbers to MLflow or W&B"
    say = _add(commands, "push", "sharing.push", summary).add_argument
    say("names", nargs="+", **BENCHMARK)
    remote = "a remote, as `dvc remote list` has it; or mlflow:URL, wandb:PROJECT: numbers alone"
    say("--to", metavar="REMOTE", required=True, help=remote)
    summary = "draw figures and tables of papers"
    say = _add(commands, "figures", "figures.figures", summary).add_argument
    say("--paper", choices=NAMES, action="append", help="which (default: all; may repeat)")
    only = "only files of these formats (default: all)"
    say("--format", type=formats, metavar=",".join(FORMATS), help=only)
    _add_models(commands)
    about = meta_eval.ABOUT
    summary = "which metric to trust, from two files, no project"
    sub = commands.add_parser("meta-eval", help=summary, description=about, formatter_class=raw)
    meta_eval.add_arguments(sub)
    about, summary = judge_check.ABOUT, "is my judge any good: from one table, no project"
    sub = commands.add_parser("judge-check", help=summary, description=about, formatter_class=raw)
    judge_check.add_arguments(sub)
    importing.add_parser(commands)
    summary = "let a shell complete commands and names"
    say = _add(commands, "completion", "completion.completion", summary).add_argument
    say("shell", choices=("bash", "zsh", "fish"))
    return whole


def _add(group: Any, name: str, function: str, summary: str) -> argparse.ArgumentParser:
    """A command that needs the extra `pipeline`: `module.function` of this folder."""
    sub: argparse.ArgumentParser = group.add_parser(name, help=summary)
    words = sub.prog.removeprefix("metassay ")
    if words in ABOUT_COMMANDS:
        sub.description = ABOUT_COMMANDS[words]
        sub.formatter_class = argparse.RawDescriptionHelpFormatter

    def run(chosen: argparse.Namespace) -> int:
        absent = [package for package in PIPELINE if importlib.util.find_spec(package) is None]
        if absent:
            raise BadInput(
                f"metassay {words.split()[0]} needs the extra `pipeline`, of which"
                f" {', '.join(absent)} {'is' if len(absent) == 1 else 'are'} not installed:"
                ' pip install "metassay[pipeline]"'
            )
        if Path("benchmarks").is_dir() and Path("data/registry.yaml").is_file():
            own(Path())
        module, _, attribute = function.partition(".")
        command = getattr(importlib.import_module(f"metassay.cli.{module}"), attribute)
        code: int = command(chosen)
        return code

    sub.set_defaults(command=run)
    return sub


def _add_group(commands: Any, name: str, summary: str) -> Any:
    group = _add(commands, name, "", summary)
    return group.add_subparsers(required=True, metavar="ACTION")


def _add_project(commands: Any) -> None:
    say = _add(commands, "init", "init.init", "make a project for your own data").add_argument
    say("folder", metavar="DIR", type=Path, help="a new or empty folder")
    for option, what in (
        ("--texts", "a spreadsheet of texts"),
        ("--ratings", "what people said about them"),
        ("--scores", "what your own metrics said about them"),
    ):
        say(option, metavar="FILE", type=Path, **meta_eval.SEVERAL, help=f"{what}, or several")
    columns = (
        "what columns hold: doc, system, text, source, reference, rater, criterion, metric,"
        " value; of texts, what belongs together: strata, cluster, family; of one file alone:"
        " ratings.doc=id; several side by side: systems=a,b (also criteria, raters, metrics); the"
        " form of names that say several things: ratings.wide={criterion}_{rater}"
    )
    say("--columns", metavar="ROLE=COLUMN", **meta_eval.SEVERAL, help=columns)
    wrote = "who of the systems wrote the references ('': nobody)"
    say("--reference", metavar="SYSTEM", help=wrote)
    meta_eval.add_names(say, ("lower", "higher", "neither", "scale"))
    say("--primary", metavar="METRIC", help=meta_eval.PRIMARY)
    say("--name", help="of the benchmark (default: after the folder)")
    say("--yes", **FLAG, help="confirm what is guessed, without a question")
    say("--run", **FLAG, help="make the report at once, and say where it is")
    summary = "bring the files that Metassay writes up to date"
    _add(commands, "update", "init.update", summary)
    say = _add(commands, "list", "project.listing", "show benchmarks and datasets").add_argument
    described = "instead, describe each dataset by a Croissant 1.0 file in this new folder"
    say("--croissant", type=Path, metavar="DIR", help=described)
    running = _add(commands, "run", "running.run", "bring the reports of benchmarks up to date")
    say = running.add_argument
    say("names", nargs="+", **BENCHMARK)
    _add_jobs(running)
    alone = "do this alone: bring the datasets' files, or render the reports again"
    say("--only", choices=("fetch", "report"), help=alone)
    say("--ask-again", **FLAG, help="ask language models again for what failed for good, too")
    _add_server(running)
    _add_mirror(running)
    where = "have the workers of this scheduler do the work (tcp://HOST:8786), or `local`"
    running.add_argument("--dask", metavar="ADDRESS", help=where)
    say = _add(
        commands, "show", "show.show", "list a benchmark's tables, or print one"
    ).add_argument
    say("name", nargs="?", **BENCHMARK)
    say("table", metavar="TABLE", nargs="?", help="which (default: list them)")
    meaning = "what a term means, or all terms"
    say("--terms", metavar="TERM", nargs="?", const="", help=meaning)
    say("--csv", **CSV)
    say("--all", **FLAG, help="print all rows (default: the first 50)")
    summary = "check params, registry, raw files and tables"
    _add(commands, "validate", "project.validate", summary)


def _add_jobs(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--jobs", type=count, default=2, help="stages at a time (default 2)")


def _add_server(sub: argparse.ArgumentParser) -> None:
    server = sub.add_mutually_exclusive_group()
    server.add_argument("--no-prefect", **FLAG, help="no Prefect server, no retries")
    telling = "report to this Prefect server: keys and numbers only (default: one of the run's own)"
    server.add_argument("--prefect-api", type=url, metavar="URL", help=telling)


def _add_mirror(sub: argparse.ArgumentParser) -> None:
    mirror = os.environ.get("METASSAY_MIRROR")
    there, copy = Path(mirror) if mirror else None, "a local copy of the datasets, a folder per set"
    sub.add_argument("--mirror", type=Path, metavar="DIR", default=there, help=copy)


def _add_study(commands: Any) -> None:
    actions = _add_group(commands, "study", "send sheets to raters, and read their ratings back")
    say = _add(actions, "export", "study.export", "write blinded sheets").add_argument
    say("benchmark", metavar="BENCHMARK")
    say("study", metavar="STUDY", help="the study's name")
    say("--form", required=True, choices=FORM_NAMES, help="what is asked; see below")
    say("--raters", default="3", metavar="RATERS", help="how many, or names: anna,ben (default 3)")
    say("--per-item", type=count, metavar="K", help="raters per item (default: all of them)")
    say("--items", type=count, metavar="N", help="so many items (default: all)")
    most = "instead: N texts, by chances that suit the decision of --for; import weights them"
    say("--next", type=count, metavar="N", help=most)
    decision = (
        "such as 'certificate claim_recall completeness system', 'judge-card METRIC CRITERION'"
    )
    say("--for", dest="decision", default="", metavar="DECISION", help=decision)
    say(
        "--seed",
        type=seed,
        metavar="NUMBER",
        help="draws the same sheets again (default: by chance)",
    )
    say("--rubric", default="", metavar="NAME", help="of rubric and facets: rubrics/NAME.yaml")
    say("--claims", choices=["reference", "output", "both"], default="reference", help="of claims")
    say("--shares", **FLAG, help="of pairs: ask how much each text covers, too")
    other = "of pairs: only those of which one metric prefers one text and the other the other"
    say("--only-disagreements", nargs=2, metavar="METRIC", help=other)
    formats = list(SHEET_FORMATS)
    say("--format", choices=formats, default="xlsx", help="of the sheets (default xlsx)")
    out: dict[str, Any] = {"type": Path, "metavar": "DIR", "help": "the study's folder, if another"}
    say("--out", **out)
    say = _add(actions, "import", "study.import_back", "read sheets that came back").add_argument
    say("benchmark", metavar="BENCHMARK")
    say("study", metavar="STUDY")
    say("files", metavar="FILE", type=Path, nargs="+")
    say("--partial", **FLAG, help="rows may be missing so far")
    say("--out", **out)


def _add_compare(commands: Any) -> None:
    summary = "what differs between two states, or two systems, and why"
    say = _add(commands, "compare", "compare.run", summary).add_argument
    say("names", metavar="BENCHMARK", nargs="*", help="which (default: all that both states have)")
    say("--before", metavar="STATE", help="the earlier state (default accepted)")
    say("--after", metavar="STATE", default="here", help="the later state (default %(default)s)")
    say("--systems", metavar=("A", "B"), nargs=2, help="two systems of the later state instead")
    say("--parts", **FLAG, help="every section and facet, too (default: whole texts)")
    say("--csv", **CSV)
    for option, what in (
        ("--md", "write the comparison as Markdown"),
        ("--junit", "write JUnit XML: a test per metric and system"),
    ):
        say(option, type=out_file, metavar="FILE", help=what)
    ends = "what ends with exit code 4 (default regressed)"
    say("--fail-on", choices=["regressed", "nothing"], default="regressed", help=ends)


def _add_watch(commands: Any) -> None:
    actions = _add_group(commands, "watch", "accept numbers, and check later ones against them")
    summary = "accept the numbers that are there, to compare with"
    accepting = _add(actions, "accept", "reevaluating.accept", summary)
    summary = "bring benchmarks up to date, and say what regressed"
    again = _add(actions, "check", "reevaluating.reevaluate", summary)
    summary = "check benchmarks by the clock"
    scheduling = _add(actions, "schedule", "reevaluating.schedule", summary)
    for sub in (accepting, again, scheduling):
        sub.add_argument("names", nargs="+", **BENCHMARK)
    for sub in (again, scheduling):
        _add_jobs(sub)
        _add_mirror(sub)
    _add_server(again)
    when = scheduling.add_mutually_exclusive_group(required=True)
    when.add_argument("--cron", metavar="CRON", help='five fields: "0 6 * * 1" is Mondays at 6')
    when.add_argument("--interval", type=count, metavar="SECONDS", help="from now on")
    say = scheduling.add_argument
    say("--timezone", default="UTC", metavar="ZONE", help="of --cron (default UTC)")
    say("--prefect-api", type=url, metavar="URL", help="serve it on this Prefect server")
    anyway = "although stages are not up to date, or answers are missing"
    accepting.add_argument("--anyway", **FLAG, help=anyway)


def _add_sentinel(commands: Any) -> None:
    summary = "watch whether an LLM judge still answers as it did"
    actions = _add_group(commands, "sentinel", summary)
    fixing = _add(actions, "fix", "sentinel.fix", "draw anchors, and ask them again")
    checking = _add(actions, "check", "sentinel.check", "ask the anchors once more")
    for sub, which in ((fixing, "ask a model"), (checking, "have anchors")):
        sub.add_argument("name", metavar="BENCHMARK", help="a benchmark, or a test of judges")
        sub.add_argument("--judge", metavar="J", help=f"one judge (default: all that {which})")
    say = fixing.add_argument
    say("--anchors", type=count, default=100, metavar="N", help="questions (default 100)")
    say("--repeats", type=few, default=3, metavar="R", help="times more (default 3)")
    say("--seed", type=int, default=1, metavar="NUMBER", help="draws the same anchors (default 1)")
    say("--replace", **FLAG, help="draw others in place of those that are there")


def _add_models(commands: Any) -> None:
    summary = "ask one question, and show what is sent and what comes back"
    say = _add(commands, "probe", "probe.probe", summary).add_argument
    say("name", metavar="JUDGE|MODEL|ENDPOINT", help="a name of params.yaml")
    say("--logprobs", **FLAG, help="ask for log-probabilities, too")
    summary = "count, keep and share answers of language models"
    actions = _add_group(commands, "ledger", summary)
    summary = "estimate what the next run would ask, and its price"
    _add(actions, "cost", "ledger_commands.cost", summary).add_argument("name", **BENCHMARK)
    _add(actions, "stats", "ledger_commands.stats", "what is there, what was paid and saved")
    summary = "write every answer as a table `responses`"
    say = _add(actions, "export", "ledger_commands.export_all", summary).add_argument
    say("file", metavar="FILE", type=out_file, help="- is stdout")
    summary = "add the answers of tables `responses`"
    say = _add(actions, "import", "ledger_commands.import_all", summary).add_argument
    say("files", metavar="FILE", type=Path, nargs="+", help="or a folder of them")
    say("--replace", **FLAG, help="where both differ, take the file's")
