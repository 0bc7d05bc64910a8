"""The end of a run: the answer of each benchmark in at most 20 lines, and the exit code.

The answer tells which metric to use for which decision, how sure that is and what would
change it; then follow problems of the data, and where the rest is.
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
from metassay.core.params import AttackTest, Params
from metassay.core.stages import TABLES, files_in
from metassay.format.frames import records
from metassay.format.numbers import counted
from metassay.format.terms import DECISIONS
from metassay.meta_evaluation.study_warnings import too_small
from metassay.reporting.attack_card import attack_sentences
from metassay.reporting.certificates import advice, best_of
from metassay.reporting.headline import answers_of, notes_of
from metassay.reporting.names import ShownAs
from metassay.reporting.shell import ask_no_since
from metassay.reporting.warning_lines import warnings_of
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.judge_cards import JUDGE_CARDS
from metassay.tables.judge_tests import ATTACK_GAINS
from metassay.tables.parquet import read

LINES = 20  # printed at most per benchmark


class Part(NamedTuple):
    """Sentences of one sort; those without room are counted, with the table that has them."""

    lines: list[str]
    noun: str
    table: str

    def first(self, number: int, name: str) -> list[str]:
        """Return the first `number` lines, and how many more there are."""
        rest = len(self.lines) - number
        if not rest:
            return self.lines
        more = counted(rest, f"more {self.noun}" if number else self.noun)
        return [
            *self.lines[:number],
            f"{'and ' * bool(number)}{more}: {_show(name, self.table)}",
        ]


def print_summary(names: Iterable[str], params: Params) -> int:
    """Print the end of a run whose reports are up to date; return the exit code."""
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
    """Print the end of one benchmark; return whether answers of models are missing."""
    folder, evaluation = Path(TABLES) / name, params.every[name]
    title, parts = _answer(name, params, folder)
    notes = notes_of(folder, files_in(evaluation, "notes"))
    parts.append(
        Part([f"Note of {stage}: {note}" for stage, note in notes], "note", "notes")
    )
    missing = _missing(name, answers_of(folder, files_in(evaluation, "responses")))
    last = [f"more: {_show(name)}"]
    if name not in params.tunings:  # a tuning has no page
        last.append(f"report: {page(name)}")
        if name in params.benchmarks:
            ask_no_since(page(name).parent)

    def wrap(lines: Iterable[str]) -> list[str]:
        """Wrap lines to the terminal, continued ones indented."""
        texts = (
            Text(line).wrap(console, console.width - 2, overflow="fold")
            for line in lines
        )
        return [
            f"{'  ' * bool(n)}{row.plain.rstrip()}"
            for rows in texts
            for n, row in enumerate(rows)
        ]

    head, tail = wrap([title]), wrap(missing)
    room = LINES - len(head) - len(tail) - len(last)

    # As far as there is room: an answer for each decision, then a line of each part in
    # turn.
    def first_lines(numbers: list[int]) -> list[str]:
        pairs = zip(parts, numbers, strict=True)
        return wrap(line for part, number in pairs for line in part.first(number, name))

    numbers = [0] * len(parts)
    for place in [0] * len(DECISIONS) + [*range(len(parts))] * LINES:
        more = [*numbers]
        more[place] = min(more[place] + 1, len(parts[place].lines))
        numbers = more if len(first_lines(more)) <= room else numbers
    say(console, *head, *first_lines(numbers), *tail, *last, wrap=False)
    return bool(missing)


def _show(name: str, table: str = "") -> str:
    return f"metassay show {name} {table}".rstrip()


def _missing(name: str, answers: pd.DataFrame) -> list[str]:
    """Tell how many answers of language models are missing, and the remedy; empty if none is."""
    questions, missing, failed = (
        int(answers[n].sum()) for n in ("questions", "missing", "failed")
    )
    if not missing + failed:
        return []
    return [
        f"Of {counted(questions, 'answer')} of language models {missing:,} are missing and"
        f" {failed:,} failed for good; scores use the rest. To ask again: metassay run {name}"
        f" (--ask-again: also what failed); by model: {_show(name, 'answers')}"
    ]


def _answer(name: str, params: Params, folder: Path) -> tuple[str, list[Part]]:
    if name in params.benchmarks:
        return _metrics(name, params, folder)
    if name in params.tunings:
        models = (f"data/models/{model}" for model in params.tunings[name].models)
        return f"{name}: {', '.join(models)}", []
    if isinstance(params.every[name], AttackTest):
        return _attacks(name, params, folder)
    noun, right = (
        ("judge", "answers")
        if name in params.judge_tests
        else ("segmentation", "labels")
    )
    frame, _ = table_of(name, f"{noun}s", params)
    first, *heads = frame.columns
    lines = [
        f"{row[first]}: {', '.join(f'{head} {row[head]}' for head in heads)}"
        for row in records(frame)
    ]
    return f"{name}: {noun}s beside right {right}", [Part(lines, noun, f"{noun}s")]


def _attacks(name: str, params: Params, folder: Path) -> tuple[str, list[Part]]:
    shown_as = ShownAs.choose(params.shown_as, [], params.judge_tests[name].judges)
    gains = shown_as.frame(read(ATTACK_GAINS, folder / "attack_gains.parquet"))
    cards = shown_as.frame(read(JUDGE_CARDS, folder / "judge_cards.parquet"))
    lines = attack_sentences(gains, cards)
    title = f"{name}: what attacks gain from judges"
    return title, [Part(lines, "judge", "attack_gains")]


def _metrics(name: str, params: Params, folder: Path) -> tuple[str, list[Part]]:
    benchmark, confidence = (
        params.benchmarks[name],
        float(params.meta_evaluation["confidence"]),
    )
    shown_as = ShownAs.choose(params.shown_as, benchmark.writers, benchmark.judges)
    certificates = read(CERTIFICATES, folder / "certificates.parquet")
    answers = list(best_of(shown_as.frame(certificates)))
    if not benchmark.criteria:
        return (
            f"{name}: nobody rated these texts, so no metric can be tested against people. metassay"
            f" study export --help explains how to have them rated; scores: {_show(name, 'means')}"
        ), []
    if not answers:
        why = "whole texts" if len(certificates) else "texts that have scores"
        return (
            f"{name}: people rated no {why}, so no metric of these could be tested.",
            [],
        )
    leaders = [best for _, _, best in answers]
    systems, documents = (
        max(top.row[n] for top in leaders) for n in ("n_systems", "n_documents")
    )
    n_metrics = max(len(best.rows) for best in leaders)
    title = (
        f"{name}: {counted(n_metrics, 'metric')} tested against people"
        f" on {counted(systems, 'system')} and {counted(documents, 'document')}; r is corrected for"
        f" choosing the best, with its {100 * confidence:g} % interval."
    )
    in_answers = tuple(
        filter(None, (too_small(best.rows, confidence)[1:] for best in leaders))
    )
    warnings = [line for line in warnings_of(folder) if not line.endswith(in_answers)]
    part = Part([*advice(answers, confidence)], "answer", "trust")
    return title, [part, Part(warnings, "warning", "trust")]
