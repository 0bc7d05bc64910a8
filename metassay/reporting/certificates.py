"""Which metric to trust for each decision, and what a study is too small for."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from math import factorial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import counted, missing, short, short_interval
from metassay.format.terms import COEFFICIENT_NAMES, DECISIONS
from metassay.meta_evaluation.verdicts import (
    CANNOT_TELL,
    EXPLAINED,
    FEWEST_SYSTEMS,
    OF_NO_OTHERS,
    PROMISING,
    THESE_SYSTEMS,
    UNDEFINED,
    VERDICTS,
    kind_of,
)
from metassay.reporting.contract import Decision, GridCell, GridRow
from metassay.reporting.names import criterion_title, part_rank
from metassay.reporting.section import (
    Key,
    Row,
    best_first,
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


# Which metric to use for each decision, in a sentence each: where runs end, and in Python.


_NAMED = 3  # a sentence names so many criteria at most; others are counted


def advice(found: Iterable[tuple[str, str, Best]], confidence: float) -> Iterator[str]:
    """A sentence for each decision and answer: the first of each decision, then the second ones."""
    alike: dict[str, dict[str, list[tuple[str, Best]]]] = {level: {} for level in DECISIONS}
    for criterion, level, best in found:
        alike[level].setdefault(_verdict(best, confidence), []).append((criterion, best))
    by_level = []
    for level, answers in alike.items():
        n = sum(map(len, answers.values()))
        used_first = sorted(answers.items(), key=lambda item: not item[1][0][1].row["trusted"])
        by_level.append([_sentence(said, DECISIONS[level], mine, n) for said, mine in used_first])
    yield from (line for lines in zip_longest(*by_level) for line in lines if line)


def answers_by_criterion(found: Iterable[tuple[str, str, Best]], confidence: float) -> list[str]:
    """A sentence per criterion: what to use for which decision, and what lacks for the others."""
    every: dict[str, list[tuple[str, Best]]] = {}
    for criterion, level, best in found:
        every.setdefault(criterion, []).append((DECISIONS[level], best))
    said: list[str] = []
    nothing: dict[str, list[str]] = {}
    for criterion, mine in every.items():
        used: dict[str, list[str]] = {}
        lacks: dict[str, list[str]] = {}
        for decision, best in mine:
            if best.row["trusted"]:
                used.setdefault(best.metric, []).append(f"{decision}{_r(best.row)}")
            else:
                lacks.setdefault(_lacks(best, confidence), []).append(decision)
        uses = [f"Use {one} for {criterion} between {_listed(of)}" for one, of in used.items()]
        rest = [f"between {_listed(of)}: {why}" for why, of in lacks.items()]
        if uses:
            said.append(f"{'; '.join([*uses, *(f'nothing yet {one}' for one in rest)])}.")
        else:
            nothing.setdefault("; ".join(rest), []).append(criterion)
    lines = (f"Nothing can be trusted yet for {_listed(of)} {why}." for why, of in nothing.items())
    return [*said, *lines]


def _lacks(best: Best, confidence: float) -> str:
    """What lacks where there is nothing to use."""
    if best.row["verdict"] in (PROMISING, CANNOT_TELL):
        return too_small(best.rows, confidence).removesuffix(".") or str(best.row["advice"])
    return best.verdicts


_NONE = "No metric is of use"
_VERDICTS = {
    **dict.fromkeys((PROMISING, CANNOT_TELL), "No metric can be trusted yet"),
    UNDEFINED: "No metric has a correlation with people",
}


def _verdict(best: Best, confidence: float) -> str:
    """How the sentence begins; a whole one, where the study is too small for any metric."""
    if best.row["trusted"]:
        return f"Use {best.metric}"
    return too_small(best.rows, confidence) or _VERDICTS.get(best.row["verdict"], _NONE)


def _sentence(said: str, decision: str, members: list[tuple[str, Best]], n: int) -> str:
    """The answer by these criteria, of n; the criterion that its metric is closest to is first."""
    members = sorted(members, key=lambda one: best_first(one[1].row["corrected"]))
    names = [criterion for criterion, _ in members]
    if said.endswith("."):
        return f"By {_listed(names)}: {said}" if len(names) < n else said[0].upper() + said[1:]
    criterion, best = members[0]
    row = best.row
    if row["trusted"]:
        alone = " No other system was rated." if row["verdict"] == THESE_SYSTEMS else ""
        each = [f"{criterion}{_r(best.row)}" for criterion, best in members]
        return f"{said} to compare {decision} by {_listed(each)}.{alone}"
    where = f" by {criterion}" if len(names) > 1 else ""
    closest = f"; closest: {best.metric}{where}{_r(row)}" if row["corrected"] is not None else ""
    why = f", {row['verdict']}" if said == _NONE else ""
    more = f" {to_do(row)}" if row["verdict"] in (PROMISING, CANNOT_TELL) else ""
    return f"{said} to compare {decision} by {_listed(names)}{closest}{why}.{more}"


def _r(row: Row) -> str:
    """The correlation, corrected for the choice of the metric, in brackets."""
    of = "r" if row["coefficient"] == "pearson" else COEFFICIENT_NAMES[row["coefficient"]]
    ends = short_interval(row["corrected_low"], row["corrected_high"])
    return f" ({of} {short(row['corrected'])} {ends}".rstrip() + ")"


def _listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and 10 more`."""
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1:,} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
