"""Top-Section: the section of the source that is most like a statement (Adams et al. 2023, 6.1)."""

from collections.abc import Sequence

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.units.alignment.rouge import mean_rouge
from metassay.units.record import Aligned, Alignment, Passages, Statements


class TopSectionOptions(Options):
    """There is nothing to choose."""


def align(documents: Sequence[Statements], _: TopSectionOptions) -> Aligned:
    """For each statement the passages of one section, in source order.

    It is the section, its passages joined by blanks, with the highest mean F1 of ROUGE-1, ROUGE-2
    and ROUGE-L: 0 to 1, higher is closer, the value of each of its passages. Equal ones go by
    order. Where no section shares a token with the statement, nothing is aligned. Passages without
    a section are one together. Raises BadInput if no passage of any document has a section.
    """
    if documents and not any(any(document.groups) for document in documents):
        raise BadInput(
            "alignment top_section: no passage of sources has a `group`, which names its section;"
            " give it in the dataset, or choose another alignment"
        )
    return Aligned([_of_document(*document) for document in documents])


def _of_document(
    passages: Sequence[str], groups: Sequence[str], statements: Sequence[str]
) -> Passages:
    sections: dict[str, list[int]] = {}
    for place, name in enumerate(groups):
        sections.setdefault(name, []).append(place)
    if not sections:
        return [[] for _ in statements]
    every = list(sections.values())
    values = mean_rouge([" ".join(passages[i] for i in places) for places in every], statements)
    return [
        [(place, float(row.max())) for place in every[int(row.argmax())] if row.max() > 0]
        for row in values
    ]


KIND = Alignment(options=TopSectionOptions, align=align)
