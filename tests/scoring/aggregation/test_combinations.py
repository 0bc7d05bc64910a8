"""Means of standardised scores, against scipy's z-scores and numbers worked out by hand."""

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
SYSTEMS = ("one", "two", "three")
UP, DOWN, NEITHER = (
    Description(name, "", better, (None, None), "", "", COPYING)
    for name, better in (("up", "higher"), ("down", "lower"), ("long", "neither"))
)
KNOWN = {one.name: one for one in (UP, DOWN, NEITHER)}


Values = dict[tuple[str, str], float | None]


def scores(metric: str, values: Values, **more: object) -> pd.DataFrame:
    rows = [
        {
            **{"doc_id": doc_id, "author": author, "part": "full", "metric": metric},
            **{"judge": "none", "value": value, "n_expected": 1, "n_failed": 0, "n_judged": 1},
            **{"low": None, "high": None, "statistics": None, "recipe": f"recipe of {metric}"},
            **more,
        }
        for (doc_id, author), value in values.items()
    ]
    return pd.DataFrame(rows)[list(SCORES.columns)].astype({"value": "float64"})


def drawn(*authors: str) -> Values:
    return {(f"d{n}", author): float(RNG.normal(3, 2)) for n in range(7) for author in authors}


def of(frame: pd.DataFrame, author: str) -> "pd.Series[float]":
    return frame[frame["author"] == author].set_index("doc_id")["value"].sort_index()


def test_the_mean_of_z_values_of_systems_texts() -> None:
    every = pd.concat(
        [scores("up", drawn(*SYSTEMS, "reference")), scores("down", drawn(*SYSTEMS), judge="j")]
    )
    found = combined_scores(every, {"both": Combination(metrics=["up", "down (j)"])}, KNOWN)
    up, down = (
        every[(every["metric"] == name) & (every["author"] != "reference")]
        .sort_values(["doc_id", "author"])["value"]
        .to_numpy()
        for name in ("up", "down")
    )
    expected = (zscore(up) - zscore(down)) / 2
    found = found.sort_values(["doc_id", "author"])
    assert np.abs(found["value"].to_numpy() - expected).max() < 1e-12
    assert set(found["author"]) == set(SYSTEMS)  # the reference has no second metric
    assert set(found["n_expected"]) == {2}
    assert found["recipe"].nunique() == 1


def test_a_reference_is_standardised_but_has_no_say() -> None:
    with_it, without = drawn(*SYSTEMS, "reference"), {}
    without = {key: value for key, value in with_it.items() if key[1] != "reference"}
    block = {"both": Combination(metrics=["up", "down"])}
    found = combined_scores(
        pd.concat([scores("up", with_it), scores("down", with_it)]), block, KNOWN
    )
    alone = combined_scores(
        pd.concat([scores("up", without), scores("down", without)]), block, KNOWN
    )
    assert of(found, "two").equals(of(alone, "two"))
    assert np.isfinite(of(found, "reference")).all()


def test_a_kept_population_makes_a_value_independent_of_other_texts() -> None:
    moments = {"up": Moments(mean=0, sd=1), "long": Moments(mean=2, sd=2)}
    kept = Population(name="visits", moments=moments)
    block = {"both": Combination(metrics=["up", "long"], population=kept)}
    known = {**KNOWN, "long": KNOWN["up"]}
    texts = {("a", "one"): 1.0, ("b", "one"): 3.0}
    lengths = {("a", "one"): 4.0, ("b", "one"): 8.0}
    every = pd.concat([scores("up", texts), scores("long", lengths)])
    found = combined_scores(every, block, known)
    assert of(found, "one").to_dict() == {"a": 1.0, "b": 3.0}
    one = combined_scores(every[every["doc_id"] == "b"], block, known)
    assert of(one, "one").to_dict() == {"b": 3.0}
    assert "visits" in str(found["recipe"].iloc[0])


