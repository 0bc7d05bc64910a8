"""Make all tables of the meta_evaluate stage and `metassay meta-eval` from scores and ratings."""

import math
import sys
from collections.abc import Collection, Iterable, Iterator

import pandas as pd

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.core.options import find_contradictions
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
    study_warnings,
)
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.study import rounding_notes
from metassay.statistics.limits import SYSTEMS, TEXTS
from metassay.tables.names import base_metric
from metassay.tables.parquet import Table

ANALYSES = (
    correlations.OF_DESIGN,
    correlations.OF_STRATA,
    correlations.OF_PEOPLE,
    correlations.OF_COMPONENTS,
    significance.ANALYSIS,
    agreement.ANALYSIS,
    agreement.OF_MEANS,
    correlations.OF_METRICS,
    facet_weights.ANALYSIS,
    orderings.OF_PREFERENCES,
    ensembles.ANALYSIS,
    orderings.OF_CONFLICTS,
    confounds.ANALYSIS,
    judge_cards.OF_SYSTEMS,
    judge_cards.ANALYSIS,
    evidence.ANALYSIS,
    study_warnings.ANALYSIS,
)
MANY_PAIRS = 1_000  # with more, users are told that it takes time
RESULT_TABLES: dict[str, Table] = {
    t.name: t for analysis in ANALYSES for t in analysis.tables
}


def evaluate(evaluation: Evaluation) -> dict[str, pd.DataFrame]:
    """Return the tables of RESULT_TABLES by name, without verdicts.

    Raises BadInput for undeclared criteria, mixed recipes, unknown names
    of what was chosen or fitted, and choices that cannot both be true.
    """
    _check_size(evaluation.scores)
    _check_directions(evaluation)
    _check_choices(evaluation)
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


def evaluate_raters(evaluation: Evaluation) -> dict[str, pd.DataFrame]:
    """Return the tables `agreement` and `warnings` of ratings without scores."""
    tables = evaluation.tables
    (tables["agreement"],) = agreement.ANALYSIS.make(evaluation)
    checks = study_warnings.OF_RATINGS
    tables["warnings"] = study_warnings.find_warnings(evaluation, checks)
    return tables


def _check_size(scores: pd.DataFrame) -> None:
    """Limit the size: memory grows with texts, time with the square of systems."""
    systems, documents = scores["author"].nunique(), scores["doc_id"].nunique()
    if systems > SYSTEMS or systems * documents > TEXTS:
        raise BadInput(
            f"scores are of {systems:,} systems on {documents:,} documents; the limits are"
            f" {SYSTEMS:,} systems, and {TEXTS:,} texts if each system wrote on each document. If"
            " the keys of texts were taken for systems, correct that; else evaluate fewer of them"
        )


def _tell_pairs(scores: pd.DataFrame) -> None:
    """Tell a user how many pairs are compared: time grows with them."""
    systems, metrics = (
        math.comb(scores[column].nunique(), 2) for column in ("author", "metric")
    )
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


def _check_choices(evaluation: Evaluation) -> None:
    """Check the names of what was chosen or fitted, and that the choices can all be true."""
    options, studies = evaluation.options, evaluation.studies
    chosen = options.primary, options.tried, options.fitted
    raise_problems(fault.line() for fault in find_contradictions(*chosen))
    if not studies:
        return
    metrics = [metric for study in studies for metric in study.directed]
    labels = {name for metric in metrics for name in (metric.metric, metric.label)}
    bases = labels | {base_metric(metric.metric) for metric in metrics}
    criteria = {study.criterion for study in studies}
    raise_problems(
        [
            *_unknown("primary metric", "metric", [options.primary], labels),
            *_unknown(
                "primary criterion", "criterion", [options.primary_criterion], criteria
            ),
            *_unknown("fitted metric", "metric", options.fitted, bases),
        ]
    )


def _unknown(
    what: str, kind: str, names: Iterable[str | None], known: Collection[str]
) -> Iterator[str]:
    listed = ", ".join(shown(name) for name in sorted(known)) or "none"
    for name in names:
        if name is not None and name not in known:
            yield (
                f"{what} {shown(name)}: no {kind} is called that; there are: {listed}."
                f" Correct the name where the {what} is set"
            )
