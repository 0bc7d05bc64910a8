"""Numbers as people read them. A missing number is an empty text, never `nan`."""

import math

MINUS = "−"  # as wide as a plus sign, and no line is broken after it


def missing(value: object) -> bool:
    """Whether a cell of a frame is null, whatever pandas uses for it there."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def shown(value: float | None) -> str:
    """Three decimals below 10, two below 100, one above, with a true minus sign.

    Only 0 is `0.000`: what rounds to it is `<0.001`, or `>−0.001` if negative.
    """
    if value is None or missing(value):
        return ""
    text = f"{value:.{_decimals(value)}f}"
    if float(text) == 0 and value != 0:
        return "<0.001" if value > 0 else f">{MINUS}0.001"
    return text.replace("-", "" if float(text) == 0 else MINUS)


def rounded(value: float | None) -> float | None:
    """The number to as many decimals as `shown` has; None where missing."""
    if value is None or missing(value):
        return None
    return round(float(value), _decimals(value)) + 0.0  # never -0.0


def _decimals(value: float) -> int:
    size = abs(value)
    return 3 if size < 10 else 2 if size < 100 else 1


def short(value: float | None) -> str:
    """Two decimals without the zero before the point; only 0 is `0`; empty where missing."""
    if value is None or missing(value):
        return ""
    text = f"{value:.2f}"
    if float(text) == 0:
        return "0" if value == 0 else "<.01" if value > 0 else f">{MINUS}.01"
    return (MINUS if value < 0 else "") + text.removeprefix("-").removeprefix("0")


def short_interval(low: float | None, high: float | None) -> str:
    """Both ends in brackets, as short as they go; empty where either is missing."""
    if missing(low) or missing(high):
        return ""
    return f"[{short(low)}, {short(high)}]"


def probability(value: float | None) -> str:
    """A p with three decimals, no zero before the point; `<.001` below; empty where missing."""
    if value is None or missing(value):
        return ""
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def equals(p: float | None) -> str:
    """`p = .012`, `p < .001`; empty where missing."""
    text = probability(p)
    return text and (f"p < {text[1:]}" if text[0] == "<" else f"p = {text}")


def shown_interval(low: float | None, high: float | None) -> str:
    """Both ends in brackets; empty where either is missing."""
    if missing(low) or missing(high):
        return ""
    return f"[{shown(low)}, {shown(high)}]"


def significant(value: float) -> str:
    """Four significant digits, ASCII, for Markdown; whole numbers of any size stay whole."""
    if value == 0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def exact(value: float | None) -> str:
    """All stored digits: what reads back to the same number."""
    return "" if value is None or missing(value) else repr(float(value))


def counted(number: int, noun: str) -> str:
    """`1 text`, `2 texts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
