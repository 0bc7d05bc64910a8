"""`metassay judge-check FILE`: the command line of `metassay.judge_check`."""

import argparse
from pathlib import Path
from typing import Any

from metassay.cli.parsing import SEVERAL, add_names, roles_in
from metassay.core.exit_codes import DONE, WORSE

ABOUT = """\
Say whether a judge that passes or fails texts may be trusted, from one table with its verdicts and
people's labels: CSV, XLSX, JSON or Parquet, a row per text, or per text and rater. Labels are pass
and fail in usual words, 1 and 0, or a judge's probability of passing. Columns are guessed where
their names leave one choice, and the guess is printed. A row without a label is judged only; it
counts for the corrected pass rate. docs/judge-check.md has an example and says what each number is.

Exit code 4: a requirement is not met by the lower end of its interval."""


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """What the command takes."""
    sub.set_defaults(command=_judge_check)
    say = sub.add_argument
    say("file", metavar="FILE", type=Path)
    say("--judge", metavar="COLUMN", **SEVERAL, help="verdicts; several judges stand side by side")
    say("--human", metavar="COLUMN", **SEVERAL, help="labels; several columns are several raters")
    roles = (
        "doc, what several rows are about: they are alike; system, who wrote the text; rater, who"
        " labelled it, if each rater has a row"
    )
    say("--columns", metavar="ROLE=COLUMN", **SEVERAL, help=roles)
    add_names(say, ["by"])
    say("--pass", metavar="WORD", dest="passes", **SEVERAL, help="words that are a pass")
    number: dict[str, Any] = {"metavar": "NUMBER", "type": float}
    say("--pass-from", **number, help="the number from which on grades are a pass")
    least = "the least lower end, such as sensitivity=.9; may repeat"
    say("--require", metavar="NUMBER_OF_CARD=LEAST", type=_required, **SEVERAL, help=least)
    worse = "how much worse than a rater a judge may be: .2 experts, .15 skilled, .1 crowds"
    say("--epsilon", **number, default=0.2, help=f"{worse} (default %(default)s)")
    width = "say how many labels make intervals so wide (default %(default)s)"
    say("--width", **number, default=0.1, help=width)
    say("--confidence", **number, default=0.95, help="of the intervals (default %(default)s)")
    say("--seed", metavar="NUMBER", type=int, default=0, help="of all random numbers (default 0)")
    say("--out", type=Path, metavar="DIR", help="write all tables there")


def _required(word: str) -> tuple[str, float]:
    name, _, least = word.partition("=")
    try:
        return name, float(least)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r}: write it as sensitivity=.9") from None


def _judge_check(chosen: argparse.Namespace) -> int:
    from metassay.api.judge_check import checked
    from metassay.api.verdict_table import Choices
    from metassay.core.atomic import whole_folder
    from metassay.core.errors import BadInput
    from metassay.tabular.rows import Findings
    from metassay.tabular.sheet import read_sheet

    faults = Findings()
    sheet = read_sheet(chosen.file, faults)
    if faults or sheet is None:
        raise BadInput(faults.lines())
    words = vars(chosen)
    said: dict[str, Any] = {n: tuple(words[n]) for n in ("judge", "human", "by", "passes")}
    said |= {n: words[n] for n in ("pass_from", "epsilon", "confidence", "width", "seed")}
    said |= roles_in(chosen.columns, ("doc", "system", "rater"))
    found = checked(sheet, Choices(**said, mark="--", require=dict(chosen.require)))
    print("\n".join(found.screen))
    if chosen.out:
        with whole_folder(chosen.out, "--out") as folder:
            found.write(folder)
        print(f"written to {chosen.out}: {', '.join(f'{name}.csv' for name in found.tables)}")
    return WORSE if found.unmet else DONE
