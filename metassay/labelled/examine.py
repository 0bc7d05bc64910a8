"""Judges beside right answers: their verdicts on items, and a card for each subset and kind."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, shown
from metassay.labelled import records
from metassay.meta_evaluation.judge_cards import Estimates, Judgments, Row, card
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import frame_of, generator
from metassay.statistics.classification import three_way
from metassay.statistics.exact_sums import Array
from metassay.statistics.shares import share
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.judge_tests import VERDICTS
from metassay.tables.names import ALL_SUBSETS, FULL, MEAN_OF_SUBSETS, VERDICT
from metassay.tables.parquet import empty

OK, ABSTAINED = "ok", "abstained"


def verdicts(pairs: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Table `verdicts`: one row per item and judge of `judgments`.

    An item is entailed if one of its premises is judged to entail it, whatever came of the others.
    Else, while one judgment is missing, nobody knows: the item has no label, and its status is that
    of the first premise that failed, or `abstained` if the judge abstained of all that are missing.
    Else it is contradicted if one premise contradicts it; else it is not entailed (of three labels:
    neutral). Its probability is the largest over its premises, and null if one has none. For
    premises that are read by themselves this is how WiCE (Kamoi et al. 2023) reads its chunks.

    Raises BadInput if a judge has no judgment for one of the pairs.
    """
    asked = pairs[["doc_id", "position", "pair_id", "instrument"]]
    by_judge = judgments.groupby("judge", sort=True)
    made = [_of_judge(asked, theirs, str(judge)) for judge, theirs in by_judge]
    return pd.concat(made, ignore_index=True) if made else empty(VERDICTS)


def _of_judge(asked: pd.DataFrame, judgments: pd.DataFrame, judge: str) -> pd.DataFrame:
    rows = asked.merge(judgments, on="pair_id", how="left").sort_values(["doc_id", "position"])
    absent = rows["status"].isna()
    if absent.any():
        first = rows.loc[absent, "doc_id"].iloc[0]
        raise BadInput(
            f"judgments: {judge} has none for {int(absent.sum())} pair(s), the first of item"
            f" {shown(first)}; run the judge again"
        )
    label = rows["label"].astype("object")
    rows = rows.assign(
        entailed=label == records.ENTAILED,
        contradicted=label == records.CONTRADICTED,
        known=rows["status"] == OK,
        three=rows["instrument"] == "three_way",
        certain=rows["probability"].notna(),
        failed=rows["status"].where(~rows["status"].isin([OK, ABSTAINED])),
    )
    premises = rows.groupby("doc_id", sort=True)
    items = premises.agg(
        {
            **dict.fromkeys(("entailed", "contradicted", "three"), "any"),
            **dict.fromkeys(("known", "certain"), "all"),
            **{"failed": "first", "probability": "max", "recipe": "first"},
        }
    ).assign(n_premises=premises.size(), n_judged=premises["known"].sum())
    which = [items["entailed"], ~items["known"], items["contradicted"], items["three"]]
    names = [records.ENTAILED, "", records.CONTRADICTED, records.NEUTRAL]
    made = pd.Series(np.select(which, names, records.NOT_ENTAILED), index=items.index)
    unknown = made == ""
    label = made.where(~unknown, None)
    found = items.assign(
        item=items.index.astype("str"),
        judge=judge,
        status=items["failed"].fillna(ABSTAINED).where(unknown, OK),
        label=label,
        probability=items["probability"].where(items["certain"]),
        position=_deciding(rows, label),
        recipe="verdict|" + items["recipe"] + "|over premises: any entailed",
    )
    return found[list(VERDICTS.columns)].reset_index(drop=True)


def _deciding(rows: pd.DataFrame, label: "pd.Series[str]") -> "pd.Series[int]":
    """The position of the premise that decides, by item; items without a label have none.

    It is the most probable one of those with the item's label, the first of equals.
    """
    same = rows[rows["label"].astype("object") == rows["doc_id"].map(label)]
    best = same.sort_values(
        ["doc_id", "probability", "position"], ascending=[True, False, True], na_position="last"
    ).drop_duplicates("doc_id")
    return best.set_index("doc_id")["position"].astype("Int64")


class Beside(NamedTuple):
    """What one judge, or rater, said of the items that it was asked about, a row each.

    `thresholded`: whether labels were made of probabilities by a threshold. `rows` has gold's
    columns, of which `label` is the right one and `cluster` a number, and the verdict's:
    `label_said`, `probability`, `status`.
    """

    judge: str
    recipe: str
    thresholded: bool
    rows: pd.DataFrame

    def notes(self) -> Iterator[str]:
        """How many items have no verdict, and why."""
        for name, count in self.rows["status"].astype("object").value_counts().sort_index().items():
            if name != OK:
                yield (
                    f"{self.judge}: {count:,} of {len(self.rows):,} items have no verdict (status"
                    f" {name}): accuracy is given without them, and in bounds with them"
                )


def beside(
    gold: pd.DataFrame, verdicts: pd.DataFrame, *, thresholded: Collection[str] = ()
) -> Iterator[Beside]:
    """Each judge of `verdicts` beside the rows of `gold` that it has verdicts on, by name."""
    known = gold.assign(cluster=pd.factorize(gold["cluster"])[0])
    for judge, theirs in verdicts.groupby("judge", sort=True):
        rows = known.merge(theirs, on="item", suffixes=("", "_said")).sort_values("item")
        yield Beside(str(judge), str(rows["recipe"].iloc[0]), judge in thresholded, rows)


