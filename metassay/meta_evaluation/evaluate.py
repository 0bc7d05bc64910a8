"""All numbers that the meta_evaluate stage and `metassay meta-eval` make of scores, ratings."""

from collections.abc import Callable, Mapping

import pandas as pd

from metassay.meta_evaluation.agreement import agreement
from metassay.meta_evaluation.components import components
from metassay.meta_evaluation.conflicts import conflicts, disagreements
from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.corrected import corrected
from metassay.meta_evaluation.correlations import correlations
from metassay.meta_evaluation.ensembles import ensembles
from metassay.meta_evaluation.evidence import evidence
from metassay.meta_evaluation.gather import gather
from metassay.meta_evaluation.judge_cards import judge_cards
from metassay.meta_evaluation.metric_correlations import metric_correlations
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.preferences import preferences
from metassay.meta_evaluation.significance import significance
from metassay.meta_evaluation.study import Better, studies
from metassay.options import Criterion

Progress = Callable[[int, int], None]


def evaluate(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    better: Mapping[str, Better],
    options: MetaOptions,
    *,
    progress: Callable[[str], Progress] | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> dict[str, pd.DataFrame]:
    """The tables that compare metrics with people, of those in `made`, by name; no verdicts.

    `scores`, `ratings`: the tables of those names; `better`: each metric's direction. `progress`
    gets a table's name and returns what is called with (done, total) while it is made. Raises
    BadInput for undeclared criteria and mixed recipes. `note` is told what was left out.
    """

    def of(table: str) -> Progress | None:
        return progress(table) if progress is not None else None

    found = studies(scores, ratings, criteria, better)
    gathered = gather(found, options, progress=of("tests"))
    confounded = confounds(gathered, options)
    cards, bins = judge_cards(scores, ratings, found, criteria, options)
    return {
        "correlations": correlations(gathered, options, progress=of("correlations")),
        "components": components(gathered, options),
        "significance": significance(found, options),
        "agreement": agreement(ratings, criteria, options),
        "metric_correlations": metric_correlations(found),
        "preferences": preferences(scores, ratings, criteria, better),
        "ensembles": ensembles(found, options, note=note),
        "conflicts": conflicts(scores, better, options),
        "disagreements": disagreements(scores, better, options),
        "confounds": confounded,
        "corrected": corrected(scores, found, options),
        "judge_cards": cards,
        "calibration": bins,
        "evidence": evidence(gathered, confounded, options, progress=of("evidence")),
    }
