"""Judges against gold labels: their verdicts on items, and a card for each subset and kind."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, shown
from metassay.labelled import records
from metassay.labelled.class_numbers import OF_ALL, class_numbers
from metassay.meta_evaluation.card_numbers import (
    Estimates,
    Judgments,
    Row,
    card,
)
from metassay.meta_evaluation.label_warnings import (
    verdict_factors,
    warn_of_choice,
    warn_of_few_labels,
)
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import frame_of
from metassay.statistics.exact_sums import Array
from metassay.statistics.label_rows import LabelRows, weigh_rows
from metassay.statistics.label_weights import LEVEL, find_chosen
from metassay.statistics.random_numbers import generator
from metassay.statistics.shares import share
from metassay.tables.data_warnings import DataWarning
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.judge_tests import VERDICTS
from metassay.tables.names import ALL_SUBSETS, FULL, MEAN_OF_SUBSETS, VERDICT
from metassay.tables.parquet import empty

OK, ABSTAINED = "ok", "abstained"
OF_THREE = "_3way"  # ends the names of numbers of three labels


def reduce_verdicts(pairs: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Return table `verdicts`: a row per item and judge of `judgments`.

    An item is entailed if any of its premises is judged to entail it. Else, if a
    judgment is missing, the item has no label, and its status is that of the first
    premise that failed, or `abstained` if the judge abstained from all that are
    missing. Else it is contradicted if any premise contradicts it; else not entailed
    (of three labels: neutral). Its probability is the largest over its premises, and
    null if one has none. WiCE (Kamoi et al. 2023) reads its chunks in this way.

    Raises BadInput if a judge has no judgment for a pair.
    """
    questions = pairs[["doc_id", "position", "pair_id", "instrument"]]
    by_judge = judgments.groupby("judge", sort=True)
    tables = [_verdicts_of(questions, rows, str(judge)) for judge, rows in by_judge]
    return pd.concat(tables, ignore_index=True) if tables else empty(VERDICTS)


def _verdicts_of(
    questions: pd.DataFrame, judgments: pd.DataFrame, judge: str
) -> pd.DataFrame:
    rows = questions.merge(judgments, on="pair_id", how="left").sort_values(
        ["doc_id", "position"]
    )
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
            "failed": "first",
            "probability": "max",
            "recipe": "first",
        }
    ).assign(n_premises=premises.size(), n_judged=premises["known"].sum())
    which = [items["entailed"], ~items["known"], items["contradicted"], items["three"]]
    names = [records.ENTAILED, "", records.CONTRADICTED, records.NEUTRAL]
    verdict = pd.Series(
        np.select(which, names, records.NOT_ENTAILED), index=items.index
    )
    unknown = verdict == ""
    label = verdict.where(~unknown, None)
    table = items.assign(
        item=items.index.astype("str"),
        judge=judge,
        status=items["failed"].fillna(ABSTAINED).where(unknown, OK),
        label=label,
        probability=items["probability"].where(items["certain"]),
        position=_deciding(rows, label),
        recipe="verdict|" + items["recipe"] + "|over premises: any entailed",
    )
    return table[list(VERDICTS.columns)].reset_index(drop=True)


def _deciding(rows: pd.DataFrame, label: "pd.Series[str]") -> "pd.Series[int]":
    """Return the position of the deciding premise by item; items without a label have none.

    It is the most probable premise with the item's label, the first of equals.
    """
    same = rows[rows["label"].astype("object") == rows["doc_id"].map(label)]
    best = same.sort_values(
        ["doc_id", "probability", "position"],
        ascending=[True, False, True],
        na_position="last",
    ).drop_duplicates("doc_id")
    return best.set_index("doc_id")["position"].astype("Int64")


class Comparison(NamedTuple):
    """Verdicts of a judge, or rater, beside gold labels, a row per item.

    `thresholded`: whether labels come from probabilities and a threshold. `rows` has
    the columns of gold (`label` is right, `cluster` a number) and of verdicts
    (`label_said`, `probability`, `status`).
    """

    judge: str
    recipe: str
    thresholded: bool
    rows: pd.DataFrame

    def notes(self) -> Iterator[str]:
        """Count the items without a verdict, by status."""
        for name, count in (
            self.rows["status"].astype("object").value_counts().sort_index().items()
        ):
            if name != OK:
                yield (
                    f"{self.judge}: {count:,} of {len(self.rows):,} items have no verdict (status"
                    f" {name}): accuracy is given without them, and in bounds with them"
                )


