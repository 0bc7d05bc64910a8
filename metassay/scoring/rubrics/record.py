"""What a rubric is, as readers of its file get it: frozen and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from metassay.core.options import Options
from metassay.tables.names import FULL, REFERENCE

EVERY_FACET = "every facet"  # reads: one criterion for each facet of the benchmark's segmentation
SOURCE = "source"  # against: all passages of the document
NOTHING = "nothing"  # against: the text alone is read
TAKEN = ("overall", "penalties")  # metrics that a rubric makes of its criteria

# An attribute of the source to what it may be; None: anything but nothing.
Conditions = Mapping[str, tuple[str | int | float | bool, ...] | None]


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank; write what it means")
    return text.strip()


Said = Annotated[str, AfterValidator(_said)]


class Violation(Options):
    """What one penalty of an example is for: the number of an item, from 1, or else in words."""

    item: int | None = None
    what: Said | None = None
    quote: str = ""


class Example(Options):
    """One text that was graded, to show a judge how. `against` is what it was held against.

    quotes: the evidence in the text for a level. violations: one for each penalty.
    """

    text: Said
    grade: int
    against: str = ""
    reason: str = ""
    quotes: list[Said] = Field(default_factory=list)
    violations: list[Violation] = Field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """One thing that is asked of a text.

    reads: the part that is graded. against: what it is held against: REFERENCE (its same part),
    SOURCE, names of the text's own parts; empty where the text alone is read. applies: where it is
    asked at all. weight: its share in the overall score; None: no part in it. better: which end of
    the scale is the better one; penalties are better the fewer they are. value: whether a score is
    the grade, or its share of the highest level.

    levels: of a scale, from the lowest to the highest, each with what a text is like that has it.
    Of penalties, `items` are what each may be given for once, or `items_from` is the attribute of
    the source that has them; without either they are counted freely. cap: the most that can be
    given (with items_from never more than the items that a document has); None: no end. absent:
    what a text without the part is worth: the worst, or no penalty at all.
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
        """Whether it is held against a reference."""
        return REFERENCE in self.against

    @property
    def parts(self) -> set[str]:
        """The parts of a text that it names, but the whole."""
        return {self.reads, *self.against} - {FULL, EVERY_FACET, REFERENCE, SOURCE}

    @property
    def lowest(self) -> int:
        """The lowest grade that can be given."""
        return min(self.levels, default=0)

    @property
    def highest(self) -> int | None:
        """The highest grade that any text can be given; None: there is no end."""
        return max(self.levels) if self.levels else self.cap


@dataclass(frozen=True)
class Rubric:
    """A whole rubric, its criteria in the order of its file.

    overall: how the weighted criteria make one score: weights `renormalised` over those that were
    scored, or as `printed` in the paper on facets: sum(value x weight) / number of weighted
    criteria; None: there is none. references: what several references make: the `best` of their
    grades, or their `mean`. applies: the documents that it is for.
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
        """Whether any criterion is held against a reference; then no reference is graded."""
        return any(criterion.compares for criterion in self.criteria)

    @property
    def counts(self) -> bool:
        """Whether it has penalties, and so their sum."""
        return any(criterion.kind == "penalties" for criterion in self.criteria)
