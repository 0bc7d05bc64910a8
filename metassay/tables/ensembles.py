"""Several metrics together, against people."""

from metassay.tables.columns import COEFFICIENT, CRITERION, ORIENTED, PART, STUDY, UPPER
from metassay.tables.parquet import Table, choice, integer, real, text

ENSEMBLES = Table(
    "ensembles",
    "several metrics together: the mean of each subset, standardised, against human ratings",
    ("study", "criterion", "part", "coefficient", "kind", "members"),
    {
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "coefficient": COEFFICIENT,
        "kind": choice(
            "subset",
            "containing",
            "best",
            meaning="one subset; the mean over all subsets that contain a metric; or the best"
            " subset by nested cross-validation",
        ),
        "members": text("the metrics, sorted and joined by ` + `; of `containing` the one metric"),
        "size": integer("how many metrics the subset has; of `containing` 1"),
        "value": real(
            f"correlation over all texts; of `best` on texts it was not chosen on. {ORIENTED}",
            null=True,
        ),
        "low": real("lower end of the bootstrap interval over texts; null for `best`", null=True),
        "high": UPPER,
        "low_of_values": real(
            "of `containing`: lower end of the bootstrap interval over subsets, as papers print it",
            null=True,
        ),
        "high_of_values": UPPER,
        "in_sample": real("of `best`: its correlation on the texts it was chosen on", null=True),
        "n": integer("texts it rests on: those that people rated and that have every metric"),
        "n_missing": integer("texts that people rated and that lack a metric"),
    },
)
