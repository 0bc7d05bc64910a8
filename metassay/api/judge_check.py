"""Is a judge any good? One table of verdicts and labels in, one answer and its tables out."""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metassay import __version__
from metassay.api.judge_tables import (
    AC1,
    REQUIRED,
    WHOLE,
    Choices,
    Shown,
    people_of,
    tables,
    unmet,
)
from metassay.api.verdict_table import Columns, Verdicts, verdicts
from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput, raise_problems
from metassay.format.frames import records, to_csv
from metassay.format.numbers import counted, short, short_interval
from metassay.reporting.contract import CellInfo, Head, Link, Problem, SystemsInfo
from metassay.reporting.shell import PageFolder
from metassay.statistics.annotator_test import EPSILON
from metassay.statistics.shares import FEW_CLUSTERS, WIDTH
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, frame_sheet

_SYSTEMS = SystemsInfo(
    noun="judge",
    table="card",
    system="judge",
    metric=["statistic"],
    cell=CellInfo("value", "low", "high", "n"),
    better="",
    groups="",
    headline=["sensitivity", "specificity", "cohen_kappa", AC1],
)
LINES, WIDE = 20, 80  # the first screen
JUDGES = 3  # on the first screen
IDS = 5
_BOARD = {"sensitivity": "sensitivity", "specificity": "specificity", "cohen_kappa": "kappa",
          AC1: "Gwet's AC1"}  # fmt: skip
_ALIASES = {"kappa": "cohen_kappa", "ac1": AC1}


