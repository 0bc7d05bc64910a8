"""Where sentences end within a line, by rules for clinical and scientific English.

A sentence ends at a full stop, a question or an exclamation mark before white space,
but

- not if the stop belongs to an abbreviation ("Dr. Lee", "20 mg. daily", "p.o. Tylenol",
  "No. 5") or an initial ("J. Roe", "E. coli"), judged by the next word;
- not after three dots without a capital letter after them ("Wait... it hurts");
- not within brackets or quotation marks that are closed on the line;
- not before what cannot begin a sentence: a mark, a closer, a lower-case letter after a
  closer.

Time and memory are linear in the length of the line.
"""

import re
from itertools import accumulate

from metassay.text.patterns import read_words

_WIDE = "\u3002\uff0e\uff01\uff1f"  # in East Asian text, which has no white space
STOPS = ".?!\u2026" + _WIDE
CLOSERS = ")]}\"'\u2019\u201d\u00bb*_\\"

# Stops without a blank after them: "Why?Then", "5%.Then", "so .then", "so..then" and
# "so.(Then" end a sentence; "Node.js", ".NET", ".5 mg" and "don?t" do not.
_GLUED = (
    r"(?:(?<=[?!])|(?<=[)\]%]\.))(?=[A-Z][A-Za-z ])"
    r"|(?:(?<=\s[.?!])|(?<=[.?!]{2}))(?=[a-z]|[A-Z][a-z ])"
    r"|(?<=[^\W\d_][.?!])(?=[(#<>=\u00af\u2013\u2014])"
)
_END = re.compile(
    rf"(?<![{STOPS}])([{STOPS}]+)([{re.escape(CLOSERS)}]*)(?:\s+|(?<=[{_WIDE}])|{_GLUED})"
)
_NEVER_FIRST = frozenset(STOPS + ",;:)]}\u2019\u201d\u00bb")
_OPENERS = {")": "(", "]": "[", "\u201d": "\u201c", "\u00bb": "\u00ab"}
_NEAR = 30  # characters before a stop to look at: enough for two words
_WORDS = re.compile(r"(?:([A-Za-z]+) )?([^\s(\[\"\u201c]+)(\s*)\Z")
_NEXT = re.compile(r"\w*")
_POINTED = re.compile(r"[A-Za-z](?:\.[A-Za-z])+")


def _words(section: str) -> frozenset[str]:
    return frozenset(read_words(__file__, section))


_STARTERS = _words("starters")
_GRADED = _words("graded")
_TITLES = _words("titles")
_NUMBERED = _words("numbered")
_ABBREVIATIONS = _words("abbreviations")


def boundaries(line: str) -> list[int]:
    """Return the offsets in a line at which sentences begin, except the first."""
    starts = [
        match.end()
        for match in _END.finditer(line)
        if match.end() < len(line) and not _goes_on(line, match)
    ]
    depth = _depth(line) if starts else []
    return [start for start in starts if not depth[start]]


def _goes_on(line: str, match: re.Match[str]) -> bool:
    stops, closers = match.groups()
    after = line[match.end()]
    if after in _NEVER_FIRST or (closers and after.islower()):
        return True
    if stops in ("...", "\u2026"):
        return not after.isupper()
    return (
        stops == "." and not closers and _abbreviates(line, match.start(), match.end())
    )


def _abbreviates(line: str, stop: int, after: int) -> bool:
    words = _WORDS.search(line[max(0, stop - _NEAR) : stop])
    before, word, blank = words.groups() if words else (None, "", "")
    lower = word.lower()
    title = lower in _TITLES and word != "MS"
    if title or blank:  # tokenizers write "mr . james", and "it is so . she"
        return title
    if len(word) == 1 and word.isalpha():
        graded = (before or "").lower() in _GRADED
        return not (graded or word in "iI" or _starts(line, after))
    if _POINTED.fullmatch(word):
        return lower in ("e.g", "i.e") or not _starts(line, after)
    number = line[after].isdigit() or line[after] == "("
    small = number or line[after].islower()
    return (number and lower in _NUMBERED) or (small and lower in _ABBREVIATIONS)


def _starts(line: str, place: int) -> bool:
    word = _NEXT.match(line, place)
    return word is not None and word[0] in _STARTERS


def _depth(line: str) -> list[int]:
    """Count for each character the closed pairs of brackets or quotation marks around it."""
    steps = [0] * (len(line) + 1)
    opened: list[tuple[str, int]] = []
    quotes = [
        i for i, c in enumerate(line) if c == '"' and not line[i - 1 : i].isdigit()
    ]
    pairs = (
        list(zip(quotes[::2], quotes[1::2], strict=False))
        if len(quotes) % 2 == 0
        else []
    )
    for place, character in enumerate(line):
        if character in _OPENERS.values():
            opened.append((character, place))
        elif opened and opened[-1][0] == _OPENERS.get(character):
            pairs.append((opened.pop()[1], place))
    for start, end in pairs:
        steps[start + 1] += 1
        steps[end + 1] -= 1
    return list(accumulate(steps))
