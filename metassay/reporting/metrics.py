"""Metrics and people: correlations, differences, confounds, ensembles, corrected means."""

from itertools import product
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import (
    counted,
    equals,
    exact,
    per_cent,
    short,
    short_interval,
    shown,
    shown_interval,
)
from metassay.format.terms import COEFFICIENT_NAMES, COEFFICIENTS, COMPONENTS, DECISIONS, LEVELS
from metassay.meta_evaluation import confounds as confounds_analysis
from metassay.meta_evaluation import ensembles as ensembles_analysis
from metassay.meta_evaluation import significance as significance_analysis
from metassay.meta_evaluation.correlations import OF_COMPONENTS, OF_METRICS
from metassay.meta_evaluation.judge_cards import OF_SYSTEMS
from metassay.meta_evaluation.options import ANY_SHAPE, MEASURED, SYSTEM, VANISHES
from metassay.meta_evaluation.orderings import OF_CONFLICTS
from metassay.reporting.figures.correlations import COEFFICIENT
from metassay.reporting.names import Metric, sorted_metrics, sorted_parts
from metassay.reporting.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Key,
    Row,
    Section,
    analysis_section,
    best_first,
    by_criterion,
    by_metric,
    count,
    estimate,
    grouped,
    key_of,
    level_groups,
    matrix,
    metric_name,
    metric_of,
    metrics_and_coefficients,
    number,
    opening,
    rests_on,
    titled,
)
from metassay.tables.names import FULL, NO_JUDGE, metric_label


class Coefficient(NamedTuple):
    """One coefficient; texts ready to print, `stored` with all digits to sort by."""

    stored: str
    value: str
    interval: str
    counts: str


class Criterion(NamedTuple):
    """One criterion's table: metrics by (level, coefficient)."""

    study: str
    criterion: str
    part: str
    columns: list[tuple[str, str]]
    rows: list[tuple[str, list[Coefficient | None]]]


def correlation_view(correlations: pd.DataFrame) -> list[Criterion]:
    """One table per study, criterion and part."""
    made = []
    for key, mine in by_criterion(correlations):
        cells = {
            (metric_of(row), (row["level"], row["coefficient"])): _coefficient(row) for row in mine
        }
        present = {column for _, column in cells}
        columns = [column for column in product(LEVELS, COEFFICIENTS) if column in present]
        metrics = sorted_metrics(metric for metric, _ in cells)
        lines = [(metric_label(*m), [cells.get((m, c)) for c in columns]) for m in metrics]
        made.append(Criterion(*key, columns, lines))
    return made


def _coefficient(row: Row) -> Coefficient:
    these = shown_interval(row["low_these_systems"], row["high_these_systems"])
    return Coefficient(
        exact(row["value"]),
        shown(row["value"]) or "undefined",
        shown_interval(row["low"], row["high"]) or (f"these systems: {these}" if these else ""),
        rests_on(row),
    )


# Where the agreement of metrics and people lies: systems, documents, or text by text.


def components_section(components: pd.DataFrame) -> Section | None:
    """One table per criterion, metrics by component; None without a row."""
    return analysis_section(OF_COMPONENTS, components, _by_component)


def people_vary(mine: list[Row]) -> str:
    """Where people's ratings differ, in one sentence; empty where that cannot be estimated."""
    shares = {row["component"]: row["people_share"] for row in mine}
    known = {name: per_cent(shares.get(name)) for name in COMPONENTS}
    if not all(known.values()):
        return ""
    said = ", ".join(f"{known[name]} {words}" for name, words in COMPONENTS.items())
    return f"People’s ratings vary {said}"


def _by_component(mine: list[Row]) -> tuple[str, list[Grid], list[Group]]:
    grid = by_metric(mine, "component", _component, COMPONENTS, people_vary(mine))
    return metrics_and_coefficients(mine), [grid], []


def _component(row: Row) -> Cell:
    share = per_cent(row["metric_share"])
    return estimate(row, f"{share} of its variance" if share else "", rests_on(row))


# The metrics that judges make, side by side, and the best that needs no judge above them.

