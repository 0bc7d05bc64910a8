import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from metassay.contract import empty, read, write
from metassay.errors import BadInput
from metassay.meta_evaluation import MetaOptions, agree_all, correlate_all, human_scores
from metassay.params import Criterion
from metassay.statistics.correlation import correlate
from metassay.tables import AGREEMENT, CORRELATIONS, RATINGS, SCORES

OPTIONS = MetaOptions(resamples=200, confidence=0.9, seed=0)
CRITERIA = {
    "coverage": Criterion(low=0, high=1, better="higher", scale="nominal"),
    "errors": Criterion(low=0, high=10, better="lower"),
    "grade": Criterion(low=1, high=5, better="higher", scale="ordinal"),
    "preference": Criterion(low=0, high=1, better="higher", scale="ordinal"),
}


def rate(criterion, author, doc, rater, value, *, unit="text", part="full"):
    return ("s1", doc, author, part, unit, rater, criterion, value)


def ratings_of(*rows):
    frame = pd.DataFrame(rows, columns=list(RATINGS.columns))
    return frame.astype({name: "str" for name in RATINGS.key} | {"value": "float64"})


def scores_of(values, *, metric="m", judge="none", part="full", recipe="m|v1"):
    """values: (doc_id, author) -> value."""
    rows = [
        {
            "doc_id": doc,
            "author": author,
            "part": part,
            "metric": metric,
            "judge": judge,
            "value": value,
            "n_expected": 1,
            "n_judged": 1,
            "n_failed": 0,
            "recipe": recipe,
        }
        for (doc, author), value in values.items()
    ]
    return pd.DataFrame(rows, columns=list(SCORES.columns))


def one(frame, **key):
    for name, value in key.items():
        frame = frame[frame[name] == value]
    (row,) = frame.to_dict("records")
    return row


def study(seed=0, documents=6):
    """Three systems, errors counted by one rater, and scores that fall with them."""
    rng = np.random.default_rng(seed)
    keys = [(f"d{d}", a) for d in range(documents) for a in ("x", "y", "z")]
    errors = dict(zip(keys, rng.integers(0, 10, len(keys)).astype(float), strict=True))
    ratings = ratings_of(*(rate("errors", a, d, "r", v) for (d, a), v in errors.items()))
    scores = {key: -value + rng.normal() for key, value in errors.items()}
    return ratings, scores, errors


def test_claims_are_averaged_by_rater_then_over_raters():
    rows = [
        rate("coverage", "x", "d", "amy", value, unit=f"claim:{n}")
        for n, value in enumerate((1, 1, 0, 0))
    ]
    rows.append(rate("coverage", "x", "d", "bob", 1, unit="claim:0"))
    rows.append(rate("coverage", "x", "d", "bob", None, unit="claim:1"))  # abstained
    rows.append(rate("coverage", "reference", "d", "bob", 0, unit="claim:0"))
    (row,) = human_scores(ratings_of(*rows), CRITERIA).to_dict("records")
    # Amy 2/4, Bob 1/1: (.5 + 1) / 2; pooled over ratings it would be 3/5.
    assert row["value"] == 0.75
    assert (row["study"], row["doc_id"], row["author"]) == ("s1", "d", "x")


def test_preferences_become_rates_of_wins():
    rows = [
        rate("preference", "x", "d", "amy", 1, unit="versus:y"),
        rate("preference", "x", "d", "amy", 0.5, unit="versus:z"),
        rate("preference", "y", "d", "amy", 0, unit="versus:z"),
        rate("preference", "x", "d", "bob", 0, unit="versus:y"),
        rate("preference", "x", "d", "bob", None, unit="versus:z"),
        rate("preference", "reference", "d", "bob", 1, unit="versus:y"),
    ]
    found = human_scores(ratings_of(*rows), CRITERIA).set_index("author")["value"]
    # Amy: x won and tied 1.5/2, y lost twice 0, z tied and won 1.5/2.
    # Bob: x lost 0; y beat x and lost against the reference 1/2; z was never judged.
    assert found.to_dict() == {"x": 0.375, "y": 0.25, "z": 0.75}


def test_a_comparison_is_mirrored_on_its_own_scale():
    rows = [rate("grade", "x", "d", "amy", 2, unit="versus:y")]
    found = human_scores(ratings_of(*rows), CRITERIA).set_index("author")["value"]
    assert found.to_dict() == {"x": 2, "y": 4}


