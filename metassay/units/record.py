"""What a segmentation, a decomposition and an alignment are: one frozen record per module."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.core.options import Options, printed
from metassay.executor.documents import by_document, on_frames
from metassay.executor.record import LOCAL, Executor
from metassay.llm.endpoints import Models, find_model
from metassay.llm.needs import Needs, Requests, Resources, executor_for, files_of
from metassay.llm.prompts import Decoding
from metassay.tables.checks import check_sources
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


def take_apart(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    chosen: Chosen,
    resources: Resources,
    executor: Executor = LOCAL,
) -> Decomposed:
    """Take parts apart by a decomposition, each document by itself where an executor cuts them."""
    function, options = chosen.record.take_apart, chosen.options
    over = executor_for(chosen, executor)
    if not over.remote:
        return Decomposed(*function(parts, sources, options, resources))
    check_sources("parts", parts["doc_id"], sources)
    pieces, forms = by_document(parts, sources)
    files = files_of(chosen)
    shards = over.map(on_frames, pieces, forms, function, options, resources, files=files)
    warnings = dict.fromkeys(warning for shard in shards for warning in shard.warnings)
    units = pd.concat([shard.units for shard in shards], ignore_index=True)
    return Decomposed(units, tuple(warnings))


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
Passages = list[list[tuple[int, float]]]


class Tally(NamedTuple):
    """Counts of some documents, which add up, and how a note says them: as format says, after lead.

    Nothing is said where all of the counts that `tell` is the number of are 0.
    """

    lead: str
    form: str
    counts: tuple[int, ...]
    tell: int = 1

    @property
    def notes(self) -> tuple[str, ...]:
        """The note, if there is anything to say."""
        said = any(self.counts[: self.tell])
        return (self.lead + self.form.format(*self.counts),) if said else ()


class Aligned(NamedTuple):
    """What is aligned with the statements of each document, in the order of the documents.

    `notes`: what their owner should know, lines without any text. `tally`: the counts behind them,
    where they hang on how many documents there are.
    """

    documents: list[Passages]
    notes: tuple[str, ...] = ()
    tally: Tally | None = None


def together(shards: Sequence[Aligned]) -> Aligned:
    """What is aligned in all of some documents, of what is in each shard of them."""
    documents = [one for shard in shards for one in shard.documents]
    tallies = [shard.tally for shard in shards if shard.tally]
    if not tallies:
        notes = dict.fromkeys(note for shard in shards for note in shard.notes)
        return Aligned(documents, tuple(notes))
    counts = tuple(map(sum, zip(*(tally.counts for tally in tallies), strict=True)))
    tally = tallies[0]._replace(counts=counts)
    return Aligned(documents, tally.notes, tally)


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


# How recipes print a segmentation, a decomposition or an alignment.


def recipe_of(chosen: Chosen, models: Models) -> str:
    """One of these as recipes print it; if a language model makes it, with how it is asked.

    Raises BadInput if its model is not in `models`, or what it reads (a prompt, a trained file) is
    not usable.
    """
    record, options = chosen.record, chosen.options
    if record.recipe is None:
        return printed({"kind": chosen.kind} | options.model_dump(exclude_unset=True))
    use = record.model(options)
    asked = Decoding.of(find_model(models, use.model), use.max_tokens) if use is not None else None
    recipe: str = record.recipe(options, asked)
    return recipe
