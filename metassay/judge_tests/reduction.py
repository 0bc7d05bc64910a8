"""From judgments of an item's premises to the judge's verdict on the item."""

import numpy as np
import pandas as pd

from metassay.errors import BadInput, shown
from metassay.judge_tests.items import CONTRADICTED, ENTAILED, NEUTRAL, NOT_ENTAILED
from metassay.parquet import empty
from metassay.tables.judge_tests import VERDICTS

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
    made = [
        _of_judge(asked, theirs, str(judge))
        for judge, theirs in judgments.groupby("judge", sort=True)
    ]
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
    label, probability = rows["label"].astype("object"), rows["probability"]
    rows = rows.assign(
        entailed=label == ENTAILED,
        contradicted=label == CONTRADICTED,
        known=rows["status"] == OK,
        three=rows["instrument"] == "three_way",
        certain=probability.notna(),
        failed=rows["status"].where(~rows["status"].isin([OK, ABSTAINED])),
    )
    by = rows.groupby("doc_id", sort=True)
    items = by.agg(
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
    status = items["failed"].fillna(ABSTAINED).where(unknown, OK)
    items["label"] = made.where(~unknown, None)
    return pd.DataFrame(
        {
            "item": items.index.astype("str"),
            "judge": judge,
            "status": status.to_numpy(),
            "label": items["label"].to_numpy(),
            "probability": items["probability"].where(items["certain"]).to_numpy(),
            "position": _deciding(rows, items["label"]).reindex(items.index).to_numpy(),
            "n_premises": items["n_premises"].to_numpy(),
            "n_judged": items["n_judged"].to_numpy(),
            "recipe": ("verdict|" + items["recipe"] + "|over premises: any entailed").to_numpy(),
        }
    )


def _deciding(rows: pd.DataFrame, label: "pd.Series[str]") -> "pd.Series[int]":
    """The position of the premise that decides, by item; items without a label have none.

    It is the most probable one of those with the item's label, the first of equals.
    """
    wanted = rows["doc_id"].map(label)
    same = rows[rows["label"].astype("object") == wanted]
    best = same.sort_values(
        ["doc_id", "probability", "position"], ascending=[True, False, True], na_position="last"
    ).drop_duplicates("doc_id")
    return best.set_index("doc_id")["position"].astype("Int64")
