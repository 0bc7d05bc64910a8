"""The code of a file without comments, docstrings and layout, for tests that hold it to a hash."""

import hashlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence

DIGITS = 16
_IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_LAYOUT = {
    tokenize.INDENT: " in",
    tokenize.DEDENT: " out",
}  # no token starts with a space
# Python 3.12 splits f-strings into tokens, and 3.14 t-strings; before, an f-string is
# one token.
_OPENING = {getattr(tokenize, f"{kind}STRING_START", None) for kind in "FT"} - {None}
_CLOSING = {getattr(tokenize, f"{kind}STRING_END", None) for kind in "FT"} - {None}


def hash_of(words: Iterable[str]) -> str:
    """A hash of words, in hexadecimal digits."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:DIGITS]


def code_words(source: str) -> list[str]:
    """The tokens of a source, the same under Python 3.11 to 3.13, without docstrings."""
    lines = io.StringIO(source).readlines()  # splits where the tokenizer does
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    words: list[str] = []
    statement: list[str] = []
    only_strings = True
    for kind, text in _join_strings(tokens, lines):
        if kind in _IGNORED:
            continue
        if kind in _LAYOUT:
            words.append(_LAYOUT[kind])
        elif kind == tokenize.NEWLINE:
            if not only_strings:
                words += [*statement, "\n"]
            statement = []
            only_strings = True
        else:
            statement.append(text)
            prefix = re.split("['\"]", text, maxsplit=1)[
                0
            ].lower()  # an f-string runs code
            only_strings = (
                only_strings and kind == tokenize.STRING and "f" not in prefix
            )
    return words


def _join_strings(
    tokens: Iterable[tokenize.TokenInfo], lines: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """Yield kind and text of each token; join the tokens of an f-string, as written."""
    depth = 0
    start = (0, 0)
    for token in tokens:
        if token.type in _OPENING:
            if depth == 0:
                start = token.start
            depth += 1
        elif token.type in _CLOSING:
            depth -= 1
            if depth == 0:
                text = "".join(lines[start[0] - 1 : token.end[0]])
                rest = len(lines[token.end[0] - 1]) - token.end[1]
                yield tokenize.STRING, text[start[1] : len(text) - rest]
        elif depth == 0:
            yield token.type, token.string
