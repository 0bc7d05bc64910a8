"""Which metric to trust for each decision, in words."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

import pandas as pd

from metassay.format.numbers import counted, missing
from metassay.format.terms import COEFFICIENT_NAMES, DECISIONS
from metassay.meta_evaluation import verdicts as v
from metassay.meta_evaluation.study_warnings import too_small
from metassay.reporting.contract import GridCell, GridRow
from metassay.reporting.keys import criterion_title
from metassay.reporting.names import (
    Row,
    best_first,
    group_by_criterion,
    metric_name,
    short_estimate,
)
from metassay.reporting.sentences import advise, capitalized, state_of
from metassay.tables.names import FULL


class Best(NamedTuple):
    """The best of one criterion's and level's metrics; where it is not to be used, none is."""

    row: Row
    rows: list[Row]  # from which it was chosen

    @property
    def metric(self) -> str:
        """Its name, with the judge's in brackets."""
        return metric_name(self.row)

    @property
    def choice(self) -> str:
        """What it was chosen from: `best of 20 metrics`, or `best of 120 tried`.

        Tried are metrics by criteria, and what was tried elsewhere.
        """
        n_tried = int(self.row["n_tried"])
        if n_tried > len(self.rows):
            return f"best of {n_tried:,} tried"
        return f"best of {counted(len(self.rows), 'metric')}"

    @property
    def verdicts(self) -> str:
        """How often each verdict was given, the best first: `2 use, 5 cannot tell`."""
        kinds = [v.kind_of(row["verdict"]) for row in self.rows]
        names = verdict_names().items()
        return ", ".join(
            f"{kinds.count(kind):,} {name}" for kind, name in names if kind in kinds
        )


def ranked(rows: list[Row]) -> list[Row]:
    """Sort certificates of one level: the best verdict first, then the largest value."""
    return sorted(rows, key=lambda row: _rank(row, "value"))


def best(rows: list[Row]) -> Best | None:
    """Choose, of one level, the best verdict, then the largest `corrected`; None without rows."""
    if not rows:
        return None
    return Best(min(rows, key=lambda row: _rank(row, "corrected")), rows)


def best_of(certificates: pd.DataFrame) -> Iterator[tuple[str, str, Best]]:
    """Yield criterion (with its study, where there are several), level, best metric of texts."""
    several = certificates["study"].nunique() > 1
    for (study, criterion, _), rows in group_by_criterion(
        certificates[certificates["part"] == FULL]
    ):
        name = f"{criterion} ({study})" if several else criterion
        for level in DECISIONS:
            choice = best([row for row in rows if row["level"] == level])
            if choice is not None:
                yield name, level, choice


def verdict_names() -> dict[str, str]:
    """Name each kind of verdict where many are counted, the best first."""
    return {kind: kind for kind in v.VERDICTS} | {
        v.EXPLAINED: f"{v.EXPLAINED} a confound"
    }


def _rank(row: Row, by: str) -> tuple[int, float, str, str]:
    value = float("-inf") if missing(row[by]) else float(row[by])
    return (
        v.VERDICTS.index(v.kind_of(row["verdict"])),
        -value,
        row["metric"],
        row["judge"],
    )


# The grid of the first screen: for each criterion and decision the metric to use, or
# the closest.


def decisions(certificates: pd.DataFrame) -> dict[str, str]:
    """Return the title of each level at which any metric was tested."""
    levels = set(certificates["level"])
    return {level: words for level, words in DECISIONS.items() if level in levels}


def grid(certificates: pd.DataFrame, confidence: float) -> list[GridRow]:
    """Return a row per study, criterion and part, with a cell per decision of `decisions`."""
    several, levels = certificates["study"].nunique() > 1, decisions(certificates)
    grid = []
    for key, rows in group_by_criterion(certificates):
        of_levels = (
            best([row for row in rows if row["level"] == level]) for level in levels
        )
        cells = [choice and _grid_cell(choice, confidence) for choice in of_levels]
        title = criterion_title(*key[1:])
        grid.append(GridRow(*key, f"{title} ({key[0]})" if several else title, cells))
    return grid


def _grid_cell(choice: Best, confidence: float) -> GridCell:
    row, state = choice.row, state_of(choice.row["verdict"])
    # The picture below has each metric's uncorrected value.
    corrected_as = f"corrected as {choice.choice}"
    says = {"use": corrected_as, "no": choice.verdicts}.get(state)
    closest = choice.metric if row["trusted"] or row["corrected"] is not None else ""
    corrected, low, high = (row[f"corrected{end}"] for end in ("", "_low", "_high"))
    says = says or too_small(choice.rows, confidence) or advise(row)
    return GridCell(state, closest, corrected, low, high, row["verdict"], says)


# Which metric to use for each decision, in a sentence each: where runs end, and in
# Python.


