"""What is left of a metric without the systems, or documents, that raters set apart.

Columns of `evidence` on which the verdicts `use` and `explained by classes` rest.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from metassay.meta_evaluation.options import VANISHES, MetaOptions
from metassay.meta_evaluation.study import MetricScores, Study
from metassay.statistics.classes import (
    FEWEST,
    best_classes,
    cuts_of,
    fit_classes,
    less_classes,
    set_apart,
)
from metassay.statistics.components import correlate_at, value_at
from metassay.statistics.correlation import Level
from metassay.statistics.exact_sums import (
    Array,
    Index,
    Mask,
    mean_without_gaps,
    sums_by,
)
from metassay.statistics.multiple_tests import significance_level

Rows = Sequence[dict[str, object]]
# The rows of `evidence` of one level of a study, without what is left without classes.
NumbersOf = Callable[[Study, Level, MetaOptions], Rows]

# From this correlation on among texts of one system, a metric knows more than classes.
OF_TEXTS = 0.3
LEFT = 3  # systems at least that a correlation is recomputed of


class Units(NamedTuple):
    """Families of systems, or clusters of documents, with people's mean of each."""

    name: str  # systems or documents
    axis: int  # of (systems, documents)
    of: Index  # (systems,) or (documents,): the number of its unit
    means: Array  # (units,) of people; NaN where nobody rated
    error: float  # the variance of such a mean's own error

    def means_of(self, scores: Array) -> Array:
        """Return the mean (units,) of (systems, documents) scores."""
        other = -1 if self.axis == -2 else -2
        present = np.isfinite(scores)
        total = np.sum(np.where(present, scores, 0.0), axis=other)
        count = np.sum(present, axis=other).astype(np.float64)
        n = int(self.of.max(initial=-1)) + 1
        sums, counts = (sums_by(self.of, side, n) for side in (total, count))
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


class Apart(NamedTuple):
    """Systems or documents that raters set apart, and the study without them."""

    units: Units
    which: Mask  # (systems,) or (documents,)
    phrase: str  # "the 6 systems that raters like least"
    rest: Study


def units_of(study: Study, level: Level) -> list[Units]:
    """Return the units whose classes can explain a correlation at this level.

    Documents matter only where texts of several documents are compared, and only if a
    document has several texts: of a single one, its own quality is all that is known.
    """
    layout = study.layout
    people = layout.less_strata(study.oriented)
    units = [_units("systems", -2, layout.family, people)]
    if level == "global" and not study.nested:
        units.append(_units("documents", -1, layout.cluster, people))
    return [unit for unit in units if np.isfinite(unit.means).sum() >= FEWEST]


def _units(name: str, axis: int, of: Index, people: Array) -> Units:
    units = Units(name, axis, of, np.empty(0), 0.0)
    means = units.means_of(people)
    # Texts of a unit differ by the other side's levels, which are no error of its mean.
    other = mean_without_gaps(people, axis=axis, keepdims=True)
    of_unit = means[of][:, None] if axis == -2 else means[of][None, :]
    rests = people - of_unit - other
    rests = rests[np.isfinite(rests)]
    n_units = int(np.isfinite(means).sum())
    freedom = rests.size - sum(people.shape) + 1
    if freedom < 1 or not n_units:
        return units._replace(means=means)
    error = (
        float(np.sum((rests - np.mean(rests)) ** 2)) / freedom / (rests.size / n_units)
    )
    return units._replace(means=means, error=error)


def apart_of(study: Study, units: Units) -> Apart | None:
    """Return what raters set apart among these units; None if nothing, or too little is left."""
    known = np.isfinite(units.means)
    apart = np.zeros(known.size, dtype=bool)
    apart[known] = set_apart(units.means[known], units.error)
    if not apart.any():
        return None
    which = apart[units.of]
    rest = study.leave_out(which, units.axis)
    if len(rest.systems) < LEFT or len(rest.documents) < LEFT:
        return None
    most = "set apart"
    if np.nanmax(units.means[apart]) < np.nanmin(units.means[~apart]):
        most = "like least"
    elif np.nanmin(units.means[apart]) > np.nanmax(units.means[~apart]):
        most = "like best"
    n = int(which.sum())
    named = f"{n:,} {units.name}" if n > 1 else units.name[:-1]
    return Apart(units, which, f"the {named} that raters {most}", rest)


def classes_at(
    study: Study,
    level: Level,
    rows: Rows,
    options: MetaOptions,
    numbers_of: NumbersOf,
    shown_within: Sequence[bool | None],
) -> Iterator[dict[str, object]]:
    """Yield the columns of each of the `rows` of a level, one per directed metric.

    `shown_within`: whether each is shown to be related to people among single texts,
    with the levels of systems and documents removed; None where it does not matter.

    Only metrics that are shown to be related to people have them; the others' verdicts
    need none.
    """
    shown = [_is_shown(row) for row in rows]
    units = units_of(study, level) if any(shown) else []
    parts = [apart for unit in units if (apart := apart_of(study, unit)) is not None]
    without = [(a.phrase, numbers_of(a.rest, level, options)) for a in parts]
    for place, metric in enumerate(study.directed):
        columns: dict[str, object] = {
            "weakest": np.nan,
            "classes": None,
            "given_classes": np.nan,
            "apart": None,
        }
        if shown[place]:
            within = shown_within[place]
            columns |= _summarise_metric(study, metric, units, level, options, within)
            columns |= _find_weakest_rest(place, without)
        yield columns


