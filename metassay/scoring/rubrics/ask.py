"""Apply a rubric to one document: conditions, items, caps, and the question that a judge reads.

`attributes` are those of the document's source: the object in `sources.attributes`.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from metassay.core.errors import BadInput, raise_problems
from metassay.core.options import FROM_DATASET
from metassay.metrics.describe import RELEASED, RUBRICS, Description
from metassay.scoring.rubrics.record import (
    EVERY_FACET,
    Conditions,
    Criterion,
    Example,
    Rubric,
)
from metassay.tables.criteria import CRITERIA

Attributes = Mapping[str, Any]


def attributes_of(written: str | None) -> Attributes:
    """Return the object in `sources.attributes`, or an empty one where there is none.

    >>> attributes_of('{"history": "yes"}'), attributes_of(None)
    ({'history': 'yes'}, {})
    """
    attributes = json.loads(written) if isinstance(written, str) else None
    return attributes if isinstance(attributes, dict) else {}


def applies(conditions: Conditions, attributes: Attributes) -> bool:
    """Return whether a document's attributes meet all conditions."""
    return all(
        _fits(attributes.get(name), options) for name, options in conditions.items()
    )


def _fits(value: object, options: Sequence[object] | None) -> bool:
    if options is None:
        return value not in (None, "", [], {}, False)
    # To Python True equals 1; in a rubric they differ.
    return (isinstance(value, bool), value) in [
        (isinstance(o, bool), o) for o in options
    ]


def expand_facets(rubric: Rubric, facets: Sequence[str]) -> Rubric:
    """Return the rubric with a criterion per facet in place of each that reads every facet.

    They are called <criterion>_<facet>, and {facet} in `asks` becomes the facet's name.
    Raises BadInput if there are no facets, or if two criteria then have the same name.
    """
    criteria: list[Criterion] = []
    for criterion in rubric.criteria:
        if criterion.reads != EVERY_FACET:
            criteria.append(criterion)
            continue
        for facet in facets:
            name = f"{criterion.name}_{facet}"
            asks = criterion.asks.replace("{facet}", facet)
            criteria.append(replace(criterion, name=name, reads=facet, asks=asks))
    names = [criterion.name for criterion in criteria]
    at = f"rubrics/{rubric.name}.yaml > criteria"
    problems = [
        f"{at} > {criterion.name} > reads: the benchmark's segmentation has no facets; choose"
        " another segmentation or rubric"
        for criterion in rubric.criteria
        if criterion.reads == EVERY_FACET and not facets
    ]
    twice = {name for name in names if names.count(name) > 1}
    problems += [
        f"{at}: with the facets of the segmentation two are called {name!r}; rename one"
        for name in sorted(twice)
    ]
    raise_problems(problems)
    return replace(rubric, criteria=tuple(criteria))


def items_of(criterion: Criterion, attributes: Attributes) -> tuple[str, ...] | None:
    """Return the items of which each may be penalised once; None for a scale or a free count.

    The attribute may be a list of texts, or an object: {"cough": "no"} is the item
    `cough: no`. A missing attribute has no items. Raises BadInput if it is something
    else.
    """
    if criterion.items_from is None:
        return criterion.items
    listed = attributes.get(criterion.items_from)
    if isinstance(listed, dict):
        listed = [f"{name}: {value}" for name, value in listed.items()]
    if listed is None:
        return ()
    if not isinstance(listed, list) or not all(
        isinstance(item, str) for item in listed
    ):
        raise BadInput(
            f"attribute {criterion.items_from!r} must be a list of texts or an object; correct it"
        )
    return tuple(dict.fromkeys(listed))


def cap_of(criterion: Criterion, attributes: Attributes) -> int | None:
    """Return the most penalties that a text of this document can have; None: no limit."""
    items = items_of(criterion, attributes)
    caps = [criterion.cap, None if items is None else len(items)]
    return min((cap for cap in caps if cap is not None), default=None)


def is_not_applicable(criterion: Criterion, attributes: Attributes) -> bool:
    """Return whether the source lacks what the criterion is about: 0 penalties, or no grade."""
    return (
        not applies(criterion.applies, attributes)
        or items_of(criterion, attributes) == ()
    )


def _dump_example(example: Example) -> dict[str, Any]:
    """Return the fields of an example that have a value."""
    fields = example.model_dump(exclude_none=True)
    return {key: value for key, value in fields.items() if value != []}


def question(criterion: Criterion, attributes: Attributes) -> str:
    """Return the criterion for `pairs.context`: canonical JSON with all that a judge must know.

    A scale has kind, criterion, asks, levels (level -> anchor), better (only if
    `lower`) and examples. Penalties have kind, criterion, asks, items (null: count
    freely), cap (null: no limit) and examples. An example has `against`, `text`,
    `grade` and `reason`, and `quotes` or `violations` (item or what, and quote) where
    there are any.
    """
    fields: dict[str, Any] = {
        "kind": criterion.kind,
        "criterion": criterion.name,
        "asks": criterion.asks,
        "examples": list(map(_dump_example, criterion.examples)),
    }
    if criterion.kind == "scale":
        fields["levels"] = {
            str(level): anchor for level, anchor in criterion.levels.items()
        }
        fields |= {} if criterion.better == "higher" else {"better": "lower"}
    else:
        items = items_of(criterion, attributes)
        fields["items"] = None if items is None else list(items)
        fields["cap"] = cap_of(criterion, attributes)
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


# The metrics of a rubric: table `criteria`, and their descriptions.


