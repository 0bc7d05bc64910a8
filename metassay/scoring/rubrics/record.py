"""Rubrics: frozen records, and the reader that checks their files."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, collect_problems, raise_problems
from metassay.core.naming import name_problem, name_problems
from metassay.core.options import Block, Options, Words, parse, refuse
from metassay.tables.names import FULL, REFERENCE

# reads: one criterion for each facet of the benchmark's segmentation
EVERY_FACET = "every facet"
SOURCE = "source"  # against: all passages of the document
NOTHING = "nothing"  # against: the text alone is read
RESERVED = ("overall", "penalties")  # a rubric's metrics over all of its criteria

# Attribute of the source -> values that it may have; None: any value but an empty one.
Conditions = Mapping[str, tuple[str | int | float | bool, ...] | None]


def _stripped(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank; write what it means")
    return text.strip()


NonBlank = Annotated[str, AfterValidator(_stripped)]


class Violation(Options):
    """What a penalty of an example is for: the number of an item, from 1, or else words."""

    item: int | None = None
    what: NonBlank | None = None
    quote: str = ""


class Example(Options):
    """A graded text that shows a judge how to grade. `against` is what it was compared with.

    quotes: evidence in the text for a level. violations: one for each penalty.
    """

    text: NonBlank
    grade: int
    against: str = ""
    reason: str = ""
    quotes: list[NonBlank] = Field(default_factory=list)
    violations: list[Violation] = Field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A criterion by which texts are graded.

    reads: the part that is graded. against: what it is compared with: REFERENCE (the
    same part), SOURCE, names of the text's other parts; empty where the text alone is
    read. applies: the documents that it is for. weight: in the overall score; None: not
    part of it. better: the better end of the scale; of penalties, lower. value: whether
    a score is the grade, or its share of the highest level.

    levels: of a scale, from lowest to highest, each with its anchor: what a text of
    that level is like. Each of `items` may be penalised once; `items_from` is the
    attribute of the source that has them; without either, penalties are counted freely.
    cap: the most penalties (with items_from at most the document's items); None: no
    limit. absent: what a text without the part gets: the worst, or no penalty.
    """

    name: str
    kind: Literal["scale", "penalties"]
    asks: str
    reads: str
    against: tuple[str, ...]
    applies: Conditions
    weight: float | None = None
    better: Literal["higher", "lower"] = "lower"
    value: Literal["share", "grade"] = "grade"
    levels: Mapping[int, str] = field(default_factory=dict)
    items: tuple[str, ...] | None = None
    items_from: str | None = None
    cap: int | None = None
    absent: Literal["worst", "no penalty"] = "worst"
    examples: tuple[Example, ...]

    @property
    def compares(self) -> bool:
        """Whether it compares the text with a reference."""
        return REFERENCE in self.against

    @property
    def parts(self) -> set[str]:
        """The parts of a text that it names, without the whole."""
        return {self.reads, *self.against} - {FULL, EVERY_FACET, REFERENCE, SOURCE}

    @property
    def lowest(self) -> int:
        """The lowest possible grade."""
        return min(self.levels, default=0)

    @property
    def highest(self) -> int | None:
        """The highest possible grade of any text; None: no limit."""
        return max(self.levels) if self.levels else self.cap


@dataclass(frozen=True)
class Rubric:
    """A rubric, its criteria in the order of its file.

    overall: how weighted criteria are combined: weights `renormalised` over those with
    a score, or as `printed` in the paper on facets: sum(value x weight) / number of
    weighted criteria; None: not at all. references: of grades against several
    references, the `best` or the `mean` counts. applies: the documents that it is for.
    """

    name: str
    title: str
    source: str
    overall: Literal["renormalised", "printed"] | None
    references: Literal["best", "mean"]
    applies: Conditions
    criteria: tuple[Criterion, ...]

    @property
    def compares(self) -> bool:
        """Whether any criterion compares with a reference; then references are not graded."""
        return any(criterion.compares for criterion in self.criteria)

    @property
    def counts(self) -> bool:
        """Whether it has penalties, and thus their sum."""
        return any(criterion.kind == "penalties" for criterion in self.criteria)


# The reader of rubrics/<name>.yaml reports all problems at once, each with its key;
# `strict_yaml.add_lines` adds the lines. docs/studies.md says what each key means.


RUBRICS = Path("rubrics")
_LONGEST_SCALE = 101  # 0 to 100


def _capped(value: object) -> object:
    if value in ("items", "none") or (type(value) is int and value >= 1):
        return value
    raise ValueError("must be a whole number from 1, `items` (their number) or `none`")


