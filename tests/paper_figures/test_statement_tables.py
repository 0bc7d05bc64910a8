"""Tables of single statements for figures, against pandas and scipy, and by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from metassay.paper_figures.estimates import ADDED, ALONE
from metassay.paper_figures.statement_tables import (
    AVERAGE,
    EVERY,
    correlation_spread,
    distilled,
    errors_by_position,
    least_copied_statements,
    sizes,
    statement_correlations,
    tuning_by_use,
)

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
    ("regressor@gain", "distilled", "higher"): random.normal(size=len(STATEMENTS)) - 5 * ERRORS,
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
    found: Values = stats.zscore(turned * values)
    return found + stats.zscore(COPIED)


def test_shares_of_statements_are_by_the_coverage_of_what_a_metric_reads() -> None:
    found = least_copied_statements(frames()).set_index(["metric", "share", "what"])
    assert set(found["criterion"]) == {"error"}
    for metric, coverage in (("close@gain", "coverage@gain"), ("close@full", "coverage@full")):
        values, copied = (
            METRICS[name, "none", b] for name, b in ((metric, "higher"), (coverage, "neither"))
        )
        for share, n in (("25", 12), ("50", 24), ("75", 36), ("100", 48)):
            least = np.argsort(copied)[:n]
            expected = stats.pearsonr(values[least], ERRORS[least]).statistic
            assert found.loc[(metric, share, ALONE), "value"] == pytest.approx(expected)
            assert found.loc[(metric, share, ALONE), "n"] == n
    assert found.loc[("close@gain", "100", ADDED), "value"] == pytest.approx(r(both("close@gain")))
    assert ("coverage@gain", "100", ALONE) in found.index
    assert ("coverage@gain", "100", ADDED) not in found.index


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
    found = distilled(frames())
    ours = METRICS["regressor@gain", "distilled", "higher"]
    others = {
        "doubt@gain": -METRICS["doubt@gain", "none", "lower"],
        "close@gain": METRICS["close@gain", "none", "higher"],
        "close@full": METRICS["close@full", "none", "higher"],
    }
    each = found[found["which"] == "other"].set_index("metric")
    assert set(each.index) == set(others)
    best = found[found["which"] == "best other"]
    assert list(best["metric"]) == ["doubt@gain"]
    for name, values in others.items():
        row = each.loc[name]
        assert row["value"] == pytest.approx(r(values))
        assert row["less"] == pytest.approx(r(ours) - r(values))
        assert row["p"] == pytest.approx(p_of(ours, values))
        assert row["less_low"] < row["less"] < row["less_high"]
    assert best.drop(columns="which").to_dict("records") == [
        {"metric": "doubt@gain", **each.loc["doubt@gain"].drop("which")}
    ]
    assert 0 < best["p"].item() < 0.5
    distilled_one = found[found["which"] == "distilled"].squeeze()
    assert distilled_one["metric"] == "regressor@gain (distilled)"
    assert distilled_one["value"] == pytest.approx(r(ours))
    assert np.isnan(distilled_one["p"])


def test_with_coverage_the_best_one_is_chosen_anew() -> None:
    found = distilled(frames()).set_index("which")
    others = {name: both(name, turned) for name, turned in (("doubt@gain", -1), ("close@gain", 1))}
    best = min(others, key=lambda name: r(others[name]))
    ours, row = both("regressor@gain"), found.loc["best other with coverage"]
    assert row["metric"] == best
    assert row["value"] == pytest.approx(r(others[best]))
    assert row["less"] == pytest.approx(r(ours) - r(others[best]))
    assert row["p"] == pytest.approx(p_of(ours, others[best]))
    assert found.loc["distilled with coverage", "value"] == pytest.approx(r(ours))


def test_without_a_distilled_metric_there_are_the_others_alone() -> None:
    given = frames()
    scores = given["statement_scores"]
    given["statement_scores"] = scores[scores["judge"] == "none"]
    found = distilled(given)
    assert set(found["which"]) == {"other", "best other", "best other with coverage"}
    assert found["less"].isna().all()


def test_errors_by_place_are_means_over_statements() -> None:
    found = errors_by_position({"ratings": marks()}).set_index(["author", "place"])
    errors = pd.Series(ERRORS, index=pd.MultiIndex.from_tuples(STATEMENTS, names=KEY))
    for place, expected in errors.groupby("number").mean().items():
        assert found.loc[(EVERY, str(place + 1)), "value"] == pytest.approx(expected)
        assert found.loc[(EVERY, str(place + 1)), "n"] == 16
    for (author, place), expected in errors.groupby(["author", "number"]).mean().items():
        assert found.loc[(author, str(place + 1)), "value"] == pytest.approx(expected)
    assert len(found) == 9


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
    others = [wanted.assign(**{name: "other", "value": 5.0}) for name in ("part", "level")]
    return pd.concat([wanted, *others]).assign(low=0.0, high=0.0, n=9)


def test_names_of_metrics_fall_into_their_pieces() -> None:
    found = statement_correlations({"correlations": correlations()}).set_index(["metric", "judge"])
    assert len(found) == 8
    pieces = ["base", "alignment", "by"]
    assert found.loc[("b@gain@text", "tuned_gain"), pieces].tolist() == ["b", "gain", "text"]
    assert found.loc[("doubt@gain", "untrained"), pieces].tolist() == ["doubt", "gain", "statement"]


def test_means_by_tuning_and_use() -> None:
    """By hand: -.4 = (-.5 - .3) / 2; averages are of the means, each counted once."""
    found = tuning_by_use({"correlations": correlations()}).set_index(["tuning", "use"])["value"]
    assert found.to_dict() == pytest.approx(
        {
            **{("gain", "gain"): -0.4, ("gain", "full"): -0.1, ("gain", AVERAGE): -0.25},
            **{("full", "gain"): -0.2, ("full", "full"): -0.4, ("full", AVERAGE): -0.3},
            **{(AVERAGE, "gain"): -0.3, (AVERAGE, "full"): -0.25, (AVERAGE, AVERAGE): -0.275},
        }
    )


def test_spreads_are_of_metrics_with_a_direction_turned_so_that_more_is_better() -> None:
    better = {"b@gain": "higher", "b@full": "higher", "c@gain": "higher", "doubt@gain": "lower"}
    better |= {"coverage@gain": "neither", "b@gain@text": "higher"}
    scores = pd.DataFrame(better.items(), columns=["metric", "better"])
    found = correlation_spread({"correlations": correlations(), "statement_scores": scores})
    draws = found.set_index("alignment")["draws"].to_dict()
    assert draws["gain"] == pytest.approx([-0.7, -0.5, -0.3, -0.2])
    assert draws["full"] == pytest.approx([-0.4, -0.1])
    assert len(draws[EVERY]) == 6
    assert found.set_index("alignment").loc["gain", "value"] == pytest.approx(-0.425)


def test_sizes_by_hand() -> None:
    sources = pd.DataFrame(
        {
            "doc_id": ["a", "b"],
            "passages": [["one two", "three"], ["four"]],
            "group": [["E", "A"], ["E"]],
        }
    )
    texts = [
        ("a", "reference", "full", "x y z"),
        ("a", "x", "full", "y"),
        ("a", "reference", "p", "y"),
    ]
    parts = pd.DataFrame(texts, columns=["doc_id", "author", "part", "text"])
    said = [("a", "reference", "statement")] * 2 + [
        ("a", "reference", "claim"),
        ("a", "x", "statement"),
    ]
    units = pd.DataFrame(said, columns=["doc_id", "author", "kind"])
    found = sizes({"sources": sources, "parts": parts, "units": units}).set_index("what")["value"]
    assert found.to_dict() == {
        **{"documents": 2.0, "notes": 1.5, "source_words": 2.0},
        **{"reference_sentences": 2.0, "reference_words": 3.0},
    }
    systems = {"parts": parts[parts["author"] == "x"], "units": units[units["author"] == "x"]}
    assert len(sizes({"sources": sources, **systems})) == 3
