"""Judges' grades beside people's: by hand, and beside scikit-learn and the package krippendorff."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from metassay.core.options import Criterion
from metassay.meta_evaluation.summaries import rubric_agreement
from metassay.statistics.document_means import Resampling

HOW = Resampling(80, 0.9, 3)
NAMES = ("percent", "cohen_kappa_quadratic", "krippendorff_alpha_ordinal")
CRITERIA = pd.DataFrame(
    [
        {"rubric": "form", "criterion": "clear", "metric": "form_clear", "kind": "scale"},
        {"rubric": "form", "criterion": "slips", "metric": "form_slips", "kind": "penalties"},
        {"rubric": "form", "criterion": "overall", "metric": "form_overall", "kind": "overall"},
    ]
).assign(
    position=range(3),
    low=[1.0, 0.0, 1.0],
    high=[4.0, None, 4.0],
    value=["share", "grade", "grade"],
    better=["higher", "lower", "higher"],
)
SCALES = {
    "clear": Criterion(low=0, high=1, better="higher", scale="ordinal"),
    "slips": Criterion(low=0, high=9, better="lower", scale="count"),
    "overall": Criterion(low=0, high=1, better="higher"),
}


def scored(values, metric="form_clear", unit=4.0):
    return pd.DataFrame(
        {
            **{"doc_id": f"d{n // 2}", "author": "ab"[n % 2], "part": "full", "judge": "gpt"},
            **{"metric": metric, "value": value / unit},
        }
        for n, value in enumerate(values)
    )


def rated(values, rater, criterion="clear", unit=4.0):
    return pd.DataFrame(
        {
            **{"study": "s", "doc_id": f"d{n // 2}", "author": "ab"[n % 2], "part": "full"},
            **{"unit": "text", "rater": rater, "criterion": criterion, "value": value / unit},
        }
        for n, value in enumerate(values)
    )


def test_each_coefficient_beside_other_programs():
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 5, 40)
    judge, ann, bob = (
        np.clip(truth + rng.integers(-1, 2, 40), 1, 4).astype(float) for _ in range(3)
    )
    judge[:3], ann[5:15], bob[12:18], ann[39], bob[39] = [np.nan] * 5
    ratings = pd.concat([rated(ann, "ann"), rated(bob, "bob")])
    found = rubric_agreement(CRITERIA, scored(judge), ratings, SCALES, HOW)
    assert list(found["coefficient"]) == list(NAMES)
    pairs = []
    for one in (ann, bob):
        both = np.isfinite(one) & np.isfinite(judge)
        x, y = judge[both].astype(int), one[both].astype(int)
        pairs.append((np.mean(x == y), cohen_kappa_score(x, y, weights="quadratic")))
    somebody = np.isfinite(judge) & (np.isfinite(ann) | np.isfinite(bob))
    alpha = krippendorff.alpha(
        np.stack([judge, ann, bob])[:, somebody], level_of_measurement="ordinal"
    )
    assert found["value"].tolist() == pytest.approx([*np.mean(pairs, axis=0), alpha])
    # Nobody graded four texts: 12, 13, 14 and 39; the judge lacks three others.
    assert set(found["n"]) == {40 - 4 - 3}
    assert set(found["n_missing"]) == {3}
    assert set(found["n_raters"]) == {2}
    assert ((found["low"] < found["value"]) & (found["value"] < found["high"])).all()


def test_shares_that_a_file_rounds_are_levels():
    thirds = CRITERIA.assign(high=3.0)
    judge = scored([1, 2, 3, 2], unit=3.0)
    ann = rated([1, 2, 3, 3], "ann", unit=3.0).round(2)
    found = rubric_agreement(thirds, judge, ann, SCALES, HOW)
    assert found["value"][0] == 0.75


def test_penalties_and_grades_that_cannot_be_compared():
    judge, ann = [0, 2, 5, 1], [0, 2, 4, 1]
    scores = scored(judge, "form_slips", 1.0)
    ratings = rated(ann, "ann", "slips", 1.0)
    found = rubric_agreement(CRITERIA, scores, ratings, SCALES, HOW)
    assert found["value"][0] == 0.75
    between = ratings.assign(value=ratings["value"] + 0.5)  # no number of penalties
    assert rubric_agreement(CRITERIA, scores, between, SCALES, HOW).empty
    turned = SCALES | {"slips": Criterion(low=0, high=9, better="higher")}
    assert rubric_agreement(CRITERIA, scores, ratings, turned, HOW).empty
    below = scored([1, 2, 3, 4]), rated([0, 2, 3, 4], "ann")  # no level of 1 to 4
    assert rubric_agreement(CRITERIA, *below, SCALES, HOW).empty
    one = (
        scores.assign(doc_id="d", author=list("abcd")),
        ratings.assign(doc_id="d", author=list("abcd")),
    )
    alone = rubric_agreement(CRITERIA, *one, SCALES, HOW)
    assert alone["value"][0] == 0.75
    assert alone[["low", "high"]].isna().all(axis=None)
