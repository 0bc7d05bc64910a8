"""The questions by which LLM judges are watched, and what came of it."""

from metassay.tables.columns import table

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
