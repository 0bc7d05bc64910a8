"""Tables for figures alone, made of single texts' numbers: means, spreads, shares, copying.

Intervals and draws are bootstraps over documents (`reporting/resampled.py`), with the settings that
params.yaml has for reports; a figure reads tables and no params.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from metassay.options import Criterion
from metassay.reporting.facets import facets_table
from metassay.reporting.profile import POPULARITY, popularity
from metassay.reporting.released import PRINTED_PAPERS
from metassay.reporting.resampled import Resampling, means
from metassay.reporting.tables import rows
from metassay.reporting.violins import violins
from metassay.tables.names import FULL, NO_JUDGE, is_reference

Frames = Mapping[str, pd.DataFrame]

RESAMPLING = Resampling(resamples=1000, confidence=0.95, seed=20261121)
FACETS = ("background", "method", "result", "conclusion")  # BMRC, in the order of abstracts
SYSTEMS = "systems"  # all authors but the reference
WHOLE_SOURCE = "whole source"  # as if every passage were aligned

_MEANS = ["value", "low", "high"]
_SCALE = Criterion(low=0, high=1, better="higher")


def facet_shares(frames: Frames) -> pd.DataFrame:
    """Each author's mean share of words per facet: `reporting.facets.facets_table`, 0 to 1."""
    return facets_table(frames["parts"], FACETS, RESAMPLING)


def text_numbers(frames: Frames) -> pd.DataFrame:
    """The spread over whole texts of metrics without a judge, and of how common words are.

    One row per quantity (a metric, or `popularity`) and author: mean over texts with the interval,
    and in `draws` the value of every text that has one.
    """
    scores = _whole(frames["scores"])
    quantities = {
        str(metric): _by_text(mine) for metric, mine in scores.groupby("metric", sort=True)
    }
    common = popularity(frames["sources"], frames["parts"])
    quantities[POPULARITY] = pd.Series(common, dtype="float64")
    made = []
    for quantity, values in quantities.items():
        matrix = values.rename_axis(["doc_id", "author"]).unstack("author").sort_index()
        found = means(matrix.to_numpy(dtype=float), RESAMPLING)
        for place, author in enumerate(matrix.columns):
            own = matrix[author].dropna().tolist()
            if own:
                ends = (found.mean[place], found.low[place], found.high[place])
                made.append((quantity, author, *ends, len(own), own))
    return pd.DataFrame(made, columns=["quantity", "author", *_MEANS, "n", "draws"])


def means_of_first(frames: Frames) -> pd.DataFrame:
    """Means by metric or criterion and author: of all documents, and of the first PRINTED_PAPERS.

    `documents` says which: `all` or `first`. Documents are those with a rating, in the order of
    their keys.
    """
    ratings = frames["ratings"][frames["ratings"]["part"] == FULL]
    rated = ratings.rename(columns={"criterion": "metric"})
    columns = ["metric", "author", "doc_id", "value"]
    both = pd.concat([_whole(frames["scores"])[columns], rated[columns]])
    documents = sorted(set(ratings["doc_id"]))
    made = []
    for which, taken in (("first", documents[:PRINTED_PAPERS]), ("all", documents)):
        of = both[both["doc_id"].isin(taken)]
        for (metric, author), mine in of.groupby(["metric", "author"], sort=True):
            per_text = mine.groupby("doc_id", sort=True)["value"].mean().to_numpy(dtype=float)
            found = means(per_text[:, None], RESAMPLING)
            n = int(np.isfinite(per_text).sum())
            ends = (found.mean[0], found.low[0], found.high[0])
            made.append((which, metric, author, *ends, n))
    return pd.DataFrame(made, columns=["documents", "metric", "author", *_MEANS, "n"])


def rating_draws(frames: Frames) -> pd.DataFrame:
    """`reporting.violins.violins` on the ratings' own scale: mean, interval and `draws`."""
    ratings = frames["ratings"]
    return violins(ratings, dict.fromkeys(set(ratings["criterion"]), _SCALE), RESAMPLING)


def by_kind_of_author(frames: Frames) -> pd.DataFrame:
    """Means of metrics without a judge over all texts of the reference, and of all systems.

    `author` is `reference` or SYSTEMS; every text counts once; resamples draw documents.
    """
    scores = _whole(frames["scores"]).dropna(subset=["value"])
    kind = scores["author"].where(scores["author"].map(is_reference).astype(bool), SYSTEMS)
    made = []
    for (metric, author), mine in scores.assign(kind=kind).groupby(["metric", "kind"], sort=True):
        per = mine.groupby("doc_id", sort=True)["value"].agg(["sum", "count"])
        sums, numbers = (per[name].to_numpy(dtype=float)[:, None] for name in ("sum", "count"))
        found = means(sums, RESAMPLING, numbers)
        ends = (found.mean[0], found.low[0], found.high[0])
        made.append((metric, author, *ends, len(mine)))
    return pd.DataFrame(made, columns=["metric", "author", *_MEANS, "n"])


def aligned_passages(frames: Frames) -> pd.DataFrame:
    """Passages per statement of systems' texts: aligned ones by method, and WHOLE_SOURCE.

    A statement without an aligned passage counts as 0. Resamples draw documents.
    """
    alignments = frames["alignments"]
    mine = alignments[~alignments["author"].map(is_reference).astype(bool)]
    there = {doc_id: len(passages) for doc_id, passages in rows(frames["sources"], *_PASSAGES)}
    counted = mine[["doc_id", "method"]].assign(n=mine["passages"].map(len))
    full = counted.assign(method=WHOLE_SOURCE, n=counted["doc_id"].map(there))
    made = []
    for method, one in pd.concat([counted, full]).groupby("method", sort=True):
        per = one.groupby("doc_id", sort=True)["n"].agg(["sum", "count"])
        sums, numbers = (per[name].to_numpy(dtype=float)[:, None] for name in ("sum", "count"))
        found = means(sums, RESAMPLING, numbers)
        made.append((method, found.mean[0], found.low[0], found.high[0], len(one)))
    return pd.DataFrame(made, columns=["method", *_MEANS, "n"])


def facet_grades(frames: Frames) -> pd.DataFrame:
    """Grades of single facets of whole texts, as shares of their scales, by people and metrics.

    `by` is `people` (the mean over raters) or a metric's name without the facet's at its end.
    """
    ratings, scores = frames["ratings"], _whole(frames["scores"])
    graded = ratings[(ratings["part"] == FULL) & ratings["criterion"].isin(FACETS)]
    key = ["doc_id", "author", "facet", "by"]
    made = [graded.rename(columns={"criterion": "facet"}).assign(by="people")]
    for facet in FACETS:
        own = scores[scores["metric"].str.endswith(f"_{facet}")]
        made.append(own.assign(facet=facet, by=own["metric"].str.removesuffix(f"_{facet}")))
    every = pd.concat([one[[*key, "value"]] for one in made]).dropna(subset=["value"])
    return every.groupby(key, sort=True)["value"].mean().reset_index()


_PASSAGES = ("doc_id", "passages")


def _whole(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores of whole texts that need no judge."""
    return scores[(scores["part"] == FULL) & (scores["judge"] == NO_JUDGE)]


def _by_text(mine: pd.DataFrame) -> "pd.Series[float]":
    return mine.set_index(["doc_id", "author"])["value"].astype("float64")
