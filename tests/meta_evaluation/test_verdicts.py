"""The verdict on every kind of numbers."""

from itertools import product

import numpy as np
import pytest

from metassay.meta_evaluation.evidence import _confound
from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.verdicts import TRUSTED, VERDICTS, kind_of, verdict

NAN = np.nan
GIVEN = CertificationOptions(useful=0.3, margin=0.05)

# Nothing against it: shown, useful, systems enough, and no confound.
GOOD = {
    "value": 0.6,
    "low": 0.4,
    "high": 0.8,
    "p": 0.001,
    "against_rater_low": NAN,
    "confound": None,
    "given_confound_p": NAN,
    "given_confound_high": NAN,
    "joint_low_these_systems": 0.45,
    "confidence": 0.95,
    "design": "crossed",
}
CONFOUNDED = {"confound": "words"}
SHOWN_REST = {**CONFOUNDED, "given_confound_p": 0.01, "given_confound_high": 0.4}
CASES = [
    ("holds", {}),
    ("holds", {"low": NAN}),
    ("holds", {"high": 0.3}),  # just useful
    ("holds", {"against_rater_low": -0.05}),  # the margin itself is not within it
    ("holds", SHOWN_REST),
    ("as good as a rater", {"against_rater_low": -0.049}),
    ("as good as a rater", {"against_rater_low": 0.1}),
    ("as good as a rater", {**SHOWN_REST, "against_rater_low": 0.1}),
    ("weak", {"high": 0.29}),
    ("weak", {"high": 0.29, "design": "one system"}),
    ("weak", {"high": 0.29, "against_rater_low": 0.1}),
    ("these systems only", {"design": "one system"}),
    ("these systems only", {"design": "one system", "against_rater_low": 0.1}),
    ("these systems only", {"low": NAN, "high": NAN}),  # shown, but nobody knows how far it goes
    ("these systems only", {"p": 0.2}),
    ("these systems only", {"p": NAN}),
    ("these systems only", {"p": 0.2, **CONFOUNDED}),
    ("explained by words", CONFOUNDED),
    ("explained by words", {**SHOWN_REST, "given_confound_p": 0.06}),
    ("explained by words", {**SHOWN_REST, "given_confound_p": NAN}),
    ("explained by words", {**SHOWN_REST, "given_confound_high": 0.2}),
    ("explained by words", {**SHOWN_REST, "given_confound_high": NAN}),
    ("explained by words", {**CONFOUNDED, "high": 0.2, "design": "one system"}),
    ("cannot tell", {"p": 0.2, "joint_low_these_systems": -0.1}),
    ("cannot tell", {"p": 0.2, "joint_low_these_systems": 0.0}),
    ("cannot tell", {"p": 0.2, "joint_low_these_systems": NAN, "high": NAN}),
    ("cannot tell", {"p": NAN, "joint_low_these_systems": NAN, "low": NAN, "high": NAN}),
    ("no use", {"p": 0.2, "high": 0.29}),
    ("no use", {"p": NAN, "high": -0.1, "value": -0.3}),
    ("contrary", {"value": -0.4, "high": -0.1}),
    ("contrary", {"value": -0.4, "high": NAN, **CONFOUNDED}),
    ("undefined", {"value": NAN}),
    ("undefined", dict.fromkeys(GOOD, NAN) | {"confound": None, "design": "one system"}),
]


@pytest.mark.parametrize(("said", "numbers"), CASES)
def test_each_verdict(said, numbers):
    assert verdict(GOOD | numbers, GIVEN) == said


def test_every_verdict_is_among_the_cases_and_two_are_trusted():
    assert {kind_of(said) for said, _ in CASES} == set(VERDICTS)
    assert TRUSTED == ("as good as a rater", "holds") == VERDICTS[:2]


def test_what_is_unknown_never_raises_a_verdict():
    """Whatever number is taken away, the verdict comes no higher in the list."""
    rank = {said: place for place, said in enumerate(VERDICTS)}
    unknown = ["p", "against_rater_low", "given_confound_p", "given_confound_high"]
    unknown.append("joint_low_these_systems")
    for (_, numbers), name in product(CASES, unknown):
        row = GOOD | numbers
        known = rank[kind_of(verdict(row, GIVEN))]
        less = rank[kind_of(verdict(row | {name: NAN}, GIVEN))]
        # What goes with a confound, or against people, and then is not shown at all is no finding
        # either way.
        if kind_of(verdict(row, GIVEN)) not in ("explained by", "contrary", "weak"):
            assert less >= known, (row, name)
        assert less >= min(known, len(TRUSTED))


def partials(**values):
    return [
        {"confound": name, "value": value, "p": 0.2, "high": 0.5} for name, value in values.items()
    ]


def test_a_confound_is_named_if_half_goes_with_it():
    named = _confound(partials(coverage=0.2, words=0.1, density=NAN), 0.4)
    assert named == {
        "confound": "words",
        "given_confound": 0.1,
        "given_confound_p": 0.2,
        "given_confound_high": 0.5,
    }
    assert _confound(partials(coverage=0.2), 0.4)["confound"] == "coverage"
    # More than half is left, more comes out, nothing is known, or there was nothing to explain.
    for values, plain in (
        ({"coverage": 0.21, "words": 0.6}, 0.4),
        ({"density": NAN}, 0.4),
        ({}, 0.4),
        ({"coverage": -0.5}, -0.4),
        ({"coverage": 0.1}, NAN),
    ):
        found = _confound(partials(**values), plain)
        assert found["confound"] is None
        assert np.isnan(found["given_confound"])
