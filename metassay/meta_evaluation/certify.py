"""The verdict on every metric: the table `evidence` has all that it takes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.verdicts import CANNOT_TELL, TRUSTED, verdict
from metassay.statistics.power import needed

_TEXTS = ("shown_by", "confound")  # may be null
_MADE = ("verdict", "holds", "needed_systems", "needed_documents")


def certify(evidence: pd.DataFrame, options: CertificationOptions) -> pd.DataFrame:
    """The rows of the table `evidence` with verdict, holds, needed_systems and needed_documents.

    Nothing is drawn or tested here: a verdict is a function of its row. needed_* are of
    `power.needed`, where the verdict is `cannot tell`; else NaN.
    """
    decided = [_decided(row, options) for row in _rows(evidence)]
    made = pd.DataFrame(decided, columns=list(_MADE), index=evidence.index)
    return pd.concat([evidence, made], axis=1)


def _rows(evidence: pd.DataFrame) -> list[dict[str, Any]]:
    """Each row by column: numbers are NaN where null, texts None."""
    texts = {name: [None if pd.isna(v) else v for v in evidence[name]] for name in _TEXTS}
    records = evidence.to_dict("records")
    return [
        {**{str(name): value for name, value in row.items()}, **dict(zip(texts, said, strict=True))}
        for row, *said in zip(records, *texts.values(), strict=True)
    ]


def _decided(row: Mapping[str, Any], options: CertificationOptions) -> tuple[object, ...]:
    said = verdict(row, options)
    systems = documents = np.nan
    if said == CANNOT_TELL:
        systems, documents = needed(
            (row["variance_systems"], row["variance_documents"]),
            (row["n_systems"], row["n_documents"]),
            options.useful,
            confidence=row["confidence"],
            level=row["level"],
        )
    return said, said in TRUSTED, systems, documents
