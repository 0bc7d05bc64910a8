"""Three tokenizations of a text; a metric's recipe names the one that it uses.

`words` and `alphanumeric` are the definitions behind published numbers;
`content_tokens` is not.
"""

import re

# Words that carry no fact of their own. Negations (no, not, nor, never, none, without),
# laterality (left, right, both) and directions (up, down, before, after) are not among
# them: they change what is said.
STOPWORDS = frozenset(
    """
    a an the this that these those such
    i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
    who whom whose which what himself herself itself themselves
    am is are was were be been being has have had having do does did doing done
    will would shall should can could may might must
    of to in for on at by with from as into about
    and or but so then than also too very just there here
    """.split()
)

# A unit directly after its number ("20mg") is a separate token.
_UNITS = (
    r"mcg|mg|kg|g|ml|dl|l|mm|cm|m|lbs?|oz|bpm|mmhg|units?|hrs?|h|mins?|wks?|yrs?|yo|x"
)

_SPEAKER = re.compile(r"^[^\S\n]*\[[A-Za-z][A-Za-z_ ]*\]", re.MULTILINE)
_ALPHANUMERIC = re.compile(r"[a-z0-9]+")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_NUMBER_UNIT = re.compile(rf"(?<![a-z\d])(\d+(?:[./]\d+)*)-?({_UNITS})(?![a-z\d])")
# x-ray, t-wave, e-mail: joined, as they often are in the other text.
_LETTER_WORD = re.compile(r"(?<![a-z\d-])([a-z])-(?=[a-z]{2,})")
# p.o., a.m., b.i.d: single letters with points between them are one word.
_POINTED = re.compile(r"(?<![^\W_])[a-z](?:\.[a-z])+(?![^\W_])\.?")
_CONTENT = re.compile(
    r"""
      \d+ (?: [./:] \d+ )+           # 7.2, 120/80, 10:30, 3/4/2021
    | (?<!\d) \. \d+                 # .5
    | [^\W_]+ (?: ' [^\W\d_]+ )*     # words and whole numbers, with contractions
    | %
    """,
    re.VERBOSE,
)

_NEGATED = frozenset({"cannot", "can't", "won't", "ain't"})


def words(text: str) -> list[str]:
    """Split on white space, as published counts of words per note do.

    >>> words("[doctor] it's 5.0 mg")
    ['[doctor]', "it's", '5.0', 'mg']
    """
    return text.split()


def alphanumeric(text: str) -> list[str]:
    """Return runs of `[a-z0-9]` of the lower-cased text, without `[speaker]` tags at line starts.

    A tag is a bracket with only letters, blanks and underscores: [doctor],
    [patient_guest]. These are the tokens of coverage and density (Grusky et al. 2018)
    in DocLens's numbers.

    >>> alphanumeric("[doctor] it's 7.2")
    ['it', 's', '7', '2']
    """
    return _ALPHANUMERIC.findall(_SPEAKER.sub(" ", text).lower())


def content_tokens(text: str) -> list[str]:
    """Return the content words, lower-cased, in order, for lexical comparison.

    - Numbers stay whole: 7.2, .5 (as 0.5), 120/80, 10:30, 3/4/2021, 1,000 (as 1000). A
      unit after its number is split off (20mg, 5-cm); % becomes `percent`. a1c and t4
      do not change.
    - Hyphens separate words (59-year-old: 59, year, old), but a single letter joins its
      word (x-ray: xray). Slashes separate words. Abbreviations with points are one word
      (p.o.: po).
    - A possessive loses its 's; n't becomes `not` (doesn't, can't and cannot: not);
      other contractions lose what follows the apostrophe.
    - Plural endings are removed by rule (Harman 1991's S stemmer, and -es after s, x,
      z, ch, sh): studies: study, wheezes: wheeze, rashes: rash. A wrong ending is
      harmless, since both texts get it.
    - STOPWORDS are left out; negations and laterality are not among them.

    >>> content_tokens("She doesn't take 20mg b.i.d. for her knees' pain.")
    ['not', 'take', '20', 'mg', 'bid', 'knee', 'pain']
    """
    tokens: list[str] = []
    for token in _CONTENT.findall(_normalized(text)):
        for word in _plain_words(token):
            if word and word not in STOPWORDS:  # "n't" by itself leaves an empty stem
                tokens.append(_singular(word))
    return tokens


def _normalized(text: str) -> str:
    """Write apostrophes, numbers, units and abbreviations in one way, in lower case."""
    text = text.lower().replace("\u2019", "'").replace("\u2018", "'")
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    text = _NUMBER_UNIT.sub(r"\1 \2", text)
    text = _LETTER_WORD.sub(r"\1", text)
    return _POINTED.sub(lambda match: match[0].replace(".", "") + " ", text)


def _plain_words(token: str) -> tuple[str, ...]:
    """Return the words of a token, without contractions."""
    if token == "%":
        return ("percent",)
    if token.startswith("."):
        return ("0" + token,)
    if token in _NEGATED:
        return ("not",)
    if "'" not in token:
        return (token,)
    if token.endswith("n't"):
        return (token.removesuffix("n't"), "not")
    stem, _, ending = token.rpartition("'")
    is_contraction = ending in ("s", "m", "d", "re", "ve", "ll")
    if is_contraction:
        token = stem
    return (token.replace("'", ""),)


def _singular(word: str) -> str:
    is_plural = len(word) >= 4 and word.isalpha() and word.endswith("s")
    if not is_plural or word.endswith(("us", "ss")):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zzes", "ches", "shes")):
        return word[:-2]
    return word[:-1]
