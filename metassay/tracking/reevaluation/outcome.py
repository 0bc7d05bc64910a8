"""The outcome of a re-evaluation of a benchmark: numbers beside accepted ones, and sentences.

The sentences are for the terminal, the change report and Prefect: keys and numbers
only.
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
from metassay.tables.parquet import Table, empty, round_trip, write
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
from metassay.tracking.comparison.sides import ACCEPTED, Side, load_here, load_locked
from metassay.tracking.comparison.words import certificate_lines, document
from metassay.tracking.sentinel.anchors import read_stored
from metassay.tracking.sentinel.checking import DriftResult

VERDICTS: Final = (REGRESSED, IMPROVED, CHANGED, UNKNOWN)  # those that are reported
ONE_SIDED: Final = "not compared"  # added or removed since, or never scored
# states of a sentinel check without a result
BLIND: Final = ("cannot tell", "another judge")

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
    """The outcome of a run for a benchmark.

    `when`: UTC, to the second. `revision`: of git; None without. `stages`: how many
    were checked again because something they read changed. `failed`: the stages that
    failed; if there are any, nothing is compared. `accepted`: the first digits of the
    accepted lock's hash; None, and nothing is compared, if nothing is accepted.
    `certificates`: those with another verdict. `lacking`: the number of missing answers
    of language models, named in `missing`. `drift`: None without anchors.
    """

    benchmark: str
    when: str
    revision: str | None
    stages: int
    failed: Sequence[str] = ()
    accepted: str | None = None
    differences: Differences | None = None
    causes: Sequence[Cause] = ()
    certificates: pd.DataFrame = field(default_factory=pd.DataFrame)
    lacking: int = 0
    missing: Sequence[str] = ()
    drift: Sequence[DriftResult] | None = None
    side: Side | None = None

    @property
    def changes(self) -> pd.DataFrame:
        """Table CHANGES; no rows if nothing was compared."""
        return empty(CHANGES) if self.differences is None else self.differences.changes

    @property
    def documents(self) -> pd.DataFrame:
        """Table CHANGED_DOCUMENTS."""
        return (
            empty(CHANGED_DOCUMENTS)
            if self.differences is None
            else self.differences.documents
        )

    @property
    def _two_sided(self) -> "pd.Series[bool]":
        """Which rows of `changes` are scored, and of nothing that was added or removed."""
        sides = (
            [f"n_only_{side}" for side in ("before", "after")],
            *([f"n_only_{side}", f"n_failed_{side}"] for side in ("before", "after")),
        )
        present = [self.changes[["n", *names]].sum(axis=1) > 0 for names in sides]
        return present[0] & present[1] & present[2]

    @property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Every row of `changes` once, by its verdict; under ONE_SIDED those without."""
        rows: dict[str, list[dict[str, Any]]] = {
            key: [] for key in (*EVERY_VERDICT, ONE_SIDED)
        }
        for row, two_sided in zip(records(self.changes), self._two_sided, strict=True):
            rows[row["verdict"] if two_sided else ONE_SIDED].append(row)
        return rows

    @property
    def n_compared(self) -> int:
        """How many rows have a verdict."""
        return sum(
            len(rows) for verdict, rows in self.rows.items() if verdict != ONE_SIDED
        )

    @property
    def unsettled(self) -> int:
        """How many rows missing answers or failed texts leave open, or now lack more answers.

        Rows added or removed since are not counted; `lacking` has the missing answers
        of new ones.
        """
        rows = self.changes["lacks_answers"] & self._two_sided
        return int(rows.sum()) if self.differences else 0

    @property
    def alarms(self) -> int:
        """How many judges the drift sentinel found changed or retired."""
        return sum(result.alarm for result in self.drift or ())

    @property
    def status(self) -> int:
        """The exit code of the worst that happened."""
        if self.failed:
            return FAILED
        if self.rows[REGRESSED]:
            return WORSE
        if self.alarms:
            return DRIFTED
        blind = any(result.state in BLIND for result in self.drift or ())
        return INCOMPLETE if self.lacking or self.unsettled or blind else DONE

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows per verdict that is reported."""
        rows = self.rows
        return {verdict: len(rows[verdict]) for verdict in VERDICTS}


def accepted_file(benchmark: str) -> Path:
    """Return the file that names a benchmark's accepted numbers, from the project's root."""
    return BENCHMARKS / benchmark / ACCEPTED


def short_hash(lock: Path) -> str:
    """Return the name of a lock in messages: the start of its SHA-256."""
    return hashlib.sha256(lock.read_bytes()).hexdigest()[:12]


def compare_accepted(
    root: Path, benchmark: str, options: ComparisonOptions, n_benchmarks: int
) -> tuple[Side, Differences | None, list[Cause], pd.DataFrame]:
    """Return the current side, and what differs from the accepted one; None if there is none.

    `n_benchmarks`: how many benchmarks are compared at once. Raises BadInput if the
    accepted tables cannot be had, or no document is in both.
    """
    current = load_here(root, benchmark)
    if not (root / accepted_file(benchmark)).is_file():
        return current, None, [], pd.DataFrame()
    accepted = accepted_side(root, benchmark)
    result = compare(accepted, current, options, n_benchmarks=n_benchmarks)
    return current, result.differences, result.causes or [], result.certificates


def accepted_side(root: Path, benchmark: str) -> Side:
    """Load the accepted numbers; raises BadInput, with a remedy, if they cannot be had."""
    file = accepted_file(benchmark)
    try:
        return load_locked(root, file, benchmark, "accepted")
    except BadInput as error:
        accept = f"`metassay watch accept {benchmark}`"
        remedy = f"`git checkout {file}` brings it back; {accept} replaces it"
        raise BadInput([*error.problems, f"{file}: {remedy}"]) from error


def lines(outcome: Outcome) -> list[str]:
    """Return the lines to print after a run."""
    name = outcome.benchmark
    return [
        *(f"{name}: {line}" for line in headline(outcome)),
        *(f"  regressed: {line}" for line in _worst(outcome)),
        *(f"  {line}" for line in outcome.missing),
        *(f"  {result.sentence}" for result in outcome.drift or ()),
        f"changes: {REPORTS / name / 'index.html'}",
    ]


def headline(outcome: Outcome) -> list[str]:
    """Return the sentences that a hurried reader needs, the worst first."""
    if outcome.failed:
        return [f"not compared, since stages failed: {', '.join(outcome.failed)}."]
    sentences = [_compared(outcome), *_one_sided(outcome), *_certificates(outcome)]
    if outcome.causes:
        first = ", ".join(map(str, outcome.causes[:CAUSES]))
        more = len(outcome.causes) - CAUSES
        sentences.append(
            f"what differs: {first}{f' and {more} more' if more > 0 else ''}."
        )
    if outcome.alarms:
        judges = ", ".join(
            result.judge for result in outcome.drift or () if result.alarm
        )
        sentences.append(f"drift: the judge no longer answers as it did: {judges}.")
    if outcome.lacking:
        lacking = counted(outcome.lacking, "answer")
        verb = "is" if outcome.lacking == 1 else "are"
        sentences.append(f"{lacking} of language models {verb} missing.")
    if outcome.unsettled:
        sentences.append(
            f"{counted(outcome.unsettled, 'score')} cannot be compared until missing answers or"
            " failed texts are there."
        )
    if not outcome.stages:
        last = "nothing to do: nothing changed since the last run."
    else:
        last = f"{counted(outcome.stages, 'stage')} checked again, since something changed."
    return [*sentences, last]


def summarise_changes(outcome: Outcome) -> str:
    """Say what changed, in a few words: `since accepted, of 137 scores: 8 got worse, 2 changed`."""
    words = {REGRESSED: "got worse", IMPROVED: "got better", CHANGED: "changed"}
    counts = outcome.counts
    changes = [
        f"{counts[verdict]:,} {word}"
        for verdict, word in words.items()
        if counts[verdict]
    ]
    total = counted(outcome.n_compared, "score")
    return f"since accepted, of {total}: {', '.join(changes) or 'none changed'}"


def row_name(row: dict[str, Any]) -> str:
    """Return metric, part and system of a row of `changes`."""
    part = "" if row["part"] == FULL else f", {row['part']}"
    return f"{metric_label(row['metric'], row['judge'])} of {row['author']}{part}"


def documents_of(outcome: Outcome, row: dict[str, Any]) -> list[str]:
    """Return the keys of the documents that moved furthest in a row, in that order."""
    table = outcome.documents
    for name in ("part", "metric", "judge", "author"):
        table = table[table[name] == row[name]]
    return [document(doc_id) for doc_id in table["doc_id"]]


def event(outcome: Outcome) -> str:
    """Return the name of Prefect's event."""
    return _EVENTS[outcome.status]