_FIRST = "best without a judge"
_JUDGED_SAYS = (
    "How each judged metric follows people, beside the best metric that needs no judge: the"
    " correlation with its interval, and the verdict. Signs are turned so that more is better."
    " Bold: above that best metric; the differences between metrics show whether by more than"
    " chance."
    " Picking the best of many metrics flatters it, so this comparison is hard on judges."
)


def judged_metrics_section(certificates: pd.DataFrame) -> Section | None:
    """One grid per level: judged metrics by criterion. None where no judge has a part."""
    rows = [row for _, mine in by_criterion(certificates) for row in mine]
    rows = [row for row in rows if row["value"] is not None]
    metrics = sorted_metrics(metric_of(row) for row in rows if row["judge"] != NO_JUDGE)
    if not metrics:
        return None
    groups = level_groups(rows, lambda mine: _judged_grid(mine, metrics))
    heading = "Judges side by side"
    return Section("judged_metrics", heading, [_JUDGED_SAYS], ["certificates"], groups=groups)


def _judged_grid(rows: list[Row], metrics: list[Metric]) -> Grid | None:
    if not rows:
        return None
    columns = grouped(rows, key_of)
    best = {key: _best(mine) for key, mine in columns.items()}
    lines = {_FIRST: {key: _shown_best(best[key], mine) for key, mine in columns.items()}}
    by_metric = grouped(rows, metric_of)
    for metric in metrics:
        found = by_metric.get(metric, [])
        cells = {key_of(row): _judged_cell(row, best[key_of(row)]) for row in found}
        lines[metric_label(*metric)] = cells
    coefficients = {COEFFICIENT_NAMES[row["coefficient"]] for row in rows}
    heads = {key: titled(key) for key in columns}
    return matrix(", ".join(sorted(coefficients)), "metric", lines, heads, sort=False)


def _best(mine: list[Row]) -> Row | None:
    without = [row for row in mine if row["judge"] == NO_JUDGE]
    return min(without, key=lambda row: best_first(row["value"]), default=None)


def _shown_best(best: Row | None, mine: list[Row]) -> Cell:
    if best is None:
        return NOT_COMPUTED
    n = sum(row["judge"] == NO_JUDGE for row in mine)
    made = _number(best)
    notes = (best["metric"], f"of {counted(n, 'metric')}", *made.notes)
    return made._replace(notes=notes)


def _judged_cell(row: Row, best: Row | None) -> Cell:
    above = best is not None and row["value"] > best["value"]
    return _number(row)._replace(css="best" if above else "")


def _number(row: Row) -> Cell:
    ends = short_interval(row["low"], row["high"])
    return Cell(short(row["value"]), (*filter(None, [ends]), row["verdict"]))


# Which metrics are closer to people than others, and for how many pairs that is sure.

ALPHA = 0.05

_CLOSER, _FARTHER, _NOT_SHOWN, _UNDEFINED = "+", "−", "·", "?"


def significance_section(significance: pd.DataFrame) -> Section | None:
    """One matrix per criterion, level and test; None without a comparison."""
    of = significance_analysis.ANALYSIS
    return analysis_section(of, significance, lambda mine: ("", [], _families(mine)))


def _families(mine: list[Row]) -> list[Group]:
    found = grouped(mine, lambda row: (row["level"], row["coefficient"], row["test"]))
    order = list(DECISIONS)
    keys = sorted(found, key=lambda key: (order.index(key[0]), *key[1:]))
    return [_family(key, found[key]) for key in keys]


def _family(key: tuple[str, str, str], mine: list[Row]) -> Group:
    level, coefficient, test = key
    held = sum(_mark(row) in (_CLOSER, _FARTHER) for row in mine)
    undefined = sum(row["p_holm"] is None for row in mine)
    title = f"{DECISIONS[level].capitalize()}: {held:,} of {counted(len(mine), 'difference')} hold"
    if undefined:
        title += f", {undefined:,} undefined"
    low, high = min(row["n"] for row in mine), max(row["n"] for row in mine)
    n = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    missing = max(row["n_missing"] for row in mine)
    at_most = f", up to {missing:,} missing" if missing else ""
    soft = f"{level} level, {coefficient}, {_named(test)}, n = {n}{at_most}"
    return Group(title, soft, [_matrix(mine)])


