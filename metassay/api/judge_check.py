"""Is a judge any good? One table of verdicts and labels in, one answer and its tables out."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metassay.api.judge_tables import AC1, WHOLE, tables
from metassay.api.results import Results, as_tuple
from metassay.api.verdict_table import Choices, Verdicts, read_verdicts
from metassay.core.errors import BadInput, raise_problems
from metassay.format.frames import records
from metassay.format.numbers import counted, short, short_interval
from metassay.reporting.contract import Link, Problem
from metassay.reporting.shell import PageFolder
from metassay.statistics.annotator_test import EPSILON
from metassay.statistics.shares import WIDTH, worth_at_most
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, frame_sheet

LINES, WIDE = 20, 80  # the first screen
JUDGES, IDS = 3, 5  # on it
_BOARD = {"sensitivity": "sensitivity", "specificity": "specificity", "cohen_kappa": "kappa",
          AC1: "Gwet's AC1"}  # fmt: skip
_METHODS = ("as judged", "corrected", "people alone")
_ALIASES = {"kappa": "cohen_kappa", "ac1": AC1}
REQUIRED = (
    *("sensitivity", "specificity", "precision", "negative_predictive_value"),
    *("balanced_accuracy", "f1", "cohen_kappa", AC1, "mcc", "agreement"),
)  # what a gate may ask for


@dataclass(frozen=True, eq=False)
class JudgeCheck(Results):
    """What a judge's verdicts are worth beside people's labels; each table is an attribute too.

    `answer`: what the tables say, in a sentence each. `unmet`: the requirements that the lower end
    of an interval does not reach, a line each. `notes`: how the table was read, and what was left
    out. `choices`: all that the numbers depend on beside it. docs/judge-check.md describes tables.
    """

    answer: tuple[str, ...]
    unmet: tuple[str, ...]

    @property
    def screen(self) -> tuple[str, ...]:
        """The first screen: at most 20 lines of 80 columns; what has no room is in the tables."""
        head = [*_wrapped(self.notes[0])[:2], *map(_one_line, self.notes[1:3])]
        many = f"; {len(self.unmet) - 1} more" if len(self.unmet) > 1 else ""
        failed = [_one_line(f"{self.unmet[0].rpartition(': ')[0]}{many}")] if self.unmet else []
        said = [*failed, *(line for one in self.answer for line in _wrapped(one))]
        board = [*_board(self.tables)]
        if len([*head, *board, *said]) + 2 <= LINES:
            board = ["", *board, ""]
        return (*head, *board, *said)[:LINES]

    def __repr__(self) -> str:
        """The first screen, then the names of the tables."""
        return "\n".join([*self.screen, f"tables: {', '.join(self.tables)}"])

    def _texts(self) -> Mapping[str, Sequence[str]]:
        return {"answer.txt": (*self.unmet, *self.answer), "notes.txt": self.notes}

    def _write_page(self, folder: Path) -> None:
        from metassay.reporting.evidence import finish  # slow; the screen needs none

        name = str(self.choices["file"])
        finish(
            PageFolder(folder),
            "judge check",
            self.tables,
            f"metassay judge-check {name} --out FOLDER",
            systems={"headline": [*_BOARD]},
            name=name,
            answer=[*self.unmet, *_cards(self.tables), *self.answer],
            problems=[Problem("warning", line) for line in self.notes],
            links=[Link("choices.json", "Columns, words and options")],
        )


def judge_check(  # noqa: PLR0913 - one argument per choice, all named, as on the command line
    frame: Any,
    *,
    judge: str | Sequence[str] = (),
    human: str | Sequence[str] = (),
    doc: str = "",
    system: str = "",
    rater: str = "",
    by: str | Sequence[str] = (),
    passes: str | Sequence[str] = (),
    pass_from: float | None = None,
    require: Mapping[str, float] | None = None,
    epsilon: float = EPSILON,
    width: float = WIDTH,
    confidence: float = 0.95,
    seed: int = 0,
) -> JudgeCheck:
    """Say whether a judge that passes or fails texts may be trusted, from one table.

    Parameters
    ----------
    frame : frame of pandas, Arrow or polars
        One row per text (or per text and rater), with a judge's verdict and a person's label: pass
        and fail in usual words, 1 and 0, or, of a judge, a probability of passing.
    judge, human : str or sequence of str, optional
        Columns of verdicts and of labels. Several judges stand side by side; several people are
        raters, of whom the majority counts. Guessed where names leave one choice; `notes` say so.
    doc, system, rater : str, optional
        Columns with the document (what several rows are about: they count as alike), with who wrote
        the text, and with who labelled it, where each rater has a row.
    by : str or sequence of str
        Columns whose values slice the rows; so do systems.
    passes : str or sequence of str
        Words that are a pass, where they are not usual ones; every other word is then a fail.
    pass_from : float, optional
        The number from which on grades are a pass.
    require : mapping, optional
        The least lower end of a number of the card, such as {"sensitivity": .9}. Where it is not
        reached, it is in `unmet`, and no corrected pass rate is given.
    epsilon : float
        How much of the items a judge may be worse than a rater and still replace one: .2 for
        experts, .15 for skilled raters, .1 for crowds.
    width : float
        The width of intervals for which `labels` says how many labels it takes.
    confidence, seed
        Of the intervals, and of all random numbers.

    Returns
    -------
    JudgeCheck
        The answer, the tables behind it, and what is worth knowing of them.

    Raises
    ------
    BadInput
        With every problem at once, each with a remedy.

    Notes
    -----
    Rows without a label are judged only: they count for the corrected pass rate, for which the
    labelled ones must be a random sample. A row that half of its raters pass is left out of the
    card, and counted. Missing is left out and counted, never 0. Methods and sources:
    docs/judge-check.md.
    """
    faults = Findings()
    sheet = frame_sheet(frame, "the table", faults, "hand over a row per text")
    said = Choices(
        *(as_tuple(judge), as_tuple(human), doc, system, rater, as_tuple(by), as_tuple(passes)),
        *(pass_from, "", dict(require or {}), epsilon, confidence, width, seed),
    )
    return check_sheet(sheet, said, faults)


def check_sheet(sheet: Sheet | None, said: Choices, faults: Findings) -> JudgeCheck:
    """What `judge_check` and the command both do with cells."""
    if faults or sheet is None:
        raise BadInput(faults.lines())
    given = read_verdicts(sheet, said._replace(require=_required(said)))
    if not any(np.isfinite(one).any() for one in given.judges.values()):
        raise BadInput(f"{sheet.name}: no judge says anything; name a column with verdicts")
    made, unmet = tables(given)
    return JudgeCheck(
        *(made, tuple(_notes(given)), {**given.choices._asdict(), "file": sheet.name}),
        *(tuple(_answer(given, made)), tuple(unmet)),
    )


def _required(chosen: Choices) -> dict[str, float]:
    """The requirements by the card's names; raises BadInput for what is none, and other choices."""
    problems = [
        f"{chosen.mark}{name} {getattr(chosen, name):g}: write a number between 0 and 1"
        for name in ("confidence", "width", "epsilon")
        if not 0 < getattr(chosen, name) < 1
    ]
    require = {_ALIASES.get(name, name): least for name, least in chosen.require.items()}
    known = f"write one of {', '.join(REQUIRED)} and a number below 1"
    problems += [
        f"{chosen.mark}require {name}={least:g}: {known}"
        for name, least in require.items()
        if name not in REQUIRED or not -1 < least < 1
    ]
    raise_problems(problems)
    return require


