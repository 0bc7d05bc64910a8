"""How far each system's mean rating would vary with other documents, on one scale for all."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from metassay.options import Criterion
from metassay.reporting.names import sorted_authors
from metassay.reporting.resampled import Resampling, means
from metassay.reporting.tables import rows
from metassay.tables.names import is_reference

_KEY = ["study", "criterion", "part"]
_NUMBERS = ("mean", "low", "high", "p25", "p75", "iqr")
_COLUMNS = (*_KEY, "author", *_NUMBERS, "n", "n_documents", "draws")
_VERSUS = "versus:"  # a comparison is on no scale of one text


def violins(
    ratings: pd.DataFrame, criteria: Mapping[str, Criterion], how: Resampling
) -> pd.DataFrame:
    """One row per study, criterion, part and system, with the means of all resamples (`draws`).

    Ratings are brought from the declared scale of their criterion to 0 (worst) to 1 (best). mean:
    of all ratings of the system's texts (n, of n_documents), claim by claim where claims were
    rated; comparisons and the reference's own ratings are left out. Each resample draws documents,
    the same for all systems of a criterion. low, high: the interval; p25, p75: quartiles of the
    resampled means, and iqr what lies between; null with fewer than two documents.
    """
    used = ratings.dropna(subset=["value"])
    used = used[
        ~used["unit"].str.startswith(_VERSUS) & ~used["author"].map(is_reference).astype(bool)
    ]
    made: list[tuple[object, ...]] = []
    for (study, criterion, part), mine in used.groupby(_KEY, sort=True):
        scaled = _scaled(mine, criteria[str(criterion)])
        made += [(study, criterion, part, *row) for row in _of_systems(scaled, how)]
    return pd.DataFrame(made, columns=list(_COLUMNS)).astype(dict.fromkeys(_NUMBERS, "float64"))


def _scaled(mine: pd.DataFrame, criterion: Criterion) -> pd.DataFrame:
    share = (mine["value"] - criterion.low) / (criterion.high - criterion.low)
    return mine.assign(value=share if criterion.better == "higher" else 1 - share)


def _of_systems(mine: pd.DataFrame, how: Resampling) -> list[tuple[object, ...]]:
    authors = sorted_authors(mine["author"])
    documents = {doc_id: row for row, doc_id in enumerate(sorted(set(mine["doc_id"])))}
    sums = np.full((len(documents), len(authors)), np.nan)
    numbers = np.zeros(sums.shape)
    ordered = mine.sort_values(["doc_id", "author", "unit", "rater"])  # sums don't depend on it
    for doc_id, author, value in rows(ordered, "doc_id", "author", "value"):
        at = documents[doc_id], authors.index(author)
        sums[at] = value if np.isnan(sums[at]) else sums[at] + value
        numbers[at] += 1
    found = means(sums, how, numbers)
    made: list[tuple[object, ...]] = []
    for place, author in enumerate(authors):
        n_documents = int(np.isfinite(sums[:, place]).sum())
        draws = found.draws[np.isfinite(found.draws[:, place]), place]
        p25, p75 = np.quantile(draws, [0.25, 0.75]) if n_documents > 1 else (np.nan, np.nan)
        ends = (found.mean[place], found.low[place], found.high[place], p25, p75, p75 - p25)
        own = draws if n_documents > 1 else draws[:0]
        made.append((author, *ends, int(numbers[:, place].sum()), n_documents, list(own)))
    return made