_FAILED = (
    "null if its answer failed; failures are counted in n_failed, and low and high bound what they"
    " could change"
)
NO_REFERENCE_PART = "null where the reference lacks the part"
_ALL_FAILED = _FAILED.replace("its answer", "any answer that it needs")
_SUMS = ("overall", "total")
_SUMMED = "sum of the penalties of all criteria"
_RENORMALISED = (
    "mean of the weighted criteria, weights renormalised over those that were scored"
)
_PRINTED = "sum of value x weight over the weighted criteria, divided by their number"


def metric_of(rubric: str, criterion: str) -> str:
    """Return the name of a criterion's metric."""
    return f"{rubric}_{criterion}"


def criteria_table(rubric: Rubric) -> pd.DataFrame:
    """Return table `criteria`: a row per criterion, then `penalties` and `overall` if it has them.

    `rubric` has a criterion for each facet already (`expand_facets`).
    """
    rows = [*_criteria(rubric), *_totals(rubric), *_overall(rubric)]
    named = [
        {
            "rubric": rubric.name,
            "metric": metric_of(rubric.name, str(row["criterion"])),
            **row,
        }
        for row in rows
    ]
    frame = pd.DataFrame(named).assign(position=range(len(named)), source=rubric.source)
    return frame[list(CRITERIA.columns)].astype(
        {"high": "float64", "weight": "float64"}
    )


def rubric_descriptions(criteria: pd.DataFrame) -> dict[str, Description]:
    """Describe each metric in table `criteria`, by name, in the order of the rubrics.

    Headlines are metrics whose scores came with the data, a rubric's sum or overall
    score, and each criterion of a rubric that has neither.
    """
    criteria = criteria.sort_values(["rubric", "position"])
    summed = set(criteria.loc[criteria["kind"].isin(_SUMS), "rubric"])
    descriptions = {}
    rows: Any = criteria.itertuples(index=False)
    for row in rows:
        high = None if pd.isna(row.high) else row.high
        shares = row.kind != "overall" and row.value == "share"
        descriptions[row.metric] = Description(
            name=row.metric,
            meaning=row.meaning,
            better=row.better,
            range=(row.low / row.high, 1.0) if shares else (row.low, high),
            missing=row.missing,
            source=row.source,
            family=RELEASED if row.kind == FROM_DATASET else RUBRICS,
            headline=row.kind in _SUMS or row.rubric not in summed,
        )
    return descriptions


def _criteria(rubric: Rubric) -> Iterator[dict[str, object]]:
    for criterion in rubric.criteria:
        recipe: list[object] = [vars(criterion)]
        if criterion.kind == "scale":
            recipe.append(rubric.references)
        yield {
            "criterion": criterion.name,
            "kind": criterion.kind,
            "low": float(criterion.lowest),
            "high": criterion.highest,
            "weight": criterion.weight,
            "value": criterion.value,
            "combines": rubric.references,
            "better": criterion.better,
            "meaning": criterion.asks,
            "missing": f"{_absent(criterion)}; {_FAILED}",
            "recipe": _hash(recipe),
        }


def _absent(criterion: Criterion) -> str:
    if criterion.kind == "penalties":
        none = "0" if criterion.absent == "no penalty" else "the cap"
        return f"0 where the source lacks what it is about; {none} where the text lacks the part"
    worst = criterion.lowest if criterion.better == "higher" else criterion.highest
    lacks = f"level {worst} where the text lacks the part"
    return f"{NO_REFERENCE_PART}; {lacks}" if criterion.compares else lacks


def _totals(rubric: Rubric) -> Iterator[dict[str, object]]:
    if rubric.counts:
        caps = [
            criterion.highest
            for criterion in rubric.criteria
            if criterion.kind == "penalties"
        ]
        yield {
            "criterion": "penalties",
            "kind": "total",
            "low": 0.0,
            "weight": None,
            "high": None if None in caps else sum(cap or 0 for cap in caps),
            "value": "grade",
            "combines": "sum",
            "better": "lower",
            "meaning": _SUMMED,
            "missing": _ALL_FAILED,
            "recipe": _whole(rubric),
        }


def _whole(rubric: Rubric) -> str:
    return _hash([rubric.overall, rubric.references, list(map(vars, rubric.criteria))])


def _overall(rubric: Rubric) -> Iterator[dict[str, object]]:
    weighted = [
        criterion for criterion in rubric.criteria if criterion.weight is not None
    ]
    if rubric.overall is None:
        return
    units = [float(max(c.levels)) if c.value == "share" else 1.0 for c in weighted]
    ends = [
        (c.lowest / unit, max(c.levels) / unit)
        for c, unit in zip(weighted, units, strict=True)
    ]
    low = min(low for low, _ in ends)
    high = max(high for _, high in ends)
    printed = rubric.overall == "printed"
    if printed:  # a text may be scored on a single criterion
        shares = [(criterion.weight or 0.0) / len(weighted) for criterion in weighted]
        low = min(low * share for (low, _), share in zip(ends, shares, strict=True))
        high = sum(high * share for (_, high), share in zip(ends, shares, strict=True))
    yield {
        "criterion": "overall",
        "kind": "overall",
        "low": low,
        "high": high,
        "weight": None,
        "value": "grade",
        "combines": rubric.overall,
        "better": weighted[0].better,
        "meaning": _PRINTED if printed else _RENORMALISED,
        "missing": f"null where none of them was scored; {_ALL_FAILED}",
        "recipe": _whole(rubric),
    }


def _hash(settings: object) -> str:
    """Return the first 12 hex digits of the SHA-256 of the canonical JSON."""
    written = json.dumps(settings, sort_keys=True, default=_plain, ensure_ascii=False)
    return hashlib.sha256(written.encode()).hexdigest()[:12]


def _plain(value: object) -> object:
    return dict(value) if hasattr(value, "keys") else vars(value)  # type: ignore[call-overload]
