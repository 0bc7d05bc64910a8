"""The tables that the meta_evaluate stage makes, by name: its report shows nearly all of them."""

from metassay.tables.confounds import CONFOUNDS
from metassay.tables.corrected import CORRECTED
from metassay.tables.correlations import COMPONENTS, CORRELATIONS, METRIC_CORRELATIONS, SIGNIFICANCE
from metassay.tables.designs import DESIGNS, STRATA
from metassay.tables.ensembles import ENSEMBLES
from metassay.tables.evidence import EVIDENCE
from metassay.tables.facet_weights import FACET_WEIGHTS
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.orderings import CONFLICTS, DISAGREEMENTS, PREFERENCES
from metassay.tables.parquet import Table
from metassay.tables.raters import AGREEMENT, RATING_SUMMARIES

MADE: dict[str, Table] = {
    t.name: t
    for t in (
        *(DESIGNS, STRATA),
        *(CORRELATIONS, COMPONENTS, SIGNIFICANCE, AGREEMENT, RATING_SUMMARIES),
        *(METRIC_CORRELATIONS, FACET_WEIGHTS, PREFERENCES, ENSEMBLES, CONFLICTS),
        *(DISAGREEMENTS, CONFOUNDS, CORRECTED, JUDGE_CARDS, CALIBRATION, EVIDENCE),
    )
}
