"""Which of two texts is better: by metrics, and by people."""

from metassay.tables.columns import table

PREFERENCES = table(
    "preferences",
    "whether a metric orders two texts as people who compared them do",
    "study criterion part metric judge",
    """
    study criterion part metric judge
    value real?: share of comparisons in which metric and rater say the same, ties too
    decisive real?: the same share where the rater prefers one text; a tie of the metric counts half
    n_same integer: comparisons in which metric and rater prefer the same text
    n_opposite integer: comparisons in which they prefer different texts
    n_metric_tie integer: comparisons in which only the metric has a tie
    n_human_tie integer: comparisons in which only the rater has a tie
    n_both_tie integer: comparisons in which both have a tie
    n_abstained integer: comparisons in which the rater abstained
    n_missing integer: comparisons in which a text has no score
    recipe
    """,
)

CONFLICTS = table(
    "conflicts",
    "how often two metrics disagree about which of two texts is better",
    "part metric_a metric_b doc_id",
    """
    part
    metric_a text: the metric, with its judge in brackets if it has one
    metric_b text: the metric, with its judge in brackets if it has one
    doc_id
    n_pairs integer: pairs of systems that have both scores in this document
    n_disagreements integer: those of them in which one metric prefers one text and the other metric
      the other
    """,
)

DISAGREEMENTS = table(
    "disagreements",
    "a sample of pairs of texts that two metrics order differently, worth annotating",
    "part metric_a metric_b doc_id author_a author_b",
    """
    part
    metric_a text: the metric (and its judge) that prefers author_a
    metric_b text: the metric (and its judge) that prefers author_b
    doc_id
    author_a text: `reference` or a system's name
    author_b text: `reference` or a system's name
    conflict real: how far apart the metrics rank the two texts within the document
    """,
)
