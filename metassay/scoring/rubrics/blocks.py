"""The shape of a file rubrics/<name>.yaml: its keys, and what each may hold by itself."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from metassay.core.options import Options, Words


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank; write what it means")
    return text.strip()


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _capped(value: object) -> object:
    if value in ("items", "none") or (type(value) is int and value >= 1):
        return value
    raise ValueError("must be a whole number from 1, `items` (as many as there are) or `none`")


def _condition(wanted: object) -> object:
    scalars = isinstance(wanted, list) and all(isinstance(w, str | int | float) for w in wanted)
    if wanted == "any" or (scalars and wanted):
        return wanted
    raise ValueError("must be `any` (it holds something) or a list of the values that it may have")


def _once(names: list[str]) -> list[str]:
    if not names or len(set(names)) < len(names):
        raise ValueError("must have one or more, each once")
    return names


_Said = Annotated[str, AfterValidator(_said)]
_Items = Annotated[list[_Said], AfterValidator(_once)]
_Applies = dict[str, Annotated[Any, AfterValidator(_condition)]]


class ViolationBlock(Options):
    """What one penalty of an example is for."""

    item: int | None = None
    what: _Said | None = None
    quote: str = ""


class ExampleBlock(Options):
    """A text with its grade."""

    text: _Said
    grade: int
    against: str = ""
    reason: str = ""
    quotes: list[_Said] = Field(default_factory=list)
    violations: list[ViolationBlock] = Field(default_factory=list)


class CriterionBlock(Options):
    """What every criterion has."""

    asks: _Said
    reads: str
    against: Annotated[list[str], BeforeValidator(_listed), AfterValidator(_once)]
    applies: _Applies = Field(default_factory=dict)
    examples: list[ExampleBlock] = Field(default_factory=list)


class ScaleBlock(CriterionBlock):
    """A criterion of kind `scale`."""

    levels: dict[str, _Said]
    weight: Annotated[float, Field(gt=0)] | None = None
    better: Literal["higher", "lower"] = "higher"
    value: Literal["share", "grade"]


class PenaltiesBlock(CriterionBlock):
    """A criterion of kind `penalties`."""

    items: _Items | None = None
    items_from: _Said | None = None
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
