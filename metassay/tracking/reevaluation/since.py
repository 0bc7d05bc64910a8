"""What the view Since of a benchmark's page shows: changes with causes, and scores over weeks.

Keys and numbers alone, as in the history: no text.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pandas as pd

from metassay.format.frames import records
from metassay.reporting import contract
from metassay.reporting.names import sorted_metrics
from metassay.reporting.shell import LARGEST, encode
from metassay.tables.names import FULL, metric_label, sorted_authors
from metassay.tracking.comparison.differences import (
    CHANGED,
    IMPROVED,
    REGRESSED,
    UNKNOWN,
)
from metassay.tracking.comparison.words import certificate_lines, label
from metassay.tracking.reevaluation.outcome import (
    REPORTS,
    History,
    Outcome,
    documents_of,
    summarise_changes,
)

_LISTED = (REGRESSED, IMPROVED, CHANGED, UNKNOWN)
_DIGITS = 6  # of a point: more than a picture shows
_NOT_COMPARED = "Unknown: a stage failed, so nothing was compared."


def describe_since(
    outcome: Outcome, history: History, sentences: Sequence[str]
) -> contract.Since:
    """Return the view's data; `sentences`: those that head the change report.

    As many runs as one file of the page may have, the last ones; `earlier` counts the
    others.
    """
    compared = outcome.differences is not None
    causes = [str(cause) for cause in outcome.causes]
    rows = outcome.rows
    others = [
        f"{len(of_verdict):,} {verdict}"
        for verdict, of_verdict in rows.items()
        if verdict not in _LISTED and of_verdict
    ]
    since = contract.Since(
        run=outcome.when,
        revision=outcome.revision or "",
        accepted=outcome.accepted or "",
        title=summarise_changes(outcome) if compared else "",
        answer=sentences,
        causes=[_NOT_COMPARED] if outcome.failed else causes,
        drift=[result.sentence for result in outcome.drift or ()],
        certificates=list(certificate_lines(outcome.certificates)),
        changes=[
            _change(outcome, row) for name in _LISTED for row in _worst(rows[name])
        ],
        others=", ".join(others),
        scores=[],
        earlier=0,
        href=f"../{REPORTS.name}/{outcome.benchmark}/index.html",
    )
    runs = sorted(set(history.means["run"]))
    n_shown = len(runs)
    while True:
        shown = history.means[history.means["run"].isin(runs[len(runs) - n_shown :])]
        since = since._replace(scores=list(_scores(shown)), earlier=len(runs) - n_shown)
        if n_shown <= 1 or len(encode(since)) <= LARGEST:
            return since
        n_shown //= 2


def _worst(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort rows of one verdict: the surest, then the largest difference first."""

    def place(row: dict[str, Any]) -> tuple[float, float]:
        p = 1.0 if row["p_adjusted"] is None else row["p_adjusted"]
        return p, -abs(row["difference"] or 0.0)

    return sorted(rows, key=place)


def _change(outcome: Outcome, row: dict[str, Any]) -> contract.SinceChange:
    one_sided = row["n_only_before"] + row["n_only_after"]
    notes = (
        f"{row['n_changed']:,} of {row['n']:,} documents differ",
        f"{one_sided:,} only on one side" if one_sided else "",
        "" if row["same_recipe"] else "measured by another recipe",
        row["why"],
    )
    return contract.SinceChange(
        metric=label(row),
        author=row["author"],
        verdict=row["verdict"],
        before=row["before"],
        after=row["after"],
        difference=row["difference"],
        low=row["low"],
        high=row["high"],
        p=row["p_adjusted"],
        notes=[note for note in notes if note],
        documents=documents_of(outcome, row),
    )


def _scores(means: pd.DataFrame) -> Iterator[contract.SinceScore]:
    """Yield the lines of whole texts, metrics and systems in the order of the page."""
    rows = records(means[means["part"] == FULL])
    metrics = sorted_metrics({(row["metric"], row["judge"]) for row in rows})
    authors = sorted_authors(row["author"] for row in rows)

    def place(row: dict[str, Any]) -> tuple[int, int]:
        metric = metrics.index((row["metric"], row["judge"]))
        return metric, authors.index(row["author"])

    ordered = sorted(rows, key=lambda row: (*place(row), row["run"]))
    for _, of_score in groupby(ordered, place):
        line = list(of_score)
        yield contract.SinceScore(
            metric=metric_label(line[0]["metric"], line[0]["judge"]),
            author=line[0]["author"],
            better=line[-1]["better"],
            points=[
                contract.SincePoint(
                    run=row["run"],
                    mean=_rounded(row["mean"]),
                    low=_rounded(row["low"]),
                    high=_rounded(row["high"]),
                    verdict=row["verdict"] or "",
                    another_recipe=another,
                )
                for row, another in zip(line, _recipe_changes(line), strict=True)
            ],
        )


def _recipe_changes(line: Sequence[dict[str, Any]]) -> Iterator[bool]:
    """Yield, run by run, whether the last mean before it was measured by another recipe.

    A run without a mean has no point in the picture, so it hides no change.
    """
    last = None
    for row in line:
        yield last is not None and row["recipe"] != last
        if row["mean"] is not None:
            last = row["recipe"]


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")
