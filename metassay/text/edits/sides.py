"""Left for right, upper for lower, and the other directions of a body."""

import re
from collections.abc import Iterator

from metassay.text.edits.negations import CUE
from metassay.text.edits.wording import replaced

_PART = (
    r"(?:\w+ )?(?:sided?|hand(?:ed)?|arms?|legs?|knees?|ankles?|foot|feet|elbows?|wrists?"
    r"|shoulders?|hips?|eyes?|ears?|breasts?|lungs?|kidneys?|ovary|thumb|fingers?|toes?|thighs?|cal(?:f|ves)"
    r"|forearms?|heels?|shins?|cheek|temple|neck|flank|chest|groin|jaw|atri\w+|ventric\w+|bundle"
    r"|lobe|tonsil|testic\w+|extremit\w+|quadrant|upper|lower|lateral|medial|index|middle|ring"
    r"|great|big|anterior|posterior|renal|rotator|trigeminal|carotid|paraspinal|abdom\w+|lumbar"
    r"|mandib\w+|maxill\w+|humer\w+|femur|tibia|fibula|radius|ulna|clavicle|scapula|achilles"
    r"|patella|facial|nostril|palm|base|distal|proximal|dorsal|plantar)\b"
)
_FLIPPED = {
    one: other
    for pair in (
        ("left", "right"),
        ("upper", "lower"),
        ("medial", "lateral"),
        ("anterior", "posterior"),
        ("proximal", "distal"),
        ("dorsal", "plantar"),
        ("superior", "inferior"),
    )
    for one, other in (pair, pair[::-1])
}
_MENTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "left" by itself is as often a verb, "right" as often "correct"
        rf"\b(?:left|right)(?=[- ]{_PART})"
        r"|(?<=\b[otn][nof] the )(?:left|right)(?=[.,;)]|\Z| (?:and|but|with|than|is|was|side)\b)",
        r"\b(?:upper|lower)(?= (?:extremit\w+|back|lobe|quadrant|legs?|arms?|abdom\w+|respiratory"
        r"|eyelid|lip|jaw|lumbar|thoracic|limbs?|teeth|tooth|body|chest|outer|inner|left|right)\b)",
        r"\b(?:medial|lateral)\b(?! (?:view|decubitus|x-ray|films?|bending|rotation))",
        r"\b(?:anterior|posterior)\b",
        r"\b(?:proximal|distal)\b(?! to\b)",
        r"\b(?:dorsal|plantar)\b",
        r"\b(?:superior|inferior)\b(?! to\b)",
    )
)
_BILATERALLY = re.compile(r"\bbilaterally\b(?! (?:in all|throughout))", re.IGNORECASE)
_BILATERAL = re.compile(  # before a noun in the plural "unilateral" would be no English
    r"\bbilateral\b(?! (?:\w+ ){0,2}(?:\w*[^\W_sui]s|feet|testes)\b)", re.IGNORECASE
)
_VIEWS = re.compile(r"\b(?:AP|oblique)\b")


def laterality(sentence: str) -> Iterator[str]:
    """The sentence with a side or direction for its opposite, wherever it names that one.

    Not if it names both, nor where left, right, lower, ... may say something else.
    """
    for mention in _MENTIONS:
        found = list(mention.finditer(sentence))
        named = {match[0].lower() for match in found}
        if len(named) != 1 or _VIEWS.search(sentence):
            continue
        opposite = _FLIPPED[named.pop()]
        if re.search(rf"\b{opposite}\b", sentence, re.IGNORECASE):
            continue
        edited = sentence
        for match in reversed(found):
            edited = replaced(edited, *match.span(), opposite)
        yield edited
    if not re.search(r"\b(?:left|right|unilateral\w*)\b", sentence, re.IGNORECASE):
        yield from _one_side(sentence)


def _one_side(sentence: str) -> Iterator[str]:
    for match in () if CUE.search(sentence) else _BILATERALLY.finditer(sentence):
        yield replaced(sentence, *match.span(), "on the left only")
        yield replaced(sentence, *match.span(), "on the right only")
    for match in _BILATERAL.finditer(sentence):
        yield replaced(sentence, *match.span(), "unilateral")
