"""Judges' grades beside people's: by hand, and beside scikit-learn and the package krippendorff."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from metassay.core.options import Criterion
from metassay.meta_evaluation.summaries import rubric_agreement
from metassay.statistics.document_means import Resampling
from tests.meta_evaluation.invented_study import rate, ratings_of, scores_of

NAMES = ["percent", "cohen_kappa_quadratic", "krippendorff_alpha_ordinal"]
CRITERIA = pd.DataFrame(
    {
        "rubric": "form",
        "criterion": ["clear", "slips", "overall"],
        "metric": ["form_clear", "form_slips", "form_overall"],
        "kind": ["scale", "penalties", "overall"],
        "position": range(3),
        "low": [1.0, 0.0, 1.0],
        "high": [4.0, None, 4.0],
        "value": ["share", "grade", "grade"],
        "better": ["higher", "lower", "higher"],
    }
)
SCALES = {
    "clear": Criterion(low=0, high=1, better="higher", scale="ordinal"),
    "slips": Criterion(low=0, high=9, better="lower", scale="count"),
    "overall": Criterion(low=0, high=1, better="higher"),
}


def text(n):
    return f"d{n // 2}", "ab"[n % 2]


def scored(values, metric="form_clear", unit=4.0):
    return scores_of(
        {text(n): v / unit for n, v in enumerate(values)}, metric=metric, judge="gpt"
    )


def rated(values, rater="ann", criterion="clear", unit=4.0):
    rows = ((*text(n), value / unit) for n, value in enumerate(values))
    return ratings_of(
        *(rate(criterion, author, doc, rater, v) for doc, author, v in rows)
    )


def compare(scores, ratings, criteria=CRITERIA, scales=SCALES):
    return rubric_agreement(criteria, scores, ratings, scales, Resampling(80, 0.9, 3))


def test_each_coefficient_beside_other_programs():
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 5, 40)
    judge, ann, bob = (
        np.clip(truth + rng.integers(-1, 2, 40), 1, 4).astype(float) for _ in range(3)
    )
    judge[:3], ann[5:15], bob[12:18], ann[39], bob[39] = [np.nan] * 5
    table = compare(scored(judge), pd.concat([rated(ann), rated(bob, "bob")]))
    assert list(table["coefficient"]) == NAMES
    pairs = []
    for rater in (ann, bob):
        both = np.isfinite(rater) & np.isfinite(judge)
        x, y = judge[both].astype(int), rater[both].astype(int)
        pairs.append((np.mean(x == y), cohen_kappa_score(x, y, weights="quadratic")))
    somebody = np.isfinite(judge) & (np.isfinite(ann) | np.isfinite(bob))
    everybody = np.stack([judge, ann, bob])[:, somebody]
    alpha = krippendorff.alpha(everybody, level_of_measurement="ordinal")
    assert table["value"].tolist() == pytest.approx([*np.mean(pairs, axis=0), alpha])
    # Nobody graded four texts: 12, 13, 14 and 39; the judge lacks three others.
    counts = table[["n", "n_missing", "n_raters"]].drop_duplicates()
    assert counts.to_numpy().tolist() == [[40 - 4 - 3, 3, 2]]
    assert ((table["low"] < table["value"]) & (table["value"] < table["high"])).all()


def test_penalties_rounded_shares_and_grades_that_cannot_be_compared():
    ann = rated([1, 2, 3, 3], unit=3.0).round(2)  # shares that a file rounds are levels
    table = compare(scored([1, 2, 3, 2], unit=3.0), ann, CRITERIA.assign(high=3.0))
    assert table["value"][0] == 0.75
    scores = scored([0, 2, 5, 1], "form_slips", 1.0)
    ratings = rated([0, 2, 4, 1], criterion="slips", unit=1.0)
    assert compare(scores, ratings)["value"][0] == 0.75
    between = ratings.assign(value=ratings["value"] + 0.5)  # no number of penalties
    assert compare(scores, between).empty
    turned = SCALES | {"slips": Criterion(low=0, high=9, better="higher")}
    assert compare(scores, ratings, scales=turned).empty
    below = scored([1, 2, 3, 4]), rated([0, 2, 3, 4])  # no level of 1 to 4
    assert compare(*below).empty
    single = (
        frame.assign(doc_id="d", author=list("abcd")) for frame in (scores, ratings)
    )
    alone = compare(*single)
    assert alone["value"][0] == 0.75
    assert alone[["low", "high"]].isna().all(axis=None)
