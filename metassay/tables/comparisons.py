"""Two states of a benchmark, or two of its systems."""

from metassay.tables.columns import table

CHANGES = table(
    "changes",
    "what differs between two states of a benchmark, or two of its systems, on the same documents",
    "part metric judge author",
    """
    part metric judge
    author text: `reference` or a system's name; of two systems compared, the second
    verdict regressed|improved|changed|no difference shown|same numbers|cannot tell: what is shown,
      after adjustment for all rows; `changed` of a metric without a better direction; `same
      numbers` if nothing differs beyond rounding
    why text: why one cannot tell, and what missing answers could do; else empty
    lacks_answers boolean: whether missing answers leave the verdict open, or are more than before
    before real?: mean before over the documents that have both scores
    after real?: mean after over the same documents
    difference real?: after less before
    low real?: lower end of its interval, for other documents, of this row alone
    high
    least real?: the smallest difference that missing answers leave possible
    most real?: the largest such difference
    p real?: of this row alone, two-sided; null if nothing differs
    p_adjusted real?: adjusted for all rows: what the verdict rests on
    smallest_p real?: no p can be smaller with so few documents that differ
    n integer: documents that have both scores
    n_changed integer: how many of these differ
    n_only_before integer: documents that have the score before alone; left out
    n_only_after integer: documents that have the score after alone; left out
    n_failed_before integer: answers that are missing before
    n_failed_after integer: answers that are missing after
    better
    same_recipe boolean: whether both were measured alike; if not, that may be the cause
    """,
)

CHANGED_DOCUMENTS = table(
    "changed_documents",
    "the documents behind each row of `changes`: those whose score moved furthest",
    "part metric judge author position",
    """
    part metric judge author
    position integer: 1 for the document that moved furthest
    doc_id
    before real: its score before
    after real: its score after
    difference real: after less before
    n_failed integer: answers that are missing behind these two scores
    """,
    CHANGES.columns,
)
