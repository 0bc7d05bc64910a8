"""Text in the cells of spreadsheets: none runs as a formula, and each comes back as it was."""

import re

_FORMULA = r"[=+\-@\t\r]"  # as OWASP lists them under CSV injection
_RUNS = re.compile(rf"'*{_FORMULA}")
_MADE_INERT = re.compile(rf"'+{_FORMULA}")


def inert(text: str) -> str:
    """The text with a single quote in front where a spreadsheet might take it for a formula."""
    return f"'{text}" if _RUNS.match(text) else text


def restored(text: str) -> str:
    """What `inert` was given."""
    return text[1:] if _MADE_INERT.match(text) else text
