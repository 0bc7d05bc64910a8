"""Text of any encoding: UTF-8, UTF-16 with its mark, or what its bytes look like."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from metassay.tabular.decoding import UTF16, decode, is_readable, read_bytes
from metassay.tabular.rows import Findings

# Encodings that are tried: of Windows in each region, of East Asia, Russia and the Mac.
_ENCODINGS = [
    "cp1252",
    "cp1250",
    "cp1251",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp874",
    "cp932",
    "cp949",
    "gb18030",
    "big5",
    "euc_jp",
    "koi8_r",
    "mac_roman",
]
_WESTERN = "cp1252"
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


class Decoded(NamedTuple):
    """A file's text; `note` says which encoding was guessed, if one was."""

    text: str
    note: str = ""


def read_any_text(path: Path, problems: Findings, *, remedy: str) -> Decoded | None:
    """Read a text file of any encoding; None, with a problem, if it is no text.

    For tables that people keep. Files of a project are UTF-8: `decoding.read_text`.
    """
    if not is_readable(path, problems, remedy=remedy):
        return None
    whole = path.read_bytes()
    for mark, unicode in UTF16.items():
        if whole.startswith(mark):
            with suppress(UnicodeDecodeError):
                return Decoded(whole.decode(unicode))
    data = read_bytes(path, problems, remedy=remedy)
    if data is None:
        return None
    with suppress(UnicodeDecodeError):
        return Decoded(data.decode("utf-8"))
    encoding = "" if _is_damaged(data) else _guess(data)
    if not encoding:
        decode(data, path, problems)  # names the byte
        return None
    advice = "if names or texts look wrong, save it as UTF-8"
    note = f"is not UTF-8, and was read as {encoding}; {advice}"
    return Decoded(data.decode(encoding, "replace"), note)


def _is_damaged(data: bytes) -> bool:
    """Whether bytes are UTF-8 with a few wrong ones, and no other encoding."""
    text = data.decode("utf-8", "replace")
    wrong = text.count(_UNKNOWN)
    return sum(not character.isascii() for character in text) > 2 * wrong


def _guess(data: bytes) -> str:
    """Guess the encoding of bytes that are not UTF-8; "" if none fits.

    A short European text often fits several encodings of a byte per letter. The Western
    one is then the likeliest.
    """
    from charset_normalizer import from_bytes  # rarely needed

    matches = list(from_bytes(data, cp_isolation=_ENCODINGS))
    if not matches:
        return ""
    first = matches[0]
    if first.multi_byte_usage > 0:
        return first.encoding
    best = first.chaos, first.coherence
    equal = [match for match in matches if (match.chaos, match.coherence) == best]
    names = [name for match in equal for name in match.could_be_from_charset]
    return _WESTERN if _WESTERN in names else first.encoding
