"""What a segmentation is, and a decomposition: one frozen record per module of this folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from metassay.needs import Needs, Requests, Resources
from metassay.options import Options
from metassay.text.spans import Span

if TYPE_CHECKING:
    from metassay.llm.prompts import Decoding


OK = "ok"
BETWEEN_PARTS = "\n\n"  # what sections are joined by, and the pieces of one


class Part(NamedTuple):
    """A part of a text, and where it stands in the full one; `text` is None unless status is ok."""

    name: str
    text: str | None
    pieces: Sequence[Span]
    status: str


class Text(NamedTuple):
    """One author's text of one document; `sections` are those that were written one by one."""

    task: str
    full: Part
    sections: Sequence[Part]


@dataclass(frozen=True, kw_only=True)
class Segmentation(Needs):
    """One way to divide a text: what a kind in params.yaml > segmentations stands for.

    `divide(text, options)` gives the parts within the full text; none if it stays undivided.
    """

    options: type[Options]
    divide: Callable[[Text, Any], list[Part]]


class Decomposed(NamedTuple):
    """Rows of tables.UNITS, and what their owner should know: lines without any text."""

    units: pd.DataFrame
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Decomposition(Needs):
    """One way to find claims: what a kind in params.yaml > decompositions stands for.

    `take_apart(parts, sources, options, resources)` makes tables.UNITS of tables.PARTS and SOURCES.
    `requests(parts, sources, options, decoding)` says what it would ask a model; None if it asks
    none. `recipe(options, decoding)` states every setting that can change a claim; None if the
    block's own settings say it all.
    """

    options: type[Options]
    take_apart: Callable[[pd.DataFrame, pd.DataFrame, Any, Resources], Decomposed]
    requests: "Callable[[pd.DataFrame, pd.DataFrame, Any, Decoding], Requests] | None" = None
    recipe: "Callable[[Any, Decoding], str] | None" = None
