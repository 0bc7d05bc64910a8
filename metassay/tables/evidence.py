"""Statistics behind the verdicts on metrics, and the independent units of a study."""

from metassay.tables.columns import (
    BOOLEAN,
    COEFFICIENT,
    CRITERION,
    HIGH,
    INTEGER,
    JUDGE,
    METRIC,
    ONE_SIDED,
    ORIENTED,
    OTHERS,
    PART,
    REAL,
    RECIPE,
    STUDY,
    TEXT,
)
from metassay.tables.parquet import Column, Table

EVIDENCE = Table(
    name="evidence",
    says="the numbers that verdicts on metrics rest on",
    key=("study", "criterion", "part", "metric", "judge", "level"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "level": Column(
            TEXT,
            (
                "what is to be decided between: any two texts; two texts of one "
                "document; or two systems"
            ),
            choices=(
                "global",
                "document",
                "system",
            ),
        ),
        "better": Column(
            TEXT,
            "which end of the criterion is better",
            choices=(
                "higher",
                "lower",
            ),
        ),
        "coefficient": COEFFICIENT,
        "confidence": Column(
            REAL,
            (
                "the confidence of the intervals; the tests have 1 less this as "
                "their level"
            ),
        ),
        "primary": Column(
            BOOLEAN,
            (
                "whether the metric was named as the primary one before anybody "
                "looked; it is then not adjusted for the others"
            ),
        ),
        "fitted": Column(
            BOOLEAN,
            "whether the metric was fitted on these ratings; it then has no verdict",
        ),
        "selected": Column(
            BOOLEAN,
            (
                "whether the rated texts have more extreme scores of the metric than "
                "other texts of the same systems: raters got texts that were chosen "
                "by scores, and the value is not that over all texts"
            ),
        ),
        "n_tried": Column(
            INTEGER,
            (
                "how many metrics and criteria (and parts) p and the corrected "
                "numbers are adjusted for; a metric by a criterion counts as one, "
                "the best of several as so many"
            ),
        ),
        "value": Column(
            REAL,
            f"the correlation; null if undefined. {ORIENTED}",
            null=True,
        ),
        "low": Column(
            REAL,
            OTHERS,
            null=True,
        ),
        "high": HIGH,
        "low_these_systems": Column(
            REAL,
            "lower end of the interval for these systems and other documents",
            null=True,
        ),
        "high_these_systems": Column(
            REAL,
            "upper end of the interval",
            null=True,
        ),
        "variance_systems": Column(
            REAL,
            "variance of the correlation, on Fisher's z scale, between sets of systems",
            null=True,
        ),
        "variance_documents": Column(
            REAL,
            "the same between sets of documents",
            null=True,
        ),
        "p": Column(
            REAL,
            (
                "a small p shows that metric and people are related. It is the "
                "smallest of the level itself and of its components, in the "
                "direction of the value. It is adjusted for all of these and for all "
                "metrics and criteria of the level (`n_tried`). Unless the user says "
                "which systems and documents belong together, the relation must show "
                "both where systems alone and where documents alone are put in other "
                "orders"
            ),
            null=True,
        ),
        "shown_by": Column(
            TEXT,
            "what that p is of: the level itself or a component",
            null=True,
            choices=(
                "global",
                "document",
                "system",
                "between_systems",
                "between_documents",
                "within",
            ),
        ),
        "rests_on": Column(
            TEXT,
            (
                "the units between which alone a relation shows, where p is not "
                "small: it holds if none of these is a version of another, or of the "
                "same topic. `family` says that of systems, and `cluster` of "
                "documents. Null where p is small or nothing shows"
            ),
            null=True,
            choices=(
                "systems",
                "documents",
            ),
        ),
        "smallest_p": Column(
            REAL,
            (
                "no p can be smaller here, because systems and documents have only "
                "so many orders"
            ),
            null=True,
        ),
        "n": Column(
            INTEGER,
            "what the value rests on: texts, documents or systems, by the level",
        ),
        "n_systems": Column(
            INTEGER,
            "systems that have texts with a score and a rating",
        ),
        "n_families": Column(INTEGER, "the same, families of systems counted as one"),
        "n_documents": Column(INTEGER, "documents that have such texts"),
        "n_clusters": Column(INTEGER, "the same, clusters of documents counted as one"),
        "n_strata": Column(
            INTEGER,
            "strata; correlations are of what varies within each",
        ),
        "n_undefined": Column(
            INTEGER,
            "documents that have no correlation; 0 at other levels",
        ),
        "n_tied": Column(
            INTEGER,
            (
                "documents whose texts people tell apart and the metric does not; 0 "
                "at other levels"
            ),
        ),
        "n_missing": Column(INTEGER, ONE_SIDED),
        "design": Column(
            TEXT,
            (
                "crossed: systems wrote on the same documents. Nested: each document "
                "has the text of one system, so that the test exchanges documents "
                "within a system only. One system: nothing can be said of other "
                "systems. No systems: nobody says who wrote the texts"
            ),
            choices=(
                "crossed",
                "nested",
                "one system",
                "no systems",
            ),
        ),
        "joint_confidence": Column(
            REAL,
            (
                "the confidence of corrected_low and corrected_high, at which the "
                "intervals of all metrics and criteria of the level hold at once; "
                "null for fitted metrics"
            ),
            null=True,
        ),
        "corrected": Column(
            REAL,
            (
                "the value, corrected for luck: the best of many metrics is partly "
                "the luckiest"
            ),
            null=True,
        ),
        "corrected_low": Column(
            REAL,
            "lower end of the interval that holds for all metrics and criteria at once",
            null=True,
        ),
        "corrected_high": Column(
            REAL,
            "upper end of the interval",
            null=True,
        ),
        "accuracy": Column(
            REAL,
            "share of pairs that the metric orders, or ties, as people do",
            null=True,
        ),
        "chance": Column(
            REAL,
            "the same share if the metric's scores are dealt at random",
            null=True,
        ),
        "epsilon": Column(
            REAL,
            (
                "scores no further apart than this count as a tie; the choice that "
                "suits the metric best"
            ),
            null=True,
        ),
        "n_pairs": Column(INTEGER, "pairs of texts or systems behind the accuracy"),
        "with_raters": Column(
            REAL,
            (
                "the metric's correlation with the mean of all raters but one, "
                "averaged over the raters left out; null with one rater"
            ),
            null=True,
        ),
        "rater": Column(
            REAL,
            "the left-out rater's own, on the same texts, averaged likewise",
            null=True,
        ),
        "against_rater": Column(
            REAL,
            "`with_raters` less `rater`",
            null=True,
        ),
        "against_rater_low": Column(
            REAL,
            (
                "lower end of its interval for other systems and documents; it holds "
                "for all metrics at once. Null where next to nothing is known"
            ),
            null=True,
        ),
        "against_rater_high": Column(
            REAL,
            "upper end of the interval",
            null=True,
        ),
        "n_raters": Column(INTEGER, "how many raters were left out in turn"),
        "n_against_rater": Column(
            INTEGER,
            (
                "texts, documents or systems, by the level, on which metric and "
                "rater are compared; the fewest of any rater"
            ),
        ),
        "confound": Column(
            TEXT,
            (
                "another metric: half or more of the correlation goes if it is held "
                "constant; null if there is none such"
            ),
            null=True,
        ),
        "given_confound": Column(
            REAL,
            "what is left of the correlation with it held constant",
            null=True,
        ),
        "given_confound_p": Column(
            REAL,
            "a small p shows that what is left is a relation; adjusted",
            null=True,
        ),
        "within_systems": Column(
            REAL,
            (
                "the correlation with the system held constant: of texts by one "
                "system. Null at system level"
            ),
            null=True,
        ),
        "within_systems_p": Column(
            REAL,
            (
                "a small p shows that this is a relation; adjusted. Null where more "
                "than half is left"
            ),
            null=True,
        ),
        "weakest": Column(
            REAL,
            (
                "the smallest value with classes removed: two classes of systems (of "
                "any two texts: or of documents), cut anywhere in the order of "
                "people's means, or three; or without the systems that people like "
                "least, up to half of them. Only where p is small"
            ),
            null=True,
        ),
        "classes": Column(
            TEXT,
            (
                "`systems` or `documents`: their classes explain the correlation "
                "better than people's means do (of two systems, more easily for a "
                "metric that is not shown to follow people among texts of one system, "
                "by .3 or more); `raters`: each system has raters of its own set, whose "
                "severity may. Null if nothing of this, or if more than half of a "
                "correlation of texts is left"
            ),
            null=True,
        ),
        "given_classes": Column(
            REAL,
            "the correlation with the means of these classes subtracted",
            null=True,
        ),
        "apart": Column(
            TEXT,
            (
                "the systems or documents that raters set apart, by how much lower "
                "or higher their means are; null if none are"
            ),
            null=True,
        ),
        "without_apart": Column(
            REAL,
            "the correlation without them",
            null=True,
        ),
        "without_apart_low": Column(
            REAL,
            "its lower end, as of corrected_low",
            null=True,
        ),
        "without_apart_high": Column(
            REAL,
            "its upper end",
            null=True,
        ),
        "without_apart_p": Column(
            REAL,
            "its p, as of p",
            null=True,
        ),
        "n_without_apart": Column(
            INTEGER,
            "systems that are left (families counted as one)",
            null=True,
        ),
        "recipe": RECIPE,
    },
)

