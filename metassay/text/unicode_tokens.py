"""Tokens of texts in any script: words where spaces part them, single characters elsewhere."""

import re
import sys
import unicodedata
from functools import cache

# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, Kana and Han.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)


def find_tokens(text: str) -> list[str]:
    """Return the tokens of a text in small letters: runs of letters, marks and digits.

    In scripts without spaces between words, each character with its marks is a token.

    >>> find_tokens("Grüße, 2x täglich!")
    ['grüße', '2x', 'täglich']
    >>> find_tokens("无发热")
    ['无', '发', '热']
    """
    return _token().findall(unicodedata.normalize("NFC", text.lower()))


@cache
def _token() -> re.Pattern[str]:
    # Python's \\w lacks marks, which vowels of many scripts are.
    marks = _marks()
    unspaced = f"(?:(?![^\\w])[{_UNSPACED}])[{marks}]*"
    spaced = f"(?:(?![{_UNSPACED}])(?:[^\\W_]|[{marks}]))+"
    return re.compile(f"{unspaced}|{spaced}")


def _marks() -> str:
    """Return all combining marks as ranges of a class of characters."""
    ranges: list[list[int]] = []
    for number in range(0x300, sys.maxunicode + 1):
        if unicodedata.category(chr(number)).startswith("M"):
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
