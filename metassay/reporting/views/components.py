"""Where the agreement of metrics and people lies: systems, documents, or text by text."""

import pandas as pd

from metassay.reporting.names import sorted_metrics
from metassay.reporting.numbers import counted, denominators, per_cent
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Key,
    Row,
    Section,
    by_criterion,
    number,
    titled,
)
from metassay.reporting.words import COEFFICIENT_NAMES, COMPONENTS
from metassay.tables.names import metric_label


def components_section(components: pd.DataFrame) -> Section | None:
    """One table per criterion, metrics by component; None without a row."""
    if components.empty:
        return None
    return Section(
        "components",
        "Where the agreement lies",
        [
            "A text’s score is taken for three things added up: its system’s level, its document’s"
            " level, and what belongs to this text alone. A metric can agree with people about each"
            " of them or not. One that agrees between systems only may know who wrote a text"
            " rather than how good it is.",
            "Below each correlation stand its interval, for other systems and documents, and the"
            " share of the metric’s variance that lies there. Signs are turned so that more is"
            " better.",
        ],
        ["components"],
        groups=[
            _criterion(key, mine, is_open=place == 0)
            for place, (key, mine) in enumerate(by_criterion(components))
        ],
        figure="components",
    )


def people_vary(mine: list[Row]) -> str:
    """Where people's ratings differ, in one sentence; empty where that cannot be estimated."""
    shares = {row["component"]: row["people_share"] for row in mine}
    known = {name: per_cent(shares.get(name)) for name in COMPONENTS}
    if not all(known.values()):
        return ""
    said = ", ".join(f"{known[name]} {words}" for name, words in COMPONENTS.items())
    return f"People’s ratings vary {said}"


def _criterion(key: Key, mine: list[Row], *, is_open: bool) -> Group:
    found = {((row["metric"], row["judge"]), row["component"]): row for row in mine}
    lines = [
        (metric_label(*metric), [_cell(found.get((metric, name))) for name in COMPONENTS])
        for metric in sorted_metrics(metric for metric, _ in found)
    ]
    coefficients = ", ".join(sorted({COEFFICIENT_NAMES[row["coefficient"]] for row in mine}))
    soft = f"study {key[0]}, {counted(len(lines), 'metric')}, {coefficients}"
    grid = Grid(people_vary(mine), ["metric", *COMPONENTS.values()], lines)
    return Group(titled(key), soft, [grid], open=is_open)


def _cell(row: Row | None) -> Cell:
    if row is None:
        return NOT_COMPUTED
    share = per_cent(row["metric_share"])
    return number(
        row["value"],
        f"{share} of its variance" if share else "",
        denominators(row["n"], n_missing=row["n_missing"]),
        low=row["low"],
        high=row["high"],
    )
