"""What a study is too small to show, said before any of its tables."""

from math import factorial
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.meta_evaluation.verdicts import FEWEST_SYSTEMS, OF_NO_OTHERS, PROMISING
from metassay.parquet import read
from metassay.reporting.names import criterion_title, part_rank
from metassay.reporting.numbers import counted, probability
from metassay.reporting.tables import records
from metassay.reporting.words import DECISIONS
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.designs import DESIGNS

_LARGEST = 20  # beyond it a factorial is large enough for any p

Key = tuple[str, str, str]  # study, criterion, part
Row = dict[str, Any]


def limits(
    certificates: pd.DataFrame, designs: pd.DataFrame, confidence: float = 0.95
) -> list[str]:
    """What the data show of the study's design, then what it is too small for; equal lines once.

    A sentence for what was found or suspected to belong together; for each level at which no
    metric can be shown to follow people, however good, as no p can be below 1 - confidence
    (`smallest_p`); and where too few systems were rated to speak of others. Criteria are named
    where a sentence isn't about all of them.
    """
    rows = records(certificates)
    every = sorted({_key(row) for row in rows}, key=lambda k: (*k[:2], part_rank(k[2])))
    said: dict[str, list[Key]] = {}
    for row in records(designs):
        for line in (*row["found"].splitlines(), *row["suspected"].splitlines()):
            said.setdefault(line, []).append(_key(row))
    for level in DECISIONS:
        for key in every:
            mine = [row for row in rows if row["level"] == level and _key(row) == key]
            reason = _reason(mine, 1.0 - confidence)
            if reason:
                line = f"at {level} level no metric can be shown to follow people: {reason}"
                said.setdefault(line, []).append(key)
    for key in every:
        line = _few_systems([row for row in rows if _key(row) == key])
        if line:
            said.setdefault(line, []).append(key)
    return [_about(keys, every, sentence) for sentence, keys in said.items()]


def limits_of(folder: Path, confidence: float) -> list[str]:
    """What belongs together in the benchmark, and what its systems and texts are too few for."""
    found = read(CERTIFICATES, folder / "certificates.parquet")
    return limits(found, read(DESIGNS, folder / "designs.parquet"), confidence)


def _few_systems(mine: list[Row]) -> str:
    """Why no metric can be one to use with other systems; empty where one can."""
    if all(row["design"] in OF_NO_OTHERS for row in mine):
        return ""
    n = max(row["n_families"] for row in mine)
    if n >= FEWEST_SYSTEMS:
        return ""
    return (
        f"{counted(n, 'system')} say too little of other systems, for which it takes"
        f" {FEWEST_SYSTEMS} or more: the best verdict is “{PROMISING}”."
    )


def _key(row: Row) -> Key:
    return row["study"], row["criterion"], row["part"]


def _about(keys: list[Key], every: list[Key], sentence: str) -> str:
    if set(keys) >= set(every):
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
    systems = max(row["n_families"] for row in mine)
    documents = 1 if level == "system" else max(row["n_clusters"] for row in mine)
    clustered = any(row["n_clusters"] < row["n_documents"] for row in mine)
    if systems < 2 and level == "system":
        return "all texts are by one system."
    below = f"no p can be below {probability(smallest)}."
    orders = 2.0**documents if clustered and level != "system" else _orders(documents)
    if 2.0 / (_orders(systems) * orders) < alpha:
        return f"with so few orders drawn at random {below} Set more permutations."
    if level != "system":
        of = "cluster of documents" if clustered else "document"
        texts = f"{counted(systems, 'system')} and {counted(documents, of)}"
        return f"with {texts} {below}".replace("cluster of documentss", "clusters of documents")
    enough = next(n for n in range(2, _LARGEST) if 2.0 / _orders(n) < alpha)
    return f"with {systems} systems {below} It takes at least {enough}."


def _nothing_to_exchange(row: Row) -> str:
    if row["level"] == "document" and row["design"] == "nested":
        return "each document has one system’s text, so there are no two to compare."
    return ""


def _orders(things: int) -> int:
    return factorial(min(things, _LARGEST))
