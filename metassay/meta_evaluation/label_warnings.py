"""What users should know of the labels behind a judge's card, in words.

Each function returns `DataWarning`s of kind `labels`. `unit` is what is labelled, as the
user knows it: rows, texts or items.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from metassay.format.numbers import counted
from metassay.statistics.exact_sums import Array
from metassay.statistics.label_weights import Chosen
from metassay.statistics.shares import THRESHOLD, judgments
from metassay.statistics.weighted_cards import labels_lacking
from metassay.tables.data_warnings import DataWarning

SHOWN = 3  # ways in which labels were chosen, and names of a list, that are written out
VERBS = {1.0: "passes", 0.0: "fails"}


def those_judged(unit: str, judge: str, verdict: float) -> str:
    """Return `rows that gpt passes`: the rows with a verdict, in words."""
    return f"{unit} that {judge} {VERBS[verdict]}"


def has_probabilities(values: Array) -> bool:
    """Whether any of a judge's verdicts (rows,) is between 0 and 1; NaN is missing."""
    return bool(np.any((values > 0.0) & (values < 1.0)))


def verdict_factors(
    values: Array, unit: str, judge: str, threshold: float = THRESHOLD
) -> dict[str, Array]:
    """Return what labels may have been chosen by in a judge's verdicts, in words.

    For `find_chosen`, by name: the verdict, and the judge's certainty if `values` (rows,)
    are probabilities.
    """
    verdict = judgments(values, threshold)
    none = f"{unit} without a verdict of {judge}"
    kinds = [verdict == side for side in VERBS]
    phrases = [those_judged(unit, judge, side) for side in VERBS]
    factors = {judge: np.select(kinds, phrases, none)}
    if has_probabilities(values):
        sureness = np.abs(values - 0.5)
        kinds = [sureness > np.nanmedian(sureness), np.isfinite(sureness)]
        phrases = [f"{unit} that {judge} is {how} of" for how in ("surer", "less sure")]
        factors[f"{judge}: certainty"] = np.select(kinds, phrases, none)
    return factors


def warn_of_choice(chosen: Sequence[Chosen]) -> Iterator[DataWarning]:
    """Warn that some rows were labelled more often than others.

    `chosen` is from `find_chosen`, of factors whose values are phrases such as `rows
    that gpt passes`.
    """
    if not chosen:
        return
    sentences = [
        f"People labelled {test.share:.0%} of the {test.value}"
        f" ({test.labelled:,} of {test.rows:,}) and {test.other_share:.0%} of the others"
        f" ({test.other_labelled:,} of {test.other_rows:,})."
        for test in chosen[:SHOWN]
    ]
    finding = (
        f"Labels were chosen. {' '.join(sentences)} All numbers are weighted by this."
    )
    remedy = "Choose what to label next at random."
    yield DataWarning(kind="labels", finding=finding, remedy=remedy)


def warn_of_few_labels(
    verdict: Array, people: Array, unit: str, judge: str
) -> Iterator[DataWarning]:
    """Warn that a verdict has too few labels for the numbers that rest on it.

    `verdict` and `people` (rows,) are 1 or 0, NaN where missing.
    """
    judged = np.isfinite(verdict)
    verdict, people = verdict[judged], people[judged]
    for side in VERBS:
        lacking = labels_lacking(verdict, people, side)
        if lacking:
            those = those_judged(unit, judge, side)
            n = int(np.count_nonzero(verdict == side))
            n_labels = int(np.count_nonzero(np.isfinite(people[verdict == side])))
            finding = (
                f"People labelled {n_labels or 'none'} of the {n:,} {those}. Numbers that"
                " rest on these are blank."
            )
            remedy = f"Label {lacking} more {those}."
            yield DataWarning(kind="labels", finding=finding, remedy=remedy)


def warn_of_one_label(people: Array, unit: str) -> Iterator[DataWarning]:
    """Warn that people gave all rows the same label."""
    labels = people[np.isfinite(people)]
    if labels.size and np.all(labels == labels[0]):
        verb, other = ("pass", "fail") if labels[0] == 1 else ("fail", "pass")
        of_those = "specificity" if verb == "pass" else "sensitivity"
        finding = (
            f"People {verb} all {labels.size:,} labelled {unit}: {of_those}, balanced"
            " accuracy, kappa and MCC are undefined."
        )
        remedy = f"Add {unit} that people {other}."
        yield DataWarning(kind="labels", finding=finding, remedy=remedy)


def warn_of_unlabelled(
    names: Sequence[str], what: str, unit: str
) -> Iterator[DataWarning]:
    """Warn of systems, or slices, of which nothing is labelled; `what` is the column."""
    if not names:
        return
    some = ", ".join(names[:SHOWN])
    more = f" and {counted(len(names) - SHOWN, 'other')}" if len(names) > SHOWN else ""
    finding = (
        f"None of the {unit} of {what} {some}{more} is labelled. The card is about the"
        " others, and no corrected pass rate of all is given."
    )
    remedy = f"Label {unit} of {what} {some}{more}."
    yield DataWarning(kind="labels", finding=finding, remedy=remedy)