_Tables = Mapping[str, pd.DataFrame]


def _rows(made: _Tables, table: str, judge: str) -> list[dict[str, Any]]:
    """A judge's rows of a table, of all items and not of slices."""
    every = records(made[table]) if table in made else []
    return [row for row in every if row["judge"] == judge and row.get("slice", WHOLE) == WHOLE]


def _by(key: str, made: _Tables, table: str, judge: str) -> dict[str, dict[str, Any]]:
    return {row[key]: row for row in _rows(made, table, judge)}


def _judges(made: _Tables) -> list[str]:
    return [*made["card"]["judge"].unique()]


def _notes(given: Verdicts) -> Iterator[str]:
    items = given.items
    judged = np.isfinite(np.array([*given.judges.values()])).any(axis=0)
    rated, split = given.n > 0, given.share == 0.5
    alike = f"each row by itself ({given.choices.option('doc')} says what rows share)"
    if "doc" in items and not items["doc"].is_unique:
        documents = counted(items["doc"].nunique(), "document")
        alike = f"{documents} ({given.choices.doc}), whose rows count as alike"
    labelled = f"{int(rated.sum()):,} labelled by {counted(len(given.raters), 'rater')}"
    some = {"judged only": judged & ~rated, "without a verdict": rated & ~judged,
            "split by raters and left out of the card": split}  # fmt: skip
    more = [f"{np.count_nonzero(rows):,} {what}" for what, rows in some.items() if rows.any()]
    each = ", ".join([counted(len(items), "row"), labelled, *more])
    yield f"{given.name}: {each}; {alike}"
    yield from given.notes
    if (judged & ~rated).any():
        yield "the corrected rate holds where the labelled rows are a random sample of all judged"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, WIDE, subsequent_indent="  ", break_on_hyphens=False)


def _one_line(line: str) -> str:
    return textwrap.shorten(line, WIDE, placeholder=" …")


def _shorter(name: str) -> str:
    return name if len(name) < 16 else f"{name[:14]}…"


