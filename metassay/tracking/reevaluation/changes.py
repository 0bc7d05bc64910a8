"""The change report of a re-evaluation: one page, and the same in Markdown and CSV."""

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metassay.core.atomic import whole_file
from metassay.core.exit_codes import MEANINGS
from metassay.format.frames import escaped, records, to_csv
from metassay.format.numbers import counted, exact, probability, shown
from metassay.reporting.figures.drawing import draw, inline
from metassay.reporting.figures.systems import draw_history
from metassay.reporting.page import write_template
from metassay.reporting.section import Cell, Grid, Group, Section, count, number
from metassay.tables.names import metric_label
from metassay.tracking.comparison.differences import (
    CHANGED,
    IMPROVED,
    NOT_SHOWN,
    REGRESSED,
    SAME,
    UNKNOWN,
)
from metassay.tracking.reevaluation.history import History
from metassay.tracking.reevaluation.outcome import (
    ONE_SIDED,
    REPORTS,
    Outcome,
    documents_of,
    headline,
    row_name,
)
from metassay.tracking.reevaluation.texts import ChangedText, changed_texts
from metassay.tracking.sentinel import DriftResult

RUNS = 12  # of the history, in its table
_FOLDED = (UNKNOWN, NOT_SHOWN, SAME, ONE_SIDED)
_HEADS = ["number", "accepted", "now", "difference", "p, adjusted", "documents"]


@dataclass(frozen=True)
class ChangePage:
    """Everything the template prints: `alarms` first, then what is `calm`, facts, sections.

    `texts` are for the page alone: Markdown, which Prefect is sent, has keys and numbers.
    """

    benchmark: str
    alarms: list[str]
    calm: list[str]
    facts: list[tuple[str, str]]
    sections: list[Section]
    texts: Sequence[ChangedText] = ()


def write_report(root: Path, outcome: Outcome, history: History) -> None:
    """Write reports/changes/NAME: index.html, which needs nothing else, changes.md, changes.csv,
    certificates.csv. The page alone has texts.

    Equal outcomes and histories give equal bytes. Runs that are dated later than this one, by a
    clock that was wrong, are counted only.
    """
    later = int((history.runs["run"] > outcome.when).sum())
    history = History(*(table[table["run"] <= outcome.when] for table in history))
    folder = root / REPORTS / outcome.benchmark
    said = [line[:1].upper() + line[1:] for line in headline(outcome)]
    # Of a bad run the last sentence, what was done, is calm if there is another one.
    alarms = 0 if outcome.status == 0 else max(1, len(said) - 1)
    page = ChangePage(
        outcome.benchmark,
        said[:alarms],
        said[alarms:],
        [
            ("Run", outcome.when.replace("T", " ").replace("Z", " UTC")),
            ("Revision", outcome.revision or "no git here"),
            ("Accepted numbers", outcome.accepted or "none yet"),
            ("Exit status", _status(outcome.status, compared=outcome.compared is not None)),
        ],
        list(_sections(outcome, history, later)),
        changed_texts(root, outcome),
    )
    drawn = draw(draw_history, history.means)
    title = f"History of the main metrics of {outcome.benchmark}, per system; table below"
    figures = {} if drawn is None else {"history": inline(drawn.svg, "history", title)}
    if drawn is not None:
        _put(folder / "figures/history.svg", drawn.svg.encode())
        _put(folder / "figures/history.png", drawn.png)
    text = io.StringIO()
    write_template("changes.html.j2", text, figures, page=page, markdown=False)
    _put(folder / "index.html", text.getvalue().encode())
    _put(folder / "changes.md", _markdown(page).encode())
    _put(folder / "changes.csv", to_csv(outcome.changes).encode())
    _put(folder / "certificates.csv", to_csv(outcome.certificates).encode())


def _put(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)


def _status(code: int, *, compared: bool) -> str:
    return f"{code}: {MEANINGS[code] if code or compared else 'nothing accepted to compare with'}"


def _sections(outcome: Outcome, history: History, later: int) -> Iterator[Section]:
    if outcome.compared is not None:
        yield _changes(outcome)
        yield _causes(outcome)
        if not outcome.certificates.empty:
            yield _certificates(outcome)
    if outcome.missing:
        says = ["The next run asks again where that may help."]
        yield Section("models", "Language models", says, [], warnings=list(outcome.missing))
    if outcome.drift is not None:
        yield _sentinel(outcome.drift)
    yield _history(history, later)


def _changes(outcome: Outcome) -> Section:
    by_verdict = outcome.rows
    says = [
        "Each number is a system’s mean on one metric, over the documents scored both times. A"
        " paired test on these documents gives the verdict, adjusted for all rows together: where"
        " nothing changed, at most 5 % of runs call any row regressed, improved or changed (1 less"
        " params.yaml > comparison > confidence). Intervals are not adjusted."
    ]
    first = [v for v in (REGRESSED, IMPROVED, CHANGED) if by_verdict[v]]
    grids = [Grid(v, _HEADS, [_row(outcome, row) for row in by_verdict[v]]) for v in first]
    groups = [
        Group(
            v,
            counted(len(by_verdict[v]), "row"),
            [Grid("", _HEADS, [_row(outcome, row) for row in by_verdict[v]])],
        )
        for v in _FOLDED
        if by_verdict[v]
    ]
    if not grids:
        says.append("No score differs from the accepted ones beyond chance.")
    return Section("changes", "What changed", says, ["changes"], grids, groups)


