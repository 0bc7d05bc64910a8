"""Each promise beside the worst rate in the tables of rates.md."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from metassay.statistics.correlation import LEVELS

RATES = Path(__file__).with_name("rates.md")  # every table


class Promise(NamedTuple):
    """What is promised of some columns of a section's tables; `table` is the place of one table.

    `columns` are heads; "..." after the first stands for the levels that follow it.
    """

    what: str
    promised: str
    section: str
    columns: tuple[str, ...]
    worst: Callable[..., float]  # max of error rates, min of coverages
    table: int | None = None


_LABELS = (
    "sensitivity / specificity / precision / NPV, after",
    "accuracy / F1 / balanced, after",
    "kappa / AC1 / MCC, after",
    "pass rate, after",
)
_CLAIMED = ("`promising` or `use`, global", "...")
_SHAPED = tuple(
    f"{shape}, {level}" for shape in ("8 x 40", "16 x 100") for level in LEVELS[:2]
)
PROMISES = (
    Promise(
        "A metric that knows nothing is `promising` or `use`",
        "at most 5",
        "Nothing is claimed that is not there",
        _CLAIMED,
        max,
    ),
    Promise(
        "the same, of documents or systems that belong together",
        "at most 5",
        "Documents and systems that are not alike",
        _CLAIMED,
        max,
    ),
    Promise(
        "A metric of too small a correlation is `use`",
        "at most 2.5",
        "`use` means useful",
        ("global", "..."),
        max,
    ),
    Promise(
        "What length explains is `explained by` length (texts)",
        "at least 95",
        "Confounds of any shape",
        _SHAPED,
        min,
        0,
    ),
    Promise(
        "A true metric is `explained by` length",
        "at most 5",
        "Confounds of any shape",
        _SHAPED,
        max,
        1,
    ),
    Promise(
        "A metric below a rater is as good as a rater",
        "at most 5",
        "As good as a rater, and the best of many",
        ("any called as good",),
        max,
    ),
    Promise(
        "Intervals of `correlations` hold the truth, with other systems",
        "at least 95",
        "Intervals hold what they are for",
        ("other systems and documents",),
        min,
    ),
    Promise(
        "the same, with these systems",
        "95",
        "Intervals hold what they are for",
        ("these systems",),
        min,
    ),
    Promise(
        "A rater who is equal is named",
        "at most 5",
        "Raters who stand out",
        ("3 equal", "5 equal", "3 equal, shared noise"),
        max,
    ),
    Promise(
        "A metric as good as the best is called worse",
        "at most 5",
        "Metrics behind the best",
        ("said falsely",),
        max,
    ),
    Promise(
        "`sentinel` raises an alarm at a judge that did not change",
        "at most 2",
        "Judges that are watched",
        ("alarms per check",),
        max,
    ),
    Promise(
        "`compare` shows a change where there is none",
        "at most 5",
        "Comparisons of two states",
        ("5", "10", "26", "100"),
        max,
        0,
    ),
    Promise(
        "Intervals of `judge-check` hold the truth, of classes",
        "95",
        "Classes and grades checked in one command",
        (
            "agreement",
            "cohen_kappa",
            "gwet_ac1",
            "krippendorff_alpha",
            "precision of each",
            "recall of each",
            "corrected of each",
        ),
        min,
        0,
    ),
    Promise(
        "the same, of grades",
        "95",
        "Classes and grades checked in one command",
        (
            "exact",
            "within_one",
            "mean_absolute_error",
            "bias",
            "weighted_kappa_quadratic",
            "gwet_ac2",
            "pearson",
        ),
        min,
        1,
    ),
    Promise(
        "the same, of other numbers",
        "95",
        "Numbers checked in one command, and judges beside raters",
        ("pearson", "spearman", "mean_absolute_error", "bias"),
        min,
        0,
    ),
    Promise(
        "the same, of rankings",
        "95",
        "Rankings and leaderboards checked in one command",
        ("kendall", "among raters"),
        min,
        0,
    ),
    Promise(
        "the same, of leaderboards, with other systems",
        "at least 95",
        "Rankings and leaderboards checked in one command",
        ("pearson", "spearman", "kendall"),
        min,
        1,
    ),
    Promise(
        "A leaderboard's score that knows nothing is `related`",
        "at most 5",
        "Rankings and leaderboards checked in one command",
        ("falsely",),
        max,
        2,
    ),
    Promise(
        "Intervals of `judge-check` hold the truth, of preferences",
        "95",
        "Preferences checked in one command",
        (
            "agreement",
            "agreement_without_ties",
            "cohen_kappa",
            "consistency",
            "position_bias",
            "strength by people",
            "strength by judge",
        ),
        min,
        0,
    ),
    Promise(
        "Intervals of `judge-check` hold the truth",
        "95",
        "A judge checked in one command",
        (
            "sensitivity",
            "specificity",
            "cohen_kappa",
            "gwet_ac1",
            "corrected",
            "people alone",
        ),
        min,
        0,
    ),
    Promise(
        "A judge worse than a rater by epsilon may replace one",
        "at most 5",
        "May the judge replace a rater?",
        ("falsely, ours",),
        max,
    ),
    Promise(
        "Intervals after `study export --next` hold the truth",
        "at least 93",
        "Which labels next?",
        ("covers, suited chances",),
        min,
    ),
    Promise(
        "Intervals of `judge-check` miss the truth where labels were chosen",
        "at most 7",
        "Studies that are not as verdicts suppose",
        _LABELS,
        max,
    ),
    Promise(
        "Intervals of a judge's card hold the truth, mean of worlds",
        "94 to 98",
        "Judges' cards",
        ("mean",),
        min,
    ),
)


def summary(sections: str) -> list[str]:
    """The head of the page: the worst and the median simulated rate of each promise."""
    rows = []
    for promise in PROMISES:
        rates = sorted(_rates(sections, promise))
        worst, middle = promise.worst(rates), float(np.median(rates))
        rows.append(
            [
                promise.what,
                promise.promised,
                f"{worst:g}",
                f"{middle:.3g}",
                len(rates),
            ]
        )
    return [
        "Per cent of simulated studies, in the worst and in the median world. The worst of many"
        " rates can break its promise by chance: in 600 studies a true rate of 5 % shows as more"
        " than 6.5 % in one world of 20.",
        "",
        *table(
            ["what may go wrong, or must hold", "promised", "worst", "median", "rates"],
            rows,
        ),
    ]


def _rates(sections: str, promise: Promise) -> Iterator[float]:
    """The per cents in the columns of the promise."""
    section = re.search(
        rf"^## {re.escape(promise.section)}\n(.*?)(?=^## |\Z)", sections, re.M | re.S
    )
    blocks = re.findall(r"(?:^\|.*\n)+", section[1], re.M)
    missing = set(promise.columns) - {"..."}
    for block in blocks if promise.table is None else [blocks[promise.table]]:
        heads, _, *rows = (
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in block.splitlines()
        )
        missing -= set(heads)
        for place in _places(heads, promise.columns):
            for row in rows:
                yield from map(
                    float, re.findall(r"([\d.]+) ?(?:%|$|/)", row[place].split("(")[0])
                )
    if missing:
        raise ValueError(f"{promise.section}: no column {sorted(missing)}")


def _places(heads: Sequence[str], columns: Sequence[str]) -> Iterator[int]:
    """Where the columns stand, with levels that follow the first one where they are not named."""
    for place in (place for place, head in enumerate(heads) if head in columns):
        yield place
        if columns[-1] == "...":
            levels = takewhile(
                lambda after: heads[after] in LEVELS, range(place + 1, len(heads))
            )
            yield from levels


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The lines of a Markdown table, and an empty one."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]
