"""The verdict on every metric: the table `evidence` has all that it takes."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from metassay.meta_evaluation.options import VANISHES, CertificationOptions
from metassay.meta_evaluation.verdicts import (
    CANNOT_TELL,
    CONTRARY,
    FEWEST_SYSTEMS,
    OF_NO_OTHERS,
    PROMISING,
    THESE_SYSTEMS,
    TRUSTED,
    UNDEFINED,
    USE,
    as_good_as_rater,
    promising,
    shown,
    verdict,
)
from metassay.statistics.jackknife import fisher_z, needed

_TEXTS = ("shown_by", "confound")  # may be null

MORE_SYSTEMS: Final = "rate more systems"
MORE_DOCUMENTS: Final = "rate more documents"
MORE_OF_BOTH: Final = "rate more systems and documents"
_ADVICE: Final = {
    USE: "use it",
    THESE_SYSTEMS: "use here only",
    CONTRARY: "check its direction",
    UNDEFINED: "nothing to compare",
}
DO_NOT_USE: Final = "do not use"


class Decided(NamedTuple):
    """What is decided of a row of `evidence`; columns of `certificates`."""

    verdict: str
    advice: str
    trusted: bool
    as_good_as_rater: bool
    only_between_systems: bool
    needed_systems: float
    needed_documents: float


def certify(evidence: pd.DataFrame, options: CertificationOptions) -> pd.DataFrame:
    """The rows of the table `evidence`, and what is `Decided` of each.

    Nothing is drawn or tested here: a verdict is a function of its row. needed_* are of
    `power.needed`, where more systems or documents may change the verdict; else NaN.
    """
    decided = [_decided(row, options) for row in _rows(evidence)]
    made = pd.DataFrame(decided, columns=list(Decided._fields), index=evidence.index)
    return pd.concat([evidence, made], axis=1)


def _rows(evidence: pd.DataFrame) -> list[dict[str, Any]]:
    """Each row by column: numbers are NaN where null, texts None."""
    texts = {name: [None if pd.isna(v) else v for v in evidence[name]] for name in _TEXTS}
    records = evidence.to_dict("records")
    return [
        {**{str(name): value for name, value in row.items()}, **dict(zip(texts, said, strict=True))}
        for row, *said in zip(records, *texts.values(), strict=True)
    ]


def _decided(row: Mapping[str, Any], options: CertificationOptions) -> Decided:
    said = verdict(row, options)
    systems = documents = np.nan
    if said in (CANNOT_TELL, PROMISING):
        systems, documents = _needed(said, row, options)
    return Decided(
        said,
        _advice(said, row, systems, documents),
        said in TRUSTED,
        as_good_as_rater(row, options),
        said in (*TRUSTED, PROMISING) and _only_between_systems(row, options),
        systems,
        documents,
    )


def _needed(
    said: str, row: Mapping[str, Any], options: CertificationOptions
) -> tuple[float, float]:
    """So many systems and documents would settle it, of those that count by themselves."""
    useful, value, likely = fisher_z(
        np.array([options.useful, row["value"], row["corrected"]], dtype=np.float64)
    ).tolist()
    confidence = row["confidence"]
    if said == PROMISING:
        if row["confound"] is not None:
            return np.nan, np.nan  # more texts do not part a metric from its confound
        target, confidence = likely - useful, row["joint_confidence"]
    elif row["value"] >= options.useful:
        target = max(likely, useful)  # to be shown
    elif shown(row):
        target = useful - value  # to be shown as too weak
    else:
        target = useful  # to have 0 or the useful excluded
    of_systems = 0.0 if row["design"] in OF_NO_OTHERS else row["variance_systems"]
    systems, documents = needed(
        (of_systems, row["variance_documents"]),
        (row["n_families"], row["n_clusters"]),
        target,
        confidence=confidence,
        level=row["level"],
    )
    if said == PROMISING and row["design"] not in OF_NO_OTHERS:
        systems = np.maximum(systems, FEWEST_SYSTEMS)
    return float(systems), documents


def _advice(said: str, row: Mapping[str, Any], systems: float, documents: float) -> str:
    """What to do, in a few words."""
    if said not in (CANNOT_TELL, PROMISING):
        return _ADVICE.get(said, DO_NOT_USE)
    if said == PROMISING and row["confound"] is not None:
        return f"balance {row['confound']} first"
    if row["design"] in OF_NO_OTHERS:
        return MORE_DOCUMENTS
    more = systems > row["n_families"], documents > row["n_clusters"]
    if np.isnan(systems):  # no study would settle it: what its interval is wide by
        of_systems = not row["variance_systems"] < row["variance_documents"]
        more = of_systems, not of_systems
    if row["level"] == "system":
        more = True, False
    return MORE_OF_BOTH if all(more) else MORE_SYSTEMS if more[0] else MORE_DOCUMENTS


def _only_between_systems(row: Mapping[str, Any], options: CertificationOptions) -> bool:
    """Whether half or more goes with the system held constant, and the rest is not promising."""
    rest = row["within_systems"]
    if np.isnan(rest) or rest > VANISHES * row["value"]:
        return False
    return not promising(rest, row["within_systems_p"], row["confidence"], options)