def _condition(values: object) -> tuple[object, ...] | None:
    if values == "any":
        return None
    if (
        values
        and isinstance(values, list)
        and all(isinstance(v, str | int | float) for v in values)
    ):
        return tuple(values)
    raise ValueError("must be `any` (any value but an empty one) or a list of values")


_once = refuse(
    lambda names: (
        "" if 0 < len(names) == len(set(names)) else "must have one or more, each once"
    )
)
_Applies = Annotated[
    dict[str, Annotated[Any, AfterValidator(_condition)]],
    AfterValidator(MappingProxyType),
]


def _levels_problem(levels: Mapping[str, str]) -> str:
    if not all(re.fullmatch(r"0|[1-9][0-9]{0,8}", name) for name in levels):
        return 'must be whole numbers from 0, in quotes, such as "1"'
    numbers = sorted(map(int, levels))
    if not 2 <= len(numbers) <= _LONGEST_SCALE:
        return f"{len(numbers)} of them; write 2 to {_LONGEST_SCALE}"
    if numbers != list(range(numbers[0], numbers[-1] + 1)):
        return f"are not consecutive from {numbers[0]} to {numbers[-1]}; add the missing ones"
    return ""


class CriterionBlock(Options):
    """The keys that all criteria have."""

    asks: NonBlank
    reads: str
    against: Annotated[
        list[str],
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
        _once,
    ]
    applies: _Applies = Field(default_factory=dict)
    examples: list[Example] = Field(default_factory=list)


class ScaleBlock(CriterionBlock):
    """A criterion of kind `scale`."""

    levels: Annotated[dict[str, NonBlank], refuse(_levels_problem)]
    weight: Annotated[float, Field(gt=0)] | None = None
    better: Literal["higher", "lower"] = "higher"
    value: Literal["share", "grade"]


class PenaltiesBlock(CriterionBlock):
    """A criterion of kind `penalties`."""

    items: Annotated[list[NonBlank], _once] | None = None
    items_from: NonBlank | None = None
    cap: Annotated[Any, AfterValidator(_capped)]
    absent: Literal["worst", "no penalty"]


class RubricFile(Options):
    """The whole file; each criterion is checked by its kind."""

    title: Words
    source: Words
    overall: Literal["renormalised", "printed", "none"]
    references: Literal["best", "mean"] = "best"
    applies: _Applies = Field(default_factory=dict)
    criteria: dict[str, Any]


def load_rubric(path: Path) -> Rubric:
    """Read a rubric; its name is the file's.

    Raises BadInput with all problems: unknown or missing keys, levels that are not
    consecutive, caps that no penalty can reach, weights that nothing uses, and so on.
    """
    where = str(path)
    problems = []
    if name_problem(path.stem):
        problems.append(
            f"{where}: the name is not a rubric's: {name_problem(path.stem)}"
        )
    try:
        file = parse(RubricFile, strict_yaml.load(path), where=where)
    except BadInput as error:
        raise BadInput([*problems, *error.problems]) from None
    criteria: list[Criterion] = []
    for name, block in file.criteria.items():
        at = f"{where} > criteria > {name}"
        with collect_problems(problems):
            criteria.append(_criterion(name, block, at))
    problems += [f"{where} > {line}" for line in _names(file)]
    if not problems:
        problems += [f"{where} > {line}" for line in _together(file, criteria)]
    raise_problems(problems)
    overall = None if file.overall == "none" else file.overall
    fields = {"overall": overall, "criteria": tuple(criteria)}
    return Rubric(name=path.stem, **dict(file) | fields)


def _names(file: RubricFile) -> Iterator[str]:
    if not file.criteria:
        yield "criteria: is empty; write one or more"
    yield from (f"criteria > {line}" for line in name_problems(file.criteria, RESERVED))


def _together(file: RubricFile, criteria: list[Criterion]) -> Iterator[str]:
    """Check criteria that are valid by themselves against each other."""
    weighted = [criterion for criterion in criteria if criterion.weight is not None]
    if len({(criterion.better, criterion.value) for criterion in weighted}) > 1:
        yield "overall: weighted criteria differ in better or value; give all of them the same"
    if file.overall != "none" and not weighted:
        yield "overall: no criterion has a weight; give weights, or write none"
    if file.overall == "none":
        yield from (
            f"criteria > {c.name} > weight: overall is none; remove it"
            for c in weighted
        )


