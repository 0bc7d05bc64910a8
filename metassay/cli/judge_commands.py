"""Commands of judges and language models: ask, attack and improve them, and their answers."""

from collections.abc import Mapping
from pathlib import Path

from metassay.cli.arguments import JOBS, MIRROR, MISSING, Argument, Command
from metassay.cli.values import seed
from metassay.core.atomic import out_file

JUDGES: Mapping[str, Command] = {
    "probe": Command(
        run="probe.probe",
        summary="ask one question, and show what is sent and what comes back",
        about="""\
Find out whether a model answers: ask a judge, model or endpoint of params.yaml one question about
an invented text. You see all that is sent, without keys, all that comes back, its cost, and how it
was read. If the server refuses a parameter, the output says what to write instead.

examples:
  metassay probe mini
  metassay probe semantic

The question is really sent, within max_cost, and never answered from the ledger. If you name an
endpoint, its first model is asked. If several blocks have the name, it is the judge's, else the
model's; write models.NAME or endpoints.NAME for the others. A judge on this machine is asked, too,
and its time is shown. The exit code is 1 if there was no valid answer.""",
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
        summary="find out which attacks make a judge pass a false text",
        about="""\
Find out which attacks make a judge pass a false text. The judge of params.yaml reads false claims
as they are, and attacked in 16 ways: with the source appended, as a denial, with a forged verdict
and so on. The output says which attacks game it. The command makes and runs the folder
benchmarks/attacks_JUDGE; edit its params.yaml to try more claims or another margin. Texts are
invented and public, unless --dataset names yours, which need references.

example:
  metassay attack lexical

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
        summary="search a better judge with labelled claims",
        usage="metassay improve JUDGE LABELS [options]",
        about="""\
Search for a judge that is better than JUDGE, a block of params.yaml, with claims that people
labelled. You get a block for params.yaml and how good it is, or the answer that no candidate was
shown to be better. Half of the documents measure how good the chosen judge is, once; nothing is
chosen or shown from them. LABELS has a row per claim: columns premise, hypothesis, label, and
perhaps doc_id, id and reason.

examples:
  metassay improve lexical labels.csv
  metassay improve mini labels.csv --try prompts shots --max-cost 5

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
See and share what language models cost. The ledger (.work/ledger.sqlite) has every answer that was
ever paid for. `cost` estimates the questions of the next run, and their price. `stats` shows what
is in the ledger, what was paid and what was saved. `export` writes it as a table `responses`.
`import` adds such tables, for example data/tables/NAME/responses of a colleague's run, so that
nothing is asked again.""",
    ),
    "ledger cost": Command(
        run="ledger_commands.cost",
        summary="estimate the questions of the next run, and their price",
        about="""\
See the price of the next `metassay run BENCHMARK` before anything is sent. Per stage and model you
get the number of questions to language models, those that the ledger has answered already, tokens,
and money at the prices of params.yaml. No network is needed. Few-shot examples and raw files must
exist (metassay run BENCHMARK --only fetch).

example:
  metassay ledger cost sample

Every number is an expectation, except `at most`: this bound counts every byte of a prompt as a
token, every answer as long as max_tokens, and every list of claims as often as it may be requested.
Neither number includes retries after errors, but max_cost, the cap on all runs of the project
together, counts them. The last line says what is left.""",
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
                help="the file to write; - is stdout",
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
                help="a table `responses`, or a folder of them",
            ),
            "--replace": Argument(
                flag=True,
                help="where answers differ, take those of the file",
            ),
        },
    ),
}
