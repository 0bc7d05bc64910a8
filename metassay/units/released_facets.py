"""Facets as the dataset brings them, cut out of its texts.

Who released them copied them out of the texts by hand or by a model. What is not there word by word
is not verbatim and is kept aside, as what a model makes up.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.llm.needs import Resources
from metassay.units.facets import Facet, each_once, facets_of
from metassay.units.record import OK, Divided, Segmentation, Text


class ReleasedFacetOptions(Options):
    """`facets`: those of the data that are taken, in the order in which they are shown."""

    facets: Annotated[list[Facet], AfterValidator(each_once), Field(min_length=1)]


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
    unknown, left_out, lost = Counter[str](), Counter[str](), Counter[str]()
    returned: list[dict[str, list[str]] | str | None] = []
    for text in texts:
        segments: dict[str, list[str]] = defaultdict(list)
        for name, segment in text.released:
            segments[name].append(segment)
        if text.full.status != OK:
            returned.append(None)
            lost[text.author] += sum(bool(said.strip()) for _, said in text.released)
        elif not text.released:
            returned.append("error")
            unknown[text.author] += 1
        else:
            returned.append(segments)
            left_out.update(name for name in segments if name not in options.facets)
    found = facets_of(texts, returned, options.facets, "the dataset brings", "not verbatim in it")
    notes = {
        "texts without released facets, which are unknown": unknown,
        "released facets of texts that failed, which are left out": +lost,  # no zeros
        "released facets that the block does not name": left_out,
    }
    listed = {
        note: ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
        for note, counts in notes.items()
    }
    return Divided(
        found.parts, (*found.notes, *(f"{note}: {some}" for note, some in listed.items() if some))
    )


KIND = Segmentation(
    options=ReleasedFacetOptions,
    divide=divide,
    facets=lambda options: tuple(options.facets),
    whole=lambda _: True,  # what is not released of any text is told
)
