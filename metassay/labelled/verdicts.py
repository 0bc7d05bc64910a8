"""An item's verdict out of judgments of its premises, and verdicts beside right answers."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, shown
from metassay.labelled.records import (
    CONTRADICTED,
    ENTAILED,
    NEUTRAL,
    NOT_ENTAILED,
    THREE,
    Names,
    names_of,
)
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.shares import Clusters
from metassay.tables.judge_tests import VERDICTS
from metassay.tables.names import ALL_SUBSETS, FULL
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
        entailed=label == ENTAILED,
        contradicted=label == CONTRADICTED,
        known=rows["status"] == OK,
        three=rows["instrument"] == "three_way",
        certain=rows["probability"].notna(),
        failed=rows["status"].where(~rows["status"].isin([OK, ABSTAINED])),
    )
    items = rows.groupby("doc_id", sort=True).agg(
        entailed=("entailed", "any"),
        contradicted=("contradicted", "any"),
        known=("known", "all"),
        three=("three", "any"),
        certain=("certain", "all"),
        failed=("failed", "first"),
        probability=("probability", "max"),
        n_premises=("known", "size"),
        n_judged=("known", "sum"),
        recipe=("recipe", "first"),
    )
    made = pd.Series(
        np.select(
            [items["entailed"], ~items["known"], items["contradicted"], items["three"]],
            [ENTAILED, "", CONTRADICTED, NEUTRAL],
            NOT_ENTAILED,
        ),
        index=items.index,
    )
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


ALL_KINDS = "all kinds"  # items of every kind together, where each has one


@dataclass(frozen=True, eq=False)
class Beside:
    """What one judge, or rater, said of the items that it was asked about; arrays are (n,)."""

    judge: str
    recipe: str
    thresholded: bool  # whether labels were made of probabilities by a threshold
    item: Names
    subset: Names
    kind: Names
    cluster: Clusters
    right: Names  # the right label; None where there is none
    split: Mask  # there is none because half of the people say entailed
    said: Names  # the judge's label; None where there is none
    probability: Array  # of being entailed; NaN where there is none
    status: Names  # ok, abstained, or how it failed

    def take(self, rows: Mask) -> "Beside":
        """The items in these rows."""
        arrays = {name: v[rows] for name, v in vars(self).items() if isinstance(v, np.ndarray)}
        return replace(self, **arrays)  # type: ignore[arg-type]

    def notes(self) -> Iterator[str]:
        """How many items have no verdict, and why."""
        for name, count in pd.Series(self.status).value_counts().sort_index().items():
            if name != OK:
                yield (
                    f"{self.judge}: {count:,} of {len(self.status):,} items have no verdict (status"
                    f" {name}): accuracy is given without them, and in bounds with them"
                )


def beside(
    gold: pd.DataFrame, verdicts: pd.DataFrame, *, thresholded: Collection[str] = ()
) -> Iterator[Beside]:
    """Each judge of `verdicts` beside the rows of `gold` that it has verdicts on, by name.

    `thresholded` names the judges whose labels a threshold made.
    """
    known = gold.assign(cluster=pd.factorize(gold["cluster"])[0])
    for judge, theirs in verdicts.groupby("judge", sort=True):
        rows = known.merge(theirs, on="item", suffixes=("", "_said")).sort_values("item")
        yield Beside(
            judge=str(judge),
            recipe=str(rows["recipe"].iloc[0]),
            thresholded=judge in thresholded,
            item=names_of(rows["item"]),
            subset=names_of(rows["subset"]),
            kind=names_of(rows["kind"]),
            cluster=rows["cluster"].to_numpy(dtype=np.intp),
            right=names_of(rows["label"]),
            split=(rows["unlabelled"] == "split").to_numpy(dtype=np.bool_),
            said=names_of(rows["label_said"]),
            probability=rows["probability"].to_numpy(dtype=np.float64),
            status=names_of(rows["status"]),
        )


def entailed(labels: Names) -> Array:
    """1 where a label is entailed, 0 where it is another one, NaN where there is none."""
    return np.where(pd.notna(labels), labels == ENTAILED, np.nan)


def in_three(labels: Names) -> Array | None:
    """0, 1, 2 for entailed, neutral, contradicted, NaN for none; None if there is another one."""
    places = pd.Series(labels).map({name: place for place, name in enumerate(THREE)})
    if (places.isna() & pd.notna(labels)).any():
        return None
    return np.asarray(places, dtype=np.float64)


class Slice(NamedTuple):
    """Items that have a card together: of one subset, or several, and of one kind, or all."""

    study: str
    part: str
    rows: Mask
    is_subset: bool = False  # one whole test set


def items_of(judge: str) -> str:
    """The study of the items that a judge has verdicts on, where those are not all of them."""
    return f"items of {judge}"


def slices(one: Beside, common: Sequence[tuple[str, frozenset[str]]]) -> list[Slice]:
    """The slices of one judge's items that have a right answer; `common` are items by study."""
    answered = pd.notna(one.right)
    subsets = sorted(set(one.subset))
    studies = [(name, one.subset == name) for name in subsets]
    if len(subsets) > 1:
        studies.append((ALL_SUBSETS, np.ones(len(one.item), dtype=np.bool_)))
    studies += [(name, pd.Series(one.item).isin(items).to_numpy()) for name, items in common]
    kinds = sorted(set(one.kind) - {FULL})
    return [
        Slice(study, part, rows, study in subsets and part == FULL)
        for study, there in studies
        for part in (FULL, *kinds)
        for rows in [there if part == FULL else there & (one.kind == part)]
        if (rows & answered).any()
    ]
