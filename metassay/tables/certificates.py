"""Which metric to trust for which decision."""

from metassay.tables.columns import (
    BOOLEAN,
    COEFFICIENT,
    CRITERION,
    HIGH,
    INTEGER,
    JUDGE,
    METRIC,
    PART,
    RECIPE,
    STUDY,
    TEXT,
)
from metassay.tables.evidence import EVIDENCE
from metassay.tables.parquet import Column, Table

CERTIFICATES = Table(
    name="certificates",
    says="which metric to trust for which decision, and how sure we are",
    key=("study", "criterion", "part", "metric", "judge", "level"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "level": EVIDENCE.columns["level"],
        "verdict": Column(
            TEXT,
            (
                "`use`, `these systems only`, `promising`, `cannot tell`, `explained "
                "by` a confound, `too weak`, `contrary`, `fitted` or `undefined`; "
                "docs/meta-evaluation.md says when"
            ),
        ),
        "advice": Column(TEXT, "what to do about the metric, in a few words"),
        "trusted": Column(BOOLEAN, "true exactly for `use` and `these systems only`"),
        "as_good_as_rater": Column(
            BOOLEAN,
            (
                "whether the metric agrees with raters as well as a rater does, or "
                "at most `margin` less: by against_rater_low, and only where the "
                "verdict is `promising` or better"
            ),
        ),
        "only_between_systems": Column(
            BOOLEAN,
            (
                "whether half or more of the correlation goes with the system held "
                "constant, and what is left is not promising: such a metric says "
                "nothing of two texts of one system. Only where the verdict is "
                "`promising` or better"
            ),
        ),
        "rests_on_classes": Column(
            BOOLEAN,
            (
                "whether the verdict would be `use` if the value might not come from "
                "classes of systems or documents alone: see weakest, classes and "
                "verdict_without_apart"
            ),
        ),
        "coefficient": COEFFICIENT,
        "primary": EVIDENCE.columns["primary"],
        "fitted": EVIDENCE.columns["fitted"],
        "selected": EVIDENCE.columns["selected"],
        "n_tried": EVIDENCE.columns["n_tried"],
        "value": EVIDENCE.columns["value"],
        "low": EVIDENCE.columns["low"],
        "high": HIGH,
        "low_these_systems": EVIDENCE.columns["low_these_systems"],
        "high_these_systems": EVIDENCE.columns["high_these_systems"],
        "p": EVIDENCE.columns["p"],
        "shown_by": EVIDENCE.columns["shown_by"],
        "rests_on": EVIDENCE.columns["rests_on"],
        "smallest_p": EVIDENCE.columns["smallest_p"],
        "n": EVIDENCE.columns["n"],
        "n_systems": EVIDENCE.columns["n_systems"],
        "n_families": EVIDENCE.columns["n_families"],
        "n_documents": EVIDENCE.columns["n_documents"],
        "n_clusters": EVIDENCE.columns["n_clusters"],
        "n_strata": EVIDENCE.columns["n_strata"],
        "n_undefined": EVIDENCE.columns["n_undefined"],
        "n_tied": EVIDENCE.columns["n_tied"],
        "n_missing": EVIDENCE.columns["n_missing"],
        "design": EVIDENCE.columns["design"],
        "corrected": EVIDENCE.columns["corrected"],
        "corrected_low": EVIDENCE.columns["corrected_low"],
        "corrected_high": EVIDENCE.columns["corrected_high"],
        "accuracy": EVIDENCE.columns["accuracy"],
        "chance": EVIDENCE.columns["chance"],
        "epsilon": EVIDENCE.columns["epsilon"],
        "n_pairs": EVIDENCE.columns["n_pairs"],
        "with_raters": EVIDENCE.columns["with_raters"],
        "rater": EVIDENCE.columns["rater"],
        "against_rater": EVIDENCE.columns["against_rater"],
        "against_rater_low": EVIDENCE.columns["against_rater_low"],
        "against_rater_high": EVIDENCE.columns["against_rater_high"],
        "n_raters": EVIDENCE.columns["n_raters"],
        "n_against_rater": EVIDENCE.columns["n_against_rater"],
        "confound": EVIDENCE.columns["confound"],
        "given_confound": EVIDENCE.columns["given_confound"],
        "given_confound_p": EVIDENCE.columns["given_confound_p"],
        "within_systems": EVIDENCE.columns["within_systems"],
        "within_systems_p": EVIDENCE.columns["within_systems_p"],
        "weakest": EVIDENCE.columns["weakest"],
        "classes": EVIDENCE.columns["classes"],
        "given_classes": EVIDENCE.columns["given_classes"],
        "apart": EVIDENCE.columns["apart"],
        "without_apart": EVIDENCE.columns["without_apart"],
        "without_apart_low": EVIDENCE.columns["without_apart_low"],
        "without_apart_high": EVIDENCE.columns["without_apart_high"],
        "without_apart_p": EVIDENCE.columns["without_apart_p"],
        "n_without_apart": EVIDENCE.columns["n_without_apart"],
        "verdict_without_apart": Column(
            TEXT,
            "the verdict without the systems or documents that raters set apart",
            null=True,
        ),
        "needed_systems": Column(
            INTEGER,
            (
                "about so many systems (families) would settle it, together with "
                "needed_documents; only where the verdict is `cannot tell` or "
                "`promising`, and within a hundred times the study"
            ),
            null=True,
        ),
        "needed_documents": Column(
            INTEGER,
            "the number of documents (clusters) that goes with it",
            null=True,
        ),
        "sentence": Column(TEXT, "the verdict in words"),
        "recipe": RECIPE,
    },
)
