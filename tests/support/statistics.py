"""Matrices, systems by documents, that several tests of statistics draw; published values."""

import json
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

NAN = np.nan
# its names of our levels
NLPSTATS = {"global": "global", "document": "input", "system": "system"}
SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 6))
CELLS = st.sampled_from([NAN, 0.0, 0.1, 0.2, 0.3, 0.7, 1.0])
checked = settings(deadline=None, derandomize=True, max_examples=40)


def published(name="correlations_with_ties"):
    return json.loads(
        (Path(__file__).parents[1] / f"statistics/{name}.json").read_text("utf-8")
    )


@st.composite
def two_matrices(draw):
    shape = draw(SHAPES)
    return draw(arrays(float, shape, elements=CELLS)), draw(
        arrays(float, shape, elements=CELLS)
    )


def three(rng, shape=(6, 15), *, discrete=False, missing=0.0):
    """Two metrics, and people whom both follow."""
    human = rng.normal(size=shape)
    scores = [human, human + rng.normal(size=shape), human + rng.normal(size=shape)]
    if discrete:
        scores = [np.round(values) for values in scores]
    gaps = rng.random(shape) < missing
    human, a, b = (np.where(gaps, NAN, values) for values in scores)
    return a, b, human


def texts(true_pass, false_pass, false_fail, true_fail):
    """Judgments and people's values with these counts."""
    judge = [1.0] * (true_pass + false_pass) + [0.0] * (false_fail + true_fail)
    people = (
        [1.0] * true_pass + [0.0] * false_pass + [1.0] * false_fail + [0.0] * true_fail
    )
    return np.array(judge), np.array(people)
