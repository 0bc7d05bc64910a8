"""Which metric to trust for each decision, and what a study is too small for."""

from collections.abc import Iterator
from math import factorial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import counted, missing
from metassay.format.terms import DECISIONS
from metassay.meta_evaluation.verdicts import (
    CANNOT_TELL,
    EXPLAINED,
    FEWEST_SYSTEMS,
    OF_NO_OTHERS,
    PROMISING,
    VERDICTS,
    kind_of,
)
from metassay.reporting.contract import Decision, GridCell, GridRow
from metassay.reporting.names import criterion_title, part_rank
from metassay.reporting.section import (
    Key,
    Row,
    by_criterion,
    grouped,
    key_of,
    metric_name,
    titled,
)
from metassay.reporting.sentences import to_do
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.designs import DESIGNS
from metassay.tables.names import FULL, STATEMENT
from metassay.tables.parquet import read


class Best(NamedTuple):
    """The best of one criterion's and level's metrics; where it is not to be used, none is."""

    row: Row
    rows: list[Row]  # from which it was chosen

    @property
    def metric(self) -> str:
        """Its name, with the judge's in brackets."""
        return metric_name(self.row)

    @property
    def of(self) -> str:
        """What it was chosen from: `best of 20 metrics`."""
        return f"best of {counted(len(self.rows), 'metric')}"

    @property
    def verdicts(self) -> str:
        """How often each was given: `2 use, 5 cannot tell`."""
        return verdict_counts(self.rows)


def ranked(rows: list[Row]) -> list[Row]:
    """Certificates of one level, the best verdict first, then the largest value."""
    return sorted(rows, key=lambda row: _rank(row, "value"))


def best(rows: list[Row]) -> Best | None:
    """Of one level's certificates the best verdict, then the largest `corrected`; None of none."""
    if not rows:
        return None
    return Best(min(rows, key=lambda row: _rank(row, "corrected")), rows)


def best_of(certificates: pd.DataFrame) -> Iterator[tuple[str, str, Best]]:
    """Of whole texts: criterion (with its study, where there are several), level, best metric."""
    several = certificates["study"].nunique() > 1
    for (study, criterion, _), rows in by_criterion(certificates[certificates["part"] == FULL]):
        name = f"{criterion} ({study})" if several else criterion
        for level in DECISIONS:
            chosen = best([row for row in rows if row["level"] == level])
            if chosen is not None:
                yield name, level, chosen


def verdict_counts(rows: list[Row]) -> str:
    """`2 use, 5 cannot tell`: how often each verdict was given, the best first."""
    said = [kind_of(row["verdict"]) for row in rows]
    named = verdict_names().items()
    return ", ".join(f"{said.count(kind):,} {name}" for kind, name in named if kind in said)


def verdict_names() -> dict[str, str]:
    """What each kind of verdict is called where many are counted, the best first."""
    return {kind: kind for kind in VERDICTS} | {EXPLAINED: f"{EXPLAINED} a confound"}


def _rank(row: Row, by: str) -> tuple[int, float, str, str]:
    value = row[by]
    unknown = value is None or missing(value)
    place = VERDICTS.index(kind_of(row["verdict"]))
    return place, float("inf") if unknown else -float(value), row["metric"], row["judge"]


# What a study is too small to show, said before any of its tables.

_LARGEST = 20  # beyond it a factorial is large enough for any p


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
    by_key = grouped(rows, key_of)
    every = sorted(by_key, key=lambda k: (*k[:2], part_rank(k[2])))
    said: dict[str, list[Key]] = {}
    for row in records(designs):
        for line in (*row["found"].splitlines(), *row["suspected"].splitlines()):
            said.setdefault(line, []).append(key_of(row))
    for level in DECISIONS:
        for key in every:
            mine = [row for row in by_key[key] if row["level"] == level]
            line = too_small(mine, confidence)
            if line:
                said.setdefault(line, []).append(key)
    for key in every:
        line = _few_systems(by_key[key])
        if line:
            said.setdefault(line, []).append(key)
    return [_about(keys, every, sentence) for sentence, keys in said.items()]


