"""Which certificate comes first, and which metric is the one to trust."""

from typing import Any, NamedTuple

from metassay.meta_evaluation.verdicts import EXPLAINED, VERDICTS, kind_of
from metassay.reporting.numbers import counted, missing
from metassay.tables.names import metric_label

Row = dict[str, Any]


class Best(NamedTuple):
    """The best of one criterion's and level's metrics; where it is not to be used, none is."""

    row: Row
    n_metrics: int
    verdicts: str  # how often each was given: `2 use, 5 cannot tell`

    @property
    def metric(self) -> str:
        """Its name, with the judge's in brackets."""
        return metric_label(self.row["metric"], self.row["judge"])

    @property
    def of(self) -> str:
        """What it was chosen from: `best of 20 metrics`."""
        return f"best of {counted(self.n_metrics, 'metric')}"


def ranked(rows: list[Row]) -> list[Row]:
    """Certificates of one level, the best verdict first, then the largest value."""
    return sorted(rows, key=lambda row: _rank(row, "value"))


def best(rows: list[Row]) -> Best | None:
    """Of one level's certificates the best verdict, then the largest `corrected`; None of none."""
    if not rows:
        return None
    first = min(rows, key=lambda row: _rank(row, "corrected"))
    return Best(first, len(rows), verdict_counts(rows))


def verdict_counts(rows: list[Row]) -> str:
    """`2 use, 5 cannot tell`: how often each verdict was given, the best first."""
    said = [kind_of(row["verdict"]) for row in rows]
    named = verdict_names().items()
    return ", ".join(f"{said.count(kind):,} {name}" for kind, name in named if kind in said)


def verdict_names() -> dict[str, str]:
    """What each kind of verdict is called where many are counted, the best first."""
    return {kind: kind for kind in VERDICTS} | {EXPLAINED: f"{EXPLAINED} a confound"}


def _rank(row: Row, by: str) -> tuple[int, float, str, str]:
    value = row[by]
    unknown = value is None or missing(value)
    place = VERDICTS.index(kind_of(row["verdict"]))
    return place, float("inf") if unknown else -float(value), row["metric"], row["judge"]
