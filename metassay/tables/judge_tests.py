"""Tests of judges: items, their right answers, and what judges say of them."""

from metassay.tables.columns import JUDGED, RECIPE
from metassay.tables.parquet import Table, choice, integer, real, text

_ITEM = text("the item of a test of judges: one question with one right answer")

_LABELS = ("entailed", "not_entailed", "neutral", "contradicted")

GOLD = Table(
    "gold",
    "the items of a test of judges and their right answers; `pairs` has their premises and"
    " hypotheses under doc_id",
    ("item",),
    {
        "item": _ITEM,
        "subset": text("the test set that it belongs to"),
        "kind": text("what is tried with it, such as `negation`; `full` where there are no kinds"),
        "cluster": text("items of one cluster are alike: of one text or document"),
        "label": choice(
            *_LABELS,
            meaning="the right answer; null where there is none: nothing is counted of such items",
            null=True,
        ),
        "unlabelled": choice(
            *("no_label", "split"),
            meaning="why there is none: the data have no label, or half of the people who labelled"
            " it say entailed",
            null=True,
        ),
    },
)

GIVEN_VERDICTS = Table(
    "given_verdicts",
    "what judges said of items that the data themselves bring",
    ("item", "judge"),
    {
        "item": _ITEM,
        "judge": text("whose verdict it is"),
        "status": choice(*JUDGED, meaning="ok, or why there is no verdict"),
        "label": choice(
            *_LABELS, meaning="the verdict; null where a probability alone is given", null=True
        ),
        "probability": real("that the hypothesis is entailed, 0 to 1", null=True),
        "recipe": RECIPE,
    },
)

VERDICTS = Table(
    "verdicts",
    "what judges say of items: the judgments of an item's premises taken together",
    ("item", "judge"),
    {
        "item": _ITEM,
        "judge": text("the judge's name in params.yaml, or that of one whose verdicts were given"),
        "status": choice(
            *JUDGED,
            meaning="ok, or why there is no label. abstained: no premise failed, and of one or more"
            " the judge is not sure enough",
        ),
        "label": choice(
            *_LABELS,
            meaning="entailed if any premise entails the hypothesis; else null if any judgment is"
            " missing; else contradicted if any contradicts it; else not_entailed or neutral. Of"
            " a probability that was given alone the threshold of params.yaml makes it",
            null=True,
        ),
        "probability": real(
            "the largest probability, over the premises, that the hypothesis is entailed; null if"
            " one of them has none",
            null=True,
        ),
        "position": integer(
            "the premise that decides: of those with the item's label the"
            " most probable; null without a label, and of verdicts given",
            null=True,
        ),
        "n_premises": integer("the judgments that there should be: one a premise, 1 if given"),
        "n_judged": integer("how many of them have a label"),
        "recipe": RECIPE,
    },
)
