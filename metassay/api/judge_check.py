"""Check a judge: a table of verdicts and labels in; an answer, and the tables behind it, out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    LINES,
    Tables,
    board_line,
    cell_of,
    may_replace,
    name_disagreements,
    one_line,
    rows_by,
    rows_of,
    shorten,
    wrap,
)
from metassay.api.judge_choice import choice_rows, choice_sentences, choose_best
from metassay.api.judge_tables import (
    find_choices,
    judge_on,
    make_tables,
    unlabelled_systems,
)
from metassay.api.label_check import check_labels
from metassay.api.label_table import PASS_FAIL, find_kind, read_labels
from metassay.api.preference_check import check_pairs
from metassay.api.preference_study import holds_preferences, read_pairs
from metassay.api.ranking_study import holds_rankings, read_rankings
from metassay.api.requirements import check_requirements, refuse_card, refuse_ends
from metassay.api.results import Results, list_names
from metassay.api.system_board import check_systems, holds_systems, read_systems
from metassay.api.verdict_table import Choices, Verdicts, find_columns, read_verdicts
from metassay.core.errors import BadInput
from metassay.format.numbers import counted, short
from metassay.meta_evaluation.card_numbers import weigh_labels
from metassay.meta_evaluation.label_warnings import (
    warn_of_choice,
    warn_of_few_labels,
    warn_of_one_label,
    warn_of_unlabelled,
)
from metassay.reporting.contract import Link, Problem
from metassay.reporting.shell import PageFolder
from metassay.reporting.warning_lines import problems_of
from metassay.statistics.card_transfer import MARGIN
from metassay.statistics.raters import EPSILON
from metassay.statistics.shares import THRESHOLD, WIDTH, judgments, worth_at_most
from metassay.statistics.weighted_cards import AC1
from metassay.tables.data_warnings import DataWarning, warnings_table
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, frame_sheet

_BOARD = {"sensitivity": "sensitivity", "specificity": "specificity", "cohen_kappa": "kappa",
          AC1: "Gwet's AC1"}  # fmt: skip
_METHODS = ("as judged", "corrected", "people alone")
REQUIRED = (
    "sensitivity",
    "specificity",
    "precision",
    "negative_predictive_value",
    "balanced_accuracy",
    "f1",
    "cohen_kappa",
    AC1,
    "mcc",
    "agreement",
)  # numbers of the card that may be required


@dataclass(frozen=True, eq=False)
class JudgeCheck(Results):
    """The results of `judge_check`; each table is an attribute too.

    `answer`: what the tables show, in sentences. `unmet`: a line for each requirement
    that the lower end of an interval does not reach, and for each rate that is worse
    than that of the card handed over. `warnings`: what to know before
    its numbers are trusted. `notes`: how the table was read, and what was left out.
    `choices`: all that the numbers depend on beside the table. `board`: the numbers of
    the first screen, as lines; `cards`: the same as sentences; `headline`: their names.
    docs/judge-check.md has the tables of each kind of labels.
    """

    answer: tuple[str, ...]
    unmet: tuple[str, ...]
    board: tuple[str, ...]
    cards: tuple[str, ...]
    headline: tuple[str, ...]

    @property
    def screen(self) -> tuple[str, ...]:
        """The first screen, at most 20 lines of 80 columns; the tables have the rest."""
        head = [*wrap(self.notes[0])[:2], *map(one_line, self.notes[1:3])]
        more = f"; {len(self.unmet) - 1} more" if len(self.unmet) > 1 else ""
        failed = (
            [one_line(f"{self.unmet[0].rpartition(': ')[0]}{more}")]
            if self.unmet
            else []
        )
        sentences = [f"WARNING: {line}" for line in self.warnings]
        sentences += self.answer
        answer = failed + [line for sentence in sentences for line in wrap(sentence)]
        board = [*self.board]
        if len([*head, *board, *answer]) + 2 <= LINES:
            board = ["", *board, ""]
        return (*head, *board, *answer)[:LINES]

    @property
    def further_notes(self) -> tuple[str, ...]:
        """The notes that the first screen leaves out or cuts short."""
        cut = [note for note in self.notes[1:3] if one_line(note) != note]
        return (*cut, *self.notes[3:])

    def __repr__(self) -> str:
        """The first screen, then the names of the tables."""
        return "\n".join([*self.screen, f"tables: {', '.join(self.tables)}"])

    def _texts(self) -> Mapping[str, Iterable[str]]:
        return {"answer.txt": (*self.unmet, *self.answer), **super()._texts()}

    def _write_page(self, folder: Path) -> None:
        from metassay.reporting.page import write_page  # slow; the screen needs none

        name = str(self.choices["file"])
        write_page(
            PageFolder(folder),
            "judge check",
            self.tables,
            f"metassay judge-check {name} --out FOLDER",
            systems={"headline": [*self.headline]} if "card" in self.tables else {},
            name=name,
            answer=[*self.unmet, *self.cards, *self.answer],
            problems=[
                *problems_of(self.warning_lines),
                *(Problem("warning", line) for line in self.notes),
            ],
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
    missing: str | Sequence[str] = (),
    classes: str | Sequence[str] = (),
    lower: str | Sequence[str] = (),
    higher: str | Sequence[str] = (),
    rows: Mapping[str, Sequence[str]] | None = None,
    require: Mapping[str, float] | None = None,
    card: str | Path = "",
    margin: float = MARGIN,
    choose: str = "",
    epsilon: float = EPSILON,
    width: float = WIDTH,
    confidence: float = 0.95,
    seed: int = 0,
) -> JudgeCheck:
    """Find out whether a judge can be trusted, from one table of its verdicts and people's labels.

    The labels decide the statistics: passes and fails, classes without order, grades, or
    other numbers.

    Parameters
    ----------
    frame : frame of pandas, Arrow or polars
        One row per text (or per text and rater), with a judge's verdict and a person's
        label: pass and fail in usual words, 1 and 0, or, for a judge, a probability of
        passing; three or more words without order, such as error types; grades, as
        numbers or in usual words; other numbers.
    judge, human : str or sequence of str, optional
        Columns of verdicts and of labels. Several judges are shown side by side;
        several people are raters, whose majority counts. Guessed if names leave only
        one choice; `notes` name them.
    doc, system, rater : str, optional
        Columns with the document (rows about the same one count as alike), the writer
        of the text, and the rater, if each rater has a row.
    by : str or sequence of str
        Columns whose values slice the rows; systems do so as well.
    passes : str or sequence of str
        Words that are a pass, if they are unusual ones; every other word is then a
        fail.
    pass_from : float, optional
        The lowest grade that is a pass.
    missing : str or sequence of str
        Words that are neither a pass nor a fail, such as "unsure": such a cell counts
        as empty.
    classes : str or sequence of str
        Words that are a label of their own, such as "unsure". Labels are then classes
        without order, whatever they are called.
    lower, higher : str or sequence of str
        Columns of ranks of which 1 is the best (`lower`) or the worst (`higher`), and of
        numbers of which less, or more, is better. Asked for where names do not tell.
    rows : mapping, optional
        Which rows count, by the values of a column: `{"Status": ["APPROVED"]}`. Asked for
        where rows may not count, as rejected submissions and failed attention checks.
    require : mapping, optional
        The smallest allowed lower end for numbers of the card, such as {"sensitivity":
        .9}. One that is not reached is in `unmet`, and no corrected pass rate is given.
    card : str or path, optional
        A folder that `save` wrote for other texts. The table `transfer` says whether the
        card of that folder holds on these: `holds`, `worse` (then it is in `unmet`),
        `cannot tell`, or `not checked` without labels.
    margin : float
        By how much sensitivity and specificity may be lower here than on that card.
        Choose it before you look.
    choose : str, optional
        `agreement` or `balanced_accuracy`: choose the best of several judges by it, on a
        random half of the documents; the table `choice` has what the other half tells of
        it, and whether it is better than the first judge, which is in use.
    epsilon : float
        The share of items by which a judge may be worse than a rater and still replace
        one: .2 for experts, .15 for skilled raters, .1 for crowds.
    width : float
        The width of intervals for which `labels` has the number of labels needed.
    confidence, seed
        Confidence of the intervals, and seed of all random numbers.

    Returns
    -------
    JudgeCheck
        The answer, the tables behind it, and notes on them.

    Raises
    ------
    BadInput
        With all problems at once, each with a remedy.

    Notes
    -----
    Each label is weighted by the rows that it stands for: those with its verdict, of its
    system and slice. A row that half of its raters pass is left out of the card, and counted.
    Missing values are left out and counted, never 0. Methods and sources: docs/judge-check.md.
    """
    faults = Findings()
    sheet = frame_sheet(frame, "the table", faults, "hand over a row per text")
    choices = Choices(
        judge=list_names(judge),
        human=list_names(human),
        doc=doc,
        system=system,
        rater=rater,
        by=list_names(by),
        passes=list_names(passes),
        pass_from=pass_from,
        missing=list_names(missing),
        classes=list_names(classes),
        lower=list_names(lower),
        higher=list_names(higher),
        rows={column: list_names(values) for column, values in (rows or {}).items()},
        require=dict(require or {}),
        card=str(card),
        margin=margin,
        choose=choose,
        epsilon=epsilon,
        confidence=confidence,
        width=width,
        seed=seed,
    )
    return check_sheet(sheet, choices, faults)


def check_sheet(sheet: Sheet | None, choices: Choices, faults: Findings) -> JudgeCheck:
    """Check a sheet, for `judge_check` and the command; raises BadInput with all faults."""
    if faults or sheet is None:
        raise BadInput(faults.lines())
    card = read_card(Path(choices.card)) if choices.card else None
    if holds_systems(sheet, choices):
        return JudgeCheck(**check_systems(read_systems(sheet, choices))._asdict())
    roles = find_columns(sheet, choices)
    if holds_preferences(roles):
        refuse_card(roles.choices, sheet.name)
        refuse_ends(roles.choices, sheet.name)
        return JudgeCheck(**check_pairs(read_pairs(roles))._asdict())
    if holds_rankings(roles):
        refuse_card(roles.choices, sheet.name)
        return JudgeCheck(**check_pairs(read_rankings(roles))._asdict())
    refuse_ends(roles.choices, sheet.name)
    kind = find_kind(roles)
    if kind != PASS_FAIL:
        refuse_card(roles.choices, sheet.name)
        checked = check_labels(read_labels(roles, kind))
        return JudgeCheck(**checked._asdict())
    required = check_requirements(choices, REQUIRED)
    verdicts = read_verdicts(
        roles._replace(choices=roles.choices._replace(require=required))
    )
    if not any(np.isfinite(values).any() for values in verdicts.judges.values()):
        raise BadInput(
            f"{sheet.name}: no judge has a verdict; name a column with verdicts"
        )
    tables, unmet = make_tables(verdicts)
    answer = [*_answer(verdicts, tables)]
    if card is not None:
        check_passes(card, verdicts.choices)
        looks = pd.DataFrame(transfer_rows(card, tables["card"], verdicts.choices))
        tables["transfer"] = looks
        unmet += lines_of_worse(looks, card.name, choices.margin)
        answer = [*transfer_sentences(looks, card.name, choices.margin), *answer]
    if verdicts.choices.choose:
        choice = choose_best(verdicts)
        tables["choice"] = pd.DataFrame(
            choice_rows(choice, verdicts.judges, verdicts.choices.choose)
        )
        answer = [*choice_sentences(choice, tables["choice"], verdicts), *answer]
    warnings = warnings_table(find_warnings(verdicts))
    return JudgeCheck(
        tables=tables if warnings.empty else {**tables, "warnings": warnings},
        notes=tuple(_notes(verdicts)),
        choices={
            **verdicts.choices._asdict(),
            "file": sheet.name,
            "kind": PASS_FAIL,
        },
        answer=tuple(answer),
        unmet=tuple(unmet),
        board=tuple(_board(tables)),
        cards=tuple(_cards(tables)),
        headline=tuple(_BOARD),
    )


def find_warnings(verdicts: Verdicts) -> Iterator[DataWarning]:
    """Yield what users should know before they trust the numbers of the judges."""
    # too few clusters
    if np.isfinite(worth_at_most(verdicts.passed, verdicts.cluster)):
        labels = {"fail": verdicts.passed == 0, "pass": verdicts.passed == 1}
        clusters = {
            verb: np.unique(verdicts.cluster[rows]).size
            for verb, rows in labels.items()
        }
        n, verb = min((n, verb) for verb, n in clusters.items())
        rows = f"rows of {counted(n, 'document')} only"
        finding = f"People {verb} {rows}: each document counts once."
        yield DataWarning(kind="labels", finding=finding)
    # A system without any label has a warning of its own.
    yield from warn_of_choice(
        [
            test
            for test in find_choices(verdicts)
            if test.factor != verdicts.choices.system
            or (test.labelled and test.other_labelled)
        ]
    )
    whole, unlabelled = np.ones(len(verdicts.items), dtype=np.bool_), dict[str, None]()
    for name in verdicts.judges:
        judged = judge_on(name, verdicts, whole)
        if weigh_labels(judged, THRESHOLD) is not None:
            verdict = judgments(judged.judge)
            yield from warn_of_few_labels(verdict, judged.people, "rows", name)
        unlabelled |= dict.fromkeys(unlabelled_systems(name, verdicts, whole))
    yield from warn_of_unlabelled([*unlabelled], verdicts.choices.system, "rows")
    yield from warn_of_one_label(verdicts.passed, "rows")


def _notes(verdicts: Verdicts) -> Iterator[str]:
    items = verdicts.items
    judged = np.isfinite(np.array([*verdicts.judges.values()])).any(axis=0)
    rated, split = verdicts.n > 0, verdicts.share == 0.5
    alike = (
        f"each row by itself ({verdicts.choices.option('doc')} says what rows share)"
    )
    if "doc" in items and not items["doc"].is_unique:
        documents = counted(items["doc"].nunique(), "document")
        alike = f"{documents} ({verdicts.choices.doc}), whose rows count as alike"
    labelled = (
        f"{int(rated.sum()):,} labelled by {counted(len(verdicts.raters), 'rater')}"
    )
    counts = {"judged only": judged & ~rated, "without a verdict": rated & ~judged,
              "split by raters and left out of the card": split}  # fmt: skip
    more = [
        f"{np.count_nonzero(rows):,} {what}"
        for what, rows in counts.items()
        if rows.any()
    ]
    sizes = ", ".join([counted(len(items), "row"), labelled, *more])
    yield f"{verdicts.name}: {sizes}; {alike}"
    yield from verdicts.notes
    if (judged & ~rated).any():
        yield "each label is weighted by the rows with its verdict and of its system"


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


def _answer(verdicts: Verdicts, tables: Tables) -> Iterator[str]:
    first = tables["card"]["judge"].iloc[0]
    yield may_replace(tables)
    yield from _more_labels(tables, first, verdicts.choices)
    n = rows_by("statistic", tables, "card", first)["agreement"]["n"]
    yield from name_disagreements(tables, first, n)


def _more_labels(tables: Tables, judge: str, choices: Choices) -> Iterator[str]:
    """Tell how many labels would meet the requirements, or without any, make intervals narrow."""
    rows, card = (
        rows_of(tables, "labels", judge),
        rows_by("statistic", tables, "card", judge),
    )
    if not choices.require:
        counts = [
            f"{row['more']:,.0f} {row['for'].replace('_', ' ')}"
            for row in rows
            if row["more"]
        ]
        width = short(choices.width)
        lead = f"More labels until an interval is {width} wide ({shorten(judge)})"
        yield from [f"{lead}: {', '.join(counts)}."] * bool(counts)
    for row in rows:
        if not row["aim"].startswith("lower end") or row["more"] == 0:
            continue
        number = card[row["for"]]
        if number["value"] is None:
            yield f"{row['for']}: is undefined, as {number['why_blank']}."
        elif row["more"] is None:
            not_above = "the value is not above what is required"
            yield f"{row['for']}: {not_above}: labels alone will not help."
        else:
            more = f"{row['more']:,.0f} more labels may reach the {row['aim']}"
            yield f"{row['for']}: {more}."
