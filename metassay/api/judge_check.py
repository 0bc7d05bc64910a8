"""Check a judge: a table of verdicts and labels in; an answer, and the tables behind it, out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metassay.api.judge_answers import (
    LINES,
    one_line,
    wrap,
)
from metassay.api.label_check import Checked, check_labels
from metassay.api.label_columns import find_columns
from metassay.api.label_table import find_kind, read_labels
from metassay.api.labels import PASS_FAIL, Choices
from metassay.api.pass_check import check_passes_and_fails
from metassay.api.preference_check import check_pairs
from metassay.api.preference_study import holds_preferences, read_pairs
from metassay.api.ranking_study import (
    holds_rankings,
    read_rankings,
    refuse_odd_orders,
    refuse_single_labels,
)
from metassay.api.requirements import refuse_card, refuse_ends
from metassay.api.results import Results, list_names
from metassay.api.system_board import check_systems, holds_systems, read_systems
from metassay.api.verdict_table import read_verdicts
from metassay.core.errors import BadInput
from metassay.reporting.contract import Link, Problem
from metassay.reporting.shell import PageFolder
from metassay.reporting.warning_lines import problems_of
from metassay.statistics.card_transfer import MARGIN
from metassay.statistics.raters import EPSILON
from metassay.statistics.shares import WIDTH
from metassay.tabular.orders import order_columns, split_orders
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, frame_sheet


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
    claim: str = "",
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
    claim : str, optional
        Column with the text of each claim, whose kinds slice the rows: number, side,
        drug, negation, other.
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
        numbers of which less, or more, is better. If the names leave it open, you are asked.
    rows : mapping, optional
        Which rows count, by the values of a column: `{"Status": ["APPROVED"]}`. Asked for
        where rows may not count, as rejected submissions and failed attention checks.
    require : mapping, optional
        The smallest allowed lower end for numbers of the card, such as {"sensitivity":
        .9}. One that is not reached is in `unmet`, and no corrected pass rate is given.
    card : str or path, optional
        The folder of an earlier card, which `save` wrote for other texts. The table
        `transfer` says whether that card holds on these texts: `holds`, `worse` (then
        it is in `unmet`), `cannot tell`, or `not checked` without labels.
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
        claim=claim,
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
    return JudgeCheck(**_check_by_kind(sheet, choices)._asdict())


def _check_by_kind(sheet: Sheet, choices: Choices) -> Checked:
    """Return what the labels' kind tells; raises BadInput where the kind is unclear."""
    orders = order_columns(sheet, (*choices.judge, *choices.human))
    if orders:
        refuse_odd_orders(sheet, orders, choices)
        sheet, doc = split_orders(sheet, orders, choices.doc)
        choices = choices._replace(doc=doc)
    if holds_systems(sheet, choices):
        return check_systems(read_systems(sheet, choices))
    roles = find_columns(sheet, choices)
    refuse_single_labels(roles, orders)
    if holds_preferences(roles):
        refuse_card(roles.choices, sheet.name)
        refuse_ends(roles.choices, sheet.name)
        return check_pairs(read_pairs(roles))
    if holds_rankings(roles):
        refuse_card(roles.choices, sheet.name)
        return check_pairs(read_rankings(roles))
    refuse_ends(roles.choices, sheet.name)
    kind = find_kind(roles)
    if kind == PASS_FAIL:
        return check_passes_and_fails(read_verdicts(roles))
    refuse_card(roles.choices, sheet.name)
    return check_labels(read_labels(roles, kind))