def _criterion(name: str, block: object, at: str) -> Criterion:
    kind = block.get("kind") if isinstance(block, dict) else None
    if not isinstance(block, dict) or kind not in ("scale", "penalties"):
        raise BadInput(f"{at} > kind: must be scale or penalties")
    settings: Block = {key: value for key, value in block.items() if key != "kind"}
    fields = _scale(settings, at) if kind == "scale" else _penalties(settings, at)
    against = tuple(fields.pop("against"))
    examples = tuple(fields.pop("examples"))
    against = () if against == (NOTHING,) else against
    criterion = Criterion(
        kind=kind, name=name, against=against, examples=examples, **fields
    )
    raise_problems(
        f"{at} > {line}" for line in (*_reading(criterion), *_examples(criterion))
    )
    return criterion


def _scale(block: Block, at: str) -> dict[str, Any]:
    scale = parse(ScaleBlock, block, where=at)
    levels = {
        int(level): scale.levels[level] for level in sorted(scale.levels, key=int)
    }
    return dict(scale) | {"levels": MappingProxyType(levels)}


def _penalties(block: Block, at: str) -> dict[str, Any]:
    penalties = parse(PenaltiesBlock, block, where=at)
    raise_problems(f"{at} > {line}" for line in _cap_problems(penalties))
    items = penalties.items
    cap = penalties.cap
    if cap == "items" and items is not None:
        cap = len(items)
    cap = cap if isinstance(cap, int) else None
    return dict(penalties) | {
        "items": None if items is None else tuple(items),
        "cap": cap,
    }


def _cap_problems(block: PenaltiesBlock) -> Iterator[str]:
    listed = block.items is not None or block.items_from is not None
    if block.items is not None and block.items_from is not None:
        yield "items_from: items are listed as well; keep one of the two"
    if block.cap == "items" and not listed:
        yield "cap: there are no items to count; write items, items_from, a number or none"
    if block.cap == "none" and listed:
        yield "cap: each item has one penalty at most, so there is a limit; write items or a number"
    if (
        block.items is not None
        and isinstance(block.cap, int)
        and block.cap > len(block.items)
    ):
        yield (
            f"cap: is {block.cap}, but {len(block.items)} items have one penalty each at most;"
            " write items"
        )
    if block.cap == "none" and block.absent == "worst":
        yield "absent: without a cap there is no worst; write `no penalty`"


def _reading(criterion: Criterion) -> Iterator[str]:
    """Check the parts that a criterion names."""
    if criterion.reads not in (FULL, EVERY_FACET) and (
        problem := _part_problem(criterion.reads)
    ):
        yield f"reads: {problem}, or write {FULL} or {EVERY_FACET}"
    for name in criterion.against:
        if name == NOTHING:
            yield f"against: {NOTHING} stands alone; remove it or the others"
        elif name not in (REFERENCE, SOURCE, FULL) and (problem := _part_problem(name)):
            yield f"against: {name!r}: {problem}"
        elif name == criterion.reads:
            yield f"against: {name!r} is what is read; compare it with something else"


def _part_problem(name: str) -> str:
    if name in (REFERENCE, SOURCE, NOTHING, EVERY_FACET):
        return "is not a part of a text; name a part"
    problem = name_problem(name)
    return f"is not a name of a part: {problem}" if problem else ""


def _examples(criterion: Criterion) -> Iterator[str]:
    if criterion.items_from is not None and criterion.examples:
        yield "examples: the items differ by document; remove the examples, or list items"
        return
    highest = criterion.highest
    for place, example in enumerate(criterion.examples):
        at = f"examples > {place}"
        if example.grade < criterion.lowest or (
            highest is not None and example.grade > highest
        ):
            end = " or more" if highest is None else f" to {highest}"
            yield f"{at} > grade: is {example.grade}; write {criterion.lowest}{end}"
        quotes = [
            *example.quotes,
            *(violation.quote for violation in example.violations),
        ]
        if any(quote not in example.text for quote in quotes):
            yield f"{at}: a quote is not in its text, character by character; correct it"
        if criterion.kind == "scale" and example.violations:
            yield f"{at} > violations: a scale has none; write quotes"
        elif criterion.kind == "penalties" and _miscounted(example, criterion.items):
            by = "item (its number, from 1)" if criterion.items else "what"
            yield f"{at} > violations: must be as many as the grade, each with a different {by}"


def _miscounted(example: Example, items: tuple[str, ...] | None) -> bool:
    if items is None:
        named: set[object] = {v.what for v in example.violations if v.item is None}
    else:
        numbers = range(1, len(items) + 1)
        named = {v.item for v in example.violations if v.item in numbers and not v.what}
    return not len(named - {None}) == len(example.violations) == example.grade
