"""What a re-evaluation of one benchmark came to: numbers beside accepted ones, and words.

The words are for the terminal, the change report and Prefect: keys and numbers only.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.exit_codes import DONE, DRIFTED, FAILED, INCOMPLETE, WORSE
from metassay.core.options import BENCHMARKS
from metassay.format.frames import records
from metassay.format.numbers import counted, equals, shown, shown_interval
from metassay.tables.names import FULL, metric_label
from metassay.tables.parquet import Table, as_written, empty, write
from metassay.tables.tracking import CHANGED_DOCUMENTS, CHANGES, HISTORY, HISTORY_MEANS
from metassay.tracking.comparison.causes import Cause
from metassay.tracking.comparison.differences import (
    CHANGED,
    IMPROVED,
    REGRESSED,
    ROW,
    UNKNOWN,
    ComparisonOptions,
    Differences,
    compare,
)
from metassay.tracking.comparison.differences import VERDICTS as EVERY_VERDICT
from metassay.tracking.comparison.sides import ACCEPTED, Side, here, of_lock
from metassay.tracking.comparison.words import certificate_lines, document
from metassay.tracking.sentinel.anchors import read_kept
from metassay.tracking.sentinel.checking import DriftResult

VERDICTS: Final = (REGRESSED, IMPROVED, CHANGED, UNKNOWN)  # those worth a word
ONE_SIDED: Final = "not compared"  # what came or went since, or was scored on no side

BLIND: Final = ("cannot tell", "another judge")  # a check of the sentinel that says nothing


REPORTS = Path("reports/changes")
_SHORT = {UNKNOWN: "undecided"}
SHOWN = 20  # rows in the terminal and in an event; the page has all
CAUSES = 4  # in the headline
SHOWN_CERTIFICATES = 4  # named in the headline
DOCUMENTS = 3  # keys named beside a row in the terminal

_EVENTS = {
    DONE: "metassay.held",
    FAILED: "metassay.failed",
    INCOMPLETE: "metassay.incomplete",
    WORSE: "metassay.regressed",
    DRIFTED: "metassay.drifted",
}


@dataclass(frozen=True)
class Outcome:
    """One run's outcome for one benchmark.

    `when`: UTC, to the second. `revision`: of git; None without. `stages`: how many were looked at
    again since something they read differs; `failed` names those that did not succeed, and then
    nothing is compared. `accepted`: the first digits of the accepted lock's hash; None if nothing
    is accepted, and then nothing is compared either. `certificates` have the verdicts that differ.
    `lacking` counts answers of language models that are missing, `missing` says which. `drift` is
    None where there are no anchors.
    """

    benchmark: str
    when: str
    revision: str | None
    stages: int
    failed: Sequence[str] = ()
    accepted: str | None = None
    compared: Differences | None = None
    causes: Sequence[Cause] = ()
    certificates: pd.DataFrame = field(default_factory=pd.DataFrame)
    lacking: int = 0
    missing: Sequence[str] = ()
    drift: Sequence[DriftResult] | None = None
    side: Side | None = None

    @property
    def changes(self) -> pd.DataFrame:
        """Table CHANGES; no rows where nothing was compared."""
        return empty(CHANGES) if self.compared is None else self.compared.changes

    @property
    def documents(self) -> pd.DataFrame:
        """Table CHANGED_DOCUMENTS."""
        return empty(CHANGED_DOCUMENTS) if self.compared is None else self.compared.documents

    @property
    def _two_sided(self) -> "pd.Series[bool]":
        """Rows of `changes` that are no one's who came or went since, and scored at least once."""
        sides = (
            [f"n_only_{one}" for one in ("before", "after")],
            *(["n_only_" + one, "n_failed_" + one] for one in ("before", "after")),
        )
        there = [self.changes[["n", *names]].sum(axis=1) > 0 for names in sides]
        return there[0] & there[1] & there[2]

    @property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Every row of `changes` once, by its verdict; under ONE_SIDED those that have none."""
        found: dict[str, list[dict[str, Any]]] = {one: [] for one in (*EVERY_VERDICT, ONE_SIDED)}
        for row, two_sided in zip(records(self.changes), self._two_sided, strict=True):
            found[row["verdict"] if two_sided else ONE_SIDED].append(row)
        return found

    def count(self, verdict: str) -> int:
        """How many rows have this verdict."""
        return len(self.rows[verdict])

    @property
    def n_compared(self) -> int:
        """How many rows have a verdict."""
        return sum(len(rows) for verdict, rows in self.rows.items() if verdict != ONE_SIDED)

    @property
    def unsettled(self) -> int:
        """Rows that missing answers, or texts that failed, leave open, or that now lack more. Not
        those of what came or went since: `lacking` tells of a newcomer's."""
        rows = self.changes["lacks_answers"] & self._two_sided
        return int(rows.sum()) if self.compared else 0

    @property
    def alarms(self) -> int:
        """How many judges the drift sentinel finds changed or gone."""
        return sum(result.alarm for result in self.drift or ())

    @property
    def status(self) -> int:
        """The exit code, that of the worst that happened."""
        if self.failed:
            return FAILED
        if self.count(REGRESSED):
            return WORSE
        if self.alarms:
            return DRIFTED
        blind = any(result.state in BLIND for result in self.drift or ())
        return INCOMPLETE if self.lacking or self.unsettled or blind else DONE

    @property
    def counts(self) -> dict[str, int]:
        """Rows by the verdicts that are worth a word."""
        rows = self.rows
        return {verdict: len(rows[verdict]) for verdict in VERDICTS}


