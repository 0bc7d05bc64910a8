"""Metrics with people, in all texts, by component and with each other."""

import numpy as np
import pandas as pd
import pytest

from metassay.core.options import Criterion
from metassay.meta_evaluation.correlations import components, metric_correlations
from metassay.meta_evaluation.study import studies
from metassay.statistics.components import COMPONENTS, correlate_at, variance_components
from metassay.statistics.correlation import correlate
from metassay.statistics.jackknife import interval, leave_out
from metassay.tables.parquet import empty
from metassay.tables.ratings import RATINGS
from tests.meta_evaluation.invented_study import (
    OPTIONS,
    correlated,
    gathered,
    only,
    rate,
    ratings_of,
    scores_of,
    studied,
    study,
    table_of,
    tables_of,
)

BETTER = {"m": "higher", "less": "lower", "words": "neither", "z": "higher"}
COUNTS = ["n", "n_undefined", "n_missing"]
NAN = np.nan


def numbers(row):
    return [row[name] for name in ("value", *COUNTS)]


def by_text(**documents):
    """Values of documents by the systems x, y and z."""
    return {
        (d, s): v
        for d, values in documents.items()
        for s, v in zip("xyz", values, strict=False)
    }


def test_correlations_by_hand():
    people = by_text(d1=(1, 2, 3), d2=(2, 2, 9), d3=(5, 5, 5))
    ratings = ratings_of(
        *(rate("errors", a, d, "r", v) for (d, a), v in people.items())
    )
    # d2's z failed, d3's is not there; what was not rated takes no part.
    scores = by_text(d1=(3.0, 2.0, 1.0), d2=(1.0, 3.0, None), d3=(1.0, 2.0))
    scores |= {("d1", "reference"): 9.0, ("d1", "w"): 9.0, ("d9", "x"): 9.0}
    table = correlated(scores_of(scores), ratings)
    assert len(table) == 12
    # Document d1: all three pairs reversed, -1. d2: y - x alone, people tie; d3: people
    # tie.
    row = only(table, level="document", coefficient="kendall")
    assert numbers(row) == [-1, 1, 2, 2]
    assert np.isnan(row["p"])
    assert np.isnan(row["low"])  # one document alone says nothing about others
    # Systems: x scores (3 + 1 + 1)/3 against (1 + 2 + 5)/3; y (2 + 3 + 2)/3 against
    # 9/3; z has both in d1 only: 1 against 3. Pairs: xy concordant, xz reversed, yz
    # tied by people.
    row = only(table, level="system", coefficient="kendall")
    assert numbers(row) == [pytest.approx(0), 3, 0, 2]
    row = only(table, level="global", coefficient="pearson")
    value = np.corrcoef((3, 2, 1, 1, 3, 1, 2), (1, 2, 3, 2, 2, 5, 5))[0, 1]
    assert numbers(row) == [pytest.approx(value), 7, 0, 2]
    assert row["low"] <= row["value"] <= row["high"]
    assert row["recipe"] == "m|v1"


def test_values_and_intervals_are_those_of_the_statistics_with_true_signs():
    ratings, scores, errors = study(seed=3, documents=12)
    table = correlated(scores_of(scores), ratings)
    (whole,) = studied(scores_of(scores), ratings)
    metric, human = (
        np.array(
            [[values[f"d{d}", a] for d in sorted(range(12), key=str)] for a in "xyz"]
        )
        for values in (scores, errors)
    )
    for row in table.to_dict("records"):
        at = row["level"], row["coefficient"]
        expected = correlate(metric, human, *at)
        # All but its p, which takes texts for independent.
        assert numbers(row) == pytest.approx(list(expected[:4]))
        left = leave_out(whole.metrics[0].values, whole.human, *at)
        for over, end in (("both", ""), ("documents", "_these_systems")):
            ends = interval(left, confidence=OPTIONS.confidence, over=over)[:2]
            assert [row[f"low{end}"], row[f"high{end}"]] == pytest.approx(
                ends, nan_ok=True
            )
    assert (table["value"][table["level"] == "global"] < -0.5).all()
    # p is of the chosen coefficient alone: of 200 random orders none is as extreme.
    tested = table[(table["level"] == "global") & table["p"].notna()]
    assert list(tested["coefficient"]) == ["pearson"]
    assert (tested["p"] < 0.02).all()
    # Three systems have an interval for other documents, but at system level none for
    # others.
    row = only(table, level="system", coefficient="pearson")
    assert np.isnan(row["low"])
    assert row["low_these_systems"] < row["value"] < row["high_these_systems"]


