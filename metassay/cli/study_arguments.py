"""What `metassay study` takes; what it does is in study.py."""

import argparse
from collections.abc import Callable
from pathlib import Path

from metassay.studies import FORM_NAMES, FORMATS

ABOUT = """\
A study with people: `export` writes a sheet for each rater, `import` reads the sheets back and
writes studies/BENCHMARK/NAME/ratings.csv, which the benchmark's params.yaml then names.
docs/studies.md goes through one from sheet to certificate."""

EXPORT = """\
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

formats: xlsx and csv are sheets; label_studio is a project per rater (its tasks and interface)"""

IMPORT = """\
Read sheets that came back (rows in any order), or exports of Label Studio (JSON), hold them against
what was sent out, and write ratings.csv and comments.csv beside the key. Every problem is named at
once with file, row, column and remedy, and then nothing is written. Empty cells are missing
ratings, which is allowed; a row that is not there is a problem, unless --partial is given. A later
import replaces an earlier one: name all sheets each time."""


def add_commands(
    add: Callable[..., argparse.ArgumentParser],
    piped: Callable[[str, str, str], Callable[[argparse.Namespace], int]],
    count: Callable[[str], int],
) -> None:
    """Add `study` with its two actions; `piped` finds commands, `count` reads numbers from 1."""
    summary = "send sheets to raters, and read their ratings back"
    study = add("study", piped("study", "study", "export"), summary, ABOUT)
    actions = study.add_subparsers(required=True, metavar="ACTION")
    raw = argparse.RawDescriptionHelpFormatter
    writing = actions.add_parser(
        "export", help="write blinded sheets", description=EXPORT, formatter_class=raw
    )
    writing.add_argument("benchmark", metavar="BENCHMARK")
    say = writing.add_argument
    say("--form", required=True, choices=FORM_NAMES, help="what is asked; see below")
    say("--study", required=True, metavar="NAME", help="the study's name")
    say("--raters", default="3", metavar="RATERS", help="how many, or names: anna,ben (default 3)")
    say("--per-item", type=count, metavar="K", help="raters per item (default: all of them)")
    say("--items", type=count, metavar="N", help="so many items (default: all)")
    say("--seed", type=_seed, metavar="S", help="draws the same sheets again (default: by chance)")
    say("--rubric", default="", metavar="NAME", help="of rubric and facets: rubrics/NAME.yaml")
    say("--claims", choices=["reference", "output", "both"], default="reference", help="of claims")
    say("--shares", action="store_true", help="of pairs: ask how much each text covers, too")
    say(
        "--only-disagreements",
        nargs=2,
        metavar="METRIC",
        help="of pairs: only those of which one metric prefers one text and the other the other",
    )
    say("--format", choices=list(FORMATS), default="xlsx", help="of the sheets (default xlsx)")
    reading = actions.add_parser(
        "import", help="read sheets that came back", description=IMPORT, formatter_class=raw
    )
    reading.add_argument("benchmark", metavar="BENCHMARK")
    reading.add_argument("study", metavar="STUDY")
    reading.add_argument("files", metavar="FILE", type=Path, nargs="+")
    reading.add_argument("--partial", action="store_true", help="rows may be missing so far")
    for sub, command in ((writing, "export"), (reading, "import_back")):
        sub.add_argument("--out", type=Path, metavar="DIR", help="the study's folder, if another")
        sub.set_defaults(command=piped("study", "study", command))


def _seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("a whole number from 0")
    return number
