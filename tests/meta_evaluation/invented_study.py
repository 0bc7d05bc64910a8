"""Invented ratings and scores, in the shape of the tables, for tests of what is made of them."""

from collections import defaultdict

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.correlations import correlations
from metassay.meta_evaluation.evidence import evidence
from metassay.meta_evaluation.exact_tests import run_tests
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.meta_evaluation.study import studies
from metassay.reporting.sentences import make_certificates
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES

OPTIONS = MetaOptions(resamples=200, permutations=200, confidence=0.9, seed=0)
CERTIFICATION = CertificationOptions()
CRITERIA = {
    "coverage": Criterion(low=0, high=1, better="higher", scale="nominal"),
    "errors": Criterion(low=0, high=10, better="lower"),
    "grade": Criterion(low=1, high=5, better="higher", scale="ordinal"),
    "preference": Criterion(low=0, high=1, better="higher", scale="ordinal"),
}
HIGHER = defaultdict(lambda: "higher")


def studied(scores, ratings, criteria=CRITERIA, options=OPTIONS, better=HIGHER):
    return studies(scores, ratings, criteria, better)


def gathered(scores, ratings, criteria=CRITERIA, options=OPTIONS, better=HIGHER):
    return run_tests(studied(scores, ratings, criteria, options, better), options)


def correlated(scores, ratings, criteria=CRITERIA, options=OPTIONS, **more):
    return correlations(gathered(scores, ratings, criteria, options), options, **more)


def certified(scores, ratings, better=HIGHER, options=OPTIONS, **more):
    tests = gathered(scores, ratings, options=options, better=better)
    numbers = evidence(tests, confounds(tests, options), scores, options, **more)
    return make_certificates(numbers, CERTIFICATION)


def rate(criterion, author, doc, rater, value, *, unit="text", part="full"):
    return ("s1", doc, author, part, unit, rater, criterion, value)


def ratings_of(*rows):
    frame = pd.DataFrame(rows, columns=list(RATINGS.columns))
    return frame.astype({name: "str" for name in RATINGS.key} | {"value": "float64"})


def table_of(metrics):
    """Scores of several metrics, each by its name as `scores_of` takes them."""
    return pd.concat(
        [scores_of(values, metric=name) for name, values in metrics.items()]
    )


def scores_of(values, *, metric="m", judge="none", part="full", recipe="m|v1"):
    """values: (doc_id, author) -> value."""
    rows = [(*text, value) for text, value in values.items()]
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "value"])
    counts = {"n_expected": 1, "n_judged": 1, "n_failed": 0}
    frame = frame.assign(part=part, metric=metric, judge=judge, recipe=recipe, **counts)
    return frame.reindex(columns=list(SCORES.columns))


def only(frame, **key):
    """The single row of a frame that has these values."""
    for name, value in key.items():
        frame = frame[frame[name] == value]
    (row,) = frame.to_dict("records")
    return row


def study(seed=0, documents=6):
    """Three systems, errors counted by one rater, and scores that fall with them."""
    rng = np.random.default_rng(seed)
    keys = [(f"d{d}", a) for d in range(documents) for a in ("x", "y", "z")]
    errors = dict(zip(keys, rng.integers(0, 10, len(keys)).astype(float), strict=True))
    ratings = ratings_of(
        *(rate("errors", a, d, "r", v) for (d, a), v in errors.items())
    )
    scores = {key: -value + rng.normal() for key, value in errors.items()}
    return ratings, scores, errors


def tables_of(raters, metrics, systems=None):
    """Ratings of `grade` and scores from (systems, documents) arrays, one per rater and metric."""
    shape = np.shape(raters[0])
    systems = systems or [f"s{k:02}" for k in range(shape[0])]
    keys = [(f"d{d:03}", name) for name in systems for d in range(shape[1])]
    ratings = ratings_of(
        *(
            rate("grade", author, doc, f"rater {i}", value)
            for i, of_rater in enumerate(raters)
            for (doc, author), value in zip(keys, np.ravel(of_rater), strict=True)
        )
    )
    by_text = {
        name: dict(zip(keys, np.ravel(v), strict=True)) for name, v in metrics.items()
    }
    return table_of(by_text), ratings