def compare_judges(
    gold: pd.DataFrame, verdicts: pd.DataFrame, *, thresholded: Collection[str] = ()
) -> Iterator[Comparison]:
    """Compare each judge of `verdicts` with `gold` on the items of its verdicts, by name."""
    gold = gold.assign(cluster=pd.factorize(gold["cluster"])[0])
    for judge, of_judge in verdicts.groupby("judge", sort=True):
        rows = gold.merge(of_judge, on="item", suffixes=("", "_said")).sort_values(
            "item"
        )
        yield Comparison(
            str(judge), str(rows["recipe"].iloc[0]), judge in thresholded, rows
        )


def entailment(labels: "pd.Series[str]") -> Array:
    """Return 1 where a label is entailed, 0 where it is another, NaN where it is missing."""
    return np.where(labels.notna(), labels == records.ENTAILED, np.nan)


def has_three_labels(rows: pd.DataFrame) -> bool:
    """Whether judge and right answers of a comparison both use three labels."""
    return {*rows["label_said"].dropna(), *rows["label"].dropna()} <= {*records.THREE}


def three_way_numbers(
    rows: pd.DataFrame, confidence: float, rng: np.random.Generator
) -> Estimates:
    """Return the numbers of three labels; none where the judge has no verdict.

    `rows`: of a comparison. Where only some items have a right answer, each counts for
    the items with its verdict, of its kind and subset.
    """
    sides = [rows[name].astype("object") for name in ("label_said", "label")]
    verdict, right = sides
    if verdict[right.notna()].isna().all():
        return {}
    used = {*verdict.dropna(), *right.dropna()}
    place = {name: code for code, name in enumerate(sorted(used))}
    codes = [side.map(place).fillna(-1).to_numpy(np.intp) for side in sides]
    usable = (codes[0] >= 0) & (rows["unlabelled"] != "split").to_numpy()
    judge, people = (code[usable] for code in codes)
    factors = [rows[name].to_numpy()[usable] for name in ("kind", "subset")]
    labels = LabelRows(
        judge=judge,
        people=people,
        weight=weigh_rows(judge, people, factors),
        cluster=rows["cluster"].to_numpy(dtype=np.intp)[usable],
        n_judge=len(used),
        n_people=len(used),
    )
    numbers = class_numbers(labels, confidence=confidence, rng=rng).of_all
    return {f"{name}{OF_THREE}": number for name, number in numbers.items()}


