"""An outcome in words: for the terminal, the change report and Prefect. Keys and numbers only."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metassay.format.frames import records
from metassay.format.numbers import counted, equals, shown, shown_interval
from metassay.tables.names import FULL, metric_label
from metassay.tracking.comparison.differences import REGRESSED
from metassay.tracking.comparison.words import document
from metassay.tracking.reevaluation.outcome import (
    ALARMED,
    MISSING,
    NOTHING_REGRESSED,
    STAGE_FAILED,
    Outcome,
)

REPORTS = Path("reports/changes")
SHOWN = 20  # rows in the terminal and in an event; the page has all
CAUSES = 4  # in the headline
DOCUMENTS = 3  # keys named beside a row in the terminal

_EVENTS = {
    NOTHING_REGRESSED: "metassay.held",
    STAGE_FAILED: "metassay.failed",
    MISSING: "metassay.incomplete",
    ALARMED: "metassay.regressed",
}


def lines(outcome: Outcome) -> list[str]:
    """What to print of a run."""
    name = outcome.benchmark
    return [
        *(f"{name}: {line}" for line in headline(outcome)),
        *(f"  regressed: {line}" for line in _worst(outcome)),
        *(f"  {line}" for line in outcome.missing),
        *(f"  {result.sentence}" for result in outcome.drift or ()),
        f"changes: {REPORTS / name / 'index.html'}",
    ]


def headline(outcome: Outcome) -> list[str]:
    """The sentences that a hurried reader needs, the worst first."""
    if outcome.failed:
        failed = ", ".join(outcome.failed)
        return [f"not compared, for stages did not succeed: {failed}."]
    said = [_compared(outcome), *_one_sided(outcome)]
    if outcome.causes:
        first = ", ".join(map(str, outcome.causes[:CAUSES]))
        more = len(outcome.causes) - CAUSES
        said.append(f"what differs: {first}{f' and {more} more' if more > 0 else ''}.")
    if outcome.alarms:
        judges = ", ".join(result.judge for result in outcome.drift or () if result.alarm)
        said.append(f"the drift sentinel alarms: {judges} no longer judges as it did.")
    if outcome.lacking:
        lacking = counted(outcome.lacking, "answer")
        verb = "is" if outcome.lacking == 1 else "are"
        said.append(f"{lacking} of language models {verb} missing.")
    if outcome.unsettled:
        said.append(
            f"answers are missing, or texts failed, behind {counted(outcome.unsettled, 'number')}:"
            " whether they got worse is open."
        )
    if not outcome.stages:
        done = "nothing to do: nothing that a stage reads has changed since the last run."
    else:
        done = f"{counted(outcome.stages, 'stage')} looked at again, since something changed."
    return [*said, done]


def row_name(row: dict[str, Any]) -> str:
    """Metric, part and system of one row of `changes`."""
    part = "" if row["part"] == FULL else f", {row['part']}"
    return f"{metric_label(row['metric'], row['judge'])} of {row['author']}{part}"


def documents_of(outcome: Outcome, row: dict[str, Any]) -> list[str]:
    """Keys of the documents that moved furthest in a row, in that order."""
    table = outcome.documents
    for name in ("part", "metric", "judge", "author"):
        table = table[table[name] == row[name]]
    return [document(doc_id) for doc_id in table["doc_id"]]


def event(outcome: Outcome) -> str:
    """The name of Prefect's event; `metassay.drifted` if the sentinel alone alarms."""
    if outcome.status == ALARMED and not outcome.count(REGRESSED):
        return "metassay.drifted"
    return _EVENTS[outcome.status]


def payload(outcome: Outcome) -> dict[str, Any]:
    """What goes with the event."""
    fields = ("metric", "judge", "author", "part", "before", "after", "difference", "p_adjusted")
    return {
        "benchmark": outcome.benchmark,
        "run": outcome.when,
        "status": outcome.status,
        "accepted": outcome.accepted,
        "counts": outcome.counts,
        "regressed": [{name: row[name] for name in fields} for row in _regressed(outcome)[:SHOWN]],
        "causes": [{"kind": c.kind, "stage": c.stage, "what": c.what} for c in outcome.causes],
        "certificates": len(outcome.certificates),
        "missing": outcome.lacking,
        "alarms": outcome.alarms,
    }


def _compared(outcome: Outcome) -> str:
    if outcome.accepted is None:
        return (
            "nothing is accepted yet, so nothing is compared; look at"
            f" reports/{outcome.benchmark}/index.html, then `metassay accept {outcome.benchmark}`."
        )
    counts = outcome.counts
    regressed, compared = counts.pop(REGRESSED), counted(outcome.paired, "number")
    said = f"nothing regressed: {compared} compared with the accepted ones"
    if regressed:
        who = ", ".join(sorted({row["author"] for row in _regressed(outcome)}))
        whose = f" (of {who})" if who else ""
        said = f"{regressed} of {compared} regressed from the accepted ones{whose}"
    others = ", ".join(
        f"of {n} one {verdict}" if " " in verdict else f"{n} {verdict}"
        for verdict, n in counts.items()
        if n
    )
    said += f"; {others}." if others else "."
    if certificates := len(outcome.certificates):
        verb = "has" if certificates == 1 else "have"
        said += f" {counted(certificates, 'certificate')} {verb} another verdict."
    return said


def _one_sided(outcome: Outcome) -> Iterator[str]:
    """Systems and metrics that went or came: with nothing to compare, no verdict tells of them."""
    changes = outcome.changes
    for side, other, said in (
        ("n_only_before", "n_only_after", "no longer scored"),
        ("n_only_after", "n_only_before", "scored for the first time"),
    ):
        only = (changes["n"] == 0) & (changes[side] > 0) & (changes[other] == 0)
        systems = set(changes.loc[only, "author"]) - set(changes.loc[~only, "author"])
        of_others = changes[only & ~changes["author"].isin(systems)]
        pairs = zip(of_others["metric"], of_others["judge"], strict=True)
        names = [*sorted(systems), *sorted({metric_label(*pair) for pair in pairs})]
        if names:
            yield f"{said}, so not compared: {', '.join(names)}."


def _regressed(outcome: Outcome) -> list[dict[str, Any]]:
    changes = outcome.changes
    found = records(changes[changes["verdict"] == REGRESSED])
    return sorted(found, key=lambda row: (row["p_adjusted"], row_name(row)))


def _worst(outcome: Outcome) -> Iterator[str]:
    found = _regressed(outcome)
    for row in found[:SHOWN]:
        ends = shown_interval(row["low"], row["high"])
        documents = documents_of(outcome, row)
        named = ", ".join(documents[:DOCUMENTS])
        yield (
            f"{row_name(row)}: {shown(row['before'])} to {shown(row['after'])} (difference"
            f" {shown(row['difference'])} {ends}, adjusted {equals(row['p_adjusted'])};"
            f" {row['n_changed']} of {counted(row['n'], 'document')} differ, most: {named})"
        )
    if len(found) > SHOWN:
        yield f"and {len(found) - SHOWN} more"
