"""Tables of people's marks and counts beside scores, against pandas and scipy, and by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from papers import statement_tables as tables
from papers.estimates import ADDED, ALONE

Values = NDArray[np.float64]
KEY = ["doc_id", "author", "number"]
STATEMENTS = list(product("abcdefgh", "xy", range(3)))
random = np.random.default_rng(8)
ERRORS = random.uniform(size=len(STATEMENTS))
COPIED = random.uniform(size=len(STATEMENTS))
METRICS = {  # name, judge, which is better: values
    ("coverage@gain", "none", "neither"): COPIED,
    ("coverage@full", "none", "neither"): random.uniform(size=len(STATEMENTS)),
    ("close@gain", "none", "higher"): random.normal(size=len(STATEMENTS)) - 2 * ERRORS,
    ("doubt@gain", "none", "lower"): random.normal(size=len(STATEMENTS)) + 3 * ERRORS,
    ("regressor@gain", "distilled", "higher"): random.normal(size=len(STATEMENTS))
    - 5 * ERRORS,
    ("close@full", "none", "higher"): random.normal(size=len(STATEMENTS)),
}


def marks() -> pd.DataFrame:
    """Two raters whose mean is ERRORS; one of the reference, and one of a whole text."""
    rows = [
        (*place[:2], f"statement:{place[2]}", rater, error + aside)
        for place, error in zip(STATEMENTS, ERRORS, strict=True)
        for rater, aside in (("r", 0.1), ("s", -0.1))
    ]
    rows += [("a", "reference", "statement:0", "r", 9.0), ("a", "x", "text", "r", 9.0)]
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "unit", "rater", "value"])
    return frame.assign(criterion="error")


def frames() -> dict[str, pd.DataFrame]:
    rows = [
        (*place, metric, judge, better, value)
        for (metric, judge, better), values in METRICS.items()
        for place, value in zip(STATEMENTS, values, strict=True)
    ]
    rows.append(("a", "reference", 0, "close@gain", "none", "higher", 99.0))
    rows.append(("a", "x", 9, "close@gain", "none", "higher", 99.0))  # nobody marked it
    columns = [*KEY, "metric", "judge", "better", "value"]
    return {"statement_scores": pd.DataFrame(rows, columns=columns), "ratings": marks()}


def r(a: Values) -> float:
    return float(stats.pearsonr(a, ERRORS).statistic)


def both(name: str, turned: int = 1) -> Values:
    (values,) = (of for (metric, *_), of in METRICS.items() if metric == name)
    standardised: Values = stats.zscore(turned * values) + stats.zscore(COPIED)
    return standardised


def test_shares_of_statements_are_by_the_coverage_of_what_a_metric_reads() -> None:
    table = tables.least_copied_statements(frames())
    assert set(table["criterion"]) == {"error"}
    table = table.set_index(["metric", "share", "what"])
    for alignment in ("gain", "full"):
        values = METRICS[f"close@{alignment}", "none", "higher"]
        copied = METRICS[f"coverage@{alignment}", "none", "neither"]
        for share, n in (("25", 12), ("50", 24), ("75", 36), ("100", 48)):
            least = np.argsort(copied)[:n]
            expected = stats.pearsonr(values[least], ERRORS[least]).statistic
            row = table.loc[(f"close@{alignment}", share, ALONE)]
            assert row[["value", "n"]].tolist() == [pytest.approx(expected), n]
    assert table.loc[("close@gain", "100", ADDED), "value"] == pytest.approx(
        r(both("close@gain"))
    )
    assert ("coverage@gain", "100", ALONE) in table.index
    assert ("coverage@gain", "100", ADDED) not in table.index


def williams(r12: float, r13: float, r23: float, n: int) -> float:
    """Williams' test as Graham and Baldwin 2014 write it, one-sided."""
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    below = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23)) / np.sqrt(below)
    return float(stats.t.sf(t, n - 3))


def p_of(ours: Values, other: Values) -> float:
    r23 = float(stats.pearsonr(ours, other).statistic)
    return williams(-r(ours), -r(other), r23, len(STATEMENTS))


