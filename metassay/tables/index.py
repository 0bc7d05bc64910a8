"""Every table by name. Whoever imports this depends on every contract, so no stage does."""

from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.comparisons import CHANGED_DOCUMENTS, CHANGES
from metassay.tables.confounds import CONFOUNDS
from metassay.tables.corrected import CORRECTED
from metassay.tables.correlations import COMPONENTS, CORRELATIONS, METRIC_CORRELATIONS, SIGNIFICANCE
from metassay.tables.criteria import CRITERIA
from metassay.tables.designs import DESIGNS, STRATA
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.ensembles import ENSEMBLES
from metassay.tables.evidence import EVIDENCE
from metassay.tables.facet_weights import FACET_WEIGHTS
from metassay.tables.history import HISTORY, HISTORY_MEANS
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD, VERDICTS
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.notes import NOTES
from metassay.tables.orderings import CONFLICTS, DISAGREEMENTS, PREFERENCES
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import Table
from metassay.tables.parts import PARTS, SEGMENTS
from metassay.tables.raters import AGREEMENT, RATING_SUMMARIES
from metassay.tables.ratings import RATINGS
from metassay.tables.responses import RESPONSES
from metassay.tables.scores import MEASUREMENTS, SCORES
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES
from metassay.tables.sentences import SEGMENTED, SENTENCES
from metassay.tables.sentinel import ANCHORS, DRIFT
from metassay.tables.units import UNITS

TABLES: dict[str, Table] = {
    t.name: t
    for t in (
        SOURCES,
        TEXTS,
        PARTS,
        SEGMENTS,
        UNITS,
        RESPONSES,
        NOTES,
        ALIGNMENTS,
        PAIRS,
        JUDGMENTS,
        CRITERIA,
        MEASUREMENTS,
        SCORES,
        LEADERBOARD,
        RATINGS,
        DESIGNS,
        STRATA,
        CORRELATIONS,
        COMPONENTS,
        SIGNIFICANCE,
        AGREEMENT,
        RATING_SUMMARIES,
        METRIC_CORRELATIONS,
        FACET_WEIGHTS,
        PREFERENCES,
        ENSEMBLES,
        CONFLICTS,
        DISAGREEMENTS,
        CONFOUNDS,
        CORRECTED,
        JUDGE_CARDS,
        CALIBRATION,
        GOLD,
        GIVEN_VERDICTS,
        VERDICTS,
        SENTENCES,
        SEGMENTED,
        SEGMENT_SCORES,
        CONFUSIONS,
        EVIDENCE,
        CERTIFICATES,
        CHANGES,
        CHANGED_DOCUMENTS,
        HISTORY,
        HISTORY_MEANS,
        ANCHORS,
        DRIFT,
    )
}
