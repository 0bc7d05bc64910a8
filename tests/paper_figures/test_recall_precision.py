"""How alike metrics order texts, by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from metassay.paper_figures.derived_tables import recall_conflicts, recall_precision

# Of documents d and e by systems x, y and z; the reference's own scores don't count.
RECALL = {("x", "d"): 0.1, ("y", "d"): 0.2, ("z", "d"): 0.3, ("x", "e"): 0.4, ("y", "e"): 0.5}
ROUGE = {("x", "d"): 0.2, ("y", "d"): 0.1, ("z", "d"): 0.3, ("x", "e"): 0.4, ("y", "e"): 0.4}


def scores() -> pd.DataFrame:
    metrics = {("claim_recall", "j"): RECALL, ("rouge1_recall", "none"): ROUGE}
    rows = [
        ("full", metric, judge, author, doc_id, of.get((author, doc_id), np.nan))
        for (metric, judge), of in metrics.items()
        for author, doc_id in product("xyz", "de")
    ]
    rows.append(("full", "claim_recall", "j", "reference", "d", 1.0))
    names = ["part", "metric", "judge", "author", "doc_id", "value"]
    return pd.DataFrame(rows, columns=names)


def test_tau_is_over_all_texts_that_both_score() -> None:
    """Of 10 pairs 8 are in the same order, 1 in the other and 1 tied on one side."""
    found = recall_precision({"scores": scores()})
    assert list(found["tau"]) == pytest.approx([7 / np.sqrt(10 * 9)] * 2)
    assert list(found["n"]) == [5, 5]
    assert list(found["group"]) == ["recall", "recall"]


def test_conflicts_are_within_a_document_and_no_ties() -> None:
    found = recall_conflicts({"scores": scores()})
    assert list(found["first"]) == ["claim_recall (j)", "rouge1_recall"]
    assert list(found["n_pairs"]) == [4, 4]
    assert list(found["n_conflicts"]) == [1, 1]
