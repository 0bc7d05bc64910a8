"""Which metric to trust: its certificate, what verdicts mean, what a study is too small for."""

from collections.abc import Callable, Iterator, Sequence
from math import factorial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records
from metassay.format.glossary import terms as glossary
from metassay.format.numbers import (
    counted,
    equals,
    exact,
    missing,
    probability,
    short,
    shown,
    shown_interval,
)
from metassay.format.terms import DECISIONS, RELATIONS
from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.verdicts import (
    CANNOT_TELL,
    CONTRARY,
    EXPLAINED,
    FEWEST_SYSTEMS,
    OF_NO_OTHERS,
    PROMISING,
    THESE_SYSTEMS,
    TOO_WEAK,
    UNDEFINED,
    USE,
    VERDICTS,
    kind_of,
)
from metassay.reporting.names import criterion_title, part_rank
from metassay.reporting.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Key,
    Row,
    Section,
    Term,
    Terms,
    by_criterion,
    criterion_groups,
    estimate,
    grouped,
    key_of,
    key_rank,
    level_groups,
    metric_name,
    metrics_and_coefficients,
    number,
    rests_on,
    titled,
)
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.columns import entries
from metassay.tables.designs import DESIGNS
from metassay.tables.names import FULL, STATEMENT
from metassay.tables.parquet import read


class Best(NamedTuple):
    """The best of one criterion's and level's metrics; where it is not to be used, none is."""

    row: Row
    rows: list[Row]  # from which it was chosen

    @property
    def metric(self) -> str:
        """Its name, with the judge's in brackets."""
        return metric_name(self.row)

    @property
    def of(self) -> str:
        """What it was chosen from: `best of 20 metrics`."""
        return f"best of {counted(len(self.rows), 'metric')}"

    @property
    def verdicts(self) -> str:
        """How often each was given: `2 use, 5 cannot tell`."""
        return verdict_counts(self.rows)


def ranked(rows: list[Row]) -> list[Row]:
    """Certificates of one level, the best verdict first, then the largest value."""
    return sorted(rows, key=lambda row: _rank(row, "value"))


def best(rows: list[Row]) -> Best | None:
    """Of one level's certificates the best verdict, then the largest `corrected`; None of none."""
    if not rows:
        return None
    return Best(min(rows, key=lambda row: _rank(row, "corrected")), rows)


def best_of(certificates: pd.DataFrame) -> Iterator[tuple[str, str, Best]]:
    """Of whole texts: criterion (with its study, where there are several), level, best metric."""
    several = certificates["study"].nunique() > 1
    for (study, criterion, _), rows in by_criterion(certificates[certificates["part"] == FULL]):
        name = f"{criterion} ({study})" if several else criterion
        for level in DECISIONS:
            chosen = best([row for row in rows if row["level"] == level])
            if chosen is not None:
                yield name, level, chosen


def verdict_counts(rows: list[Row]) -> str:
    """`2 use, 5 cannot tell`: how often each verdict was given, the best first."""
    said = [kind_of(row["verdict"]) for row in rows]
    named = verdict_names().items()
    return ", ".join(f"{said.count(kind):,} {name}" for kind, name in named if kind in said)


def verdict_names() -> dict[str, str]:
    """What each kind of verdict is called where many are counted, the best first."""
    return {kind: kind for kind in VERDICTS} | {EXPLAINED: f"{EXPLAINED} a confound"}


def _rank(row: Row, by: str) -> tuple[int, float, str, str]:
    value = row[by]
    unknown = value is None or missing(value)
    place = VERDICTS.index(kind_of(row["verdict"]))
    return place, float("inf") if unknown else -float(value), row["metric"], row["judge"]


# What a study is too small to show, said before any of its tables.

_LARGEST = 20  # beyond it a factorial is large enough for any p


def limits(
    certificates: pd.DataFrame, designs: pd.DataFrame, confidence: float = 0.95
) -> list[str]:
    """What the data show of the study's design, then what it is too small for; equal lines once.

    A sentence for what was found or suspected to belong together; for each level at which no
    metric can be shown to follow people, however good, as no p can be below 1 - confidence
    (`smallest_p`); and where too few systems were rated to speak of others. Criteria are named
    where a sentence isn't about all of them.
    """
    rows = records(certificates)
    by_key = grouped(rows, key_of)
    every = sorted(by_key, key=lambda k: (*k[:2], part_rank(k[2])))
    said: dict[str, list[Key]] = {}
    for row in records(designs):
        for line in (*row["found"].splitlines(), *row["suspected"].splitlines()):
            said.setdefault(line, []).append(key_of(row))
    for level in DECISIONS:
        for key in every:
            mine = [row for row in by_key[key] if row["level"] == level]
            line = too_small(mine, confidence)
            if line:
                said.setdefault(line, []).append(key)
    for key in every:
        line = _few_systems(by_key[key])
        if line:
            said.setdefault(line, []).append(key)
    return [_about(keys, every, sentence) for sentence, keys in said.items()]


