"""Check a judge that passes or fails: the answer in words."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from metassay.api.card_transfer import (
    check_passes,
    lines_of_worse,
    read_card,
    transfer_rows,
    transfer_sentences,
)
from metassay.api.judge_answers import (
    JUDGES,
    Tables,
    board_line,
    cell_of,
    may_replace,
    name_disagreements,
    rows_by,
)
from metassay.api.judge_choice import choice_rows, choice_sentences, choose_best
from metassay.api.label_check import (
    Checked,
    list_notes,
    more_labels,
    require_verdicts,
    warn_of_labels,
)
from metassay.api.label_tables import make_label_tables
from metassay.api.labels import Labels
from metassay.api.pass_tables import analyse_passes, judge_on
from metassay.format.numbers import counted, short
from metassay.meta_evaluation.card_numbers import weigh_labels
from metassay.meta_evaluation.label_warnings import (
    warn_of_few_labels,
    warn_of_one_label,
)
from metassay.statistics.classification import AC1
from metassay.statistics.shares import THRESHOLD, judgments, worth_at_most
from metassay.tables.data_warnings import DataWarning, warnings_table

_BOARD = {"sensitivity": "sensitivity", "specificity": "specificity", "cohen_kappa": "kappa",
          AC1: "Gwet's AC1"}  # fmt: skip
_METHODS = ("as judged", "corrected", "people alone")
# The numbers for which labels are counted, and what they are called in the answer.
_NEEDED = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "pass_rate": "pass rate",
}


def check_passes_and_fails(labels: Labels) -> Checked:
    """Return all that is said of judges that pass or fail; raises BadInput without a verdict."""
    choices = labels.choices
    card = read_card(Path(choices.card)) if choices.card else None
    labels = require_verdicts(labels)
    tables, unmet = make_label_tables(labels, analyse_passes(labels))
    answer = [*_answer(labels, tables)]
    if card is not None:
        check_passes(card, labels.choices)
        looks = pd.DataFrame(transfer_rows(card, tables["card"], labels.choices))
        tables["transfer"] = looks
        unmet += lines_of_worse(looks, card.name, choices.margin)
        if card.kinds and not choices.claim:
            option = choices.caller.column("claim", "COLUMN")
            answer.insert(0, f"To check each kind of claim of the card, say {option}.")
        answer = [*transfer_sentences(looks, card.name, choices.margin), *answer]
    if choices.choose:
        choice = choose_best(labels)
        tables["choice"] = pd.DataFrame(
            choice_rows(choice, labels.judges, choices.choose)
        )
        answer = [*choice_sentences(choice, tables["choice"], labels), *answer]
    doubts = warnings_table(find_warnings(labels))
    return Checked(
        tables=tables if doubts.empty else {**tables, "warnings": doubts},
        notes=tuple(list_notes(labels)),
        choices={
            **labels.choices.recorded,
            "file": labels.name,
            "kind": labels.kind,
        },
        answer=tuple(answer),
        unmet=tuple(unmet),
        board=tuple(_board(tables)),
        cards=tuple(_cards(tables)),
        headline=tuple(_BOARD),
    )


def find_warnings(labels: Labels) -> Iterator[DataWarning]:
    """Yield what users should know before they trust the numbers of the judges."""
    # too few clusters
    if np.isfinite(worth_at_most(labels.passed, labels.cluster)):
        side = {"fail": labels.passed == 0, "pass": labels.passed == 1}
        clusters = {
            verb: np.unique(labels.cluster[rows]).size for verb, rows in side.items()
        }
        n, verb = min((n, verb) for verb, n in clusters.items())
        rows = f"rows of {counted(n, 'document')} only"
        finding = f"People {verb} {rows}: each document counts once."
        yield DataWarning(kind="labels", finding=finding)
    yield from warn_of_labels(labels, partial(_warn_of_judge, labels=labels))
    yield from warn_of_one_label(labels.passed, "rows")


def _warn_of_judge(name: str, labels: Labels) -> Iterator[DataWarning]:
    judged = judge_on(name, labels, np.ones(len(labels.items), dtype=np.bool_))
    if weigh_labels(judged, THRESHOLD) is not None:
        verdict = judgments(judged.judge)
        yield from warn_of_few_labels(verdict, judged.people, "rows", name)


def _cells(tables: Tables, judge: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the cells of a judge's card and of its pass rates, by name."""
    card = rows_by("statistic", tables, "card", judge)
    rates = rows_by("method", tables, "pass_rates", judge)
    numbers = {name: cell_of(card[key]) for key, name in _BOARD.items()}
    return numbers, {method: cell_of(rates[method]) for method in _METHODS}


def _cards(tables: Tables) -> Iterator[str]:
    """Write each judge's card and pass rates as a sentence, for the page."""
    for judge in tables["card"]["judge"].unique():
        card, rates = _cells(tables, judge)
        numbers = ", ".join(f"{name} {cell}" for name, cell in card.items())
        shares = ", ".join(f"{method} {cell}" for method, cell in rates.items())
        yield f"{judge}: {numbers}. Pass rate: {shares}."


def _board(tables: Tables) -> Iterator[str]:
    """Show the judges side by side: the card, then the pass rates."""

    judges = tables["card"]["judge"].unique()
    cells = {judge: _cells(tables, judge) for judge in judges[:JUDGES]}
    yield board_line(
        f"{JUDGES} of {len(judges)} judges" if len(judges) > JUDGES else "",
        _BOARD.values(),
    )
    yield from (board_line(judge, card.values()) for judge, (card, _) in cells.items())
    card = rows_by("statistic", tables, "card", judges[0])
    base = [short(card[name]["base_rate"]).replace("1.00", "1") for name in _BOARD]
    yield board_line("base rate alone", base)
    yield board_line("pass rate", _METHODS)
    yield from (
        board_line(judge, rates.values()) for judge, (_, rates) in cells.items()
    )


def _answer(labels: Labels, tables: Tables) -> Iterator[str]:
    first = tables["card"]["judge"].iloc[0]
    yield may_replace(tables)
    yield from more_labels(labels, tables, first, _NEEDED)
    n = rows_by("statistic", tables, "card", first)["agreement"]["n"]
    yield from name_disagreements(tables, first, n)
