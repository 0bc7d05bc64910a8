"""SNLI-style JSON Lines: SNLI (Bowman et al. 2015), MultiNLI and MedNLI (Romanov and Shivade 2018).

Each file is a subset under its own name. `gold_label` is entailment, neutral or contradiction; `-`,
where the annotators did not agree, is no gold label.
"""

from pathlib import Path

from metassay.datasets.own_data import Filled, Key
from metassay.labelled.judges.items import ItemRow, Items
from metassay.labelled.judges.readers.json_items import Line, cluster_of, label_of, lines, subsets

UNDECIDED = "-"


class _Pair(Line):
    sentence1: Filled  # the premise
    sentence2: Filled
    gold_label: str
    pairID: Key | None = None  # noqa: N815 - the data's own name


def read(folder: Path) -> Items:
    """Read every .jsonl file; an item's key is its file's subset with its pairID, or its line."""
    items = Items()
    for path, subset in subsets(folder, items):
        for at, one in lines(path, _Pair, items):
            undecided = one.gold_label == UNDECIDED
            label = None if undecided else label_of(one.gold_label, at, items)
            key = f"{subset}:{at.row if one.pairID is None else one.pairID}"
            cluster = cluster_of(one.sentence1)
            row = ItemRow(at, key, [one.sentence1], one.sentence2, label, subset, cluster=cluster)
            items.items.append(row)
    return items
