"""Claim scores by each of our judges beside the printed ones, and how far the rankings agree."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from metassay.reporting.numbers import counted, equals, probability, short, shown
from metassay.reporting.published_claims import PRINTED, ClaimScores
from metassay.reporting.tables import records
from metassay.reporting.views.section import NOT_COMPUTED, Cell, Grid, Group, Row, Section, number
from metassay.tables.names import FULL

_HEADING = "Published claim scores"
_POOLED = (
    "Ours are means over the notes (macro), with their intervals, and all claims pooled (micro)."
    " The paper defines the mean over notes. Its numbers suggest that the scores of full notes are"
    " pooled over claims and those of sections are means over the notes that have a claim there, so"
    " both are here. The printed shares are divided by 100."
)
_RANKS = (
    "Below the scores stand rank correlations of the systems: Spearman’s, then Kendall’s tau-b, of"
    " our macro values, and what micro values give. The p of each is exact, from every order of so"
    " few systems. Rows of printed evaluators say how far the paper’s own rankings agree. All"
    " correlations rest on the same systems, so they are not independent of each other."
)


def claims_section(compared: ClaimScores, tables: Mapping[str, pd.DataFrame]) -> Section:
    """`tables` are those of `compared`, with the names that judges are shown as."""
    files = list(compared.tables)
    scores, ranks = (records(tables[name]) for name in files)
    if not scores:
        says = [compared.says, "None of its values has a counterpart here."]
        return Section("published_claims", _HEADING, says, files)
    metrics = dict.fromkeys(row["metric"] for row in scores)
    left_out = f"{counted(compared.n_not_run, 'printed value')} of other texts or measures"
    return Section(
        "published_claims",
        _HEADING,
        [f"{compared.title}. {compared.says}", f"{_POOLED} {left_out} are left out.", _RANKS],
        files,
        groups=[
            Group(
                metric,
                f"{counted(len(_of(scores, metric)), 'value')} of ours",
                [_scores(_of(scores, metric)), _ranks(_of(ranks, metric))],
                open=place == 0,
            )
            for place, metric in enumerate(metrics)
        ],
        warnings=_too_few(ranks),
    )


def _of(rows: list[Row], metric: str) -> list[Row]:
    return [row for row in rows if row["metric"] == metric]


def _part(section: str) -> str:
    return "whole notes" if section == FULL else section.replace("_", " ")


def _scores(mine: list[Row]) -> Grid:
    judges = list(dict.fromkeys(row["judge"] for row in mine))
    printed = [name for name in mine[0] if name.endswith(PRINTED)]
    lines: dict[str, dict[str, Cell]] = {}
    for row in mine:
        line = lines.setdefault(f"{_part(row['section'])}: {row['system']}", {})
        line[row["judge"]] = _ours(row)
        line |= {name: _printed(row[name]) for name in printed}
    heads = [*judges, *printed]
    rows = [
        (name, [line.get(head, NOT_COMPUTED) for head in heads]) for name, line in lines.items()
    ]
    return Grid("Scores", ["section: system", *heads], rows, sort=False)


def _ours(row: Row) -> Cell:
    defined = row["n_documents"] - row["n_undefined"]
    of = f"n = {defined:,}" + (f" of {row['n_documents']:,}" if row["n_undefined"] else "")
    micro = f"micro {shown(row['micro'])}" if row["micro"] is not None else ""
    missing = f"{row['n_failed']:,} of {row['n_expected']:,} missing" if row["n_failed"] else ""
    return number(row["macro"], micro, of, missing, low=row["low"], high=row["high"])


def _printed(value: float | None) -> Cell:
    return NOT_COMPUTED if value is None else Cell(f"{value:.4f}", stored=str(value))


def _ranks(mine: list[Row]) -> Grid:
    evaluators = list(dict.fromkeys(row["evaluator"] for row in mine))
    lines: dict[str, dict[str, Cell]] = {}
    for row in mine:
        line = lines.setdefault(f"{_part(row['section'])}: {row['judge']}", {})
        above = line.get(row["evaluator"])  # macro stands before micro
        cell = _rank(row)
        line[row["evaluator"]] = cell if above is None else _both(above, cell)
    rows = [
        (name, [of.get(evaluator, NOT_COMPUTED) for evaluator in evaluators])
        for name, of in lines.items()
    ]
    heads = ["section: judge", *(evaluator + PRINTED for evaluator in evaluators)]
    return Grid("Does the judge rank the systems as this one?", heads, rows, sort=False)


def _rank(row: Row) -> Cell:
    if row["spearman"] is None:
        return Cell("undefined", (f"n = {row['n']}",), "")
    both = f"{short(row['spearman'])}, {short(row['kendall'])}"
    p = f"{equals(row['spearman_p'])} and {probability(row['kendall_p'])}"
    return Cell(both, (p, f"n = {row['n']}"), str(row["spearman"]))


def _both(macro: Cell, micro: Cell) -> Cell:
    same = (micro.text, micro.notes) == (macro.text, macro.notes)
    said = "micro the same" if same else f"micro {micro.text}, {micro.notes[0]}"
    return macro._replace(notes=(*macro.notes, said))


def _too_few(ranks: list[dict[str, Any]]) -> list[str]:
    """Said first where no p could be small, whatever the rankings."""
    defined = [row for row in ranks if row["smallest_p"] is not None]
    if not defined:
        return ["Too few systems have texts here and values in print to compare any ranking."]
    smallest = min(row["smallest_p"] for row in defined)
    if smallest < 0.05:
        return []
    n = counted(max(row["n"] for row in defined), "system")
    return [
        f"Only {n} can be compared, so that no p can be below {probability(smallest)}: a rank"
        " correlation of 1 with so few is weak evidence that a judge ranks systems as another."
    ]
