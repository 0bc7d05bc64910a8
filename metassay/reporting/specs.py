"""What sections say: `sections.yaml` has a block per section, which code fills with numbers."""

from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from metassay.core import strict_yaml
from metassay.reporting.section import Section, Term, Terms


@cache
def texts(file: str) -> Any:
    """The blocks of a file of this folder, such as `sections.yaml`."""
    return strict_yaml.load(Path(__file__).with_name(file))


def section(
    name: str,
    *,
    also: Collection[str] = (),
    without: Collection[str] = (),
    before: Iterable[str] = (),
    after: Iterable[str] = (),
    word: str = "",
    **parts: Any,
) -> Section:
    """The section of that name in sections.yaml.

    It says what is said `before`, its `says`, those of its `also` that are named, and what is said
    `after`; `{word}` is a `word` in them. Its terms are those that are not named in `without`;
    `parts` are grids, groups and all else that it has.
    """
    block = texts("sections.yaml")[name]
    said = [
        *block.get("says", []),
        *(text for key, text in block.get("also", {}).items() if key in also),
    ]
    every = block.get("terms", {}).items()
    terms = [Term("", term, means, "") for term, means in every if term not in without]
    return Section(
        **{
            "id": block.get("id", name),
            "heading": block["heading"].replace("{word}", word),
            "says": [*before, *(text.replace("{word}", word) for text in said), *after],
            "files": block.get("files", []),
            "terms": [Terms("What the numbers say", terms)] if terms else [],
            "figure": block.get("figure", ""),
            **parts,
        }
    )
