"""Read the criterion of a rubric from a pair's context, and check grades against it.

The pair holds the whole criterion (canonical JSON), so another wording is another
question.
"""

import re
from functools import lru_cache
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.judges.protocol import Pair
from metassay.scoring.pairing.instruments import PENALTIES, SCALE
from metassay.scoring.rubrics.record import Example, Violation

# the instruments whose pairs have a criterion as context
RUBRIC = (SCALE.name, PENALTIES.name)

_NAME = re.compile(r"^[\w-]+:$", re.MULTILINE)
_LEVEL = r"^(0|-?[1-9]\d{0,5})$"


class Scale(Options):
    """A criterion that is answered by a level: `levels` has the meanings by number."""

    kind: Literal["scale"]
    criterion: str
    asks: str
    levels: dict[Annotated[str, Field(pattern=_LEVEL)], str] = Field(min_length=2)
    better: Literal["higher", "lower"] = "higher"
    examples: tuple[Example, ...] = ()

    @property
    def grades(self) -> tuple[int, ...]:
        """The levels, in ascending order."""
        return tuple(sorted(map(int, self.levels)))

    @property
    def bounds(self) -> tuple[int, int | None]:
        """The lowest and the highest level."""
        return self.grades[0], self.grades[-1]

    def level(self, count: float, total: float = 1.0) -> int:
        """Return the level of a share: of k levels the worst stands for less than 1/k
        of the total, the best for (k - 1)/k or more, the others for equal bands
        between.
        """
        ordered = self.grades[:: 1 if self.better == "higher" else -1]
        return ordered[min(int(count * len(ordered) // total), len(ordered) - 1)]

    @model_validator(mode="after")
    def _examples_fit(self) -> Self:
        if any(e.grade not in self.grades or e.violations for e in self.examples):
            raise ValueError(
                "examples: a grade must be one of the levels, without violations"
            )
        return self


class Penalties(Options):
    """A criterion that is answered by a number of penalties, one per violation.

    Each of the `items`, if there are any, is violated at most once. At most `cap`
    penalties count.
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
        return min((n for n in (self.cap, len(self.items or ())) if n), default=None)

    @property
    def bounds(self) -> tuple[int, int | None]:
        """The smallest and the largest number of penalties."""
        return 0, self.most

    @model_validator(mode="after")
    def _examples_fit(self) -> Self:
        for example in self.examples:
            names = {self._name(violation) for violation in example.violations}
            many = self.most is not None and example.grade > self.most
            if (
                None in names
                or not example.grade == len(names) == len(example.violations)
                or many
            ):
                raise ValueError(
                    "examples: each needs as many distinct violations as its grade, named by an"
                    " item's number or, without items, by `what`"
                )
        return self

    def _name(self, violation: Violation) -> int | str | None:
        if self.items is None:
            return violation.what or None
        return (
            violation.item if violation.item in range(1, len(self.items) + 1) else None
        )


Criterion = Scale | Penalties

_READ: TypeAdapter[Criterion] = TypeAdapter(
    Annotated[Criterion, Field(discriminator="kind")]
)


def criterion_of(pair: Pair) -> Criterion:
    """Return the criterion that a pair of instrument `scale` or `penalties` asks about.

    Raises BadInput, which shows no text, if the pair's context is not a criterion of
    that kind.
    """
    try:
        criterion = read_criterion(pair.context or "")
        problem = f"its kind is {criterion.kind}"
        if criterion.kind == pair.instrument:
            return criterion
    except ValueError as error:
        problem = str(error)
    raise BadInput(
        f"pairs: pair_id {pair.pair_id}: its context is not a criterion for instrument"
        f" {pair.instrument!r}: {problem}; make the pairs again"
    )


@lru_cache(maxsize=1024)
def read_criterion(context: str) -> Criterion:
    """Return the criterion of a context; ValueError, without its texts, if there is none."""
    try:
        return _READ.validate_json(context)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        message = first["msg"].removeprefix("Value error, ")
        problem = ": ".join(
            filter(None, [" > ".join(map(str, first["loc"][1:])), message])
        )
        raise ValueError(problem) from None


def content(premise: str) -> str:
    """Return a premise of several parts without the lines that name them, as `source:`.

    Texts need not repeat these lines.
    """
    return _NAME.sub("", premise)


def allows(criterion: Criterion, grade: float) -> bool:
    """Return whether a grade is within the criterion's bounds, both included.

    It need not be a level: the mean or median of several judges may lie between two
    levels.
    """
    low, high = criterion.bounds
    return low <= grade and (high is None or grade <= high)
