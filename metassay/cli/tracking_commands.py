"""Commands of studies with people, and of numbers, judges and answers over time."""

from collections.abc import Mapping
from pathlib import Path

from metassay.cli.arguments import (
    BENCHMARKS,
    CSV,
    JOBS,
    MIRROR,
    MISSING,
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
A study with people: `export` writes a sheet for each rater, `import` reads the sheets back and
writes studies/BENCHMARK/NAME/ratings.csv, which the benchmark's params.yaml then names.
docs/studies.md shows one from sheet to certificate.""",
    ),
    "study export": Command(
        run="study.export",
        summary="write blinded sheets",
        about="""\
Write blinded sheets to studies/BENCHMARK/NAME/sheets, one per rater, each in its own order, and the
key to key.json beside that folder. Never send key.json to a rater, nor the seed. The same seed and
the same tables give the same sheets. Texts come from the tables of the last run in
data/tables/BENCHMARK; git ignores the whole folder but ratings.csv.

forms:
  claims    is each claim of the reference covered by the text? (--claims output: the reverse)
  pairs     which of two texts of one document is better? (--shares: and how much does each cover?)
  rubric    the criteria of rubrics/NAME.yaml, one column each (--rubric NAME)
  elements  each element of each sentence: correct, incorrect, missing, not in the notes
  facets    each facet against the reference's, whether it was found rightly, the text as a whole
  facts     each fact of a text: correct, incorrect, hallucinated; how many does the text leave out?
  reading   how many seconds does an answer about a text take, with and without marked facets?
            (--questions FILE)

formats: xlsx and csv are sheets; label_studio is a project per rater (its tasks and interface)""",
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
                    "'judge-card METRIC CRITERION'"
                ),
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
Read completed sheets (rows in any order), or exports of Label Studio (JSON), check them against the
sheets that were sent, and write ratings.csv and comments.csv beside the key. If there are problems,
all are printed with file, row, column and remedy, and nothing is written. Empty cells are missing
ratings, which is allowed; a missing row is a problem, unless --partial is given. A later import
replaces an earlier one: name all sheets each time.""",
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
        summary="what differs between two states, or two systems, and why",
        about="""\
Compare two states of the named benchmarks (default: all that both states have), on the documents
that both have: what regressed and what improved, in which documents and why, and which certificates
changed. --before and --after each name a state:

  here       the tables in data/tables, as the last run left them (the default of --after)
  accepted   what `metassay watch accept` accepted: benchmarks/NAME/accepted.lock (the default of
             --before)
  a folder   with scores.parquet: data/tables/NAME of any checkout, written with a slash
  a revision of git (branch, tag, commit): its dvc.lock names the tables, which DVC's cache or
             remote has

--systems compares two systems of the state that --after names instead.

  metassay compare --before main
  metassay compare sample --before v1 --after v2
  metassay compare --before ../base/data/tables/sample --after data/tables/sample
  metassay compare sample --systems lead longest_turn

A difference counts if a paired test on the documents shows it, adjusted for all metrics, systems
and benchmarks that are compared: docs/weekly.md. The exit code is 4 if anything regressed (never
for an improvement), and 3 if nothing did, but missing answers leave a verdict open, or the state of
--after was not run since its settings, code or data changed.""",
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
Watch the numbers of benchmarks over time: accept the present ones, check later ones against them,
by hand or on a schedule.""",
    ),
    "watch accept": Command(
        run="weekly.accept",
        summary="accept the present numbers, to compare later ones with",
        about="""\
Accept the present numbers: later checks compare with them. Copies benchmarks/NAME/dvc.lock to
benchmarks/NAME/accepted.lock, and prints from which state to which the accepted numbers move.
Refuses if stages are not up to date, or answers of language models are missing. Commit
accepted.lock together with dvc.lock.""",
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
Bring benchmarks up to date as `metassay run` does, and compare them with their accepted numbers
(benchmarks/NAME/accepted.lock, see `metassay watch accept`), document by document. Writes
reports/changes/NAME/index.html and changes.md, and adds to history/NAME. With --prefect-api it also
sends an event `metassay.regressed`, which an automation can forward. Exits with 0 also if nothing
is accepted yet. docs/weekly.md explains what an alarm means, how many false ones to expect, and
what to do.""",
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
Start `metassay watch check NAME...` on a schedule, as long as this command runs: with Prefect's
serve, on its own server or on the one that --prefect-api names. Cron does not need this command
(`0 6 * * 1  cd PROJECT && metassay watch check NAME --no-prefect`), nor does a work pool
(prefect.yaml). A run that falls due during another one waits for it.

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
                help="starting now",
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
                help="serve it on this Prefect server",
            ),
        },
    ),
    "sentinel": Command(
        summary="watch whether an LLM judge still answers as before",
        about="""\
Watch whether an LLM judge still answers as before. `fix` draws questions that it has answered and
repeats them, to measure how steady its answers are; `check` repeats them later, past the ledger,
and raises an alarm if the answers differ more than that. docs/weekly.md explains the numbers.

Both have a small budget of their own (params.yaml > sentinel > max_cost). Texts go only where a run
may send them. The ledger stores every answer.""",
    ),
    "sentinel fix": Command(
        run="weekly.fix",
        summary="draw anchors, and ask them again",
        about="""\
Draw anchors from a judge's stored verdicts, equally many of each verdict, and ask each again
several times. Keys and verdicts go to benchmarks/NAME/sentinel/, to be committed; texts stay in
.work/, which git ignores.""",
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
Ask the anchors again and compare the answers with the earlier ones. Adds a row per judge to
benchmarks/NAME/sentinel/drift.parquet. Exits with 5 if a judge answers differently or its model is
retired, with 3 if that cannot be known: answers are missing, or the model, prompt or a setting in
params.yaml is not the one that answered the anchors.""",
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
Push the tables, used answers and page of benchmarks to a DVC remote, so that others can `dvc pull`
them. They contain texts: those of a credentialed or private dataset go only to a remote for which
params.yaml > remotes allows that class. Each benchmark must be up to date: the files that its
dvc.lock names are pushed. Raw data stays here. If one may not be pushed, none is.
`dvc push` itself checks nothing; without a default remote in DVC it stops unless one is named.

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
Draw tables and figures of five papers from the tables of benchmarks, our numbers beside the printed
ones, into reports/figures/PAPER/. This works in a copy of Metassay's own repository, whose folder
papers/ has the figures. Only those whose numbers or record changed are drawn; nothing else is run.
A figure without its table is listed with the command that makes the table, one with a damaged table
with the damage; the exit code is then 3 (1 if nothing could be drawn). docs/figures.md lists all
figures, also open ones. If a paper has all tables, its stage of papers/dvc.yaml draws it, so that
papers/dvc.lock records the tables. With --format the folder has files of these formats only, and
papers/dvc.lock does not change.""",
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
    "probe": Command(
        run="probe.probe",
        summary="ask one question, and show what is sent and what comes back",
        about="""\
Ask a judge, model or endpoint of params.yaml one question about an invented text, and show all that
is sent (no key) and all that comes back, its cost, and how it was read. If the server refuses a
parameter, the remedy is shown. The question is really sent, within max_cost, and never answered
from the ledger. Of an endpoint the first model is asked. A name in several blocks means the judge,
else the model; write models.NAME or endpoints.NAME for the others. A judge on this machine judges,
and its time is shown. Exit code 1: there was no valid answer.""",
        arguments={
            "name": Argument(
                metavar="JUDGE|MODEL|ENDPOINT",
                help="a name of params.yaml",
            ),
            "--logprobs": Argument(
                flag=True,
                help="also ask for log-probabilities",
            ),
        },
    ),
    "attack": Command(
        run="attack.attack",
        summary="which attacks game a judge: from its name to its attack card",
        about="""\
Put false claims to a judge of params.yaml, as they are and attacked in 16 ways (the source
appended, a denial, a forged verdict ...), and print which attacks game it. A folder
benchmarks/attacks_JUDGE is made, with the number of claims and the margin, and run; edit its
params.yaml to try more. Texts are invented and public, unless --dataset names yours, which need
references.

The price is printed before a language model is asked. Answers are kept: the same command again asks
nothing. docs/judges.md explains the card.""",
        arguments={
            "judge": Argument(
                metavar="JUDGE",
                help="a block of params.yaml > judges",
            ),
            "--dataset": Argument(
                metavar="NAME",
                help="texts of data/registry.yaml with references (default: invented ones)",
            ),
            "--yes": Argument(
                flag=True,
                help="confirm the price, without a question",
            ),
            "--jobs": JOBS,
            "--mirror": MIRROR,
        },
    ),
    "improve": Command(
        run="improve.improve",
        summary="a better judge from labels, or the answer that none is shown",
        about="""\
Search a better judge than JUDGE, a block of params.yaml, from claims that people labelled. Half of
the documents tell how good the chosen one is, once; nothing is chosen or shown from them. LABELS
has a row per claim: columns premise, hypothesis, label, and perhaps doc_id, id and reason.

candidates, each different from JUDGE in one thing:
  prompts     files of prompts/ whose names begin as the question's: judge-entailment-strict.yaml
  shots       no examples, the prompt's own, and sets that are drawn from the labels
  styles      other forms of the answer, with and without reasons
  thresholds  .1 to .9, where the judge has a probability
  judges      those of --beside, alone, in juries of three and in cascades with bands
  rewrites    prompts that the model of --with writes from wrong answers

The price is printed before a language model is asked. Answers are kept: the same command again asks
nothing. Texts count as private unless --dataset says whose they are: an endpoint needs
`sends: [private]`. The result is a block for params.yaml, perhaps a prompt, the card of both judges
on the half that tells, and the rows that they got wrong. docs/judges.md explains it.""",
        arguments={
            "judge": Argument(
                metavar="JUDGE",
                help="a block of params.yaml > judges",
            ),
            "file": Argument(
                metavar="LABELS",
                read=Path,
                help="a table of labelled claims: CSV, XLSX, JSON or Parquet",
            ),
            "--columns": Argument(
                metavar="ROLE=COLUMN",
                several=True,
                help="premise, hypothesis, label, doc, key, reason",
            ),
            "--question": Argument(
                metavar="NAME",
                default="entailment",
                help=(
                    "what the labels answer: entailment (passes and fails), three_way or "
                    "support_grade (default %(default)s)"
                ),
            ),
            "--pass": Argument(
                metavar="WORD",
                dest="passes",
                several=True,
                help="labels that mean entailed; every other is then not_entailed",
            ),
            "--pass-from": Argument(
                metavar="NUMBER",
                read=float,
                help="the lowest grade that means entailed",
            ),
            "--missing": MISSING,
            "--dataset": Argument(
                metavar="NAME",
                help="the entry of data/registry.yaml whose texts these are",
            ),
            "--try": Argument(
                metavar="CANDIDATES",
                dest="changes",
                several=True,
                help="kinds of candidates, of those above (default: all)",
            ),
            "--beside": Argument(
                metavar="JUDGE",
                several=True,
                help="other judges of params.yaml",
            ),
            "--with": Argument(
                metavar="MODEL",
                dest="with_model",
                help="a model of params.yaml that rewrites the prompt",
            ),
            "--choose": Argument(
                metavar="NUMBER_OF_CARD",
                default="agreement",
                help="agreement or balanced_accuracy (default %(default)s)",
            ),
            "--max-cost": Argument(
                metavar="AMOUNT",
                read=float,
                help="the most that may be spent, in the currency of the models' prices",
            ),
            "--yes": Argument(
                flag=True,
                help="confirm the price, without a question",
            ),
            "--seed": Argument(
                metavar="NUMBER",
                read=seed,
                default=0,
                help="seed of all random numbers (default 0)",
            ),
            "--out": Argument(
                metavar="DIR",
                read=Path,
                help="where to write the result (default improved/JUDGE)",
            ),
        },
    ),
    "ledger": Command(
        summary="count, keep and share answers of language models",
        about="""\
The ledger (.work/ledger.sqlite) has every answer ever paid for. `cost` estimates the questions of
the next run, and their price; `stats` shows what is in the ledger, what was paid and saved;
`export` writes it as a table `responses`; `import` adds such tables, for example
data/tables/NAME/responses of a colleague's run, so that nothing is asked again.""",
    ),
    "ledger cost": Command(
        run="ledger_commands.cost",
        summary="estimate the questions of the next run, and their price",
        about="""\
Estimate the questions of the next `metassay run BENCHMARK` to language models, per stage and model,
before anything is sent and without a network: distinct questions, those that the ledger has
answered already, tokens, and money at the prices of params.yaml. Few-shot examples and raw files
must exist (metassay run BENCHMARK --only fetch). Every number is an expectation, except `at most`:
that is a bound, with every byte of a prompt a token, every answer as long as max_tokens, and every
list of claims requested as often as possible. Neither has attempts that are repeated after an
error, but max_cost, the cap on all runs of the project together, counts them; the last line tells
what is left.""",
        arguments={
            "name": Argument(
                metavar="BENCHMARK",
                help="a folder of benchmarks/",
            ),
        },
    ),
    "ledger stats": Command(
        run="ledger_commands.stats",
        summary="show what the ledger has, what was paid and saved",
    ),
    "ledger export": Command(
        run="ledger_commands.export_all",
        summary="write every answer as a table `responses`",
        arguments={
            "file": Argument(
                metavar="FILE",
                read=out_file,
                help="- is stdout",
            ),
        },
    ),
    "ledger import": Command(
        run="ledger_commands.import_all",
        summary="add the answers of tables `responses`",
        arguments={
            "files": Argument(
                metavar="FILE",
                read=Path,
                nargs="+",
                help="or a folder of them",
            ),
            "--replace": Argument(
                flag=True,
                help="where answers differ, take the file's",
            ),
        },
    ),
}
