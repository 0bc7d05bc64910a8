"""Where sentences end within a line, by rules for clinical and scientific English.

A sentence ends at a full stop, a question or an exclamation mark with white space behind it, but

- not where the stop belongs to an abbreviation ("Dr. Lee", "20 mg. daily", "p.o. Tylenol", "No. 5")
  or an initial ("J. Roe", "E. coli"), as far as the next word tells;
- not after three dots that no capital letter follows ("Wait... it hurts");
- not within brackets or quotation marks that are closed on the line;
- not before what can't begin a sentence: a mark, what closes, a small letter after what closes.

Time and memory grow with the length of the line, whatever it holds.
"""

import re
from itertools import accumulate

from metassay.text.patterns import read_words

_WIDE = "\u3002\uff0e\uff01\uff1f"  # of East Asian text, which has no white space
STOPS = ".?!\u2026" + _WIDE
CLOSERS = ")]}\"'\u2019\u201d\u00bb*_\\"

# Stops without a blank behind: "Why?Then", "5%.Then", "so .then", "so..then" and "so.(Then" end a
# sentence; "Node.js", ".NET", ".5 mg" and "don?t" do not.
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
_NEAR = 30  # characters before a stop that are looked at: two words, as far as it matters
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
    """Offsets of the characters in a line that begin a sentence, but for its first sentence."""
    found = [
        match.end()
        for match in _END.finditer(line)
        if match.end() < len(line) and not _goes_on(line, match)
    ]
    depth = _depth(line) if found else []
    return [at for at in found if not depth[at]]


def _goes_on(line: str, match: re.Match[str]) -> bool:
    stops, closers = match.groups()
    after = line[match.end()]
    if after in _NEVER_FIRST or (closers and after.islower()):
        return True
    if stops in ("...", "\u2026"):
        return not after.isupper()
    return stops == "." and not closers and _abbreviates(line, match.start(), match.end())


def _abbreviates(line: str, stop: int, after: int) -> bool:
    words = _WORDS.search(line[max(0, stop - _NEAR) : stop])
    before, word, apart = words.groups() if words else (None, "", "")
    low = word.lower()
    title = low in _TITLES and word != "MS"
    if title or apart:  # tokenizers write "mr . james", and "it is so . she"
        return title
    if len(word) == 1 and word.isalpha():
        graded = (before or "").lower() in _GRADED
        return not (graded or word in "iI" or _starts(line, after))
    if _POINTED.fullmatch(word):
        return low in ("e.g", "i.e") or not _starts(line, after)
    number = line[after].isdigit() or line[after] == "("
    small = number or line[after].islower()
    return (number and low in _NUMBERED) or (small and low in _ABBREVIATIONS)


def _starts(line: str, at: int) -> bool:
    word = _NEXT.match(line, at)
    return word is not None and word[0] in _STARTERS


def _depth(line: str) -> list[int]:
    """For each character, in how many closed pairs of brackets or quotation marks it stands."""
    steps = [0] * (len(line) + 1)
    opened: list[tuple[str, int]] = []
    quotes = [at for at, c in enumerate(line) if c == '"' and not line[at - 1 : at].isdigit()]
    pairs = list(zip(quotes[::2], quotes[1::2], strict=False)) if len(quotes) % 2 == 0 else []
    for at, character in enumerate(line):
        if character in _OPENERS.values():
            opened.append((character, at))
        elif opened and opened[-1][0] == _OPENERS.get(character):
            pairs.append((opened.pop()[1], at))
    for start, end in pairs:
        steps[start + 1] += 1
        steps[end + 1] -= 1
    return list(accumulate(steps))
