"""Several metrics together, against people."""

from metassay.tables.columns import ORIENTED, table

ENSEMBLES = table(
    "ensembles",
    "several metrics together: the mean of each subset, standardised, against human ratings",
    "study criterion part coefficient kind members",
    f"""
    study criterion part coefficient
    kind subset|containing|best: one subset; the mean over all subsets that contain a metric; or the
      best subset by nested cross-validation
    members text: the metrics, sorted and joined by ` + `; of `containing` the one metric
    size integer: how many metrics the subset has; of `containing` 1
    value real?: correlation over all texts; of `best` on texts it was not chosen on. {ORIENTED}
    low real?: lower end of the bootstrap interval over texts; null for `best`
    high
    low_of_values real?: of `containing`: lower end of the bootstrap interval over subsets, as
      papers print it
    high_of_values real?: upper end of the interval
    in_sample real?: of `best`: its correlation on the texts it was chosen on
    n integer: texts it rests on: those that people rated and that have every metric
    n_missing integer: texts that people rated and that lack a metric
    """,
)
