"""Numbers over time: what differs, the runs of `metassay watch check`, and the drift sentinel."""

from metassay.tables.columns import table
from metassay.tables.leaderboard import LEADERBOARD

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

HISTORY = table(
    "history",
    "the runs of `metassay watch check` for one benchmark",
    "run",
    """
    run text: when it ended: UTC, as 2026-01-05T06:00:12Z
    revision text?: git's commit, with + if files differ from it; null without git
    did run again|nothing to do|failed: whether anything that its stages read was another than
      before
    stages integer: stages that were looked at again
    accepted text?: the accepted numbers: start of their lock's SHA-256
    compared integer?: rows compared with these; null if nothing was
    regressed integer?: how many of these got worse
    improved integer?: how many got better
    changed integer?: how many changed that have no better direction
    cannot_tell integer?: of how many one cannot tell
    causes texts: what differs from what made the accepted numbers
    certificates integer?: certificates with another verdict than accepted
    missing integer: answers of language models that are missing
    alarms integer?: alarms of the drift sentinel; null without anchors
    status integer: the exit code for this benchmark: 0, 1, 3, 4 or 5 (4, too, for drift of old)
    """,
)

HISTORY_MEANS = table(
    "history_means",
    "the leaderboard's means of whole texts after each run that made them again",
    "run part metric judge author",
    """
    run text: the run, as in `history`; a run that is not here has the means before it
    part metric judge author
    mean real?: the mean over the documents whose score is defined
    low high n_documents n_undefined n_failed better
    verdict text?: beside the accepted mean, as in `changes`; null if not compared
    recipe
    """,
    LEADERBOARD.columns,
)

ANCHORS = table(
    "anchors",
    "the questions by which an LLM judge is watched, drawn once:"
    " benchmarks/NAME/sentinel/anchors/. It has keys and answers and no text, so that it can be"
    " committed",
    "pair_id",
    """
    pair_id text: the pair that is asked again; a hash of its texts
    item integer: what was drawn together: all pairs that one item of a metric rests on
    stratum text: what it was drawn from: the questions of some measures, by the stored verdict;
      equally many are drawn from each
    instrument text: what is asked of premise and hypothesis
    measure text: the question's place in a measure, as in table pairs
    doc_id author part
    verdict text?: the stored answer: a label, or a grade as text. Null if the pair is asked only
      since others are asked with it
    repeats texts: the answers of the same judge to the same questions when they were drawn, one for
      each repetition; empty where there was none
    weight real: how many of the author's items in this stratum each drawn one stands for
    covered real: share of the author's items about such questions that are of strata of which some
      were drawn
    recipe text: the judge's signature: its model, prompt and settings
    anchor_set text: hash of the questions and their stored verdicts
    """,
)

DRIFT = table(
    "drift",
    "every check of an LLM judge against its anchors: benchmarks/NAME/sentinel/drift.parquet",
    "benchmark judge when",
    """
    benchmark text: the benchmark that the anchors are of
    judge
    when text: when it was checked, in UTC: 2026-11-22T06:00:00Z
    state no alarm|alarm|cannot tell|retired|another judge: what came of it; cannot tell: too many
      answers are missing, or it could not be asked; retired: the endpoint has no such model any
      more; another judge: params.yaml asks by another model, prompt or setting than the anchors
      were answered by, so that nothing was asked
    alarm boolean: whether somebody has to look: alarm or retired
    why text: the same in a sentence
    anchor_set text: hash of the questions and their stored verdicts
    anchors integer: questions with a stored verdict
    answered integer: of these, how many have a verdict now
    failed integer: how many have none; they are unknown, and never count as changed
    false_alarm real: the stated rate of false alarms per check of one judge
    changed integer?: verdicts that differ from the stored ones
    expected real?: how many would differ by repeated judging alone
    high integer?: the most that may be chance
    p_changed real?: chance of so many or more by repeated judging alone
    shift integer?: verdicts that went up (towards the first label, such as entailed, or a higher
      grade) less those that went down
    shift_low integer?: the least that may be chance
    shift_high integer?: the greatest that may be chance
    p_shift real?: chance of such a shift, either way, by repeated judging alone
    spent real?: what the check can have cost at most; null without prices
    currency text?: of `spent`
    """,
)
