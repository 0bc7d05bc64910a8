"""Escape text in cells of spreadsheets, so that none runs as a formula, and undo it."""

import re

_FORMULA = r"[=+\-@\t\r]"  # as OWASP lists them under CSV injection
_RUNS = re.compile(rf"'*{_FORMULA}")
_MADE_INERT = re.compile(rf"'+{_FORMULA}")


def escape_formula(text: str) -> str:
    """Put a single quote before a text that a spreadsheet could take for a formula."""
    return f"'{text}" if _RUNS.match(text) else text


def unescape_formula(text: str) -> str:
    """Undo `escape_formula`."""
    return text[1:] if _MADE_INERT.match(text) else text
