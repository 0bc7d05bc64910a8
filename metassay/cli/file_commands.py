"""Commands that need no project: they read files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from metassay.cli.arguments import (
    BY,
    FITTED,
    HIGHER,
    LOWER,
    MISSING,
    PRIMARY,
    PRIMARY_CRITERION,
    ROWS,
    SCALE,
    TRIED,
    Argument,
    Command,
)
from metassay.cli.values import least_value, names

# Options of `judge-check` and of `check`.
_OF_JUDGES: Mapping[str, Argument] = {
    "--judge": Argument(
        metavar="COLUMN",
        several=True,
        help="the columns with verdicts; several judges are shown side by side",
    ),
    "--human": Argument(
        metavar="COLUMN",
        several=True,
        help="the columns with people's labels; several columns are several raters",
    ),
    "--columns": Argument(
        metavar="ROLE=COLUMN",
        several=True,
        help=(
            "doc, the document that several rows are about; system, the writer "
            "of the text; rater, who labelled it, if each rater has a row; claim, "
            "its text, whose kinds (number, side, drug, negation, other) are slices"
        ),
    ),
    "--by": BY,
    "--pass": Argument(
        metavar="WORD",
        dest="passes",
        several=True,
        help="words that are a pass",
    ),
    "--pass-from": Argument(
        metavar="NUMBER",
        read=float,
        help="the lowest grade that is a pass",
    ),
    "--rows": ROWS,
    "--missing": MISSING,
    "--class": Argument(
        metavar="WORD",
        dest="classes",
        several=True,
        help=(
            "words that are a label of their own, such as unsure; labels are "
            "then classes without order"
        ),
    ),
    "--lower": replace(
        LOWER, help="ranks of which 1 is the best, and scores of which less is better"
    ),
    "--higher": replace(
        HIGHER, help="ranks of which 1 is the worst, and scores of which more is better"
    ),
    "--require": Argument(
        metavar="NUMBER_OF_CARD=LEAST",
        read=least_value,
        several=True,
        help=("the smallest allowed lower end, such as sensitivity=.9; may repeat"),
    ),
    "--card": Argument(
        metavar="DIR",
        default="",
        help=("what --out wrote for other texts: does its card hold on these?"),
    ),
    "--margin": Argument(
        metavar="NUMBER",
        read=float,
        default=0.1,
        help=(
            "by how much the rates of --card may be lower here; choose it "
            "before you look (default %(default)s)"
        ),
    ),
    "--choose": Argument(
        metavar="NUMBER_OF_CARD",
        default="",
        help=(
            "agreement or balanced_accuracy: choose the best of several judges "
            "on half of the documents, and compare it on the others with the "
            "first, which is in use"
        ),
    ),
    "--epsilon": Argument(
        metavar="NUMBER",
        read=float,
        default=0.2,
        help=(
            "how much worse than a rater a judge may be: .2 experts, .15 "
            "skilled, .1 crowds (default %(default)s)"
        ),
    ),
    "--width": Argument(
        metavar="NUMBER",
        read=float,
        default=0.1,
        help=(
            "the width of intervals for which the number of labels is "
            "estimated (default %(default)s)"
        ),
    ),
    "--confidence": Argument(
        metavar="NUMBER",
        read=float,
        default=0.95,
        help="confidence of the intervals (default %(default)s)",
    ),
    "--seed": Argument(
        metavar="NUMBER",
        read=int,
        default=0,
        help="seed of all random numbers (default 0)",
    ),
    "--out": Argument(
        metavar="DIR",
        read=Path,
        help="a folder for all tables",
    ),
}

FILES: Mapping[str, Command] = {
    "meta-eval": Command(
        run="meta_eval.meta_eval",
        core=True,
        summary="find out which metric you can use, from two files; needs no project",
        usage="""\
metassay meta-eval [SCORES] RATINGS [options]
       metassay meta-eval [--scores FILE ...] --ratings FILE ... [options]
       metassay meta-eval --example DIR""",
        about="""\
Find out which metric you can use for which decision, from two files and without a project. Each
metric gets a verdict for three decisions, with its correlation with human ratings and an interval,
its pairwise accuracy beside chance, and a comparison with a rater. With only RATINGS you get the
raters' agreement, means and standard deviations.

examples:
  metassay meta-eval --example study
  metassay meta-eval scores.csv ratings.csv
  metassay meta-eval scores.csv ratings.csv --lower errors --scale faithful=ordinal --out results
  metassay meta-eval --scores scores.csv --ratings ann.csv ben.csv
  metassay meta-eval ratings.csv

SCORES   doc_id, system, and one column per metric (wide); or doc_id, system, metric, value (long).
         Also judge, part.
RATINGS  doc_id, system, perhaps rater, and one column per criterion (wide); or doc_id, system,
         criterion, value (long). Also part, study.