def slices(
    rows: pd.DataFrame, common: Sequence[tuple[str, frozenset[str]]]
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield the items that share a card: study, part, and rows of a comparison with gold labels.

    The studies are subsets, or all of them, or `common` items by study.
    """
    subsets, kinds = (sorted(set(rows[name])) for name in ("subset", "kind"))
    studies = [(name, rows[rows["subset"] == name]) for name in subsets]
    studies += [(ALL_SUBSETS, rows)] if len(subsets) > 1 else []
    studies += [(name, rows[rows["item"].isin(items)]) for name, items in common]
    for study, in_study in studies:
        for part in (FULL, *(kind for kind in kinds if kind != FULL)):
            in_part = in_study if part == FULL else in_study[in_study["kind"] == part]
            if in_part["label"].notna().any():
                yield study, part, in_part


class Results(NamedTuple):
    """Tables `verdicts`, `judge_cards` and `calibration`, and lines of notes."""

    verdicts: pd.DataFrame
    cards: pd.DataFrame
    bins: pd.DataFrame
    notes: list[str]


def examine(
    pairs: pd.DataFrame,
    judgments: pd.DataFrame,
    gold: pd.DataFrame,
    ratings: pd.DataFrame,
    released: pd.DataFrame,
    options: MetaOptions,
) -> Results:
    """Reduce judgments to verdicts, and compute the cards of every judge and rater.

    `gold` has the right labels, `ratings` those of people, `released` the verdicts in
    the data.

    A card's study is a subset; `all subsets` and `mean of subsets` if there are
    several; or `items of X`, if a judge X in the data has verdicts on some items only,
    so that all can be compared with X. Its part is a kind, or `full` for all. Items
    without a gold label are in no card. A rater is compared with the majority of the
    others.
    """
    tables = [
        reduce_verdicts(pairs, judgments),
        _label_by_threshold(released, options.threshold),
    ]
    verdicts = pd.concat(tables, ignore_index=True)
    apply_threshold = released.loc[
        released["label"].isna() & released["probability"].notna(), "judge"
    ]
    comparisons = [*compare_judges(gold, verdicts, thresholded=set(apply_threshold))]
    comparisons += compare_raters(gold, ratings)
    items = set(gold["item"])
    common = [
        (records.items_of(str(judge)), frozenset(rows["item"]))
        for judge, rows in released.groupby("judge", sort=True)
        if set(rows["item"]) < items
    ]
    cards: list[Row] = []
    bins: list[Row] = []
    for comparison in comparisons:
        card_rows, reliability = _cards_of(
            comparison, common, gold["subset"].nunique(), options
        )
        cards += card_rows
        bins += reliability
    notes = [note for comparison in comparisons for note in comparison.notes()]
    level = LEVEL / max(len(comparisons), 1)
    for comparison in comparisons:
        notes += [warning.sentence for warning in _warn_of_labels(comparison, level)]
    return Results(
        verdicts, frame_of(cards, JUDGE_CARDS), frame_of(bins, CALIBRATION), notes
    )


def _label_by_threshold(verdicts: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Return verdicts of the data as `verdicts`, labelled by the threshold if they lack a label."""
    alone = (
        verdicts["label"].isna()
        & verdicts["probability"].notna()
        & (verdicts["status"] == OK)
    )
    from_threshold = pd.Series(
        _labels(verdicts["probability"] >= threshold, alone), verdicts.index
    )
    label = verdicts["label"].astype("object").mask(alone, from_threshold)
    return verdicts.assign(
        label=label,
        position=pd.Series(None, verdicts.index, dtype="Int64"),
        n_premises=1,
        n_judged=label.notna().astype("int64"),
    )[list(VERDICTS.columns)]


def _cards_of(
    comparison: Comparison,
    common: Sequence[tuple[str, frozenset[str]]],
    n_subsets: int,
    options: MetaOptions,
) -> tuple[list[Row], list[Row]]:
    """Return rows of judge_cards and of calibration."""
    cards: list[Row] = []
    bins: list[Row] = []
    by_subset: list[list[Row]] = []
    key: Row = {
        "criterion": records.CRITERION,
        "metric": VERDICT,
        "judge": comparison.judge,
    }
    last: Row = {"recipe": comparison.recipe}
    subsets = set(comparison.rows["subset"])
    has_three = has_three_labels(comparison.rows)
    for study, part, rows in slices(comparison.rows, common):
        key |= {"study": study, "part": part}
        seed = [
            str(key[name]) for name in ("study", "criterion", "part", "metric", "judge")
        ]
        probability = rows["probability"].to_numpy(dtype=np.float64)
        judged = Judgments(
            entailment(rows["label_said"]),
            entailment(rows["label"]),
            rows["cluster"].to_numpy(dtype=np.intp),
            (rows["unlabelled"] == "split").to_numpy(dtype=np.bool_),
            probability if np.isfinite(probability).any() else None,
            comparison.thresholded,
            (rows["kind"].to_numpy(), rows["subset"].to_numpy()),
        )
        more = _bounds(rows, options.confidence)
        if has_three:
            rng = generator(options.seed, "three_way", *seed)
            more |= three_way_numbers(rows, options.confidence, rng)
        card_rows, reliability = card(judged, options, seed, more)
        cards += [{**key, **row, **last} for row in card_rows]
        bins += [{**key, **row, **last} for row in reliability]
        if study in subsets and part == FULL:
            by_subset.append(card_rows)
    if len(by_subset) == n_subsets > 1:
        key |= {"study": MEAN_OF_SUBSETS, "part": FULL}
        cards += [{**key, **row, **last} for row in mean_card(by_subset)]
    return cards, bins


def _warn_of_labels(comparison: Comparison, level: float) -> Iterator[DataWarning]:
    """Warn where items with gold labels were chosen by the verdict, the subset or the kind."""
    verdict = entailment(comparison.rows["label_said"])
    rows = comparison.rows[np.isfinite(verdict)]
    verdict = verdict[np.isfinite(verdict)]
    people = entailment(rows["label"])
    has_label = np.isfinite(people) | (rows["unlabelled"] == "split").to_numpy()
    # A rater whose items nobody else labelled has nobody to be compared with.
    if has_label.all() or not has_label.any():
        return
    factors: dict[str, Any] = verdict_factors(verdict, "items", comparison.judge)
    for column in ("subset", "kind"):
        factors[column] = [f"items of {column} {value}" for value in rows[column]]
    cluster = rows["cluster"].to_numpy(dtype=np.intp)
    yield from warn_of_choice(find_chosen(has_label, factors, cluster, level=level))
    yield from warn_of_few_labels(verdict, people, "items", comparison.judge)


def _bounds(rows: pd.DataFrame, confidence: float) -> Estimates:
    """Return how many verdicts are missing, and agreement if these were wrong, or right."""
    labelled = rows[rows["label"].notna()]
    verdict, right = entailment(labelled["label_said"]), entailment(labelled["label"])
    unknown, hits = np.isnan(verdict), verdict == right
    status, cluster = (
        labelled["status"].to_numpy(),
        labelled["cluster"].to_numpy(dtype=np.intp),
    )
    counted = {
        "abstained": status == ABSTAINED,
        "failed": (status != ABSTAINED) & (status != OK),
        "agreement_at_least": hits,
        "agreement_at_most": hits | unknown,
    }
    return {
        name: share(mask, cluster, confidence=confidence)
        for name, mask in counted.items()
    }


# Statistics with a meaningful mean, unlike counts and pass rates.
AVERAGED = (
    "sensitivity",
    "specificity",
    "balanced_accuracy",
    "f1",
    "agreement",
    *(f"{name}{OF_THREE}" for name in OF_ALL),
    "auroc",
    "abstained",
    "failed",
    "agreement_at_least",
    "agreement_at_most",
)
_SUMMED = ("n", "n_effective", "n_judged", "n_missing", "n_split")


def mean_card(cards: Sequence[Sequence[Row]]) -> list[Row]:
    """Average the cards of several sets; return rows of `judge_cards` without key and recipe.

    Each set has the same weight; null where a set lacks the statistic. The interval
    takes the sets for independent: the squared distance of its ends from the mean is
    the sum of the sets' own over their number squared (Zou and Donner 2008). Counts are
    summed.
    """
    by_name = [{str(row["statistic"]): row for row in card} for card in cards]
    common = [name for name in AVERAGED if all(name in card for card in by_name)]
    return [_mean([card[name] for card in by_name]) for name in common]


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


def compare_raters(gold: pd.DataFrame, ratings: pd.DataFrame) -> Iterator[Comparison]:
    """Compare every rater with the majority of the others, on the items that the rater labelled.

    An item is left out as split if half of the others say entailed, and as unlabelled
    if nobody else labelled it. The gold label is not used: it may be the rater's own.
    """
    wide = ratings.pivot_table(
        index="doc_id", columns="rater", values="value", aggfunc="first", dropna=False
    )
    labelled = set(zip(ratings["doc_id"], ratings["rater"], strict=True))
    for rater in wide.columns:
        rows = wide[[(item, rater) in labelled for item in wide.index]]
        others, labels = rows.drop(columns=rater), rows[rater]
        n_others, passed = others.notna().sum(axis=1), others.sum(axis=1)
        unlabelled, split = n_others == 0, (n_others > 0) & (2 * passed == n_others)
        right = pd.DataFrame(
            {
                "item": rows.index,
                "label": _labels(2 * passed > n_others, ~unlabelled & ~split),
                "unlabelled": _labels(split, split | unlabelled, ("split", "no_label")),
            }
        )
        verdicts = empty(VERDICTS).reindex(range(len(rows)))
        verdicts = verdicts.assign(
            item=rows.index,
            judge=str(rater),
            status=np.where(labels.notna(), OK, ABSTAINED),
            label=_labels(labels == 1.0, labels.notna()),
            recipe=RECIPE,
        )
        gold_of_others = gold.drop(columns=["label", "unlabelled"]).merge(
            right, on="item"
        )
        yield from compare_judges(gold_of_others, verdicts)


def _labels(
    yes: "pd.Series[bool]",
    known: "pd.Series[bool]",
    names: tuple[str, str] = (records.ENTAILED, records.NOT_ENTAILED),
) -> records.Names:
    return records.names_of(pd.Series(np.where(yes, *names), yes.index).where(known))
