"""What a rubric asks of one document: who it is for, which items, up to which cap, in which words.

`attributes` are those of the document's source: the object in `sources.attributes`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from metassay.core.errors import BadInput, raise_problems
from metassay.scoring.rubrics.record import EVERY_FACET, Conditions, Criterion, Rubric

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
