"""Entity-Chain: the source passages that share a concept with a statement (Adams et al. 2023, 6.1).

Concepts come from a linker (metassay/concepts), such as a term list of the project.
"""

from collections.abc import Sequence

from metassay.concepts import linkers
from metassay.core.options import Options
from metassay.units.record import Aligned, Alignment, Statements, Tally

VERSION = 1  # raised by whoever changes results of this module's kinds

NAME = "entity_chain"


class EntityChainOptions(Options):
    """`linker` finds concepts."""

    linker: linkers.Linker


def align(documents: Sequence[Statements], options: EntityChainOptions) -> Aligned:
    """Return all passages that share a concept with each statement, in source order.

    A passage's value is the number of shared concepts: 1 or more, higher is closer. A
    statement without concept is aligned with nothing; notes count these. Raises
    BadInput as `linkers.load`.

    Terms fever, cough, chest x-ray; passages "Fever and cough.", "No coughs.", "An
    x-ray."; the statement "She had a cough and fever." gets passage 0 with 2 and
    passage 1 with 1.
    """
    mentions = linkers.load(options.linker)

    def link(text: str) -> frozenset[str]:
        return frozenset(mention.concept for mention in mentions(text))

    aligned = []
    total = 0
    unnamed = 0
    for passages, _, statements in documents:
        of_passages = [link(passage) for passage in passages]
        of_statements = [link(statement) for statement in statements]
        aligned.append([_share(named, of_passages) for named in of_statements])
        total += len(statements)
        unnamed += sum(not named for named in of_statements)
    reason = f"by linker {options.linker.kind}; nothing is aligned with them"
    form = f"{{:,}} of {{:,}} statements name no concept {reason}"
    tally = Tally("", form, (unnamed, total))
    return Aligned(aligned, tally.notes, tally)


def _share(
    named: frozenset[str], of_passages: Sequence[frozenset[str]]
) -> list[tuple[int, float]]:
    """Return the passages that share concepts with a statement, and how many."""
    counts = [len(named & concepts) for concepts in of_passages]
    return [(place, float(count)) for place, count in enumerate(counts) if count]


KIND = Alignment(
    options=EntityChainOptions,
    align=align,
    files=lambda options: linkers.files(options.linker),
    recipe=lambda options, _: f"{NAME},linker=({linkers.recipe(options.linker)})",
)
