"""MIST: how close a text's medical concepts are to the reference's, by vectors of concepts.

Ben Abacha et al. 2023. Its code was never released.
"""

from collections.abc import Sequence
from math import fsum
from typing import Literal

import numpy as np

from metassay.concepts import linkers
from metassay.concepts.vectors import Unit, VectorOptions, load_vectors, vector_digest, vector_files
from metassay.core.options import Options
from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured, ratio
from metassay.metrics.record import Metric

PLACES = 12  # decimals of a cosine that are kept: the last ones depend on what is computed beside


class MistOptions(Options):
    """`rule`: as the paper has `described` it, the mean over the reference's concepts of the
    highest cosine, or as `printed`, the sum over the text's concepts divided by the number of the
    reference's."""

    linker: linkers.Linker
    vectors: VectorOptions
    rule: Literal["described", "printed"] = "described"


DESCRIPTIONS = (
    Description(
        "mist",
        "mean, over the reference's medical concepts, of the highest cosine to a concept of the"
        " text; concepts without a vector are left out. With `rule: printed` the sum over the"
        " text's concepts divided by the number of the reference's, which can exceed 1",
        better="higher",
        range=(-1, 1),
        missing="null if no concept of the reference has a vector, or none of those that the text"
        " names; 0 if the text names none",
        source="Ben Abacha et al. 2023, MIST",
        family=OVERLAP,
        headline=True,
    ),
    Description(
        "mist_known",
        "share of the medical concepts of text and reference, each side's counted, that have a"
        " vector",
        better="neither",
        range=(0, 1),
        missing="null if neither names a concept",
        source="ours: what `mist` rests on",
        family=OVERLAP,
    ),
)


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: MistOptions
) -> dict[str, list[Measured]]:
    """MIST of each candidate against the reference text at the same index of `evidence`.

    -1 to 1, higher is better; a text with itself has 1. Statistics are the sum of cosines and the
    number of the reference's concepts. Raises BadInput as `linkers.load` and `load_vectors`.

    fever (1, 0), cough (0, 1), pyrexia (.8, .6); the text names pyrexia, the reference fever and
    cough: (.8 + .6)/2 = .7, as printed .8/2 = .4.
    """
    link = linkers.load(options.linker)
    sides = [
        tuple(sorted({one.concept for one in link(text)}) for text in pair)
        for pair in zip(candidates, evidence, strict=True)
    ]
    units = load_vectors(options.vectors, {name for pair in sides for its in pair for name in its})
    columns: dict[str, list[Measured]] = {each.name: [] for each in DESCRIPTIONS}
    for text, its in sides:
        rows = [[units[name] for name in side if name in units] for side in (text, its)]
        known = ratio(sum(map(len, rows)), len(text) + len(its))
        value = UNDEFINED if text and not rows[0] else _mist(rows[0], rows[1], options.rule)
        columns["mist"].append(value)
        columns["mist_known"].append(known)
    return columns


def _mist(text: Sequence[Unit], its: Sequence[Unit], rule: str) -> Measured:
    if not text or not its:
        return ratio(0, len(its))
    cosines = (np.stack(its) @ np.stack(text).T).round(PLACES).clip(-1, 1)
    best = cosines.max(axis=1 if rule == "described" else 0)
    return ratio(fsum(best.tolist()), len(its))


KIND = Metric(
    options=MistOptions,
    measure=measure,
    recipe=lambda options: (
        f"linker:{linkers.recipe(options.linker)}|vectors:{options.vectors.file}"
        f"#{vector_digest(options.vectors)}|rule:{options.rule}"
    ),
    against="reference",
    descriptions=DESCRIPTIONS,
    files=lambda options: (*linkers.files(options.linker), *vector_files(options.vectors)),
)
