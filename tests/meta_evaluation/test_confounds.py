import numpy as np
import pandas as pd
import pytest
import scipy.stats

from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.options import ANY_SHAPE
from metassay.statistics.correlation import LEVELS
from metassay.statistics.jackknife import interval
from metassay.statistics.partials import partial, partial_given_system
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

OF_TEXTS = dict.fromkeys(("coverage", "density", "words"), "neither")
BETTER = {"m": "higher", "less": "lower", **OF_TEXTS}
SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
    "kendall_c": lambda x, y: scipy.stats.kendalltau(x, y, variant="c"),
}
SHARES = (25, 50, 75, 100)
WHOLE = {"metric", "people", "partial", "partial_of_any_shape"}


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
    people = {key: -value for key, value in errors.items()}
    frame = pd.DataFrame({**metrics, "people": people}).sort_index()
    return frame.assign(system=[author for _, author in frame.index])


def of_confound(table, name):
    rows = table[(table["level"] == "global") & (table["confound"] == name)]
    return rows.set_index("statistic")


def test_by_hand():
    people, m, coverage = (
        {("d", "wxyz"[n]): v for n, v in enumerate(values)}
        for values in ((1, 2, 3, 4), (1, 3, 2, 4), (0.1, 0.2, 0.2, 0.9))
    )
    ratings = ratings_of(*(rate("grade", a, d, "r", v) for (d, a), v in people.items()))
    table = confounded(table_of({"m": m, "coverage": coverage}), ratings, "kendall")
    rows = of_confound(table, "coverage")
    value = rows["value"]
    # Of coverage one pair is tied: 5 of the 6 pairs are ordered as by people, and as by
    # m.
    r = 5 / np.sqrt(5 * 6)
    # Half of the texts are w and x; y ties with x. Of w x y one pair of three is
    # reversed. Standardised: m (-3, 1, -1, 3) / sqrt(5); coverage (-.25, -.15, -.15,
    # .55) / sqrt(.1025). The sums are w -2.12, x -.02, y -.92, z 3.06: x and y are
    # reversed.
    expected = {
        "metric": r,
        "people": r,
        "partial": (4 / 6 - r * r) / (1 - r * r),
        "added": 4 / 6,
        "lowest_50": 1 / 3,
        "lowest_75": 1 / 3,
        "lowest_100": 4 / 6,
    }
    assert value[list(expected)].to_dict() == pytest.approx(expected)
    assert np.isnan(value["lowest_25"])
    shares = {"lowest_25": 1, "lowest_50": 3, "lowest_75": 3, "lowest_100": 4}
    assert rows["n"].to_dict() == shares | dict.fromkeys((*WHOLE, "added"), 4)


