"""Which metrics teach, and what they agree on, worked by hand."""

from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.tables.ratings import RATINGS
from metassay.tables.statement_scores import STATEMENT_SCORES
from metassay.tuning.options import TeacherOptions
from metassay.tuning.run import by_metric, candidates, targets

# Errors that people found in four statements of one text, 0 to 1: of numbers 0 to 3.
ERRORS = [0.0, 0.5, 1.0, 0.5]
SCORES: dict[tuple[str, str, str], list[float | None]] = {
    # Turned, .9, .5, .1, .5 are as far from their mean as the errors are: correlation 1.
    ("good@a", "plain", "higher"): [0.9, 0.5, 0.1, 0.5],
    # 3, 1, 2, 2: deviations 1, -1, 0, 0 with .5, 0, -.5, 0: .5 / sqrt(2 * .5) = .5.
    ("fair@a", "tuned", "higher"): [3.0, 1.0, 2.0, 2.0],
    ("odd", "none", "lower"): [0.2, 0.4, 0.6, 0.4],  # more where errors are: 1, once it is turned
    ("wrong", "none", "higher"): [0.0, 0.5, 1.0, 0.5],  # -1
    ("flat", "none", "higher"): [1.0, 1.0, 1.0, 1.0],
    # With `good`: 0, 1, 0, -1 and 1, 0, -1, 0: no correlation; with `fair` -1 / sqrt(2 * 2) = -.5.
    ("coverage@a", "none", "neither"): [0.5, 1.0, 0.5, 0.0],
    ("coverage", "none", "neither"): [0.5, 1.0, 0.5, 0.0],
    ("coverage@b", "none", "neither"): [0.9, 0.5, 0.1, 0.5],
}
RULE = {"criterion": "error", "better": "lower", "least": 0.5}


def scores(**changes: Any) -> pd.DataFrame:
    rows = [
        {
            **{"doc_id": "d", "author": "s", "part": "full", "position": n, "number": n},
            **{"metric": metric, "judge": judge, "better": better, "value": value},
            **{"failed": False, "unread": 0.0, "cut": False, "recipe": metric},
        }
        for (metric, judge, better), values in SCORES.items()
        for n, value in enumerate(values)
    ]
    return pd.DataFrame(rows)[list(STATEMENT_SCORES.columns)].assign(**changes)


def ratings() -> pd.DataFrame:
    """Two raters, whose mean is ERRORS; other criteria and whole texts count for nothing."""
    common = {"study": "one", "doc_id": "d", "author": "s", "part": "full"}
    rows = [
        common | {"unit": f"statement:{n}", "rater": rater, "criterion": "error", "value": value}
        for n, error in enumerate(ERRORS)
        for rater, value in (("a", error - 0.25), ("b", error + 0.25))
    ]
    rows += [
        common | {"unit": "text", "rater": "a", "criterion": "error", "value": 7.0},
        common | {"unit": "statement:0", "rater": "a", "criterion": "style", "value": 9.0},
    ]
    return pd.DataFrame(rows)[list(RATINGS.columns)]


def chosen(**block: Any) -> dict[str, tuple[bool, float | None, float | None]]:
    options = parse(TeacherOptions, block, where="teachers")
    every = candidates(scores(), ratings(), options)
    return {one.name: (one.teaches, one.people, one.coverage) for one in every}


def test_teachers_follow_people_in_their_own_direction() -> None:
    near = pytest.approx
    assert chosen(human=RULE) == {
        "fair@a (tuned)": (True, near(0.5), None),
        "flat": (False, None, None),
        "good@a (plain)": (True, near(1.0), None),
        "odd": (True, near(1.0), None),
        "wrong": (False, near(-1.0), None),
    }


def test_teachers_do_not_repeat_coverage_of_their_own_alignment() -> None:
    found = chosen(human=RULE | {"least": 0.4}, coverage={"most": 0.4})
    assert [name for name, (teaches, *_) in found.items() if teaches] == ["good@a (plain)", "odd"]
    assert found["good@a (plain)"][2] == pytest.approx(0.0, abs=1e-12)
    assert found["fair@a (tuned)"][2] == pytest.approx(-0.5)
    found = chosen(human=RULE, coverage={"most": 0.5, "metric": "coverage@b"})
    assert [name for name, (teaches, *_) in found.items() if teaches] == ["fair@a (tuned)"]


def test_teachers_may_be_named() -> None:
    found = chosen(names=["wrong", "fair@a (tuned)"])
    assert [name for name, (teaches, *_) in found.items() if teaches] == ["fair@a (tuned)", "wrong"]
    with pytest.raises(BadInput) as error:
        chosen(names=["coverage@a", "fair@a", "wrong"])
    assert [line.partition(":")[2].partition(";")[0] for line in error.value.problems] == [
        " 'coverage@a' is not a metric of statements with a direction",
        " 'fair@a' is not a metric of statements with a direction",
    ]
    assert error.value.problems[0].endswith(
        "choose from fair@a (tuned), flat, good@a (plain), odd, wrong"
    )


def test_problems_with_the_rule_are_told() -> None:
    with pytest.raises(BadInput, match="none of 5 metrics passes the rule on training documents"):
        chosen(human=RULE | {"criterion": "nobody asked"})
    with pytest.raises(BadInput, match="statements have no 'overlap@a'; measure it"):
        chosen(human=RULE, coverage={"most": 0.4, "metric": "overlap"})
    for block in ({}, {"names": ["a"], "human": RULE}, {"names": ["a"], "coverage": {"most": 1.0}}):
        with pytest.raises(BadInput, match="give either names, or human"):
            parse(TeacherOptions, block, where="teachers")


def test_a_target_is_the_mean_of_standardised_values_of_training_rows() -> None:
    """Of the first three rows `good` has mean .5 and deviation sqrt(.32 / 3), `odd` -.4, .1633."""
    values = by_metric(scores())
    training = [True, True, True, False]
    both = targets(values, training, ["good@a (plain)", "odd"])
    z = 0.4 / (0.32 / 3) ** 0.5  # of both: .2 / sqrt(.08 / 3) is the same
    assert both.tolist() == pytest.approx([z, 0.0, -z, 0.0])
    one = targets(values, training, ["fair@a (tuned)"])
    assert one.tolist() == pytest.approx([1 / (2 / 3) ** 0.5, -1 / (2 / 3) ** 0.5, 0.0, 0.0])
    assert targets(values, training, ["odd", "flat"]).isna().all()


def test_a_statement_without_a_teachers_value_has_no_target() -> None:
    table = scores()
    at = (table["metric"] == "odd") & (table["number"] == 1)
    table.loc[at, "value"] = None
    both = targets(by_metric(table), [True] * 4, ["good@a (plain)", "odd"])
    assert both.isna().tolist() == [False, True, False, False]
    assert by_metric(table[~at])["odd"].isna().tolist() == [False, True, False, False]
