"""Means of standardised scores, against scipy's z-scores and numbers worked out by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import zscore

from metassay.core.errors import BadInput
from metassay.metrics.describe import COPYING, Description
from metassay.scoring.aggregation.combinations import (
    Combination,
    Moments,
    Population,
    combined_scores,
)
from metassay.tables.scores import SCORES

RNG = np.random.default_rng(5)
SYSTEMS = ("first", "second", "third")
KNOWN = {
    name: Description(name, "", better, (None, None), "", "", COPYING)  # type: ignore[arg-type]
    for name, better in (("up", "higher"), ("down", "lower"), ("long", "neither"))
}
BOTH = Combination(metrics=["up", "down"])
Values = dict[tuple[str, str], float | None]


def scores(metric: str, values: Values, **more: object) -> pd.DataFrame:
    frame = pd.DataFrame(list(values), columns=["doc_id", "author"])
    about = {
        "part": "full",
        "metric": metric,
        "judge": "none",
        "recipe": f"recipe of {metric}",
    }
    counts = {"n_expected": 1, "n_failed": 0, "n_judged": 1}
    ends = {"low": None, "high": None, "statistics": None}
    value = np.array(list(values.values()), dtype=float)
    frame = frame.assign(**about, **counts, **ends, value=value)
    return frame.assign(**more)[list(SCORES.columns)]


def drawn(*authors: str) -> Values:
    return {
        (f"d{n}", author): float(RNG.normal(3, 2))
        for n in range(7)
        for author in authors
    }


def combined(*tables: pd.DataFrame, block: Combination = BOTH) -> pd.DataFrame:
    every = pd.concat(tables)
    return combined_scores(every, {"both": block}, KNOWN).sort_values(
        ["doc_id", "author"]
    )


def of(frame: pd.DataFrame, author: str) -> dict[str, float]:
    return frame[frame["author"] == author].set_index("doc_id")["value"].to_dict()


def test_the_mean_of_z_values_of_systems_texts() -> None:
    up, down = (
        scores("up", drawn(*SYSTEMS, "reference")),
        scores("down", drawn(*SYSTEMS), judge="j"),
    )
    results = combined(up, down, block=Combination(metrics=["up", "down (j)"]))
    sides = [
        zscore(
            table[table["author"] != "reference"].sort_values(["doc_id", "author"])[
                "value"
            ]
        )
        for table in (up, down)
    ]
    expected = (sides[0] - sides[1]) / 2
    assert np.abs(results["value"].to_numpy() - expected).max() < 1e-12
    assert set(results["author"]) == set(SYSTEMS)  # the reference has no second metric
    assert set(results["n_expected"]) == {2}
    assert results["recipe"].nunique() == 1


def test_a_reference_is_standardised_but_has_no_say() -> None:
    values = drawn(*SYSTEMS, "reference")
    without = {key: value for key, value in values.items() if key[1] != "reference"}
    results, alone = (
        combined(scores("up", each), scores("down", each)) for each in (values, without)
    )
    assert of(results, "second") == of(alone, "second")
    assert np.isfinite(list(of(results, "reference").values())).all()


def test_a_population_makes_a_value_independent_of_other_texts() -> None:
    moments = {"up": Moments(mean=0, sd=1), "down": Moments(mean=-2, sd=2)}
    block = Combination(
        **dict(BOTH) | {"population": Population(name="visits", moments=moments)}
    )
    up = scores("up", {("a", "s"): 1.0, ("b", "s"): 3.0})
    down = scores("down", {("a", "s"): -4.0, ("b", "s"): -8.0})
    results = combined(up, down, block=block)
    assert of(results, "s") == {"a": 1.0, "b": 3.0}
    assert of(combined(up[1:], down[1:], block=block), "s") == {"b": 3.0}
    assert "visits" in str(results["recipe"].iloc[0])


def test_moments_in_the_recipe_give_the_same_numbers_again() -> None:
    tables = scores("up", drawn(*SYSTEMS)), scores("down", drawn(*SYSTEMS))
    results = combined(*tables)
    moments = {}
    for label in ("up", "down"):
        recipe = str(results["recipe"].iloc[0]).split(f"{label}: mean ")[1]
        mean, sd = recipe.split(" {", maxsplit=1)[0].split(", sd ")
        moments[label] = Moments(mean=float(mean), sd=float(sd))
    block = Combination(
        **dict(BOTH) | {"population": Population(name="x", moments=moments)}
    )
    assert combined(*tables, block=block)["value"].equals(results["value"])


def test_each_part_has_its_moments() -> None:
    tables = []
    for part, scale in (("full", 1.0), ("plan", 50.0)):
        values = {key: scale * value for key, value in drawn(*SYSTEMS).items() if value}
        turned: Values = {key: -value for key, value in values.items()}
        tables += [
            scores("up", dict(values), part=part),
            scores("down", turned, part=part),
        ]
    for _, rows in combined(*tables).groupby("part"):
        assert abs(rows["value"].mean()) < 1e-12
        assert rows["value"].std(ddof=0) == pytest.approx(1, abs=1e-12)


def test_unknown_is_not_average() -> None:
    values = drawn(*SYSTEMS)
    lost = scores("down", values)
    lost.loc[0, "n_failed"] = 1
    results = combined(scores("up", {**values, ("d0", "first"): None}), lost)
    where = (results["doc_id"] == "d0") & (results["author"] == "first")
    assert results["value"].isna().tolist() == where.tolist()
    assert results["n_failed"].sum() == 1
    # The text with the gap takes no part in either metric's moments.
    rest = {key: value for key, value in values.items() if key != ("d0", "first")}
    alone = combined(scores("up", rest), scores("down", rest))
    assert alone["value"].tolist() == results.loc[~where, "value"].tolist()


@pytest.mark.parametrize("last_digit", [0.0, 1e-16])
def test_a_metric_without_spread_has_no_z_value(last_digit: float) -> None:
    same: Values = {
        key: 0.3 + n % 2 * last_digit for n, key in enumerate(drawn(*SYSTEMS))
    }
    assert len(set(same.values())) == 1 + bool(last_digit)
    results = combined(scores("up", drawn(*SYSTEMS)), scores("down", same))
    assert results["value"].isna().all()
    assert len(results) == len(same)


def test_all_that_is_wrong_is_in_one_message() -> None:
    every = pd.concat([scores("up", drawn("s")), scores("long", drawn("s"))])
    blocks = {
        "a": Combination(metrics=["up", "nobody"]),
        "b": Combination(metrics=["long", "up (judge)"]),
    }
    with pytest.raises(BadInput) as caught:
        combined_scores(every, blocks, KNOWN)
    assert [
        name in line
        for name, line in zip(
            ("'nobody'", "'long'", "'up (judge)'"), caught.value.problems, strict=True
        )
    ] == [True] * 3


@pytest.mark.parametrize(
    "changes",
    [
        {"metrics": ["up"]},
        {"metrics": ["up", "up"]},
        {"population": {"name": "x", "moments": {}}},
        {
            "population": {
                "name": "x",
                "moments": {n: {"mean": 0, "sd": 0} for n in ("up", "down")},
            }
        },
    ],
)
def test_a_block_that_says_nothing_sound_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Combination.model_validate({"metrics": ["up", "down"]} | changes)
