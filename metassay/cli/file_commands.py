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
        help="verdicts; several judges are shown side by side",
    ),
    "--human": Argument(
        metavar="COLUMN",
        several=True,
        help="labels; several columns are several raters",
    ),
    "--columns": Argument(
        metavar="ROLE=COLUMN",
        several=True,
        help=(
            "doc, the document that several rows are about; system, the writer "
            "of the text; rater, who labelled it, if each rater has a row"
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
        help="write all tables there",
    ),
}

FILES: Mapping[str, Command] = {
    "meta-eval": Command(
        run="meta_eval.meta_eval",
        core=True,
        summary="which metric to trust, from two files, no project",
        usage="""\
metassay meta-eval [SCORES] RATINGS [options]
       metassay meta-eval [--scores FILE ...] --ratings FILE ... [options]
       metassay meta-eval --example DIR""",
        about="""\
Find out which metric to trust, for which decision, and how sure that is. You get each metric's
correlation with people at three levels, with intervals; its pairwise accuracy beside chance; and
the raters' own agreement as the ceiling. Two files are enough; no project is needed. With only
RATINGS you get the raters' agreement, means and standard deviations.

SCORES   doc_id, system, and one column per metric (wide); or doc_id, system, metric, value (long).
         Also judge, part.
RATINGS  doc_id, system, perhaps rater, and one column per criterion (wide); or doc_id, system,
         criterion, value (long). Also part, study.

A file is long if it has a column `metric` (RATINGS: `criterion`). The column `system` may be called
`author`. If both files lack it, one system wrote everything. Files are CSV in UTF-8 (commas,
semicolons, tabs), XLSX, JSON or Parquet. An empty cell, NaN, NA or - is missing, never 0.
An option that takes names takes several, with commas or blanks between them, and can be given
again; the first file ends the names, and so does `--`. Several files of a kind are named by
--scores and --ratings; where no column names the rater, each file of ratings is by one rater and
named after them. docs/meta-eval.md has an example and explains each number.

metassay meta-eval --example DIR writes a pair of files to start from.""",
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
                    "what columns hold, if their names and cells do not tell: doc, "
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
                help="write a page and all tables there",
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
                help="write two files to start from",
            ),
        },
    ),
    "check": Command(
        run="check.check",
        core=True,
        summary="do scores or verdicts agree with people: finds what files hold",
        usage="metassay check FILE [FILE ...] [options]",
        about="""\
Find out what files hold, say so, and answer. These are understood:

  a table with a judge's verdicts and people's labels, of any kind: as judge-check
  a leaderboard: one row per system, with a column of people's scores
  preferences between two texts, also as MT-bench, FastChat, Arena, AlpacaEval, JudgeBench and
    LLMBar write them: files of judges and of people together
  labels by annotator and item, as JSON: a file of people and one of language models, as the authors
    of the alternative annotator test publish them
  SCORES RATINGS, two tables: as meta-eval

Options are those of judge-check. docs/judge-check.md explains the numbers.

Exit code 4: the lower end of an interval does not meet a requirement.""",
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
        summary="is my judge any good: from one table, no project",
        about="""\
Find out whether a judge can be trusted, from one table with its verdicts and people's labels: CSV,
XLSX, JSON or Parquet, a row per text, or per text and rater. The labels decide the statistics: pass
and fail in usual words, 1 and 0, or a judge's probability of passing; three or more words without
order, such as error types; grades, as numbers or in usual words; other numbers. Columns are guessed
if their names leave only one choice, and the guess is printed. Where only some rows are labelled,
each label is weighted by verdict and system. docs/judge-check.md has examples and explains each
number.

Exit code 4: the lower end of an interval does not meet a requirement, or the card of --card does
not hold here. 3: too few labels to tell whether it holds.""",
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
            "read what another tool wrote: Inspect, Ragas, promptfoo, Argilla, Label "
            "Studio ..."
        ),
        about="""\
Read the files of another evaluation tool into a new folder: the verdicts of judges, those of people
in columns of their own, and the texts. Inspect, promptfoo and MLflow replace a judge's value by a
person's correction; the judge's original is read. Nothing leaves this machine.

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
Print a script with which a shell completes commands, options, files, and in a project's folder the
names of benchmarks and datasets. docs/index.md tells where to put it.""",
        arguments={
            "shell": Argument(
                choices=("bash", "zsh", "fish"),
            ),
        },
    ),
}
