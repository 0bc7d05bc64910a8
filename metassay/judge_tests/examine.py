"""Judges beside right answers: their verdicts on items, and a card for each subset and kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.judge_tests.beside import Beside, beside, entailed, in_three, items_of, slices
from metassay.judge_tests.items import CRITERION, ENTAILED, NOT_ENTAILED
from metassay.judge_tests.means import mean_card
from metassay.judge_tests.raters import raters_beside
from metassay.judge_tests.reduction import ABSTAINED, OK, verdicts
from metassay.meta_evaluation.cards import Judged, Numbers, Row, card
from metassay.meta_evaluation.judge_cards import card_frame
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import generator
from metassay.statistics.shares import share
from metassay.statistics.three_way import three_way
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.judge_tests import VERDICTS
from metassay.tables.names import FULL, MEAN_OF_SUBSETS, VERDICT

_Cards = tuple[list[Row], list[Row]]  # rows of judge_cards, rows of calibration


@dataclass(frozen=True, eq=False)
class Evidence:
    """The tables of a test: its questions, answers, right answers, people's and given verdicts."""

    pairs: pd.DataFrame
    judgments: pd.DataFrame
    gold: pd.DataFrame
    ratings: pd.DataFrame
    given: pd.DataFrame


class Found(NamedTuple):
    """Tables `verdicts`, `judge_cards` and `calibration`, and what their owner should know."""

    verdicts: pd.DataFrame
    cards: pd.DataFrame
    bins: pd.DataFrame
    notes: list[str]


def examine(evidence: Evidence, options: MetaOptions) -> Found:
    """Reduce judgments to verdicts, and give every judge and rater its cards.

    A card's study is a subset; `all subsets` and `mean of subsets` where there are several; or
    `items of X`, where a given judge X has verdicts on some items only, so that all can be held
    against X. Its part is a kind, or `full` for all of them. Items without a right answer are in no
    card. A rater is held against what most of the others say.
    """
    given = evidence.given
    said = pd.concat(
        [verdicts(evidence.pairs, evidence.judgments), _labelled(given, options.threshold)],
        ignore_index=True,
    )
    by_threshold = given.loc[given["label"].isna() & given["probability"].notna(), "judge"]
    everyone = [
        *beside(evidence.gold, said, thresholded=set(by_threshold)),
        *raters_beside(evidence.gold, evidence.ratings),
    ]
    every = set(evidence.gold["item"])
    common = [
        (items_of(str(judge)), frozenset(rows["item"]))
        for judge, rows in given.groupby("judge", sort=True)
        if set(rows["item"]) < every
    ]
    cards: list[Row] = []
    bins: list[Row] = []
    many = evidence.gold["subset"].nunique()
    for one in everyone:
        mine, reliability = _of_one(one, common, many, options)
        cards += mine
        bins += reliability
    notes = [note for one in everyone for note in one.notes()]
    return Found(said, card_frame(cards, JUDGE_CARDS), card_frame(bins, CALIBRATION), notes)


def _labelled(given: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Given verdicts as rows of `verdicts`; of a probability alone the threshold makes a label."""
    made = np.where(given["probability"] >= threshold, ENTAILED, NOT_ENTAILED)
    alone = given["label"].isna() & given["probability"].notna() & (given["status"] == OK)
    label = given["label"].astype("object").mask(alone, pd.Series(made, given.index))
    return given.assign(
        label=label,
        position=pd.Series(None, given.index, dtype="Int64"),
        n_premises=1,
        n_judged=label.notna().astype("int64"),
    )[list(VERDICTS.columns)]


def _of_one(
    one: Beside,
    common: Sequence[tuple[str, frozenset[str]]],
    n_subsets: int,
    options: MetaOptions,
) -> _Cards:
    cards: list[Row] = []
    bins: list[Row] = []
    by_subset: list[list[Row]] = []
    last: Row = {"recipe": one.recipe}
    for part in slices(one, common):
        key = _key(part.study, part.part, one.judge)
        seed = [str(name) for name in key.values()]
        theirs = one.take(part.rows)
        made, reliability = card(_judged(theirs), options, seed, _more(theirs, options, seed))
        cards += [{**key, **row, **last} for row in made]
        bins += [{**key, **row, **last} for row in reliability]
        if part.is_subset:
            by_subset.append(made)
    if len(by_subset) == n_subsets > 1:
        key = _key(MEAN_OF_SUBSETS, FULL, one.judge)
        cards += [{**key, **row, **last} for row in mean_card(by_subset)]
    return cards, bins


def _key(study: str, part: str, judge: str) -> Row:
    return {
        "study": study,
        "criterion": CRITERION,
        "part": part,
        "metric": VERDICT,
        "judge": judge,
    }


def _judged(one: Beside) -> Judged:
    return Judged(
        entailed(one.said),
        entailed(one.right),
        one.cluster,
        int(np.count_nonzero(one.split)),
        one.probability if np.isfinite(one.probability).any() else None,
        one.thresholded,
    )


def _more(one: Beside, options: MetaOptions, seed: Sequence[str]) -> Numbers:
    """What verdicts that are missing leave open; and in three labels, where both sides use them."""
    asked = one.take(entailed(one.right) >= 0)
    said, right = entailed(asked.said), entailed(asked.right)
    unknown, hits = np.isnan(said), said == right
    counted = {
        "abstained": asked.status == ABSTAINED,
        "failed": (asked.status != ABSTAINED) & (asked.status != OK),
        "agreement_at_least": hits,
        "agreement_at_most": hits | unknown,
    }
    made = {
        name: share(values, asked.cluster, confidence=options.confidence)
        for name, values in counted.items()
    }
    judge, gold = in_three(asked.said), in_three(asked.right)
    if judge is not None and gold is not None and np.isfinite(judge).any():
        rng = generator(options.seed, "three_way", *seed)
        made |= three_way(
            judge, gold, confidence=options.confidence, rng=rng, cluster=asked.cluster
        )
    return made
