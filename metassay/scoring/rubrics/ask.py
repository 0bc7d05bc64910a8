"""What a rubric asks of one document: who it is for, which items, up to which cap, in which words.

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
from metassay.scoring.rubrics.record import EVERY_FACET, Conditions, Criterion, Rubric
from metassay.tables.criteria import CRITERIA

Attributes = Mapping[str, Any]


def attributes_of(written: str | None) -> Attributes:
    """The object in `sources.attributes`; empty where there is none."""
    found = json.loads(written) if isinstance(written, str) else None
    return found if isinstance(found, dict) else {}


def applies(conditions: Conditions, attributes: Attributes) -> bool:
    """Whether a document has the attributes that are wanted."""
    return all(_fits(attributes.get(name), wanted) for name, wanted in conditions.items())


def _fits(value: object, wanted: Sequence[object] | None) -> bool:
    if wanted is None:
        return value not in (None, "", [], {}, False)
    # True is 1 to Python, and no number to anybody else.
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in wanted)


def expanded(rubric: Rubric, facets: Sequence[str]) -> Rubric:
    """The rubric of a benchmark: what reads every facet is one criterion for each of `facets`.

    They are called <criterion>_<facet>, and {facet} in what is asked becomes the facet's name.
    Raises BadInput if there are no facets, or if two criteria then have one name.
    """
    criteria: list[Criterion] = []
    for one in rubric.criteria:
        if one.reads != EVERY_FACET:
            criteria.append(one)
            continue
        for facet in facets:
            asks = one.asks.replace("{facet}", facet)
            criteria.append(replace(one, name=f"{one.name}_{facet}", reads=facet, asks=asks))
    names = [one.name for one in criteria]
    at = f"rubrics/{rubric.name}.yaml > criteria"
    problems = [
        f"{at} > {one.name} > reads: the benchmark's segmentation has no facets; choose another"
        " segmentation or rubric"
        for one in rubric.criteria
        if one.reads == EVERY_FACET and not facets
    ]
    problems += [
        f"{at}: with the facets of the segmentation two are called {name!r}; rename one"
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    raise_problems(problems)
    return replace(rubric, criteria=tuple(criteria))


def items_of(criterion: Criterion, attributes: Attributes) -> tuple[str, ...] | None:
    """What penalties are given for, once each; None where they are counted freely, or of a scale.

    An attribute may be a list of texts, or an object: of {"cough": "no"} the item is `cough: no`.
    One that is not there has no items. Raises BadInput if it is something else.
    """
    if criterion.items_from is None:
        return criterion.items
    found = attributes.get(criterion.items_from)
    if isinstance(found, dict):
        found = [f"{name}: {value}" for name, value in found.items()]
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise BadInput(
            f"attribute {criterion.items_from!r} is not a list of texts and no object; write one"
        )
    return tuple(dict.fromkeys(found))


def cap_of(criterion: Criterion, attributes: Attributes) -> int | None:
    """The most penalties that a text of this document can be given; None: there is no end."""
    items = items_of(criterion, attributes)
    caps = [criterion.cap, None if items is None else len(items)]
    return min((cap for cap in caps if cap is not None), default=None)


def not_applicable(criterion: Criterion, attributes: Attributes) -> bool:
    """Whether the source lacks what the criterion is about: no penalties, or no grade at all."""
    return not applies(criterion.applies, attributes) or items_of(criterion, attributes) == ()


def question(criterion: Criterion, attributes: Attributes) -> str:
    """The criterion as `pairs.context` has it: canonical JSON with all that a judge must know.

    Of a scale: kind, criterion, asks, levels (level -> anchor), better (only where it is `lower`)
    and examples; of penalties: kind, criterion, asks, items (null: count freely), cap (null: no
    end) and examples. An example has `against`, `text`, `grade` and `reason`, and `quotes` or
    `violations` (item or what, and quote) where there are any.
    """
    said: dict[str, Any] = {
        "kind": criterion.kind,
        "criterion": criterion.name,
        "asks": criterion.asks,
        "examples": [
            {
                key: value
                for key, value in example.model_dump(exclude_none=True).items()
                if value != []
            }
            for example in criterion.examples
        ],
    }
    if criterion.kind == "scale":
        said["levels"] = {str(level): anchor for level, anchor in criterion.levels.items()}
        said |= {} if criterion.better == "higher" else {"better": "lower"}
    else:
        items = items_of(criterion, attributes)
        said["items"] = None if items is None else list(items)
        said["cap"] = cap_of(criterion, attributes)
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


# The metrics that a rubric makes: table `criteria`, and what readers are told of each.


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
            *(row.missing, row.source, RELEASED if row.kind == FROM_DATASET else RUBRICS),
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
