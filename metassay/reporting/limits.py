"""What a study is too small to show, said before any of its tables."""

from math import factorial
from typing import Any

import pandas as pd

from metassay.reporting.names import criterion_title, part_rank
from metassay.reporting.numbers import counted, probability
from metassay.reporting.tables import records
from metassay.reporting.words import DECISIONS

_LARGEST = 20  # beyond it a factorial is large enough for any p

Key = tuple[str, str, str]  # study, criterion, part
Row = dict[str, Any]


def limits(certificates: pd.DataFrame, confidence: float = 0.95) -> list[str]:
    """A sentence for each level at which no metric can hold, however good; equal ones once.

    No verdict holds without an adjusted p below 1 - confidence; where there are few systems, no p
    can be that small (`smallest_p`). Criteria are named where a sentence isn't about all of them.
    """
    rows = records(certificates)
    every = sorted({_key(row) for row in rows}, key=lambda k: (*k[:2], part_rank(k[2])))
    said: dict[str, list[Key]] = {}
    for level in DECISIONS:
        for key in every:
            mine = [row for row in rows if row["level"] == level and _key(row) == key]
            reason = _reason(mine, 1.0 - confidence)
            if reason:
                said.setdefault(f"at {level} level no metric can hold: {reason}", []).append(key)
    return [_about(keys, every, sentence) for sentence, keys in said.items()]


def _key(row: Row) -> Key:
    return row["study"], row["criterion"], row["part"]


def _about(keys: list[Key], every: list[Key], sentence: str) -> str:
    if keys == every:
        return sentence[0].upper() + sentence[1:]
    several = len({study for study, _, _ in every}) > 1
    names = [
        criterion_title(criterion, part) + (f" (study {study})" if several else "")
        for study, criterion, part in keys
    ]
    return f"{'; '.join(names)}: {sentence}"


def _reason(mine: list[Row], alpha: float) -> str:
    """Why no p can be below alpha; empty where one can, or where there is no metric."""
    smallest = mine[0]["smallest_p"] if mine else 0.0
    if smallest is None:
        return _nothing_to_exchange(mine[0])
    if smallest < alpha:
        return ""
    level = mine[0]["level"]
    systems = max(row["n_systems"] for row in mine)
    documents = 1 if level == "system" else max(row["n_documents"] for row in mine)
    if systems < 2 and level == "system":
        return "all texts are by one system."
    below = f"no p can be below {probability(smallest)}."
    if 2.0 / (_orders(systems) * _orders(documents)) < alpha:
        return f"with so few orders drawn at random {below} Set more permutations."
    if level != "system":
        texts = f"{counted(systems, 'system')} and {counted(documents, 'document')}"
        return f"with {texts} {below}"
    enough = next(n for n in range(2, _LARGEST) if 2.0 / _orders(n) < alpha)
    return f"with {systems} systems {below} It takes at least {enough}."


def _nothing_to_exchange(row: Row) -> str:
    if row["level"] == "document" and row["design"] == "nested":
        return "each document has one system’s text, so there are no two to compare."
    return ""


def _orders(things: int) -> int:
    return factorial(min(things, _LARGEST))
