"""What in the numbers speaks against a guess: warnings to read before one says yes."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from metassay.core.errors import shown
from metassay.core.options import Criterion
from metassay.tables.names import is_reference
from metassay.tabular.column_synonyms import HUMAN, called, plain_key
from metassay.tabular.rows import Findings, Place, Rows

_AGAINST = -0.3  # Spearman's correlation of what should go together, below which it is doubted
_TEXTS = 10  # fewer say nothing
_SURE = -2.6  # of the correlation times the root of the number of texts: one in 200 by chance
# What studies write where nobody rated, beside grades that are few and far below or above.
_CODES = (-1.0, -8.0, -9.0, -88.0, -99.0, -999.0, 77.0, 88.0, 99.0, 999.0, 9999.0)
_GRADES = 10  # grades that are further apart, or so near to such a value, are of one scale with it


def warn(
    rows: Rows, criteria: Mapping[str, Criterion], guessed: Collection[str], file: str
) -> None:
    """Add to the warnings what is odd; `guessed` are criteria and metrics of guessed direction."""
    # Criteria that go against each other, and metrics that go against what people said.
    turned = {name: one.better == "lower" for name, one in criteria.items()}
    people = _by_text([(r.doc_id, r.author, r.criterion, r.value) for r in rows.ratings], turned)
    for one, other in combinations(criteria, 2):
        if {one, other} & set(guessed) and _against(people[one], people[other]):
            what = f"{shown(one)} and {shown(other)} go against each other"
            _turn(rows.ratings[0].at.file, what, rows.warnings)
    # The mean over criteria, each divided by how much it varies.
    everybody = ((people - people.mean()) / people.std(ddof=0).replace(0, np.nan)).mean(axis=1)
    better = {one.metric: one.better == "lower" for one in rows.metrics if one.better != "neither"}
    scored = _by_text([(r.doc_id, r.author, r.metric, r.value) for r in rows.scores], better)
    for metric in rows.metrics:
        if metric.metric in {*guessed} & better.keys() and _against(
            scored[metric.metric], everybody
        ):
            what = f"metric {shown(metric.metric)} disagrees with people"
            _turn(metric.at.file, what, rows.warnings)
    _systems(rows, Place(file), rows.warnings)


def ask(rows: Rows, said: Collection[str]) -> None:
    """Add to the problems what would go wrong in silence: keys that a program changed, and codes.

    `said` are criteria whose scale is said.
    """
    known = {one.doc_id for one in rows.sources}
    alike = {plain_key(doc): doc for doc in known}
    for found in (rows.ratings, rows.scores):
        changed = {one.doc_id: one.at for one in found if one.doc_id not in known}
        for doc, at in changed.items():
            if like := alike.get(plain_key(doc)):
                what = "names documents as the texts do, but for zeros, case or .0"
                fix = "write them alike; programs for tables take 007 for 7 unless told it is text"
                example = f"doc {shown(doc)}, in the texts {shown(like)}"
                rows.problems.add(Place(at.file), what, fix, example)
    values: dict[str, dict[float, Place]] = defaultdict(dict)
    for row in rows.ratings:
        if row.value is not None and row.criterion not in said:
            values[row.criterion].setdefault(row.value, row.at)
    for criterion, held in values.items():
        alone = held.keys() <= {*_CODES}
        for code in _codes(held):
            where = "as where nobody rated" if alone else "far from all others"
            what = f"{shown(criterion)} has the value {code:g}, {where}"
            fix = "leave the cell empty if nobody rated; if it is a grade, say --scale"
            rows.problems.add(held[code], what, fix)


def _codes(held: Collection[float]) -> Iterator[float]:
    """Values that seem to say that there is none: beside grades, or where there are no grades."""
    grades = [value for value in held if value not in _CODES]
    if not grades:
        yield from held
    if grades and max(grades) - min(grades) <= _GRADES:
        low, high = min(grades) - 1, max(grades) + _GRADES
        yield from (one for one in held if one in _CODES and not low <= one <= high)


def _turn(file: str, what: str, warnings: Findings) -> None:
    fix = "if less is better where more was taken for it, or the other way round, say --lower or"
    warnings.add(Place(file), what, f"{fix} --higher NAME")


def _by_text(
    values: Sequence[tuple[str, str, str, float | None]], turned: Mapping[str, bool]
) -> pd.DataFrame:
    """The mean of each text by each of `turned`, negated where less of it is better."""
    frame = pd.DataFrame(values, columns=["doc", "system", "name", "value"])
    frame["value"] = frame["value"].astype("float64")
    means = frame.groupby(["doc", "system", "name"])["value"].mean().unstack("name")
    return means.reindex(columns=list(turned)) * [-1 if turned[name] else 1 for name in turned]


def _against(one: "pd.Series[float]", other: "pd.Series[float]") -> bool:
    both = pd.concat([one, other], axis=1).dropna()
    if len(both) < _TEXTS or both.nunique().min() < 2:
        return False
    # Spearman's, without SciPy, which takes a second to load.
    rho = float(both.rank().corr().to_numpy()[0, 1])
    return rho < _AGAINST and rho * len(both) ** 0.5 < _SURE


def _systems(rows: Rows, at: Place, warnings: Findings) -> None:
    """Systems that nobody rated, or that may be people; documents that have one text each."""
    texts = [one for one in rows.texts if not is_reference(one.author)]
    systems = sorted({one.author for one in texts})
    rated = {one.author for one in rows.ratings}
    for name in (one for one in systems if rated and one not in rated):
        what = f"system {shown(name)} has no ratings, and others do"
        warnings.add(at, what, "if it is no system, say which columns or rows are")
    for name in (one for one in systems if called(one, HUMAN)):
        what = f"{shown(name)} is taken for a system"
        warnings.add(at, what, f"if it wrote the references, say --reference {shown(name)}")
    if len(systems) > 1 and len({one.doc_id for one in texts}) == len(texts):
        what = "no document has texts of two systems, so none are compared on the same documents"
        warnings.add(at, what, "if another column names the documents, say --columns doc=COLUMN")
