"""How often two metrics prefer different texts, and where a sample of those lies."""

import pandas as pd

from metassay.reporting.names import sorted_parts
from metassay.reporting.numbers import counted, shown
from metassay.reporting.tables import rows
from metassay.reporting.views.section import Cell, Grid, Group, Section, best_first, count, number
from metassay.tables.names import FULL

_SAYS = (
    "Two texts of one document are in conflict if one metric prefers the one and another metric the"
    " other. Ties are no conflict. Below stands the share of such pairs. Where two metrics often"
    " disagree, ask people about those texts: that tells most about which metric to trust."
)


def conflicts_section(conflicts: pd.DataFrame, disagreements: pd.DataFrame) -> Section | None:
    """The share of conflicts per pair of metrics, most first; None where no two are compared."""
    if conflicts.empty and disagreements.empty:
        return None
    sample = "No pair of texts was drawn for annotation."
    if len(disagreements):
        sample = (
            f"{counted(len(disagreements), 'pair')} of texts worth annotating, each preferred by"
            " one of two metrics, are named in disagreements.csv beside this page."
        )
    return Section(
        "conflicts",
        "Where metrics disagree",
        [_SAYS, sample],
        ["conflicts", "disagreements"],
        groups=[
            _part(part, conflicts[conflicts["part"] == part])
            for part in sorted_parts(conflicts["part"])
        ],
    )


class _Total:
    """Counts of one pair of metrics, over documents."""

    def __init__(self) -> None:
        self.documents = self.pairs = self.disagreements = 0

    @property
    def share(self) -> float | None:
        return self.disagreements / self.pairs if self.pairs else None


def _part(part: str, mine: pd.DataFrame) -> Group:
    totals: dict[tuple[str, str], _Total] = {}
    columns = ("metric_a", "metric_b", "n_pairs", "n_disagreements")
    for a, b, n_pairs, n_disagreements in rows(mine, *columns):
        total = totals.setdefault((a, b), _Total())
        total.documents += n_pairs > 0
        total.pairs += n_pairs
        total.disagreements += n_disagreements
    order = sorted(totals, key=lambda pair: (best_first(totals[pair].share), pair))
    (a, b), most = order[0], totals[order[0]]
    soft = counted(len(order), "pair") + " of metrics"
    if most.share is not None:
        soft += f"; most in conflict: {a} and {b}, {shown(most.share)} of {most.pairs:,}"
    heads = ["metric", "other metric", "share in conflict", "conflicts", "pairs", "documents"]
    lines = [(pair[0], _cells(pair[1], totals[pair])) for pair in order]
    title = "Whole texts" if part == FULL else f"Part: {part}"
    return Group(title, soft, [Grid("", heads, lines)])


def _cells(other: str, total: _Total) -> list[Cell]:
    counts = (total.disagreements, total.pairs, total.documents)
    return [Cell(other), number(total.share), *(count(value) for value in counts)]
