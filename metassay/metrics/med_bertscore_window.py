"""MedBERTScore of whole texts: an encoder reads long ones in segments (Ben Abacha et al. 2023)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from metassay.metrics import med_bertscore
from metassay.metrics.describe import Measured
from metassay.models.windows import WindowOptions, window_vectors

NAME = "med_bertscore_window"


class MedBertscoreWindowOptions(med_bertscore.MedBertscoreOptions, WindowOptions):
    """`rule`: segments are `overlapping`, or `released`, apart (see `windows.window_vectors`)."""

    rule: Literal["overlapping", "released"] = "overlapping"


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: MedBertscoreWindowOptions
) -> dict[str, list[Measured]]:
    """MedBERTScore of each candidate against the reference text at the same index of `evidence`.

    As `med_bertscore.measure`, but nothing is cut: a text that fits into a segment has the same
    value there. Raises BadInput also if segments have no more tokens than overlap.
    """
    embed = partial(window_vectors, options=options, apart=options.rule == "released")
    return med_bertscore.score(NAME, candidates, evidence, options, embed)


KIND = replace(
    med_bertscore.KIND,
    options=MedBertscoreWindowOptions,
    measure=measure,
    descriptions=med_bertscore.described(NAME, "Long texts are read in segments that overlap"),
    files=med_bertscore.KIND.files,  # said here too, for whoever reads only this module
)
