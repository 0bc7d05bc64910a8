"""What a segmentation, a decomposition and an alignment are: one frozen record per module."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from metassay.core.options import Options
from metassay.llm.needs import Needs, Requests, Resources
from metassay.text.spans import Span

if TYPE_CHECKING:
    from metassay.llm.prompts import Decoding


OK = "ok"
BETWEEN_PARTS = "\n\n"  # what sections are joined by, and the pieces of one


class Part(NamedTuple):
    """A part of a text, and where it stands in the full one; `text` is None unless status is ok.

    `made_up`: what a model returned as this part although it is not in the text.
    """

    name: str
    text: str | None
    pieces: Sequence[Span]
    status: str
    made_up: Sequence[str] = ()


class Text(NamedTuple):
    """One author's text of one document; `sections` are those that were written one by one.

    `released`: its facets as the dataset brings them, (facet, text) each. `sentences`: where its
    sentences are given, their places in the full text; None: whoever needs them finds them.
    """

    task: str
    full: Part
    sections: Sequence[Part]
    doc_id: str = ""
    author: str = ""
    released: Sequence[tuple[str, str]] = ()
    sentences: Sequence[Span] | None = None


class Divided(NamedTuple):
    """The parts of each of some texts, none if it stays undivided.

    `notes`: what their owner should know, lines without any text.
    """

    parts: list[list[Part]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Segmentation(Needs):
    """One way to divide texts: what a kind in params.yaml > segmentations stands for.

    `divide(texts, options, resources)` gives the parts within each full text. `facets(options)` are
    the names that parts may have, in their order: its option of that name, else none.
    `requests(texts, options, decoding)` says what it would ask a model; None if it asks none.
    `recipe(options, decoding)` states every setting that can change a part (decoding: None if it
    asks no model); None if the block's own settings say it all.
    """

    options: type[Options]
    divide: Callable[[Sequence[Text], Any, Resources], Divided]
    facets: Callable[[Any], tuple[str, ...]] = lambda options: tuple(getattr(options, "facets", ()))
    requests: "Callable[[Sequence[Text], Any, Decoding], Requests] | None" = None
    recipe: "Callable[[Any, Decoding | None], str] | None" = None


class Decomposed(NamedTuple):
    """Rows of UNITS, and what their owner should know: lines without any text."""

    units: pd.DataFrame
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Decomposition(Needs):
    """One way to find claims: what a kind in params.yaml > decompositions stands for.

    `take_apart(parts, sources, options, resources)` makes UNITS of PARTS and SOURCES.
    `requests(parts, sources, options, decoding)` says what it would ask a model; None if it asks
    none. `recipe(options, decoding)` states every setting that can change a claim; None if the
    block's own settings say it all.
    """

    options: type[Options]
    take_apart: Callable[[pd.DataFrame, pd.DataFrame, Any, Resources], Decomposed]
    requests: "Callable[[pd.DataFrame, pd.DataFrame, Any, Decoding], Requests] | None" = None
    recipe: "Callable[[Any, Decoding], str] | None" = None


class Statements(NamedTuple):
    """The statements about one document, and the passages that they may be read against.

    No two passages are the same text. `groups` names the note or section each is of, or is empty.
    """

    passages: Sequence[str]
    groups: Sequence[str]
    statements: Sequence[str]


# For each statement of a document, pairs of a passage's index and its value, as they are ordered.
Chosen = list[list[tuple[int, float]]]


class Aligned(NamedTuple):
    """What is aligned with the statements of each document, in the order of the documents.

    `notes`: what their owner should know, lines without any text.
    """

    documents: list[Chosen]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Alignment(Needs):
    """One way to find the passages that a statement is read against.

    It is what a kind in params.yaml > alignments stands for. `align(documents, options)` finds
    them for all documents. `recipe(options, None)` states every setting that can change them; None
    if the block's own settings say it all.
    """

    options: type[Options]
    align: Callable[[Sequence[Statements], Any], Aligned]
    recipe: Callable[[Any, None], str] | None = None
