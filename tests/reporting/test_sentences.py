"""Each verdict in words."""

import numpy as np
import pytest

from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.verdicts import VERDICTS, kind_of
from metassay.reporting.sentences import sentence
from tests.meta_evaluation.test_verdicts import CASES, GOOD

NAN = np.nan
GIVEN = CertificationOptions(useful=0.3, margin=0.05)
ROW = {
    **GOOD,
    "metric": "faithfulness_of_every_claim_by_nli",
    "judge": "a-large-model-2026-01",
    "criterion": "hallucinated_statements_per_note",
    "coefficient": "kendall",
    "advice": "rate more systems",
    "as_good_as_rater": False,
    "only_between_systems": False,
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
    said = sentence({**ROW, "level": level, **numbers, "better": better}, GIVEN)
    assert said.lower().startswith(f"{numbers['verdict']}: ")
    assert said[0].isupper()
    assert said.endswith(".")
    assert len(said.split()) <= 50
    assert all(len(one.split()) <= 34 for one in said.split(". "))
    assert ROW["metric"] in said
    assert (f" low {ROW['criterion']}" in said) == (better == "lower")
    assert "nan" not in said


def test_sentences_word_for_word():
    row = {**ROW, "metric": "m", "judge": "none", "criterion": "errors", "level": "document"}
    row |= {"coefficient": "pearson"}

    def said(kind, **numbers):
        return sentence({**row, "verdict": kind, "better": "lower", **numbers}, GIVEN)

    where = "for two texts of one document"
    assert said("use") == (
        f"Use: {where}, m follows low errors (Pearson .60 [.40, .80]), and by at least .35 with"
        " other systems and documents."
    )
    assert said("these systems only").endswith(
        "and by at least .35 with other documents. No other system was rated."
    )
    assert said("promising", corrected_low=-0.12) == (
        f"Promising: {where}, m follows low errors (Pearson .60 [.40, .80], adjusted p .001), but"
        " elsewhere it may be as low as −.12. Rate more systems: about 12,000 systems would"
        " settle it."
    )
    assert "4 systems say too little of others" in said("promising", n_families=4)
    assert "cannot tell the texts of most documents apart" in said("promising", n=3, n_tied=9)
    assert "nothing shows how much less" in said("promising", corrected_low=NAN)
    assert "among texts of equal ROUGE-L only .35 is left" in said(
        "promising", confound="ROUGE-L", given_confound=0.35
    )
    assert said("cannot tell", p=0.2, advice="rate more systems and documents") == (
        f"Cannot tell: {where}, m and low errors are not shown to be related (Pearson .60 [.40,"
        " .80], adjusted p .200), but a useful .30 is possible. Rate more systems and"
        " documents: about 12,000 systems and 3,400 documents would settle it."
    )
    assert said("cannot tell", value=0.2, needed_systems=NAN).endswith(
        "are related, perhaps too weakly to be of use (Pearson .20 [.40, .80], adjusted p .001)."
        " Rate more systems."
    )
    assert said("explained by ROUGE-L", confound="ROUGE-L") == (
        f"Explained by ROUGE-L: {where}, m and low errors correlate (Pearson .60), but only <.01 is"
        " left among texts of equal ROUGE-L."
    )
    assert said("use", as_good_as_rater=True, only_between_systems=True).endswith(
        "documents. It agrees with raters as well as a rater does. It tells systems apart, not two"
        " texts of one system."
    )
