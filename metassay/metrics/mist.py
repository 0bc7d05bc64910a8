"""MIST: does a text name concepts that are like those of the reference?

Ben Abacha et al. 2023. It compares vectors of concepts; its code and its vectors, of a
graph of the UMLS, were never released.
"""

from collections.abc import Sequence
from functools import partial
from math import fsum
from typing import Any, Literal

import numpy as np

from metassay.concepts import linkers
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

VERSION = 2  # raised by whoever changes results of this module's kinds

PLACES = 12  # decimals of a cosine: the last digits depend on the batch


class MistOptions(Options):
    """A linker, and vectors of its concepts.

    `vectors_of`: what the vectors were made from, which the recipe says: a knowledge
    `graph`, as the paper's; `text`, such as notes or articles that name the concepts;
    or the words of the `terms`. `rule`: the mean over the reference's concepts of the
    highest cosine, as the paper has `described` it, or as `printed` (see `measure`).
    """

    linker: linkers.Linker
    vectors: VectorOptions
    vectors_of: Literal["graph", "text", "terms"] | None = None
    rule: Literal["described", "printed"] = "described"


_MADE_FROM = {
    "graph": "graph",
    "text": "text, no graph embedding",
    "terms": "terms, no graph embedding",
    None: "not stated",
}
_describe = partial(Description, source="Ben Abacha et al. 2023, MIST", family=OVERLAP)
DESCRIPTIONS = (
    _describe(
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
    _describe(
        "mist_known",
        "share of the medical concepts of text and reference that have a vector for `mist`",
        better="neither",
        range=(0, 1),
        missing="null if neither names a concept",
    ),
)


def measure(
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
        description.name: [] for description in DESCRIPTIONS
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


KIND = Metric(
    options=MistOptions,
    measure=measure,
    recipe=lambda options: (
        f"linker:{linkers.recipe(options.linker)}|rule:{options.rule}"
        f"|vectors:{','.join(map(linkers.name_and_hash, options.vectors.paths))}"
        f"|vectors_of:{_MADE_FROM[options.vectors_of]}"
    ),
    descriptions=DESCRIPTIONS,
    files=lambda options: linkers.files(options.linker, *options.vectors.paths),
)
