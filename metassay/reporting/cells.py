"""Printed tables as they were transcribed, and what DocLens's tables call what is here."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

import pandas as pd

from metassay.core.errors import BadInput
from metassay.tables.names import FULL

K = TypeVar("K")
USED = ["split_or_section", "system_or_metric", "setting", "quantity", "value", "note"]


class Ours(NamedTuple):
    """The tables of those names that a comparison may take numbers from."""

    leaderboard: pd.DataFrame
    correlations: pd.DataFrame
    scores: pd.DataFrame
    ratings: pd.DataFrame
    facet_weights: pd.DataFrame


def named(names: Iterable[str], known: Mapping[str, K], of: str) -> Iterator[tuple[str, K]]:
    """The comparisons that a params.yaml names, `of` a benchmark or a test; BadInput if unknown."""
    for name in names:
        if name not in known:
            raise BadInput(
                f"published: {name!r} is not known; choose from {sorted(known)} in the {of}'s"
                " params.yaml"
            )
        yield name, known[name]


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
