"""What a run ends with: the answer of each benchmark in at most 20 lines, and the exit code.

Which metric to use for which decision, how sure that is and what would change it; then what is
wrong with the data, and where the rest is.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from rich.console import Console
from rich.text import Text

from metassay.cli.show import table_of
from metassay.cli.terminal import page, say
from metassay.core.exit_codes import DONE, INCOMPLETE
from metassay.core.params import Params
from metassay.core.stages import TABLES, files_in
from metassay.format.frames import records
from metassay.format.numbers import counted
from metassay.format.terms import DECISIONS
from metassay.reporting.certificates import advice, best_of, limits_of, too_small
from metassay.reporting.headline import answers_of, notes_of
from metassay.reporting.names import ShownAs
from metassay.reporting.shell import ask_no_since
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.parquet import read

LINES = 20  # at most so many are printed of one benchmark


class Part(NamedTuple):
    """Sentences of one sort; those that find no room are counted, with the table that has them."""

    lines: list[str]
    noun: str
    table: str

    def first(self, number: int, name: str) -> list[str]:
        """So many of them, and how many more there are."""
        rest = len(self.lines) - number
        if not rest:
            return self.lines
        more = counted(rest, f"more {self.noun}" if number else self.noun)
        return [*self.lines[:number], f"{'and ' * bool(number)}{more}: {_show(name, self.table)}"]


def closing(names: Iterable[str], params: Params) -> int:
    """Print the end of a run whose reports are up to date; the exit code."""
    console = Console()
    lacking = [name for name in names if _summarise(name, params, console)]
    if not lacking:
        return DONE
    print(
        f"every report is up to date, but answers of models are missing: {', '.join(lacking)}",
        file=sys.stderr,
    )
    return INCOMPLETE


def _summarise(name: str, params: Params, console: Console) -> bool:
    """Print the end of one folder; returns whether answers of models are missing."""
    folder, own = Path(TABLES) / name, params.every[name]
    title, parts = _answer(name, params, folder)
    notes = notes_of(folder, files_in(own, "notes"))
    parts.append(Part([f"Note of {stage}: {note}" for stage, note in notes], "note", "notes"))
    missing = _missing(name, answers_of(folder, files_in(own, "responses")))
    last = [f"more: {_show(name)}"]
    if name not in params.tunings:  # they have no page
        last.append(f"report: {page(name)}")
        if name in params.benchmarks:
            ask_no_since(page(name).parent)

    def wrapped(lines: Iterable[str]) -> list[str]:
        """As they stand on the terminal: what goes on in a next line is indented there."""
        found = (Text(line).wrap(console, console.width - 2, overflow="fold") for line in lines)
        return [
            f"{'  ' * bool(n)}{row.plain.rstrip()}" for rows in found for n, row in enumerate(rows)
        ]

    head, tail = wrapped([title]), wrapped(missing)
    room = LINES - len(head) - len(tail) - len(last)

    # What there is room for: an answer for each decision, then a line of each part in turn.
    def printed(numbers: list[int]) -> list[str]:
        chosen = zip(parts, numbers, strict=True)
        return wrapped(line for part, number in chosen for line in part.first(number, name))

    numbers = [0] * len(parts)
    for place in [0] * len(DECISIONS) + [*range(len(parts))] * LINES:
        more = [*numbers]
        more[place] = min(more[place] + 1, len(parts[place].lines))
        numbers = more if len(printed(more)) <= room else numbers
    say(console, *head, *printed(numbers), *tail, *last, wrap=False)
    return bool(missing)


def _show(name: str, table: str = "") -> str:
    return f"metassay show {name} {table}".rstrip()


def _missing(name: str, asked: pd.DataFrame) -> list[str]:
    """How many answers of language models are missing, and what to do; nothing where none is."""
    questions, missing, failed = (int(asked[n].sum()) for n in ("questions", "missing", "failed"))
    if not missing + failed:
        return []
    return [
        f"Of {counted(questions, 'answer')} of language models {missing:,} are missing and"
        f" {failed:,} failed for good; scores are of the rest. To ask again: metassay run {name}"
        f" (--ask-again: what failed, too); by model: {_show(name, 'answers')}"
    ]


def _answer(name: str, params: Params, folder: Path) -> tuple[str, list[Part]]:
    """What was asked of this folder, and the answer."""
    if name in params.benchmarks:
        return _metrics(name, params, folder)
    if name in params.tunings:
        models = (f"data/models/{one}" for one in params.tunings[name].models)
        return f"{name}: {', '.join(models)}", []
    noun, right = ("judge", "answers") if name in params.judge_tests else ("segmentation", "labels")
    frame, _ = table_of(name, f"{noun}s", params)
    first, *heads = frame.columns
    lines = [
        f"{row[first]}: {', '.join(f'{head} {row[head]}' for head in heads)}"
        for row in records(frame)
    ]
    return f"{name}: {noun}s beside right {right}", [Part(lines, noun, f"{noun}s")]


def _metrics(name: str, params: Params, folder: Path) -> tuple[str, list[Part]]:
    benchmark, confidence = params.benchmarks[name], float(params.meta_evaluation["confidence"])
    shown_as = ShownAs.of(params.shown_as, benchmark.writers, benchmark.judges)
    certificates = read(CERTIFICATES, folder / "certificates.parquet")
    found = list(best_of(shown_as.frame(certificates)))
    if not benchmark.criteria:
        return (
            f"{name}: nobody rated these texts, so no metric can be tested against people. metassay"
            f" study export --help says how to have them rated; scores: {_show(name, 'means')}"
        ), []
    if not found:
        why = "whole texts" if len(certificates) else "texts that have scores"
        return f"{name}: people rated no {why}, so no metric of them could be tested.", []
    every = [best for _, _, best in found]
    systems, documents = (max(best.row[n] for best in every) for n in ("n_systems", "n_documents"))
    title = (
        f"{name}: {counted(max(len(best.rows) for best in every), 'metric')} tested against people"
        f" on {counted(systems, 'system')} and {counted(documents, 'document')}; r is corrected for"
        f" choosing the best, with its {100 * confidence:g} % interval."
    )
    said = tuple(filter(None, (too_small(best.rows, confidence)[1:] for best in every)))
    warnings = [line for line in limits_of(folder, confidence) if not line.endswith(said)]
    answers = Part([*advice(found, confidence)], "answer", "trust")
    return title, [answers, Part(warnings, "warning", "trust")]
