"""Every metric's value for every author."""

from metassay.tables.columns import table

LEADERBOARD = table(
    "leaderboard",
    "each author's corpus value on each metric",
    "part metric judge author",
    """
    part metric judge author
    macro real?: the mean over the documents whose score is defined
    low real?: lower end of macro's interval, from a bootstrap over clusters of documents
    high real?: upper end of that interval
    micro real?: the value of all documents pooled; null if it is not pooled
    least real?: macro if every missing answer were worth as little as it can be; null if a bound of
      a score is not known
    most real?: macro if every missing answer were worth as much as it can be
    n_documents integer: documents for which this author has a row in `scores`
    n_undefined integer: how many of these documents have a null score
    n_expected integer: the sum of n_expected in `scores`
    n_failed integer: the sum of n_failed in `scores`
    better recipe
    """,
)
