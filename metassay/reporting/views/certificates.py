"""Which metric to trust for which decision: the certificates, best verdict first."""

from collections.abc import Callable, Sequence

import pandas as pd

from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.verdicts import EXPLAINED, kind_of
from metassay.reporting.best import Best, best, ranked, verdict_counts
from metassay.reporting.numbers import (
    counted,
    denominators,
    equals,
    exact,
    probability,
    shown,
    shown_interval,
)
from metassay.reporting.views.meanings import column_terms, css_of, verdict_terms
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Row,
    Section,
    by_criterion,
    number,
    titled,
)
from metassay.reporting.words import COEFFICIENT_NAMES, DECISIONS, RELATIONS
from metassay.tables.names import metric_label

_HEADING = "Which metric to trust"


def best_metrics(certificates: pd.DataFrame) -> Grid | None:
    """The best metric of each criterion and level; None if nothing could be tested."""
    if certificates.empty:
        return None
    lines = [
        (titled(key), [Cell(key[0]), *(_best(best(_at(mine, level))) for level in DECISIONS)])
        for key, mine in by_criterion(certificates)
    ]
    heads = ["criterion", "study", *(f"{DECISIONS[level]} ({level} level)" for level in DECISIONS)]
    return Grid("Best metric per criterion and decision", heads, lines, sort=False)


def certificates_section(
    certificates: pd.DataFrame,
    options: CertificationOptions,
    confidence: float,
    lines: Sequence[str] = (),
) -> Section:
    """Every certificate, the best verdict of each criterion and level first.

    `lines`: of `limits`, which stand above all.
    """
    files = ["certificates"]
    if certificates.empty:
        says = "No metric could be tested: there are no texts with both scores and ratings."
        return Section("trust", _HEADING, [says], files)
    criteria = by_criterion(certificates)
    rows = [row for _, mine in criteria for row in mine]
    return Section(
        "trust",
        _HEADING,
        [
            "Choose your decision first: is it about any two texts, about two texts of one"
            " document, or about two systems? Then read the metric’s verdict. Signs are turned so"
            " that more is better."
        ],
        files,
        [],
        [
            Group(titled(key), _soft(key[0], mine), [], _levels(mine), open=place == 0)
            for place, (key, mine) in enumerate(criteria)
        ],
        "forest",
        list(lines),
        [verdict_terms(rows, options, confidence), column_terms(rows, options, confidence)],
    )


def _at(mine: list[Row], level: str) -> list[Row]:
    return [row for row in mine if row["level"] == level]


def _soft(study: str, mine: list[Row]) -> str:
    metrics = {(row["metric"], row["judge"]) for row in mine}
    coefficients = ", ".join(sorted({COEFFICIENT_NAMES[row["coefficient"]] for row in mine}))
    return f"study {study}, {counted(len(metrics), 'metric')}, {coefficients}"


def _levels(mine: list[Row]) -> list[Group]:
    return [
        Group(
            DECISIONS[level].capitalize(),
            f"{level} level: {verdict_counts(rows)}",
            [_grid(ranked(rows))],
            open=level == "global",
        )
        for level in DECISIONS
        if (rows := _at(mine, level))
    ]


def _grid(rows: list[Row]) -> Grid:
    """One column per question; one that has no answer for any metric is left out."""
    columns: dict[str, Callable[[Row], Cell]] = {
        "verdict": _verdict,
        "in words": lambda row: Cell(row["sentence"], css="words"),
        "correlation": _correlation,
        "adjusted p": _p,
        "accuracy": _accuracy,
        "against a rater": _against_rater,
        "confound": _confound,
        "to settle it": _needed,
    }
    cells = {head: [of(row) for row in rows] for head, of in columns.items()}
    heads = [head for head, mine in cells.items() if any(cell != NOT_COMPUTED for cell in mine)]
    lines = [
        (metric_label(row["metric"], row["judge"]), [cells[head][place] for head in heads])
        for place, row in enumerate(rows)
    ]
    return Grid("", ["metric", *heads], lines)


def _best(found: Best | None) -> Cell:
    """The metric to use; where there is none that, and the best candidate below it."""
    if found is None:
        return NOT_COMPUTED
    row = found.row
    ends = shown_interval(row["corrected_low"], row["corrected_high"])
    corrected = f"corrected {shown(row['corrected'])} {ends}".strip()
    if row["trusted"]:
        return Cell(found.metric, (row["verdict"], corrected, found.of), css="best wrap")
    if row["corrected"] is None:
        return Cell("none", (found.verdicts,), css="wrap")
    first = f"first: {found.metric}, {row['verdict']}"
    return Cell("none", (found.verdicts, first, row["advice"], corrected, found.of), css="wrap")


def _verdict(row: Row) -> Cell:
    notes = (row["advice"], "primary metric" if row["primary"] else "")
    return Cell(row["verdict"], tuple(note for note in notes if note), css=css_of(row["verdict"]))


def _correlation(row: Row) -> Cell:
    these = shown_interval(row["low_these_systems"], row["high_these_systems"])
    return number(
        row["value"],
        f"these systems: {these}" if these else "",
        denominators(row["n"], row["n_undefined"], row["n_missing"]),
        low=row["low"],
        high=row["high"],
    )


def _p(row: Row) -> Cell:
    if row["p"] is None:
        return NOT_COMPUTED
    where = (RELATIONS[row["shown_by"]],) if row["shown_by"] else ()
    return Cell(probability(row["p"]), where, exact(row["p"]), "narrow")


def _accuracy(row: Row) -> Cell:
    if row["level"] == "global" or row["accuracy"] is None:
        return NOT_COMPUTED
    chance, epsilon = row["chance"], row["epsilon"]
    return number(
        row["accuracy"],
        "" if chance is None else f"chance {shown(chance)}",
        counted(row["n_pairs"], "pair"),
        "" if epsilon is None else f"tie within {shown(epsilon)}",
    )


def _against_rater(row: Row) -> Cell:
    if row["against_rater"] is None:
        return NOT_COMPUTED
    return number(
        row["against_rater"],
        f"metric {shown(row['with_raters'])}",
        f"rater {shown(row['rater'])}",
        f"n = {row['n_against_rater']:,}",
        "as good" if row["as_good_as_rater"] else "",
        low=row["against_rater_low"],
        high=row["against_rater_high"],
    )


def _confound(row: Row) -> Cell:
    """What half or more goes with; loud where it is the verdict."""
    if row["value"] is None or not row["value"] > 0:
        return NOT_COMPUTED
    if row["confound"] is None:
        return Cell("none found", stored="")
    left = shown(row["given_confound"]) or "undefined"
    notes = (f"{left} left", equals(row["given_confound_p"]))
    loud = kind_of(row["verdict"]) == EXPLAINED
    name = f"!\u00a0{row['confound']}" if loud else row["confound"]
    return Cell(name, tuple(note for note in notes if note), css="alarm" if loud else "")


def _needed(row: Row) -> Cell:
    if row["needed_systems"] is None or row["needed_documents"] is None:
        return NOT_COMPUTED
    systems = counted(int(row["needed_systems"]), "system")
    documents = counted(int(row["needed_documents"]), "document")
    return Cell(f"~ {systems}", (documents,), stored=str(int(row["needed_systems"])))
