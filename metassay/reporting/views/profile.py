"""What texts are like: words, numbers and how common words are, beside the reference's texts."""

import pandas as pd

from metassay.reporting.names import sorted_authors
from metassay.reporting.numbers import shown, shown_interval
from metassay.reporting.tables import records
from metassay.reporting.views.section import NOT_COMPUTED, Cell, Grid, Row, Section, number
from metassay.tables.names import REFERENCE

_NAMES = {"words": "words", "numbers": "numbers", "popularity": "popularity of words"}
_MORE = {
    "words": ("more words", "fewer words"),
    "numbers": ("more numbers", "fewer numbers"),
    "popularity": ("more common words", "rarer words"),
}


def profile_section(profile: pd.DataFrame) -> Section | None:
    """One table, authors by quantity; None without a row."""
    if profile.empty:
        return None
    lines = records(profile)
    says = [
        "Means over texts, with their bootstrap interval over documents, and the difference to the"
        " reference of the same documents. None of these says how good a text is. A number is"
        " written in digits. Popularity is how common a text’s content words are in the sources"
        " and references of the benchmark’s other documents: the mean of log10 of a word’s"
        " occurrences per million, plus one occurrence; 1 more is ten times as common."
    ]
    found = _differing(lines)
    return Section(
        "profile",
        "What the texts are like",
        [*found, *says],
        ["profile"],
        grids=[_grid(lines)],
        figure="profile",
    )


def _differing(lines: list[Row]) -> list[str]:
    """Of each quantity the author furthest from the reference whose interval leaves out 0."""
    said = []
    for quantity, (more, fewer) in _MORE.items():
        apart = [
            row
            for row in lines
            if row["quantity"] == quantity
            and row["difference_low"] is not None
            and row["difference_low"] * row["difference_high"] > 0
        ]
        if not apart:
            continue
        most = max(apart, key=lambda row: abs(row["difference"]))
        what = more if most["difference"] > 0 else fewer
        size = shown(abs(most["difference"]))
        ends = sorted(abs(most[name]) for name in ("difference_low", "difference_high"))
        said.append(f"{most['author']} has {what} than the reference: by {size} {_ends(ends)}")
    return [f"Furthest from the reference: {'; '.join(said)}."] if said else []


def _ends(ends: list[float]) -> str:
    return shown_interval(ends[0], ends[1])


def _grid(lines: list[Row]) -> Grid:
    found = {(row["author"], row["quantity"]): row for row in lines}
    quantities = [name for name in _NAMES if any(row["quantity"] == name for row in lines)]
    heads = ["author"]
    for name in quantities:
        heads += [_NAMES[name], "less the reference’s"]
    made = [
        (author, [c for name in quantities for c in _cells(found.get((author, name)))])
        for author in sorted_authors(row["author"] for row in lines)
    ]
    return Grid("", heads, made)


def _cells(row: Row | None) -> list[Cell]:
    if row is None:
        return [NOT_COMPUTED, NOT_COMPUTED]
    missing = f", {row['n_missing']:,} missing" if row["n_missing"] else ""
    own = number(row["mean"], f"n = {row['n']:,}{missing}", low=row["low"], high=row["high"])
    if row["author"] == REFERENCE or row["difference"] is None:
        return [own, NOT_COMPUTED]
    ends = {"low": row["difference_low"], "high": row["difference_high"]}
    return [own, number(row["difference"], f"n = {row['n_difference']:,}", **ends)]