def test_the_distilled_metric_stands_beside_every_other_one() -> None:
    table = tables.distilled(frames())
    ours = METRICS["regressor@gain", "distilled", "higher"]
    others = {
        "doubt@gain": -METRICS["doubt@gain", "none", "lower"],
        "close@gain": METRICS["close@gain", "none", "higher"],
        "close@full": METRICS["close@full", "none", "higher"],
    }
    each = table[table["which"] == "other"].set_index("metric")
    assert set(each.index) == set(others)
    for name, values in others.items():
        row = each.loc[name]
        assert row["value"] == pytest.approx(r(values))
        assert row["less"] == pytest.approx(r(ours) - r(values))
        assert row["p"] == pytest.approx(p_of(ours, values))
        assert row["less_low"] < row["less"] < row["less_high"]
    by_which = table[table["which"] != "other"].set_index("which")
    best = by_which.loc["best other"]
    assert best.to_dict() == {
        "metric": "doubt@gain",
        **each.loc["doubt@gain"].drop("which"),
    }
    assert 0 < best["p"] < 0.5
    row = by_which.loc["distilled"]
    assert row["metric"] == "regressor@gain (distilled)"
    assert row["value"] == pytest.approx(r(ours))
    assert np.isnan(row["p"])
    # With coverage the best one is chosen anew.
    added = {
        name: both(name, turned)
        for name, turned in (("doubt@gain", -1), ("close@gain", 1))
    }
    best_name = min(added, key=lambda name: r(added[name]))
    ours, row = both("regressor@gain"), by_which.loc["best other with coverage"]
    assert row["metric"] == best_name
    assert row["value"] == pytest.approx(r(added[best_name]))
    assert row["less"] == pytest.approx(r(ours) - r(added[best_name]))
    assert row["p"] == pytest.approx(p_of(ours, added[best_name]))
    assert by_which.loc["distilled with coverage", "value"] == pytest.approx(r(ours))


def test_without_a_distilled_metric_there_are_the_others_alone() -> None:
    known = frames()
    scores = known["statement_scores"]
    table = tables.distilled(
        {**known, "statement_scores": scores[scores["judge"] == "none"]}
    )
    assert set(table["which"]) == {"other", "best other", "best other with coverage"}
    assert table["less"].isna().all()


def test_errors_by_place_are_means_over_statements() -> None:
    table = tables.errors_by_position({"ratings": marks()}).set_index(
        ["author", "place"]
    )
    errors = pd.Series(ERRORS, index=pd.MultiIndex.from_tuples(STATEMENTS, names=KEY))
    for place, expected in errors.groupby("number").mean().items():
        row = table.loc[(tables.EVERY, str(place + 1))]
        assert row[["value", "n"]].tolist() == [pytest.approx(expected), 16]
    for (author, place), expected in (
        errors.groupby(["author", "number"]).mean().items()
    ):
        assert table.loc[(author, str(place + 1)), "value"] == pytest.approx(expected)
    assert len(table) == 9


def correlations() -> pd.DataFrame:
    rows = [
        ("b@gain", "tuned_gain", "error", -0.5),
        ("b@full", "tuned_gain", "error", -0.1),
        ("c@gain", "tuned_gain", "error", -0.3),
        ("b@gain", "tuned_full", "error", -0.2),
        ("b@full", "tuned_full", "error", -0.4),
        ("b@gain@text", "tuned_gain", "error", 0.9),
        ("doubt@gain", "untrained", "error", 0.7),
        ("coverage@gain", "none", "error", 0.8),
        ("words", "none", "error", np.nan),
    ]
    frame = pd.DataFrame(rows, columns=["metric", "judge", "criterion", "value"])
    wanted = frame.assign(part="statement", level="global", coefficient="pearson")
    others = [
        wanted.assign(**{name: "other", "value": 5.0}) for name in ("part", "level")
    ]
    return pd.concat([wanted, *others]).assign(low=0.0, high=0.0, n=9)


def test_names_of_metrics_fall_into_their_pieces() -> None:
    table = tables.statement_correlations({"correlations": correlations()}).set_index(
        ["metric", "judge"]
    )
    assert len(table) == 8
    pieces = ["base", "alignment", "by"]
    assert table.loc[("b@gain@text", "tuned_gain"), pieces].tolist() == [
        "b",
        "gain",
        "text",
    ]
    assert table.loc[("doubt@gain", "untrained"), pieces].tolist() == [
        "doubt",
        "gain",
        "statement",
    ]


