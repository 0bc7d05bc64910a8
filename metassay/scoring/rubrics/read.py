"""A file rubrics/<name>.yaml, read strictly: every problem at once, each with its key.

`strict_yaml.located` adds the lines. docs/rubrics.md says what each key means.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.core.naming import name_problem, name_problems
from metassay.core.options import Block, parse
from metassay.scoring.rubrics.blocks import (
    CriterionBlock,
    ExampleBlock,
    PenaltiesBlock,
    RubricFile,
    ScaleBlock,
)
from metassay.scoring.rubrics.record import (
    EVERY_FACET,
    NOTHING,
    SOURCE,
    TAKEN,
    Conditions,
    Criterion,
    Example,
    Rubric,
    Violation,
)
from metassay.tables.names import FULL, REFERENCE

RUBRICS = Path("rubrics")
_OTHER_READS = (FULL, EVERY_FACET)
_LONGEST_SCALE = 101  # 0 to 100


def load_rubric(path: Path) -> Rubric:
    """The rubric of a file, which is called as the rubric is.

    Raises BadInput with every problem: keys that are unknown or missing, levels that are not
    consecutive, caps that no penalty can reach, weights that nothing uses, and so on.
    """
    where, problems = str(path), []
    if name_problem(path.stem):
        problems.append(f"{where}: the name is no rubric's: {name_problem(path.stem)}")
    try:
        file = parse(RubricFile, strict_yaml.load(path), where=where)
    except BadInput as error:
        raise BadInput([*problems, *error.problems]) from None
    criteria: list[Criterion] = []
    for name, block in file.criteria.items():
        at = f"{where} > criteria > {name}"
        try:
            criteria.append(_criterion(name, block, at))
        except BadInput as error:
            problems += error.problems
    problems += [f"{where} > {line}" for line in _names(file)]
    if not problems:
        problems += [f"{where} > {line}" for line in _together(file, criteria)]
    if problems:
        raise BadInput(problems)
    return Rubric(
        path.stem,
        file.title,
        file.source,
        None if file.overall == "none" else file.overall,
        file.references,
        _conditions(file.applies),
        tuple(criteria),
    )


def _names(file: RubricFile) -> Iterator[str]:
    if not file.criteria:
        yield "criteria: is empty; write one or more"
    yield from (f"criteria > {line}" for line in name_problems(file.criteria, TAKEN))


def _together(file: RubricFile, criteria: list[Criterion]) -> Iterator[str]:
    """What is wrong although each criterion is sound."""
    weighted = [one.name for one in criteria if one.weight is not None]
    kinds = {(one.better, one.value) for one in criteria if one.weight is not None}
    if len(kinds) > 1:
        yield "overall: weighted criteria differ in better or value; give all of them the same"
    if file.overall != "none" and not weighted:
        yield "overall: no criterion has a weight; give weights, or write none"
    if file.overall == "none":
        yield from (f"criteria > {one} > weight: overall is none; remove it" for one in weighted)


def _criterion(name: str, block: object, at: str) -> Criterion:
    kind = block.get("kind") if isinstance(block, dict) else None
    if not isinstance(block, dict) or kind not in ("scale", "penalties"):
        raise BadInput(f"{at} > kind: must be scale or penalties")
    rest: Block = {key: value for key, value in block.items() if key != "kind"}
    made = _scale(name, rest, at) if kind == "scale" else _penalties(name, rest, at)
    problems = [f"{at} > {line}" for line in (*_reading(made), *_examples(made))]
    if problems:
        raise BadInput(problems)
    return made


def _scale(name: str, block: Block, at: str) -> Criterion:
    given = parse(ScaleBlock, block, where=at)
    problem = _levels_problem(list(given.levels))
    if problem:
        raise BadInput(f"{at} > levels: {problem}")
    levels = {int(level): given.levels[level] for level in sorted(given.levels, key=int)}
    return Criterion(
        name=name,
        kind="scale",
        **_shared(given),
        weight=given.weight,
        better=given.better,
        value=given.value,
        levels=MappingProxyType(levels),
        items=None,
        items_from=None,
        cap=None,
        absent="worst",
    )


def _levels_problem(names: list[str]) -> str:
    if not all(re.fullmatch(r"0|[1-9][0-9]{0,8}", name) for name in names):
        return 'must be whole numbers from 0, in quotes, such as "1"'
    levels = sorted(map(int, names))
    if len(levels) < 2 or len(levels) > _LONGEST_SCALE:
        return f"{len(levels)} given; write 2 to {_LONGEST_SCALE}"
    if levels != list(range(levels[0], levels[-1] + 1)):
        return f"are not consecutive from {levels[0]} to {levels[-1]}; write those between"
    return ""


def _penalties(name: str, block: Block, at: str) -> Criterion:
    given = parse(PenaltiesBlock, block, where=at)
    problems = [f"{at} > {line}" for line in _cap_problems(given)]
    if problems:
        raise BadInput(problems)
    cap = given.cap if isinstance(given.cap, int) else None
    if given.cap == "items" and given.items is not None:
        cap = len(given.items)
    return Criterion(
        name=name,
        kind="penalties",
        **_shared(given),
        weight=None,
        better="lower",
        value="grade",
        levels=MappingProxyType({}),
        items=None if given.items is None else tuple(given.items),
        items_from=given.items_from,
        cap=cap,
        absent=given.absent,
    )


def _cap_problems(given: PenaltiesBlock) -> Iterator[str]:
    listed = given.items is not None or given.items_from is not None
    if given.items is not None and given.items_from is not None:
        yield "items_from: items are listed as well; keep one of the two"
    if given.cap == "items" and not listed:
        yield "cap: there are no items to count; write items, items_from, a number or none"
    if given.cap == "none" and listed:
        yield "cap: each item has one penalty at most, so there is an end; write items or a number"
    if given.items is not None and isinstance(given.cap, int) and given.cap > len(given.items):
        yield (
            f"cap: is {given.cap}, but {len(given.items)} items have one penalty each at most;"
            " write items"
        )
    if given.cap == "none" and given.absent == "worst":
        yield "absent: without a cap there is no worst; write `no penalty`"


def _shared(given: CriterionBlock) -> dict[str, Any]:
    against = tuple(name for name in given.against if name != NOTHING)
    return {
        "asks": given.asks,
        "reads": given.reads,
        "against": against if len(given.against) == 1 else tuple(given.against),
        "applies": _conditions(given.applies),
        "examples": tuple(map(_example, given.examples)),
    }


def _reading(made: Criterion) -> Iterator[str]:
    """What is wrong with the parts that a criterion names."""
    if made.reads not in _OTHER_READS and (problem := _part_problem(made.reads)):
        yield f"reads: {problem}, or write {FULL} or {EVERY_FACET}"
    for name in made.against:
        if name == NOTHING:
            yield f"against: {NOTHING} stands alone; remove it or the others"
        elif name not in (REFERENCE, SOURCE, FULL) and (problem := _part_problem(name)):
            yield f"against: {name!r}: {problem}"
        elif name == made.reads:
            yield f"against: {name!r} is what is read; hold it against something else"


def _part_problem(name: str) -> str:
    if name in (REFERENCE, SOURCE, NOTHING, EVERY_FACET):
        return "is no part of a text; name a part"
    problem = name_problem(name)
    return f"is no name of a part: {problem}" if problem else ""


def _example(given: ExampleBlock) -> Example:
    violations = tuple(Violation(one.item, one.what, one.quote) for one in given.violations)
    said = (given.text, given.grade, given.against, given.reason)
    return Example(*said, tuple(given.quotes), violations)


def _examples(made: Criterion) -> Iterator[str]:
    if made.items_from is not None and made.examples:
        yield "examples: each document has items of its own; remove them, or list items"
        return
    highest = made.highest
    for place, example in enumerate(made.examples):
        at = f"examples > {place}"
        if example.grade < made.lowest or (highest is not None and example.grade > highest):
            end = " or more" if highest is None else f" to {highest}"
            yield f"{at} > grade: is {example.grade}; write {made.lowest}{end}"
        if any(quote not in example.text for quote in _quotes(example)):
            yield f"{at}: a quote is not in its text, letter by letter; correct it"
        if made.kind == "scale" and example.violations:
            yield f"{at} > violations: a scale has none; write quotes"
        elif made.kind == "penalties" and _miscounted(example, made.items):
            by = "item (its number, from 1)" if made.items else "what"
            yield (
                f"{at} > violations: must be as many as the grade says, each another one with its"
                f" {by}"
            )


def _quotes(example: Example) -> list[str]:
    return [*example.quotes, *(one.quote for one in example.violations)]


def _miscounted(example: Example, items: tuple[str, ...] | None) -> bool:
    if items is None:
        named: set[object] = {one.what for one in example.violations if one.item is None}
    else:
        known = range(1, len(items) + 1)
        named = {one.item for one in example.violations if one.item in known and not one.what}
    return not len(named - {None}) == len(example.violations) == example.grade


def _conditions(applies: dict[str, Any]) -> Conditions:
    return MappingProxyType(
        {name: None if wanted == "any" else tuple(wanted) for name, wanted in applies.items()}
    )