@pytest.mark.parametrize("coefficient", SCIPY)
def test_against_scipy(coefficient):
    ratings, errors, metrics = copied()
    table = confounded(table_of(metrics), ratings, coefficient)
    frame, of = frame_of(errors, metrics), SCIPY[coefficient]
    for name in ("coverage", "words"):
        rows = of_confound(table, name)
        both = scipy.stats.zscore(frame["m"]) + scipy.stats.zscore(frame[name])
        expected = {
            "metric": of(frame[name], frame["m"]),
            "people": of(frame[name], frame["people"]),
            "added": of(both, frame["people"]),
        }
        for share in SHARES:
            least = frame[frame[name] <= np.sort(frame[name])[24 * share // 100 - 1]]
            expected[f"lowest_{share}"] = of(least["m"], least["people"])
            assert rows.loc[f"lowest_{share}", "n"] == len(least)
        for statistic, (value, _) in expected.items():
            assert rows.loc[statistic, "value"] == pytest.approx(value, abs=1e-9)
        assert set(rows.index[rows["low"].notna()]) == WHOLE & set(rows.index)
        assert ("partial" in rows.index) == (coefficient != "kendall_c")
    assert (table["coefficient"] == coefficient).all()
    assert (table["n_missing"] == 0).all()
    of_system = {"system"} if coefficient != "kendall_c" else set()
    assert set(table["confound"]) == {"coverage", "words", *of_system}


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_partials_at_each_level_are_those_of_the_statistics(coefficient):
    rng = np.random.default_rng(0)
    human, m, coverage = rng.normal(size=(3, 4, 7)) + rng.normal(size=(4, 7))
    table = confounded(*tables_of([human], {"m": m, "coverage": coverage}), coefficient)
    for level in LEVELS:
        expected = {"coverage": partial(m, human, coverage, level, coefficient)}
        if level != "system":  # there, nothing would be left
            expected["system"], _ = partial_given_system(m, human, level, coefficient)
        rows = table[(table["level"] == level) & (table["statistic"] == "partial")]
        assert set(rows["confound"]) == set(expected)
        for name, left in expected.items():
            row = only(rows, confound=name)
            ends = interval(left, confidence=OPTIONS.confidence)[:2]
            assert (row["value"], row["n"]) == (pytest.approx(left.value), 28)
            assert (row["low"], row["high"]) == pytest.approx(ends, nan_ok=True)
    other_way = table[table["statistic"] == "partial_residuals_first"]
    assert len(other_way) == (5 if coefficient == "spearman" else 0)


def test_what_is_left_is_tested_where_half_or_more_goes():
    """People value copying and one more thing; m sees both, `less` copying alone."""
    rng = np.random.default_rng(1)
    copies, more, *noise = rng.normal(size=(6, 4, 160))
    human = copies + 0.25 * more
    metrics = {
        "m": human + 0.9 * noise[0],
        "less": -copies + 0.5 * noise[1],
        "coverage": copies + 0.05 * noise[2],
        "words": noise[3],
    }
    table = confounded(*tables_of([human], metrics))
    rows = table[(table["statistic"] == ANY_SHAPE) & (table["level"] == "document")]
    p = rows.set_index(["metric", "confound"])["p"]
    assert p["m", "coverage"] < 0.1  # it still knows the rest
    assert p["less", "coverage"] > 0.05  # and this one does not
    # which takes nothing away, so that nothing is asked
    assert p[:, "words"].isna().all()
    # Of what is partial only this has a p, and what is left given the system.
    others = (table["statistic"] != ANY_SHAPE) & (table["confound"] != "system")
    assert table["p"][others].isna().all()


def test_metrics_and_people_are_turned_and_confounds_are_not():
    ratings, _, metrics = copied()
    metrics["less"] = {key: -value for key, value in metrics["m"].items()}
    scores = table_of(metrics)
    table = confounded(scores, ratings)
    m, less = (
        table[table["metric"] == name].drop(columns="metric").reset_index(drop=True)
        for name in ("m", "less")
    )
    pd.testing.assert_frame_equal(m, less)
    # a confound is not a metric that is tested
    assert set(table["metric"]) == {"m", "less"}
    # People see fewer errors, and the metric more quality, where more is copied.
    of = less[less["confound"] == "coverage"]
    assert (
        of["value"][of["statistic"].isin(["metric", "people", "lowest_100"])] > 0.3
    ).all()
    judged = scores_of(metrics["coverage"], metric="coverage", judge="nli")
    table = confounded(pd.concat([scores_of(metrics["m"]), judged]), ratings)
    assert set(table["confound"]) == {"system"}  # a judge of coverage is no confound


def test_gaps_are_counted():
    ratings, _, metrics = copied()
    nowhere = [("d3", "x"), ("d3", "y")]  # texts that nobody knows of
    for values in metrics.values():
        del values[nowhere[0]], values[nowhere[1]]
    del metrics["m"]["d0", "x"]
    metrics["coverage"]["d1", "x"] = None
    texts = pd.MultiIndex.from_frame(ratings[["doc_id", "author"]])
    table = confounded(table_of(metrics), ratings[~texts.isin([*nowhere, ("d2", "x")])])
    of = of_confound(table, "coverage")[["n", "n_missing"]]
    assert of.loc[["metric", "people"]].to_numpy().tolist() == [[20, 2]] * 2
    assert (
        of.loc[["partial", "added", "lowest_100"]].to_numpy().tolist() == [[19, 3]] * 3
    )
    assert of.loc["lowest_25", "n_missing"] == 3
    row = of_confound(table, "system").loc["partial"]
    assert (row["n"], row["n_missing"]) == (20, 2)


def test_one_system_one_document_and_constants():
    ratings, errors, metrics = copied()
    scores = table_of(metrics)
    table = confounded(
        scores[scores["author"] == "x"], ratings[ratings["author"] == "x"]
    )
    assert set(table["confound"]) == {"coverage", "words"}
    assert (table["n"][table["statistic"] == "lowest_100"] == 8).all()
    table = confounded(
        scores[scores["doc_id"] == "d0"], ratings[ratings["doc_id"] == "d0"]
    )
    row = of_confound(table, "system").loc["partial"]
    # nothing is left within a system of one text
    assert (row["n"], row["n_missing"]) == (0, 0)
    assert np.isnan([row["value"], row["low"], row["p"]]).all()
    assert of_confound(table, "coverage").loc["people", "n"] == 3
    table = confounded(
        table_of({**metrics, "coverage": dict.fromkeys(errors, 0.5)}), ratings
    )
    of = of_confound(table, "coverage")
    assert of.loc[["metric", "people", "partial", "added"], "value"].isna().all()
    # All texts tie for least of it.
    assert of.loc[[f"lowest_{share}" for share in SHARES], "value"].nunique() == 1
    assert (of["n"] == 24).all()
    table = confounded(scores, ratings.assign(value=1.0))
    assert table["value"][table["statistic"] != "metric"].isna().all()