def _cell(row: Mapping[str, Any]) -> str:
    if row.get("refused"):
        return "refused"
    said = f"{short(row['value']) or '–'} {short_interval(row['low'], row['high'])}"
    return said.strip().replace("1.00", "1")


def _cells(made: _Tables, judge: str) -> tuple[dict[str, str], dict[str, str]]:
    """A judge's card and its pass rates, as they are shown, by name."""
    card, rates = _by("statistic", made, "card", judge), _by("method", made, "pass_rates", judge)
    shown = {name: _cell(card[key]) for key, name in _BOARD.items()}
    return shown, {method: _cell(rates[method]) for method in _METHODS}


def _cards(made: _Tables) -> Iterator[str]:
    """What stands on the first screen of the terminal beside the answer, as sentences."""
    for judge in _judges(made):
        card, rates = _cells(made, judge)
        numbers = ", ".join(f"{name} {cell}" for name, cell in card.items())
        each = ", ".join(f"{cell} {method}" for method, cell in rates.items())
        yield f"{judge}: {numbers}. Pass rate: {each}."


def _board(made: _Tables) -> Iterator[str]:
    """The judges side by side: the card, then the pass rates."""

    def line(name: str, cells: Iterable[str]) -> str:
        return f"{_shorter(name):<16}{''.join(f'{cell:<15} ' for cell in cells)}".rstrip()

    every = _judges(made)
    cells = {judge: _cells(made, judge) for judge in every[:JUDGES]}
    yield line(f"{JUDGES} of {len(every)} judges" if len(every) > JUDGES else "", _BOARD.values())
    yield from (line(judge, card.values()) for judge, (card, _) in cells.items())
    card = _by("statistic", made, "card", every[0])
    base = [short(card[name]["base_rate"]).replace("1.00", "1") for name in _BOARD]
    yield line("base rate alone", base)
    yield line("pass rate", _METHODS)
    yield from (line(judge, rates.values()) for judge, (_, rates) in cells.items())


def _answer(given: Verdicts, made: _Tables) -> Iterator[str]:
    first, *_ = _judges(made)
    if np.isfinite(worth_at_most(given.passed, given.cluster)):  # too few tell how alike rows are
        labels = {"fail": given.passed == 0, "pass": given.passed == 1}
        n, verb = min((np.unique(given.cluster[here]).size, verb) for verb, here in labels.items())
        rows = f"rows of {counted(n, 'document')} only"
        yield f"WARNING: people {verb} {rows}: each document counts once."
    yield _may_replace(made)
    yield from _most_open(_rows(made, "labels", first), _shorter(first), given.choices)
    if wrong := _rows(made, "disagreements", first):
        n = _by("statistic", made, "card", first)["agreement"]["n"]
        many, ids = f"{len(wrong):,} of {n:,}", ", ".join(str(row["id"]) for row in wrong[:IDS])
        yield _one_line(f"Disagreements of {_shorter(first)}: {many}, the surest first: {ids}")


def _may_replace(made: _Tables) -> str:
    lead, found = "May it replace a rater?", records(made["replacement"])
    if not (raters := found[0]["n_raters"]):
        return f"{lead} Not told: that takes rows with labels by two people, better three."
    parts = []
    for row in found[:JUDGES]:
        contests = _rows(made, "contests", row["judge"])
        wins, old = (sum(one[k] for one in contests) for k in ("wins", "wins_published"))
        told = row["winning_rate_published"] is not None and old != wins
        published = f", {old} by the published test" if told else ""
        said = (
            f"{'yes' if row['passes'] else 'not shown'}, as good as {wins} of {raters}{published}"
        )
        parts.append(f"{_shorter(row['judge'])}: {said}, advantage {short(row['advantage'])}")
    guess = " So may one that knows only the base rate." if found[0]["base_rate_passes"] else ""
    few = " Two raters are few." if raters == 2 else ""
    return f"{lead} {'; '.join(parts)} (epsilon {short(found[0]['epsilon'])}).{guess}{few}"


def _most_open(rows: Sequence[Mapping[str, Any]], judge: str, chosen: Choices) -> Iterator[str]:
    """How many labels settle what was asked, or else bring intervals to the width."""
    if not chosen.require:
        each = [f"{r['more']:,.0f} {r['for'].replace('_', ' ')}" for r in rows if r["more"]]
        lead = f"More labels until an interval is {short(chosen.width)} wide ({judge})"
        yield from [f"{lead}: {', '.join(each)}."] * bool(each)
    for row in [row for row in rows if row["aim"].startswith("lower end") and row["more"] != 0]:
        more = f"{row['more'] or 0:,.0f} more labels may reach the {row['aim']}"
        below = "the value is unknown, or not above what is required: labels alone will not help"
        yield f"{row['for']}: {below if row['more'] is None else more}."