def test_each_metric_judge_and_part_by_itself():
    ratings, scores, errors = study()
    both = pd.concat([ratings, ratings.assign(part="plan"), ratings.assign(study="s2")])
    every = pd.concat(
        [
            scores_of(scores),
            scores_of(errors, judge="nli"),
            *(scores_of(errors, part=part) for part in ("plan", "other")),
            scores_of(
                {key: 2 * value for key, value in scores.items()}, metric="twice"
            ),
        ]
    )
    done = []
    table = correlated(every, both, progress=lambda n, of: done.append((n, of)))
    groups = table.groupby(["study", "part", "metric", "judge"]).size()
    expected = {
        (study, "full", metric, judge): 12
        for study in ("s1", "s2")
        for metric, judge in (("m", "nli"), ("m", "none"), ("twice", "none"))
    }
    expected |= {("s1", "plan", "m", "none"): 12, ("s1", "each", "m", "none"): 4}
    assert groups.to_dict() == expected
    assert done == [(n, 3) for n in (1, 2, 3)]
    of_errors = table[(table["part"] == "plan") | (table["judge"] == "nli")]
    # With ties, even a metric that equals the ratings does not reach 1 by tau-c.
    of_errors = of_errors[of_errors["coefficient"] != "kendall_c"]
    assert of_errors["value"].to_numpy() == pytest.approx(1)
    columns = ["value", "low", "high", "low_these_systems", "high_these_systems", "p"]
    of_judge = table[(table["part"] == "full") & (table["judge"] == "none")]
    once, twice = (
        of_judge.loc[of_judge["metric"] == m, columns] for m in ("m", "twice")
    )
    assert once.to_numpy() == pytest.approx(twice.to_numpy(), abs=1e-12, nan_ok=True)


def test_what_says_nothing_has_no_interval_or_value():
    ratings, scores, _ = study(documents=1)
    table = correlated(scores_of(scores), ratings)
    ends = ["low", "high", "low_these_systems", "high_these_systems"]
    assert table["value"].notna().any()
    assert table[ends].isna().to_numpy().all()  # one document says nothing of others
    ratings, scores, _ = study()
    elsewhere = {
        (f"other {doc}", author): value for (doc, author), value in scores.items()
    }
    table = correlated(scores_of(elsewhere), ratings)
    assert table[["value", *ends, "p"]].isna().to_numpy().all()
    assert (table["n"] == 0).all()
    assert (table["n_missing"] == 18).all()


def test_equal_ratings_are_tied_whatever_the_order_of_summation():
    # Three raters give x .1 .2 .3 in other orders; the mean of floats depends on the
    # order.
    by_system = {"x": (0.1, 0.2, 0.3), "y": (0.3, 0.2, 0.1), "z": (1, 1, 1)}
    ratings = ratings_of(
        *(
            rate("errors", author, "d", f"r{n}", value)
            for author, values in by_system.items()
            for n, value in enumerate(values)
        )
    )
    table = correlated(scores_of(by_text(d=(1.0, 2.0, 3.0))), ratings)
    row = only(table, level="global", coefficient="kendall")
    assert row["value"] == pytest.approx(2 / np.sqrt(6))


def test_grouped_by_part_by_hand():
    """Two parts of the same four texts: correlations 1 and -1/3 by tau, mean 1/3."""
    texts = [("d1", "x"), ("d1", "y"), ("d2", "x"), ("d2", "y")]
    plan, notes = (
        dict(zip(texts, v, strict=True)) for v in ((1.0, 2, 3, 4), (2.0, 1, 4, 3))
    )
    lines = [
        rate("errors", author, doc, "r", value, part=part)
        for part in ("plan", "notes")
        for (doc, author), value in plan.items()
    ]
    # a text without a score
    lines.append(rate("errors", "x", "d3", "r", 9, part="plan"))
    every = pd.concat([scores_of(plan, part="plan"), scores_of(notes, part="notes")])
    row = only(
        correlated(every, ratings_of(*lines)), level="grouped", coefficient="kendall"
    )
    # notes orders 2 1 4 3 against 1 2 3 4: four of six pairs alike.
    assert numbers(row) == [pytest.approx((1 + 1 / 3) / 2), 2, 0, 1]
    assert row["part"] == "each"
    # The parts were rated on other documents, and never is there an interval for other
    # systems.
    assert np.isnan([row["low_these_systems"], row["low"], row["p"]]).all()
    lines.append(rate("errors", "x", "d3", "r", 9, part="notes"))
    row = only(
        correlated(every, ratings_of(*lines)), level="grouped", coefficient="kendall"
    )
    assert row["low_these_systems"] <= row["value"] <= row["high_these_systems"]
    assert np.isnan(row["low"])


def split(scores, ratings, options=OPTIONS):
    return components(
        gathered(scores, ratings, options=options, better=BETTER), options
    )


