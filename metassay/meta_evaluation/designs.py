"""The tables `designs` and `strata`: what counts by itself, and each stratum by itself."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from metassay.meta_evaluation.layouts import Groups
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Study
from metassay.parquet import empty
from metassay.statistics.correlation import LEVELS, correlate
from metassay.statistics.jackknife import interval, left_out
from metassay.tables.designs import DESIGNS, STRATA


def designs(found: Sequence[Study], groups: Groups) -> pd.DataFrame:
    """One row per study, criterion and part."""
    given = [
        name for name, labels in zip(("strata", "cluster", "family"), groups, strict=True) if labels
    ]
    rows = [
        {
            **study.key,
            "design": study.design,
            "n_systems": len(study.systems),
            "n_families": study.layout.n_families,
            "n_documents": len(study.documents),
            "n_clusters": study.layout.n_clusters,
            "n_strata": study.layout.n_strata,
            "given": ", ".join(given),
            "found": "\n".join(study.found.dealt_with),
            "suspected": "\n".join(study.found.suspected),
        }
        for study in found
    ]
    return pd.DataFrame(rows, columns=list(DESIGNS.columns)) if rows else empty(DESIGNS)


def strata(found: Sequence[Study], options: MetaOptions) -> pd.DataFrame:
    """One row per metric, level and stratum of each study that has several.

    Each is what a study of the stratum alone says. Signs are turned so that more of metric and
    criterion is better.
    """
    rows = [row for study in found for row in _strata(study, options)]
    return pd.DataFrame(rows, columns=list(STRATA.columns)) if rows else empty(STRATA)


def _strata(study: Study, options: MetaOptions) -> Iterator[dict[str, object]]:
    if study.layout.n_strata == 1:
        return
    parts = study.layout.parts(np.isfinite(study.human))
    for one in study.directed:
        for part in parts:
            sides = part.of(one.oriented), part.of(study.oriented)
            for level in LEVELS:
                counted = correlate(*sides, level, options.coefficient)
                left = left_out(*sides, level, options.coefficient, part.layout)
                ends = interval(left, confidence=options.confidence)
                yield {
                    **study.key,
                    "metric": one.metric,
                    "judge": one.judge,
                    "level": level,
                    "stratum": study.found.strata[int(study.layout.stratum[part.columns[0]])],
                    "coefficient": options.coefficient,
                    **counted._asdict(),
                    "low": ends.low,
                    "high": ends.high,
                }
