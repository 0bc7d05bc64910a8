"""Each verdict in words."""

import numpy as np
import pytest

from metassay.meta_evaluation.verdicts import VERDICTS, kind_of
from metassay.reporting.sentences import sentence
from tests.meta_evaluation.test_verdicts import CASES, GOOD

NAN = np.nan
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
    said = sentence({**ROW, "level": level, **numbers, "better": better})
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
        return sentence({**row, "verdict": kind, "better": "lower", **numbers})

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
