"""The change report of a re-evaluation: a page, and the same in Markdown and CSV, without texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.core.exit_codes import DONE, MEANINGS
from metassay.format.frames import escaped, records, to_csv, to_markdown
from metassay.format.numbers import counted
from metassay.reporting.contract import Link, Problem
from metassay.reporting.evidence import finish
from metassay.reporting.figures.pictures import draw_history
from metassay.reporting.page import Drawing, put_figures
from metassay.reporting.shell import PageFolder, put_since
from metassay.tables.summaries import SUMMARIES
from metassay.tracking.comparison.differences import (
    CHANGED,
    IMPROVED,
    NOT_SHOWN,
    REGRESSED,
    SAME,
    UNKNOWN,
)
from metassay.tracking.comparison.words import cause_lines, document, readable, sections
from metassay.tracking.reevaluation.history import History
from metassay.tracking.reevaluation.outcome import (
    ONE_SIDED,
    REPORTS,
    Outcome,
    documents_of,
    headline,
    since_accepted,
)
from metassay.tracking.reevaluation.texts import changed_texts, put_changed_texts

RUNS = 12  # of the history, in Markdown
_SHOWN = (REGRESSED, IMPROVED, CHANGED)
_FOLDED = (UNKNOWN, NOT_SHOWN, SAME, ONE_SIDED)
_SENTINEL = [
    *("judge", "state", "anchors", "answered", "failed", "changed", "expected", "high", "why"),
]
_RUN = ["run", "did", "stages", "status", "regressed", "improved", "alarms", "missing", "revision"]
_FIGURES = {
    "history": Drawing(
        draw_history, "history_means", "The main metrics of each system, run after run"
    )
}


def write_report(root: Path, outcome: Outcome, history: History) -> None:
    """Write reports/changes/NAME, whole or not at all: a page, changes.md, and tables as CSV.

    The benchmark's page then says in a line what changed, and leads here. The page alone has texts.
    Equal outcomes and histories give equal bytes. Runs that are dated later than this one, by a
    clock that was wrong, are counted only.
    """
    n_later = int((history.runs["run"] > outcome.when).sum())
    later = [f"{counted(n_later, 'run')} of the history {_CLOCK}"] if n_later else []
    history = History(*(table[table["run"] <= outcome.when] for table in history))
    said = [line[:1].upper() + line[1:] for line in headline(outcome)]
    # Of a bad run the last sentence, what was done, is calm if there is another one.
    alarms = 0 if outcome.status == 0 else max(1, len(said) - 1)
    tables = _tables(outcome, history)
    name = outcome.benchmark
    with whole_folder(root / REPORTS / name, "report", replace=True) as folder:
        for table, frame in tables.items():
            (folder / f"{table}.csv").write_bytes(to_csv(frame).encode())
        text = _markdown(outcome, tables, said[:alarms], said[alarms:], later)
        (folder / "changes.md").write_bytes(text.encode())
        page = PageFolder(folder)
        finish(
            page,
            "changes",
            tables,
            f"metassay watch check {name}",
            figures=put_figures(_FIGURES, {"history_means": history.means}, folder),
            name=f"{name}: changes",
            banners=[_status(outcome)] if outcome.status else [],
            answer=[*said, " ".join(f"{term}: {fact}." for term, fact in _facts(outcome))],
            problems=[
                *(Problem("missing", line) for line in outcome.missing),
                *(Problem("warning", line) for line in later),
                *(Problem("change", str(cause)) for cause in outcome.causes),
            ],
            texts=put_changed_texts(page, outcome, changed_texts(root, outcome)),
            links=[Link(f"../../{name}/index.html", "The whole report")],
        )
    link = Link(f"../{REPORTS.name}/{name}/index.html", since_accepted(outcome))
    put_since(root / REPORTS.parent / name, None if outcome.compared is None else link)


def _facts(outcome: Outcome) -> list[tuple[str, str]]:
    return [
        ("Run", outcome.when.replace("T", " ").replace("Z", " UTC")),
        ("Revision", outcome.revision or "no git here"),
        ("Accepted numbers", outcome.accepted or "none yet"),
    ]


def _status(outcome: Outcome) -> str:
    nothing = outcome.status == DONE and outcome.compared is None
    meaning = "nothing accepted to compare with" if nothing else MEANINGS[outcome.status]
    return f"Exit status {outcome.status}: {meaning}"


def _tables(outcome: Outcome, history: History) -> dict[str, pd.DataFrame]:
    """The tables of the page by name: what is worst, and latest, first."""
    by_verdict = outcome.rows
    changes = [
        row | {"verdict": verdict, "documents": " ".join(documents_of(outcome, row))}
        for verdict in (*_SHOWN, *_FOLDED)
        for row in sorted(by_verdict[verdict], key=lambda row: row["p_adjusted"] or 1.0)
    ]
    documents, causes = outcome.documents, outcome.causes
    drift = [[getattr(result, name) for name in _SENTINEL] for result in outcome.drift or ()]
    return {
        "changes": pd.DataFrame(changes, columns=[*outcome.changes.columns, "documents"]),
        "certificates": outcome.certificates,
        "causes": pd.DataFrame(causes, columns=list(SUMMARIES["causes"].columns)),
        "changed_documents": documents.assign(doc_id=documents["doc_id"].map(document)),
        "drift": pd.DataFrame(drift, columns=_SENTINEL),
        "history": history.runs.sort_values("run", ascending=False),
        "history_means": history.means.sort_values("run", ascending=False, kind="stable"),
    }


# The same in Markdown, which mails, artifacts and events may have: keys and numbers alone.


def _markdown(
    outcome: Outcome,
    tables: Mapping[str, pd.DataFrame],
    alarms: Sequence[str],
    calm: Sequence[str],
    later: Sequence[str],
) -> str:
    lines = [f"# {outcome.benchmark}: changes", ""]
    lines += [f"- **{escaped(line)}**" for line in alarms]
    lines += [f"- {escaped(line)}" for line in calm]
    lines += ["", *(f"- {term}: {escaped(fact)}" for term, fact in _facts(outcome))]
    lines += [f"- {_status(outcome)}", ""]
    if outcome.compared is not None:
        changes = tables["changes"]
        rows = records(changes[changes["verdict"].isin(_SHOWN)])
        lines += sections([readable(row, _notes(row)) for row in rows], outcome.certificates)
        for verdict in _FOLDED:
            if found := outcome.rows[verdict]:
                lines.append(f"- {verdict}: {counted(len(found), 'row')}")
        lines += ["", *map(escaped, cause_lines(outcome.causes)), ""]
    lines += [f"- {escaped(line)}" for line in outcome.missing]
    if outcome.drift is not None:
        lines += ["", "## Drift sentinel", "", to_markdown(tables["drift"])]
    runs = tables["history"]
    says = f"The last {counted(min(RUNS, len(runs)), 'run')} of {len(runs):,}, times in UTC."
    lines += ["", "## History", "", says, "", to_markdown(runs.head(RUNS)[_RUN]), *later]
    return "\n".join(lines) + "\n"


_CLOCK = "with a later date than this one: not shown, since a clock was wrong then or is wrong now."


def _notes(row: dict[str, Any]) -> str:
    """What is said of the documents behind a row."""
    apart = row["n_only_before"] + row["n_only_after"]
    notes = (
        f"{row['n_changed']:,} of {row['n']:,} differ",
        f"{apart:,} only on one side" if apart else "",
        f"furthest: {row['documents']}" if row["documents"] else "",
        row["why"],
        "" if row["same_recipe"] else "measured by another recipe",
    )
    return "; ".join(filter(None, notes))
