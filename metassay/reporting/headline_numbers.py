"""The headline numbers as a small file of JSON, which git keeps: `dvc metrics` reads it.

Each function takes tables of one folder of benchmarks/ and `asked`, what language models were asked
(`views.asked.asked_table`). Numbers are rounded as on the page; what is undefined is null. Names
of metrics, systems, judges and criteria are the keys, in the same order for the same names.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.atomic import whole_file
from metassay.meta_evaluation.verdicts import kind_of
from metassay.reporting.best import verdict_names
from metassay.reporting.headline import best_of, means_of
from metassay.reporting.headline_cards import STATISTICS, main_cards
from metassay.reporting.headline_segments import STATISTICS as SEGMENT_STATISTICS
from metassay.reporting.numbers import missing, rounded
from metassay.reporting.tables import records
from metassay.reporting.views.asked import COUNTS

_BEST = ("value", "corrected", "corrected_low", "corrected_high")
_ENDS = ("value", "low", "high")

Numbers = dict[str, Any]


def evaluation_numbers(
    leaderboard: pd.DataFrame,
    certificates: pd.DataFrame,
    criteria: pd.DataFrame,
    asked: pd.DataFrame,
) -> Numbers:
    """Of an evaluation: certificates per verdict, the best metric per decision, systems' means.

    `best` has, per criterion and level, the metric that comes first, its verdict, whether it may be
    trusted (`trusted`), what to do about it (`advice`), its correlation with people
    (`value`) and the one corrected for luck
    with its interval. `leaderboard` has macro means of whole texts by headline metric and author.
    """
    kinds = [kind_of(verdict) for verdict in certificates["verdict"]]
    best: Numbers = {}
    for criterion, level, chosen in best_of(certificates):
        said = {"metric": chosen.metric, "verdict": chosen.row["verdict"]}
        numbers = {name: rounded(chosen.row[name]) for name in _BEST}
        trusted = {"trusted": bool(chosen.row["trusted"]), "advice": chosen.row["advice"]}
        best.setdefault(criterion, {})[level] = {**said, **trusted, **numbers}
    means = means_of(leaderboard, criteria)
    return {
        "certificates": {name: kinds.count(kind) for kind, name in verdict_names().items()},
        "best": best,
        "leaderboard": {
            label: {author: rounded(mean[author]) for author in sorted(mean)}
            for label, mean in means.items()
        },
        "answers": _answers(asked),
    }


def judge_numbers(cards: pd.DataFrame, asked: pd.DataFrame) -> Numbers:
    """Of a test of judges: per judge and set of items how often it is right, with intervals.

    `n` items were judged and `n_missing` were not.
    """
    found: Numbers = {}
    for judge, study, of in main_cards(cards):
        numbers = {name: _with_ends(of[name]) for name in STATISTICS if name in of}
        counts = {name: of["agreement"][name] for name in ("n", "n_missing")}
        found.setdefault(judge, {})[study] = {**numbers, **counts}
    return {"judges": dict(sorted(found.items())), "answers": _answers(asked)}


def segmentation_numbers(scores: pd.DataFrame, asked: pd.DataFrame) -> Numbers:
    """Of a test of segmentations: how often each is right, with intervals.

    `n` sentences got a label and `n_failed` did not.
    """
    found: Numbers = {}
    for row in records(scores[scores["of"] == "all"]):
        of = found.setdefault(row["segmentation"], {})
        if row["statistic"] in SEGMENT_STATISTICS:
            of[row["statistic"]] = _with_ends(row)
        if row["statistic"] == "accuracy":
            of |= {"n": row["n"], "n_failed": row["n_failed"]}
    return {"segmentations": dict(sorted(found.items())), "answers": _answers(asked)}


def write_numbers(found: Numbers, path: Path) -> None:
    """Write them, a number per line, whole or not at all."""
    text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
    with whole_file(path) as file:
        file.write(f"{text}\n".encode())


def _with_ends(row: Numbers) -> Numbers:
    """Its value, and its interval where it has one."""
    named = _ENDS if not missing(row["low"]) else _ENDS[:1]
    return {name: rounded(row[name]) for name in named}


def _answers(asked: pd.DataFrame) -> Numbers:
    """What came of the questions to language models, all stages and models together."""
    return {name: int(asked[name].sum()) for name in COUNTS}
