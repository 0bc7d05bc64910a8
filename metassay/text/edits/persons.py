"""The patient for a relative, and a relative for the patient."""

import re
from collections.abc import Iterator

from metassay.text.edits.wording import any_of, replaced

_RELATIVE = any_of("""
    mother father sister brother wife husband son daughter grandmother grandfather aunt uncle
    partner spouse
""")
_STATE = any_of("""
    has had is was denies denied takes took underwent does did will can continues suffers smokes
    drinks
""")
_KIN = re.compile(rf"\b(?P<whose>[Hh]is|[Hh]er) (?:{_RELATIVE})(?= (?:{_STATE})\b)")
_HIM = re.compile(r"\b(?:him|himself|herself|them)\b")  # the patient is spoken of as well
_HE = re.compile(
    rf"(?:\A|(?<=: )|(?<=, )|(?<= and ))(?P<who>He|She|he|she)(?= (?:{_STATE})\b)"
    r"(?! (?:is|was) (?:an? )?(?:\d|here|accompanied|seen))"
)
_PATIENT = re.compile(
    rf"(?:\A|(?<=: )|(?<=, )|(?<= and ))(?:[Tt]he patient|Patient)"
    rf"(?= (?:{_STATE}|understands|agrees|agreed|endorses|reports? (?:an?|mild|severe))\b)"
    r"(?! (?:is|was) (?:an? |here|in |seen|accompanied))"
)
_HISTORY = re.compile(
    r"\b(?:(?P<past>(?:past medical|prior|previous|personal) history)"
    r"|(?P<kin>family(?: medical)? history)"
    r"|(?P<own>(?<=has a )history|(?<=reports )history|(?<=reports a )history|(?<=with a )history))"
    r"(?= (?:of|significant|notable|is|includes)\b)",
    re.IGNORECASE,
)
_HISTORIES = {"past": "family history", "kin": "personal medical history", "own": "family history"}


def person(sentence: str) -> Iterator[str]:
    """The sentence with a relative for the patient, or the patient for a relative."""
    for match in _KIN.finditer(sentence):
        if not _HIM.search(sentence[match.end() :]):
            whom = "he" if match["whose"].lower() == "his" else "she"
            yield replaced(sentence, *match.span(), whom)
    for match in _HISTORY.finditer(sentence):
        yield replaced(sentence, *match.span(), _HISTORIES[str(match.lastgroup)])
    for match in _HE.finditer(sentence):
        his = match["who"].lower() == "he"
        for one in ("his father", "his brother") if his else ("her mother", "her sister"):
            yield replaced(sentence, *match.span("who"), one)
    for match in _PATIENT.finditer(sentence):
        for one in ("mother", "father"):
            yield f"{sentence[: match.end()]}'s {one}{sentence[match.end() :]}"
