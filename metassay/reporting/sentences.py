"""A certificate in words: the verdict first, then the numbers that it rests on, then what to do."""

from typing import Any

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import counted, equals, missing, short, short_interval
from metassay.format.terms import COEFFICIENT_NAMES, DECISIONS
from metassay.meta_evaluation import verdicts as v
from metassay.meta_evaluation.options import CertificationOptions
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.names import metric_label

Row = dict[str, Any]


def make_certificates(
    evidence: pd.DataFrame, options: CertificationOptions
) -> pd.DataFrame:
    """Make the table `certificates` of the table `evidence`: verdicts, each with its sentence."""
    verdicts = v.certify(evidence, options)
    verdicts["sentence"] = [sentence(row, options) for row in records(verdicts)]
    return verdicts[list(CERTIFICATES.columns)]


def sentence(row: Row, options: CertificationOptions) -> str:
    """Write the verdict of `row` in two or three short sentences.

    `row`: what `certify` made of a row of `evidence`. A number that is missing is NaN
    or None.
    """
    sentences = [f"{capitalized(row['verdict'])}: {_why(row, options)}"]
    if row["as_good_as_rater"]:
        sentences.append("It agrees with raters as well as a rater does.")
    if row["only_between_systems"]:
        sentences.append("It tells systems apart, not two texts of one system.")
    if row["apart"] is not None:
        without = f"{short(row['without_apart'])} ({row['verdict_without_apart']})"
        sentences.append(f"Without {row['apart']} it is {without}.")
    if state_of(row["verdict"]) == "confirm":
        sentences.append(advise(row))
    return " ".join(sentences)


def state_of(verdict: str) -> str:
    """Say what to do with a metric of this verdict: `use` it, `confirm` it, or `no`."""
    undecided = "confirm" if verdict in (v.PROMISING, v.CANNOT_TELL) else "no"
    return "use" if verdict in v.TRUSTED else undecided


def capitalized(text: str) -> str:
    """Return the text with its first letter large."""
    return text[:1].upper() + text[1:]


def _why(row: Row, options: CertificationOptions) -> str:
    metric = metric_label(row["metric"], row["judge"])
    criterion = (
        f"low {row['criterion']}" if row["better"] == "lower" else str(row["criterion"])
    )
    decision, useful = DECISIONS[row["level"]], short(options.useful)
    of = f"{metric} and {criterion}"
    if v.kind_of(row["verdict"]) == v.UNDEFINED:
        return f"for {decision}, {of} have no correlation to compute."
    if row["verdict"] == v.FITTED:
        return f"{metric} was fitted on these ratings of {criterion}; only others can test it."
    plain = f"{COEFFICIENT_NAMES[row['coefficient']]} {short(row['value'])}"
    value = f"{plain} {short_interval(row['low'], row['high'])}".strip()
    least = short(row["corrected_low"])
    p = (
        "not tested"
        if missing(row["p"])
        else f"adjusted {equals(row['p'])}".replace(" = ", " ")
    )
    if row["verdict"] == v.CANNOT_TELL:
        return _why_it_cannot_tell(row, options, f"for {decision}, {of}", value, p)
    return {
        v.USE: f"for {decision}, {metric} follows {criterion} ({value}), and by at least {least}"
        " with other systems and documents.",
        v.THESE_SYSTEMS: f"for {decision}, {metric} follows {criterion} ({value}), and by at least"
        f" {least} with other documents. No other system was rated.",
        v.PROMISING: f"for {decision}, {metric} follows {criterion} ({value}, {p}), but"
        f" {_doubt(row, options)}.",
        v.EXPLAINED: f"for {decision}, {of} correlate ({plain}), but only {_left(row)}.",
        v.TOO_WEAK: f"for {decision}, {of} correlate less than the useful {useful} ({value}).",
        v.CONTRARY: f"for {decision}, {metric} goes against {criterion} ({value}, {p}).",
    }[v.kind_of(row["verdict"])]


