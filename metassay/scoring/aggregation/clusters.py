"""Which documents of a benchmark belong together: those given, and copies."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from metassay.statistics.exact_sums import Array
from metassay.statistics.layout import doubles, joined, numbered
from metassay.tables.documents import DOCUMENT_CLUSTERS
from metassay.tables.names import FULL
from metassay.tables.parquet import as_written


def document_clusters(scores: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Table `document_clusters` of the documents in table `scores`.

    Together are documents with the same of `labels` (documents -> clusters, by the user), and those
    whose scores of whole texts are the same throughout, beyond chance (`layout.doubles`).
    """
    documents = sorted(scores["doc_id"].unique())
    taken = set(labels.values())
    alone = {name: f"document {name}" if name in taken else name for name in documents}
    given = [labels.get(name) or alone[name] for name in documents]
    number = joined(numbered(given), doubles(_profiles(scores, documents)))
    first = np.unique(number, return_index=True)[1]
    cluster = [given[first[at]] for at in number]
    return as_written(
        DOCUMENT_CLUSTERS, pd.DataFrame({"doc_id": documents, "cluster": cluster}, dtype=object)
    )


def _profiles(scores: pd.DataFrame, documents: list[str]) -> Array:
    """(metrics, authors, documents) scores of whole texts; NaN where there is none."""
    whole = scores[scores["part"] == FULL]
    metric = whole.groupby(["metric", "judge"]).ngroup().to_numpy()
    author, names = pd.factorize(whole["author"])
    values = np.full((metric.max(initial=-1) + 1, len(names), len(documents)), np.nan)
    at = pd.Index(documents).get_indexer(pd.Index(whole["doc_id"]))
    values[metric, author, at] = whole["value"].to_numpy(dtype=float)
    return values
