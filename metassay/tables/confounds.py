"""Whether a metric sees quality, or something else."""

from metassay.tables.columns import ORIENTED, OTHERS, table

CONFOUNDS = table(
    "confounds",
    "whether a metric sees quality, or copying, length, or who wrote the text",
    "study criterion part metric judge confound level statistic",
    f"""
    study criterion part metric judge
    confound text: what may be behind it: `system`, or another metric
    level
    statistic metric|people|partial|partial_residuals_first|partial_of_any_shape|added|
      lowest_25|lowest_50|lowest_75|lowest_100: what is correlated: the confound with the
      `metric`, or with `people`; or the metric with people, either with the confound held constant
      (`partial`, on a straight line; by Spearman also `partial_residuals_first`;
      `partial_of_any_shape`, by a curve of any shape, on which verdicts rest), or with the confound
      `added` to the metric, or on the texts that have least of the confound (`lowest_`, per cent)
    coefficient
    value real?: the correlation. {ORIENTED}
    low real?: {OTHERS}; only of `metric`, `people`, `partial` and `partial_of_any_shape`
    high
    p real?: a small p shows that a relation is left. It is adjusted for all metrics. Only
      `partial_of_any_shape` has one, and `partial` of the system, where half or more of the plain
      correlation goes
    n integer: what it rests on: texts, documents or systems, by the level; of what is partial,
      texts
    n_missing integer: texts of the study that lack a number that it needs
    """,
)
