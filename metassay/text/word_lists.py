"""Lists of words: text files with a word a line, and comments after `#`."""

from pathlib import Path


def read_words(path: Path) -> frozenset[str]:
    """Return the words of a list."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))
