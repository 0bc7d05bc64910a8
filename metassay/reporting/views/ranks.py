"""Systems in order: every metric's and every human criterion's means, with ranks."""

from collections.abc import Iterable

import pandas as pd

from metassay.metrics.describe import ROUGE_VARIANTS
from metassay.reporting.names import ARROWS, criterion_title, families, family, sorted_metrics
from metassay.reporting.numbers import exact, shown, shown_interval
from metassay.reporting.ranks import METRIC, PEOPLE
from metassay.reporting.tables import records
from metassay.reporting.views.section import (
    FEW,
    NOT_COMPUTED,
    Cell,
    Grid,
    Row,
    Section,
    key_rank,
)

Scorer = tuple[str, str, str]  # of a metric: "", metric, judge; of people: study, criterion, part


def ranks_section(ranks: pd.DataFrame) -> Section | None:
    """A table of what people gave, then one per family of metrics; None without a row."""
    if ranks.empty:
        return None
    lines = records(ranks)
    metrics, criteria = _metrics(lines), _criteria(lines)
    found = {(_scorer(row), row["author"]): row for row in lines}
    several = len({study for study, _, _ in criteria}) > 1
    groups = {"What people gave": [(_title(one, several=several), one) for one in criteria]}
    for name in families(metric for _, metric, _ in metrics):
        own = [one for one in metrics if family(one[1]) == name]
        groups[name] = [(_any(lines, one)["scorer"], one) for one in own]
    authors = sorted({row["author"] for row in lines})
    grids = [
        Grid(
            name,
            ["system", *(f"{title} {ARROWS[_any(lines, one)['better']]}" for title, one in own)],
            [(author, [_cell(found.get((one, author))) for _, one in own]) for author in authors],
        )
        for name, own in groups.items()
        if own
    ]
    return Section(
        "ranks",
        "Systems in order",
        [
            *_agreeing(lines, metrics, criteria),
            "Each cell has a system’s mean, its rank among the systems in brackets, and the mean’s"
            " interval. Bold is the best, underlined the second best; equal means share a rank. ↑"
            " says that higher is better, ↓ that lower is better. Ranks say nothing of how far"
            " systems are apart: look at the intervals. Metrics that say nothing of quality are"
            " left out, and here, not in the file, precision and recall of ROUGE.",
        ],
        ["ranks"],
        grids=grids,
    )


def _scorer(row: Row) -> Scorer:
    if row["scorer_is"] == METRIC:
        return "", row["metric"], row["judge"]
    return row["study"], row["scorer"], row["part"]


def _metrics(lines: Iterable[Row]) -> list[Scorer]:
    found = ((r["metric"], r["judge"]) for r in lines if r["scorer_is"] == METRIC)
    kept = [one for one in sorted_metrics(found) if family(one[0]) != ROUGE_VARIANTS]
    return [("", metric, judge) for metric, judge in kept]


def _criteria(lines: Iterable[Row]) -> list[Scorer]:
    return sorted({_scorer(row) for row in lines if row["scorer_is"] == PEOPLE}, key=key_rank)


def _any(lines: Iterable[Row], scorer: Scorer) -> Row:
    return next(row for row in lines if _scorer(row) == scorer)


def _title(scorer: Scorer, *, several: bool) -> str:
    study, criterion, part = scorer
    return (f"{study}, " if several else "") + criterion_title(criterion, part)


def _cell(row: Row | None) -> Cell:
    if row is None:
        return NOT_COMPUTED
    if row["rank"] is None:
        return Cell("undefined", stored="")
    css = {1: "best", 2: "second"}.get(int(row["rank"]), "") if row["n_ranked"] > 1 else ""
    ends = shown_interval(row["low"], row["high"])
    text = f"{shown(row['value'])} ({int(row['rank'])})"
    return Cell(text, (ends,) if ends else (), exact(row["value"]), css)


def _agreeing(lines: list[Row], metrics: list[Scorer], criteria: list[Scorer]) -> list[str]:
    """Which metrics put the same system first as people do; criteria of one winner together."""
    first: dict[Scorer, set[str]] = {}
    for row in lines:
        if row["rank"] == 1 and row["n_ranked"] > 1:
            first.setdefault(_scorer(row), set()).add(row["author"])
    several = len({study for study, _, _ in criteria}) > 1
    winners: dict[tuple[str, ...], list[str]] = {}
    for one in criteria:
        if one in first:
            title = _title(one, several=several)
            winners.setdefault(tuple(sorted(first[one])), []).append(title)
    said = [
        f"People put {' and '.join(chosen)} first on {_few(titles)}. So do"
        f" {sum(first.get(metric) == set(chosen) for metric in metrics)} of {len(metrics)} metrics."
        for chosen, titles in winners.items()
    ]
    return said if metrics else []


def _few(titles: list[str]) -> str:
    more = f"; and {len(titles) - FEW} more in the tables" if len(titles) > FEW else ""
    return "; ".join(titles[:FEW]) + more
