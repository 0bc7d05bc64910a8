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
    for passages, _, statements in documents:
        of_passages = [link(passage) for passage in passages]
        shared = [
            [len(link(text) & concepts) for concepts in of_passages]
            for text in statements
        ]
        aligned.append(
            [[(i, float(n)) for i, n in enumerate(row) if n] for row in shared]
        )
    every = [statement for document in documents for statement in document.statements]
    unnamed = sum(not link(statement) for statement in every)
    reason = f"by linker {options.linker.kind}; nothing is aligned with them"
    form = f"{{:,}} of {{:,}} statements name no concept {reason}"
    tally = Tally("", form, (unnamed, len(every)))
    return Aligned(aligned, tally.notes, tally)


KIND = Alignment(
    options=EntityChainOptions,
    align=align,
    files=lambda options: linkers.files(options.linker),
    recipe=lambda options, _: f"{NAME},linker=({linkers.recipe(options.linker)})",
)
