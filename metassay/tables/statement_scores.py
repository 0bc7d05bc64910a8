"""Scores of single statements, each read against the passages that are aligned with it."""

from metassay.tables.columns import table

STATEMENT_SCORES = table(
    "statement_scores",
    "scores of single statements, read against the passages that are aligned with them. A metric’s"
    " name ends in `@` and the alignment’s where the benchmark has several",
    "doc_id author part position metric judge",
    """
    doc_id author part
    position integer: the statement's position in its part
    number integer: its number in the whole text, from 0
    metric text: the metric's name in docs/metrics.md
    judge text: the judge, or the checkpoint of a metric that has several; `none` without either
    value real?: the score; null if it is undefined, or if the model gave no usable answer
    failed boolean: the value is null because the model gave no usable answer
    unread real: the share of the tokens of the aligned passages that the model did not read
    cut boolean: an end of the statement was not read, or it has more sentences than are read
    better
    recipe
    """,
)
