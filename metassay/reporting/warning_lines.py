"""The table `warnings` as lines that the terminal, Python and pages share."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records
from metassay.reporting.contract import Problem
from metassay.reporting.keys import Key, criterion_title, key_of, part_rank
from metassay.tables.data_warnings import KINDS, WARNINGS
from metassay.tables.evidence import DESIGNS
from metassay.tables.names import FULL
from metassay.tables.parquet import read


class WarningLine(NamedTuple):
    """A warning in words, with the criteria that it is about, unless it is about all."""

    kind: str
    sentence: str


def warning_lines(warnings: pd.DataFrame, designs: pd.DataFrame) -> list[WarningLine]:
    """Return each sentence of the table `warnings` once, the most serious kinds first.

    `designs` has all criteria that were tested: a sentence about only some of them
    names these.
    """
    every = sorted((key_of(row) for row in records(designs)), key=_rank)
    keys_of: dict[tuple[str, str], list[Key]] = {}
    for row in sorted(records(warnings), key=lambda row: KINDS.index(row["kind"])):
        sentence = f"{row['finding']} {row['remedy']}".strip()
        keys_of.setdefault((row["kind"], sentence), []).append(key_of(row))
    return [
        WarningLine(kind, _put_criteria_first(sentence, sorted(keys, key=_rank), every))
        for (kind, sentence), keys in keys_of.items()
    ]


def problems_of(lines: Sequence[WarningLine]) -> list[Problem]:
    """Return the lines as a page takes them: what a study is too small for is a limit."""
    kinds = ["limit" if line.kind == "size" else "warning" for line in lines]
    return [
        Problem(kind, line.sentence) for kind, line in zip(kinds, lines, strict=True)
    ]


def warnings_of(folder: Path) -> list[str]:
    """Return the warnings about a benchmark's whole texts, from the folder of its tables."""
    warnings = read(WARNINGS, folder / "warnings.parquet")
    designs = read(DESIGNS, folder / "designs.parquet")
    whole = warnings[warnings["part"].isin([FULL, ""])]
    lines = warning_lines(whole, designs[designs["part"] == FULL])
    return [line.sentence for line in lines]


def _rank(key: Key) -> tuple[str, str, tuple[int, str]]:
    study, criterion, part = key
    return study, criterion, part_rank(part)


def _put_criteria_first(
    sentence: str, keys: Sequence[Key], every: Sequence[Key]
) -> str:
    """Put the criteria before a sentence that is about some of them only."""
    if all(any(_is_about(key, other) for key in keys) for other in every):
        return sentence
    several = len({study for study, _, _ in every}) > 1
    names = [
        criterion_title(criterion, part or FULL)
        + (f" (study {study})" if several else "")
        for study, criterion, part in keys
    ]
    return f"{'; '.join(names)}: {sentence}"


def _is_about(key: Key, other: Key) -> bool:
    """Whether a warning's study, criterion and part include others: empty ones are about all."""
    return all(
        name in ("", other_name) for name, other_name in zip(key, other, strict=True)
    )
