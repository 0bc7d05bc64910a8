"""Facets as the dataset brings them, cut out of its texts.

Who released them copied them out of the texts by hand or by a model. What is not there word by word
is not verbatim and is kept aside, as what a model makes up.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.llm.needs import Resources
from metassay.units.found_facets import Facet, Tally, by_facet, found_facets, unknown_facets
from metassay.units.record import OK, Divided, Part, Segmentation, Text

ERROR = "error"


def _once(facets: list[str]) -> list[str]:
    if len(set(facets)) < len(facets):
        raise ValueError("a facet is there twice; name each once")
    return facets


class ReleasedFacetOptions(Options):
    """`facets`: those of the data that are taken, in the order in which they are shown."""

    facets: Annotated[list[Facet], AfterValidator(_once), Field(min_length=1)]


def divide(texts: Sequence[Text], options: ReleasedFacetOptions, resources: Resources) -> Divided:  # noqa: ARG001
    """The released facets of each text, in the block's order.

    A facet that is released as empty, or not, of a text of which others are, is absent. A text of
    which no facet is released has unknown facets (status error): a system's new text, for example.
    One that failed stays undivided. Its released facets are left out, as are those that the block
    doesn't name; the notes count both.

    Raises BadInput if no facet of the block is released of any text.
    """
    if texts and not any(name in options.facets for text in texts for name, _ in text.released):
        raise BadInput(
            f"the dataset brings no facet called {', '.join(options.facets)}; choose a segmentation"
            " of another kind, or correct its list of facets"
        )
    tally, unknown, left_out, lost = Tally(), Counter[str](), Counter[str](), Counter[str]()
    divided: list[list[Part]] = []
    for text in texts:
        if text.full.status != OK:
            divided.append([])
            lost[text.author] += sum(bool(said.strip()) for _, said in text.released)
        elif not text.released:
            unknown[text.author] += 1
            divided.append(unknown_facets(options.facets, ERROR))
        else:
            released = by_facet(text.released)
            left_out.update(name for name in released if name not in options.facets)
            own = {name: released.get(name, []) for name in options.facets}
            divided.append(found_facets(text, own, tally))
    notes = list(tally.lines("the dataset brings", "not verbatim in it"))
    if unknown:
        notes.append(f"texts without released facets, which are unknown: {_listed(unknown)}")
    if lost := +lost:  # without authors who lost none
        notes.append(f"released facets of texts that failed, which are left out: {_listed(lost)}")
    if left_out:
        notes.append(f"released facets that the block does not name: {_listed(left_out)}")
    return Divided(divided, tuple(notes))


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))


KIND = Segmentation(
    options=ReleasedFacetOptions,
    divide=divide,
    facets=lambda options: tuple(options.facets),
)
