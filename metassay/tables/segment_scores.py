"""Tests of segmentations: accuracy of labels."""

from metassay.tables.columns import HIGH, INTEGER, REAL, SEGMENTATION, TEXT
from metassay.tables.parquet import Column, Table

SEGMENT_SCORES = Table(
    name="segment_scores",
    says="how often a segmentation gives sentences their right label",
    key=("segmentation", "of", "name", "statistic"),
    columns={
        "segmentation": SEGMENTATION,
        "of": Column(
            TEXT,
            (
                "which sentences: all; those of one label; those in one third of "
                "their text; those of whose label people were less or more sure than "
                "of the median one. `above`: of all sentences that both labelled, by "
                "how much it is above another segmentation"
            ),
            choices=(
                "all",
                "label",
                "place",
                "confidence",
                "above",
            ),
        ),
        "name": Column(
            TEXT,
            (
                "the label, the third, `lower` or `higher`, the other segmentation; "
                "`all` of all"
            ),
        ),
        "statistic": Column(
            TEXT,
            "the number; docs/segmentations.md explains each",
            choices=(
                "accuracy",
                "balanced_accuracy",
                "macro_f1",
                "weighted_f1",
                "cohen_kappa",
                "gwet_ac1",
                "krippendorff_alpha",
                "majority_baseline",
                "precision",
                "recall",
                "f1",
                "failed",
                "accuracy_at_least",
                "accuracy_at_most",
            ),
        ),
        "value": Column(
            REAL,
            "its value; null if undefined",
            null=True,
        ),
        "low": Column(
            REAL,
            "lower end of the interval for other documents; null with one document",
            null=True,
        ),
        "high": HIGH,
        "n": Column(
            INTEGER,
            (
                "sentences that it rests on; of precision, recall and f1 those that "
                "have the label"
            ),
        ),
        "n_failed": Column(
            INTEGER,
            "sentences without a label because the segmentation failed: left out",
        ),
        "n_documents": Column(INTEGER, "the documents that these sentences are of"),
    },
)

CONFUSIONS = Table(
    name="confusions",
    says=(
        "how many sentences of each label a segmentation gives which label; without "
        "those it failed on"
    ),
    key=("segmentation", "label", "given"),
    columns={
        "segmentation": SEGMENTATION,
        "label": Column(TEXT, "the right label"),
        "given": Column(TEXT, "the label that they are given"),
        "n": Column(
            INTEGER,
            "how many; pairs of labels without a sentence are there, too",
        ),
    },
)