def test_moments_in_the_recipe_give_the_same_numbers_again() -> None:
    every = pd.concat([scores("up", drawn(*SYSTEMS)), scores("down", drawn(*SYSTEMS))])
    found = combined_scores(every, {"both": Combination(metrics=["up", "down"])}, KNOWN)
    recipe = str(found["recipe"].iloc[0])
    moments = {}
    for label in ("up", "down"):
        printed = recipe.split(f"{label}: mean ")[1].split(" {", maxsplit=1)[0]
        mean, sd = printed.split(", sd ")
        moments[label] = Moments(mean=float(mean), sd=float(sd))
    kept = Combination(metrics=["up", "down"], population=Population(name="x", moments=moments))
    again = combined_scores(every, {"both": kept}, KNOWN)
    assert again["value"].equals(found["value"])


def test_each_part_has_its_own_moments() -> None:
    first, second = drawn(*SYSTEMS), drawn(*SYSTEMS)
    far = {key: 100 + 50 * value for key, value in second.items() if value is not None}
    block = {"both": Combination(metrics=["up", "down"])}

    def both(part: str, values: Values) -> pd.DataFrame:
        turned = {key: -value for key, value in values.items() if value is not None}
        return pd.concat([scores("up", values, part=part), scores("down", turned, part=part)])

    every = pd.concat([both("full", first), both("plan", dict(far))])
    found = combined_scores(every, block, KNOWN)
    by_part = {part: rows["value"].to_numpy() for part, rows in found.groupby("part")}
    for values in by_part.values():
        assert abs(values.mean()) < 1e-12
        assert abs(values.std() - 1) < 1e-12


def test_unknown_is_not_average() -> None:
    values = drawn(*SYSTEMS)
    gap = {**values, ("d0", "one"): None}
    lost = scores("down", values)
    lost.loc[0, "n_failed"] = 1
    every = pd.concat([scores("up", gap), lost])
    found = combined_scores(every, {"both": Combination(metrics=["up", "down"])}, KNOWN)
    where = (found["doc_id"] == "d0") & (found["author"] == "one")
    assert found.loc[where, "value"].isna().all()
    assert found.loc[~where, "value"].notna().all()
    assert found["n_failed"].sum() == 1
    # The text with the gap takes no part in either metric's moments.
    rest = {key: value for key, value in values.items() if key != ("d0", "one")}
    alone = combined_scores(
        pd.concat([scores("up", rest), scores("down", rest)]),
        {"both": Combination(metrics=["up", "down"])},
        KNOWN,
    )
    assert alone["value"].tolist() == found.loc[~where, "value"].tolist()


@pytest.mark.parametrize("last_digit", [0.0, 1e-16])
def test_a_metric_without_spread_has_no_z_value(last_digit: float) -> None:
    same: Values = {key: 0.3 + n % 2 * last_digit for n, key in enumerate(drawn(*SYSTEMS))}
    assert len(set(same.values())) == 1 + bool(last_digit)
    every = pd.concat([scores("up", drawn(*SYSTEMS)), scores("down", same)])
    found = combined_scores(every, {"both": Combination(metrics=["up", "down"])}, KNOWN)
    assert found["value"].isna().all()
    assert len(found) == len(same)


def test_all_that_is_wrong_is_told_at_once() -> None:
    every = pd.concat([scores("up", drawn("one")), scores("long", drawn("one"))])
    blocks = {
        "a": Combination(metrics=["up", "nobody"]),
        "b": Combination(metrics=["long", "up (judge)"]),
    }
    with pytest.raises(BadInput) as caught:
        combined_scores(every, blocks, KNOWN)
    said = "\n".join(caught.value.problems)
    assert [name in said for name in ("'nobody'", "'long'", "'up (judge)'")] == [True] * 3


@pytest.mark.parametrize(
    "block",
    [
        {"metrics": ["up"]},
        {"metrics": ["up", "up"]},
        {"metrics": ["up", "down"], "population": {"name": "x", "moments": {}}},
        {
            "metrics": ["up", "down"],
            "population": {
                "name": "x",
                "moments": {"up": {"mean": 0, "sd": 1}, "down": {"mean": 0, "sd": 0}},
            },
        },
    ],
)
def test_a_block_that_says_nothing_sound_is_refused(block: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Combination.model_validate(block)
