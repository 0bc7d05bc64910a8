"""MedBERTScore of whole texts: an encoder reads long ones in segments (Ben Abacha et al. 2023)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from metassay.concepts import linkers
from metassay.metrics import med_bertscore
from metassay.metrics.describe import Measured
from metassay.metrics.record import Metric
from metassay.models.store import STORE
from metassay.models.windows import WindowOptions, window_vectors

NAME = "med_bertscore_window"


class MedBertscoreWindowOptions(med_bertscore.MedBertscoreOptions, WindowOptions):
    """`rule`: segments are `overlapping`, or `released`, apart (see `windows.window_vectors`)."""

    rule: Literal["overlapping", "released"] = "overlapping"


def _settings(options: MedBertscoreWindowOptions) -> dict[str, object]:
    return {"window": options.window, "overlap": options.overlap, "rule": options.rule}


def measure(
    candidates: Sequence[str],
    evidence: Sequence[str],
    options: MedBertscoreWindowOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[Measured]]:
    """MedBERTScore of each candidate against the reference text at the same index of `evidence`.

    As `med_bertscore.measure`, but nothing is cut: a text that fits into a segment has the same
    value there. Raises BadInput also if segments have no more tokens than overlap.
    """
    embed = partial(window_vectors, options=options, apart=options.rule == "released")
    pairs = list(zip(candidates, evidence, strict=True))
    return med_bertscore.score(NAME, pairs, options, embed, _settings(options), store=store)


KIND = Metric(
    options=MedBertscoreWindowOptions,
    measure=measure,
    recipe=lambda options: med_bertscore.recipe(options, **_settings(options)),
    against="reference",
    descriptions=med_bertscore.described(NAME, "Long texts are read in segments that overlap"),
    files=lambda options: linkers.files(options.linker),
    costly=True,
)