def test_correlations_by_hand():
    ratings = ratings_of(
        *(
            rate("errors", author, doc, "r", value)
            for doc, values in {"d1": (1, 2, 3), "d2": (2, 2, 9), "d3": (5, 5, 5)}.items()
            for author, value in zip("xyz", values, strict=True)
        )
    )
    scores = scores_of(
        {
            ("d1", "x"): 3.0,
            ("d1", "y"): 2.0,
            ("d1", "z"): 1.0,
            ("d2", "x"): 1.0,
            ("d2", "y"): 3.0,
            ("d2", "z"): None,  # its text failed
            ("d3", "x"): 1.0,
            ("d3", "y"): 2.0,
            ("d1", "reference"): 9.0,  # was not rated and takes no part
            ("d1", "w"): 9.0,
            ("d9", "x"): 9.0,
        }
    )
    found = correlate_all(scores, ratings, CRITERIA, OPTIONS)
    assert len(found) == 9
    # Document d1: all three pairs reversed, -1. d2: y - x alone, people tie; d3: people tie.
    row = one(found, level="document", coefficient="kendall")
    assert (row["value"], row["n"], row["n_undefined"], row["n_missing"]) == (-1, 1, 2, 2)
    assert np.isnan(row["p"])
    assert np.isnan(row["low"])  # one document alone says nothing about others
    # Systems: x scores (3 + 1 + 1)/3 against (1 + 2 + 5)/3; y (2 + 3 + 2)/3 against 9/3; z has
    # both in d1 only: 1 against 3. Pairs: xy concordant, xz reversed, yz tied by people.
    row = one(found, level="system", coefficient="kendall")
    assert row["value"] == pytest.approx(0)
    assert (row["n"], row["n_undefined"], row["n_missing"]) == (3, 0, 2)
    row = one(found, level="global", coefficient="pearson")
    x, y = (3, 2, 1, 1, 3, 1, 2), (1, 2, 3, 2, 2, 5, 5)
    assert row["value"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert (row["n"], row["n_undefined"], row["n_missing"]) == (7, 0, 2)
    assert row["low"] <= row["value"] <= row["high"]
    assert row["recipe"] == "m|v1"
    assert set(found["n_resamples"][found["level"] == "global"]) <= set(range(150, 201))


def test_the_sign_is_true():
    ratings, scores, _ = study()
    found = correlate_all(scores_of(scores), ratings, CRITERIA, OPTIONS)
    assert (found["value"][found["level"] == "global"] < -0.5).all()
    assert (found["p"][found["level"] == "global"] < 0.01).all()


def test_each_metric_judge_and_part_on_its_own():
    ratings, scores, errors = study()
    section = ratings.assign(part="plan")
    both = pd.concat([ratings, section, ratings.assign(study="s2")])
    every = pd.concat(
        [
            scores_of(scores),
            scores_of(errors, judge="nli"),
            scores_of(errors, part="plan"),
            scores_of(errors, part="other"),
        ]
    )
    done = []
    found = correlate_all(
        every, both, CRITERIA, OPTIONS, progress=lambda n, of: done.append((n, of))
    )
    groups = found.groupby(["study", "part", "metric", "judge"]).size()
    assert groups.to_dict() == {
        ("s1", "full", "m", "nli"): 9,
        ("s1", "full", "m", "none"): 9,
        ("s1", "plan", "m", "none"): 9,
        ("s2", "full", "m", "nli"): 9,
        ("s2", "full", "m", "none"): 9,
    }
    assert done == [(n, 5) for n in (1, 2, 3, 4, 5)]
    of_errors = found[(found["part"] == "plan") | (found["judge"] == "nli")]
    assert of_errors["value"].to_numpy() == pytest.approx(1)


def test_nothing_hangs_on_order_or_company(tmp_path):
    ratings, scores, errors = study()
    alone = correlate_all(scores_of(scores), ratings, CRITERIA, OPTIONS)
    company = pd.concat([scores_of(errors, metric="a"), scores_of(scores)])
    others = pd.concat([ratings, ratings.assign(study="s0")])
    shuffled = correlate_all(
        company.sample(frac=1, random_state=1),
        others.sample(frac=1, random_state=2),
        CRITERIA,
        OPTIONS,
    )
    mine = shuffled[(shuffled["study"] == "s1") & (shuffled["metric"] == "m")]
    write(CORRELATIONS, alone, tmp_path / "alone.parquet")
    write(CORRELATIONS, mine, tmp_path / "mine.parquet")
    assert (tmp_path / "alone.parquet").read_bytes() == (tmp_path / "mine.parquet").read_bytes()
    assert len(read(CORRELATIONS, tmp_path / "mine.parquet")) == 9
    reseeded = OPTIONS.model_copy(update={"seed": 1})
    again = correlate_all(scores_of(scores), ratings, CRITERIA, reseeded)
    assert (again["value"] == alone["value"]).all()
    assert (again["low"] != alone["low"]).any()


def test_metrics_share_draws():
    ratings, scores, _ = study()
    doubled = {key: 2 * value for key, value in scores.items()}
    every = pd.concat([scores_of(scores), scores_of(doubled, metric="twice")])
    found = correlate_all(every, ratings, CRITERIA, OPTIONS)
    ends = [found.loc[found["metric"] == m, ["low", "high"]].to_numpy() for m in ("m", "twice")]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


@pytest.mark.parametrize("resample", ["documents", "systems", "both"])
def test_resampling_is_as_asked(resample):
    ratings, scores, _ = study(documents=1)
    options = OPTIONS.model_copy(update={"resample": resample})
    found = correlate_all(scores_of(scores), ratings, CRITERIA, options)
    known = not np.isnan(one(found, level="global", coefficient="pearson")["low"])
    assert known == (resample == "systems")


def test_equal_ratings_are_tied_whatever_the_order_of_summation():
    # Three raters give x .1 .2 .3 in other orders; the mean of floats depends on the order.
    ratings = ratings_of(
        *(
            rate("errors", author, "d", rater, value)
            for author, values in {
                "x": (0.1, 0.2, 0.3),
                "y": (0.3, 0.2, 0.1),
                "z": (1, 1, 1),
            }.items()
            for rater, value in zip(("r1", "r2", "r3"), values, strict=True)
        )
    )
    scores = scores_of({("d", "x"): 1.0, ("d", "y"): 2.0, ("d", "z"): 3.0})
    row = one(
        correlate_all(scores, ratings, CRITERIA, OPTIONS), level="global", coefficient="kendall"
    )
    assert row["value"] == pytest.approx(2 / np.sqrt(6))


def test_a_metric_without_a_shared_text_has_rows_that_say_so():
    ratings, scores, _ = study()
    elsewhere = {(f"other {doc}", author): value for (doc, author), value in scores.items()}
    found = correlate_all(scores_of(elsewhere), ratings, CRITERIA, OPTIONS)
    assert found["value"].isna().all()
    assert (found["n"] == 0).all()
    assert (found["n_missing"] == 18).all()
    assert (found["n_resamples"] == 0).all()


def test_recipes_are_never_mixed():
    ratings, scores, _ = study()
    mixed = scores_of(scores)
    mixed.loc[0, "recipe"] = "m|v2"
    with pytest.raises(BadInput, match=r"m \(judge none, part full\) mixes 2 recipes"):
        correlate_all(mixed, ratings, CRITERIA, OPTIONS)


def test_a_criterion_must_be_declared():
    ratings, scores, _ = study()
    ratings["criterion"] = "erors"
    for call in (
        lambda: correlate_all(scores_of(scores), ratings, CRITERIA, OPTIONS),
        lambda: agree_all(ratings, CRITERIA),
        lambda: human_scores(ratings, CRITERIA),
    ):
        with pytest.raises(BadInput, match="criterion 'erors' is not declared"):
            call()


def test_empty_tables(tmp_path):
    ratings, scores, _ = study()
    for found in (
        correlate_all(scores_of(scores), empty(RATINGS), CRITERIA, OPTIONS),
        correlate_all(empty(SCORES), ratings, CRITERIA, OPTIONS),
    ):
        assert len(found) == 0
        write(CORRELATIONS, found, tmp_path / "c.parquet")
    found = agree_all(empty(RATINGS), CRITERIA)
    write(AGREEMENT, found, tmp_path / "a.parquet")
    assert len(read(AGREEMENT, tmp_path / "a.parquet")) == 0


def test_values_are_those_of_correlate():
    ratings, scores, errors = study(seed=3)
    found = correlate_all(scores_of(scores), ratings, CRITERIA, OPTIONS)
    metric, human = (
        np.array([[values[f"d{d}", a] for d in range(6)] for a in "xyz"])
        for values in (scores, errors)
    )
    for row in found.to_dict("records"):
        expected = correlate(metric, human, row["level"], row["coefficient"])
        assert [row[name] for name in expected._fields] == pytest.approx(
            list(expected), nan_ok=True
        )


def test_agreement_by_hand(tmp_path):
    amy, bob, cat = (1, 1, 0, 0, 1), (1, 0, 0, 0, 1), (1, None, None, None, None)
    rows = [
        rate("coverage", "x", "d", rater, value, unit=f"claim:{n}")
        for rater, values in (("amy", amy), ("bob", bob), ("cat", cat))
        for n, value in enumerate(values)
    ]
    rows.append(rate("coverage", "x", "d", "bob", 1, unit="claim:9"))
    found = agree_all(ratings_of(*rows), CRITERIA)
    write(AGREEMENT, found, tmp_path / "a.parquet")
    assert len(found) == 3 * 2 + 1
    # 4 of 5 alike, by chance 12/25; Bob alone rated a sixth.
    row = one(found, coefficient="percent", rater_a="amy", rater_b="bob")
    assert (row["value"], row["n"], row["n_missing"]) == (0.8, 5, 1)
    row = one(found, coefficient="cohen_kappa", rater_a="amy", rater_b="bob")
    assert row["value"] == pytest.approx((0.8 - 0.48) / (1 - 0.48))
    row = one(found, coefficient="cohen_kappa", rater_a="amy", rater_b="cat")
    assert (row["n"], row["n_missing"]) == (1, 4)
    assert np.isnan(row["value"])
    row = one(found, rater_a="all")
    assert (row["coefficient"], row["rater_b"]) == ("krippendorff_alpha_nominal", "all")
    assert (row["n"], row["n_missing"]) == (5, 1)
    # 11 ratings of 5 items: 1 1 1 | 1 0 | 0 0 | 0 0 | 1 1, so 6 ones and 5 zeros. Observed 2 of
    # 11, expected 2 * 6 * 5 / (11 * 10).
    assert row["value"] == pytest.approx(1 - (2 / 11) / (60 / 110))


def test_agreement_follows_the_scale():
    rows = [
        rate(criterion, "x", f"d{n}", rater, value)
        for criterion in ("errors", "grade")
        for rater, values in (("amy", (1, 2, 3, 4)), ("bob", (1, 2, 4, 5)))
        for n, value in enumerate(values)
    ]
    found = agree_all(ratings_of(*rows), CRITERIA)
    by = found.groupby("criterion")["coefficient"].apply(list).to_dict()
    assert by == {
        "errors": ["percent", "krippendorff_alpha_interval"],
        "grade": ["percent", "cohen_kappa", "krippendorff_alpha_ordinal"],
    }
    assert one(found, criterion="errors", coefficient="percent")["value"] == 0.5


def test_a_comparison_asked_the_other_way_round_is_the_same_thing():
    rows = [
        rate("preference", "x", "d1", "amy", 1, unit="versus:y"),
        rate("preference", "y", "d1", "bob", 0, unit="versus:x"),
        rate("preference", "x", "d2", "amy", 0, unit="versus:reference"),
        rate("preference", "reference", "d2", "bob", 0, unit="versus:x"),
    ]
    row = one(agree_all(ratings_of(*rows), CRITERIA), coefficient="percent")
    assert (row["value"], row["n"], row["n_missing"]) == (0.5, 2, 0)


def test_one_rater_agrees_with_nobody():
    ratings, _, _ = study()
    assert len(agree_all(ratings, CRITERIA)) == 0
    silent = ratings.assign(rater="second", value=np.nan)
    assert len(agree_all(pd.concat([ratings, silent]), CRITERIA)) == 0


@pytest.mark.parametrize(
    "wrong",
    [{"resamples": 0}, {"confidence": 1.0}, {"seed": -1}, {"resample": "texts"}, {"other": 1}],
)
def test_options_are_strict(wrong):
    with pytest.raises(ValidationError):
        MetaOptions(**{"resamples": 10, "confidence": 0.95, "seed": 0} | wrong)
