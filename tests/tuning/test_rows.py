"""Which metrics teach, what they agree on, and which texts a regressor learns from, by hand."""

from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.tables.ratings import RATINGS
from metassay.tables.statement_scores import STATEMENT_SCORES
from metassay.tuning.options import TeacherOptions, TrainingOptions
from metassay.tuning.run import (
    candidates,
    pivot_metrics,
    rated_texts,
    rating_rows,
    targets,
)

# Errors that people saw in four statements of one text, 0 to 1: of numbers 0 to 3.
ERRORS = [0.0, 0.5, 1.0, 0.5]
SCORES: dict[tuple[str, str, str], list[float | None]] = {
    # Turned, .9, .5, .1, .5 are as far from their mean as the errors are: correlation
    # 1.
    ("good@a", "plain", "higher"): [0.9, 0.5, 0.1, 0.5],
    # 3, 1, 2, 2: deviations 1, -1, 0, 0 with .5, 0, -.5, 0: .5 / sqrt(2 * .5) = .5.
    ("fair@a", "tuned", "higher"): [3.0, 1.0, 2.0, 2.0],
    # more where errors are: 1, once it is turned
    ("odd", "none", "lower"): [0.2, 0.4, 0.6, 0.4],
    ("wrong", "none", "higher"): [0.0, 0.5, 1.0, 0.5],  # -1
    ("flat", "none", "higher"): [1.0, 1.0, 1.0, 1.0],
    # With `good`: 0, 1, 0, -1 and 1, 0, -1, 0: no correlation; with `fair` -1 / sqrt(2
    # * 2) = -.5.
    ("coverage@a", "none", "neither"): [0.5, 1.0, 0.5, 0.0],
    ("coverage", "none", "neither"): [0.5, 1.0, 0.5, 0.0],
    ("coverage@b", "none", "neither"): [0.9, 0.5, 0.1, 0.5],
}
RULE = {"criterion": "error", "better": "lower", "least": 0.5}


def scores() -> pd.DataFrame:
    rows = [
        (*key, n, n, value)
        for key, values in SCORES.items()
        for n, value in enumerate(values)
    ]
    frame = pd.DataFrame(
        rows, columns=["metric", "judge", "better", "position", "number", "value"]
    )
    frame = frame.assign(
        doc_id="d", author="s", part="full", failed=False, unread=0.0, cut=False
    )
    return frame.assign(recipe=frame["metric"])[list(STATEMENT_SCORES.columns)]


def ratings() -> pd.DataFrame:
    """Two raters, whose mean is ERRORS; other criteria and whole texts count for nothing."""
    rows = [
        (f"statement:{n}", rater, "error", error + off)
        for n, error in enumerate(ERRORS)
        for rater, off in (("a", -0.25), ("b", 0.25))
    ]
    rows += [("text", "a", "error", 7.0), ("statement:0", "a", "style", 9.0)]
    frame = pd.DataFrame(rows, columns=["unit", "rater", "criterion", "value"])
    frame = frame.assign(study="one", doc_id="d", author="s", part="full")
    return frame[list(RATINGS.columns)]


def chosen(**block: Any) -> dict[str, tuple[bool, float | None, float | None]]:
    options = parse(TeacherOptions, block, where="teachers")
    every = candidates(scores(), ratings(), options)
    return {each.name: (each.teaches, each.people, each.coverage) for each in every}


def teachers(**block: Any) -> list[str]:
    return [name for name, (teaches, *_) in chosen(**block).items() if teaches]


def test_teachers_follow_people_in_their_direction_and_do_not_repeat_coverage() -> None:
    near = pytest.approx
    assert chosen(human=RULE) == {
        "fair@a (tuned)": (True, near(0.5), None),
        "flat": (False, None, None),
        "good@a (plain)": (True, near(1.0), None),
        "odd": (True, near(1.0), None),
        "wrong": (False, near(-1.0), None),
    }
    # Of their alignment, if there are several coverages.
    block: dict[str, Any] = {"human": RULE | {"least": 0.4}, "coverage": {"most": 0.4}}
    assert teachers(**block) == ["good@a (plain)", "odd"]
    assert chosen(**block)["good@a (plain)"][2] == near(0.0, abs=1e-12)
    assert chosen(**block)["fair@a (tuned)"][2] == near(-0.5)
    coverage = {"most": 0.5, "metric": "coverage@b"}
    assert teachers(human=RULE, coverage=coverage) == ["fair@a (tuned)"]
    assert teachers(names=["wrong", "fair@a (tuned)"]) == ["fair@a (tuned)", "wrong"]


