"""All numbers that the meta_evaluate stage and `metassay meta-eval` make of scores, ratings."""

import math
import sys

import pandas as pd

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.meta_evaluation import (
    agreement,
    confounds,
    correlations,
    ensembles,
    evidence,
    facet_weights,
    judge_cards,
    orderings,
    significance,
)
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.study import rounding_notes
from metassay.statistics.limits import SYSTEMS, TEXTS
from metassay.tables.parquet import Table

ANALYSES = (
    *(correlations.OF_DESIGN, correlations.OF_STRATA, correlations.OF_PEOPLE),
    *(correlations.OF_COMPONENTS, significance.ANALYSIS, agreement.ANALYSIS, agreement.OF_MEANS),
    *(correlations.OF_METRICS, facet_weights.ANALYSIS, orderings.OF_PREFERENCES),
    *(ensembles.ANALYSIS, orderings.OF_CONFLICTS, confounds.ANALYSIS, judge_cards.OF_SYSTEMS),
    *(judge_cards.ANALYSIS, evidence.ANALYSIS),
)
MANY_PAIRS = 1_000  # beyond these somebody waits
RESULT_TABLES: dict[str, Table] = {table.name: table for one in ANALYSES for table in one.tables}


def evaluate(evaluation: Evaluation) -> dict[str, pd.DataFrame]:
    """The tables of RESULT_TABLES, by name, that compare metrics with people; no verdicts.

    Raises BadInput for undeclared criteria, mixed recipes and a primary metric that there is not.
    """
    _check_size(evaluation.scores)
    _check_directions(evaluation)
    _check_primary(evaluation)
    if evaluation.progress is not None:
        _tell_pairs(evaluation.scores)
    for line in dict.fromkeys(
        line for study in evaluation.studies for line in rounding_notes(study)
    ):
        evaluation.note(line)
    for analysis in ANALYSES:
        names = (table.name for table in analysis.tables)
        evaluation.tables.update(zip(names, analysis.make(evaluation), strict=False))
    return evaluation.tables


def _check_size(scores: pd.DataFrame) -> None:
    """Before anything is computed: memory grows with texts, time with the square of systems."""
    systems, documents = scores["author"].nunique(), scores["doc_id"].nunique()
    if systems > SYSTEMS or systems * documents > TEXTS:
        raise BadInput(
            f"scores are of {systems:,} systems on {documents:,} documents; the most are"
            f" {SYSTEMS:,} systems, and {TEXTS:,} texts if each wrote on each document. If the keys"
            " of texts were taken for systems, correct that; else evaluate fewer of them"
        )


def _tell_pairs(scores: pd.DataFrame) -> None:
    """What alone makes time grow with a square, before it is spent, where somebody watches."""
    systems, metrics = (math.comb(scores[one].nunique(), 2) for one in ("author", "metric"))
    if max(systems, metrics) > MANY_PAIRS:
        print(
            f"{systems:,} pairs of systems and {metrics:,} pairs of metrics are compared: time"
            " grows with either",
            file=sys.stderr,
        )


def _check_directions(evaluation: Evaluation) -> None:
    unknown = set(evaluation.scores["metric"].unique()) - set(evaluation.better)
    raise_problems(
        f"scores: metric {shown(name)} is not in leaderboard, which says whether more of it is"
        " better; metassay run builds both again"
        for name in sorted(unknown)
    )


def _check_primary(evaluation: Evaluation) -> None:
    primary, studies = evaluation.options.primary, evaluation.studies
    directed = [metric for study in studies for metric in study.directed]
    names = {name for metric in directed for name in (metric.metric, metric.label)}
    if primary is not None and studies and primary not in names:
        listed = ", ".join(shown(name) for name in sorted(names)) or "none"
        raise BadInput(
            f"primary metric {shown(primary)}: no metric is called that; there are: {listed}."
            " Correct the name where the primary metric is set"
        )
