"""Numbers as people read them. A missing number is an empty text, never `nan`."""

import math

MINUS = "−"  # as wide as a plus sign, and no line is broken after it


def missing(value: object) -> bool:
    """Whether a cell of a frame is null, whatever pandas uses for it there."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def shown(value: float | None) -> str:
    """Three decimals below 10, two below 100, one above, with a true minus sign."""
    if value is None or missing(value):
        return ""
    size = abs(value)
    text = f"{value:.{3 if size < 10 else 2 if size < 100 else 1}f}"
    return text.replace("-", "" if float(text) == 0 else MINUS)


def shown_interval(low: float | None, high: float | None) -> str:
    """Both ends in brackets; empty where either is missing."""
    if missing(low) or missing(high):
        return ""
    return f"[{shown(low)}, {shown(high)}]"


def significant(value: float) -> str:
    """Four significant digits, ASCII, for Markdown; whole numbers of any size stay whole."""
    if value == 0:
        return "0"
    text = f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text


def exact(value: float | None) -> str:
    """All stored digits: what reads back to the same number."""
    return "" if value is None or missing(value) else repr(float(value))


def counted(number: int, noun: str) -> str:
    """`1 text`, `2 texts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def denominators(n: int, n_undefined: int = 0, n_missing: int = 0) -> str:
    """What a number rests on: `n = 60, 2 undefined, 3 missing`; what is 0 is left out."""
    undefined = f", {n_undefined:,} undefined" if n_undefined else ""
    return f"n = {n:,}{undefined}" + (f", {n_missing:,} missing" if n_missing else "")