def test_a_metric_that_knows_systems_alone():
    rng = np.random.default_rng(0)
    system, document = rng.normal(size=(16, 1)), rng.normal(size=10)
    human = 2 * system + document + rng.normal(size=(16, 10))
    m = 2 * system + 0.1 * rng.normal(size=10) + 0.3 * rng.normal(size=(16, 10))
    table = split(*tables_of([human], {"m": m})).set_index("component")
    between, within = table.loc["between_systems"], table.loc["within"]
    assert between["value"] > 0.9
    assert between["p"] < 0.05 < within["p"]
    assert abs(within["value"]) < 0.4
    assert between["metric_share"] > 0.8
    assert table[["metric_share", "people_share"]].sum().tolist() == pytest.approx(
        [1, 1]
    )
    assert table["n"].to_dict() == {
        "between_systems": 16,
        "between_documents": 10,
        "within": 160,
    }


@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
def test_components_are_those_of_the_statistics(coefficient):
    rng = np.random.default_rng(1)
    human, m = rng.normal(size=(2, 5, 8)) + rng.normal(size=(5, 8))
    m[0, 0] = NAN
    options = OPTIONS.model_copy(update={"coefficient": coefficient})
    table = split(*tables_of([human], {"m": m, "less": -m}), options=options)
    people = np.maximum(variance_components(human), 0)
    for place, component in enumerate(COMPONENTS):
        row = only(table, component=component, metric="m")
        value = correlate_at(m, human, component, coefficient)
        assert (row["value"], row["n"], row["n_missing"]) == (value.value, value.n, 1)
        ends = interval(leave_out(m, human, component, coefficient), confidence=0.9)[:2]
        assert (row["low"], row["high"]) == pytest.approx(ends)
        assert row["people_share"] == pytest.approx(people[place] / people.sum())
        # A metric of which less is better is turned.
        turned = only(table, component=component, metric="less")
        assert {**turned, "metric": "m"} == pytest.approx(row, nan_ok=True)


def test_where_nothing_lies_between_documents_and_where_nothing_varies():
    rng = np.random.default_rng(2)
    human, m = np.full((2, 3, 12), NAN)
    for side in (human, m):
        side[np.arange(12) % 3, np.arange(12)] = rng.normal(size=12)
    table = split(*tables_of([human], {"m": m})).set_index("component")
    row = table.loc["between_documents"]
    assert np.isnan([row["value"], row["low"], row["p"]]).all()
    assert row["n"] == 0
    assert np.isfinite(table.loc["within", "p"])
    assert table["metric_share"].isna().all()  # a text's document and itself are one
    constant = {"m": np.full((3, 4), 0.1), "z": np.full((3, 4), NAN)}
    table = split(*tables_of([rng.normal(size=(3, 4))], constant))
    assert len(table) == 6
    assert table[["value", "low", "high", "p", "metric_share"]].isna().to_numpy().all()
    assert table["people_share"].notna().all()


def test_metrics_with_each_other_as_pandas_has_them():
    rng = np.random.default_rng(5)
    names = {"good": "higher", "bad": "lower", "words": "neither"}
    criteria = {
        "errors": Criterion(low=0, high=9, better="lower"),
        "realism": Criterion(low=0, high=9, better="higher"),
    }
    texts = pd.MultiIndex.from_product(
        [[f"d{d}" for d in range(9)], ["one", "two", "three"]]
    )
    columns = [*names, *criteria]
    values = pd.DataFrame(rng.integers(0, 9, (27, 5)) * 1.0, texts, columns)
    values.loc[("d1", "one"), "good"] = values.loc[("d2", "two"), "errors"] = NAN
    values.loc[("d3", "two"), ["errors", "realism"]] = NAN  # nobody rated it
    scores = table_of({name: values[name].to_dict() for name in names})
    rated = values[[*criteria]].stack().items()
    ratings = ratings_of(
        *(rate(name, author, d, "ann", v) for (d, author, name), v in rated)
    )
    table = metric_correlations(studies(scores, ratings, criteria, names))
    assert len(table) == 3 * 6  # of 4 scorers; words are neither better nor worse
    used = values.dropna(how="all", subset=list(criteria))
    for row in table.to_dict("records"):
        a, b = used[row["first"]], used[row["second"]]
        sign = np.prod(
            [-1 if row[end] in ("errors", "bad") else 1 for end in ("first", "second")]
        )
        expected = sign * a.corr(b, method=row["coefficient"])
        assert row["value"] == pytest.approx(expected), row
        assert row["n"] == (a.notna() & b.notna()).sum()
        assert row["n_missing"] == (a.notna() ^ b.notna()).sum()
    first = table[table["coefficient"] == "kendall"][["first_is", "first", "second"]]
    assert first.to_numpy().tolist()[:3] == [
        ["people", "errors", second] for second in ("realism", "bad", "good")
    ]
    assert metric_correlations(studies(scores, empty(RATINGS), criteria, names)).empty