def _named(test: str) -> str:
    if test == "williams":
        return "Williams’ test"
    kind, what = test.split("_")
    return f"{kind} of {'systems and documents' if what == 'both' else what}"


def _mark(row: Row) -> str:
    if row["p_holm"] is None or row["difference"] is None:
        return _UNDEFINED
    if row["p_holm"] > ALPHA or row["difference"] == 0:
        return _NOT_SHOWN
    return _CLOSER if row["difference"] > 0 else _FARTHER


def _matrix(mine: list[Row]) -> Grid:
    opposite = {_CLOSER: _FARTHER, _FARTHER: _CLOSER}
    marks: dict[tuple[str, str], str] = {}
    lead: dict[str, float] = {}  # the sum of a metric's differences to the others
    for row in sorted(mine, key=lambda row: (row["metric_a"], row["metric_b"])):
        a, b, mark = row["metric_a"], row["metric_b"], _mark(row)
        marks[a, b], marks[b, a] = mark, opposite.get(mark, mark)
        lead[a] = lead.get(a, 0.0) + (row["difference"] or 0.0)
        lead[b] = lead.get(b, 0.0) - (row["difference"] or 0.0)
    metrics = sorted(lead, key=lambda metric: (-lead[metric], metric))
    lines = [
        (f"{place} {row}", [Cell(marks.get((row, column), "")) for column in metrics])
        for place, row in enumerate(metrics, start=1)
    ]
    numbers = [str(place) for place in range(1, len(metrics) + 1)]
    return Grid("", ["metric, closest to people first", *numbers], lines, sort=False)


# Metrics beside each other: which of them say the same, and which say what people say.

_ALIKE = 3  # pairs of metrics that are named


def metric_matrix_section(metric_correlations: pd.DataFrame) -> Section | None:
    """The figure and what stands out in it; None without a row."""
    if metric_correlations.empty:
        return None
    mine = [
        row
        for row in records(metric_correlations)
        if (row["coefficient"], row["part"]) == (COEFFICIENT, FULL) and row["value"] is not None
    ]
    section = opening(OF_METRICS, *_alike(mine))
    first, *rest = section.says
    return section._replace(says=[f"{COEFFICIENT_NAMES[COEFFICIENT]} {first}", *rest])


def _alike(mine: list[Row]) -> list[str]:
    pairs = [row for row in mine if row["first_is"] == row["second_is"] == "metric"]
    pairs = [row for row in pairs if row["value"] > 0]
    best = sorted(pairs, key=lambda row: (-row["value"], row["first"], row["second"]))[:_ALIKE]
    if not best:
        return []
    said = [f"{row['first']} and {row['second']} ({shown(row['value'])})" for row in best]
    return [f"Most alike are {'; '.join(said)}."]


# Confounds: what else metrics see.

Plain = dict[tuple[Key, str, Metric], Row]  # a metric's certificate, by criterion and level


def confounds_section(confounds: pd.DataFrame, certificates: pd.DataFrame) -> Section | None:
    """Per criterion and level a table, metrics by confound; None without a row."""
    plain = {(key_of(row), row["level"], metric_of(row)): row for row in records(certificates)}
    return analysis_section(
        confounds_analysis.ANALYSIS,
        confounds,
        lambda mine: _by_confound(mine, plain),
        f"In brackets stand intervals for other systems and documents.{_itself(confounds)} The"
        " file has more numbers: what is left on a straight line, how the confound itself"
        " correlates with people, how the metric does with the confound added, and how it does on"
        " the texts with least of the confound.",
    )


def _itself(confounds: pd.DataFrame) -> str:
    """What the number of metric and confound is, by the first one of the page; "" without any."""
    for _, mine in by_criterion(confounds):
        rows = [row for row in mine if row["statistic"] == "metric" and row["value"] is not None]
        if rows:
            row = min(rows, key=lambda row: (row["level"], row["confound"], row["metric"]))
            return (
                f" “With {row['confound']}: {shown(row['value'])}” is the correlation of a metric"
                f" with the confound itself, here of {row['metric']}."
            )
    return ""


