"""Records of segmentations, decompositions and alignments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.core.options import Options, recipe_text
from metassay.executor.record import LOCAL, Executor, apply_to_frames, group_by_document
from metassay.llm.endpoints import Models, find_model
from metassay.llm.needs import Needs, Requests, Resources, executor_for, files_of
from metassay.llm.prompts import Decoding
from metassay.tables.checks import check_sources
from metassay.text.spans import Span

OK = "ok"
BETWEEN_PARTS = "\n\n"  # between sections, and between the pieces of a section


class Part(NamedTuple):
    """A part of a text, and its spans in the full text; `text` is None unless status is ok.

    `made_up`: segments that a model returned for this part and that are not in the
    text.
    """

    name: str
    text: str | None
    pieces: Sequence[Span]
    status: str
    made_up: Sequence[str] = ()


class Text(NamedTuple):
    """An author's text of a document; `sections` are those that were written separately.

    `released`: (facet, text) of its facets in the dataset. `sentences`: spans in the
    full text if the data have them; None: users split the text themselves.
    """

    task: str
    full: Part
    sections: Sequence[Part]
    doc_id: str = ""
    author: str = ""
    released: Sequence[tuple[str, str]] = ()
    sentences: Sequence[Span] | None = None


class Divided(NamedTuple):
    """The parts of each text, none if it stays undivided; `notes` have no text of the data."""

    parts: list[list[Part]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Segmentation(Needs):
    """A way to divide texts: a kind in params.yaml > segmentations.

    `divide(texts, options, resources)` returns the parts of each full text.
    `facets(options)` are the names that parts may have, in order: its option of that
    name, else none. `requests(texts, options, decoding)` returns what it would ask a
    model; None if it asks none. `recipe(options, decoding)` prints every setting that
    can change a part (decoding: None if it asks no model); None: the block's settings.
    """

    options: type[Options]
    divide: Callable[[Sequence[Text], Any, Resources], Divided]
    facets: Callable[[Any], tuple[str, ...]] = lambda options: tuple(
        getattr(options, "facets", ())
    )
    requests: Callable[[Sequence[Text], Any, Decoding], Requests] | None = None
    recipe: Callable[[Any, Decoding | None], str] | None = None


class Decomposed(NamedTuple):
    """Rows of UNITS, and warnings without any text of the data."""

    units: pd.DataFrame
    warnings: tuple[str, ...] = ()


def take_apart(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    chosen: Chosen,
    resources: Resources,
    executor: Executor = LOCAL,
) -> Decomposed:
    """Take parts apart by a decomposition, document by document on remote workers."""
    function = chosen.record.take_apart
    options = chosen.options
    over = executor_for(chosen, executor)
    if not over.remote:
        return Decomposed(*function(parts, sources, options, resources))
    check_sources("parts", parts["doc_id"], sources)
    pieces, forms = group_by_document(parts, sources)
    files = files_of(chosen)
    shards = over.map(
        apply_to_frames, pieces, forms, function, options, resources, files=files
    )
    warnings = dict.fromkeys(chain.from_iterable(shard.warnings for shard in shards))
    units = pd.concat([shard.units for shard in shards], ignore_index=True)
    return Decomposed(units, tuple(warnings))


@dataclass(frozen=True, kw_only=True)
class Decomposition(Needs):
    """A way to extract claims: a kind in params.yaml > decompositions.

    `take_apart(parts, sources, options, resources)` makes UNITS of PARTS and SOURCES.
    `requests(parts, sources, options, decoding)` returns what it would ask a model;
    None if it asks none. `recipe(options, decoding)` prints every setting that can
    change a claim; None: the block's settings.
    """

    options: type[Options]
    take_apart: Callable[[pd.DataFrame, pd.DataFrame, Any, Resources], Decomposed]
    requests: Callable[[pd.DataFrame, pd.DataFrame, Any, Decoding], Requests] | None = (
        None
    )
    recipe: Callable[[Any, Decoding], str] | None = None


class Statements(NamedTuple):
    """The statements about a document, and the passages that they may be aligned with.

    Passages are distinct. `groups`: the note or section of each, or "".
    """

    passages: Sequence[str]
    groups: Sequence[str]
    statements: Sequence[str]


# For each statement of a document, ordered pairs of a passage's index and its value.
Passages = list[list[tuple[int, float]]]


class Tally(NamedTuple):
    """Counts over documents, which add up, and their note: `lead`, then `form` of the counts.

    There is no note if the first `tell` counts are 0.
    """

    lead: str
    form: str
    counts: tuple[int, ...]
    tell: int = 1

    @property
    def notes(self) -> tuple[str, ...]:
        """The note, if there is any."""
        noted = any(self.counts[: self.tell])
        return (self.lead + self.form.format(*self.counts),) if noted else ()


class Aligned(NamedTuple):
    """The passages that are aligned with the statements of each document, in order.

    `notes` have no text of the data. `tally`: their counts, if these add up over
    documents.
    """

    documents: list[Passages]
    notes: tuple[str, ...] = ()
    tally: Tally | None = None


def concat_aligned(shards: Sequence[Aligned]) -> Aligned:
    """Concatenate shards of documents."""
    documents = list(chain.from_iterable(shard.documents for shard in shards))
    tallies = [shard.tally for shard in shards if shard.tally]
    if not tallies:
        notes = dict.fromkeys(chain.from_iterable(shard.notes for shard in shards))
        return Aligned(documents, tuple(notes))
    counts = tuple(map(sum, zip(*(tally.counts for tally in tallies), strict=True)))
    tally = tallies[0]._replace(counts=counts)
    return Aligned(documents, tally.notes, tally)


@dataclass(frozen=True, kw_only=True)
class Alignment(Needs):
    """A way to align statements with passages: a kind in params.yaml > alignments.

    `align(documents, options)` aligns all documents. `recipe(options, None)` prints
    every setting that can change passages; None: the block's settings.
    """

    options: type[Options]
    align: Callable[[Sequence[Statements], Any], Aligned]
    recipe: Callable[[Any, None], str] | None = None


def recipe_of(chosen: Chosen, models: Models) -> str:
    """Return the recipe of a segmentation, decomposition or alignment, with its language model.

    Raises BadInput if its model is not in `models`, or a prompt or trained file is not
    usable.
    """
    record = chosen.record
    options = chosen.options
    if record.recipe is None:
        return recipe_text(
            {"kind": chosen.kind} | options.model_dump(exclude_unset=True)
        )
    use = record.model(options)
    decoding = (
        Decoding.choose(find_model(models, use.model), use.max_tokens)
        if use is not None
        else None
    )
    recipe: str = record.recipe(options, decoding)
    return recipe