def limits_of(folder: Path, confidence: float) -> list[str]:
    """What belongs together in the benchmark, and what it is too small for; of whole texts."""
    found = read(CERTIFICATES, folder / "certificates.parquet")
    designs = read(DESIGNS, folder / "designs.parquet")
    return limits(found[found["part"] == FULL], designs[designs["part"] == FULL], confidence)


def _few_systems(mine: list[Row]) -> str:
    """Why no metric can be one to use with other systems; empty where one can."""
    if all(row["design"] in OF_NO_OTHERS for row in mine):
        return ""
    n = max(row["n_families"] for row in mine)
    if n >= FEWEST_SYSTEMS:
        return ""
    return (
        f"with {counted(n, 'system')} the best verdict is “{PROMISING}”; trusting a metric with"
        f" other systems needs at least {FEWEST_SYSTEMS}."
    )


def _about(keys: list[Key], every: list[Key], sentence: str) -> str:
    if set(keys) >= set(every):
        return sentence[0].upper() + sentence[1:]
    several = len({study for study, _, _ in every}) > 1
    names = [
        criterion_title(criterion, part) + (f" (study {study})" if several else "")
        for study, criterion, part in keys
    ]
    return f"{'; '.join(names)}: {sentence}"


def too_small(mine: list[Row], confidence: float) -> str:
    """Why no metric of one level can be shown to follow people; empty where one can, or is none."""
    smallest = mine[0]["smallest_p"] if mine else 0.0
    if smallest is None:
        nested = mine[0]["level"] == "document" and mine[0]["design"] == "nested"
        nested = nested and mine[0]["part"] != STATEMENT  # which nobody compares by document
        alone = "each document has one system’s text, so there are no two to compare."
        return alone if nested else ""
    alpha = 1.0 - confidence
    if smallest < alpha:
        return ""
    level = mine[0]["level"]
    systems = max(row["n_families"] for row in mine)
    documents = 1 if level == "system" else max(row["n_clusters"] for row in mine)
    clustered = any(row["n_clusters"] < row["n_documents"] for row in mine)
    if systems < 2 and level == "system":
        return "all texts are by one system, so there are no two to rank."
    orders = 2.0**documents if clustered and level != "system" else _orders(documents)
    if 2.0 / (_orders(systems) * orders) < alpha:
        return f"too few orders were drawn at random for {DECISIONS[level]}; set more permutations."
    if level != "system":
        of = "cluster of documents" if clustered else "document"
        texts = f"{counted(systems, 'system')} and {counted(documents, of)}"
        few = f"people rated {texts}, too few to test a metric on {DECISIONS[level]}."
        return few.replace("cluster of documentss", "clusters of documents")
    enough = next(n for n in range(2, _LARGEST) if 2.0 / _orders(n) < alpha)
    return f"people rated {systems} systems; ranking systems needs at least {enough}."


def _orders(things: int) -> int:
    return factorial(min(things, _LARGEST))


# The grid of the first screen: for each criterion and decision the metric to use, or the closest.


def decisions(certificates: pd.DataFrame) -> list[Decision]:
    """Those of which any metric was tested."""
    there = set(certificates["level"])
    return [Decision(level, words) for level, words in DECISIONS.items() if level in there]


def grid(certificates: pd.DataFrame, confidence: float) -> list[GridRow]:
    """A row per study, criterion and part, with a cell per decision of `decisions`."""
    levels = [one.level for one in decisions(certificates)]
    several = certificates["study"].nunique() > 1
    made = []
    for key, rows in by_criterion(certificates):
        of = [best([row for row in rows if row["level"] == level]) for level in levels]
        cells = [one and _grid_cell(one, confidence) for one in of]
        made.append(GridRow(*key, f"{titled(key)} ({key[0]})" if several else titled(key), cells))
    return made


def _grid_cell(found: Best, confidence: float) -> GridCell:
    row = found.row
    state, says = "no", found.verdicts
    if row["trusted"]:
        state, says = "use", found.of
    elif row["verdict"] in (PROMISING, CANNOT_TELL):
        state, says = "confirm", too_small(found.rows, confidence) or to_do(row)
    closest = found.metric if row["trusted"] or row["corrected"] is not None else ""
    corrected, low, high = (row[f"corrected{end}"] for end in ("", "_low", "_high"))
    return GridCell(state, closest, corrected, low, high, row["verdict"], says)
