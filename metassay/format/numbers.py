"""Format numbers for readers. A missing number is an empty text, never `nan`."""

import math

MINUS = "−"  # as wide as a plus sign, and no line break after it


def missing(value: object) -> bool:
    """Return whether a cell of a frame is any kind of null of pandas."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def shown(value: float | None) -> str:
    """Format with three decimals below 10, two below 100, one above, and a true minus sign.

    Only 0 is `0.000`: other values that round to it are `<0.001`, or `>−0.001` if
    negative.
    """
    if value is None or missing(value):
        return ""
    text = f"{value:.{_decimals(value)}f}"
    if float(text) == 0 and value != 0:
        return "<0.001" if value > 0 else f">{MINUS}0.001"
    return text.replace("-", "" if float(text) == 0 else MINUS)


def rounded(value: float | None) -> float | None:
    """Round to the decimals of `shown`; None if missing."""
    if value is None or missing(value):
        return None
    return round(float(value), _decimals(value)) + 0.0  # never -0.0


def _decimals(value: float) -> int:
    size = abs(value)
    if size < 10:
        return 3
    return 2 if size < 100 else 1


def short(value: float | None) -> str:
    """Format with two decimals, without zero before the point; only 0 is `0`; empty if missing."""
    if value is None or missing(value):
        return ""
    text = f"{value:.2f}"
    if value == 0:
        return "0"
    if float(text) == 0:
        return "<.01" if value > 0 else f">{MINUS}.01"
    return (MINUS if value < 0 else "") + text.removeprefix("-").removeprefix("0")


def short_interval(low: float | None, high: float | None) -> str:
    """Format both ends in brackets by `short`; empty if either is missing."""
    if missing(low) or missing(high):
        return ""
    return f"[{short(low)}, {short(high)}]"


def probability(value: float | None) -> str:
    """Format p with three decimals, without zero before the point, or `<.001`; empty if missing."""
    if value is None or missing(value):
        return ""
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def equals(p: float | None) -> str:
    """Return `p = .012` or `p < .001`; empty if missing."""
    text = probability(p)
    return text and (f"p < {text[1:]}" if text[0] == "<" else f"p = {text}")


def shown_interval(low: float | None, high: float | None) -> str:
    """Format both ends in brackets by `shown`; empty if either is missing."""
    if missing(low) or missing(high):
        return ""
    return f"[{shown(low)}, {shown(high)}]"


def significant(value: float) -> str:
    """Format with four significant digits, in ASCII, for Markdown; at least all whole digits."""
    if value == 0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def exact(value: float | None) -> str:
    """Format with all digits, so that it reads back to the same number."""
    return "" if value is None or missing(value) else repr(float(value))


def counted(number: int, noun: str) -> str:
    """Return `1 text`, `2 texts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
