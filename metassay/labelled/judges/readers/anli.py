"""ANLI (Nie et al. 2020): JSON Lines, a folder per round, as released or as Hugging Face has it.

R1/test.jsonl is the subset `R1_test`. `label` is e, n or c; the words and the numbers 0 to 2 of
copies are read as well.
"""

from pathlib import Path
from typing import Self

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from metassay.datasets.own_data import Filled, Key
from metassay.labelled.judges.items import ItemRow, Items
from metassay.labelled.judges.readers.json_items import Line, cluster_of, label_of, lines, subsets


class _Item(Line):
    context: Filled | None = None
    premise: Filled | None = None
    hypothesis: Filled
    label: str | int
    uid: Key | None = None

    @model_validator(mode="after")
    def _one_premise(self) -> Self:
        if (self.context is None) == (self.premise is None):
            raise PydanticCustomError(
                "premise", "has not one premise; write 'context' or 'premise'"
            )
        return self


def read(folder: Path) -> Items:
    """Read every .jsonl file; an item's key is its file's subset with its uid, or its line."""
    items = Items()
    for path, subset in subsets(folder, items):
        for at, one in lines(path, _Item, items):
            label = label_of(str(one.label), at, items)
            premise = one.context or one.premise or ""
            key = f"{subset}:{at.row if one.uid is None else one.uid}"
            cluster = cluster_of(premise)
            row = ItemRow(at, key, [premise], one.hypothesis, label, subset, cluster=cluster)
            items.items.append(row)
    return items