def test_means_by_tuning_and_use() -> None:
    """By hand: -.4 = (-.5 - .3) / 2; averages are of the means, each counted once."""
    table = tables.tuning_by_use({"correlations": correlations()}).pivot(
        index="tuning", columns="use"
    )
    means = table["value"].loc[
        ["gain", "full", tables.AVERAGE], ["gain", "full", tables.AVERAGE]
    ]
    expected = [[-0.4, -0.1, -0.25], [-0.2, -0.4, -0.3], [-0.3, -0.25, -0.275]]
    np.testing.assert_allclose(means, expected)


def test_spreads_are_of_metrics_with_a_direction_turned_so_that_more_is_better() -> (
    None
):
    better = {
        "b@gain": "higher",
        "b@full": "higher",
        "c@gain": "higher",
        "doubt@gain": "lower",
    }
    better |= {"coverage@gain": "neither", "b@gain@text": "higher"}
    scores = pd.DataFrame(better.items(), columns=["metric", "better"])
    table = tables.correlation_spread(
        {"correlations": correlations(), "statement_scores": scores}
    )
    table = table.set_index("alignment")
    assert table.loc["gain", "draws"] == pytest.approx([-0.7, -0.5, -0.3, -0.2])
    assert table.loc["full", "draws"] == pytest.approx([-0.4, -0.1])
    assert len(table.loc[tables.EVERY, "draws"]) == 6
    assert table.loc["gain", "value"] == pytest.approx(-0.425)


def test_sizes_by_hand() -> None:
    passages, groups = [["one two", "three"], ["four"]], [["E", "A"], ["E"]]
    sources = pd.DataFrame(
        {"doc_id": ["a", "b"], "passages": passages, "group": groups}
    )
    rows = [("reference", "full", "x y z"), ("x", "full", "y"), ("reference", "p", "y")]
    parts = pd.DataFrame(rows, columns=["author", "part", "text"]).assign(doc_id="a")
    kinds = [
        *[("reference", "statement")] * 2,
        ("reference", "claim"),
        ("x", "statement"),
    ]
    units = pd.DataFrame(kinds, columns=["author", "kind"]).assign(doc_id="a")
    table = tables.sizes(
        {"sources": sources, "parts": parts, "units": units}
    ).set_index("what")
    assert table["value"].to_dict() == {
        "documents": 2.0,
        "notes": 1.5,
        "source_words": 2.0,
        "reference_sentences": 2.0,
        "reference_words": 3.0,
    }
    systems = {
        "parts": parts[parts["author"] == "x"],
        "units": units[units["author"] == "x"],
    }
    assert len(tables.sizes({"sources": sources, **systems})) == 3


# ---- metrics against counts in whole texts, beside scipy -------------------------------------

SYSTEMS = ("a", "b", "c")
STUDIES = {"visits": range(24), "films": range(24, 40), "exam": range(40, 60)}
RATES = [
    "factual_precision",
    "factual_recall",
    "factual_f1",
    "hallucination_rate",
    "omission_rate",
]
COUNTS = ["hallucination_count", "omission_count"]
NOISE = {  # of metric and judge: how far it is from what is right, and which is better
    ("best", "none"): (0.3, "higher"),
    ("good", "none"): (0.4, "higher"),
    ("poor", "none"): (3.0, "higher"),
    ("poor", "j"): (5.0, "higher"),
    ("errors", "none"): (1.0, "lower"),
    ("length", "none"): (0.1, "neither"),
    ("near", "none"): (0.4, "higher"),
}


@pytest.fixture(scope="module")
def notes() -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(8)
    scores, ratings = [], []
    for study, numbers in STUDIES.items():
        criteria = COUNTS if study == "exam" else RATES
        for number, author in product(numbers, (*SYSTEMS, "reference")):
            doc_id, quality = f"d{number:02}", rng.normal()
            for criterion, rater in product(criteria, ("r1", "r2")):
                good = 1 if criterion.startswith("factual") else -1
                value = good * quality + rng.normal(0, 0.4)
                value = np.nan if rng.random() < 0.05 else value
                ratings.append((study, doc_id, author, rater, criterion, value))
            for (metric, judge), (noise, better) in NOISE.items():
                value = (-1 if better == "lower" else 1) * quality + rng.normal(
                    0, noise
                )
                value = np.nan if metric == "good" and rng.random() < 0.3 else value
                scores.append((doc_id, author, "full", metric, judge, value))
                scores.append((doc_id, author, "plan", metric, judge, rng.normal()))
    names = ["study", "doc_id", "author", "rater", "criterion", "value"]
    board = [(*key, better) for key, (_, better) in NOISE.items()]
    columns = ["doc_id", "author", "part", "metric", "judge", "value"]
    return {
        "scores": pd.DataFrame(scores, columns=columns),
        "ratings": pd.DataFrame(ratings, columns=names).assign(
            unit="text", part="full"
        ),
        "leaderboard": pd.DataFrame(board, columns=["metric", "judge", "better"]),
    }


