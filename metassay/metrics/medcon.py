"""MEDCON: do a text and the reference name the same medical concepts? (Yim et al. 2023)"""

from collections.abc import Sequence
from functools import partial
from typing import Literal

from metassay.concepts import linkers
from metassay.concepts.terms import Mention
from metassay.core.options import Options
from metassay.metrics.describe import (
    OVERLAP,
    Description,
    Measured,
    Metric,
    ratio,
)

VERSION = 1  # raised by whoever changes results of this module's kinds


class MedconOptions(Options):
    """`rule`: `sets` of concepts are compared, or, as the released code does, terms: `released`."""

    linker: linkers.Linker
    rule: Literal["sets", "released"] = "sets"


_describe = partial(
    Description,
    better="higher",
    range=(0, 1),
    source="Yim et al. 2023, MEDCON; wyim/aci-bench for `rule: released`",
    family=OVERLAP,
)
_SIDE = (
    "share of the {}'s medical concepts that the {} names too; with `rule: released`, terms of the"
    " reference any of whose concepts the text names, per term of the {}"
)
_MISSING = "null (with `rule: released`: 0) if {} no concept; 0 if only {} none"
DESCRIPTIONS = (
    _describe(
        "medcon_precision",
        _SIDE.format("text", "reference", "text") + ", which can exceed 1",
        missing=_MISSING.format("the text names", "the reference names"),
    ),
    _describe(
        "medcon_recall",
        _SIDE.format("reference", "text", "reference"),
        missing=_MISSING.format("the reference names", "the text names"),
    ),
    _describe(
        "medcon_f1",
        "harmonic mean of medcon_precision and medcon_recall",
        missing="null (with `rule: released`: 0) if neither names a concept; 0 if only one does",
        headline=True,
    ),
)


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: MedconOptions
) -> dict[str, list[Measured]]:
    """Return MEDCON of each candidate against the reference at the same index of `evidence`.

    0 to 1, higher is better; with `rule: released` precision, and so F1, can exceed 1.
    Statistics are numerator and denominator, of F1 twice the shared concepts and those
    of both. Raises BadInput as `linkers.load`.

    Text {A, B, C}, reference {B, D}: precision 1/3, recall 1/2, F1 2/5.
    """
    link, released = linkers.load(options.linker), options.rule == "released"
    rows = []
    for candidate, reference in zip(candidates, evidence, strict=True):
        text, of_reference = link(candidate), link(reference)
        in_text = {mention.concept for mention in text}
        shared = {_counted(m, released) for m in of_reference if m.concept in in_text}
        n, m = (
            len({_counted(m, released) for m in side}) for side in (text, of_reference)
        )
        k = len(shared)
        parts = [ratio(k, n), ratio(k, m), ratio(2 * k, n + m)]
        if released:
            parts = [Measured(part.value or 0.0, part.statistics) for part in parts]
        rows.append(parts)
    return {d.name: [row[at] for row in rows] for at, d in enumerate(DESCRIPTIONS)}


def _counted(mention: Mention, released: bool) -> str:
    return mention.term if released else mention.concept


KIND = Metric(
    options=MedconOptions,
    measure=measure,
    recipe=lambda options: (
        f"linker:{linkers.recipe(options.linker)}|rule:{options.rule}"
    ),
    descriptions=DESCRIPTIONS,
    files=lambda options: linkers.files(options.linker),
)
