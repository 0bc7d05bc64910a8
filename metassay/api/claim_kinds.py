"""The kind of a claim: what one would have to get wrong to get it wrong.

Rules, the first that applies:

number
    a digit, or a number in words from two on
side
    left, right, bilateral or unilateral, but not "right away", "left the" and the like
drug
    a name of the drugs that edits of texts know (`metassay.text.edits.exchange`), or a
    word with a stem of WHO's international nonproprietary names
negation
    a cue of negation (`metassay.text.edits.negations`): no, denies, without, ...
other
    none of these

A claim has one kind, so that kinds are slices: "No longer takes 5 mg of aspirin" is a
number. The rules know English. An empty cell has no kind, and is in no slice.
"""

import re
from dataclasses import replace

from metassay.api.labels import KIND
from metassay.tabular.numbers import is_blank
from metassay.tabular.sheet import Sheet, to_keys
from metassay.text.drug_stems import has_drug_stem
from metassay.text.edits.exchange import find
from metassay.text.edits.negations import CUE

_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty"
    r"|forty|fifty|sixty|hundred|half|once|twice)\b",
    re.IGNORECASE,
)
_SIDE = re.compile(
    r"\b(?:bilateral(?:ly)?|unilateral(?:ly)?|both sides"
    r"|right(?! (?:away|now|after|before|to|thing))"
    r"|(?<!\bis )(?<!\bwas )(?<!\bhas )(?<!\bhe )(?<!\bshe )(?<!\bthey )left"
    r"(?! (?:the|against|without|over)\b))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z][a-z]+")


def claim_kind(text: str) -> str:
    """Return the kind of a claim: number, side, drug, negation or other.

    >>> claim_kind("She takes 5 mg of warfarin."), claim_kind("The left knee hurts.")
    ('number', 'side')
    >>> claim_kind("He takes warfarin."), claim_kind("No fever."), claim_kind("He coughs.")
    ('drug', 'negation', 'other')
    """
    if _NUMBER.search(text):
        return "number"
    if _SIDE.search(text):
        return "side"
    if find("drug", text) or any(
        has_drug_stem(word.lower()) for word in _WORD.findall(text)
    ):
        return "drug"
    return "negation" if CUE.search(text) else "other"


def add_kinds(sheet: Sheet, column: str) -> Sheet:
    """Return the sheet with a column KIND of the claims in `column`; "" without a claim."""
    claims = to_keys(sheet.frame[column])
    kinds = ["" if is_blank(claim) else claim_kind(claim) for claim in claims]
    return replace(sheet, frame=sheet.frame.assign(**{KIND: kinds}))
