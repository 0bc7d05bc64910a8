"""The verdict on every kind of numbers, and how verdicts move when the numbers do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.meta_evaluation.evidence import _confound
from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.verdicts import (
    TRUSTED,
    VERDICTS,
    find_verdict,
    is_as_good_as_rater,
    kind_of,
    verdict_without_apart,
)

NAN = np.nan
OPTIONS = CertificationOptions(useful=0.3, margin=0.05)

# Nothing against it: shown, useful elsewhere, systems enough, and no confound.
GOOD = {
    "value": 0.6,
    "low": 0.4,
    "high": 0.8,
    "corrected_low": 0.35,
    "p": 0.001,
    "confound": None,
    "given_confound": NAN,
    "given_confound_p": NAN,
    "against_rater_low": NAN,
    "confidence": 0.95,
    "design": "crossed",
    "n": 40,
    "n_tied": 0,
    "n_families": 8,
    "fitted": False,
    "selected": False,
    "level": "document",
    "weakest": 0.5,
    "classes": None,
    "given_classes": NAN,
    "apart": None,
    "without_apart": NAN,
    "without_apart_low": NAN,
    "without_apart_high": NAN,
    "without_apart_p": NAN,
    "n_without_apart": NAN,
}
# The verdict without two systems that raters set apart is `use`, too.
APART = {
    "apart": "the 2 systems that raters like least",
    "without_apart": 0.5,
    "without_apart_low": 0.31,
    "without_apart_high": 0.7,
    "without_apart_p": 0.01,
    "n_without_apart": 6,
}
CLASSES = {"classes": "systems", "given_classes": 0.2}
CONFOUNDED = {"confound": "words", "given_confound": 0.1}
SHOWN_REST = {"confound": "words", "given_confound": 0.3, "given_confound_p": 0.01}
ALONE = {"design": "one system", "n_families": 1}
CASES = [
    ("use", {}),
    ("use", {"corrected_low": 0.3, "n_families": 6}),  # just useful, just enough
    ("use", {"n": 20, "n_tied": 20}),
    ("these systems only", ALONE),
    ("these systems only", {"design": "no systems", "n_families": 1}),
    ("promising", {"n_families": 5}),
    ("promising", {"corrected_low": 0.29}),
    ("promising", {"corrected_low": 0.29, **ALONE}),
    # shown, and no interval
    ("promising", {"low": NAN, "high": NAN, "corrected_low": NAN}),
    ("promising", {"n": 19, "n_tied": 20}),  # it ties the texts of most documents
    ("promising", {"value": 0.3, "corrected_low": -0.8}),
    ("promising", SHOWN_REST),
    ("use", APART),
    ("promising", {**APART, "n_without_apart": 5}),
    ("promising", {**APART, "without_apart_low": 0.29}),
    ("promising", {**APART, "without_apart_p": 0.3}),
    ("promising", {**APART, "without_apart": NAN}),
    ("promising", {"weakest": 0.29}),
    ("promising", {"weakest": NAN}),
    ("use", {"weakest": 0.1, "level": "system"}),  # of means, cuts leave few
    ("use", {**CLASSES, "given_classes": 0.3}),
    ("promising", {**CLASSES, "given_classes": 0.3, "level": "system"}),
    ("explained by classes of systems", CLASSES),
    ("explained by classes of systems", {**CLASSES, "given_classes": NAN}),
    ("explained by classes of documents", {**CLASSES, "classes": "documents"}),
    ("explained by raters", {**CLASSES, "classes": "raters", "level": "system"}),
    ("explained by words", {**CONFOUNDED, **CLASSES}),
    ("cannot tell", {"p": 0.2, **CLASSES}),
    ("explained by words", CONFOUNDED),
    ("explained by words", {**SHOWN_REST, "given_confound_p": 0.05}),
    ("explained by words", {**SHOWN_REST, "given_confound_p": NAN}),
    ("explained by words", {**SHOWN_REST, "given_confound": 0.29}),
    ("explained by words", {**SHOWN_REST, "given_confound": NAN}),
    ("explained by words", {**CONFOUNDED, **ALONE}),
    ("cannot tell", {"p": 0.2}),
    ("cannot tell", {"p": NAN}),
    ("cannot tell", {"p": NAN, "low": NAN, "high": NAN, "corrected_low": NAN}),
    ("cannot tell", {"p": 0.2, **CONFOUNDED}),
    # related, perhaps too weakly
    ("cannot tell", {"value": 0.29, "corrected_low": -0.1}),
    ("too weak", {"value": 0.2, "high": 0.29, "corrected_low": 0.1}),
    ("too weak", {"value": 0.2, "high": 0.29, "corrected_low": 0.1, **CONFOUNDED}),
    ("too weak", {"value": -0.3, "high": -0.1, "corrected_low": -0.5, "p": NAN}),
    ("fitted", {"fitted": True}),
    ("fitted", {"fitted": True, "value": -0.4, "p": NAN}),
    # rated where its scores are extreme
    ("cannot tell", {"selected": True}),
    ("cannot tell", {"selected": True, "high": 0.29}),
    ("cannot tell", {"selected": True, "value": -0.4, "high": -0.1}),
    ("fitted", {"selected": True, "fitted": True}),
    ("contrary", {"value": -0.4, "high": -0.1, "corrected_low": -0.6}),
    ("contrary", {"value": -0.4, "high": NAN, "corrected_low": NAN, **CONFOUNDED}),
    ("undefined", {"value": NAN}),
]


@pytest.mark.parametrize(("verdict", "numbers"), CASES)
def test_each_verdict(verdict, numbers):
    assert find_verdict(GOOD | numbers, OPTIONS) == verdict


def test_every_verdict_is_among_the_cases_and_two_are_trusted():
    assert {kind_of(verdict) for verdict, _ in CASES} == set(VERDICTS)
    assert TRUSTED == ("use", "these systems only") == VERDICTS[:2]


def worth(row):
    """What a verdict lets its reader do: rely on the metric, look further into it, or neither."""
    verdict = find_verdict(row, OPTIONS)
    return 2 if verdict in TRUSTED else int(verdict == "promising")


@st.composite
def rows(draw):
    """Evidence as studies give it: the value between the ends, the wider interval around both."""
    shares = st.floats(0, 1)
    value = draw(st.floats(-1, 1))
    low, high = value - draw(shares), value + draw(shares)
    confound = draw(st.sampled_from([None, "words"]))
    classes = draw(st.sampled_from([None, "systems", "documents", "raters"]))
    apart = draw(st.sampled_from([None, "the 2 systems that raters like best"]))
    maybe = st.floats(-1, 1) | st.just(NAN)
    return {
        "level": draw(st.sampled_from(["global", "document", "system"])),
        "weakest": draw(maybe),
        "classes": classes,
        "given_classes": draw(maybe) if classes else NAN,
        "apart": apart,
        "without_apart": draw(maybe) if apart else NAN,
        "without_apart_low": draw(maybe) if apart else NAN,
        "without_apart_high": draw(maybe) if apart else NAN,
        "without_apart_p": draw(st.sampled_from([0.001, 0.2, NAN])) if apart else NAN,
        "n_without_apart": draw(st.integers(1, 12)) if apart else NAN,
        "value": value,
        "low": low,
        "high": high,
        "corrected_low": low - draw(shares) / 2,
        "p": draw(st.sampled_from([0.001, 0.049, 0.05, 0.4, NAN])),
        "against_rater_low": draw(st.floats(-1, 1) | st.just(NAN)),
        "confound": confound,
        "given_confound": draw(st.floats(-1, 1)) if confound else NAN,
        "given_confound_p": draw(st.sampled_from([0.001, 0.2, NAN]))
        if confound
        else NAN,
        "confidence": 0.95,
        "design": draw(
            st.sampled_from(["crossed", "nested", "one system", "no systems"])
        ),
        "n": draw(st.integers(1, 50)),
        "n_tied": draw(st.integers(0, 50)),
        "n_families": draw(st.integers(1, 12)),
        "fitted": False,
        "selected": False,
    }


@settings(deadline=None, derandomize=True, max_examples=1000)
@given(rows(), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_how_verdicts_move_with_the_numbers(row, below, above, more):
    """A wider interval and an unknown are never better, a higher value is never worse."""
    wider = {"low": row["low"] - below, "high": row["high"] + above}
    wider["corrected_low"] = row["corrected_low"] - below
    assert worth(row | wider) <= worth(row)
    lower = row | {"against_rater_low": row["against_rater_low"] - below}
    assert is_as_good_as_rater(lower, OPTIONS) <= is_as_good_as_rater(row, OPTIONS)
    moved = {
        name: row[name] + more for name in ("value", "low", "high", "corrected_low")
    }
    assert worth(row | moved) >= worth(row)
    unknown = ("low", "high", "corrected_low", "p", "given_confound_p", "weakest")
    for name in (*unknown, "given_classes", "without_apart", "without_apart_low"):
        assert worth(row | {name: NAN}) <= worth(row)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(rows())
def test_use_is_never_above_what_holds_without_those_that_raters_set_apart(row):
    if row["apart"] is not None:
        alone = verdict_without_apart(row, OPTIONS)
        assert worth(row) < 2 or alone in TRUSTED


def test_as_good_as_a_rater_is_what_may_be_used():
    near = {"against_rater_low": -0.049}
    assert is_as_good_as_rater(GOOD | near, OPTIONS)
    assert is_as_good_as_rater(GOOD | near | {"n_families": 4}, OPTIONS)
    # The margin itself is not within it; nor is what nobody knows.
    assert not is_as_good_as_rater(GOOD | {"against_rater_low": -0.05}, OPTIONS)
    assert not is_as_good_as_rater(GOOD, OPTIONS)
    # As good as a rater who knows little is of no use.
    for less in (
        {"p": 0.2},
        {"value": 0.2, "high": 0.25, "corrected_low": 0.1},
        CONFOUNDED,
    ):
        assert not is_as_good_as_rater(GOOD | near | less, OPTIONS)


def partials(**values):
    return [
        {
            "confound": name,
            "statistic": "partial_of_any_shape",
            "value": value,
            "p": 0.2,
        }
        for name, value in values.items()
    ]


def test_a_confound_is_named_if_half_goes_with_it():
    named = _confound(partials(coverage=0.2, words=0.1, density=NAN), 0.4)
    assert named == {
        "confound": "words",
        "given_confound": 0.1,
        "given_confound_p": 0.2,
    }
    assert _confound(partials(coverage=0.2), 0.4)["confound"] == "coverage"
    # The system is not a confound: better systems write better texts.
    system = {"confound": "system", "statistic": "partial", "value": 0.0, "p": NAN}
    assert _confound([*partials(words=0.3), system], 0.4)["confound"] is None
    # More than half is left, more comes out, nothing is known, or there was nothing to
    # explain.
    for values, plain in (
        ({"coverage": 0.21, "words": 0.6}, 0.4),
        ({"density": NAN}, 0.4),
        ({}, 0.4),
        ({"coverage": -0.5}, -0.4),
        ({"coverage": 0.1}, NAN),
    ):
        assert _confound(partials(**values), plain) == {"confound": None}
