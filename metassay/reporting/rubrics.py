"""Rubrics: grades and their spread."""

import math
from collections import Counter
from typing import Any, NamedTuple

import pandas as pd

from metassay.format.frames import records
from metassay.reporting.names import sorted_authors
from metassay.tables.names import FULL
from metassay.tables.summaries import framed

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
    whole = scores[scores["part"] == FULL].sort_values("doc_id")
    for one in sorted(records(criteria), key=lambda row: (row["rubric"], row["position"])):
        times = one["high"] if one["value"] == "share" and one["kind"] == "scale" else 1.0
        mine = whole[whole["metric"] == one["metric"]]
        texts = dict(list(mine.groupby(["judge", "author"])))
        for judge in sorted(set(mine["judge"])):
            for author in sorted_authors(author for of, author in texts if of == judge):
                of = texts[judge, author]
                key = (one["rubric"], one["criterion"], judge, author)
                given = [round(v * times, _ROUNDED) for v in of["value"].dropna().tolist()]
                missing = int((of["value"].isna() & (of["n_failed"] > 0)).sum())
                counts = (len(given), missing, len(of) - len(given) - missing)
                grades.append((*key, *_mean_and_sd(given), *counts))
                ends = (one["low"], one["high"], one["better"])
                if one["kind"] in ("scale", "penalties"):
                    found = sorted(Counter(given).items())
                    levels += [(*key, grade, *ends, n, n / len(given)) for grade, n in found]
    return RubricTables(framed("rubric_grades", grades), framed("rubric_levels", levels))


def _mean_and_sd(given: list[float]) -> tuple[float | None, float | None]:
    if not given:
        return None, None
    mean = math.fsum(given) / len(given)
    return mean, math.sqrt(math.fsum((one - mean) ** 2 for one in given) / len(given))
