"""What each criterion of a rubric counts in people's own overall scores."""

import pandas as pd

from metassay.reporting.names import criterion_rank
from metassay.reporting.numbers import counted, denominators, shown
from metassay.reporting.tables import records
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Row,
    Section,
    number,
)

_METHODS = {
    "complete": "texts with every grade",
    "complete_non_negative": "texts with every grade, no weight below 0",
    "renormalised": "all texts, weights of the grades that there are",
    "renormalised_non_negative": "all texts, weights of the grades that there are, none below 0",
}


def facet_weights_section(facet_weights: pd.DataFrame) -> Section | None:
    """One table per study, part and rubric: weights by way of fitting; None without a row."""
    if facet_weights.empty:
        return None
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in sorted(records(facet_weights), key=_place):
        found.setdefault((row["study"], row["part"], row["rubric"]), []).append(row)
    return Section(
        "weights",
        "Weights of the criteria",
        [
            "Least squares of people’s overall scores on their own grades, as shares of the ends of"
            " the scales: what each criterion counts for those who gave both. Brackets hold the"
            " interval for other documents. MSE is the mean squared error of these weights; beside"
            " it that of the rubric’s own. Errors of 0 say that the overall scores were computed"
            " from the grades, and by which weights; they say nothing of people’s judgment.",
        ],
        ["facet_weights"],
        groups=[
            Group(rubric, f"study {study}, {part}", [_grid(mine)], open=place == 0)
            for place, ((study, part, rubric), mine) in enumerate(found.items())
        ],
    )


def _place(row: Row) -> tuple[object, ...]:
    return row["study"], row["part"], row["rubric"], criterion_rank(row["criterion"])


def _grid(mine: list[Row]) -> Grid:
    criteria = list(dict.fromkeys(row["criterion"] for row in mine))
    own = {row["criterion"]: row["given"] for row in mine}
    lines = [
        (
            "the rubric's own",
            [*(number(own[name]) for name in criteria), NOT_COMPUTED, NOT_COMPUTED],
        )
    ]
    for method, called in _METHODS.items():
        of_method = {row["criterion"]: row for row in mine if row["method"] == method}
        if of_method:
            weights = [_weight(of_method.get(name)) for name in criteria]
            lines.append((called, [*weights, *_errors(next(iter(of_method.values())))]))
    return Grid("", ["fitted to", *criteria, "MSE", "MSE of the rubric's own"], lines, sort=False)


def _weight(row: Row | None) -> Cell:
    return NOT_COMPUTED if row is None else number(row["weight"], low=row["low"], high=row["high"])


def _errors(row: Row) -> list[Cell]:
    counts = denominators(row["n"], n_missing=row["n_missing"])
    documents = counted(row["n_documents"], "document")
    return [number(row["mse"], counts, documents), Cell(shown(row["mse_given"]) or "undefined")]