A file is long if it has a column `metric` (RATINGS: `criterion`). The column `system` may be called
`author`. If both files lack it, one system wrote everything. Files are CSV in UTF-8 (commas,
semicolons, tabs), XLSX, JSON or Parquet. An empty cell, NaN, NA or - is missing, never 0. If no
column names the rater, each file of ratings counts as one rater, named after the file.
docs/meta-eval.md has an example and explains each number.

An option that takes names takes several, with commas or blanks between them, and can be repeated.
The first file ends the names, and so does `--`. Write a name that ends like a file as --lower=NAME,
and a name with a comma in double quotes: --lower '"a, b"'.""",
        arguments={
            "files": Argument(
                metavar="[SCORES] RATINGS",
                read=Path,
                nargs="*",
            ),
            "--scores": Argument(
                metavar="FILE",
                read=Path,
                several=True,
                help="the files of scores, if there are several files",
            ),
            "--ratings": Argument(
                metavar="FILE",
                read=Path,
                several=True,
                help="the files of ratings, if there are several files",
            ),
            "--columns": Argument(
                metavar="ROLE=COLUMN",
                several=True,
                help=(
                    "the roles of columns whose names and cells leave them open: doc, "
                    "system, rater, strata, cluster, family; part, of which each is a "
                    "text of its own, such as sentences; in one file only: "
                    "scores.doc=id; several side by side: ratings.raters=ann,ben; the "
                    "form of names that say several things: "
                    "ratings.wide={criterion}_{rater}"
                ),
            ),
            "--rows": ROWS,
            "--missing": MISSING,
            "--primary": PRIMARY,
            "--primary-criterion": PRIMARY_CRITERION,
            "--tried": TRIED,
            "--fitted": FITTED,
            "--by": BY,
            "--lower": LOWER,
            "--higher": HIGHER,
            "--scale": SCALE,
            "--compared": Argument(
                metavar="NAME,...",
                read=names,
                help="metrics to compare with each other (default: all, if at most 12)",
            ),
            "--confound": Argument(
                metavar="COLUMN,...",
                read=names,
                help="columns of SCORES that may explain a metric, and are not ranked",
            ),
            "--coefficient": Argument(
                choices=("pearson", "spearman", "kendall", "kendall_c"),
                default="pearson",
                help=(
                    "the coefficient to print and certify; the tables have all "
                    "(default %(default)s)"
                ),
            ),
            "--resample": Argument(
                choices=("documents", "systems", "both"),
                default="documents",
                help=(
                    "what the tests of metric against metric exchange (default "
                    "%(default)s)"
                ),
            ),
            "--resamples": Argument(
                metavar="NUMBER",
                read=int,
                default=1000,
                help=(
                    "resamples of the bootstrap; fewer where there are very many texts "
                    "(default %(default)s)"
                ),
            ),
            "--permutations": Argument(
                metavar="NUMBER",
                read=int,
                default=5000,
                help="permutations that each test draws (default %(default)s)",
            ),
            "--confidence": Argument(
                metavar="NUMBER",
                read=float,
                default=0.95,
                help=(
                    "confidence of the intervals; the level of tests is 1 minus this "
                    "(default %(default)s)"
                ),
            ),
            "--useful": Argument(
                metavar="NUMBER",
                read=float,
                default=0.3,
                help="the smallest useful correlation (default %(default)s)",
            ),
            "--margin": Argument(
                metavar="NUMBER",
                read=float,
                default=0.05,
                help=(
                    "how far below a rater a metric may be and still count as equal "
                    "(default %(default)s)"
                ),
            ),
            "--digits": Argument(
                metavar="NUMBER",
                read=int,
                default=17,
                help=(
                    "digits of scores and ratings to compare; 12 ties values that "
                    "differ only by rounding (default %(default)s)"
                ),
            ),
            "--seed": Argument(
                metavar="NUMBER",
                read=int,
                default=0,
                help="seed of all random numbers (default %(default)s)",
            ),
            "--out": Argument(
                metavar="DIR",
                read=Path,
                help="a folder for a page and all tables",
            ),
            "--figures": Argument(
                flag=True,
                help=(
                    "also write the forest plot as SVG and PNG, for a paper (pip "
                    "install matplotlib)"
                ),
            ),
            "--example": Argument(
                metavar="DIR",
                read=Path,
                help="write two files of an invented study to DIR, to start from",
            ),
        },
    ),
    "check": Command(
        run="check.check",
        core=True,
        summary="find out whether scores or verdicts agree with people, from any files",
        usage="metassay check FILE [FILE ...] [options]",
        about="""\
Find out whether scores or verdicts agree with people. The command recognises what the files hold,
says so, and answers:

  a table with a judge's verdicts and people's labels, of any kind: as judge-check
  a leaderboard: one row per system, with a column of people's scores
  preferences between two texts, also as MT-bench, FastChat, Arena, AlpacaEval, JudgeBench and
    LLMBar write them: files of judges and of people together
  labels by annotator and item, as JSON: a file of people and one of language models, as the authors
    of the alternative annotator test publish them
  SCORES RATINGS, two tables: as meta-eval

