"""Where sentences end within a line: pysbd, kept to its task.

pysbd 0.3.4 finds a sentence's span by looking up its text, so repeated or altered sentences get
wrong spans or none; it takes numbers and letters before a full stop ("at 7. She", "hepatitis b.
He") for list markers, "ill. I" for an abbreviation and inches for quotation marks; it ends a
sentence after "mg."; some input keeps it busy for ever; and it compiles more patterns for
abbreviations than Python caches. So it never sees the text itself but a copy of the same
length in which what misleads it is painted over (`_shadow`), abbreviations are ours, and of what it
returns only the boundaries are used, counted in visible characters, where a full stop really stands
before them.
"""

import re
import warnings
from collections.abc import Callable

with warnings.catch_warnings():  # Python warns of its escapes on compiling it
    warnings.simplefilter("ignore")
    from pysbd import Segmenter
    from pysbd.lang.english import English

STOPS = ".?!\u2026\u3002\uff0e\uff01\uff1f"
CLOSERS = ")]}\"'\u2019\u201d\u00bb*_"

_PATTERNS = 512
_LONGEST = 10_000  # characters; pysbd's time grows with the square of a line's length
_STOP = re.compile(f"[{STOPS}]")
_PLAIN = re.compile(rf"(?<![{STOPS}])[{STOPS}]+[{re.escape(CLOSERS)}]*\s+(?=[^\sa-z])")


class _Plain(English):  # type: ignore[misc]
    """English without abbreviations, which `_shadow` has dealt with."""

    class Abbreviation(English.Abbreviation):  # type: ignore[misc]
        ABBREVIATIONS: tuple[str, ...] = ()


_ENGLISH = Segmenter(language="en", clean=False)
_ENGLISH.language_module = _Plain


def boundaries(line: str) -> list[int]:
    """Offsets of the characters in a line that begin a sentence, but for its first sentence.

    Lines of more than 10,000 characters are cut by a plain rule: a full stop, white space, and
    no small letter after it.
    """
    stop = _STOP.search(line)
    if not stop or not any(map(str.isalnum, line[stop.end() :])):
        return []
    shadow = _shadow(line)
    visible = [at for at, character in enumerate(shadow) if character != " "]
    segments = _segments(shadow) if len(line) <= _LONGEST else []
    if "".join(segments) != shadow.replace(" ", ""):
        return [match.end() for match in _PLAIN.finditer(line)]
    found, count = [], 0
    for segment in segments[:-1]:
        count += len(segment)
        before = shadow[: visible[count]].rstrip(" " + CLOSERS)
        if before.endswith(tuple(STOPS)):
            found.append(visible[count])
    return found


def _segments(shadow: str) -> list[str]:
    # pysbd passes about 100 patterns as strings. numpy.f2py (by way of rouge_score) makes Python
    # keep just 50 compiled ones, and then each line costs 20 ms: back to Python's own number.
    if getattr(re, "_MAXCACHE", _PATTERNS) < _PATTERNS:
        re._MAXCACHE = _PATTERNS  # type: ignore[attr-defined]
    # Not Segmenter.segment, which goes on to look up spans. FutureWarnings come from its patterns.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        segments = _ENGLISH.processor(shadow).process()
    packed = ["".join(segment.split()) for segment in segments]
    return [segment for segment in packed if segment]


_PAINT = "\u00e9"  # a letter that no rule of pysbd's knows

# White space becomes a blank; pysbd's own marks, and openers that it would pair, are painted over;
# brackets become parentheses, which it pairs as well but without its slow pattern for references.
_TRANSLATION = str.maketrans(
    {c: _PAINT for c in "∯♬♭ȸȹ☉☈☇☄♨☝♟♝ƪ☏∮ᓰᓱᓳᓴᓷᓸ⎋✂⌬\\&'‘’（）「」«»"} | {"[": "(", "]": ")"}
)
_SPACE = re.compile(r"\s")