def entailed(labels: "pd.Series[str]") -> Array:
    """1 where a label is entailed, 0 where it is another one, NaN where there is none."""
    return np.where(labels.notna(), labels == records.ENTAILED, np.nan)


def in_three(labels: "pd.Series[str]") -> Array | None:
    """0, 1, 2 for entailed, neutral, contradicted, NaN for none; None if there is another one."""
    places = labels.astype("object").map({name: n for n, name in enumerate(records.THREE)})
    if (places.isna() & labels.notna()).any():
        return None
    return np.asarray(places, dtype=np.float64)


class Slice(NamedTuple):
    """Items that have a card together: of one subset, or several, and of one kind, or all."""

    study: str
    part: str
    rows: pd.DataFrame
    is_subset: bool = False  # one whole test set


def slices(one: Beside, common: Sequence[tuple[str, frozenset[str]]]) -> list[Slice]:
    """The slices of one judge's items that have a right answer; `common` are items by study."""
    rows = one.rows
    subsets, kinds = (sorted(set(rows[name])) for name in ("subset", "kind"))
    studies = [(name, rows[rows["subset"] == name]) for name in subsets]
    studies += [(ALL_SUBSETS, rows)] if len(subsets) > 1 else []
    studies += [(name, rows[rows["item"].isin(items)]) for name, items in common]
    return [
        Slice(study, part, its, study in subsets and part == FULL)
        for study, there in studies
        for part in (FULL, *(kind for kind in kinds if kind != FULL))
        for its in [there if part == FULL else there[there["kind"] == part]]
        if its["label"].notna().any()
    ]


class Results(NamedTuple):
    """Tables `verdicts`, `judge_cards` and `calibration`, and what their owner should know."""

    verdicts: pd.DataFrame
    cards: pd.DataFrame
    bins: pd.DataFrame
    notes: list[str]


def examine(
    pairs: pd.DataFrame,
    judgments: pd.DataFrame,
    gold: pd.DataFrame,
    ratings: pd.DataFrame,
    given: pd.DataFrame,
    options: MetaOptions,
) -> Results:
    """Reduce judgments to verdicts, and give every judge and rater its cards.

    `gold` are the right answers, `ratings` people's, `given` the verdicts that came with the data.

    A card's study is a subset; `all subsets` and `mean of subsets` where there are several; or
    `items of X`, where a given judge X has verdicts on some items only, so that all can be held
    against X. Its part is a kind, or `full` for all of them. Items without a right answer are in no
    card. A rater is held against what most of the others say.
    """
    ours, theirs = verdicts(pairs, judgments), _labelled(given, options.threshold)
    said = pd.concat([ours, theirs], ignore_index=True)
    by_threshold = given.loc[given["label"].isna() & given["probability"].notna(), "judge"]
    everyone = [*beside(gold, said, thresholded=set(by_threshold)), *raters_beside(gold, ratings)]
    every = set(gold["item"])
    common = [
        (records.items_of(str(judge)), frozenset(rows["item"]))
        for judge, rows in given.groupby("judge", sort=True)
        if set(rows["item"]) < every
    ]
    cards: list[Row] = []
    bins: list[Row] = []
    for one in everyone:
        made, reliability = _of_one(one, common, gold["subset"].nunique(), options)
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
    key: Row = {"criterion": records.CRITERION, "metric": VERDICT, "judge": one.judge}
    last: Row = {"recipe": one.recipe}
    for part in slices(one, common):
        key |= {"study": part.study, "part": part.part}
        seed = [str(key[name]) for name in ("study", "criterion", "part", "metric", "judge")]
        theirs = part.rows
        probability = theirs["probability"].to_numpy(dtype=np.float64)
        judged = Judgments(
            entailed(theirs["label_said"]),
            entailed(theirs["label"]),
            theirs["cluster"].to_numpy(dtype=np.intp),
            int((theirs["unlabelled"] == "split").sum()),
            probability if np.isfinite(probability).any() else None,
            one.thresholded,
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


def _more(rows: pd.DataFrame, options: MetaOptions, seed: Sequence[str]) -> Estimates:
    """What verdicts that are missing leave open; and in three labels, where both sides use them."""
    asked = rows[rows["label"].notna()]
    said, right = entailed(asked["label_said"]), entailed(asked["label"])
    unknown, hits = np.isnan(said), said == right
    status, cluster = asked["status"].to_numpy(), asked["cluster"].to_numpy(dtype=np.intp)
    counted = {
        "abstained": status == ABSTAINED,
        "failed": (status != ABSTAINED) & (status != OK),
        "agreement_at_least": hits,
        "agreement_at_most": hits | unknown,
    }
    sure = options.confidence
    made = {name: share(of, cluster, confidence=sure) for name, of in counted.items()}
    judge, gold = in_three(asked["label_said"]), in_three(asked["label"])
    if judge is not None and gold is not None and np.isfinite(judge).any():
        rng = generator(options.seed, "three_way", *seed)
        made |= three_way(judge, gold, confidence=options.confidence, rng=rng, cluster=cluster)
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
    ends = np.stack([value - low, high - value])
    below, above = np.sqrt(np.sum(ends * ends, axis=1)) / len(rows)
    summed = {name: sum(row[name] for row in rows) for name in _SUMMED}  # type: ignore[misc]
    low, high = (float(np.clip(end, 0.0, 1.0)) for end in (mean - below, mean + above))
    return {**rows[0], **summed, "value": mean, "low": low, "high": high}


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
    names: tuple[str, str] = (records.ENTAILED, records.NOT_ENTAILED),
) -> records.Names:
    return records.names_of(pd.Series(np.where(yes, *names), yes.index).where(known))