def accepted_file(benchmark: str) -> Path:
    """Where the accepted numbers of a benchmark are named, from the project's root."""
    return BENCHMARKS / benchmark / ACCEPTED


def short_hash(lock: Path) -> str:
    """What a lock is called where it is spoken of: the start of its SHA-256."""
    return hashlib.sha256(lock.read_bytes()).hexdigest()[:12]


def compared(
    root: Path, benchmark: str, options: ComparisonOptions, looked_at: int
) -> tuple[Side, Differences | None, list[Cause], pd.DataFrame]:
    """The side here, and what differs from the accepted one; None where nothing was accepted.

    `looked_at`: how many benchmarks are compared at once. Raises BadInput where the accepted tables
    are not to be had, or no document is in both.
    """
    now = here(root, benchmark)
    if not (root / accepted_file(benchmark)).is_file():
        return now, None, [], pd.DataFrame()
    before = accepted_side(root, benchmark)
    found = compare(before, now, options, looked_at=looked_at)
    return now, found.differences, found.causes or [], found.certificates


def accepted_side(root: Path, benchmark: str) -> Side:
    """The accepted numbers; BadInput, with what to do, where they are not to be had."""
    file = accepted_file(benchmark)
    try:
        return of_lock(root, file, benchmark, "accepted")
    except BadInput as error:
        accept = f"`metassay watch accept {benchmark}`"
        remedy = f"`git checkout {file}` brings it back; {accept} replaces it"
        raise BadInput([*error.problems, f"{file}: {remedy}"]) from error


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
        return [f"not compared, since stages failed: {failed}."]
    said = [_compared(outcome), *_one_sided(outcome), *_certificates(outcome)]
    if outcome.causes:
        first = ", ".join(map(str, outcome.causes[:CAUSES]))
        more = len(outcome.causes) - CAUSES
        said.append(f"what differs: {first}{f' and {more} more' if more > 0 else ''}.")
    if outcome.alarms:
        judges = ", ".join(result.judge for result in outcome.drift or () if result.alarm)
        said.append(f"drift: the judge no longer answers as it did: {judges}.")
    if outcome.lacking:
        lacking = counted(outcome.lacking, "answer")
        verb = "is" if outcome.lacking == 1 else "are"
        said.append(f"{lacking} of language models {verb} missing.")
    if outcome.unsettled:
        said.append(
            f"{counted(outcome.unsettled, 'score')} cannot be compared until missing answers or"
            " failed texts are there."
        )
    if not outcome.stages:
        done = "nothing to do: nothing changed since the last run."
    else:
        done = f"{counted(outcome.stages, 'stage')} checked again, since something changed."
    return [*said, done]


def since_accepted(outcome: Outcome) -> str:
    """What changed, in a few words: `since accepted, of 137 scores: 8 got worse, 2 changed`."""
    words = {REGRESSED: "got worse", IMPROVED: "got better", CHANGED: "changed"}
    counts = outcome.counts
    changes = [f"{counts[verdict]:,} {word}" for verdict, word in words.items() if counts[verdict]]
    said = ", ".join(changes) or "none changed"
    return f"since accepted, of {counted(outcome.n_compared, 'score')}: {said}"


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
    """The name of Prefect's event."""
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
            f" reports/{outcome.benchmark}/index.html, then run `metassay watch accept"
            f" {outcome.benchmark}`."
        )
    counts = outcome.counts
    regressed, total = counts.pop(REGRESSED), counted(outcome.n_compared, "score")
    said = f"no score got worse, of {total} compared with the accepted ones"
    if regressed:
        systems = sorted({row["author"] for row in _regressed(outcome)})
        whose = f"all of `{systems[0]}`" if len(systems) == 1 else f"of {', '.join(systems)}"
        said = f"{regressed} of {total} got worse, {whose}"
    others = ", ".join(f"{n} {_SHORT.get(verdict, verdict)}" for verdict, n in counts.items() if n)
    return said + (f"; {others}." if others else ".")