def limits_of(folder: Path, confidence: float) -> list[str]:
    """What belongs together in the benchmark, and what it is too small for; of whole texts."""
    found = read(CERTIFICATES, folder / "certificates.parquet")
    designs = read(DESIGNS, folder / "designs.parquet")
    return limits(found[found["part"] == FULL], designs[designs["part"] == FULL], confidence)


def _few_systems(mine: list[Row]) -> str:
    """Why no metric can be one to use with other systems; empty where one can."""
    if all(row["design"] in OF_NO_OTHERS for row in mine):
        return ""
    n = max(row["n_families"] for row in mine)
    if n >= FEWEST_SYSTEMS:
        return ""
    return (
        f"with {counted(n, 'system')} the best verdict is “{PROMISING}”; trusting a metric with"
        f" other systems needs at least {FEWEST_SYSTEMS}."
    )


def _about(keys: list[Key], every: list[Key], sentence: str) -> str:
    if set(keys) >= set(every):
        return sentence[0].upper() + sentence[1:]
    several = len({study for study, _, _ in every}) > 1
    names = [
        criterion_title(criterion, part) + (f" (study {study})" if several else "")
        for study, criterion, part in keys
    ]
    return f"{'; '.join(names)}: {sentence}"


def too_small(mine: list[Row], confidence: float) -> str:
    """Why no metric of one level can be shown to follow people; empty where one can, or is none."""
    smallest = mine[0]["smallest_p"] if mine else 0.0
    if smallest is None:
        nested = mine[0]["level"] == "document" and mine[0]["design"] == "nested"
        nested = nested and mine[0]["part"] != STATEMENT  # which nobody compares by document
        alone = "each document has one system’s text, so there are no two to compare."
        return alone if nested else ""
    alpha = 1.0 - confidence
    if smallest < alpha:
        return ""
    level = mine[0]["level"]
    systems = max(row["n_families"] for row in mine)
    documents = 1 if level == "system" else max(row["n_clusters"] for row in mine)
    clustered = any(row["n_clusters"] < row["n_documents"] for row in mine)
    if systems < 2 and level == "system":
        return "all texts are by one system, so there are no two to rank."
    orders = 2.0**documents if clustered and level != "system" else _orders(documents)
    if 2.0 / (_orders(systems) * orders) < alpha:
        return f"too few orders were drawn at random for {DECISIONS[level]}; set more permutations."
    if level != "system":
        of = "cluster of documents" if clustered else "document"
        texts = f"{counted(systems, 'system')} and {counted(documents, of)}"
        few = f"people rated {texts}, too few to test a metric on {DECISIONS[level]}."
        return few.replace("cluster of documentss", "clusters of documents")
    enough = next(n for n in range(2, _LARGEST) if 2.0 / _orders(n) < alpha)
    return f"people rated {systems} systems; ranking systems needs at least {enough}."


def _orders(things: int) -> int:
    return factorial(min(things, _LARGEST))


# What verdicts and columns mean, in a line each; verdicts are marked by more than colour.

_CSS = {  # page.css gives each class a colour and a sign
    **{USE: "use", THESE_SYSTEMS: "these", PROMISING: "promising", CANNOT_TELL: "cannot"},
    **{EXPLAINED: "explained", TOO_WEAK: "weak", CONTRARY: "contrary", UNDEFINED: "undefined"},
}


def css_of(verdict: str) -> str:
    """The classes of a verdict's cell."""
    return f"v {_CSS[kind_of(verdict)]}"


def verdict_terms(rows: list[Row], options: CertificationOptions, confidence: float) -> Terms:
    """Every verdict, best first, with the first certificate of the page that has it."""
    means = glossary(
        alpha=short(1.0 - confidence), useful=short(options.useful), fewest=str(FEWEST_SYSTEMS)
    )
    first: dict[str, Row] = {}
    for row in sorted(ranked(rows), key=_place):
        first.setdefault(kind_of(row["verdict"]), row)
    terms = []
    for kind in VERDICTS:
        word = f"{kind} …" if kind == EXPLAINED else kind
        terms.append(Term(css_of(kind), word, means[kind].whole, _example(first.get(kind))))
    return Terms("What the verdicts say", terms)