def _row(outcome: Outcome, row: dict[str, Any]) -> tuple[str, list[Cell]]:
    furthest = ", ".join(documents_of(outcome, row))
    other = "" if row["same_recipe"] else "measured by another recipe"
    apart = row["n_only_before"] + row["n_only_after"]
    left_out = f"; {apart:,} only on one side" if apart else ""
    differ = f"{row['n_changed']:,} of {row['n']:,} differ{left_out}"
    notes = (furthest and f"furthest: {furthest}", row["why"], other)
    return row_name(row), [
        number(row["before"], _missing(row["n_failed_before"])),
        number(row["after"], _missing(row["n_failed_after"])),
        number(row["difference"], low=row["low"], high=row["high"]),
        Cell(probability(row["p_adjusted"]) or "–", stored=exact(row["p_adjusted"])),
        Cell(differ, tuple(filter(None, notes)), str(row["n_changed"]), "wrap"),
    ]


def _missing(number_of: int) -> str:
    return f"{counted(number_of, 'answer')} missing" if number_of else ""


def _causes(outcome: Outcome) -> Section:
    if not outcome.causes:
        says = ["Nothing that the scores are made of changed since they were accepted."]
        return Section("causes", "Why", says, [])
    rows = [(cause.kind, [Cell(cause.what), Cell(cause.stage)]) for cause in outcome.causes]
    says = [
        "What changed since the scores were accepted, each with the first stage that reads it."
        " Where several things changed, the effect of each alone is unknown."
    ]
    grid = Grid("", ["cause", "what differs", "stage"], rows, sort=False)
    return Section("causes", "Why", says, [], [grid])


def _certificates(outcome: Outcome) -> Section:
    heads = ["metric", "study", "criterion", "part", "level", "accepted", "now"]
    rows = [
        (
            metric_label(row["metric"], row["judge"]),
            [Cell(str(row[name])) for name in ("study", "criterion", "part", "level")]
            + [Cell(row[side] or "no verdict") for side in ("before", "after")],
        )
        for row in records(outcome.certificates)
    ]
    says = ["Metrics whose verdict changed since the numbers were accepted."]
    return Section("certificates", "Certificates", says, ["certificates"], [Grid("", heads, rows)])


def _sentinel(drift: Iterable[DriftResult]) -> Section:
    heads = ["judge", "state", "anchors answered", "other verdicts", "expected", "why"]
    rows = [
        (
            result.judge,
            [
                Cell(result.state, css="n" if result.alarm else ""),
                Cell(f"{result.answered:,} of {result.anchors:,}"),
                Cell("–" if result.changed is None else f"{result.changed:,}"),
                Cell("–")
                if result.expected is None or result.high is None
                else Cell(shown(result.expected), (f"up to {result.high:,} may be chance",)),
                Cell(result.why, css="wrap words"),
            ],
        )
        for result in drift
    ]
    says = ["Each judge was asked its anchors again, to see whether it still answers as it did."]
    return Section("sentinel", "Drift sentinel", says, [], [Grid("", heads, rows, sort=False)])


def _history(history: History, later: int) -> Section:
    counts = ["regressed", "improved", "alarms", "missing"]
    last = records(history.runs.tail(RUNS))[::-1]
    rows = [
        (
            row["run"].replace("T", " ").rstrip("Z"),
            [
                Cell(row["did"], (counted(row["stages"], "stage"),) if row["stages"] else ()),
                Cell(_status(row["status"], compared=row["compared"] is not None)),
                *(Cell("–", stored="") if row[n] is None else count(int(row[n])) for n in counts),
                Cell(row["revision"] or "–"),
            ],
        )
        for row in last
    ]
    says = [
        f"The last {counted(len(last), 'run')} of {len(history.runs):,}, times in UTC. A run that"
        " had nothing to do has the numbers of the run before it."
    ]
    if later:
        says.append(
            f"{counted(later, 'run')} of the history with a later date than this one: not shown,"
            " since a clock was wrong then or is wrong now."
        )
    grid = Grid("", ["run", "what it did", "status", *counts, "revision"], rows, sort=False)
    return Section("history", "History", says, [], [grid], figure="history")


def _markdown(page: ChangePage) -> str:
    """The page's own tables, without what it opens on demand and without the figure."""
    said = [f"# {page.benchmark}: changes", ""]
    said += [f"- **{escaped(line)}**" for line in page.alarms]
    said += [f"- {escaped(line)}" for line in page.calm]
    said += ["", *(f"- {term}: {escaped(text)}" for term, text in page.facts)]
    for section in page.sections:
        said += ["", f"## {section.heading}", ""]
        said.append("\n\n".join(map(escaped, (*section.warnings, *section.says))))
        for grid in section.grids:
            said += ["", *_table(grid)]
        groups = [f"- {group.title}: {group.soft}" for group in section.groups]
        said += ["", *groups] if groups else []
    return "\n".join(said) + "\n"


def _table(grid: Grid) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(map(escaped, cells))} |"

    caption = [f"### {grid.caption}", ""] if grid.caption else []
    rows = [
        line([name, *("; ".join([c.text, *c.notes]) for c in cells)]) for name, cells in grid.rows
    ]
    return [*caption, line(grid.heads), line(["---"] * len(grid.heads)), *rows]
