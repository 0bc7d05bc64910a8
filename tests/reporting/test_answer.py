"""The first screen, against hand-made certificates: sentences, the grid, verdicts."""

import pandas as pd
import pytest

from metassay.meta_evaluation.verdicts import VERDICTS
from metassay.reporting.certificates import answers_by_criterion, best_of, decisions, grid
from metassay.reporting.contract import GridCell
from tests.reporting.invented_meta import FOUND, SCRIPT

NAME = "claim_recall (lexical)"


@pytest.fixture
def found(frames):
    return frames["certificates"].copy()


def cells(found: pd.DataFrame) -> list[GridCell | None]:
    return list(grid(found, 0.95)[0].cells)


def test_a_row_per_criterion_and_a_state_per_decision(found):
    rows = grid(found, 0.95)
    assert [(row.criterion, row.part) for row in rows] == [
        *(("completeness", "full"), (f"odd {SCRIPT}", "full")),
    ]
    assert list(decisions(found)) == ["global", "document", "system"]
    assert [one and (one.state, one.metric, one.verdict) for one in rows[0].cells] == [
        *(("use", NAME, "use"), ("use", NAME, "use"), ("confirm", NAME, "promising")),
    ]
    first = rows[0].cells[0]
    assert first is not None
    assert (first.value, first.low, first.high) == (0.47, 0.2004, 0.71)
    assert first.says == "corrected as best of 3 metrics"


def test_the_best_is_by_verdict_then_by_the_corrected_value(found):
    bleu = found["metric"] == "bleu"
    found.loc[bleu & (found["level"] == "system"), "corrected"] = 0.9  # its verdict is worse
    found.loc[bleu & (found["level"] == "document"), ["verdict", "trusted"]] = ["use", True]
    assert [one and one.metric for one in cells(found)] == [NAME] * 3
    found.loc[bleu & (found["level"] == "document"), "corrected"] = 0.471
    assert [one and one.metric for one in cells(found)] == [NAME, "bleu", NAME]


def test_where_no_metric_is_of_use_the_grid_says_so(found):
    weak = found.assign(verdict="too weak", trusted=False)
    assert {one and one.state for one in cells(weak)} == {"no"}
    undefined = found.assign(value=None, corrected=None, verdict="undefined", trusted=False)
    assert [one and (one.state, one.metric, one.says) for one in cells(undefined)] == [
        ("no", "", "3 undefined")
    ] * 3
    assert cells(found[found["level"] != "document"])[1].verdict == "promising"
    assert (
        cells(found[(found["level"] != "document") | (found["criterion"] != "completeness")])[1]
        is None
    )


def test_a_sentence_per_criterion_with_what_to_use_first(found):
    first, other = answers_by_criterion(best_of(found), 0.95)
    assert first == (
        f"Use {NAME} for completeness between any two texts (r .47 [.20, .71]) and two texts of one"
        " document (r .47 [.20, .71]); nothing yet between two systems: rate more systems."
    )
    assert other.startswith(f"Use {NAME} for odd {SCRIPT} between")
    undecided = found["criterion"] == "completeness"
    found.loc[undecided, ["verdict", "trusted"]] = ["cannot tell", False]
    first, last = answers_by_criterion(best_of(found), 0.95)
    assert first == other
    assert last.startswith("Nothing can be trusted yet for completeness between any two texts")


def test_what_cannot_be_shown_is_a_limit_and_words_are_explained(head):
    limits = [one["text"] for one in head["problems"] if one["kind"] == "limit"]
    assert limits == [FOUND]
    assert [one["kind"] for one in head["verdicts"]] == list(VERDICTS)
    assert {one["state"] for one in head["verdicts"]} == {"use", "confirm", "no"}
    said = " ".join(one["means"] for one in head["verdicts"])
    assert "p < .05" in said
    assert "still .30 or more" in said
    assert "{" not in said


def test_the_grid_names_metrics_of_the_certificates(head, frames):
    labels = {NAME, *frames["certificates"]["metric"]}
    named = {one["metric"] for row in head["grid"] for one in row["cells"] if one}
    assert named <= labels
    shown = {one["key"] for one in head["texts"]["measures"]}
    assert named <= shown
