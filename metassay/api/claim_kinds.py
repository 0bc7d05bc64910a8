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
number. The rules know English.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from metassay.tabular.sheet import Sheet
from metassay.text.drug_stems import has_drug_stem
from metassay.text.edits.exchange import find
from metassay.text.edits.negations import CUE

KIND = "kind of claim"  # the column that kinds are sliced by
KINDS = ("number", "side", "drug", "negation", "other")

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
    """Return the kind of a claim, one of KINDS.

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
    """Return the sheet with a column KIND, made of the claims in `column`."""
    kinds = [claim_kind(str(text)) for text in sheet.frame[column]]
    return replace(sheet, frame=sheet.frame.assign(**{KIND: kinds}))


def count_kinds(kinds: Sequence[str]) -> str:
    """Say how many claims each kind has: `12 number, 3 side`."""
    counts = {kind: list(kinds).count(kind) for kind in KINDS}
    return ", ".join(f"{n:,} {kind}" for kind, n in counts.items() if n)