def column_terms(rows: list[Row], options: CertificationOptions, confidence: float) -> Terms:
    """Every column of the certificates, with the first number of the page that stands in it."""
    certain, as_good = f"{100 * confidence:g} %", short(options.margin)
    ordered = sorted(ranked(rows), key=_place)
    terms = []
    for word, column, means in _COLUMNS:
        # The first row of the page that has a number there.
        row = next((row for row in ordered if row[column] is not None), None)
        here = "" if row is None else f"{_example(row)}: {_EXAMPLES[column](row)}"
        terms.append(Term("", word, means.format(certain=certain, margin=as_good), here))
    return Terms("What the columns say", terms)


_COLUMNS = [  # head: column | what it means
    (head, *words.split(" | "))
    for head, words in entries("""
    correlation: low | How metric and people correlate. In brackets stands the {certain} interval
      for other systems and other documents. “These systems” is the interval for the same systems
      and other documents.
    adjusted p: p | A small p shows that metric and people are related. It is adjusted for all
      metrics of the level. Below it stands where the relation shows.
    accuracy: accuracy | Share of pairs that the metric orders, or ties, as people do. “Chance” is
      the share that its scores reach when they are dealt at random. Any two texts have no accuracy.
    against a rater: against_rater | Metric and one rater are each correlated with the mean of the
      other raters, on the same texts. The number is the metric’s correlation less the rater’s. “As
      good” says that with other systems and documents it is at most {margin} less.
    confound: confound | What takes half or more of the correlation with it: among texts that are
      equal in it, only what stands below is left.
    to settle it: needed_systems | About how many systems and documents a study needs for another
      verdict.
    """)
]
_EXAMPLES: dict[str, Callable[[Row], str]] = {
    "low": lambda row: f"{shown(row['value'])} {shown_interval(row['low'], row['high'])}",
    "p": lambda row: probability(row["p"]),
    "accuracy": lambda row: f"{shown(row['accuracy'])}, by chance {shown(row['chance'])}",
    "against_rater": lambda row: (
        f"{shown(row['with_raters'])} less {shown(row['rater'])} is {shown(row['against_rater'])}"
    ),
    "confound": lambda row: str(row["confound"]),
    "needed_systems": lambda row: f"{row['needed_systems']:,.0f} systems",
}


def _place(row: Row) -> tuple[object, int]:
    return key_rank(key_of(row)), list(DECISIONS).index(row["level"])


def _example(row: Row | None) -> str:
    if row is None:
        return "none here"
    return f"here: {metric_name(row)} for {titled(key_of(row))}, {DECISIONS[row['level']]}"


# Which metric to trust for which decision: the certificates, best verdict first.


def best_metrics(certificates: pd.DataFrame) -> Grid | None:
    """The best metric of each criterion and level; None if nothing could be tested."""
    if certificates.empty:
        return None
    lines = []
    for key, mine in by_criterion(certificates):
        of = grouped(mine, lambda row: row["level"])
        best_of = [_best(best(of.get(level, []))) for level in DECISIONS]
        lines.append((titled(key), [Cell(key[0]), *best_of]))
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
    heading, files = "Which metric to trust", ["certificates"]
    if certificates.empty:
        says = "No metric could be tested: there are no texts with both scores and ratings."
        return Section("trust", heading, [says], files)
    rows = [row for _, mine in by_criterion(certificates) for row in mine]
    return Section(
        "trust",
        heading,
        [
            "Choose your decision first: is it about any two texts, about two texts of one"
            " document, or about two systems? Then read the metric’s verdict. Signs are turned so"
            " that more is better."
        ],
        files,
        groups=criterion_groups(certificates, _by_level),
        figure="forest",
        warnings=list(lines),
        terms=[verdict_terms(rows, options, confidence), column_terms(rows, options, confidence)],
    )


def _by_level(mine: list[Row]) -> tuple[str, list[Grid], list[Group]]:
    groups = level_groups(mine, lambda rows: _grid(ranked(rows)) if rows else None, verdict_counts)
    return metrics_and_coefficients(mine), [], groups


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
        (metric_name(row), [cells[head][place] for head in heads]) for place, row in enumerate(rows)
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
    return estimate(row, f"these systems: {these}" if these else "", rests_on(row))


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
