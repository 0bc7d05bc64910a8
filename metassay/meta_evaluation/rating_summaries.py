"""The table `rating_summaries`: what people gave, in all, to each system and by each rater."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import VERSUS, check_criteria, generator
from metassay.options import Criterion
from metassay.parquet import empty
from metassay.statistics.arithmetic import Array
from metassay.statistics.ensembles import expanded_percentiles
from metassay.statistics.resampling import draw
from metassay.tables.names import REFERENCE
from metassay.tables.raters import RATING_SUMMARIES


class _Drawn(NamedTuple):
    """Resamples of the documents that have a rating with a value."""

    documents: pd.Index
    counts: Array  # (resamples, documents)


def rating_summaries(
    ratings: pd.DataFrame, criteria: Mapping[str, Criterion], options: MetaOptions
) -> pd.DataFrame:
    """Means, standard deviations (ddof 0) and counts of ratings as they were given.

    Every rating of a text or claim counts once, so a text with three raters counts three times.
    The reference's ratings stand in its own row alone. Abstentions are counted in n_missing and in
    nothing else. Intervals draw documents again; systems and raters stay. Comparisons are left
    out. Raises BadInput for an undeclared criterion.
    """
    check_criteria(ratings, criteria)
    rated = ratings[~ratings["unit"].str.startswith(VERSUS)]
    rows: list[dict[str, object]] = []
    for key, group in rated.groupby(["study", "criterion", "part"], sort=True):
        named = [str(name) for name in key]
        documents = pd.Index(sorted(group.loc[group["value"].notna(), "doc_id"].unique()))
        rng = generator(options.seed, "rating_summaries", *named)
        shape = (1, len(documents))
        counts = draw(shape, resample="documents", n=options.resamples, rng=rng).documents
        drawn = _Drawn(documents, counts.astype(np.float64))
        for of, name, mine in _views(group):
            summary = _summary(mine, drawn, options.confidence)
            rows.append(dict(zip(RATING_SUMMARIES.key, [*named, of, name], strict=True)) | summary)
    columns = list(RATING_SUMMARIES.columns)
    return pd.DataFrame(rows, columns=columns) if rows else empty(RATING_SUMMARIES)


def _views(group: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    systems = group[group["author"] != REFERENCE]
    if len(systems):
        yield "all", "", systems
    for name, mine in group.groupby("author", sort=True):
        yield "author", str(name), mine
    for name, mine in systems.groupby("rater", sort=True):
        yield "rater", str(name), mine


def _summary(mine: pd.DataFrame, drawn: _Drawn, confidence: float) -> dict[str, object]:
    given = mine.dropna(subset="value")
    values = given["value"].to_numpy(dtype=np.float64)
    of_document = given.groupby("doc_id")["value"].agg(["sum", "count"])
    each = of_document.reindex(drawn.documents, fill_value=0).to_numpy(dtype=np.float64)
    # einsum and not @: BLAS adds up in an order that depends on the processor.
    sums, counts = np.einsum("rd,dk->kr", drawn.counts, each)
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    low, high = expanded_percentiles(means[:, None], len(of_document), confidence)
    return {
        "mean": float(np.mean(values)) if values.size else np.nan,
        "low": float(low[0]),
        "high": float(high[0]),
        "sd": float(np.std(values)) if values.size else np.nan,
        "n": values.size,
        "n_missing": len(mine) - values.size,
        "n_documents": len(of_document),
    }