def _is_shown(row: dict[str, object]) -> bool:
    p, value, confidence = (float(str(row[n])) for n in ("p", "value", "confidence"))
    return p < significance_level(confidence) and value > 0


def _summarise_metric(
    study: Study,
    metric: MetricScores,
    units: Sequence[Units],
    level: Level,
    options: MetaOptions,
    shown_within: bool | None,
) -> dict[str, object]:
    """Return the weakest value with classes removed, and the classes that explain it best.

    Between texts, classes explain it only if half or more goes with them.
    """
    layout = study.layout
    primary = options.is_primary(metric.metric, metric.label)
    n_metrics = 1 if primary else len(study.places)
    present = np.isfinite(metric.values) & np.isfinite(study.human)
    scores, people = (
        layout.less_strata(np.where(present, side, np.nan))
        for side in (metric.oriented, study.oriented)
    )

    def value_of(scores: Array, people: Array) -> float:
        if layout.n_strata == 1:
            return float(value_at(scores, people, level, options.coefficient))
        sides = scores, people
        return float(correlate_at(*sides, level, options.coefficient, layout).value)

    def value_given(label: Index, axis: int) -> float:
        rests = (less_classes(side, label, axis) for side in (scores, people))
        return value_of(*rests)

    follows_texts = shown_within
    if shown_within:
        sides = scores, people
        within = correlate_at(*sides, "within", options.coefficient, layout).value
        follows_texts = bool(within >= OF_TEXTS)
    values = [value_of(scores, people)]
    explaining: list[tuple[float, str]] = []
    owners = study.grouping.owners
    if owners.any():
        # Nothing tells the raters' severity from the quality of their systems.
        value = value_given(owners, -2)
        values.append(value)
        explaining.append((-np.inf if np.isnan(value) else value, "raters"))
    for unit in units:
        values += [value_given(label, unit.axis) for label in _partitions(unit, scores)]
        classes = _explaining_classes(unit, scores, n_metrics, follows_texts)
        if classes is not None:
            explaining.append((value_given(classes, unit.axis), unit.name))
        if unit.axis == -2 and layout.n_strata == 1:
            rests = _drop_lowest(unit)
            values += [value_of(scores[rows], people[rows]) for rows in rests]
    left, name = _choose_explanation(explaining, level, values[0])
    defined = [value for value in (*values, left) if not np.isnan(value)]
    weakest = min(defined, default=np.nan)
    return {"weakest": weakest, "classes": name, "given_classes": left}


def _choose_explanation(
    explaining: Sequence[tuple[float, str]], level: Level, plain: float
) -> tuple[float, str | None]:
    """Return what is left of the value `plain` with the best explanation removed, and its name.

    `explaining`: what each leaves, and its name; raters who own systems first. Between
    systems, what is left among those of the same raters says nothing of the others.
    """
    left, name = min(explaining, default=(np.nan, None))
    if level == "system" and explaining and explaining[0][1] == "raters":
        left, name = explaining[0]
    elif level != "system" and not left <= VANISHES * plain:
        return np.nan, None
    return (left if np.isfinite(left) else np.nan), name


def _known(unit: Units, scores: Array) -> tuple[Mask, Array]:
    """Return which units have both means, and the metric's means of all."""
    means = unit.means_of(scores)
    return np.isfinite(unit.means) & np.isfinite(means), means


def _partitions(unit: Units, scores: Array) -> Iterator[Index]:
    """Yield labels (systems,) or (documents,): two classes cut anywhere, and the best three."""
    known, _ = _known(unit, scores)
    means = unit.means[known]
    if means.size < FEWEST:
        return
    labels = cuts_of(means)
    if means.size >= 6:
        labels.append(best_classes(means, 3).label)
    for label in labels:
        yield _spread(label, known)[unit.of]


def _explaining_classes(
    unit: Units, scores: Array, n_metrics: int, follows_texts: bool | None
) -> Index | None:
    known, means = _known(unit, scores)
    if known.sum() < FEWEST:
        return None
    sides = unit.means[known], means[known]
    label = fit_classes(
        *sides, unit.error, n_metrics=n_metrics, follows_texts=follows_texts
    )
    return None if label is None else _spread(label, known)[unit.of]


def _spread(label: Index, known: Mask) -> Index:
    wide = np.zeros(known.size, dtype=np.intp)
    wide[known] = label
    return wide


def _drop_lowest(unit: Units) -> Iterator[Index]:
    """Yield the systems but for those that people like least, up to half of them."""
    order = np.argsort(np.where(np.isfinite(unit.means), unit.means, np.inf))
    n = int(np.isfinite(unit.means).sum())
    for k in range(1, n // 2 + 1):
        rest = np.flatnonzero(~np.isin(unit.of, order[:k]))
        if rest.size >= LEFT:
            yield rest


def _find_weakest_rest(
    place: int, without: Sequence[tuple[str, Rows]]
) -> dict[str, object]:
    """Return the numbers of a metric without what raters set apart, where least is left."""
    left = [(rows[place], phrase) for phrase, rows in without]
    if not left:
        return {}
    numbers, phrase = min(left, key=lambda of: float(str(of[0]["value"])))
    return {
        "apart": phrase,
        "without_apart": numbers["value"],
        "without_apart_low": numbers["corrected_low"],
        "without_apart_high": numbers["high"],
        "without_apart_p": numbers["p"],
        "n_without_apart": numbers["n_families"],
    }
