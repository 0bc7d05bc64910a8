"""Commands of studies with people, and of what changes over time and is shared."""

from collections.abc import Mapping
from pathlib import Path

from metassay.cli.arguments import (
    BENCHMARKS,
    CSV,
    JOBS,
    MIRROR,
    NO_PREFECT,
    OUT,
    PREFECT_API,
    Argument,
    Command,
)
from metassay.cli.values import count, few, seed, url
from metassay.core.atomic import out_file
from metassay.studies import FORM_NAMES, FORMATS

# What holds the judges that a sentinel asks.
BENCHMARK_OR_TEST = Argument(
    metavar="BENCHMARK",
    help="a benchmark, or a test of judges",
)

TRACKING: Mapping[str, Command] = {
    "study": Command(
        summary="send sheets to raters, and read their ratings back",
        about="""\
Have people rate your texts: `export` writes a sheet for each rater; `import` reads the completed
sheets and writes studies/BENCHMARK/NAME/ratings.csv, which the benchmark's params.yaml then names.
docs/studies.md shows a study from sheet to certificate.""",
    ),
    "study export": Command(
        run="study.export",
        summary="write blinded sheets",
        usage="metassay study export BENCHMARK STUDY --form FORM [options]",
        about="""\
Write a blinded sheet per rater to studies/BENCHMARK/STUDY/sheets, each in an order of its own, and
the key to key.json beside that folder. Never send key.json to a rater, nor the seed. The same seed
and the same tables give the same sheets. Texts come from the tables of the last run. git ignores
the whole folder except ratings.csv.

examples:
  metassay study export sample pilot --form rubric --rubric vanilla --raters anna,ben
  metassay study export sample wins --form pairs --per-item 2 --items 80 --format csv

forms:
  claims    is each claim of the reference covered by the text? (--claims output: the reverse)
  pairs     which of two texts of one document is better? (--shares: and how much does each cover?)
  rubric    the criteria of rubrics/NAME.yaml, one column each (--rubric NAME)
  elements  each element of each sentence: correct, incorrect, missing, not in the notes
  facets    each facet against the reference's, whether it was found rightly, the text as a whole
  facts     each fact of a text: correct, incorrect, hallucinated; how many does the text leave out?
  reading   how many seconds does an answer about a text take, with and without marked facets?
            (--questions FILE)

formats: xlsx and csv are sheets; label-studio is a project per rater (its tasks and interface)""",
        arguments={
            "benchmark": Argument(
                metavar="BENCHMARK",
            ),
            "study": Argument(
                metavar="STUDY",
                help="the study's name",
            ),
            "--form": Argument(
                choices=FORM_NAMES,
                required=True,
                help="what is asked; see below",
            ),
            "--raters": Argument(
                metavar="RATERS",
                default="3",
                help="how many, or names: anna,ben (default 3)",
            ),
            "--per-item": Argument(
                metavar="K",
                read=count,
                help="raters per item (default: all of them)",
            ),
            "--items": Argument(
                metavar="N",
                read=count,
                help="the number of items (default: all)",
            ),
            "--next": Argument(
                metavar="N",
                read=count,
                help=(
                    "instead draw N texts with chances that suit the decision of "
                    "--for; import weights them"
                ),
            ),
            "--for": Argument(
                metavar="DECISION",
                default="",
                dest="decision",
                help=(
                    "such as 'certificate claim_recall completeness system', "
                    "'judge-card METRIC CRITERION'; 'card METRIC CRITERION' takes as "
                    "many texts as tell whether the card of --card holds here"
                ),
            ),
            "--card": Argument(
                metavar="DIR",
                default="",
                help="a card that `metassay check --out DIR` wrote, with --for card",
            ),
            "--margin": Argument(
                metavar="NUMBER",
                read=float,
                default=0.1,
                help="by how much its rates may be lower here (default %(default)s)",
            ),
            "--seed": Argument(
                metavar="NUMBER",
                read=seed,
                help="the same seed gives the same sheets (default: a random one)",
            ),
            "--rubric": Argument(
                metavar="NAME",
                default="",
                help="for rubric and facets: rubrics/NAME.yaml",
            ),
            "--claims": Argument(
                choices=("reference", "output", "both"),
                default="reference",
                help="of claims",
            ),
            "--shares": Argument(
                flag=True,
                help="for pairs: also ask how much each text covers",
            ),
            "--questions": Argument(
                metavar="FILE",
                read=Path,
                help="for reading: a CSV with the columns doc_id, question, right, wrong",
            ),
            "--only-disagreements": Argument(
                metavar="METRIC",
                nargs=2,
                help=(
                    "for pairs: only those in which the two metrics prefer different "
                    "texts"
                ),
            ),
            "--format": Argument(
                choices=tuple(FORMATS),
                default="xlsx",
                help="the sheets' format (default xlsx)",
            ),
            "--out": OUT,
        },
    ),
    "study import": Command(
        run="study.import_back",
        summary="read completed sheets",
        about="""\
Read completed sheets, and write ratings.csv and comments.csv beside the key. Sheets may have their
rows in any order; exports of Label Studio (JSON) are read as well. All are checked against the
sheets that were sent. If there are problems, all are printed with file, row, column and remedy, and
nothing is written. An empty cell is a missing rating, which is allowed. A missing row is a problem,
unless you give --partial. A later import replaces an earlier one: name all sheets each time.

example:
  metassay study import sample pilot studies/sample/pilot/sheets/anna.xlsx""",
        arguments={
            "benchmark": Argument(
                metavar="BENCHMARK",
            ),
            "study": Argument(
                metavar="STUDY",
            ),
            "files": Argument(
                metavar="FILE",
                read=Path,
                nargs="+",
            ),
            "--partial": Argument(
                flag=True,
                help="allow missing rows",
            ),
            "--out": OUT,
        },
    ),
    "compare": Command(
        run="compare.run",
        summary="show what got worse or better between two states or systems, and why",
        usage="metassay compare [BENCHMARK ...] [options]",
        about="""\
Print what regressed and what improved between two states of benchmarks, in which documents and why,
and which certificates changed. Only documents that both states have are compared.

examples:
  metassay compare --before main
  metassay compare sample --before v1 --after v2
  metassay compare --before ../base/data/tables/sample --after data/tables/sample
  metassay compare sample --systems lead longest_turn

--before and --after each name a state:

  here       the tables in data/tables, as the last run left them (the default of --after)
  accepted   what `metassay watch accept` accepted: benchmarks/NAME/accepted.lock (the default of
             --before)
  a folder   with scores.parquet: data/tables/NAME of any checkout, written with a slash
  a revision of git (branch, tag, commit): its dvc.lock names the tables, which DVC's cache or
             remote has

--systems compares two systems of the state that --after names instead.

A difference counts if a paired test on the documents shows it, adjusted for all metrics, systems
and benchmarks that are compared (docs/weekly.md). The exit code is 4 if anything regressed, never
for an improvement. It is 3 if nothing regressed, but missing answers leave a verdict open, or the
state of --after was not run since its settings, code or data changed.""",
        arguments={
            "names": Argument(
                metavar="BENCHMARK",
                nargs="*",
                help="benchmarks (default: all that both states have)",
            ),
            "--before": Argument(
                metavar="STATE",
                help="the earlier state (default accepted)",
            ),
            "--after": Argument(
                metavar="STATE",
                default="here",
                help="the later state (default %(default)s)",
            ),
            "--systems": Argument(
                metavar=("A", "B"),
                nargs=2,
                help="two systems of the later state instead",
            ),
            "--parts": Argument(
                flag=True,
                help="also compare every section and facet (default: whole texts)",
            ),
            "--csv": CSV,
            "--md": Argument(
                metavar="FILE",
                read=out_file,
                help="write the comparison as Markdown",
            ),
            "--junit": Argument(
                metavar="FILE",
                read=out_file,
                help="write JUnit XML: a test per metric and system",
            ),
            "--fail-on": Argument(
                choices=("regressed", "nothing"),
                default="regressed",
                help="what ends with exit code 4 (default regressed)",
            ),
        },
    ),
    "watch": Command(
        summary="accept numbers, and check later ones against them",
        about="""\
Find out each week whether a score got worse: accept the present numbers of a benchmark, and check
later ones against them, by hand or on a schedule.""",
    ),
    "watch accept": Command(
        run="weekly.accept",
        summary="accept the present numbers, to compare later ones with",
        about="""\
Accept the present numbers, with which later checks compare. The command copies
benchmarks/NAME/dvc.lock to benchmarks/NAME/accepted.lock, and prints from which state to which the
accepted numbers move. It refuses if stages are not up to date, or if answers of language models are
missing. Commit accepted.lock together with dvc.lock.

example:
  metassay watch accept sample""",
        arguments={
            "names": BENCHMARKS,
            "--anyway": Argument(
                flag=True,
                help="even if stages are not up to date, or answers are missing",
            ),
        },
    ),
    "watch check": Command(
        run="weekly.reevaluate",
        summary="bring benchmarks up to date, and report what regressed",
        about="""\
Find out what got worse since you accepted the numbers. The command brings benchmarks up to date as
`metassay run` does, and compares them, document by document, with benchmarks/NAME/accepted.lock.
The exit code is 4 if a score regressed, and 0 if nothing is accepted yet. The command writes
reports/changes/NAME/index.html and changes.md, and adds to history/NAME. docs/weekly.md says what
an alarm means, how many false ones to expect, and what to do.

example:
  metassay watch check sample --no-prefect

With --prefect-api it also sends an event `metassay.regressed`, which an automation can forward.""",
        arguments={
            "names": BENCHMARKS,
            "--jobs": JOBS,
            "--mirror": MIRROR,
            "--no-prefect": NO_PREFECT,
            "--prefect-api": PREFECT_API,
        },
    ),
    "watch schedule": Command(
        run="weekly.schedule",
        summary="check benchmarks on a schedule",
        about="""\
Start `metassay watch check NAME...` on a schedule, as long as this command runs. It uses Prefect's
serve, on a server of its own or on the one that --prefect-api names. A run that falls due during
another one waits for it. Cron does not need this command (`0 6 * * 1  cd PROJECT && metassay watch
check NAME --no-prefect`), and neither does a work pool (prefect.yaml).

examples:
  metassay watch schedule sample --cron "0 6 * * 1" --timezone Europe/Berlin  Mondays at 6
  metassay watch schedule sample --interval 86400        every day from now""",
        arguments={
            "names": BENCHMARKS,
            "--jobs": JOBS,
            "--mirror": MIRROR,
            "--cron": Argument(
                metavar="CRON",
                help='five fields: "0 6 * * 1" is Mondays at 6',
                group="when",
            ),
            "--interval": Argument(
                metavar="SECONDS",
                read=count,
                help="how often, starting now: 86400 is every day",
                group="when",
            ),
            "--timezone": Argument(
                metavar="ZONE",
                default="UTC",
                help="time zone of --cron (default UTC)",
            ),
            "--prefect-api": Argument(
                metavar="URL",
                read=url,
                help="a Prefect server of yours (default: one that ends with this command)",
            ),
        },
    ),
    "sentinel": Command(
        summary="watch whether an LLM judge still answers as before",
        about="""\
Find out whether a judge that is a language model still answers as before. `fix` draws questions
that it has answered and repeats them, to measure how steady its answers are. `check` repeats them
later, without the ledger, and raises an alarm if the answers differ more than that. docs/weekly.md
explains the numbers.

Both have a small budget of their own (params.yaml > sentinel > max_cost). Texts go only where a run
may send them. The ledger stores every answer.""",
    ),
    "sentinel fix": Command(
        run="weekly.fix",
        summary="draw anchors, and ask them again",
        about="""\
Learn how steady a judge's answers are: draw anchors, questions that it has answered, equally many
of each verdict, and ask each of them again several times. Keys and verdicts go to
benchmarks/NAME/sentinel/, which you commit. Texts stay in .work/, which git ignores.

example:
  metassay sentinel fix sample --anchors 100""",
        arguments={
            "name": BENCHMARK_OR_TEST,
            "--judge": Argument(
                metavar="J",
                help="one judge (default: all that ask a model)",
            ),
            "--anchors": Argument(
                metavar="N",
                read=count,
                default=100,
                help="questions (default 100)",
            ),
            "--repeats": Argument(
                metavar="R",
                read=few,
                default=3,
                help="how often to ask each again (default 3)",
            ),
            "--seed": Argument(
                metavar="NUMBER",
                read=int,
                default=1,
                help="the same seed draws the same anchors (default 1)",
            ),
            "--replace": Argument(
                flag=True,
                help="replace the anchors by new ones",
            ),
        },
    ),
    "sentinel check": Command(
        run="weekly.check",
        summary="ask the anchors again",
        about="""\
Find out whether a judge has drifted: ask the anchors again and compare the answers with the earlier
ones. The exit code is 5 if a judge answers differently or its model is retired. It is 3 if that
cannot be known, because answers are missing, or because the model, prompt or a setting in
params.yaml is not the one that answered the anchors. The command adds a row per judge to
benchmarks/NAME/sentinel/drift.parquet.

example:
  metassay sentinel check sample""",
        arguments={
            "name": BENCHMARK_OR_TEST,
            "--judge": Argument(
                metavar="J",
                help="one judge (default: all that have anchors)",
            ),
        },
    ),
    "push": Command(
        run="weekly.push",
        summary="push tables to a DVC remote, or headline numbers to MLflow or W&B",
        about="""\
Share the tables, used answers and page of benchmarks: push them to a DVC remote, from which others
`dvc pull` them.

examples:
  metassay push sample --to team
  metassay push sample --to mlflow:http://localhost:5000

Tables contain texts. Those of a credentialed or private dataset go only to a remote for which
params.yaml > remotes allows that class. Each benchmark must be up to date: the files that its
dvc.lock names are pushed. Raw data stay here. If one benchmark may not be pushed, none is.
`dvc push` itself checks nothing; without a default remote in DVC it stops unless you name one.

--to mlflow:URL and --to wandb:PROJECT send only the names and numbers of headline.json: no tables
and no text, whatever the dataset's class. docs/integrations.md lists them.""",
        arguments={
            "names": BENCHMARKS,
            "--to": Argument(
                metavar="REMOTE",
                required=True,
                help=(
                    "a remote, as `dvc remote list` has it; or mlflow:URL, "
                    "wandb:PROJECT for numbers only"
                ),
            ),
        },
    ),
    "figures": Command(
        run="figures.figures",
        summary="draw figures and tables of papers",
        about="""\
Draw tables and figures of five papers into reports/figures/PAPER/, with our numbers beside the
printed ones. This works in a copy of Metassay's own repository, whose folder papers/ has the
figures. docs/figures.md lists all of them, also open ones.

examples:
  metassay figures
  metassay figures --paper doclens --format pdf,tex

Only figures whose numbers or record changed are drawn; nothing else is run. A figure without its
table is listed with the command that makes the table, and one with a damaged table with the damage;
the exit code is then 3, or 1 if nothing could be drawn. If a paper has all tables, its stage of
papers/dvc.yaml draws it, so that papers/dvc.lock records the tables. With --format the folder has
files of these formats only, and papers/dvc.lock does not change.""",
        arguments={
            "--paper": Argument(
                metavar="PAPER",
                action="append",
                help=(
                    "doclens, fm, adams, benabacha or simsum (default: all; may repeat)"
                ),
            ),
            "--format": Argument(
                metavar="svg,pdf,png,tex,md,csv",
                help="only files of these formats (default: all)",
            ),
        },
    ),
}
