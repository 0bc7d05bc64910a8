"""Helpers to write regular expressions as Python literals."""

import re
from collections.abc import Iterable


def any_of(*patterns: str) -> str:
    """Return a pattern that matches any of these, in this order.

    >>> re.findall(any_of("colds?", "the flu"), "colds, a cold and the flu")
    ['colds', 'cold', 'the flu']
    """
    return f"(?:{'|'.join(patterns)})"


def any_word(words: Iterable[str]) -> str:
    """Return a pattern that matches any of these words or phrases, the longest first.

    >>> re.findall(any_word(["mm", "mm Hg"]), "3 mm, 80 mm Hg")
    ['mm', 'mm Hg']
    """
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return any_of(*map(re.escape, longest_first))
