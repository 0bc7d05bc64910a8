"""The answers of judges."""

from metassay.tables.columns import JUDGED, table

JUDGMENTS = table(
    "judgments",
    "what judges answered: one row for each pair and judge. A pair whose answer is not needed has"
    " no row: a single citation where the passages together decide",
    "pair_id judge",
    f"""
    pair_id text: the pair that was judged
    judge text: the judge's name in params.yaml
    status {"|".join(JUDGED)}: ok, or why there is no answer; abstained: the judge is not sure
    label text?: the answer, if the instrument asks for a label: `entailed` or `not_entailed` for
      entailment and attribution. Null if it asks for a grade, or if status is not ok
    probability real?: the judge's probability that the hypothesis is entailed, 0 to 1, where it
      gives one, also where it abstained
    grade real?: the answer, if the instrument asks for a grade: 0 to 3 for support_grade, the level
      of a scale, the number of penalties. Null if it asks for a label, or if status is not ok
    explanation text?: the judge's reason, verbatim
    quotes texts: what the judge quotes as its evidence; mostly none
    quote_starts integers: where each quote starts in the hypothesis, in characters; -1: it is not
      there
    tokens integer?: tokens that were paid for, of prompt and answer
    attempts integer: how often the judge was asked
    repaired boolean: the answer was not in just the form that was asked for (a bullet, other case,
      a number as text), but can mean one thing only
    recipe text: the judge's signature: its model, prompt and settings
    """,
)
