import numpy as np
import pandas as pd
import pingouin
import pytest
import scipy.stats
import statsmodels.formula.api as models

from metassay.meta_evaluation.confounds import CONFOUNDS, confounds
from metassay.meta_evaluation.options import ANY_SHAPE
from metassay.statistics.correlation import LEVELS
from metassay.statistics.jackknife import interval
from metassay.statistics.partials import partial, partial_given_system
from metassay.tables.parquet import empty, read, write
from metassay.tables.ratings import RATINGS
from tests.meta_evaluation.invented_study import (
    OPTIONS,
    gathered,
    only,
    rate,
    ratings_of,
    scores_of,
    study,
    table_of,
    tables_of,
)

BETTER = {
    "m": "higher",
    "less": "lower",
    "coverage": "neither",
    "density": "neither",
    "words": "neither",
}
SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
    "kendall_c": lambda x, y: scipy.stats.kendalltau(x, y, variant="c"),
}
SHARES = (25, 50, 75, 100)


def confounded(scores, ratings, coefficient="pearson"):
    options = OPTIONS.model_copy(update={"coefficient": coefficient})
    return confounds(gathered(scores, ratings, options=options, better=BETTER), options)


def copied():
    """Errors, a metric and its opposite, all of which go with how much was copied."""
    ratings, _, errors = study(seed=4, documents=8)
    rng = np.random.default_rng(1)
    copies = {key: -value + 2 * rng.normal() for key, value in errors.items()}
    m = {key: value - errors[key] + 2 * rng.normal() for key, value in copies.items()}
    words = {key: float(rng.integers(3, 9)) for key in errors}
    return ratings, errors, {"m": m, "coverage": copies, "words": words}


def frame_of(errors, metrics):
    keys = sorted(errors)
    columns = {name: [values[key] for key in keys] for name, values in metrics.items()}
    system = [author for _, author in keys]
    return pd.DataFrame({**columns, "people": [-errors[key] for key in keys], "system": system})


def test_by_hand():
    people = dict(zip("wxyz", (1, 2, 3, 4), strict=True))
    m = dict(zip("wxyz", (1, 3, 2, 4), strict=True))
    coverage = dict(zip("wxyz", (0.1, 0.2, 0.2, 0.9), strict=True))
    ratings = ratings_of(*(rate("grade", a, "d", "r", v) for a, v in people.items()))
    scores = table_of(
        {
            name: {("d", a): v for a, v in values.items()}
            for name, values in (("m", m), ("coverage", coverage))
        }
    )
    found = confounded(scores, ratings, "kendall").query("level == 'global'")
    found = found[found["confound"] == "coverage"]
    values = found.set_index("statistic")["value"].to_dict()
    # Of coverage one pair is tied: 5 of the 6 pairs are ordered as by people, and as by m.
    r = 5 / np.sqrt(5 * 6)
    assert (values["metric"], values["people"]) == pytest.approx((r, r))
    assert values["lowest_100"] == pytest.approx(4 / 6)
    assert values["partial"] == pytest.approx((4 / 6 - r * r) / (1 - r * r))
    # Half of the texts are w and x; y ties with x. Of w x y one pair of three is reversed.
    assert values["lowest_50"] == pytest.approx(1 / 3)
    assert values["lowest_75"] == pytest.approx(1 / 3)
    assert np.isnan(values["lowest_25"])
    counts = found.set_index("statistic")["n"].to_dict()
    shares = {"lowest_25": 1, "lowest_50": 3, "lowest_75": 3, "lowest_100": 4}
    of_all = ("metric", "people", "partial", "partial_of_any_shape", "added")
    assert counts == shares | dict.fromkeys(of_all, 4)
    # Standardised: m (-3, 1, -1, 3) / sqrt(5); coverage (-.25, -.15, -.15, .55) / sqrt(.1025).
    # The sums are w -2.12, x -.02, y -.92, z 3.06: x and y are reversed.
    assert values["added"] == pytest.approx(4 / 6)


