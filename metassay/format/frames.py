"""Write frames as CSV (all stored digits) and Markdown (four digits), and iterate over rows.

Names come from data: they must not run as formulas in CSV, nor act as Markdown.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pandas as pd

from metassay.core.csv_injection import escape_formula
from metassay.format.numbers import missing, significant

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "|": "\\|", "`": "\\`", "*": "\\*", "[": "\\[", "]": "\\]"}
    | {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": " ", "\r": " "}
)


def rows(frame: pd.DataFrame, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Iterate over rows of the named columns as Python values; any null is None."""
    return zip(*(_plain(frame[name]) for name in columns), strict=True)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dicts by column, of Python values; any null is None."""
    names = list(frame.columns)
    return [dict(zip(names, row, strict=True)) for row in rows(frame, *names)]


def format_csv(frame: pd.DataFrame) -> str:
    """Write all rows and columns with all stored digits; null is empty; lines end in a newline.

    A text that a spreadsheet could take for a formula gets a single quote in front.
    """
    safe = frame.copy(deep=False)
    for name in frame:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            values = [
                escape_formula(v) if isinstance(v, str) else v for v in frame[name]
            ]
            safe[name] = pd.Series(values, frame.index, dtype="object")
    return safe.to_csv(index=False, na_rep="", lineterminator="\n")


def format_markdown(frame: pd.DataFrame) -> str:
    """Write a Markdown table: numbers to four significant digits, null empty, text escaped.

    Two long columns are listed below the table: each `recipe`, and each `note`, with a
    number in its rows.
    """
    texts = (_text(note) for (note,) in rows(frame, "note")) if "note" in frame else ()
    notes = sorted(set(texts) - {""})
    numbers = {note: str(number) for number, note in enumerate(notes, start=1)}
    if notes:
        frame = frame.assign(
            note=[numbers.get(_text(n), "") for (n,) in rows(frame, "note")]
        )
    names = [name for name in frame.columns if name != "recipe"]
    numeric = [pd.api.types.is_numeric_dtype(frame[name]) for name in names]
    lines = [
        _line([_text(name) for name in names]),
        _line(["---:" if number else "---" for number in numeric]),
    ]
    lines += [_line([_text(value) for value in row]) for row in rows(frame, *names)]
    if "recipe" in frame.columns:
        recipes = sorted({_text(recipe) for (recipe,) in rows(frame, "recipe")})
        lines += ["", "Recipes:", "", *(f"- {recipe}" for recipe in recipes)]
    if notes:
        lines += [
            "",
            "Notes:",
            "",
            *(f"{number}. {note}" for note, number in numbers.items()),
        ]
    return "\n".join(lines) + "\n"


def _plain(column: "pd.Series[Any]") -> list[Any]:
    absent = column.isna().tolist()
    return [
        None if no else value for value, no in zip(column.tolist(), absent, strict=True)
    ]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(value: object) -> str:
    if isinstance(value, str):
        return escape_markdown(value)
    if missing(value):
        return ""
    return (
        significant(value) if isinstance(value, float) else escape_markdown(str(value))
    )


@lru_cache(maxsize=1 << 14)  # columns repeat their texts
def escape_markdown(text: str) -> str:
    """Escape a text for a line of Markdown."""
    return text.translate(_ESCAPES)
