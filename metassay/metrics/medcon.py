"""MEDCON and MIST: do a text and the reference name the same, or similar, medical concepts?

MEDCON is Yim et al. 2023. MIST, Ben Abacha et al. 2023, compares vectors of concepts;
its code was never released.
"""

from collections.abc import Sequence
from functools import partial
from math import fsum
from typing import Any, Literal

import numpy as np

from metassay.concepts import linkers
from metassay.concepts.terms import Mention
from metassay.concepts.vectors import VectorOptions, load_vectors
from metassay.core.options import Options
from metassay.metrics.describe import (
    OVERLAP,
    UNDEFINED,
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


PLACES = 12  # decimals of a cosine: the last digits depend on the batch


class MistOptions(Options):
    """`rule`: the mean over the reference's concepts of the highest cosine, as the
    paper has `described` it, or as `printed` (see `measure`).
    """

    linker: linkers.Linker
    vectors: VectorOptions
    rule: Literal["described", "printed"] = "described"


_mist_entry = partial(
    Description, source="Ben Abacha et al. 2023, MIST", family=OVERLAP
)
MIST_DESCRIPTIONS = (
    _mist_entry(
        "mist",
        "mean, over the reference's medical concepts, of the highest cosine to a concept of the"
        " text; concepts without a vector are left out. With `rule: printed` the sum over the"
        " text's concepts per concept of the reference, which can exceed 1",
        better="higher",
        range=(-1, 1),
        missing="null if no concept of the reference has a vector, or none of those that the text"
        " names; 0 if the text names none",
        headline=True,
    ),
    _mist_entry(
        "mist_known",
        "share of the medical concepts of text and reference that have a vector for `mist`",
        better="neither",
        range=(0, 1),
        missing="null if neither names a concept",
    ),
)


def measure_mist(
    candidates: Sequence[str], evidence: Sequence[str], options: MistOptions
) -> dict[str, list[Measured]]:
    """Return MIST of each candidate against the reference at the same index of `evidence`.

    -1 to 1, higher is better; a text with itself has 1. Statistics are the sum of
    cosines and the number of the reference's concepts. Raises BadInput as
    `linkers.load` and `load_vectors`.

    fever (1, 0), cough (0, 1), pyrexia (.8, .6); the text names pyrexia, the reference
    fever and cough: (.8 + .6)/2 = .7, as printed .8/2 = .4.
    """
    link = linkers.load(options.linker)
    named = {
        text: sorted({m.concept for m in link(text)})
        for text in {*candidates, *evidence}
    }
    units = load_vectors(
        options.vectors, {name for names in named.values() for name in names}
    )
    columns: dict[str, list[Measured]] = {
        description.name: [] for description in MIST_DESCRIPTIONS
    }
    for candidate, reference in zip(candidates, evidence, strict=True):
        text, of_reference = (
            [units[name] for name in named[t] if name in units]
            for t in (candidate, reference)
        )
        total = len(named[candidate]) + len(named[reference])
        unknown = named[candidate] and not text
        columns["mist"].append(
            UNDEFINED if unknown else _mist(text, of_reference, options.rule)
        )
        columns["mist_known"].append(ratio(len(text) + len(of_reference), total))
    return columns


def _mist(text: Sequence[Any], reference: Sequence[Any], rule: str) -> Measured:
    if not text or not reference:
        return ratio(0, len(reference))
    cosines = (np.stack(reference) @ np.stack(text).T).round(PLACES).clip(-1, 1)
    best = cosines.max(axis=1 if rule == "described" else 0)
    return ratio(fsum(best.tolist()), len(reference))


MIST = Metric(
    options=MistOptions,
    measure=measure_mist,
    recipe=lambda options: (
        f"linker:{linkers.recipe(options.linker)}|rule:{options.rule}"
        f"|vectors:{','.join(map(linkers.name_and_hash, options.vectors.paths))}"
    ),
    descriptions=MIST_DESCRIPTIONS,
    files=lambda options: linkers.files(options.linker, *options.vectors.paths),
)