def test_problems_with_teachers_are_told() -> None:
    with pytest.raises(BadInput) as error:
        chosen(names=["coverage@a", "fair@a", "wrong"])
    for line, name in zip(error.value.problems, ("coverage@a", "fair@a"), strict=True):
        assert (
            f"{name!r} is not a metric of statements with a direction; choose from fair@a"
            in line
        )
    with pytest.raises(
        BadInput, match="none of 5 metrics passes the rule on training documents"
    ):
        chosen(human=RULE | {"criterion": "unknown"})
    with pytest.raises(BadInput, match="statements have no 'overlap@a'; measure it"):
        chosen(human=RULE, coverage={"most": 0.4, "metric": "overlap"})
    for block in (
        {},
        {"names": ["a"], "human": RULE},
        {"names": ["a"], "coverage": {"most": 1.0}},
    ):
        with pytest.raises(BadInput, match="give either names, or human"):
            parse(TeacherOptions, block, where="teachers")


def test_a_target_is_the_mean_of_standardised_values_of_training_rows() -> None:
    """Of the first three rows `good` has mean .5 and deviation sqrt(.32 / 3), `odd` -.4, .1633."""
    table = scores()
    values, training = pivot_metrics(table), [True, True, True, False]
    both = targets(values, training, ["good@a (plain)", "odd"])
    z = 0.4 / (0.32 / 3) ** 0.5  # of both: .2 / sqrt(.08 / 3) is the same
    assert both.tolist() == pytest.approx([z, 0.0, -z, 0.0])
    alone = targets(values, training, ["fair@a (tuned)"])
    assert alone.tolist() == pytest.approx(
        [1 / (2 / 3) ** 0.5, -1 / (2 / 3) ** 0.5, 0.0, 0.0]
    )
    assert targets(values, training, ["odd", "flat"]).isna().all()
    # A statement without a teacher's value has no target.
    at = (table["metric"] == "odd") & (table["number"] == 1)
    table.loc[at, "value"] = None
    both = targets(pivot_metrics(table), [True] * 4, ["good@a (plain)", "odd"])
    assert both.isna().tolist() == [False, True, False, False]
    assert pivot_metrics(table[~at])["odd"].isna().tolist() == [
        False,
        True,
        False,
        False,
    ]


PARTS: list[tuple[str, str, str, str | None]] = [
    ("d", "reference", "full", " Knee pain [1].\n"),
    ("d", "reference:2", "full", "A knee that hurts."),
    ("d", "reference", "plan", "Rest."),
    ("d", "a", "full", "The knee hurts [0][2]. "),
    ("d", "a", "plan", "Ice."),
    ("d", "b", "full", "[3]"),
    ("d", "c", "full", None),
    ("d", "e", "full", "Elbow pain."),
    ("d", "f", "full", "No pain."),
    ("n", "a", "full", "Fever."),
]
RATED: list[tuple[str, str, str, str, str, str, str, float | None]] = [
    ("one", "d", "a", "full", "text", "ann", "quality", 0.5),
    ("one", "d", "a", "full", "text", "ben", "quality", 1.0),
    ("one", "d", "a", "full", "text", "cid", "quality", None),
    ("two", "d", "a", "full", "text", "ann", "quality", 0.0),
    ("one", "d", "a", "full", "text", "ann", "style", 0.9),
    ("one", "d", "a", "full", "statement:0", "ann", "quality", 0.9),
    ("one", "d", "a", "plan", "text", "ann", "quality", 0.9),
    ("one", "d", "e", "full", "text", "ann", "quality", None),
    ("one", "d", "f", "full", "text", "ann", "style", 0.9),
    *(
        ("one", doc, author, "full", "text", "ann", "quality", 0.9)
        for doc, author in (
            ("d", "b"),
            ("d", "c"),
            ("d", "reference"),
            ("d", "reference:2"),
            ("n", "a"),
        )
    ),
]


def test_texts_of_systems_have_the_mean_rating_and_the_reference_beside_them() -> None:
    parts = pd.DataFrame(PARTS, columns=["doc_id", "author", "part", "text"])
    heads = ["study", "doc_id", "author", "part", "unit", "rater", "criterion", "value"]
    tables = parts, pd.DataFrame(RATED, columns=heads)
    rows, (note,) = rated_texts(*tables, "quality")
    only: list[dict[str, Any]] = rows.to_dict("records")
    assert only == [
        {"doc_id": "d", "author": "a", "text": "The knee hurts.", "value": 0.5}
        | {"context": "Knee pain."}
    ]
    assert note == (
        "of 6 texts of systems 5 are left out: 2 are empty or failed, 1 have no reference, 2 have"
        " no rating of quality"
    )
    with pytest.raises(
        BadInput, match="documents to train on: 1, of which 1 would be held out"
    ):
        rating_rows(*tables, "quality", TrainingOptions(seed=1))
