"""The metrics that a rubric makes: table `criteria`, and what readers are told of each."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from metassay.core.options import GIVEN
from metassay.metrics.describe import RELEASED, RUBRICS, Description
from metassay.scoring.rubrics.record import Criterion, Rubric
from metassay.tables.criteria import CRITERIA

_FAILED = (
    "null if its answer failed; failures are counted in n_failed, and low and high bound what they"
    " could change"
)
NO_REFERENCE_PART = "null where the reference lacks the part"
_ALL_FAILED = _FAILED.replace("its answer", "any answer that it needs")
_SUMS = ("overall", "total")
_SUMMED = "sum of the penalties of all criteria"
_RENORMALISED = "mean of the weighted criteria, weights renormalised over those that were scored"
_PRINTED = "sum of value x weight over the weighted criteria, divided by their number"


def metric_of(rubric: str, criterion: str) -> str:
    """What the metric of a criterion is called."""
    return f"{rubric}_{criterion}"


def criteria_table(rubric: Rubric) -> pd.DataFrame:
    """Table `criteria`: one row for each criterion, then `penalties` and `overall` as far as there.

    `rubric` has one criterion for each facet already (`rubrics.ask.expanded`).
    """
    rows = [*_criteria(rubric), *_totals(rubric), *_overall(rubric)]
    named = [
        {"rubric": rubric.name, "metric": metric_of(rubric.name, str(row["criterion"])), **row}
        for row in rows
    ]
    frame = pd.DataFrame(named).assign(position=range(len(named)), source=rubric.source)
    return frame[list(CRITERIA.columns)].astype({"high": "float64", "weight": "float64"})


def rubric_descriptions(criteria: pd.DataFrame) -> dict[str, Description]:
    """What to know of each metric in table `criteria`, by name, in the order of the rubrics.

    Metrics whose scores came with the data are among them, as headlines.

    The headline of a rubric is what sums it up; where nothing does, each of its criteria is one.
    """
    criteria = criteria.sort_values(["rubric", "position"])
    summed = set(criteria.loc[criteria["kind"].isin(_SUMS), "rubric"])
    found = {}
    rows: Any = criteria.itertuples(index=False)
    for row in rows:
        high = None if pd.isna(row.high) else row.high
        shares = row.kind != "overall" and row.value == "share"
        found[row.metric] = Description(
            *(row.metric, row.meaning, row.better),
            (row.low / row.high, 1.0) if shares else (row.low, high),
            *(row.missing, row.source, RELEASED if row.kind == GIVEN else RUBRICS),
            headline=row.kind in _SUMS or row.rubric not in summed,
        )
    return found


def _criteria(rubric: Rubric) -> Iterator[dict[str, object]]:
    for one in rubric.criteria:
        scale = one.kind == "scale"
        yield {
            "criterion": one.name,
            "kind": one.kind,
            "low": float(one.lowest),
            "high": one.highest,
            "weight": one.weight,
            "value": one.value,
            "combines": rubric.references,
            "better": one.better,
            "meaning": one.asks,
            "missing": f"{_absent(one)}; {_FAILED}",
            "recipe": _hash([vars(one), rubric.references]) if scale else _hash([vars(one)]),
        }


def _absent(one: Criterion) -> str:
    if one.kind == "penalties":
        none = "0" if one.absent == "no penalty" else "the cap"
        return f"0 where the source lacks what it is about; {none} where the text lacks the part"
    worst = one.lowest if one.better == "higher" else one.highest
    lacks = f"level {worst} where the text lacks the part"
    return f"{NO_REFERENCE_PART}; {lacks}" if one.compares else lacks


def _totals(rubric: Rubric) -> Iterator[dict[str, object]]:
    if rubric.counts:
        caps = [one.highest for one in rubric.criteria if one.kind == "penalties"]
        yield {
            **{"criterion": "penalties", "kind": "total", "low": 0.0, "weight": None},
            "high": None if None in caps else sum(cap or 0 for cap in caps),
            **{"value": "grade", "combines": "sum", "better": "lower"},
            **{"meaning": _SUMMED, "missing": _ALL_FAILED, "recipe": _whole(rubric)},
        }


def _whole(rubric: Rubric) -> str:
    return _hash([rubric.overall, rubric.references, list(map(vars, rubric.criteria))])


def _overall(rubric: Rubric) -> Iterator[dict[str, object]]:
    weighted = [one for one in rubric.criteria if one.weight is not None]
    if rubric.overall is None:
        return
    ends = [_ends(one) for one in weighted]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    printed = rubric.overall == "printed"
    if printed:  # one criterion alone may be scored
        each = [(one.weight or 0.0) / len(weighted) for one in weighted]
        low = min(low * share for (low, _), share in zip(ends, each, strict=True))
        high = sum(high * share for (_, high), share in zip(ends, each, strict=True))
    yield {
        **{"criterion": "overall", "kind": "overall", "low": low, "high": high, "weight": None},
        **{"value": "grade", "combines": rubric.overall, "better": weighted[0].better},
        "meaning": _PRINTED if printed else _RENORMALISED,
        "missing": f"null where none of them was scored; {_ALL_FAILED}",
        "recipe": _whole(rubric),
    }


def _ends(one: Criterion) -> tuple[float, float]:
    """The lowest and highest value of a scale."""
    highest = float(max(one.levels))
    return (one.lowest / highest, 1.0) if one.value == "share" else (float(one.lowest), highest)


def _hash(what: object) -> str:
    """First 12 hex digits of the SHA-256 of its canonical JSON."""
    written = json.dumps(what, sort_keys=True, default=_plain, ensure_ascii=False)
    return hashlib.sha256(written.encode()).hexdigest()[:12]


def _plain(value: object) -> object:
    return dict(value) if hasattr(value, "keys") else vars(value)  # type: ignore[call-overload]