@dataclass(frozen=True, eq=False)
class JudgeCheck:
    """What a judge's verdicts are worth beside people's labels; each table is an attribute too.

    `board`: the judges side by side, as text. `answer`: what the tables say, in a sentence each.
    `unmet`: the requirements that the lower end of an interval does not reach, a line each.
    `notes`: how the table was read, and what was left out. `choices`: all that the numbers depend
    on beside the table. docs/judge-check.md describes the tables.
    """

    tables: Mapping[str, pd.DataFrame] = field(repr=False)
    board: tuple[str, ...]
    answer: tuple[str, ...]
    unmet: tuple[str, ...]
    notes: tuple[str, ...]
    choices: Mapping[str, object] = field(repr=False)

    def __getattr__(self, name: str) -> pd.DataFrame:
        there = self.__dict__.get("tables", {})
        if name not in there:
            names = ", ".join(there)
            raise AttributeError(f"no table is called {name!r} here; there are: {names}")
        return there[name]  # type: ignore[no-any-return]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def table(self, name: str) -> pd.DataFrame:
        """A table by its name, such as `card`; AttributeError lists the names that there are."""
        found: pd.DataFrame = getattr(self, name)
        return found

    @property
    def screen(self) -> tuple[str, ...]:
        """The first screen: at most 20 lines of 80 columns; what has no room is in the tables."""
        head = [*_wrapped(self.notes[0])[:2], *map(_one_line, self.notes[1:3])]
        many = f"; {len(self.unmet) - 1} more" if len(self.unmet) > 1 else ""
        failed = [_one_line(f"{self.unmet[0].rpartition(': ')[0]}{many}")] if self.unmet else []
        said = [line for one in self.answer for line in _wrapped(one)]
        every = [*head, *self.board, *failed, *said]
        if len(every) + 2 <= LINES:
            every = [*head, "", *self.board, "", *failed, *said]
        return tuple(every[:LINES])

    def __repr__(self) -> str:
        """The first screen, then the names of the tables."""
        return "\n".join([*self.screen, f"tables: {', '.join(self.tables)}"])

    def _repr_html_(self) -> str:
        """The same as notebooks show it."""
        return f"<pre>{escape(repr(self))}</pre>"

    def save(self, folder: str | Path) -> None:
        """Write a page, every table as CSV, `answer.txt`, `choices.json` and `notes.txt`.

        The folder must be new or empty, and appears whole or not at all; else BadInput. Tables have
        all their digits; a missing number is an empty cell.
        """
        with whole_folder(Path(folder), "save") as made:
            self.write(made)

    def write(self, folder: Path) -> None:
        """Write the same to a folder that is there and empty."""
        contents = {f"{name}.csv": to_csv(table) for name, table in self.tables.items()}
        contents["choices.json"] = f"{json.dumps(self.choices, indent=2, ensure_ascii=False)}\n"
        contents["answer.txt"] = "".join(f"{line}\n" for line in (*self.unmet, *self.answer))
        contents["notes.txt"] = "".join(f"{line}\n" for line in self.notes)
        for name, text in contents.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        self._write_page(folder)

    def _cards(self) -> Iterator[str]:
        """What stands on the first screen of the terminal beside the answer, as sentences."""
        card = records(self.tables["card"])
        for judge in dict.fromkeys(row["judge"] for row in card):
            mine = {
                row["statistic"]: row
                for row in card
                if (row["judge"], row["slice"]) == (judge, WHOLE)
            }
            numbers = ", ".join(f"{name} {_cell(mine[key])}" for key, name in _BOARD.items())
            rates = {row["method"]: row for row in _rows(self.tables, "pass_rates", judge)}
            each = ", ".join(f"{_cell(row)} {method}" for method, row in rates.items())
            yield f"{judge}: {numbers}. Pass rate: {each}."

    def _write_page(self, folder: Path) -> None:
        """Write index.html, which shows the answer and all tables."""
        from metassay.reporting.evidence import (  # slow; the screen needs none
            put_evidence,
            words_of,
        )

        kind, name = "judge check", str(self.choices["file"])
        page = PageFolder(folder)
        command = f"metassay judge-check {name} --out FOLDER"
        page.finish(
            Head(
                kind=kind,
                name=name,
                about=words_of(kind)["about"],
                made=f"Metassay {__version__}",
                answer=[*self.unmet, *self._cards(), *self.answer],
                problems=[Problem("warning", line) for line in self.notes],
                tables=put_evidence(page, self.tables, kind, command),
                systems=_SYSTEMS,
                links=[Link("choices.json", "Columns, words and options")],
            )
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
    if faults or sheet is None:
        raise BadInput(faults.lines())
    said = Columns(
        _several(judge), _several(human), doc, system, rater, _several(by), _several(passes),
        pass_from,
    )  # fmt: skip
    return checked(sheet, said, Choices(dict(require or {}), epsilon, confidence, width, seed))


def checked(sheet: Sheet, said: Columns, chosen: Choices) -> JudgeCheck:
    """What `judge_check` and the command both do with cells."""
    chosen = chosen._replace(require=_required(chosen, said.mark))
    given = verdicts(sheet, said)
    if not any(np.isfinite(one).any() for one in given.judges.values()):
        raise BadInput(f"{sheet.name}: no judge says anything; name a column with verdicts")
    made, shown = tables(given, chosen)
    return JudgeCheck(
        made,
        tuple(_board(made, shown)),
        tuple(_answer(given, made, shown, chosen)),
        tuple(line for one in shown for line in _unmet_lines(one, chosen)),
        tuple(_notes(given)),
        {**given.columns._asdict(), **chosen._asdict(), "file": sheet.name},
    )


def _several(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _required(chosen: Choices, mark: str) -> dict[str, float]:
    """The requirements by the card's names; raises BadInput for what is none, and other choices."""
    wrong = {name: getattr(chosen, name) for name in ("confidence", "width", "epsilon")}
    problems = [
        f"{mark}{name} {value:g}: write a number between 0 and 1"
        for name, value in wrong.items()
        if not 0 < value < 1
    ]
    require = {_ALIASES.get(name, name): least for name, least in chosen.require.items()}
    problems += [
        f"{mark}require {name}={least:g}: write one of {', '.join(REQUIRED)} and a number below 1"
        for name, least in require.items()
        if name not in REQUIRED or not -1 < least < 1
    ]
    raise_problems(problems)
    return require


def _unmet_lines(one: Shown, chosen: Choices) -> Iterator[str]:
    for name in unmet(one.card, chosen.require):
        value, low = short(one.card[name].value), short(one.card[name].low) or "unknown"
        yield (
            f"NOT MET: {one.judge}: {name} {value} has the lower end {low}, not"
            f" {short(chosen.require[name])} or more: no corrected pass rate is given"
        )


def _notes(given: Verdicts) -> Iterator[str]:
    people, items = people_of(given), given.items
    judged = np.isfinite(np.array([*given.judges.values()])).any(axis=0)
    rated, split = people.n > 0, people.share == 0.5
    alike = f"each row by itself ({given.columns.option('doc')} says what rows share)"
    if "doc" in items and not items["doc"].is_unique:
        documents = counted(items["doc"].nunique(), "document")
        alike = f"{documents} ({given.columns.doc}), whose rows count as alike"
    labelled = f"{int(rated.sum()):,} labelled by {counted(len(given.raters), 'rater')}"
    some = ((judged & ~rated, "judged only"), (rated & ~judged, "without a verdict"),
            (split, "split by raters and left out of the card"))  # fmt: skip
    more = [f"{np.count_nonzero(rows):,} {what}" for rows, what in some if rows.any()]
    each = ", ".join([counted(len(items), "row"), labelled, *more])
    yield f"{given.name}: {each}; {alike}"
    yield from given.notes
    if some[0][0].any():
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


def _rows(made: Mapping[str, pd.DataFrame], table: str, judge: str) -> list[dict[str, Any]]:
    return [row for row in records(made.get(table, pd.DataFrame())) if row["judge"] == judge]


def _board(made: Mapping[str, pd.DataFrame], shown: Sequence[Shown]) -> Iterator[str]:
    """The judges side by side: the card, then the pass rates."""

    def line(name: str, cells: Sequence[str]) -> str:
        return f"{_shorter(name):<16}{''.join(f'{cell:<15} ' for cell in cells)}".rstrip()

    some, methods = shown[:JUDGES], ("as judged", "corrected", "people alone")
    yield line(
        f"{JUDGES} of {len(shown)} judges" if len(shown) > JUDGES else "", [*_BOARD.values()]
    )
    for one in some:
        yield line(one.judge, [_cell(one.card[name]._asdict()) for name in _BOARD])
    card = [row for row in _rows(made, "card", shown[0].judge) if row["slice"] == WHOLE]
    base = {row["statistic"]: row["base_rate"] for row in card}
    yield line("base rate alone", [short(base[name]).replace("1.00", "1") for name in _BOARD])
    yield line("pass rate", methods)
    for one in some:
        rates = [row for row in _rows(made, "pass_rates", one.judge) if row["slice"] == WHOLE]
        mine = {row["method"]: row for row in rates}
        yield line(one.judge, [_cell(mine[method]) for method in methods])


def _answer(
    given: Verdicts, made: Mapping[str, pd.DataFrame], shown: Sequence[Shown], chosen: Choices
) -> Iterator[str]:
    first = shown[0].judge
    yield from _few_documents(given)
    yield _may_replace(shown, chosen)
    yield from _most_open(_rows(made, "labels", first), _shorter(first), chosen)
    if wrong := _rows(made, "disagreements", first):
        ids = ", ".join(str(row["id"]) for row in wrong[:IDS])
        many = f"{len(wrong):,} of {shown[0].card['agreement'].n:,}"
        yield _one_line(f"Disagreements of {_shorter(first)}: {many}, the surest first: {ids}")


def _few_documents(given: Verdicts) -> Iterator[str]:
    """Where a label is of so few documents that nobody can tell how alike their rows are."""
    passed = people_of(given).passed
    doc = given.items.get("doc", pd.Series(range(len(passed))))
    if doc[np.isfinite(passed)].is_unique:
        return
    many = {"fail": doc[passed == 0].nunique(), "pass": doc[passed == 1].nunique()}
    for verb, n in many.items():
        if 0 < n < FEW_CLUSTERS and all(many.values()):
            rows = f"rows of {counted(n, 'document')} only"
            yield f"WARNING: people {verb} {rows}: each document counts once."


def _may_replace(shown: Sequence[Shown], chosen: Choices) -> str:
    lead = "May it replace a rater?"
    raters = sum(np.isfinite(one.p) for one in shown[0].test.contests)
    if not raters:
        return f"{lead} Not told: that takes rows with labels by two people, better three."
    parts = []
    for judge, _, test, _ in shown[:JUDGES]:
        wins = sum(contest.wins for contest in test.contests)
        old = sum(contest.wins_published for contest in test.contests)
        told = np.isfinite(test.winning_rate_published) and old != wins
        published = f", {old} by the published test" if told else ""
        said = f"{'yes' if test.passes else 'not shown'}, as good as {wins} of {raters}"
        parts.append(f"{_shorter(judge)}: {said}{published}, advantage {short(test.advantage)}")
    guess = " So may one that knows only the base rate." if shown[0].base_rate_test.passes else ""
    few = " Two raters are few." if raters == 2 else ""
    return f"{lead} {'; '.join(parts)} (epsilon {short(chosen.epsilon)}).{guess}{few}"


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
