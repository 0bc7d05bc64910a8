"""Certificates in words: each verdict, and the first screen."""

import numpy as np
import pytest

from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.verdicts import VERDICTS, kind_of
from metassay.reporting.certificates import (
    answers_by_criterion,
    best_of,
    decisions,
    grid,
)
from metassay.reporting.sentences import sentence
from tests.meta_evaluation.test_verdicts import CASES, GOOD
from tests.reporting.invented_report import DOUBLES, SCRIPT

NAME = "claim_recall (lexical)"
OPTIONS = CertificationOptions(useful=0.3, margin=0.05)
ROW = {
    **GOOD,
    "metric": "faithfulness_of_every_claim_by_nli",
    "judge": "a-large-model-2026-01",
    "criterion": "hallucinated_statements_per_note",
    "coefficient": "kendall",
    "advice": "rate more systems",
    "as_good_as_rater": False,
    "only_between_systems": False,
    "rests_on": None,
    "n_tried": 1,
    "rests_on_classes": False,
    "verdict_without_apart": None,
    "needed_systems": 12_000.0,
    "needed_documents": 3400.0,
    "given_confound": 0.004,
}
EACH = [
    next(
        {"verdict": verdict, **of} for verdict, of in CASES if kind_of(verdict) == kind
    )
    for kind in VERDICTS
]


@pytest.fixture
def certified(frames):
    return frames["certificates"].copy()


# ---- sentences -------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", EACH, ids=lambda numbers: numbers["verdict"])
def test_a_sentence_begins_with_its_verdict_and_is_short(numbers):
    for level in ("global", "document", "system"):
        for better in ("higher", "lower"):
            text = sentence(
                {**ROW, "level": level, **numbers, "better": better}, OPTIONS
            )
            assert text.lower().startswith(f"{numbers['verdict']}: ")
            assert text[0].isupper()
            assert text.endswith(".")
            assert len(text.split()) <= 50
            assert all(len(of.split()) <= 34 for of in text.split(". "))
            assert ROW["metric"] in text
            assert (f" low {ROW['criterion']}" in text) == (better == "lower")
            assert "nan" not in text


WHERE = "for two texts of one document"


@pytest.mark.parametrize(
    ("verdict", "numbers", "text"),
    [
        (
            "use",
            {},
            f"Use: {WHERE}, m follows low errors (Pearson .60 [.40, .80]), and by at least .35 with"
            " other systems and documents.",
        ),
        (
            "use",
            {"as_good_as_rater": True, "only_between_systems": True},
            "documents. It agrees with raters as well as a rater does. It tells systems apart, not"
            " two texts of one system.",
        ),
        (
            "these systems only",
            {},
            "and by at least .35 with other documents. No other system was rated.",
        ),
        (
            "promising",
            {"corrected_low": -0.12},
            f"Promising: {WHERE}, m follows low errors (Pearson .60 [.40, .80], adjusted p .001),"
            " but elsewhere it may be as low as −.12. Rate more systems: about 12,000 systems would"
            " settle it.",
        ),
        ("promising", {"n_families": 4}, "4 systems say too little of others"),
        (
            "promising",
            {"n": 3, "n_tied": 9},
            "cannot tell the texts of most documents apart",
        ),
        ("promising", {"corrected_low": np.nan}, "nothing shows how much less"),
        (
            "promising",
            {"confound": "ROUGE-L", "given_confound": 0.35},
            "among texts of equal ROUGE-L only .35 is left",
        ),
        (
            "cannot tell",
            {"p": 0.2, "advice": "rate more systems and documents"},
            f"Cannot tell: {WHERE}, m and low errors are not shown to be related (Pearson .60"
            " [.40, .80], adjusted p .200), but a useful .30 is possible. Rate more systems and"
            " documents: about 12,000 systems and 3,400 documents would settle it.",
        ),
        (
            "cannot tell",
            {"rests_on": "systems", "needed_systems": np.nan, "advice": "say it"},
            f"Cannot tell: {WHERE}, m and low errors are related (Pearson .60 [.40, .80]) if no"
            " system is a version of another. `family` names the column that says so;"
            " `family=system`: none is. Say it.",
        ),
        (
            "cannot tell",
            {"rests_on": "documents"},
            "if the documents are independent, not of a few topics or patients. `cluster` names"
            " the column that says so; `cluster=doc_id`: each stands for itself.",
        ),
        (
            "cannot tell",
            {"value": 0.2, "needed_systems": np.nan},
            "are related, perhaps too weakly to be of use (Pearson .20 [.40, .80], adjusted p"
            " .001). Rate more systems.",
        ),
        (
            "explained by ROUGE-L",
            {"confound": "ROUGE-L"},
            f"Explained by ROUGE-L: {WHERE}, m and low errors correlate (Pearson .60), but only"
            " <.01 is left among texts of equal ROUGE-L.",
        ),
    ],
)
def test_sentences_word_for_word(verdict, numbers, text):
    row = {
        **ROW,
        "metric": "m",
        "judge": "none",
        "criterion": "errors",
        "level": "document",
    }
    row |= {"coefficient": "pearson", "verdict": verdict, "better": "lower"}
    assert text in sentence({**row, **numbers}, OPTIONS)


