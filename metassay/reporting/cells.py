"""Printed tables as they were transcribed, what stands beside them, and what DocLens's call it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import BadInput
from metassay.reporting.section import TableWords, texts
from metassay.tables.names import FULL

USED = ["split_or_section", "system_or_metric", "setting", "quantity", "value", "note"]


class Ours(NamedTuple):
    """The tables of those names that a comparison may take numbers from."""

    leaderboard: pd.DataFrame
    correlations: pd.DataFrame
    scores: pd.DataFrame
    ratings: pd.DataFrame
    facet_weights: pd.DataFrame


@dataclass(frozen=True)
class Comparison:
    """A printed table in words, as published.yaml has it, and its files in `reports/published/`.

    `reason` is why our numbers differ, where they do, and `decimals` are printed. Of judges:
    `statistic` is theirs that is like the print, and `sets` says which subsets of ours a printed
    data set is; without, what is printed stands beside all items of the test, which are others.
    """

    title: str
    files: Sequence[str]
    says: str
    reason: str = ""
    decimals: int = 2
    statistic: str = ""
    sets: Mapping[str, Sequence[str]] | None = None


class Compared(NamedTuple):
    """A comparison that was made: what lies beside the page, and how it is shown, both by name.

    `blocks` are as in words.yaml. `n_not_run` printed numbers have no counterpart here.
    """

    tables: dict[str, pd.DataFrame]
    blocks: Mapping[str, TableWords]
    n_not_run: int = 0


# What ends the name of a table, the block of words.yaml that shows it, the table, its own words.
Part = tuple[str, str, pd.DataFrame, dict[str, Any]]
Make = Callable[[str, Comparison, pd.DataFrame], tuple[int, Sequence[Part]]]


def compare(
    names: Iterable[str], known: Mapping[str, Comparison], of: str, folder: Path, make: Make
) -> Iterator[Compared]:
    """Make the comparisons that the params.yaml `of` a benchmark or a test names.

    Raises BadInput for an unknown name or an unreadable file.
    """
    words = texts("words.yaml")["published"]
    for name in names:
        if name not in known:
            raise BadInput(
                f"published: {name!r} is not known; choose from {sorted(known)} in the {of}'s"
                " params.yaml"
            )
        printed = pd.concat([read_printed(folder / file) for file in known[name].files])
        n_not_run, parts = make(name, known[name], printed)
        tables, blocks = {}, {}
        for end, kind, frame, fields in parts:
            table = f"published_{name}{end}"
            tables[table] = frame
            says = [*fields.pop("says"), *words[kind]["says"]]
            blocks[table] = {**words[kind], **fields, "says": says}
        yield Compared(tables, blocks, n_not_run)


def read_printed(file: Path) -> pd.DataFrame:
    """A transcribed table, all columns as text; BadInput if it is absent or damaged.

    A `value` is a number, or empty.
    """
    restore = "restore it from the repository"
    if not file.is_file():
        wrong = "is no file" if file.exists() else "does not exist"
        raise BadInput(f"published: {file} {wrong}; {restore}")
    try:
        printed = pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8")
    except PermissionError:
        raise BadInput(f"published: {file} may not be read by you") from None
    except ValueError as error:  # pandas': neither a table nor UTF-8
        raise BadInput(f"published: {file} is damaged; {restore}") from error
    lacking = [name for name in USED if name not in printed.columns]
    if lacking:
        raise BadInput(f"published: {file} lacks the columns {lacking}; restore the file")
    no_number = pd.to_numeric(printed["value"], errors="coerce").isna() & (printed["value"] != "")
    if no_number.any():
        lines = ", ".join(str(row + 2) for row in printed.index[no_number])
        raise BadInput(f"published: {file}: row {lines}: `value` is not a number; restore the file")
    return printed


# Its own outputs of GPT-3.5 and GPT-4 (all rows of tables 20 to 27 with a number of shots, but not
# "Reported ...") were not released: what is called chatgpt and gpt4 here are other texts.
AUTHORS = {
    ("BART + SAMSum FT", "full"): "bart_samsum_full",
    ("BART + SAMSum FT", "section"): "bart_samsum_section",
    ("BioBART", "full"): "biobart_full",
    ("BioBART", "section"): "biobart_section",
    ("ChatGPT", "full"): "chatgpt",
    ("GPT-4", "full"): "gpt4",
    ("Reported GPT-3.5-turbo", "full, 0-shot"): "chatgpt",
    ("Reported GPT-4", "full, 0-shot"): "gpt4",
}
SECTIONS = {
    "full note": FULL,
    "Subjective": "subjective",
    "Objective-Exam": "objective_exam",
    "Objective-Results": "objective_results",
    "Assessment and Plan": "assessment_and_plan",
}
