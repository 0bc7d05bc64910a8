"""Commands that make a project, run it and show what it has."""

from collections.abc import Mapping
from pathlib import Path

from metassay.cli.arguments import (
    BENCHMARK,
    BENCHMARKS,
    CSV,
    FITTED,
    HIGHER,
    JOBS,
    LOWER,
    MIRROR,
    MISSING,
    NO_PREFECT,
    PREFECT_API,
    PRIMARY,
    PRIMARY_CRITERION,
    ROWS,
    SCALE,
    TRIED,
    Argument,
    Command,
)
from metassay.cli.values import base_url, names, prices, variable
from metassay.core.atomic import out_file

PROJECT: Mapping[str, Command] = {
    "init": Command(
        run="init.init",
        summary="make a project for your own data",
        usage="metassay init DIR [options]",
        about="""\
Make a project for your own data in a new folder, and with --run its report. The folder has a
params.yaml with comments, a benchmark, prompts and a workflow for CI; git and DVC are set up.
Without data it contains an invented example, which runs at once.

examples:
  metassay init demo --run
  metassay init study --texts texts.csv --ratings ratings.csv --run
  metassay init study --texts texts.csv --ratings ann.csv ben.csv --lower errors
  metassay init mine --model llama3.1:8b --base-url http://127.0.0.1:11434/v1

With --texts the project is made from your spreadsheets, which stay unchanged: CSV, or a sheet of an
XLSX workbook (the one called texts, ratings or scores, else the first). The command guesses the
role of each column, shows its guess, and asks once whether it is right (--yes confirms it). If a
column is ambiguous, the error names the option to set. You can give several files of each kind. If
no column names the rater, each file of ratings counts as one rater, named after the file.

  texts    one row per text: document, system, text, and perhaps source and reference; or one row
           per document and one column per system
  ratings  one row per rating: document, system, rater, criterion, value; or one column per
           criterion or per rater
  scores   what your own metrics gave: document, system, one column per metric; or metric, value

Data from spreadsheets are private: git ignores them. docs/own-data.md has an example.

With --model a language model of yours takes the place of every default that a model can take: it
divides texts into facets, lists their claims, judges, grades by rubrics, and in the example writes
texts. The price of the first run is printed; nothing is asked yet (docs/language-models.md).""",
        arguments={
            "folder": Argument(
                metavar="DIR",
                read=Path,
                help="a new or empty folder",
            ),
            "--texts": Argument(
                metavar="FILE",
                read=Path,
                several=True,
                help="a spreadsheet of texts, or several",
            ),
            "--ratings": Argument(
                metavar="FILE",
                read=Path,
                several=True,
                help="a spreadsheet of human ratings, or several",
            ),
            "--scores": Argument(
                metavar="FILE",
                read=Path,
                several=True,
                help="a spreadsheet of your own metrics' scores, or several",
            ),
            "--columns": Argument(
                metavar="ROLE=COLUMN",
                several=True,
                help=(
                    "the roles of columns: doc, system, text, source, reference, rater, "
                    "criterion, metric, value; strata, cluster and family group texts. "
                    "ratings.doc=id is for one file; systems=a,b (also criteria, raters, "
                    "metrics) names several columns; ratings.wide={criterion}_{rater} is "
                    "for names with two parts"
                ),
            ),
            "--reference": Argument(
                metavar="SYSTEM",
                help="the system that wrote the references ('': none)",
            ),
            "--lower": LOWER,
            "--higher": HIGHER,
            "--neither": Argument(
                metavar="NAME,...",
                read=names,
                help="metrics that describe a text and do not say how good it is",
            ),
            "--scale": SCALE,
            "--rows": ROWS,
            "--missing": MISSING,
            "--primary": PRIMARY,
            "--primary-criterion": PRIMARY_CRITERION,
            "--tried": TRIED,
            "--fitted": FITTED,
            "--model": Argument(
                metavar="MODEL",
                help="a language model for every stage, as its provider calls it",
            ),
            "--base-url": Argument(
                metavar="URL",
                read=base_url,
                help="where it answers, such as http://127.0.0.1:8000/v1",
            ),
            "--key-env": Argument(
                metavar="VARIABLE",
                read=variable,
                help="the environment variable that holds the key, if it needs one",
            ),
            "--prices": Argument(
                metavar="READ,WRITTEN,CURRENCY",
                read=prices,
                help="per million tokens, for estimates and caps: 0.15,0.60,USD",
            ),
            "--sends": Argument(
                choices=("private",),
                help="let the texts of your spreadsheets go to the model",
            ),
            "--name": Argument(
                help="the benchmark's name (default: the folder's)",
            ),
            "--yes": Argument(
                flag=True,
                help="confirm what is guessed, without a question",
            ),
            "--run": Argument(
                flag=True,
                help="make the report at once, and print its path",
            ),
        },
    ),
    "update": Command(
        run="init.update",
        summary="bring the files that Metassay writes up to date",
        about="""\
Bring this project up to date after you installed another version of Metassay. The command updates
the files that Metassay writes: prompts, rubrics, pinned packages, the workflow, .gitignore,
versions.yaml and dvc.yaml files. params.yaml, the registry and data stay. Files that you edited
stay too, and their new version is written beside them (NAME.new). In a dvc.yaml, `meta` and your
own stages stay. A second update changes nothing.

versions.yaml has the declared version of every stage and every named metric, judge, system and so
on, with hashes of its prompts; DVC reruns whatever has another version. A project of a Metassay
that had code.yaml keeps its results: its dvc.lock files are rewritten once. `metassay run` brings
versions.yaml and dvc.yaml files up to date by itself; plain `dvc repro` does not.""",
    ),
    "list": Command(
        run="project.list_all",
        summary="show benchmarks and datasets",
        arguments={
            "--croissant": Argument(
                metavar="DIR",
                read=Path,
                help=(
                    "instead, describe each dataset by a Croissant 1.0 file in this "
                    "new folder"
                ),
            ),
        },
    ),
    "run": Command(
        run="running.run",
        summary="bring the reports of benchmarks up to date",
        usage="metassay run BENCHMARK [BENCHMARK ...] [options]",
        about="""\
Bring the reports of benchmarks up to date: reports/BENCHMARK/index.html. Only stages whose inputs,
code or parameters changed are run, independent ones in parallel.

examples:
  metassay run sample
  metassay run sample mts_dialog --jobs 4
  metassay run sample --no-prefect
  metassay run mts_dialog --only fetch

With Prefect each stage is a task that is retried as dvc.yaml's `meta` says; --no-prefect uses
neither its server nor retries. `dvc repro benchmarks/BENCHMARK/dvc.yaml` does the same work without
this command.

--only fetch downloads the files of the benchmarks' datasets to data/raw/DATASET, and runs nothing.
A dataset may be named instead of a benchmark. Files come from the URL in data/registry.yaml, at the
pinned commit, and each is checked against its sha256. With --mirror DIR (or METASSAY_MIRROR) they
are copied from DIR/<dataset's mirror folder>/<file> instead, for a site without internet access.

--only report renders the report again from the existing tables. It refuses if a stage before the
report is not up to date.

--dask ADDRESS lets the workers of a Dask cluster compute stages that consist of independent pieces,
with the same bytes (docs/running.md); it overrides params.yaml > executor.""",
        arguments={
            "names": BENCHMARKS,
            "--jobs": JOBS,
            "--only": Argument(
                choices=("fetch", "report"),
                help="only fetch the datasets' files, or only render the reports again",
            ),
            "--ask-again": Argument(
                flag=True,
                help="also repeat questions to language models that failed for good",
            ),
            "--no-prefect": NO_PREFECT,
            "--prefect-api": PREFECT_API,
            "--mirror": MIRROR,
            "--dask": Argument(
                metavar="ADDRESS",
                help="use the workers of this scheduler (tcp://HOST:8786), or `local`",
            ),
        },
    ),
    "show": Command(
        run="show.show",
        summary="list a benchmark's tables, or print one",
        about="""\
Print a table of a benchmark, of a test of judges or of segmentations; without TABLE, list them.
`trust` has the metric closest to people for each criterion and decision, `means` the systems' mean
scores, `notes` the notes of stages on the data, `answers` the questions to language models;
docs/tables.md has the others. Columns that may contain texts are left out.

examples:
  metassay show sample
  metassay show sample trust
  metassay show sample certificates --csv certificates.csv
  metassay show sample --html sample.html
  metassay show --terms "rater ceiling"

--html writes the report as one file that you can send. It contains the texts only if the access
class of all data that the benchmark reads is public.""",
        arguments={
            "name": BENCHMARK,
            "table": Argument(
                metavar="TABLE",
                nargs="?",
                help="the table (default: list them)",
            ),
            "--terms": Argument(
                metavar="TERM",
                nargs="?",
                const="",
                help="what a term means, or all terms",
            ),
            "--csv": CSV,
            "--html": Argument(
                metavar="FILE",
                read=out_file,
                help="write the benchmark's report as one HTML file",
            ),
            "--all": Argument(
                flag=True,
                help="print all rows (default: the first 50)",
            ),
        },
    ),
    "validate": Command(
        run="project.validate",
        summary="check params, registry, raw files and tables",
        about="""\
Print every problem of the project at once, each with its file, row and remedy. The command checks
the params files, data/registry.yaml, the raw files and every existing table. Raw files that were
not fetched are listed.""",
    ),
}