def payload(outcome: Outcome) -> dict[str, Any]:
    """Return the payload of the event."""
    fields = (
        "metric",
        "judge",
        "author",
        "part",
        "before",
        "after",
        "difference",
        "p_adjusted",
    )
    return {
        "benchmark": outcome.benchmark,
        "run": outcome.when,
        "status": outcome.status,
        "accepted": outcome.accepted,
        "counts": outcome.counts,
        "regressed": [
            {name: row[name] for name in fields} for row in _regressed(outcome)[:SHOWN]
        ],
        "causes": [
            {"kind": c.kind, "stage": c.stage, "what": c.what} for c in outcome.causes
        ],
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
    result = f"no score got worse, of {total} compared with the accepted ones"
    if regressed:
        systems = sorted({row["author"] for row in _regressed(outcome)})
        owners = (
            f"all of `{systems[0]}`"
            if len(systems) == 1
            else f"of {', '.join(systems)}"
        )
        result = f"{regressed} of {total} got worse, {owners}"
    others = ", ".join(
        f"{n} {_SHORT.get(verdict, verdict)}" for verdict, n in counts.items() if n
    )
    return result + (f"; {others}." if others else ".")


def _certificates(outcome: Outcome) -> Iterator[str]:
    changed = list(certificate_lines(outcome.certificates))
    if changed:
        more = len(changed) - SHOWN_CERTIFICATES
        rest = f"; and {more} more" if more > 0 else ""
        first = "; ".join(changed[:SHOWN_CERTIFICATES])
        yield f"{counted(len(changed), 'certificate')} changed: {first}{rest}."


def _one_sided(outcome: Outcome) -> Iterator[str]:
    """Yield systems and metrics that were removed or added: they have no verdict."""
    changes = outcome.changes
    for side, other, change in (
        ("n_only_before", "n_only_after", "no longer scored"),
        ("n_only_after", "n_only_before", "scored for the first time"),
    ):
        only = (changes["n"] == 0) & (changes[side] > 0) & (changes[other] == 0)
        systems = set(changes.loc[only, "author"]) - set(changes.loc[~only, "author"])
        of_others = changes[only & ~changes["author"].isin(systems)]
        pairs = zip(of_others["metric"], of_others["judge"], strict=True)
        names = [*sorted(systems), *sorted({metric_label(*pair) for pair in pairs})]
        if names:
            yield f"{change}, so not compared: {', '.join(names)}."


def _regressed(outcome: Outcome) -> list[dict[str, Any]]:
    return sorted(
        outcome.rows[REGRESSED], key=lambda row: (row["p_adjusted"], row_name(row))
    )


def _worst(outcome: Outcome) -> Iterator[str]:
    rows = _regressed(outcome)
    for row in rows[:SHOWN]:
        ends = shown_interval(row["low"], row["high"])
        documents = documents_of(outcome, row)
        keys = ", ".join(documents[:DOCUMENTS])
        yield (
            f"{row_name(row)}: {shown(row['before'])} to {shown(row['after'])} (difference"
            f" {shown(row['difference'])} {ends}, adjusted {equals(row['p_adjusted'])};"
            f" {row['n_changed']} of {counted(row['n'], 'document')} differ, most: {keys})"
        )
    if len(rows) > SHOWN:
        yield f"and {len(rows) - SHOWN} more"


# The history of a benchmark: a row per run, and its means whenever they were made
# again.

FOLDER = Path("history")
AGAIN, NOTHING, BROKEN = "run again", "nothing to do", "failed"


class History(NamedTuple):
    """Tables HISTORY and HISTORY_MEANS."""

    runs: pd.DataFrame
    means: pd.DataFrame


def load(root: Path, benchmark: str) -> History:
    """Load the stored history; tables without rows before the first run."""
    files = (
        (table, _file(root, benchmark, table)) for table in (HISTORY, HISTORY_MEANS)
    )
    return History(
        *(
            read_stored(table, file) if file.exists() else empty(table)
            for table, file in files
        )
    )


def append(root: Path, outcome: Outcome) -> History:
    """Add a run, and its means unless they equal the last ones; return the whole history.

    Runs dated later than this one, by a clock that was wrong, do not count as earlier.
    """
    before = load(root, outcome.benchmark)
    row = pd.DataFrame([_row(outcome)])
    means = empty(HISTORY_MEANS)
    if outcome.side is not None:
        means = round_trip(HISTORY_MEANS, _means(outcome))
    # `metassay run` may have made other means since the last stored ones.
    earlier = before.means[before.means["run"] < outcome.when]
    last = earlier[earlier["run"] == earlier["run"].max()]
    old, new = (
        table.set_index([*ROW, "recipe"])["mean"].sort_index()
        for table in (last, means)
    )
    unchanged = old.index.equals(new.index) and np.array_equal(
        old.to_numpy(dtype=float), new.to_numpy(dtype=float), equal_nan=True
    )
    pieces = [means] if outcome.stages > 0 or not (means.empty or unchanged) else []
    after = History(
        pd.concat(
            [before.runs[before.runs["run"] != outcome.when], row], ignore_index=True
        ),
        pd.concat(
            [before.means[before.means["run"] != outcome.when], *pieces],
            ignore_index=True,
        ),
    )
    for table, frame in zip((HISTORY, HISTORY_MEANS), after, strict=True):
        write(table, frame, _file(root, outcome.benchmark, table))
    return load(root, outcome.benchmark)


def _file(root: Path, benchmark: str, table: Table) -> Path:
    return root / FOLDER / benchmark / f"{table.name}.parquet"


def _row(outcome: Outcome) -> dict[str, object]:
    """Return the run's row; counts are null if nothing was compared, alarms without anchors."""
    compared = outcome.differences is not None
    counts = {name.replace(" ", "_"): n for name, n in outcome.counts.items()}
    did = AGAIN if outcome.stages else NOTHING
    if outcome.failed:
        did = BROKEN
    return {
        "run": outcome.when,
        "revision": outcome.revision,
        "did": did,
        "stages": outcome.stages,
        "accepted": outcome.accepted,
        "compared": outcome.n_compared if compared else None,
        **{name: n if compared else None for name, n in counts.items()},
        "causes": [str(cause) for cause in outcome.causes],
        "certificates": len(outcome.certificates) if compared else None,
        "missing": outcome.lacking,
        "alarms": None if outcome.drift is None else outcome.alarms,
        "status": outcome.status,
    }


def _means(outcome: Outcome) -> pd.DataFrame:
    assert outcome.side is not None
    leaders = outcome.side.leaderboard
    leaders = leaders[leaders["part"] == FULL]
    means = leaders[
        [*ROW, "macro", "low", "high", "n_documents", "n_undefined", "n_failed"]
    ]
    rows = pd.MultiIndex.from_frame(means[ROW])
    verdicts = outcome.changes.set_index(ROW)["verdict"].reindex(rows).astype(object)
    return means.rename(columns={"macro": "mean"}).assign(
        run=outcome.when,
        verdict=verdicts.where(verdicts.notna(), None).to_numpy(),
        better=leaders["better"],
        recipe=leaders["recipe"],
    )
