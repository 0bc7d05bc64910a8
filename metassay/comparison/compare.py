"""The whole comparison of two sides, or of two systems of one: numbers, verdicts and causes."""

from typing import Final, NamedTuple

import pandas as pd

from metassay.comparison.causes import Cause, causes
from metassay.comparison.differences import Differences, between_systems, differences
from metassay.comparison.options import ComparisonOptions
from metassay.comparison.prompts import with_files
from metassay.comparison.sides import Side
from metassay.reporting.tables import records

DECISION: Final = ["study", "criterion", "part", "metric", "judge", "level"]


class Comparison(NamedTuple):
    """One benchmark: what differs, why, and which certificates have another verdict.

    `of_systems`: whether `before` and `after` are two systems of one state. `causes`: None where
    they are not known, since a side has no lock, and of systems.
    `outdated`: settings, code and data of `before`, and of `after`, that changed since it was run.
    `certificates`: the columns DECISION, and verdicts `before` and `after`, empty if there is none.
    """

    benchmark: str
    before: str
    after: str
    of_systems: bool
    differences: Differences
    causes: list[Cause] | None
    certificates: pd.DataFrame
    outdated: tuple[tuple[str, ...], tuple[str, ...]]


def compare(
    before: Side,
    after: Side,
    options: ComparisonOptions,
    *,
    parts: bool = False,
    looked_at: int = 1,
) -> Comparison:
    """Compare two states of a benchmark; arguments and errors as of `differences`."""
    found = differences(before, after, options, parts=parts, looked_at=looked_at)
    why = _causes(before, after)
    certificates = changed_certificates(before, after)
    outdated = (before.changed, after.changed)
    return Comparison(
        after.benchmark, before.name, after.name, False, found, why, certificates, outdated
    )


def _causes(before: Side, after: Side) -> list[Cause] | None:
    if before.lock is None or after.lock is None:
        return None
    found = causes(before.lock, after.lock)
    return with_files(after.root, found, before.lock, after.lock) if after.root else found


def compare_systems(
    side: Side, one: str, other: str, options: ComparisonOptions, *, parts: bool = False
) -> Comparison:
    """Compare two systems of one state; arguments and errors as of `between_systems`."""
    found = between_systems(side, one, other, options, parts=parts)
    none = changed_certificates(side, side)
    outdated = ((), side.changed)
    return Comparison(side.benchmark, one, other, True, found, None, none, outdated)


def changed_certificates(before: Side, after: Side) -> pd.DataFrame:
    """The decisions of whose metric the certificate says something else than before."""
    was, now = (
        {tuple(row[name] for name in DECISION): row["verdict"] for row in records(one.certificates)}
        for one in (before, after)
    )
    changed = [
        (*key, was.get(key, ""), now.get(key, ""))
        for key in sorted({*was, *now})
        if was.get(key) != now.get(key)
    ]
    return pd.DataFrame(changed, columns=[*DECISION, "before", "after"])