DESIGNS = Table(
    name="designs",
    says="how many systems and documents of a study count by themselves",
    key=("study", "criterion", "part"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "design": EVIDENCE.columns["design"],
        "n_systems": Column(INTEGER, "systems that were rated"),
        "n_families": EVIDENCE.columns["n_families"],
        "n_documents": Column(INTEGER, "documents that were rated"),
        "n_clusters": EVIDENCE.columns["n_clusters"],
        "n_strata": EVIDENCE.columns["n_strata"],
        "given": Column(
            TEXT,
            "which of `strata`, `cluster` and `family` the user gave, with commas",
        ),
    },
)

STRATA = Table(
    name="strata",
    says=(
        "each metric's correlation with people in each stratum, where there are several"
    ),
    key=("study", "criterion", "part", "metric", "judge", "level", "stratum"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "level": Column(
            TEXT,
            (
                "what is to be decided between: any two texts; two texts of one "
                "document; or two systems"
            ),
            choices=(
                "global",
                "document",
                "system",
            ),
        ),
        "stratum": Column(TEXT, "its name, or its systems"),
        "coefficient": COEFFICIENT,
        "value": EVIDENCE.columns["value"],
        "low": EVIDENCE.columns["low"],
        "high": HIGH,
        "n": EVIDENCE.columns["n"],
        "n_undefined": EVIDENCE.columns["n_undefined"],
        "n_missing": EVIDENCE.columns["n_missing"],
    },
)