def _why_it_cannot_tell(
    row: Row, options: CertificationOptions, subject: str, value: str, p: str
) -> str:
    """Say why the ratings leave a metric's usefulness open.

    `value` and `p` as sentences have them: with the interval, and with its sign.
    """
    if row["selected"]:
        return (
            f"{subject} correlate ({value}) in texts with more extreme scores of the"
            " metric than the others have, which is not the correlation over all."
        )
    if v.rests_on(row) is not None:
        return _only_if_apart(v.rests_on(row), subject, value)
    if v.has_other_raters(row):
        return (
            f"{subject} are related ({value}), but sets of systems have raters"
            " of their own, and nothing tells the raters from the systems."
        )
    if not missing(row["p"]) and v.is_shown(row):
        return f"{subject} are related, perhaps too weakly to be of use ({value}, {p})."
    return (
        f"{subject} are not shown to be related ({value}, {p}), but a useful"
        f" {short(options.useful)} is possible."
    )


def _only_if_apart(units: str | None, subject: str, value: str) -> str:
    """Say which statement of the user a relation between systems, or documents, needs."""
    if units == "systems":
        return (
            f"{subject} are related ({value}) if no system is a version of another."
            " `family` names the column that says so; `family=system`: none is."
        )
    return (
        f"{subject} are related ({value}) if the documents are independent, not of a few"
        " topics or patients. `cluster` names the column that says so; `cluster=doc_id`:"
        " each stands for itself."
    )


def _left(row: Row) -> str:
    """Say how much a confound, or classes of systems or documents, leave of a correlation."""
    among = {
        "systems": "within classes of systems",
        "documents": "within classes of documents",
        "raters": "among systems of the same raters",
    }
    if row["verdict"] == f"{v.EXPLAINED} {row['confound']}":
        left = short(row["given_confound"])
        return f"{left} is left among texts of equal {row['confound']}"
    left = "nothing" if missing(row["given_classes"]) else short(row["given_classes"])
    return f"{left} is left {among.get(row['classes'], '')}"


def _doubt(row: Row, options: CertificationOptions) -> str:
    """Say why a promising metric is not one to use."""
    if row["confound"] is not None:
        left = short(row["given_confound"])
        return f"among texts of equal {row['confound']} only {left} is left"
    if row["rests_on_classes"]:
        return _doubt_of_classes(row, options)
    if missing(row["corrected_low"]):
        return "nothing shows how much less it is elsewhere"
    if row["corrected_low"] < options.useful:
        return f"elsewhere it may be as low as {short(row['corrected_low'])}"
    if row["n"] < row["n_tied"]:
        return "it cannot tell the texts of most documents apart"
    return f"{counted(row['n_families'], 'system')} say too little of others"


def _doubt_of_classes(row: Row, options: CertificationOptions) -> str:
    """Say which classes of systems or documents a promising metric may rest on."""
    if row["level"] == "system" and row["classes"] is not None:
        return f"{v.CLASSES[row['classes']]} explain it better than people's ratings do"
    if row["level"] != "system" and row["weakest"] < options.useful:
        return (
            f"with some classes of texts removed only {short(row['weakest'])} is left"
        )
    return "it is not shown without those that raters set apart"


def advise(row: Row) -> str:
    """Say what to do about a verdict that is `promising` or `cannot tell`, and how much of it."""
    systems, documents = row["needed_systems"], row["needed_documents"]
    advice = capitalized(row["advice"])
    if missing(systems):
        return f"{advice}."
    of_systems = counted(int(systems), "system")
    of_documents = counted(int(documents), "document")
    enough = {v.MORE_SYSTEMS: of_systems, v.MORE_DOCUMENTS: of_documents}
    both = f"{of_systems} and {of_documents}"
    return f"{advice}: about {enough.get(row['advice'], both)} would settle it."
