"""All numbers that the meta_evaluate stage and `metassay meta-eval` make of scores, ratings."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from metassay.core.errors import BadInput, shown
from metassay.core.options import Criterion
from metassay.meta_evaluation.agreement import agreement
from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.correlations import (
    components,
    correlations,
    designs,
    metric_correlations,
    strata,
)
from metassay.meta_evaluation.ensembles import ensembles
from metassay.meta_evaluation.evidence import evidence
from metassay.meta_evaluation.gather import gather
from metassay.meta_evaluation.judge_cards import corrected, judge_cards
from metassay.meta_evaluation.layouts import NO_GROUPS, Groups
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.orderings import conflicts, preferences
from metassay.meta_evaluation.significance import significance
from metassay.meta_evaluation.study import Better, Study, rounding, studies
from metassay.statistics.limits import SYSTEMS, TEXTS

Progress = Callable[[int, int], None]


def evaluate(  # noqa: PLR0913 - the data, what is known of it, and whom to tell
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    better: Mapping[str, Better],
    options: MetaOptions,
    *,
    groups: Groups = NO_GROUPS,
    progress: Callable[[str], Progress] | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> dict[str, pd.DataFrame]:
    """The tables that compare metrics with people, of those in `made`, by name; no verdicts.

    `scores`, `ratings`: the tables of those names; `better`: each metric's direction; `groups`:
    which documents and systems belong together, as far as the user knows. `progress`
    gets a table's name and returns what is called with (done, total) while it is made. Raises
    BadInput for undeclared criteria, mixed recipes and a primary metric that there is not. `note`
    is told what was left out.
    """

    def of(table: str) -> Progress | None:
        return progress(table) if progress is not None else None

    _check_size(scores)
    _check_directions(scores, better)
    found = studies(scores, ratings, criteria, better, groups, options.digits)
    _check_primary(found, options.primary)
    for line in dict.fromkeys(line for study in found for line in rounding(study)):
        note(line)
    gathered = gather(found, options, progress=of("tests"))
    confounded = confounds(gathered, options)
    per_document, drawn = conflicts(scores, better, options)
    cards, bins = judge_cards(scores, ratings, found, criteria, options)
    return {
        "designs": designs(found, groups),
        "strata": strata(found, options),
        "correlations": correlations(gathered, options, progress=of("correlations")),
        "components": components(gathered, options),
        "significance": significance(found, options),
        "agreement": agreement(ratings, criteria, options),
        "metric_correlations": metric_correlations(found),
        "preferences": preferences(scores, ratings, criteria, better),
        "ensembles": ensembles(found, options, note=note),
        "conflicts": per_document,
        "disagreements": drawn,
        "confounds": confounded,
        "corrected": corrected(scores, found, options),
        "judge_cards": cards,
        "calibration": bins,
        "evidence": evidence(gathered, confounded, options, progress=of("evidence")),
    }


def _check_size(scores: pd.DataFrame) -> None:
    """Before anything is computed: memory grows with texts, time with the square of systems."""
    systems, documents = scores["author"].nunique(), scores["doc_id"].nunique()
    if systems > SYSTEMS or systems * documents > TEXTS:
        raise BadInput(
            f"scores are of {systems:,} systems on {documents:,} documents; the most are"
            f" {SYSTEMS:,} systems, and {TEXTS:,} texts if each wrote on each document. If the keys"
            " of texts were taken for systems, correct that; else evaluate fewer of them"
        )


def _check_directions(scores: pd.DataFrame, better: Mapping[str, Better]) -> None:
    unknown = sorted(set(scores["metric"].unique()) - set(better))
    if unknown:
        raise BadInput(
            f"scores: metric {shown(name)} is not in leaderboard, which says whether more of it is"
            " better; metassay run builds both again"
            for name in unknown
        )


def _check_primary(found: Sequence[Study], primary: str | None) -> None:
    there = {name for study in found for one in study.directed for name in (one.metric, one.label)}
    if primary is not None and found and primary not in there:
        listed = ", ".join(shown(name) for name in sorted(there)) or "none"
        raise BadInput(
            f"primary metric {shown(primary)}: no metric is called that; there are: {listed}."
            " Correct the name where the primary metric is set"
        )