def _certificates(outcome: Outcome) -> Iterator[str]:
    """The certificates that changed, by name."""
    changed = list(certificate_lines(outcome.certificates))
    if changed:
        more = len(changed) - SHOWN_CERTIFICATES
        rest = f"; and {more} more" if more > 0 else ""
        named = "; ".join(changed[:SHOWN_CERTIFICATES])
        yield f"{counted(len(changed), 'certificate')} changed: {named}{rest}."


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
    found = outcome.rows[REGRESSED]
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


# The history of a benchmark: a row per run, and its means whenever they were made again.


FOLDER = Path("history")
AGAIN, NOTHING, BROKEN = "run again", "nothing to do", "failed"


class History(NamedTuple):
    """Tables HISTORY and HISTORY_MEANS."""

    runs: pd.DataFrame
    means: pd.DataFrame


def load(root: Path, benchmark: str) -> History:
    """What is there; tables without rows before the first run."""
    files = ((table, _file(root, benchmark, table)) for table in (HISTORY, HISTORY_MEANS))
    return History(
        *(read_kept(table, file) if file.exists() else empty(table) for table, file in files)
    )


def append(root: Path, outcome: Outcome) -> History:
    """Add one run; its means only where they are not those kept last. Returns the whole.

    Runs that are dated later than this one, by a clock that was wrong, are not before it.
    """
    before = load(root, outcome.benchmark)
    kept = before.means[before.means["run"] < outcome.when]
    row = pd.DataFrame([_row(outcome)])
    if outcome.side is None:
        made = empty(HISTORY_MEANS)
    else:
        made = as_written(HISTORY_MEANS, _means(outcome))
    # `metassay run` may have made other means since the last ones kept.
    last = kept[kept["run"] == kept["run"].max()]
    old, new = (one.set_index([*ROW, "recipe"])["mean"].sort_index() for one in (last, made))
    as_kept = old.index.equals(new.index) and np.array_equal(
        old.to_numpy(dtype=float), new.to_numpy(dtype=float), equal_nan=True
    )
    pieces = [made] if outcome.stages > 0 or not (made.empty or as_kept) else []
    after = History(
        _joined([before.runs[before.runs["run"] != outcome.when], row]),
        _joined([before.means[before.means["run"] != outcome.when], *pieces]),
    )
    for table, frame in zip((HISTORY, HISTORY_MEANS), after, strict=True):
        write(table, frame, _file(root, outcome.benchmark, table))
    return load(root, outcome.benchmark)


def _file(root: Path, benchmark: str, table: Table) -> Path:
    return root / FOLDER / benchmark / f"{table.name}.parquet"


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([f for f in frames if not f.empty] or frames[:1], ignore_index=True)


def _row(outcome: Outcome) -> dict[str, object]:
    """Counts are null where nothing was compared, alarms where nothing was asked."""
    there = outcome.compared is not None
    counts = {name.replace(" ", "_"): n for name, n in outcome.counts.items()}
    return {
        "run": outcome.when,
        "revision": outcome.revision,
        "did": BROKEN if outcome.failed else AGAIN if outcome.stages else NOTHING,
        "stages": outcome.stages,
        "accepted": outcome.accepted,
        "compared": outcome.n_compared if there else None,
        **{name: n if there else None for name, n in counts.items()},
        "causes": [str(cause) for cause in outcome.causes],
        "certificates": len(outcome.certificates) if there else None,
        "missing": outcome.lacking,
        "alarms": None if outcome.drift is None else outcome.alarms,
        "status": outcome.status,
    }


def _means(outcome: Outcome) -> pd.DataFrame:
    assert outcome.side is not None
    leaders = outcome.side.leaderboard
    leaders = leaders[leaders["part"] == FULL]
    verdicts = outcome.changes.set_index(ROW)["verdict"]
    made = leaders[[*ROW, "macro", "low", "high", "n_documents", "n_undefined", "n_failed"]]
    made = made.rename(columns={"macro": "mean"})
    found = verdicts.reindex(pd.MultiIndex.from_frame(made[ROW])).astype(object)
    return made.assign(
        run=outcome.when,
        verdict=found.where(found.notna(), None).to_numpy(),
        better=leaders["better"],
        recipe=leaders["recipe"],
    )
