"""Tests of judges: gold labels and verdicts."""

from metassay.tables.columns import INTEGER, JUDGE, REAL, RECIPE, TEXT
from metassay.tables.parquet import Column, Table

GOLD = Table(
    name="gold",
    says=(
        "the items of a test of judges and their right answers; `pairs` has their "
        "premises and hypotheses under doc_id"
    ),
    key=("item",),
    columns={
        "item": Column(
            TEXT,
            "the item of a test of judges: one question with one right answer",
        ),
        "subset": Column(TEXT, "the test set that it belongs to"),
        "kind": Column(
            TEXT,
            (
                "what is tried with it, such as `negation`; `full` where there are "
                "no kinds"
            ),
        ),
        "cluster": Column(
            TEXT,
            "items of one cluster are alike: of one text or document",
        ),
        "label": Column(
            TEXT,
            (
                "the right answer; null where there is none: nothing is counted of "
                "such items"
            ),
            null=True,
            choices=(
                "entailed",
                "not_entailed",
                "neutral",
                "contradicted",
            ),
        ),
        "unlabelled": Column(
            TEXT,
            (
                "why there is none: the data have no label, or half of the people "
                "who labelled it say entailed"
            ),
            null=True,
            choices=(
                "no_label",
                "split",
            ),
        ),
    },
)

GIVEN_VERDICTS = Table(
    name="given_verdicts",
    says="what judges said of items that the data themselves bring",
    key=("item", "judge"),
    columns={
        "item": Column(
            TEXT,
            "the item of a test of judges: one question with one right answer",
        ),
        "judge": Column(TEXT, "whose verdict it is"),
        "status": Column(
            TEXT,
            "ok, or why there is no verdict",
            choices=(
                "ok",
                "abstained",
                "unparsed",
                "refused",
                "truncated",
                "error",
            ),
        ),
        "label": Column(
            TEXT,
            "the verdict; null where a probability alone is given",
            null=True,
            choices=(
                "entailed",
                "not_entailed",
                "neutral",
                "contradicted",
            ),
        ),
        "probability": Column(
            REAL,
            "that the hypothesis is entailed, 0 to 1",
            null=True,
        ),
        "recipe": RECIPE,
    },
)

VERDICTS = Table(
    name="verdicts",
    says="what judges say of items: the judgments of an item's premises taken together",
    key=("item", "judge"),
    columns={
        "item": Column(
            TEXT,
            "the item of a test of judges: one question with one right answer",
        ),
        "judge": Column(
            TEXT,
            "the judge's name in params.yaml, or that of one whose verdicts were given",
        ),
        "status": Column(
            TEXT,
            (
                "ok, or why there is no label. abstained: no premise failed, and of "
                "one or more the judge is not sure enough"
            ),
            choices=(
                "ok",
                "abstained",
                "unparsed",
                "refused",
                "truncated",
                "error",
            ),
        ),
        "label": Column(
            TEXT,
            (
                "entailed if any premise entails the hypothesis; else null if any "
                "judgment is missing; else contradicted if any contradicts it; else "
                "not_entailed or neutral. Of a probability that was given alone the "
                "threshold of params.yaml makes it"
            ),
            null=True,
            choices=(
                "entailed",
                "not_entailed",
                "neutral",
                "contradicted",
            ),
        ),
        "probability": Column(
            REAL,
            (
                "the largest probability, over the premises, that the hypothesis is "
                "entailed; null if one of them has none"
            ),
            null=True,
        ),
        "position": Column(
            INTEGER,
            (
                "the premise that decides: of those with the item's label the most "
                "probable; null without a label, and of verdicts given"
            ),
            null=True,
        ),
        "n_premises": Column(
            INTEGER,
            "the judgments that there should be: one a premise, 1 if given",
        ),
        "n_judged": Column(INTEGER, "how many of them have a label"),
        "recipe": RECIPE,
    },
)

ATTACK_GAINS = Table(
    name="attack_gains",
    says=(
        "a judge's attack card: how many more false texts it passes when they are "
        "attacked, by attack"
    ),
    key=("judge", "attack"),
    columns={
        "judge": JUDGE,
        "attack": Column(TEXT, "what was done to the text; docs/judges.md has all"),
        "verdict": Column(
            TEXT,
            (
                "gamed by: the gain is no chance and at least half of the margin. "
                "robust to: the interval lies below the margin. Both hold whatever "
                "missing answers would have been"
            ),
            choices=("gamed by", "robust to", "cannot tell"),
        ),
        "plain": Column(
            REAL,
            "share of the false claims that pass as they are",
            null=True,
        ),
        "attacked": Column(REAL, "share of them that pass after the attack", null=True),
        "gain": Column(REAL, "attacked less plain; 0 is best", null=True),
        "low": Column(
            REAL,
            (
                "lower end of the gain's interval, by document; the intervals of all "
                "attacks hold at once in 95 % of tests. Missing answers count as no gain"
            ),
            null=True,
        ),
        "high": Column(
            REAL,
            "upper end; missing answers count as a gain",
            null=True,
        ),
        "p": Column(
            REAL,
            "of no gain and no loss, adjusted for all attacks (sign flips, max-T)",
            null=True,
        ),
        "n": Column(INTEGER, "claims with both answers; abstaining is not passing"),
        "n_documents": Column(INTEGER, "documents that they are of"),
        "n_missing": Column(INTEGER, "claims without one of both answers"),
        "margin": Column(REAL, "the smallest gain that matters, as params.yaml has it"),
        "recipe": RECIPE,
    },
)
