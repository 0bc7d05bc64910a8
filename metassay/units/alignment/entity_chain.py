"""Entity-Chain: the source passages that share a concept with a statement (Adams et al. 2023, 6.1).

Concepts come from a linker (metassay/concepts), such as a term list of the project.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from metassay.concepts import linkers
from metassay.concepts.synonyms import read_synonyms
from metassay.core.options import Options
from metassay.units.record import Aligned, Alignment, Statements, Tally

VERSION = 1  # raised by whoever changes results of this module's kinds

NAME = "entity_chain"


class EntityChainOptions(Options):
    """`linker` finds concepts. `synonyms`: a CSV of pairs that count as one concept."""

    linker: linkers.Linker
    synonyms: str | None = None


def align(documents: Sequence[Statements], options: EntityChainOptions) -> Aligned:
    """Return all passages that share a concept with each statement, in source order.

    A passage's value is the number of shared concepts: 1 or more, higher is closer. A
    statement without concept is aligned with nothing; notes count these. With
    `synonyms` a passage shares a concept if it names a synonym. Raises BadInput as
    `linkers.load` and `read_synonyms`.

    Terms fever, cough, chest x-ray; passages "Fever and cough.", "No coughs.", "An
    x-ray."; the statement "She had a cough and fever." gets passage 0 with 2 and
    passage 1 with 1.
    """
    mentions = linkers.load(options.linker)
    synonyms = read_synonyms(Path(options.synonyms)) if options.synonyms else {}

    def link(text: str) -> frozenset[str]:
        return frozenset(mention.concept for mention in mentions(text))

    aligned = []
    total = 0
    unnamed = 0
    for passages, _, statements in documents:
        of_passages = [link(passage) for passage in passages]
        of_statements = [link(statement) for statement in statements]
        aligned.append(
            [_share(named, of_passages, synonyms) for named in of_statements]
        )
        total += len(statements)
        unnamed += sum(not named for named in of_statements)
    reason = f"by linker {options.linker.kind}; nothing is aligned with them"
    form = f"{{:,}} of {{:,}} statements name no concept {reason}"
    tally = Tally("", form, (unnamed, total))
    return Aligned(aligned, tally.notes, tally)


def _share(
    named: frozenset[str],
    of_passages: Sequence[frozenset[str]],
    synonyms: Mapping[str, frozenset[str]],
) -> list[tuple[int, float]]:
    """Return the passages that share concepts with a statement, and how many."""
    meanings = [{concept, *synonyms.get(concept, ())} for concept in named]
    counts = [
        sum(not concepts.isdisjoint(meaning) for meaning in meanings)
        for concepts in of_passages
    ]
    return [(place, float(count)) for place, count in enumerate(counts) if count]


def _synonym_files(options: EntityChainOptions) -> list[Path]:
    return [Path(options.synonyms)] if options.synonyms else []


def _recipe(options: EntityChainOptions, _: object) -> str:
    parts = [NAME, f"linker=({linkers.recipe(options.linker)})"]
    for file in _synonym_files(options):
        parts.append(f"synonyms={linkers.name_and_hash(file)}")
    return ",".join(parts)


KIND = Alignment(
    options=EntityChainOptions,
    align=align,
    files=lambda options: linkers.files(options.linker, *_synonym_files(options)),
    recipe=_recipe,
)
