"""Accuracy of judges, and calibration of their probabilities."""

from metassay.tables.columns import (
    CRITERION,
    HIGH,
    INTEGER,
    JUDGE,
    METRIC,
    PART,
    REAL,
    RECIPE,
    STUDY,
    TEXT,
)
from metassay.tables.parquet import Column, Table

JUDGE_CARDS = Table(
    name="judge_cards",
    says=(
        "what a judge's pass or fail of texts is worth, beside people's. In a test "
        "of judges each item counts as a text that passes if its hypothesis is "
        "entailed; study is its subset and part its kind"
    ),
    key=("study", "criterion", "part", "metric", "judge", "statistic"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "statistic": Column(
            TEXT,
            "the number; docs/meta-evaluation.md explains each",
            choices=(
                "true_pass",
                "false_pass",
                "false_fail",
                "true_fail",
                "sensitivity",
                "specificity",
                "precision",
                "negative_predictive_value",
                "balanced_accuracy",
                "f1",
                "cohen_kappa",
                "mcc",
                "agreement",
                "agreement_by_chance",
                "accuracy_3way",
                "balanced_accuracy_3way",
                "macro_f1_3way",
                "weighted_f1_3way",
                "cohen_kappa_3way",
                "gwet_ac1_3way",
                "krippendorff_alpha_3way",
                "majority_baseline_3way",
                "abstained",
                "failed",
                "agreement_at_least",
                "agreement_at_most",
                "judge_pass_rate",
                "people_pass_rate",
                "rogan_gladen_pass_rate",
                "prediction_powered_pass_rate",
                "auroc",
                "brier",
                "bias",
                "ece",
                "ece_by_chance",
                "labels_pass_rate",
                "labels_sensitivity",
                "labels_specificity",
            ),
        ),
        "value": Column(
            REAL,
            (
                "its value; null if undefined, as sensitivity is if people pass no "
                "text, and where fewer than 5 texts of a verdict are rated of more"
            ),
            null=True,
        ),
        "low": Column(
            REAL,
            "lower end of the interval; null for counts, labels and ece",
            null=True,
        ),
        "high": HIGH,
        "n": Column(INTEGER, "texts that it rests on"),
        "n_effective": Column(
            REAL,
            "how many independent texts these are worth, as texts share documents",
        ),
        "n_judged": Column(
            INTEGER,
            "texts of the rated systems that the judge passes or fails",
        ),
        "n_missing": Column(INTEGER, "texts that people rated and the judge did not"),
        "n_split": Column(
            INTEGER,
            "rated texts left out because half of their raters pass them",
        ),
        "threshold": Column(
            REAL,
            "the probability from which a text passes; null where scores are 0 and 1",
            null=True,
        ),
        "width": Column(
            REAL,
            "of `labels_` numbers: how wide the interval is to be",
            null=True,
        ),
        "recipe": RECIPE,
    },
)

CALIBRATION = Table(
    name="calibration",
    says=(
        "whether a judge's probabilities of passing mean what they say, by bins of "
        "probability"
    ),
    key=("study", "criterion", "part", "metric", "judge", "bin"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "bin": Column(
            INTEGER,
            (
                "counted from 0, the lowest probabilities first; bins are about "
                "equally large"
            ),
        ),
        "lowest": Column(REAL, "the lowest probability in the bin"),
        "highest": Column(REAL, "the highest probability in the bin"),
        "mean": Column(REAL, "the mean probability in the bin"),
        "passed": Column(REAL, "share of the bin's texts that people passed"),
        "low": Column(REAL, "lower end of the interval of that share"),
        "high": Column(REAL, "upper end of the interval"),
        "n": Column(INTEGER, "texts in the bin"),
        "recipe": RECIPE,
    },
)
CARD_STATISTICS = JUDGE_CARDS.columns["statistic"].choices
