"""Decide the verdicts of certificates from the numbers of `evidence`."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from metassay.meta_evaluation.options import VANISHES, CertificationOptions
from metassay.statistics.jackknife import fisher_z, smallest_study
from metassay.statistics.multiple_tests import significance_level

USE: Final = "use"
THESE_SYSTEMS: Final = "these systems only"
PROMISING: Final = "promising"
CANNOT_TELL: Final = "cannot tell"
TOO_WEAK: Final = "too weak"
EXPLAINED: Final = "explained by"  # and the confound's name
CONTRARY: Final = "contrary"
FITTED: Final = "fitted"  # on these ratings, which then say nothing of it
UNDEFINED: Final = "undefined"

# What the column `classes` of `evidence` says, in a verdict.
CLASSES: Final = {
    "systems": "classes of systems",
    "documents": "classes of documents",
    "raters": "raters",
}

# From most trusted to unknown; pages and terminals keep this order.
VERDICTS: Final = (
    USE,
    THESE_SYSTEMS,
    PROMISING,
    CANNOT_TELL,
    EXPLAINED,
    TOO_WEAK,
    CONTRARY,
    FITTED,
    UNDEFINED,
)
TRUSTED: Final = (USE, THESE_SYSTEMS)
FEWEST_SYSTEMS: Final = 6  # for a claim about other systems
# designs that say nothing of other systems
OF_NO_OTHERS: Final = ("one system", "no systems")

MORE_SYSTEMS: Final = "rate more systems"
MORE_DOCUMENTS: Final = "rate more documents"
MORE_OF_BOTH: Final = "rate more systems and documents"
# what the user has to say where a relation rests on systems, or documents, alone
NAME_FAMILIES: Final = "say which systems are versions, by family"
NAME_CLUSTERS: Final = "say which documents are alike, by cluster"
_NAME: Final = {"systems": NAME_FAMILIES, "documents": NAME_CLUSTERS}
MORE_OF_A_CLASS: Final = "rate more of one class"
SHARE_RATERS: Final = "let some raters rate all systems"
RANDOM_TEXTS: Final = "rate a random sample of texts"
_ADVICE: Final = {
    **dict.fromkeys(VERDICTS, "do not use"),
    USE: "use it",
    THESE_SYSTEMS: "use here only",
    CONTRARY: "check its direction",
    FITTED: "test it on other ratings",
    UNDEFINED: "nothing to compare",
}


def certify(evidence: pd.DataFrame, options: CertificationOptions) -> pd.DataFrame:
    """Add to the rows of the table `evidence` the columns of `certificates` that are decided.

    Each verdict is a function of its row, without random numbers or tests. needed_* are
    those of `jackknife.smallest_study`, where more systems or documents can change the
    verdict; else NaN.
    """
    names = {
        column: evidence[column].astype(object).where(evidence[column].notna(), None)
        for column in ("confound", "classes", "apart")
    }
    rows = evidence.assign(**names)
    decisions = [_decide(row, options) for row in rows.to_dict("records")]
    columns = pd.DataFrame(decisions, columns=list(_DECISIONS), index=evidence.index)
    return pd.concat([evidence, columns], axis=1)


_DECISIONS: Final = (
    "verdict",
    "advice",
    "trusted",
    "as_good_as_rater",
    "only_between_systems",
    "rests_on_classes",
    "verdict_without_apart",
    "needed_systems",
    "needed_documents",
)


def _decide(
    row: Mapping[Any, Any], options: CertificationOptions
) -> tuple[object, ...]:
    verdict = find_verdict(row, options)
    systems, documents = _needed(verdict, row, options)
    advice, as_good = (
        _advice(verdict, row, systems, documents, options),
        is_as_good_as_rater(row, options),
    )
    only = verdict in (*TRUSTED, PROMISING) and _only_between_systems(row, options)
    without = None if row["apart"] is None else verdict_without_apart(row, options)
    on_classes = _only_classes_forbid_use(row, options)
    return (
        verdict,
        advice,
        verdict in TRUSTED,
        as_good,
        only,
        on_classes,
        without,
        systems,
        documents,
    )


def _needed(
    verdict: str, row: Mapping[str, Any], options: CertificationOptions
) -> tuple[float, float]:
    """Return how many independent systems and documents would settle the verdict."""
    if verdict not in (CANNOT_TELL, PROMISING):
        return np.nan, np.nan
    if row["selected"] or rests_on(row) is not None or has_other_raters(row):
        return np.nan, np.nan
    useful, value, likely = fisher_z(
        np.array([options.useful, row["value"], row["corrected"]], dtype=np.float64)
    ).tolist()
    confidence = row["confidence"]
    if verdict == PROMISING:
        if row["confound"] is not None or _only_classes_forbid_use(row, options):
            # more texts do not separate a metric from its confound, or from classes
            return np.nan, np.nan
        target, confidence = likely - useful, row["joint_confidence"]
    elif row["value"] >= options.useful:
        target = max(likely, useful)  # to show the relation
    elif is_shown(row):
        target = useful - value  # to show that it is too weak
    else:
        target = useful  # to exclude 0 or the useful value
    of_systems = 0.0 if row["design"] in OF_NO_OTHERS else row["variance_systems"]
    systems, documents = smallest_study(
        (of_systems, row["variance_documents"]),
        (row["n_families"], row["n_clusters"]),
        target,
        confidence=confidence,
        level=row["level"],
    )
    if verdict == PROMISING and row["design"] not in OF_NO_OTHERS:
        systems = np.maximum(systems, FEWEST_SYSTEMS)
    return float(systems), documents


def _advice(
    verdict: str,
    row: Mapping[str, Any],
    systems: float,
    documents: float,
    options: CertificationOptions,
) -> str:
    """Return what to do, in a few words."""
    if verdict not in (CANNOT_TELL, PROMISING):
        return _ADVICE[kind_of(verdict)]
    if verdict == PROMISING and row["confound"] is not None:
        return f"balance {row['confound']} first"
    if _only_classes_forbid_use(row, options):
        return MORE_OF_A_CLASS
    return _advice_on_design(row) or _name_shortage(row, systems, documents)


def _advice_on_design(row: Mapping[str, Any]) -> str:
    """Return what to do where more texts of the same kind would not help; "" elsewhere."""
    if row["selected"]:
        return RANDOM_TEXTS
    if rests_on(row) is not None:
        return _NAME[row["rests_on"]]
    return SHARE_RATERS if has_other_raters(row) else ""


def _name_shortage(row: Mapping[str, Any], systems: float, documents: float) -> str:
    """Return of what a study needs more: of systems, documents or both."""
    if row["design"] in OF_NO_OTHERS:
        return MORE_DOCUMENTS
    more_systems = systems > row["n_families"]
    more_documents = documents > row["n_clusters"]
    # no study would settle it: name the larger part of its variance
    if np.isnan(systems):
        more_systems = not row["variance_systems"] < row["variance_documents"]
        more_documents = not more_systems
    if row["level"] == "system":
        return MORE_SYSTEMS
    if more_systems and more_documents:
        return MORE_OF_BOTH
    return MORE_SYSTEMS if more_systems else MORE_DOCUMENTS


def _only_between_systems(
    row: Mapping[str, Any], options: CertificationOptions
) -> bool:
    """Whether half or more of r disappears within systems, and the rest is not promising."""
    rest = row["within_systems"]
    if np.isnan(rest) or rest > VANISHES * row["value"]:
        return False
    return not is_promising(rest, row["within_systems_p"], row["confidence"], options)


def find_verdict(  # noqa: PLR0911 - one return per rung of the ladder
    row: Mapping[str, Any], options: CertificationOptions
) -> str:
    """Return the verdict on a metric, criterion and level.

    `row`: a row of the table `evidence`. It uses value, high, p, confidence, selected,
    corrected_low, confound, given_confound, given_confound_p, n, n_tied, n_families,
    design, level and what is left without classes; NaN, or None for names, where
    unknown. Unknown never counts in a metric's favour.

    With the same value, a wider interval never gives a better verdict; with the same
    width, a larger value never gives a worse one. `use` and `these systems only` are
    best, then comes `promising`; the others differ in what to do, not in how good they
    are.
    """
    if (unfit := _verdict_of_no_test(row)) is not None:
        return unfit
    if is_shown(row) and row["value"] < 0:
        return CONTRARY
    if row["high"] < options.useful:
        return TOO_WEAK
    if not is_shown(row):
        return CANNOT_TELL
    explanation = _explanation(row, options)
    if explanation is not None:
        return f"{EXPLAINED} {explanation}"
    tells_apart = row["n"] >= row["n_tied"]  # most texts
    confounded = row["confound"] is not None
    doubted = confounded or not tells_apart or rests_on_classes(row, options)
    if row["corrected_low"] >= options.useful and not doubted:
        if row["design"] in OF_NO_OTHERS:
            return THESE_SYSTEMS
        if row["n_families"] >= FEWEST_SYSTEMS:
            return USE
    promising = row["value"] >= options.useful and not has_other_raters(row)
    return PROMISING if promising else CANNOT_TELL


def _verdict_of_no_test(row: Mapping[str, Any]) -> str | None:
    """Return the verdict on a metric of which these ratings cannot say more."""
    if np.isnan(row["value"]):
        return UNDEFINED
    if row["fitted"]:
        return FITTED
    # Among texts that were chosen by scores a weak metric looks strong, and one that
    # another metric contradicted looks contrary.
    return CANNOT_TELL if row["selected"] else None


def _explanation(row: Mapping[str, Any], options: CertificationOptions) -> str | None:
    """Return the confound, or the classes, that explain the correlation; None if neither does.

    A confound does if what is left with it held constant is not promising, and classes
    if they leave less than is useful.
    """
    rest = row["given_confound"], row["given_confound_p"]
    confounded = row["confound"] is not None
    if confounded and not is_promising(*rest, row["confidence"], options):
        return str(row["confound"])
    if row["classes"] is not None and not row["given_classes"] >= options.useful:
        return CLASSES[row["classes"]]
    return None


def rests_on_classes(row: Mapping[str, Any], options: CertificationOptions) -> bool:
    """Whether a good value may come from classes of systems or documents alone.

    Between systems: if classes explain the metric better than people's means do.
    Between texts: if what is left without some classes is not useful. And wherever the
    verdict is not `use` without the systems or documents that raters set apart.
    """
    if row["level"] == "system":
        by_classes = row["classes"] is not None
    else:
        by_classes = not row["weakest"] >= options.useful
    return by_classes or (
        row["apart"] is not None and verdict_without_apart(row, options) not in TRUSTED
    )


def _only_classes_forbid_use(
    row: Mapping[str, Any], options: CertificationOptions
) -> bool:
    """Whether a promising metric would be one to use if nothing were known of classes."""
    if find_verdict(row, options) != PROMISING:
        return False
    unknown = {"weakest": row["value"], "classes": None, "apart": None}
    return find_verdict({**row, **unknown}, options) in TRUSTED


def verdict_without_apart(row: Mapping[str, Any], options: CertificationOptions) -> str:
    """Return the verdict without the systems or documents that raters set apart."""
    rest = {
        "value": row["without_apart"],
        "weakest": row["without_apart"],
        "high": row["without_apart_high"],
        "p": row["without_apart_p"],
        "corrected_low": row["without_apart_low"],
        "n_families": row["n_without_apart"],
        "classes": row["classes"] if has_other_raters(row) else None,
        "apart": None,
    }
    return find_verdict({**row, **rest}, options)


def has_other_raters(row: Mapping[str, Any]) -> bool:
    """Whether systems cannot be compared, as sets of them have raters of their own."""
    return bool(row["level"] == "system" and row["classes"] == "raters")


def is_shown(row: Mapping[str, Any]) -> bool:
    """Whether the metric is shown to be related to people."""
    return bool(row["p"] < significance_level(row["confidence"]))


def rests_on(row: Mapping[str, Any]) -> str | None:
    """Return the units that alone show a relation: `systems`, `documents` or None."""
    return None if pd.isna(row["rests_on"]) else str(row["rests_on"])


def is_as_good_as_rater(row: Mapping[str, Any], options: CertificationOptions) -> bool:
    """Whether the metric agrees with raters as well as a rater does, or at most `margin` less.

    By the lower end of the interval for other systems and documents and all metrics at
    once. Only a metric whose verdict is `promising` or better can be.
    """
    enough = find_verdict(row, options) in (*TRUSTED, PROMISING)
    return enough and bool(row["against_rater_low"] > -options.margin)


def is_promising(
    value: float, p: float, confidence: float, options: CertificationOptions
) -> bool:
    """Whether a correlation is shown, and its value is useful."""
    return p < significance_level(confidence) and bool(value >= options.useful)


def kind_of(verdict: str) -> str:
    """Return the verdict without the confound's name."""
    return EXPLAINED if verdict.startswith(EXPLAINED) else verdict