def _by_confound(mine: list[Row], plain: Plain) -> tuple[str, list[Grid], list[Group]]:
    groups = level_groups(mine, lambda rows: _confound_grid(rows, plain) if rows else None)
    return metrics_and_coefficients(mine), [], groups


def _confound_grid(rows: list[Row], plain: Plain) -> Grid:
    by_metric = grouped(rows, metric_of)
    names = _sorted({row["confound"] for row in rows})
    lines = {}
    for metric in sorted_metrics(by_metric):
        of_metric = {(row["confound"], row["statistic"]): row for row in by_metric[metric]}
        one = plain.get((key_of(rows[0]), rows[0]["level"], metric))
        cells = {name: _given(of_metric, name, one) for name in names}
        lines[metric_label(*metric)] = {"": estimate(one), **cells}
    return matrix("", "metric", lines, {"": "plain", **{name: f"given {name}" for name in names}})


def _sorted(names: set[str]) -> list[str]:
    """The measured ones, then those that a user named, then the system."""
    last = len(MEASURED)
    ranks = {**{name: place for place, name in enumerate(MEASURED)}, SYSTEM: last + 1}
    return sorted(names, key=lambda name: (ranks.get(name, last), name))


def _given(mine: dict[tuple[str, str], Row], confound: str, plain: Row | None) -> Cell:
    # Of the system there is no curve.
    given = mine.get((confound, "partial" if confound == SYSTEM else ANY_SHAPE))
    if given is None or given["metric"] == confound:  # nothing is left of itself
        return NOT_COMPUTED
    goes = _goes(given["value"], plain)
    itself = mine.get((confound, "metric"))
    found = estimate(
        given,
        equals(given["p"]) if goes else "",
        f"with {confound}: {shown(itself['value']) or 'undefined'}" if itself else "",
        rests_on(given),
    )
    return found._replace(text=f"! {found.text}", css="alarm") if goes else found


def _goes(left: float | None, plain: Row | None) -> bool:
    """Whether half or more of a correlation above 0 goes."""
    if left is None or plain is None or plain["value"] is None:
        return False
    return bool(plain["value"] > 0 and left <= VANISHES * plain["value"])


# Several metrics together: the best subset, on texts it was not chosen on, and the others.

_TOP = 10


def ensembles_section(ensembles: pd.DataFrame) -> Section | None:
    """The best subset per criterion, the ten best in sample, each metric's mean; None if empty."""
    if ensembles.empty:
        return None
    found = [
        (key, coefficient, [row for row in mine if row["coefficient"] == coefficient])
        for key, mine in by_criterion(ensembles)
        for coefficient in sorted({row["coefficient"] for row in mine})
    ]
    heads = ["criterion", "study", "coefficient"]
    heads += ["cross-validated", "in sample", "chosen on all texts"]
    best = [
        (titled(key), [Cell(key[0]), Cell(coefficient), *_best_cells(row)])
        for key, coefficient, mine in found
        for row in _of_kind(mine, "best")
    ]
    return opening(ensembles_analysis.ANALYSIS)._replace(
        grids=[Grid("Best subset per criterion", heads, best)] if best else [],
        groups=[
            Group(titled(key), f"study {key[0]}, {coefficient}, {n_subsets}", _grids(mine))
            for key, coefficient, mine in found
            for n_subsets in [counted(len(_of_kind(mine, "subset")), "subset")]
        ],
    )


def _of_kind(mine: list[Row], kind: str) -> list[Row]:
    chosen = [row for row in mine if row["kind"] == kind]
    return sorted(chosen, key=lambda row: (best_first(row["value"]), row["size"], row["members"]))


def _best_cells(row: Row) -> list[Cell]:
    in_sample = number(row["in_sample"])
    if not row["members"]:
        return [Cell("too few documents to choose", (rests_on(row),), ""), in_sample, NOT_COMPUTED]
    return [number(row["value"], rests_on(row)), in_sample, Cell(row["members"])]