@pytest.mark.parametrize("coefficient", SCIPY)
def test_against_scipy(coefficient):
    ratings, errors, metrics = copied()
    found = confounded(table_of(metrics), ratings, coefficient)
    frame = frame_of(errors, metrics)
    of = SCIPY[coefficient]
    for name in ("coverage", "words"):
        mine = found[(found["confound"] == name) & (found["level"] == "global")]
        mine = mine.set_index("statistic")
        expected = {
            "metric": of(frame[name], frame["m"]),
            "people": of(frame[name], frame["people"]),
            "added": of(
                scipy.stats.zscore(frame["m"]) + scipy.stats.zscore(frame[name]), frame["people"]
            ),
        }
        ascending = np.sort(frame[name])
        for share in SHARES:
            least = frame[frame[name] <= ascending[24 * share // 100 - 1]]
            expected[f"lowest_{share}"] = of(least["m"], least["people"])
            assert mine.loc[f"lowest_{share}", "n"] == len(least)
        for statistic, (value, _) in expected.items():
            assert mine.loc[statistic, "value"] == pytest.approx(value, abs=1e-9)
        has_interval = mine.index[mine["low"].notna()]
        whole = {"metric", "people", "partial", "partial_of_any_shape"}
        assert set(has_interval) == whole & set(mine.index)
        assert ("partial" in mine.index) == (coefficient != "kendall_c")
    assert (found["coefficient"] == coefficient).all()
    assert (found["n_missing"] == 0).all()
    assert ("system" in set(found["confound"])) == (coefficient != "kendall_c")
    assert "density" not in set(found["confound"])


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_partial_against_pingouin_and_regression(coefficient):
    ratings, errors, metrics = copied()
    found = confounded(table_of(metrics), ratings, coefficient)
    frame = frame_of(errors, metrics)
    for name in ("coverage", "words"):
        row = only(found, confound=name, statistic="partial", level="global")
        theirs = pingouin.partial_corr(frame, "m", "people", covar=name, method=coefficient)
        assert row["value"] == pytest.approx(theirs["r"].iloc[0], abs=1e-9)
        assert row["n"] == 24
    # Given the system: what a regression on who wrote it leaves of both sides.
    if coefficient == "spearman":
        frame[["m", "people"]] = frame[["m", "people"]].rank()
    left = [models.ols(f"{side} ~ C(system)", frame).fit().resid for side in ("m", "people")]
    row = only(found, confound="system", statistic="partial", level="global")
    assert row["value"] == pytest.approx(scipy.stats.pearsonr(*left)[0], abs=1e-9)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_partials_at_each_level_are_those_of_the_statistics(coefficient):
    rng = np.random.default_rng(0)
    human, m, coverage = rng.normal(size=(3, 4, 7)) + rng.normal(size=(4, 7))
    scores, ratings = tables_of([human], {"m": m, "coverage": coverage})
    found = confounded(scores, ratings, coefficient)
    for level in LEVELS:
        expected = {"coverage": partial(m, human, coverage, level, coefficient)}
        if level != "system":  # there, nothing would be left
            expected["system"] = partial_given_system(m, human, level, coefficient)
        mine = found[(found["level"] == level) & (found["statistic"] == "partial")]
        assert set(mine["confound"]) == set(expected)
        for name, value in expected.items():
            row = only(mine, confound=name)
            ends = interval(value.left, confidence=OPTIONS.confidence)[:2]
            assert (row["value"], row["n"]) == (pytest.approx(value.value), 28)
            assert (row["low"], row["high"]) == pytest.approx(ends, nan_ok=True)
    other_way = found[found["statistic"] == "partial_residuals_first"]
    assert len(other_way) == (5 if coefficient == "spearman" else 0)


def test_what_is_left_is_tested_where_half_or_more_goes():
    """People value copying and one more thing; m sees both, `less` copying alone."""
    rng = np.random.default_rng(1)
    copied, more, *noise = rng.normal(size=(6, 4, 160))
    human = copied + 0.25 * more
    metrics = {
        "m": copied + 0.25 * more + 0.9 * noise[0],
        "less": -copied + 0.5 * noise[1],
        "coverage": copied + 0.05 * noise[2],
        "words": noise[3],
    }
    found = confounded(*tables_of([human], metrics))
    rows = found[(found["statistic"] == ANY_SHAPE) & (found["level"] == "document")]
    p = rows.set_index(["metric", "confound"])["p"]
    assert p["m", "coverage"] < 0.05  # it still knows the rest
    assert p["less", "coverage"] > 0.05  # and this one does not
    assert p[:, "words"].isna().all()  # which takes nothing away, so that nothing is asked
    # Of what is partial only this has a p, and what is left given the system.
    others = (found["statistic"] != ANY_SHAPE) & (found["confound"] != "system")
    assert found["p"][others].isna().all()


def test_metrics_and_people_are_turned_and_confounds_are_not():
    ratings, _, metrics = copied()
    scores = table_of({**metrics, "less": {key: -value for key, value in metrics["m"].items()}})
    found = confounded(scores, ratings)
    sides = [
        found[found["metric"] == name].drop(columns="metric").reset_index(drop=True)
        for name in ("m", "less")
    ]
    pd.testing.assert_frame_equal(*sides)
    assert set(found["metric"]) == {"m", "less"}  # a confound is not a metric that is tested
    # People see fewer errors, and the metric more quality, where more is copied.
    of = found[(found["metric"] == "less") & (found["confound"] == "coverage")]
    assert (of["value"][of["statistic"].isin(["metric", "people", "lowest_100"])] > 0.3).all()


def test_gaps_are_counted():
    ratings, _, metrics = copied()
    del metrics["m"]["d0", "x"]
    metrics["coverage"]["d1", "x"] = None
    unrated = ratings[~((ratings["doc_id"] == "d2") & (ratings["author"] == "x"))]
    nowhere = {("d3", "x"), ("d3", "y")}  # texts that nobody knows of
    metrics = {
        name: {key: v for key, v in values.items() if key not in nowhere}
        for name, values in metrics.items()
    }
    unrated = unrated[~((unrated["doc_id"] == "d3") & unrated["author"].isin(["x", "y"]))]
    found = confounded(table_of(metrics), unrated)
    pooled = found[found["level"] == "global"]
    of = pooled[pooled["confound"] == "coverage"].set_index("statistic")
    assert of.loc[["metric", "people"], ["n", "n_missing"]].to_numpy().tolist() == [[20, 2]] * 2
    assert (
        of.loc[["partial", "added", "lowest_100"], ["n", "n_missing"]].to_numpy().tolist()
        == [[19, 3]] * 3
    )
    assert of.loc["lowest_25", "n_missing"] == 3
    row = only(pooled, confound="system", statistic="partial")
    assert (row["n"], row["n_missing"]) == (20, 2)


def test_a_judge_of_coverage_is_no_confound():
    ratings, _, metrics = copied()
    judged = scores_of(metrics["coverage"], metric="coverage", judge="nli")
    found = confounded(pd.concat([scores_of(metrics["m"]), judged]), ratings)
    assert set(found["confound"]) == {"system"}


def test_one_system_and_one_document():
    ratings, _, metrics = copied()
    scores = table_of(metrics)
    found = confounded(scores[scores["author"] == "x"], ratings[ratings["author"] == "x"])
    assert set(found["confound"]) == {"coverage", "words"}
    assert (found["n"][found["statistic"] == "lowest_100"] == 8).all()
    found = confounded(scores[scores["doc_id"] == "d0"], ratings[ratings["doc_id"] == "d0"])
    row = only(found, confound="system", level="global")
    assert (row["n"], row["n_missing"]) == (0, 0)  # nothing is left within a system of one text
    assert np.isnan([row["value"], row["low"], row["p"]]).all()
    assert only(found, confound="coverage", statistic="people", level="global")["n"] == 3


def test_constants_have_no_value():
    ratings, errors, metrics = copied()
    found = confounded(table_of({**metrics, "coverage": dict.fromkeys(errors, 0.5)}), ratings)
    found = found[found["level"] == "global"]
    of = found[found["confound"] == "coverage"].set_index("statistic")
    assert of.loc[["metric", "people", "partial", "added"], "value"].isna().all()
    # All texts tie for least of it.
    assert of.loc[[f"lowest_{share}" for share in SHARES], "value"].nunique() == 1
    assert (of["n"] == 24).all()
    found = confounded(table_of(metrics), ratings.assign(value=1.0))
    assert found["value"][found["statistic"] != "metric"].isna().all()


def test_nothing_hangs_on_order_or_company(tmp_path):
    ratings, errors, metrics = copied()
    alone = confounded(table_of(metrics), ratings)
    company = table_of({**metrics, "less": errors})
    others = pd.concat([ratings, ratings.assign(study="s0")])
    shuffled = confounded(
        company.sample(frac=1, random_state=1), others.sample(frac=1, random_state=2)
    )
    mine = shuffled[(shuffled["study"] == "s1") & (shuffled["metric"] == "m")]
    # By design, p is adjusted for all metrics, and asked where it matters for any.
    write(CONFOUNDS, alone.assign(p=np.nan), tmp_path / "alone.parquet")
    write(CONFOUNDS, mine.assign(p=np.nan), tmp_path / "mine.parquet")
    assert (tmp_path / "alone.parquet").read_bytes() == (tmp_path / "mine.parquet").read_bytes()
    assert len(read(CONFOUNDS, tmp_path / "mine.parquet")) == 2 * (9 + 4 + 4) + 2
    empty_one = confounded(company, empty(RATINGS))
    assert len(empty_one) == 0
    write(CONFOUNDS, empty_one, tmp_path / "empty.parquet")
