"""How far raters agree, and how often metrics order texts as people who compared them do."""

import pandas as pd

from metassay.meta_evaluation.options import BELOW_OTHERS
from metassay.reporting.numbers import counted, denominators, missing, short, short_interval
from metassay.reporting.tables import records
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Row,
    Section,
    best_first,
    by_criterion,
    count,
    number,
    titled,
)
from metassay.tables.names import metric_label

_EVERYBODY = ("all", "all")
_SAYS = (
    "1 is perfect agreement. Kappa and alpha are 0 where raters agree no more than by chance."
    " Brackets hold the bootstrap interval over the things rated. n counts the things that both"
    " raters rated; for all raters together, those with two ratings or more; for icc, those that"
    " everybody rated. Missing counts the other things that somebody rated."
    " spearman_below_others is how far a rater’s agreement with the others lies below theirs with"
    " each other: 0 is as good as theirs, and a rater whose whole interval is above 0 is named. Of"
    " raters who are equal, somebody would be named by about one criterion in 20."
)
_PREFERENCES = (
    "People said which of two texts is better. Same outcome: the share of these comparisons in"
    " which the metric says the same, ties included. Decisive: the same share of the comparisons in"
    " which people preferred one text. There a tie of the metric counts half, as a guess does."
)
_TIES = ["n_same", "n_opposite", "n_metric_tie", "n_human_tie", "n_both_tie"]


def agreement_section(agreement: pd.DataFrame) -> Section:
    """All raters together by criterion and coefficient; then rater by rater."""
    files = ["agreement"]
    if agreement.empty:
        says = "No two people rated the same thing."
        return Section("agreement", "Agreement between raters", [says], files)
    together: dict[tuple[str, ...], list[Row]] = {}
    singles: dict[tuple[str, str], list[Row]] = {}
    for row in records(agreement.sort_values(["criterion", "study", "coefficient"])):
        key = row["criterion"], row["study"]
        if _raters(row) == _EVERYBODY:
            together.setdefault(key, []).append(row)
        else:
            singles.setdefault(key, []).append(row)
    return Section(
        "agreement",
        "Agreement between raters",
        [_SAYS, *_standing_out(agreement)],
        files,
        _matrix("All raters together", ["criterion", "study"], together),
        [
            Group(criterion, f"study {study}, rater by rater", _rater_by_rater(mine))
            for (criterion, study), mine in singles.items()
        ],
    )


def _standing_out(agreement: pd.DataFrame) -> list[str]:
    """Who agrees less with the others than these do with each other, in plain words."""
    rows = records(agreement[agreement["coefficient"] == BELOW_OTHERS])
    if not rows:
        return []
    said = []
    named = [row for row in rows if not missing(row["low"]) and row["low"] > 0]
    for row in sorted(named, key=lambda one: (one["criterion"], one["study"], -one["value"])):
        ends = short_interval(row["low"], row["high"])
        said.append(
            f"{row['rater_a']} agrees less than the others by {row['criterion']} (study"
            f" {row['study']}): the mean Spearman correlation with another rater is"
            f" {short(row['value'])} {ends} below that of the others with each other. Look at this"
            " rater’s ratings before you use the mean of all."
        )
    if not said:
        said = ["Of no rater can it be said that they agree less with the others than these do."]
    return said


def preferences_section(preferences: pd.DataFrame) -> Section | None:
    """One table per criterion, the metric that agrees most first; None without comparisons."""
    if preferences.empty:
        return None
    heads = ["metric", "same outcome", "decisive", "same", "opposite"]
    heads += ["only metric ties", "only people tie", "both tie", "abstained", "missing"]
    groups = [
        Group(
            titled(key),
            f"study {key[0]}, {counted(len(mine), 'metric')}",
            [Grid("", heads, [_preference(row) for row in sorted(mine, key=_rank)])],
            open=place == 0,
        )
        for place, (key, mine) in enumerate(by_criterion(preferences))
    ]
    heading = "Metrics against people’s preferences"
    return Section("preferences", heading, [_PREFERENCES], ["preferences"], groups=groups)


def _raters(row: Row) -> tuple[str, str]:
    return row["rater_a"], row["rater_b"]


def _matrix(caption: str, heads: list[str], lines: dict[tuple[str, ...], list[Row]]) -> list[Grid]:
    """Coefficients as columns; a line's name and the cells that follow it are its key."""
    names = sorted({row["coefficient"] for mine in lines.values() for row in mine})
    if not names:
        return []
    made = []
    for (name, *more), mine in lines.items():
        cells = {row["coefficient"]: _cell(row) for row in mine}
        made.append((name, [*map(Cell, more), *(cells.get(n, NOT_COMPUTED) for n in names)]))
    return [Grid(caption, [*heads, *names], made)]


def _rater_by_rater(mine: list[Row]) -> list[Grid]:
    lines: dict[tuple[str, ...], list[Row]] = {}
    for row in sorted(mine, key=_raters):
        lines.setdefault((" and ".join(_raters(row)),), []).append(row)
    return _matrix("Rater by rater", ["raters"], lines)


def _cell(row: Row) -> Cell:
    counts = denominators(row["n"], n_missing=row["n_missing"])
    return number(row["value"], counts, low=row["low"], high=row["high"])


def _rank(row: Row) -> tuple[tuple[bool, float], str, str]:
    return best_first(row["value"]), row["metric"], row["judge"]


def _preference(row: Row) -> tuple[str, list[Cell]]:
    compared = sum(row[name] for name in _TIES)
    decisive = row["n_same"] + row["n_opposite"]
    return metric_label(row["metric"], row["judge"]), [
        number(row["value"], denominators(compared)),
        number(row["decisive"], denominators(decisive)),
        *(count(row[name]) for name in (*_TIES, "n_abstained", "n_missing")),
    ]
