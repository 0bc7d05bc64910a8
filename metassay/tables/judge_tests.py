"""Tests of judges: items, their right answers, and what judges say of them."""

from metassay.tables.columns import JUDGED, table

GOLD = table(
    "gold",
    "the items of a test of judges and their right answers; `pairs` has their premises and"
    " hypotheses under doc_id",
    "item",
    """
    item text: the item of a test of judges: one question with one right answer
    subset text: the test set that it belongs to
    kind text: what is tried with it, such as `negation`; `full` where there are no kinds
    cluster text: items of one cluster are alike: of one text or document
    label entailed|not_entailed|neutral|contradicted?: the right answer; null where there is none:
      nothing is counted of such items
    unlabelled no_label|split?: why there is none: the data have no label, or half of the people who
      labelled it say entailed
    """,
)

GIVEN_VERDICTS = table(
    "given_verdicts",
    "what judges said of items that the data themselves bring",
    "item judge",
    f"""
    item text: the item of a test of judges: one question with one right answer
    judge text: whose verdict it is
    status {"|".join(JUDGED)}: ok, or why there is no verdict
    label entailed|not_entailed|neutral|contradicted?: the verdict; null where a probability alone
      is given
    probability real?: that the hypothesis is entailed, 0 to 1
    recipe
    """,
)

VERDICTS = table(
    "verdicts",
    "what judges say of items: the judgments of an item's premises taken together",
    "item judge",
    f"""
    item text: the item of a test of judges: one question with one right answer
    judge text: the judge's name in params.yaml, or that of one whose verdicts were given
    status {"|".join(JUDGED)}: ok, or why there is no label. abstained: no premise failed, and of
      one or more the judge is not sure enough
    label entailed|not_entailed|neutral|contradicted?: entailed if any premise entails the
      hypothesis; else null if any judgment is missing; else contradicted if any contradicts it;
      else not_entailed or neutral. Of a probability that was given alone the threshold of
      params.yaml makes it
    probability real?: the largest probability, over the premises, that the hypothesis is entailed;
      null if one of them has none
    position integer?: the premise that decides: of those with the item's label the most probable;
      null without a label, and of verdicts given
    n_premises integer: the judgments that there should be: one a premise, 1 if given
    n_judged integer: how many of them have a label
    recipe
    """,
)
