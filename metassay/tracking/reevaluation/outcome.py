"""What a re-evaluation of one benchmark came to: its numbers beside those that were accepted."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.options import BENCHMARKS
from metassay.tables.comparisons import CHANGED_DOCUMENTS, CHANGES
from metassay.tables.parquet import empty
from metassay.tracking.comparison.causes import Cause
from metassay.tracking.comparison.differences import (
    CHANGED,
    IMPROVED,
    REGRESSED,
    UNKNOWN,
    Differences,
    compare,
)
from metassay.tracking.comparison.sides import ACCEPTED, Side, here, of_lock
from metassay.tracking.options import ComparisonOptions
from metassay.tracking.sentinel.checking import DriftResult

VERDICTS: Final = (REGRESSED, IMPROVED, CHANGED, UNKNOWN)  # those worth a word
NOTHING_REGRESSED, STAGE_FAILED, MISSING, ALARMED = 0, 1, 3, 4  # as exit codes, the worst is 1

BLIND: Final = ("cannot tell", "another judge")  # a check of the sentinel that says nothing


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

    def count(self, verdict: str) -> int:
        """How many rows of `changes` have this verdict, but for those scored neither time, and
        those of what came or went since."""
        return int(((self.changes["verdict"] == verdict) & self._two_sided).sum())

    @property
    def paired(self) -> int:
        """How many rows of `changes` have documents that were scored both times."""
        return int((self.changes["n"] > 0).sum())

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
        """The exit code: 1 before 4 before 3 before 0.

        3, too, where texts that failed leave a verdict open, as in `metassay compare`, and where a
        judge that has anchors could not be checked.
        """
        if self.failed:
            return STAGE_FAILED
        if self.count(REGRESSED) or self.alarms:
            return ALARMED
        blind = any(result.state in BLIND for result in self.drift or ())
        return MISSING if self.lacking or self.unsettled or blind else NOTHING_REGRESSED

    @property
    def counts(self) -> dict[str, int]:
        """Rows by the verdicts that are worth a word."""
        return {verdict: self.count(verdict) for verdict in VERDICTS}


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
        remedy = f"`git checkout {file}` brings it back; `metassay accept {benchmark}` replaces it"
        raise BadInput([*error.problems, f"{file}: {remedy}"]) from error