_NAMED = 3  # a sentence names so many criteria at most; others are counted
_NONE = "No metric is of use"
_VERDICTS = {
    **dict.fromkeys((v.PROMISING, v.CANNOT_TELL), "No metric can be trusted yet"),
    v.UNDEFINED: "No metric has a correlation with people",
}
Chosen = tuple[str, Best]  # a criterion or decision, and its best metric


def advice(
    choices: Iterable[tuple[str, str, Best]], confidence: float
) -> Iterator[str]:
    """Yield a sentence per decision and answer: the first of each decision, then the second."""
    answers: dict[str, dict[str, list[Chosen]]] = {level: {} for level in DECISIONS}
    for criterion, level, best in choices:
        if best.row["trusted"]:
            answer = f"Use {best.metric}"
        else:
            reason = too_small(best.rows, confidence)
            answer = reason or _VERDICTS.get(best.row["verdict"], _NONE)
        answers[level].setdefault(answer, []).append((criterion, best))
    by_level = []
    for level, of_level in answers.items():
        n = sum(map(len, of_level.values()))
        used_first = sorted(
            of_level.items(), key=lambda item: not item[1][0][1].row["trusted"]
        )
        by_level.append([_sentence(*item, DECISIONS[level], n) for item in used_first])
    yield from (line for lines in zip_longest(*by_level) for line in lines if line)


def answers_by_criterion(
    choices: Iterable[tuple[str, str, Best]], confidence: float
) -> Iterator[str]:
    """Yield a sentence per criterion: what to use for which decision, what others lack.

    Criteria without any metric to use come last, those that lack the same in one
    sentence.
    """
    chosen_for: dict[str, list[Chosen]] = {}
    for criterion, level, best in choices:
        chosen_for.setdefault(criterion, []).append((DECISIONS[level], best))
    without: dict[str, list[str]] = {}
    for criterion, of_criterion in chosen_for.items():
        used: dict[str, list[str]] = {}
        lacks: dict[str, list[str]] = {}
        for decision, best in of_criterion:
            if best.row["trusted"]:
                used.setdefault(best.metric, []).append(f"{decision}{_r(best.row)}")
            else:
                lacks.setdefault(_lacks(best, confidence), []).append(decision)
        uses = [
            f"Use {name} for {criterion} between {_listed(of)}"
            for name, of in used.items()
        ]
        rest = [f"between {_listed(of)}: {why}" for why, of in lacks.items()]
        if uses:
            yield f"{'; '.join([*uses, *(f'nothing yet {line}' for line in rest)])}."
        else:
            without.setdefault("; ".join(rest), []).append(criterion)
    for why, criteria in without.items():
        yield f"Nothing can be trusted yet for {_listed(criteria)} {why}."


def _lacks(best: Best, confidence: float) -> str:
    """Say what lacks where there is nothing to use."""
    if state_of(best.row["verdict"]) == "confirm":
        return too_small(best.rows, confidence).removesuffix(".") or str(
            best.row["advice"]
        )
    return best.verdicts


def _sentence(answer: str, choices: list[Chosen], decision: str, n: int) -> str:
    """Write the answer by these criteria, of n; the one that its metric is closest to is first."""
    choices = sorted(choices, key=lambda choice: best_first(choice[1].row["corrected"]))
    names = [criterion for criterion, _ in choices]
    if answer.endswith("."):  # the study is too small for any metric
        return (
            f"By {_listed(names)}: {answer}" if len(names) < n else capitalized(answer)
        )
    criterion, best = choices[0]
    row = best.row
    if row["trusted"]:
        alone = (
            " No other system was rated." if row["verdict"] == v.THESE_SYSTEMS else ""
        )
        values = [f"{criterion}{_r(best.row)}" for criterion, best in choices]
        return f"{answer} to compare {decision} by {_listed(values)}.{alone}"
    where = f" by {criterion}" if len(names) > 1 else ""
    closest = (
        f"; closest: {best.metric}{where}{_r(row)}"
        if row["corrected"] is not None
        else ""
    )
    why = f", {row['verdict']}" if answer == _NONE else ""
    more = f" {advise(row)}" if state_of(row["verdict"]) == "confirm" else ""
    return f"{answer} to compare {decision} by {_listed(names)}{closest}{why}.{more}"


def _r(row: Row) -> str:
    """Write the correlation, corrected for the choice, and how many were tried, in brackets."""
    name = (
        "r"
        if row["coefficient"] == "pearson"
        else COEFFICIENT_NAMES[row["coefficient"]]
    )
    tried = f", {row['n_tried']:,} tried" if row["n_tried"] > 1 else ""
    return f" ({name} {short_estimate(row, 'corrected', 'corrected_')}{tried})"


def _listed(names: list[str]) -> str:
    """Write `a`, `a and b`, `a, b and 10 more`."""
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1:,} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
