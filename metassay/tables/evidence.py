"""The numbers that verdicts on metrics rest on."""

from metassay.tables.columns import (
    COEFFICIENT,
    CRITERION,
    JUDGE,
    METRIC,
    ONE_SIDED,
    ORIENTED,
    OTHERS,
    PART,
    RECIPE,
    STUDY,
    UPPER,
)
from metassay.tables.parquet import Table, boolean, choice, integer, real, text

EVIDENCE = Table(
    "evidence",
    "the numbers that verdicts on metrics rest on",
    ("study", "criterion", "part", "metric", "judge", "level"),
    {
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "level": choice(
            "global",
            "document",
            "system",
            meaning="what is to be decided between: any two texts; two texts of one document; or"
            " two systems",
        ),
        "better": choice("higher", "lower", meaning="which end of the criterion is better"),
        "coefficient": COEFFICIENT,
        "confidence": real(
            "the confidence of the intervals; the tests have 1 less this as their level"
        ),
        "primary": boolean(
            "whether the metric was named as the primary one before anybody looked; it is then not"
            " adjusted for the others"
        ),
        "value": real(f"the correlation; null if undefined. {ORIENTED}", null=True),
        "low": real(OTHERS, null=True),
        "high": UPPER,
        "low_these_systems": real(
            "lower end of the interval for these systems and other documents", null=True
        ),
        "high_these_systems": UPPER,
        "variance_systems": real(
            "variance of the correlation, on Fisher's z scale, between sets of systems", null=True
        ),
        "variance_documents": real("the same between sets of documents", null=True),
        "p": real(
            "a small p shows that metric and people are related. It is the smallest of the level"
            " itself and of its components, in the direction of the value. It is adjusted for all"
            " of these and for all metrics of the level",
            null=True,
        ),
        "shown_by": choice(
            "global",
            "document",
            "system",
            "between_systems",
            "between_documents",
            "within",
            meaning="what that p is of: the level itself or a component",
            null=True,
        ),
        "smallest_p": real(
            "no p can be smaller here, because systems and documents have only so many orders",
            null=True,
        ),
        "n": integer("what the value rests on: texts, documents or systems, by the level"),
        "n_systems": integer("systems that have texts with a score and a rating"),
        "n_families": integer("the same, families of systems counted as one"),
        "n_documents": integer("documents that have such texts"),
        "n_clusters": integer("the same, clusters of documents counted as one"),
        "n_strata": integer("strata; correlations are of what varies within each"),
        "n_undefined": integer("documents that have no correlation; 0 at other levels"),
        "n_tied": integer(
            "documents whose texts people tell apart and the metric does not; 0 at other levels"
        ),
        "n_missing": ONE_SIDED,
        "design": choice(
            "crossed",
            "nested",
            "one system",
            "no systems",
            meaning="crossed: systems wrote on the same documents. Nested: each document has the"
            " text of one system, so that the test exchanges documents within a system only. One"
            " system: nothing can be said of other systems. No systems: nobody says who wrote the"
            " texts",
        ),
        "joint_confidence": real(
            "the confidence of corrected_low and corrected_high, at which the intervals of all"
            " metrics of the level hold at once"
        ),
        "corrected": real(
            "the value, corrected for luck: the best of many metrics is partly the luckiest",
            null=True,
        ),
        "corrected_low": real(
            "lower end of the interval that holds for all metrics at once", null=True
        ),
        "corrected_high": UPPER,
        "accuracy": real("share of pairs that the metric orders, or ties, as people do", null=True),
        "chance": real("the same share if the metric's scores are dealt at random", null=True),
        "epsilon": real(
            "scores no further apart than this count as a tie; the choice that suits the metric"
            " best",
            null=True,
        ),
        "n_pairs": integer("pairs of texts or systems behind the accuracy"),
        "with_raters": real(
            "the metric's correlation with the mean of all raters but one, averaged over the"
            " raters left out; null with one rater",
            null=True,
        ),
        "rater": real("the left-out rater's own, on the same texts, averaged likewise", null=True),
        "against_rater": real("`with_raters` less `rater`", null=True),
        "against_rater_low": real(
            "lower end of its interval for other systems and documents; it holds for all metrics"
            " at once. Null where next to nothing is known",
            null=True,
        ),
        "against_rater_high": UPPER,
        "n_raters": integer("how many raters were left out in turn"),
        "n_against_rater": integer(
            "texts, documents or systems, by the level, on which metric and rater are compared; the"
            " fewest of any rater"
        ),
        "confound": text(
            "another metric: half or more of the correlation goes if it is held"
            " constant; null if there is none such",
            null=True,
        ),
        "given_confound": real("what is left of the correlation with it held constant", null=True),
        "given_confound_p": real(
            "a small p shows that what is left is a relation; adjusted", null=True
        ),
        "within_systems": real(
            "the correlation with the system held constant: of texts by one system. Null at system"
            " level",
            null=True,
        ),
        "within_systems_p": real(
            "a small p shows that this is a relation; adjusted. Null where more than half is left",
            null=True,
        ),
        "recipe": RECIPE,
    },
)
