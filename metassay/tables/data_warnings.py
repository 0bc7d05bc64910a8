"""What to know before the numbers of a study are trusted: the table `warnings`.

Every check of ratings, scores and labels says what it finds as a `DataWarning`. The
terminal, the attribute `warnings` of results in Python and the page show the same rows
of the same table.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from metassay.tables.columns import INTEGER, TEXT
from metassay.tables.parquet import Column, Table, frame_of

WARNINGS = Table(
    name="warnings",
    says="what to know before the numbers are trusted; the most serious first",
    key=("study", "criterion", "part", "position"),
    columns={
        "study": Column(
            TEXT,
            "the study that the warning is about; empty where it is about all",
        ),
        "criterion": Column(TEXT, "the human criterion; empty where it is about all"),
        "part": Column(
            TEXT,
            "`full`, or a section or facet; empty where it is about all",
        ),
        "position": Column(
            INTEGER,
            "the order of the warnings of one study, criterion and part, from 0",
        ),
        "kind": Column(
            TEXT,
            (
                "what is not as verdicts suppose. input: files that do not fit each "
                "other; groups: documents or systems that belong together; raters: "
                "raters who differ; ratings: values that cannot be; copies: a rater "
                "or metric that equals another; classes: classes of systems or "
                "documents; chosen: metrics or criteria chosen after seeing results; "
                "selected: texts chosen by their scores; labels: labels chosen by "
                "verdicts; size: what the study is too small for"
            ),
            choices=(
                "input",
                "groups",
                "raters",
                "ratings",
                "copies",
                "classes",
                "chosen",
                "selected",
                "labels",
                "size",
            ),
        ),
        "finding": Column(TEXT, "what the data show, and what it does to the numbers"),
        "remedy": Column(
            TEXT,
            "what to do, or the option that answers; empty where nothing helps",
        ),
    },
)
KINDS = WARNINGS.columns["kind"].choices


@dataclass(frozen=True, kw_only=True)
class DataWarning:
    """One thing that a study or a table of labels is not as its numbers suppose.

    `kind` is one of KINDS. `finding` says what the data show and what it does to the
    numbers, `remedy` what to do or which option answers; each is a sentence or more.
    Empty `study`, `criterion` and `part`: it is about all.

    >>> DataWarning(kind="size", finding="One system is few.", remedy="Rate more.").sentence
    'One system is few. Rate more.'
    """

    kind: str
    finding: str
    remedy: str = ""
    study: str = ""
    criterion: str = ""
    part: str = ""

    @property
    def sentence(self) -> str:
        """The finding, then the remedy."""
        return f"{self.finding} {self.remedy}".strip()


def warnings_table(warnings: Iterable[DataWarning]) -> pd.DataFrame:
    """Return the table `warnings`: rows in order of KINDS, then as given; equal ones stand once."""
    ordered = sorted(
        dict.fromkeys(warnings), key=lambda warning: KINDS.index(warning.kind)
    )
    places: Counter[tuple[str, str, str]] = Counter()
    rows = []
    for warning in ordered:
        key = warning.study, warning.criterion, warning.part
        row = {
            "study": warning.study,
            "criterion": warning.criterion,
            "part": warning.part,
        }
        row |= {
            "kind": warning.kind,
            "finding": warning.finding,
            "remedy": warning.remedy,
        }
        rows.append({**row, "position": places[key]})
        places[key] += 1
    return frame_of(WARNINGS, rows)
