"""Judges beside right answers: their verdicts on items, and a card for each subset and kind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.labelled.records import CRITERION, ENTAILED, NOT_ENTAILED, Names, names_of
from metassay.labelled.verdicts import (
    ABSTAINED,
    OK,
    Beside,
    beside,
    entailed,
    in_three,
    items_of,
    slices,
    verdicts,
)
from metassay.meta_evaluation.judge_cards import Judged, Numbers, Row, card
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import frame_of, generator
from metassay.statistics.classification import three_way
from metassay.statistics.shares import share
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.judge_tests import VERDICTS
from metassay.tables.names import FULL, MEAN_OF_SUBSETS, VERDICT
from metassay.tables.parquet import empty


@dataclass(frozen=True, eq=False)
class Evidence:
    """The tables of a test: its questions, answers, right answers, people's and given verdicts."""

    pairs: pd.DataFrame
    judgments: pd.DataFrame
    gold: pd.DataFrame
    ratings: pd.DataFrame
    given: pd.DataFrame


class Results(NamedTuple):
    """Tables `verdicts`, `judge_cards` and `calibration`, and what their owner should know."""

    verdicts: pd.DataFrame
    cards: pd.DataFrame
    bins: pd.DataFrame
    notes: list[str]


def examine(evidence: Evidence, options: MetaOptions) -> Results:
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
    for one in everyone:
        made, reliability = _of_one(one, common, evidence.gold["subset"].nunique(), options)
        cards += made
        bins += reliability
    notes = [note for one in everyone for note in one.notes()]
    return Results(said, frame_of(cards, JUDGE_CARDS), frame_of(bins, CALIBRATION), notes)


def _labelled(given: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Given verdicts as rows of `verdicts`; of a probability alone the threshold makes a label."""
    alone = given["label"].isna() & given["probability"].notna() & (given["status"] == OK)
    made = pd.Series(_labels(given["probability"] >= threshold, alone), given.index)
    label = given["label"].astype("object").mask(alone, made)
    return given.assign(
        label=label,
        position=pd.Series(None, given.index, dtype="Int64"),
        n_premises=1,
        n_judged=label.notna().astype("int64"),
    )[list(VERDICTS.columns)]


def _of_one(
    one: Beside, common: Sequence[tuple[str, frozenset[str]]], n_subsets: int, options: MetaOptions
) -> tuple[list[Row], list[Row]]:
    """Rows of judge_cards, and rows of calibration."""
    cards: list[Row] = []
    bins: list[Row] = []
    by_subset: list[list[Row]] = []
    key: Row = {"criterion": CRITERION, "metric": VERDICT, "judge": one.judge}
    last: Row = {"recipe": one.recipe}
    for part in slices(one, common):
        key |= {"study": part.study, "part": part.part}
        seed = [str(key[name]) for name in ("study", "criterion", "part", "metric", "judge")]
        theirs = one.take(part.rows)
        judged = Judged(
            entailed(theirs.said),
            entailed(theirs.right),
            theirs.cluster,
            int(np.count_nonzero(theirs.split)),
            theirs.probability if np.isfinite(theirs.probability).any() else None,
            theirs.thresholded,
        )
        made, reliability = card(judged, options, seed, _more(theirs, options, seed))
        cards += [{**key, **row, **last} for row in made]
        bins += [{**key, **row, **last} for row in reliability]
        if part.is_subset:
            by_subset.append(made)
    if len(by_subset) == n_subsets > 1:
        key |= {"study": MEAN_OF_SUBSETS, "part": FULL}
        cards += [{**key, **row, **last} for row in mean_card(by_subset)]
    return cards, bins


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


# Shares and what is like them; counts and rates of passing have no mean that says anything.
AVERAGED = (
    *("sensitivity", "specificity", "balanced_accuracy", "f1", "agreement"),
    *("accuracy_3way", "balanced_accuracy_3way", "macro_f1_3way", "auroc"),
    *("abstained", "failed", "agreement_at_least", "agreement_at_most"),
)
_SUMMED = ("n", "n_effective", "n_judged", "n_missing", "n_split")


def mean_card(cards: Sequence[Sequence[Row]]) -> list[Row]:
    """Rows of `judge_cards`, without key and recipe, of the mean over the cards of several sets.

    Each set counts the same, however many items it has; null where a set has no such number. The
    interval takes the sets for independent: how far its ends lie from the mean, squared, is the sum
    of the sets' own over their number squared (Zou and Donner 2008). Counts are summed.
    """
    by_name = [{str(row["statistic"]): row for row in card} for card in cards]
    return [
        _mean([card[name] for card in by_name])
        for name in AVERAGED
        if all(name in card for card in by_name)
    ]


def _mean(rows: Sequence[Row]) -> Row:
    numbers = [[row[name] for name in ("value", "low", "high")] for row in rows]
    value, low, high = np.array(numbers, dtype=np.float64).T
    mean = float(np.mean(value))
    below, above = (
        float(np.sqrt(np.sum(ends * ends))) / len(rows) for ends in (value - low, high - value)
    )
    summed = {name: sum(row[name] for row in rows) for name in _SUMMED}  # type: ignore[misc]
    return {
        **rows[0],
        **summed,
        "value": mean,
        "low": max(mean - below, 0.0) if not np.isnan(below) else np.nan,
        "high": min(mean + above, 1.0) if not np.isnan(above) else np.nan,
    }


RECIPE = "rater|against the majority of the other raters"


def raters_beside(gold: pd.DataFrame, ratings: pd.DataFrame) -> Iterator[Beside]:
    """Every rater's labels beside the majority of the others, of the items that the rater labelled.

    An item is left out, as split, where half of the others say entailed, and without an answer
    where nobody else labelled it. The gold label has no part in this: it may be the rater's own.
    """
    wide = ratings.pivot_table(
        index="doc_id", columns="rater", values="value", aggfunc="first", dropna=False
    )
    labelled = set(zip(ratings["doc_id"], ratings["rater"], strict=True))
    for rater in wide.columns:
        theirs = wide[[(item, rater) in labelled for item in wide.index]]
        others, labels = theirs.drop(columns=rater), theirs[rater]
        people, passed = others.notna().sum(axis=1), others.sum(axis=1)
        none, half = people == 0, (people > 0) & (2 * passed == people)
        right = pd.DataFrame(
            {
                "item": theirs.index,
                "label": _labels(2 * passed > people, ~none & ~half),
                "unlabelled": _labels(half, half | none, ("split", "no_label")),
            }
        )
        said = empty(VERDICTS).reindex(range(len(theirs)))
        said = said.assign(
            item=theirs.index,
            judge=str(rater),
            status=np.where(labels.notna(), OK, ABSTAINED),
            label=_labels(labels == 1.0, labels.notna()),
            recipe=RECIPE,
        )
        yield from beside(gold.drop(columns=["label", "unlabelled"]).merge(right, on="item"), said)


def _labels(
    yes: "pd.Series[bool]",
    known: "pd.Series[bool]",
    names: tuple[str, str] = (ENTAILED, NOT_ENTAILED),
) -> Names:
    return names_of(pd.Series(np.where(yes, *names), yes.index).where(known))
