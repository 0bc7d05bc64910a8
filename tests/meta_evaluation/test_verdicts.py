"""The verdict on every kind of numbers, and the sentence that says it."""

from itertools import product

import numpy as np
import pytest

from metassay.meta_evaluation.certificates import _confound
from metassay.meta_evaluation.sentences import number, sentence
from metassay.meta_evaluation.verdicts import TRUSTED, VERDICTS, kind_of, verdict
from tests.meta_evaluation.invented_study import OPTIONS

NAN = np.nan
GIVEN = OPTIONS.model_copy(update={"confidence": 0.95, "useful": 0.3, "margin": 0.05})

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
    "these_systems_low": 0.45,
    "carries": True,
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
    ("weak", {"high": 0.29, "carries": False}),
    ("weak", {"high": 0.29, "against_rater_low": 0.1}),
    ("these systems only", {"carries": False}),
    ("these systems only", {"carries": False, "against_rater_low": 0.1}),
    ("these systems only", {"low": NAN, "high": NAN}),  # shown, but nobody knows how far it goes
    ("these systems only", {"p": 0.2}),
    ("these systems only", {"p": NAN}),
    ("these systems only", {"p": 0.2, **CONFOUNDED}),
    ("explained by words", CONFOUNDED),
    ("explained by words", {**SHOWN_REST, "given_confound_p": 0.06}),
    ("explained by words", {**SHOWN_REST, "given_confound_p": NAN}),
    ("explained by words", {**SHOWN_REST, "given_confound_high": 0.2}),
    ("explained by words", {**SHOWN_REST, "given_confound_high": NAN}),
    ("explained by words", {**CONFOUNDED, "high": 0.2, "carries": False}),
    ("cannot tell", {"p": 0.2, "these_systems_low": -0.1}),
    ("cannot tell", {"p": 0.2, "these_systems_low": 0.0}),
    ("cannot tell", {"p": 0.2, "these_systems_low": NAN, "high": NAN}),
    ("cannot tell", {"p": NAN, "these_systems_low": NAN, "low": NAN, "high": NAN}),
    ("no use", {"p": 0.2, "high": 0.29}),
    ("no use", {"p": NAN, "high": -0.1, "value": -0.3}),
    ("contrary", {"value": -0.4, "high": -0.1}),
    ("contrary", {"value": -0.4, "high": NAN, **CONFOUNDED}),
    ("undefined", {"value": NAN}),
    ("undefined", dict.fromkeys(GOOD, NAN) | {"confound": None, "carries": False}),
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
    unknown.append("these_systems_low")
    for (_, numbers), name in product(CASES, unknown):
        row = GOOD | numbers
        known = rank[kind_of(verdict(row, GIVEN))]
        less = rank[kind_of(verdict(row | {name: NAN}, GIVEN))]
        # What goes with a confound, or against people, and then is not shown at all is no finding
        # either way.
        if kind_of(verdict(row, GIVEN)) not in ("explained by", "contrary", "weak"):
            assert less >= known, (row, name)
        assert less >= min(known, len(TRUSTED))


ROW = {
    **GOOD,
    "metric": "faithfulness_of_every_claim_by_nli",
    "judge": "a-large-model-2026-01",
    "criterion": "hallucinated_statements_per_note",
    "coefficient": "kendall",
    "with_raters": 0.55,
    "rater": 0.52,
    "low_these_systems": 0.5,
    "high_these_systems": 0.7,
    "shown_by": "within",
    "needed_systems": 12_000.0,
    "needed_documents": 3400.0,
    "given_confound": 0.004,
}
KEPT = [
    next({"verdict": said, **numbers} for said, numbers in CASES if kind_of(said) == kind)
    for kind in VERDICTS
]


@pytest.mark.parametrize("numbers", KEPT, ids=lambda numbers: numbers["verdict"])
@pytest.mark.parametrize("level", ["global", "document", "system"])
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_a_sentence_begins_with_its_verdict_and_is_short(numbers, level, better):
    said = sentence({**ROW, "level": level, **numbers}, better)
    assert said.lower().startswith(f"{numbers['verdict']}: ")
    assert said[0].isupper()
    assert said.endswith(".")
    assert len(said.split()) <= 30
    assert ROW["metric"] in said
    named = numbers["verdict"] != "as good as a rater"  # that one names raters instead
    assert (f" low {ROW['criterion']}" in said) == (named and better == "lower")
    assert "nan" not in said


def test_sentences_word_for_word():
    row = {**ROW, "metric": "m", "judge": "none", "criterion": "errors", "level": "document"}
    row |= {"coefficient": "pearson"}

    def said(kind, **numbers):
        return sentence({**row, "verdict": kind, **numbers}, "lower")

    assert said("holds") == (
        "Holds: within documents, m follows low errors: Pearson .60 [.40, .80], adjusted p .001."
    )
    assert said("holds", p=0.0002, low=NAN) == (
        "Holds: within documents, m follows low errors: Pearson .60, adjusted p < .001."
    )
    assert said("as good as a rater", against_rater_low=-0.03) == (
        "As good as a rater: within documents, m reaches .55 where a rater reaches .52, at worst"
        " .03 less."
    )
    assert "at worst" not in said("as good as a rater", against_rater_low=0.03)
    assert said("explained by ROUGE-L", confound="ROUGE-L") == (
        "Explained by ROUGE-L: within documents, of m's correlation with low errors, .60, only"
        " <.01 is left with ROUGE-L held constant."
    )
    assert "with the system held" in said("explained by system", confound="system")
    assert said("cannot tell").endswith("; about 12,000 systems, 3,400 documents would do.")
    assert "about" not in said("cannot tell", needed_systems=NAN, needed_documents=NAN)
    assert said("holds", low=-0.1).endswith("[−.10, .80], adjusted p .001 text by text.")
    assert said("these systems only") == (
        "These systems only: within documents, m follows low errors here (Pearson .60 [.50, .70]),"
        " but nothing says that it does for other systems."
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.004, "<.01"),
        (-0.004, ">−.01"),
        (0.0, "0"),
        (0.005001, ".01"),
        (-0.126, "−.13"),
        (1.0, "1.00"),
        (-0.9999, "−1.00"),
    ],
)
def test_a_bound_that_rounds_to_0_shows_its_side(value, text):
    assert number(value) == text


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
