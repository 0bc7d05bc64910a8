"""A criterion of a rubric, as a pair's context brings it, and the grades that it allows.

All that a judge needs to know of a criterion is in the pair (canonical JSON), so a criterion with
another wording is another question.
"""

import re
from functools import lru_cache
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.judges.protocol import Pair
from metassay.scoring.rubrics.record import Example, Violation

Kind = Literal["scale", "penalties"]

SCALE: Kind = "scale"
PENALTIES: Kind = "penalties"
RUBRIC = (SCALE, PENALTIES)  # the instruments whose pairs have a criterion for a context

_NAME = re.compile(r"^[\w-]+:$", re.MULTILINE)
_LEVEL = r"^(0|-?[1-9]\d{0,5})$"


class Scale(Options):
    """A criterion that is answered by a level: `levels` has what each means, by its number."""

    kind: Literal["scale"]
    criterion: str
    asks: str
    levels: dict[Annotated[str, Field(pattern=_LEVEL)], str] = Field(min_length=2)
    better: Literal["higher", "lower"] = "higher"
    examples: tuple[Example, ...] = ()

    @property
    def grades(self) -> tuple[int, ...]:
        """The levels, the lowest first."""
        return tuple(sorted(map(int, self.levels)))

    @property
    def bounds(self) -> tuple[int, int | None]:
        """The lowest and the highest level."""
        return self.grades[0], self.grades[-1]

    def level(self, found: float, of: float = 1.0) -> int:
        """The level of a share: of k levels the worst is for less than 1/k of the whole, the best
        for (k - 1)/k or more, the others for equal bands between.
        """
        ordered = self.grades[:: 1 if self.better == "higher" else -1]
        return ordered[min(int(found * len(ordered) // of), len(ordered) - 1)]

    @model_validator(mode="after")
    def _examples_fit(self) -> Self:
        if any(one.grade not in self.grades or one.violations for one in self.examples):
            raise ValueError("examples: a grade must be one of the levels, without violations")
        return self


class Penalties(Options):
    """A criterion that is answered by a number of penalties: one per violation.

    Each of the `items`, if there are any, is violated at most once; `cap` is the most that count.
    """

    kind: Literal["penalties"]
    criterion: str
    asks: str
    items: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    cap: Annotated[int, Field(ge=1)] | None = None
    examples: tuple[Example, ...] = ()

    @property
    def most(self) -> int | None:
        """The largest number of penalties; None if there is no limit."""
        known = [n for n in (self.cap, None if self.items is None else len(self.items)) if n]
        return min(known) if known else None

    @property
    def bounds(self) -> tuple[int, int | None]:
        """No penalty, and the most that there can be."""
        return 0, self.most

    @model_validator(mode="after")
    def _examples_fit(self) -> Self:
        for one in self.examples:
            named = {self._named(violation) for violation in one.violations}
            many = self.most is not None and one.grade > self.most
            if None in named or not one.grade == len(named) == len(one.violations) or many:
                raise ValueError(
                    "examples: each needs as many violations as its grade says, each another one,"
                    " by its item's number or, without items, by what it is"
                )
        return self

    def _named(self, violation: Violation) -> int | str | None:
        if self.items is None:
            return violation.what or None
        return violation.item if violation.item in range(1, len(self.items) + 1) else None


Criterion = Scale | Penalties

_READ: TypeAdapter[Criterion] = TypeAdapter(Annotated[Criterion, Field(discriminator="kind")])


def criterion_of(pair: Pair) -> Criterion:
    """The criterion that a pair of instrument `scale` or `penalties` asks about.

    BadInput if the pair's context is none of that kind; it names the pair and no text.
    """
    found = _criterion(pair.context or "")
    if not isinstance(found, str) and found.kind == pair.instrument:
        return found
    problem = found if isinstance(found, str) else f"its kind is {found.kind}"
    raise BadInput(
        f"pairs: pair_id {pair.pair_id}: its context is not a criterion for instrument"
        f" {pair.instrument!r}: {problem}; make the pairs again"
    )


def read_criterion(context: str) -> Criterion:
    """The criterion of a context that a judge has read before; RuntimeError if it is none."""
    found = _criterion(context)
    if isinstance(found, str):
        raise RuntimeError(f"a pair's context is not a criterion: {found}")
    return found


def content(premise: str) -> str:
    """What a text is held against without lines that only name it, as `source:` and `history:`.

    Pairs have these where it is held against several things. No text can be wanted to have them.
    """
    return _NAME.sub("", premise)


def allows(criterion: Criterion, grade: float) -> bool:
    """Whether a grade is within the criterion's bounds, both ends included.

    It need not be a level: the mean or median of what several judges say may lie between two.
    """
    low, high = criterion.bounds
    return low <= grade and (high is None or grade <= high)


@lru_cache(maxsize=1024)
def _criterion(context: str) -> Criterion | str:
    """The criterion, or what is wrong with it, without its texts."""
    try:
        return _READ.validate_json(context)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        said = first["msg"].removeprefix("Value error, ")
        return ": ".join(filter(None, [" > ".join(map(str, first["loc"][1:])), said]))
