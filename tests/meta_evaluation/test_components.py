import numpy as np
import pandas as pd
import pytest

from metassay.meta_evaluation.correlations import COMPONENTS as TABLE
from metassay.meta_evaluation.correlations import components
from metassay.statistics.components import COMPONENTS, correlate_at, variance_components
from metassay.statistics.jackknife import interval, leave_out
from metassay.tables.parquet import empty, read, write
from metassay.tables.ratings import RATINGS
from tests.meta_evaluation.invented_study import OPTIONS, gathered, only, tables_of

BETTER = {"m": "higher", "less": "lower", "words": "neither", "z": "higher"}


def split(scores, ratings, options=OPTIONS):
    return components(gathered(scores, ratings, options=options, better=BETTER), options)


def test_a_metric_that_knows_systems_alone():
    rng = np.random.default_rng(0)
    system, document = rng.normal(size=(6, 1)), rng.normal(size=10)
    human = 2 * system + document + rng.normal(size=(6, 10))
    m = 2 * system + 0.1 * rng.normal(size=10) + 0.3 * rng.normal(size=(6, 10))
    found = split(*tables_of([human], {"m": m})).set_index("component")
    assert found.loc["between_systems", "value"] > 0.9
    assert found.loc["between_systems", "p"] < 0.05 < found.loc["within", "p"]
    assert abs(found.loc["within", "value"]) < 0.4
    assert found.loc["between_systems", "metric_share"] > 0.8
    assert found["metric_share"].sum() == pytest.approx(1)
    assert found["people_share"].sum() == pytest.approx(1)
    assert found["n"].to_dict() == {"between_systems": 6, "between_documents": 10, "within": 60}


@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
def test_numbers_are_those_of_the_statistics(coefficient):
    rng = np.random.default_rng(1)
    human, m = rng.normal(size=(2, 5, 8)) + rng.normal(size=(5, 8))
    m[0, 0] = np.nan
    options = OPTIONS.model_copy(update={"coefficient": coefficient})
    found = split(*tables_of([human], {"m": m, "less": -m}), options=options)
    people = np.maximum(variance_components(human), 0)
    for place, component in enumerate(COMPONENTS):
        row = only(found, component=component, metric="m")
        value = correlate_at(m, human, component, coefficient)
        assert (row["value"], row["n"], row["n_missing"]) == (value.value, value.n, 1)
        ends = interval(leave_out(m, human, component, coefficient), confidence=0.9)[:2]
        assert (row["low"], row["high"]) == pytest.approx(ends)
        assert row["people_share"] == pytest.approx(people[place] / people.sum())
        # A metric of which less is better is turned.
        turned = only(found, component=component, metric="less")
        assert {**turned, "metric": "m"} == pytest.approx(row)


def test_where_documents_have_one_text_there_is_nothing_between_them():
    rng = np.random.default_rng(2)
    human, m = np.full((2, 3, 12), np.nan)
    for side in (human, m):
        side[np.arange(12) % 3, np.arange(12)] = rng.normal(size=12)
    found = split(*tables_of([human], {"m": m})).set_index("component")
    row = found.loc["between_documents"]
    assert np.isnan([row["value"], row["low"], row["p"]]).all()
    assert row["n"] == 0
    assert np.isfinite(found.loc["within", "p"])
    assert found["metric_share"].isna().all()  # a text's document and itself are one


def test_nothing_hangs_on_order_or_company(tmp_path):
    rng = np.random.default_rng(3)
    human, m, z = rng.normal(size=(3, 4, 6))
    scores, ratings = tables_of([human], {"m": m})
    company, _ = tables_of([human], {"m": m, "z": z, "words": z})
    alone = split(scores, ratings)
    more = split(company.sample(frac=1, random_state=1), ratings.sample(frac=1, random_state=2))
    assert len(more) == 9
    write(TABLE, alone, tmp_path / "alone")
    write(TABLE, more[more["metric"] == "m"], tmp_path / "mine")
    assert (tmp_path / "alone").read_bytes() == (tmp_path / "mine").read_bytes()


def test_constants_and_empty_tables(tmp_path):
    human = np.random.default_rng(4).normal(size=(3, 4))
    scores, ratings = tables_of([human], {"m": np.full((3, 4), 0.1), "z": np.full((3, 4), np.nan)})
    found = split(scores, ratings)
    assert found[["value", "low", "high", "p", "metric_share"]].isna().to_numpy().all()
    assert found["people_share"].notna().all()
    write(TABLE, found, tmp_path / "c.parquet")
    assert len(read(TABLE, tmp_path / "c.parquet")) == 6
    nothing = split(scores, empty(RATINGS))
    assert isinstance(nothing, pd.DataFrame)
    assert len(nothing) == 0
    write(TABLE, nothing, tmp_path / "n.parquet")
