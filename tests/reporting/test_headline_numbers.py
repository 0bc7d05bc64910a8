"""The headline numbers that git keeps: what is in them, and that nothing else moves them."""

import json

import pandas as pd
import pytest

from metassay.format.numbers import rounded, shown
from metassay.llm.messages import REST
from metassay.reporting.headline import (
    evaluation_numbers,
    judge_numbers,
    segmentation_numbers,
    write_numbers,
)
from metassay.reporting.responses import COUNTS, missing_lines, models_table
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.criteria import CRITERIA
from metassay.tables.judge_cards import JUDGE_CARDS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import empty
from metassay.tables.responses import RESPONSES
from metassay.tables.segment_scores import SEGMENT_SCORES

NOBODY = models_table({}, {})


def frame(table, *rows):
    """Rows of a table; what is not given is null, or 0 where it may not be."""
    blank = {name: None if c.null else 0 for name, c in table.columns.items()}
    return pd.DataFrame([blank | row for row in rows], columns=list(table.columns))


def certificate(metric, level, verdict, corrected, **changes):
    key = {"study": "pilot", "criterion": "completeness", "part": "full", "judge": "none"}
    numbers = {"value": 0.71251, "corrected": corrected, "corrected_low": None}
    row = {"metric": metric, "level": level, "verdict": verdict, "trusted": verdict == "use"}
    row["advice"] = "use it" if row["trusted"] else "do not"
    return key | numbers | row | changes


def leader(author, metric, macro):
    row = {"part": "full", "metric": metric, "judge": "none", "author": author}
    return row | {"macro": macro, "better": "higher"}


CERTIFIED = frame(
    CERTIFICATES,
    certificate("bleu", "document", "cannot tell", 0.9),
    certificate("rouge1_fmeasure", "document", "use", 0.61234, corrected_high=1.0),
    certificate("bleu", "system", "explained by length", None, value=None),
)
LEADERS = frame(
    LEADERBOARD,
    leader("b", "rouge1_fmeasure", 12.3456),
    leader("a", "rouge1_fmeasure", -0.00004),
    leader("reference", "rouge1_fmeasure", None),
    leader("a", "rouge1_precision", 0.5),
)


def test_of_an_evaluation_it_has_verdicts_best_metrics_and_means():
    found = evaluation_numbers(LEADERS, CERTIFIED, empty(CRITERIA), NOBODY)
    assert found["certificates"]["use"] == 1
    assert found["certificates"]["explained by a confound"] == 1
    assert sum(found["certificates"].values()) == len(CERTIFIED)
    assert found["best"]["completeness"] == {
        "document": {
            **{"metric": "rouge1_fmeasure", "verdict": "use", "advice": "use it"},
            **{"trusted": True, "value": 0.713},
            **{"corrected": 0.612, "corrected_low": None, "corrected_high": 1.0},
        },
        "system": {
            **{"metric": "bleu", "verdict": "explained by length", "advice": "do not"},
            "trusted": False,
            **dict.fromkeys(("value", "corrected", "corrected_low", "corrected_high")),
        },
    }
    assert found["leaderboard"] == {"rouge1_fmeasure": {"a": 0.0, "b": 12.35, "reference": None}}
    assert found["answers"] == dict.fromkeys(COUNTS, 0)


def test_criteria_of_several_studies_have_their_study_beside_them():
    second = CERTIFIED.assign(study="second")
    both = pd.concat([CERTIFIED, second], ignore_index=True)
    found = evaluation_numbers(LEADERS, both, empty(CRITERIA), NOBODY)
    assert list(found["best"]) == ["completeness (pilot)", "completeness (second)"]
    without = evaluation_numbers(LEADERS, empty(CERTIFICATES), empty(CRITERIA), NOBODY)
    assert without["best"] == {}
    assert set(without["certificates"].values()) == {0}


def test_of_a_test_of_judges_it_has_what_was_not_judged():
    key = {"study": "dev", "part": "full", "judge": "lexical"}
    right = key | {"statistic": "agreement", "value": 0.9, "low": 0.8, "high": 1.0}
    ranked = key | {"statistic": "auroc", "value": None}
    cards = frame(JUDGE_CARDS, right | {"n": 9, "n_missing": 1}, ranked, key | {"statistic": "mcc"})
    found = judge_numbers(cards, NOBODY)["judges"]
    agreement = {"value": 0.9, "low": 0.8, "high": 1.0}
    auroc = {"value": None}
    counts = {"n": 9, "n_missing": 1}
    assert found == {"lexical": {"dev": {"agreement": agreement, "auroc": auroc, **counts}}}


def test_of_a_test_of_segmentations_it_has_what_got_no_label():
    key = {"segmentation": "words", "of": "all", "name": "all"}
    right = key | {"statistic": "accuracy", "value": 0.5, "low": 0.4, "high": 0.6}
    part = right | {"of": "label", "name": "method"}
    scores = frame(SEGMENT_SCORES, right | {"n": 8, "n_failed": 2}, part)
    found = segmentation_numbers(scores, NOBODY)["segmentations"]
    accuracy = {"value": 0.5, "low": 0.4, "high": 0.6}
    assert found == {"words": {"accuracy": accuracy, "n": 8, "n_failed": 2}}


def test_answers_that_are_missing_are_counted_over_stages():
    request = json.dumps({"model": "m-1"})
    lost = {"request": request, "status": "error", "finish_reason": "timeout"}
    rows = frame(RESPONSES, lost, {"request": request, "status": "ok"})
    asked = models_table({"judge-a": rows, "judge-b": rows}, {})
    assert missing_lines(asked)[-1] == f"{REST}."
    found = evaluation_numbers(LEADERS, CERTIFIED, empty(CRITERIA), asked)
    assert (found["answers"]["questions"], found["answers"]["missing"]) == (4, 2)


def test_order_of_rows_does_not_move_the_file(tmp_path):
    made = []
    for name, order in (("one", 1), ("two", -1)):
        rows = LEADERS.iloc[::order], CERTIFIED.iloc[::order]
        write_numbers(evaluation_numbers(*rows, empty(CRITERIA), NOBODY), tmp_path / name)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    assert made[0].endswith(b"}\n")


@pytest.mark.parametrize("value", [0.12345, -0.5, 10.004, 99.9999, 123.456, None, float("nan")])
def test_numbers_are_those_of_the_page(value):
    found = rounded(value)
    said = shown(value).replace("−", "-")
    assert (found is None and said == "") or found == float(said)
