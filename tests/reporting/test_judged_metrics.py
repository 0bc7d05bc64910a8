"""Judges side by side: each judged metric beside the best one that needs no judge."""

import pandas as pd

from metassay.reporting.metrics import judged_metrics_section
from metassay.tables.names import NO_JUDGE

VALUES = {
    ("claim_recall", "words"): 0.48,
    ("claim_recall", "meaning"): 0.6,
    ("faithfulness", "words"): None,
    ("rouge1_recall", NO_JUDGE): 0.53,
    ("bleu", NO_JUDGE): -0.7,  # turned the wrong way round is not the best
}


def certificates(values, *, level="global"):
    made = [
        {
            **{"study": "s", "criterion": "factual_recall", "part": "full", "level": level},
            **{"metric": metric, "judge": judge, "coefficient": "pearson", "value": value},
            **{"low": None if value is None else value - 0.1},
            **{"high": None if value is None else value + 0.1},
            "verdict": "undefined" if value is None else "use",
        }
        for (metric, judge), value in values.items()
    ]
    return pd.DataFrame(made)


def test_every_judge_stands_below_the_best_metric_without_one():
    section = judged_metrics_section(certificates(VALUES))
    (group,) = section.groups
    assert (group.title, group.open) == ("Any two texts", True)
    (grid,) = group.grids
    assert grid.heads == ["metric", "factual_recall"]
    rows = {name: (cells[0].text, cells[0].notes, cells[0].css) for name, cells in grid.rows}
    assert rows == {
        "best without a judge": (
            ".53",
            ("rouge1_recall", "of 2 metrics", "[.43, .63]", "use"),
            "",
        ),
        "claim_recall (meaning)": (".60", ("[.50, .70]", "use"), "best"),
        "claim_recall (words)": (".48", ("[.38, .58]", "use"), ""),
    }


def test_a_criterion_that_no_other_metric_has_has_no_best():
    only = {("claim_recall", "words"): 0.48}
    (grid,) = judged_metrics_section(certificates(only)).groups[0].grids
    assert [(name, cells[0].text, cells[0].css) for name, cells in grid.rows] == [
        ("best without a judge", "–", ""),
        ("claim_recall (words)", ".48", ""),
    ]


def test_without_a_judge_there_is_no_section():
    assert judged_metrics_section(certificates({("bleu", NO_JUDGE): 0.1})) is None
    assert judged_metrics_section(certificates(VALUES).head(0)) is None
    assert judged_metrics_section(certificates({("claim_recall", "words"): None})) is None
