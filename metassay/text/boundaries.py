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

_WIDE = "\u3002\uff0e\uff01\uff1f"  # in East Asian text, which has no white space
STOPS = ".?!\u2026" + _WIDE
CLOSERS = ")]}\"'\u2019\u201d\u00bb*_\\"

# A stop without a blank after it also ends a sentence in these cases, and does not in
# "Node.js", ".NET", ".5 mg" and "don?t".
_GLUED = r"""
      (?: (?<=[?!]) | (?<=[)\]%]\.) ) (?=[A-Z][A-Za-z\ ])         # "Why?Then", "5%.Then"
    | (?: (?<=\s[.?!]) | (?<=[.?!]{2}) ) (?=[a-z]|[A-Z][a-z\ ])   # "so .then", "so..then"
    | (?<=[^\W\d_][.?!]) (?=[(\#<>=\u00af\u2013\u2014])           # "so.(Then"
"""
_END = re.compile(
    rf"""
    (?<![{STOPS}])
    ([{STOPS}]+)                                # 1: stops
    ([{re.escape(CLOSERS)}]*)                   # 2: closers after them
    (?: \s+ | (?<=[{_WIDE}]) | {_GLUED} )
    """,
    re.VERBOSE,
)
_NEVER_FIRST = frozenset(STOPS + ",;:)]}\u2019\u201d\u00bb")
_OPENERS = {")": "(", "]": "[", "\u201d": "\u201c", "\u00bb": "\u00ab"}
_NEAR = 30  # characters before a stop to look at: enough for two words
_WORDS = re.compile(r"(?:([A-Za-z]+) )?([^\s(\[\"\u201c]+)(\s*)\Z")
_NEXT = re.compile(r"\w*")
_POINTED = re.compile(r"[A-Za-z](?:\.[A-Za-z])+")

# These begin a sentence if they are written so after an abbreviation.
_STARTERS = frozenset(
    """
    A Also An At Continue Currently Denies Follow He Her His However I If In It My No On Our Patient
    Patients Please Pt Return She Start Take That The Their There These They This Today We When Will
    """.split()
)
# A letter after these is no initial: "vitamin D. Take".
_GRADED = frozenset(
    """
    category class factor grade grades group hemoglobin hep hepatitis influenza part phase plan
    protein stage strep troponin type vit vitamin
    """.split()
)
# A name or a number follows these.
_TITLES = frozenset(
    """
    capt dr eq eqs fig figs gov lt messrs mr mrs ms mt prof rev sen sgt st vs
    """.split()
)
_NUMBERED = frozenset({"art", "ext", "no", "nos", "p", "pp"})
# The sentence goes on if a small letter, a number or a bracket follows these.
_ABBREVIATIONS = frozenset(
    """
    abd al approx appt apr assn aug ave avg bid bilat bldg blvd bros calif cap caps cc cl co cont
    corp dec dept dist drs dx ens esp etc eval exp feb fla ft fx fy gm hosp hr hrs ht hx im inc incl
    insp iv jan jr jul jun kg lat lb lbs ltd max mcg md med meds mg min mins ml mm mo mos neg nov
    oct oz ph.d po pos prn prox pt pts qd qid ref resp rs rt rx sat sats sec sep sept sq sr subq
    surg sx tab tabs temp tid tx univ viz wk wks wt yr yrs
    """.split()
)


def boundaries(line: str) -> list[int]:
    """Return the offsets in a line at which sentences begin, except the first.

    >>> boundaries("Seen by Dr. Lee at 5 p.m. He is well. No fever.")
    [26, 38]
    """
    starts = [
        match.end()
        for match in _END.finditer(line)
        if match.end() < len(line) and not _goes_on(line, match)
    ]
    if not starts:
        return []
    depth = _depth(line)
    return [start for start in starts if not depth[start]]


def _goes_on(line: str, match: re.Match[str]) -> bool:
    """Return whether the sentence goes on after a match of `_END`."""
    stops, closers = match.groups()
    following = line[match.end()]
    if following in _NEVER_FIRST or (closers and following.islower()):
        return True
    if stops in ("...", "\u2026"):
        return not following.isupper()
    if stops != "." or closers:
        return False
    return _abbreviates(line, match.start(), match.end())


def _abbreviates(line: str, stop: int, following: int) -> bool:
    """Return whether the stop belongs to an abbreviation; `following`: the next word."""
    words = _WORDS.search(line[max(0, stop - _NEAR) : stop])
    before, word, blank = words.groups() if words else (None, "", "")
    lower = word.lower()
    is_title = lower in _TITLES and word != "MS"
    if is_title or blank:  # tokenizers write "mr . james", and "it is so . she"
        return is_title
    if len(word) == 1 and word.isalpha():
        is_grade = (before or "").lower() in _GRADED
        return not (is_grade or word in "iI" or _starts(line, following))
    if _POINTED.fullmatch(word):
        return lower in ("e.g", "i.e") or not _starts(line, following)
    is_number = line[following].isdigit() or line[following] == "("
    if is_number and lower in _NUMBERED:
        return True
    return (is_number or line[following].islower()) and lower in _ABBREVIATIONS


def _starts(line: str, place: int) -> bool:
    word = _NEXT.match(line, place)
    return word is not None and word[0] in _STARTERS


def _depth(line: str) -> list[int]:
    """Count for each character the closed pairs of brackets or quotation marks around it."""
    steps = [0] * (len(line) + 1)
    for start, end in [*_quotations(line), *_brackets(line)]:
        steps[start + 1] += 1
        steps[end + 1] -= 1
    return list(accumulate(steps))


def _quotations(line: str) -> list[tuple[int, int]]:
    """Return the pairs of straight quotation marks; none if one is left over."""
    marks = [
        place
        for place, character in enumerate(line)
        # 5" is a length
        if character == '"' and not line[place - 1 : place].isdigit()
    ]
    if len(marks) % 2:
        return []
    return list(zip(marks[::2], marks[1::2], strict=True))


def _brackets(line: str) -> list[tuple[int, int]]:
    """Return the pairs of brackets and of curly quotation marks."""
    pairs = []
    opened: list[tuple[str, int]] = []
    for place, character in enumerate(line):
        if character in _OPENERS.values():
            opened.append((character, place))
        elif opened and opened[-1][0] == _OPENERS.get(character):
            pairs.append((opened.pop()[1], place))
    return pairs