@pytest.fixture(scope="module")
def of_notes(notes: dict[str, pd.DataFrame]) -> pd.DataFrame:
    keys = ["study", "criterion", "metric", "judge"]
    return tables.metrics_of_notes(notes).set_index(keys).sort_index()


def by_hand(
    notes: dict[str, pd.DataFrame],
    study: str,
    criterion: str,
    metric: str,
    judge: str = "none",
) -> tuple[float, int]:
    key, people, scores = ["doc_id", "author"], notes["ratings"], notes["scores"]
    people = people[(people["study"] == study) & (people["criterion"] == criterion)]
    scores = scores[(scores["metric"] == metric) & (scores["judge"] == judge)]
    values = scores[
        (scores["part"] == "full") & scores["author"].isin(SYSTEMS)
    ].set_index(key)
    both = pd.concat(
        [values["value"], people.groupby(key)["value"].mean()], axis=1
    ).dropna()
    sign = -1 if metric == "errors" else 1
    return sign * float(stats.pearsonr(*both.to_numpy().T).statistic), len(both)


def test_each_correlation_is_scipys(
    notes: dict[str, pd.DataFrame], of_notes: pd.DataFrame
) -> None:
    names = [("best", "none"), ("good", "none"), ("poor", "j"), ("errors", "none")]
    for study in STUDIES:
        for criterion, name in product(COUNTS if study == "exam" else RATES, names):
            row = of_notes.loc[(study, criterion, *name)]
            value, n = by_hand(notes, study, criterion, *name)
            assert row["value"] == pytest.approx(value, abs=1e-12)
            assert row["n"] == n
            assert row["low"] <= row["value"] <= row["high"]
    assert "length" not in of_notes.index.get_level_values("metric")
    assert tables.metrics_of_notes({**notes, "ratings": notes["ratings"][:0]}).empty


def test_aggregate_and_averages(
    notes: dict[str, pd.DataFrame], of_notes: pd.DataFrame
) -> None:
    for metric in ("best", "errors"):
        each = {
            key: by_hand(notes, *key, metric)[0]
            for key in product(("visits", "films"), RATES)
        }
        each |= {("exam", of): by_hand(notes, "exam", of, metric)[0] for of in COUNTS}
        values = of_notes["value"].xs((metric, "none"), level=("metric", "judge"))
        for study in ("visits", "films"):
            f1, hallucinated, omitted = (each[study, name] for name in RATES[2:])
            whole = (2 * f1 - hallucinated - omitted) / 4
            assert values[study, "aggregate"] == pytest.approx(whole, abs=1e-12)
        mean = {
            name: (each["visits", name] + each["films", name]) / 2 for name in RATES
        }
        for rate, count in zip(RATES[3:], COUNTS, strict=True):
            mean[rate] = (mean[rate] + each["exam", count]) / 2
        mean["aggregate"] = (2 * mean[RATES[2]] - mean[RATES[3]] - mean[RATES[4]]) / 4
        for name, value in mean.items():
            assert values["average", name] == pytest.approx(value)


def test_places_have_the_good_sign_and_what_is_far_behind_is_told(
    of_notes: pd.DataFrame,
) -> None:
    ranked = of_notes.drop(index="good", level="metric")
    recall = ranked.loc["visits", "factual_recall"]
    omission = ranked.loc["visits", "omission_rate"]
    assert recall["value"].idxmax() == recall["place"].eq(1).idxmax()
    assert omission["value"].idxmin() == omission["place"].eq(1).idxmax()
    assert sorted(recall["place"]) == [1, 2, 3, 4, 5]
    # scores seven in ten texts: others than the rest
    good = of_notes.xs("good", level="metric")
    assert good[["place", "p"]].isna().all(axis=None)
    assert good["value"].notna().all()
    average = ranked.loc["average", "aggregate"]
    assert average.loc[("poor", "j"), "p"] < 0.05
    assert average["p"].isna().sum() == 1
    near = average[average["place"] == 2]["p"].iloc[0]
    assert near > average.loc[("poor", "j"), "p"]