# ---- the first screen ------------------------------------------------------------------------


def cells(certified):
    return list(grid(certified, 0.95)[0].cells)


def test_a_row_per_criterion_and_a_state_per_decision(certified):
    first, other = grid(certified, 0.95)
    assert (first.criterion, first.part, other.criterion) == (
        "completeness",
        "full",
        f"odd {SCRIPT}",
    )
    assert list(decisions(certified)) == ["global", "document", "system"]
    assert [
        cell and (cell.state, cell.metric, cell.verdict) for cell in first.cells
    ] == [
        ("use", NAME, "use"),
        ("use", NAME, "use"),
        ("confirm", NAME, "promising"),
    ]
    numbers = "corrected as best of 3 metrics"
    assert first.cells[0] == ("use", NAME, 0.47, 0.2004, 0.71, "use", numbers)


def test_the_best_is_by_verdict_then_by_the_corrected_value(certified):
    bleu = certified["metric"] == "bleu"
    # a worse verdict
    certified.loc[bleu & (certified["level"] == "system"), "corrected"] = 0.9
    document = bleu & (certified["level"] == "document")
    certified.loc[document, ["verdict", "trusted"]] = ["use", True]
    assert [cell and cell.metric for cell in cells(certified)] == [NAME] * 3
    certified.loc[document, "corrected"] = 0.471
    assert [cell and cell.metric for cell in cells(certified)] == [NAME, "bleu", NAME]


def test_where_no_metric_is_of_use_the_grid_says_so(certified):
    weak = certified.assign(verdict="too weak", trusted=False)
    assert {cell and cell.state for cell in cells(weak)} == {"no"}
    undefined = certified.assign(
        value=None, corrected=None, verdict="undefined", trusted=False
    )
    said_of = [
        cell and (cell.state, cell.metric, cell.says) for cell in cells(undefined)
    ]
    assert said_of == [("no", "", "3 undefined")] * 3
    other_levels = certified["level"] != "document"
    assert cells(certified[other_levels])[1].verdict == "promising"
    assert (
        cells(certified[other_levels | (certified["criterion"] != "completeness")])[1]
        is None
    )


def test_a_sentence_per_criterion_with_what_to_use_first(certified):
    first, other = answers_by_criterion(best_of(certified), 0.95)
    assert first == (
        f"Use {NAME} for completeness between any two texts (r .47 [.20, .71]) and two texts of one"
        " document (r .47 [.20, .71]); nothing yet between two systems: rate more systems."
    )
    assert other.startswith(f"Use {NAME} for odd {SCRIPT} between")
    undecided = certified["criterion"] == "completeness"
    certified.loc[undecided, ["verdict", "trusted"]] = ["cannot tell", False]
    first, last = answers_by_criterion(best_of(certified), 0.95)
    assert first == other
    assert last.startswith(
        "Nothing can be trusted yet for completeness between any two texts"
    )


def test_the_head_has_warnings_words_and_metrics_of_the_certificates(head, frames):
    assert DOUBLES in [of["text"] for of in head["problems"] if of["kind"] == "warning"]
    assert [of["kind"] for of in head["verdicts"]] == list(VERDICTS)
    assert {of["state"] for of in head["verdicts"]} == {"use", "confirm", "no"}
    words = " ".join(of["means"] for of in head["verdicts"])
    assert "p < .05" in words
    assert "still .30 or more" in words
    assert "{" not in words
    named = {cell["metric"] for row in head["grid"] for cell in row["cells"] if cell}
    assert named <= {NAME, *frames["certificates"]["metric"]}
    assert named <= {measure["key"] for measure in head["texts"]["measures"]}
