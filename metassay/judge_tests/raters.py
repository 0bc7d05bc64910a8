"""People as judges: how often does one rater say what most of the others say."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from metassay.judge_tests.beside import Beside, beside
from metassay.judge_tests.items import ENTAILED, NOT_ENTAILED
from metassay.judge_tests.reduction import ABSTAINED, OK
from metassay.parquet import empty
from metassay.tables.judge_tests import VERDICTS

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
        mine = wide[[(item, rater) in labelled for item in wide.index]]
        others = mine.drop(columns=rater)
        people, passed = others.notna().sum(axis=1), others.sum(axis=1)
        split = (people > 0) & (2 * passed == people)
        label = pd.Series(np.where(2 * passed > people, ENTAILED, NOT_ENTAILED), index=mine.index)
        own = mine[rater]
        right = pd.DataFrame(
            {
                "item": mine.index,
                "label": label.where((people > 0) & ~split, None).astype("object"),
                "unlabelled": _why(split.tolist(), (people > 0).tolist()),
            }
        )
        said = empty(VERDICTS).reindex(range(len(mine)))
        said = said.assign(
            item=mine.index,
            judge=str(rater),
            status=np.where(own.notna(), OK, ABSTAINED),
            label=np.where(own == 1.0, ENTAILED, NOT_ENTAILED),
            recipe=RECIPE,
        )
        said["label"] = said["label"].astype("object").where(own.notna().to_numpy(), None)
        known = gold.drop(columns=["label", "unlabelled"]).merge(right, on="item")
        yield from beside(known, said)


def _why(split: list[bool], others: list[bool]) -> list[str | None]:
    return [
        "split" if half else None if some else "no_label"
        for half, some in zip(split, others, strict=True)
    ]
