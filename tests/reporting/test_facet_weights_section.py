"""The section on fitted weights: what stands in it, by hand."""

import pandas as pd

from metassay.meta_evaluation.facet_weights import FACET_WEIGHTS
from metassay.reporting.people import facet_weights_section
from metassay.tables.parquet import empty

ROW = {
    **{"study": "s", "part": "full", "rubric": "bmrc", "method": "complete", "criterion": "aim"},
    **{"weight": 0.25, "low": 0.2, "high": 0.31, "given": 0.5, "mse": 0.004, "mse_given": 0.02},
    **{"n": 18, "n_missing": 6, "n_documents": 9, "n_resamples": 100},
}


def test_weights_by_way_of_fitting_beside_the_rubric_s_own():
    rows = [ROW, ROW | {"criterion": "outcome", "weight": None, "low": None, "high": None}]
    section = facet_weights_section(pd.DataFrame(rows))
    assert section is not None
    ((grid,),) = [group.grids for group in section.groups]
    assert grid.heads[1:3] == ["aim", "outcome"]
    (_, own), (called, cells) = grid.rows
    assert [cell.text for cell in own] == ["0.500", "0.500", "–", "–"]
    assert called == "texts with every grade"
    assert [cell.text for cell in cells] == ["0.250", "undefined", "0.004", "0.020"]
    assert cells[0].notes == ("[0.200, 0.310]",)
    assert cells[2].notes == ("n = 18, 6 missing", "9 documents")


def test_without_weights_there_is_no_section():
    assert facet_weights_section(empty(FACET_WEIGHTS)) is None