# A word that begins a sentence if it is written so after an abbreviation.
_STARTER = (
    r"(?:The|He|She|They|We|I|It|There|This|That|These|His|Her|Their|Our|My|Patient|Patients|Pt|No|"
    r"Denies|Continue|Will|Follow|Return|Take|Start|Please|If|When|Also|However|On|In|At|A|An|"
    r"Currently|Today)\b"
)
_GRADED = (
    r"(?:vitamin|vit|hepatitis|hep|influenza|type|grade|stage|class|group|phase|category|factor|"
    r"protein|plan|part|grades?|strep|troponin|hemoglobin)"
)
_TITLES = "dr mr mrs ms messrs prof st mt capt gov sen rev sgt lt fig vs"  # a name follows
_CLINICAL = (
    "abd appt approx avg bid bilat cap caps cc cont dist dx eval fx gm hrs ht hx im incl iv kg lat"
    " lb lbs max mcg meds mg mins ml mos neg oz po pos prn prox pt pts qd qid resp rx sat sats sq"
    " subq sx tab tabs temp tid tx wk wks wt yr yrs"
)
# What pysbd also takes for abbreviations, of states and of titles, but is a word in a note.
_WORDS = (
    "arc ark art cal con del det id ida ill ind ing is la man mar mass may me miss no ok op ore pa"
    " ph pl rep reps res v va ver wash"
)
_ABBREVIATIONS = "|".join(
    re.escape(name)
    for name in sorted(
        {*English.Abbreviation.ABBREVIATIONS, *_CLINICAL.split()}
        - {*_WORDS.split(), *_TITLES.split()}
    )
)


def _paint(match: re.Match[str]) -> str:
    return _PAINT * len(match.group())


def _single_letter(match: re.Match[str]) -> str:
    ends = match["graded"] or match["letter"] in "iI" or match["starter"]
    return (match["graded"] or "") + (_PAINT + "." if ends else _PAINT * 2)


def _pointed(match: re.Match[str]) -> str:
    last = "." if match["starter"] else _PAINT
    return _PAINT * (len(match["abbreviation"]) - 1) + last


# In order. A letter painted before a full stop lets it end the sentence; a painted full stop can't.
_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    # 5'10" or 4": feet and inches are no quotation marks
    (re.compile(r"(?<=\d)\""), _paint),
    # "at 7. She", "5) walk": numbers that look like a list's
    (re.compile(r"(?<!\d)\d+(?=\.\s)|\d{1,2}(?=\)\s)"), _paint),
    # "(a) rest": letters that look like a list's
    (re.compile(r"(?<![^\s(])[a-z]{1,5}(?=\))"), _paint),
    # "E. coli", "J. Smith" go on; "vitamin D. Take", "hepatitis C. She", "so do I. The" end
    (
        re.compile(
            rf"(?P<graded>(?i:\b{_GRADED} ))?(?<![\w.])(?P<letter>[A-Za-z])\."
            rf"(?= +(?P<starter>{_STARTER})?)"
        ),
        _single_letter,
    ),
    # "81 mg p.o. daily", "p.o. Tylenol" go on; "at 5 p.m. She" ends
    (
        re.compile(
            rf"(?<![\w.])(?!e\.g|i\.e)(?P<abbreviation>[A-Za-z](?:\.[A-Za-z])+\.)"
            rf"(?= +(?P<starter>{_STARTER})?)"
        ),
        _pointed,
    ),
    # "Dr. Smith", "vs. placebo", but "She has MS. She walks"
    (re.compile(rf"(?<![^\s(])(?!MS\.)(?i:{_TITLES.replace(' ', '|')})\.(?= )"), _paint),
    # "20 mg. daily", "pt. is", "approx. 5", "no. 5": a sentence does not begin with a small letter
    (re.compile(rf"(?<![^\s(])(?i:{_ABBREVIATIONS})\.(?=[.:,?-]| +[a-z\d(])"), _paint),
    (re.compile(r"(?<![^\s(])(?i:nos?|art|ext|pp?)\.(?= +[\d(])"), _paint),
)


def _shadow(line: str) -> str:
    """A copy of the same length, blank where the line is blank, for pysbd's eyes only."""
    shadow = _SPACE.sub(" ", line.translate(_TRANSLATION))
    for pattern, paint in _RULES:
        shadow = pattern.sub(paint, shadow)
    # An odd quotation mark would be paired with the next one, sentences away.
    return shadow.replace('"', _PAINT) if shadow.count('"') % 2 else shadow