examples:
  metassay check verdicts.csv
  metassay check leaderboard.csv --human quality
  metassay check scores.csv ratings.csv

Options are those of judge-check. docs/judge-check.md explains the numbers. The exit code is 4 if
the lower end of an interval does not meet a requirement.""",
        arguments={
            "files": Argument(
                metavar="FILE",
                read=Path,
                nargs="+",
            ),
            **_OF_JUDGES,
        },
    ),
    "judge-check": Command(
        run="judge_check.judge_check",
        core=True,
        summary="find out how good a judge is, from one table; needs no project",
        usage="metassay judge-check FILE [options]",
        about="""\
Find out how good a judge is, from one table with its verdicts and people's labels. You get
sensitivity and specificity (or the numbers that suit classes, grades or rankings) with intervals,
the pass rate corrected for the judge's errors, and the rows on which it disagrees with people.

examples:
  metassay judge-check verdicts.csv
  metassay judge-check verdicts.csv --judge gpt --human ann ben --columns doc=visit
  metassay judge-check verdicts.csv --require sensitivity=.9 specificity=.8
  metassay judge-check next_month.csv --card card --margin .1

The table is CSV, XLSX, JSON or Parquet, with a row per text, or per text and rater. The labels
decide the statistics: pass and fail in usual words, 1 and 0, or a judge's probability of passing;
three or more words without order, such as error types; grades, as numbers or in usual words; other
numbers. Columns are guessed if their names leave only one choice, and the guess is printed. If only
some rows are labelled, each label is weighted by verdict and system. docs/judge-check.md explains
each number.

The exit code is 4 if the lower end of an interval does not meet a requirement, or if the card of
--card does not hold here. It is 3 if there are too few labels to tell whether it holds.""",
        arguments={
            "file": Argument(
                metavar="FILE",
                read=Path,
            ),
            **_OF_JUDGES,
        },
    ),
    "import": Command(
        run="importing.import_files",
        core=True,
        summary=(
            "read the files of another tool: Inspect, Ragas, promptfoo, Argilla, Label "
            "Studio ..."
        ),
        usage="metassay import KIND PATH [PATH ...] --out DIR [options]",
        about="""\
Turn the files of another evaluation tool into tables for judge-check and meta-eval. The verdicts of
judges, those of people and the texts have columns of their own. Inspect, promptfoo and MLflow
replace a judge's value by a person's correction; the judge's original is read. Nothing leaves this
machine. The output ends with the next command to type.

examples:
  metassay import inspect logs/run.eval --out imported
  metassay import promptfoo results.json --out imported

  verdicts.csv     an item per row: a column per judge, and one per person
  comparisons.csv  of preferences, a row per two texts: A, B or tie per judge and person
  texts.csv        document, system, text, source, reference
  data/            own data: sources.jsonl, texts.jsonl, scores.csv, ratings.csv

Marked spans are counted per text and label. Of preferences, scores and ratings are the share of
its comparisons that a text won.

docs/importing.md lists the fields that are read for each tool, and the next steps.""",
        arguments={
            "kind": Argument(
                metavar="KIND",
                help="%(choices)s",
                choices=(
                    "inspect",
                    "lm-eval",
                    "ragas",
                    "deepeval",
                    "promptfoo",
                    "langfuse",
                    "phoenix",
                    "mlflow",
                    "scout",
                    "label-studio",
                    "argilla",
                    "prodigy",
                    "doccano",
                    "inception",
                    "spans",
                    "preferences",
                ),
            ),
            "files": Argument(
                metavar="PATH",
                read=Path,
                nargs="+",
                help="a file, or a folder of files of that kind",
            ),
            "--out": Argument(
                metavar="DIR",
                read=Path,
                required=True,
                help="a new or empty folder",
            ),
            "--columns": Argument(
                metavar="ROLE=COLUMN",
                several=True,
                help=(
                    "fields of a record: doc=metadata.id and system=FIELD instead of "
                    "the tool's own; judge=FIELD and human=FIELD for further verdicts"
                ),
            ),
            "--accepted": Argument(
                flag=True,
                help=(
                    "ragas: outputs accepted without a target were reviewed, and agree "
                    "with the judge"
                ),
            ),
        },
    ),
    "completion": Command(
        run="completion.completion",
        summary="let a shell complete commands and names",
        about="""\
Print a script with which a shell completes commands, options and files, and in a project's folder
the names of benchmarks and datasets. Write it to a file, and again after an update of Metassay:

  bash  ~/.local/share/bash-completion/completions/metassay (with the package bash-completion), or
        any file that ~/.bashrc sources
  zsh   _metassay in a folder of your fpath, before compinit
  fish  ~/.config/fish/completions/metassay.fish""",
        arguments={
            "shell": Argument(
                choices=("bash", "zsh", "fish"),
            ),
        },
    ),
}
