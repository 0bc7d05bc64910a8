"""What verdicts and columns mean, in a line each; verdicts are marked by more than colour."""

from collections.abc import Callable
from typing import NamedTuple

from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.verdicts import (
    CANNOT_TELL,
    CONTRARY,
    EXPLAINED,
    FEWEST_SYSTEMS,
    PROMISING,
    THESE_SYSTEMS,
    TOO_WEAK,
    UNDEFINED,
    USE,
    VERDICTS,
    kind_of,
)
from metassay.reporting.best import ranked
from metassay.reporting.numbers import probability, short, shown, shown_interval
from metassay.reporting.views.section import Key, Row, Term, Terms, key_rank, titled
from metassay.reporting.words import DECISIONS
from metassay.tables.names import metric_label


class _Meaning(NamedTuple):
    css: str  # page.css gives each a colour and a sign of its own
    words: str


_MEANINGS = {
    USE: _Meaning(
        "use",
        "Rely on it. With other systems and documents the correlation is still {useful} or more,"
        " though the best of all metrics was looked for; {fewest} systems or more show it.",
    ),
    THESE_SYSTEMS: _Meaning(
        "these",
        "Rely on it for texts of this system. Other systems were not rated.",
    ),
    PROMISING: _Meaning(
        "promising",
        "Confirm it first. The correlation is shown (p < {alpha}) and {useful} or more here; with"
        " other systems and documents it may be less.",
    ),
    CANNOT_TELL: _Meaning(
        "cannot",
        "Rate more. The correlation is not shown, or is below {useful} here; {useful} or more is"
        " possible.",
    ),
    EXPLAINED: _Meaning(
        "explained",
        "Do not use it. Half or more of the correlation goes among texts that are equal in a"
        " confound, and what is left is not promising.",
    ),
    TOO_WEAK: _Meaning("weak", "Do not use it. The correlation is less than {useful}."),
    CONTRARY: _Meaning("contrary", "Check its direction. It prefers what people reject."),
    UNDEFINED: _Meaning(
        "undefined", "There is no correlation to compute, as where every score is the same."
    ),
}


def css_of(verdict: str) -> str:
    """The classes of a verdict's cell."""
    return f"v {_MEANINGS[kind_of(verdict)].css}"


def verdict_terms(rows: list[Row], options: CertificationOptions, confidence: float) -> Terms:
    """Every verdict, best first, with the first certificate of the page that has it."""
    numbers = {
        "alpha": short(1.0 - confidence),
        "useful": short(options.useful),
        "fewest": str(FEWEST_SYSTEMS),
    }
    first: dict[str, Row] = {}
    for row in sorted(ranked(rows), key=_place):
        first.setdefault(kind_of(row["verdict"]), row)
    found = [
        Term(
            css_of(kind),
            f"{kind} …" if kind == EXPLAINED else kind,
            _MEANINGS[kind].words.format(**numbers),
            _example(first.get(kind)),
        )
        for kind in VERDICTS
    ]
    return Terms("What the verdicts say", found)


def column_terms(rows: list[Row], options: CertificationOptions, confidence: float) -> Terms:
    """Every column of the certificates, with the first number of the page that stands in it."""
    certain = f"{100 * confidence:g} %"
    ordered = sorted(ranked(rows), key=_place)
    said = (
        (
            "correlation",
            f"How metric and people correlate. In brackets stands the {certain} interval for other"
            " systems and other documents. “These systems” is the interval for the same systems and"
            " other documents.",
            _first(ordered, "low", _correlation),
        ),
        (
            "adjusted p",
            "A small p shows that metric and people are related. It is adjusted for all metrics of"
            " the level. Below it stands where the relation shows.",
            _first(ordered, "p", lambda row: probability(row["p"])),
        ),
        (
            "accuracy",
            "Share of pairs that the metric orders, or ties, as people do. “Chance” is the share"
            " that its scores reach when they are dealt at random. Any two texts have no accuracy.",
            _first(ordered, "accuracy", _accuracy),
        ),
        (
            "against a rater",
            "Metric and one rater are each correlated with the mean of the other raters, on the"
            " same texts. The number is the metric’s correlation less the rater’s. “As good” says"
            f" that with other systems and documents it is at most {short(options.margin)} less.",
            _first(ordered, "against_rater", _against_rater),
        ),
        (
            "confound",
            "What takes half or more of the correlation with it: among texts that are equal in it,"
            " only what stands below is left.",
            _first(ordered, "confound", lambda row: f"{row['confound']}"),
        ),
        (
            "to settle it",
            "About how many systems and documents a study needs for another verdict.",
            _first(ordered, "needed_systems", lambda row: f"{row['needed_systems']:,.0f} systems"),
        ),
    )
    return Terms("What the columns say", [Term("", *one) for one in said])


def _first(ordered: list[Row], column: str, words: Callable[[Row], str]) -> str:
    """The first row of the page that has a number there, in words."""
    row = next((row for row in ordered if row[column] is not None), None)
    return "" if row is None else f"{_example(row)}: {words(row)}"


def _correlation(row: Row) -> str:
    return f"{shown(row['value'])} {shown_interval(row['low'], row['high'])}"


def _accuracy(row: Row) -> str:
    return f"{shown(row['accuracy'])}, by chance {shown(row['chance'])}"


def _against_rater(row: Row) -> str:
    metric, rater = shown(row["with_raters"]), shown(row["rater"])
    return f"{metric} less {rater} is {shown(row['against_rater'])}"


def _place(row: Row) -> tuple[object, int]:
    return key_rank(_key(row)), list(DECISIONS).index(row["level"])


def _key(row: Row) -> Key:
    return row["study"], row["criterion"], row["part"]


def _example(row: Row | None) -> str:
    if row is None:
        return "none here"
    metric = metric_label(row["metric"], row["judge"])
    return f"here: {metric} for {titled(_key(row))}, {DECISIONS[row['level']]}"