def _grids(mine: list[Row]) -> list[Grid]:
    grids = []
    subsets = _of_kind(mine, "subset")
    if subsets:
        caption = f"Best {_TOP} in sample" if len(subsets) > _TOP else "All subsets, in sample"
        lines = [
            (row["members"], [count(row["size"]), estimate(row, rests_on(row))])
            for row in subsets[:_TOP]
        ]
        grids.append(Grid(caption, ["members", "how many", "correlation"], lines))
    containing = _of_kind(mine, "containing")
    if containing:
        heads = ["metric", "mean in ensembles", "interval over texts", "interval over ensembles"]
        caption = "Mean over the ensembles that a metric is in"
        grids.append(Grid(caption, heads, [_containing(row) for row in containing]))
    return grids


def _containing(row: Row) -> tuple[str, list[Cell]]:
    honest = shown_interval(row["low"], row["high"]) or "undefined"
    printed = shown_interval(row["low_of_values"], row["high_of_values"]) or "undefined"
    return row["members"], [number(row["value"], rests_on(row)), Cell(honest), Cell(printed)]


# How often two metrics prefer different texts, and where a sample of those lies.


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
    parts = sorted_parts(conflicts["part"])
    groups = [_part(part, conflicts[conflicts["part"] == part]) for part in parts]
    return opening(OF_CONFLICTS, sample)._replace(groups=groups)


def _part(part: str, mine: pd.DataFrame) -> Group:
    totals = (
        mine.assign(n_documents=mine["n_pairs"] > 0)
        .groupby(["metric_a", "metric_b"])[["n_disagreements", "n_pairs", "n_documents"]]
        .sum()
    )
    found = []
    for (a, b), *counts in zip(totals.index, *(totals[name] for name in totals), strict=True):
        share = counts[0] / counts[1] if counts[1] else None
        found.append((best_first(share), a, b, share, list(map(int, counts))))
    found.sort()
    _, a, b, most, (_, n_pairs, _) = found[0]
    soft = counted(len(found), "pair") + " of metrics"
    if most is not None:
        soft += f"; most in conflict: {a} and {b}, {shown(most)} of {n_pairs:,}"
    heads = ["metric", "other metric", "share in conflict", "conflicts", "pairs", "documents"]
    lines = [
        (one, [Cell(other), number(share), *map(count, counts)])
        for _, one, other, share, counts in found
    ]
    title = "Whole texts" if part == FULL else f"Part: {part}"
    return Group(title, soft, [Grid("", heads, lines)])


# What people would give a system's texts: the metric's mean, corrected by those they rated.

_METHODS = {"prediction_powered": "prediction-powered", "rogan_gladen": "Rogan-Gladen"}
_HEADS = ["metric", "system", "metric’s mean", "people’s mean", "corrected", "by", "rests on"]


def corrected_section(corrected: pd.DataFrame) -> Section | None:
    """One table per criterion, a row per metric, system and method; None without a row."""
    return analysis_section(OF_SYSTEMS, corrected, _by_system, is_open=False)


def _by_system(mine: list[Row]) -> tuple[str, list[Grid], list[Group]]:
    mine = sorted(mine, key=lambda r: (*metric_of(r), r["author"], r["method"]))
    lines = [(metric_name(row), _corrected_cells(row)) for row in mine]
    return counted(len({row["author"] for row in mine}), "system"), [Grid("", _HEADS, lines)], []


def _corrected_cells(row: Row) -> list[Cell]:
    rests = [
        f"{counted(row['n'], 'text')} with score and rating",
        f"{row['n_judged']:,} with score",
    ]
    if row["n_missing"]:
        rests.append(f"{row['n_missing']:,} rated without score")
    return [
        Cell(row["author"]),
        number(row["metric_mean"]),
        number(row["human_mean"]),
        estimate(row),
        Cell(_METHODS[row["method"]], _how(row)),
        Cell(rests[0], tuple(rests[1:]), str(row["n"])),
    ]


def _how(row: Row) -> tuple[str, ...]:
    names = ("weight", "sensitivity", "specificity")
    return tuple(f"{name} {shown(row[name])}" for name in names if row[name] is not None)
