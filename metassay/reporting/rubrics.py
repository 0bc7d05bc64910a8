"""What rubrics gave: grades as they were given, their means and how they are spread."""

import math
from collections import Counter
from typing import Any, NamedTuple

import pandas as pd

from metassay.reporting.names import sorted_authors
from metassay.reporting.tables import records, rows
from metassay.tables.names import FULL

_KEY = ("rubric", "criterion", "judge", "author")
_GRADES = (*_KEY, "mean", "sd", "n", "n_missing", "n_unscored")
_LEVELS = (*_KEY, "grade", "low", "high", "better", "n", "share")
_ROUNDED = 9  # decimals: value x high is the level again


class RubricTables(NamedTuple):
    """`grades`: means and SD; `levels`: how often each grade was given."""

    grades: pd.DataFrame
    levels: pd.DataFrame


def rubric_tables(criteria: pd.DataFrame, scores: pd.DataFrame) -> RubricTables:
    """Per criterion, judge and author: mean and SD of the grades, and each grade's count.

    Of table scores, on whole texts; a score that is a share of the highest level is turned back
    into the level. sd is divided by n (ddof 0). n: texts with a grade; n_missing: texts whose
    answer failed; n_unscored: texts that the criterion does not score. Sums of penalties and
    overall scores have means, and no levels.
    """
    grades: list[tuple[Any, ...]] = []
    levels: list[tuple[Any, ...]] = []
    whole = scores[scores["part"] == FULL]
    for one in sorted(records(criteria), key=lambda row: (row["rubric"], row["position"])):
        mine = whole[whole["metric"] == one["metric"]]
        times = one["high"] if one["value"] == "share" and one["kind"] == "scale" else 1.0
        for judge in sorted(set(mine["judge"])):
            by_author: dict[str, list[tuple[float | None, int]]] = {}
            of_judge = mine[mine["judge"] == judge].sort_values("doc_id")
            for author, value, n_failed in rows(of_judge, "author", "value", "n_failed"):
                by_author.setdefault(author, []).append((value, n_failed))
            for author in sorted_authors(by_author):
                key = (one["rubric"], one["criterion"], judge, author)
                given = [round(v * times, _ROUNDED) for v, _ in by_author[author] if v is not None]
                missing = sum(v is None and failed > 0 for v, failed in by_author[author])
                unscored = len(by_author[author]) - len(given) - missing
                grades.append((*key, *_mean_and_sd(given), len(given), missing, unscored))
                ends = (one["low"], one["high"], one["better"])
                if one["kind"] in ("scale", "penalties"):
                    levels += [
                        (*key, grade, *ends, n, n / len(given))
                        for grade, n in sorted(Counter(given).items())
                    ]
    numbers = {"grade": "float64", "low": "float64", "high": "float64", "share": "float64"}
    return RubricTables(
        pd.DataFrame(grades, columns=list(_GRADES)).astype({"mean": "float64", "sd": "float64"}),
        pd.DataFrame(levels, columns=list(_LEVELS)).astype(numbers),
    )


def _mean_and_sd(given: list[float]) -> tuple[float | None, float | None]:
    if not given:
        return None, None
    mean = math.fsum(given) / len(given)
    return mean, math.sqrt(math.fsum((one - mean) ** 2 for one in given) / len(given))
